//! A flood of output in a process of its own, so that the memory it takes can be read off the process.
#![cfg(target_os = "linux")]

use std::{fs, os::unix::fs::PermissionsExt, time::Duration};

use youyou_api::{CallContext, PluginId};
use youyou_script::{Guest, STDOUT_KEPT_BYTES, ScriptCommand, ScriptExit, ScriptHost, ScriptRun, run};

/// K-33, Y4.4-4: 50 MiB are printed on stdout and 20 MiB on stderr; 1 MiB is kept, and the exit code is the script's own.
#[tokio::test]
async fn a_flood_is_drained_in_bounded_memory() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let script = dir.path().join("run");
    fs::write(&script, "#!/bin/sh\nhead -c 20971520 /dev/zero >&2\nhead -c 52428800 /dev/zero | tr '\\0' x\nexit 7\n")
        .expect("writes");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("chmod");
    let command = ScriptCommand {
        command: "run".into(),
        args: Vec::new(),
        dir: dir.path().to_owned(),
        working_directory: None,
        timeout: None,
    };
    let (host, context) = (ScriptHost::new(dir.path()), CallContext::new(dir.path(), Duration::from_secs(60)));
    let id: PluginId = "flood".parse().expect("legal");

    let before = peak_kib();
    let guest = Guest::Plugin(&id);
    let output = run(ScriptRun { host: &host, command: &command, guest, input: Vec::new(), context: &context });
    let output = output.await.expect("it ran");
    let grown = peak_kib() - before;

    assert_eq!(output.exit, ScriptExit::Code(7));
    assert_eq!((output.captured.stdout.len(), output.captured.stdout_bytes), (STDOUT_KEPT_BYTES, 50 << 20));
    assert_eq!(output.captured.stderr_bytes, 20 << 20);
    assert!(grown < 8 * 1024, "the process grew by {grown} KiB");
}

/// The most memory that this process ever had, in KiB.
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("readable");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
    line.split_whitespace().nth(1).expect("a figure").parse().expect("a number")
}
