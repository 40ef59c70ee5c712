//! What keeps a command from starting, and what does not.

use std::{
    collections::BTreeSet,
    fs::OpenOptions,
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use youyou_api::{Error, ErrorCode, ErrorSource, ToolFailure, ToolOutput};
use youyou_script::{ScriptCommand, preflight, problems};

use crate::kit::Folder;

async fn refused(folder: &Folder, command: ScriptCommand) -> Error {
    match folder.call_command(command).await {
        Err(ToolFailure::ForModel(error)) => error,
        other => panic!("expected a refusal, found {other:?}"),
    }
}

/// K-30: eight conditions, most of which the system reports as "no such file", and a message with the fix for each.
#[tokio::test]
async fn each_reason_not_to_start_has_its_own_message_with_the_fix() {
    let folder = Folder::new();
    folder.file("fine", "#!/bin/sh\n", 0o755);
    folder.file("no-interpreter", "#!/no/such/interp\n", 0o755);
    folder.file("no-env-target", "#!/usr/bin/env no-such-interp\n", 0o755);
    folder.file("crlf", "#!/bin/sh\r\necho hi\r\n", 0o755);
    folder.file("no-x", "#!/bin/sh\n", 0o644);
    folder.file("bare.py", "print('hi')\n", 0o755);
    folder.file("empty", "", 0o755);
    std::fs::create_dir(folder.dir().join("folder")).expect("mkdir");
    let nowhere = ScriptCommand { working_directory: Some("nowhere".into()), ..folder.command("fine", &[]) };
    let dir = folder.dir().display().to_string();

    let table = [
        (folder.command("missing", &[]), "COMMAND_MISSING", "correct `command` in index.md".to_owned()),
        (folder.command("./missing", &[]), "COMMAND_MISSING", format!("{dir}/missing does not exist")),
        (folder.command("no-interpreter", &[]), "INTERPRETER_MISSING", "Install it, or correct the first line".into()),
        (folder.command("no-env-target", &[]), "INTERPRETER_MISSING", "Install no-such-interp, add its folder".into()),
        (folder.command("crlf", &[]), "CRLF_SHEBANG", format!("LF line ends: sed -i 's/\\r$//' {dir}/crlf")),
        (folder.command("no-x", &[]), "NOT_EXECUTABLE", format!("Run: chmod +x {dir}/no-x")),
        (folder.command("bare.py", &[]), "NO_SHEBANG", "Put #!/usr/bin/env python3 above it".into()),
        (nowhere, "WORKING_DIRECTORY_MISSING", format!("{} does not exist", folder.cwd().join("nowhere").display())),
        (folder.command("folder", &[]), "IS_DIRECTORY", "\"./folder/run.sh\"".into()),
        (folder.command("empty", &[]), "EMPTY_FILE", "starting with a line such as #!/bin/sh".into()),
    ];
    let mut messages = BTreeSet::new();
    let mut kinds = BTreeSet::new();
    for (command, kind, part) in table {
        // The same finding without running anything, as `youyou check` asks.
        let finding = preflight(&command, &folder.host(), &folder.cwd()).expect_err(kind);
        assert_eq!(problems(&command, &folder.host(), &folder.cwd()), std::slice::from_ref(&finding));
        let error = refused(&folder, command).await;
        assert_eq!((error.code, error.origin), (ErrorCode::ToolExecutionError, ErrorSource::Tool));
        assert_eq!((error.kind(), finding.kind()), (Some(kind), kind));
        assert!(error.message.contains(&part), "{kind}: {part:?} is not in {:?}", error.message);
        assert_eq!(error.message, format!("tool \"probe\": {finding}"));
        messages.insert(error.message);
        kinds.insert(kind);
    }
    assert_eq!((messages.len(), kinds.len()), (10, 8));
}

/// K-30: what the eight look like in variations.
#[test]
fn a_finding_names_what_is_close_to_right() {
    let folder = Folder::new();
    folder.file("wrong-place", "#!/opt/nowhere/sh\n", 0o755);
    folder.file("two-words", "#!/usr/bin/env sh -e\n", 0o755);
    folder.file("bom", "\u{feff}#!/bin/sh\n", 0o755);
    folder.file("it's here", "x", 0o600);
    std::os::unix::fs::symlink("gone", folder.dir().join("link")).expect("symlink");
    std::os::unix::fs::symlink("loop", folder.dir().join("loop")).expect("symlink");
    nix::unistd::mkfifo(&folder.dir().join("fifo"), nix::sys::stat::Mode::S_IRWXU).expect("mkfifo");
    let found = |command: &str| {
        let finding = preflight(&folder.command(command, &[]), &folder.host(), &folder.cwd()).expect_err(command);
        format!("{}: {finding}", finding.kind())
    };
    for (command, start, part) in [
        ("wrong-place", "INTERPRETER_MISSING: ", "sh does exist; write \"#!/usr/bin/env sh\" as the first line"),
        ("bom", "NO_SHEBANG: ", "as the very first bytes"),
        ("it's here", "NOT_EXECUTABLE: ", r"it'\''s here'"),
        ("link", "COMMAND_MISSING: ", "is a symbolic link to gone, which does not exist"),
        ("loop", "COMMAND_MISSING: ", "symbolic link"),
        ("fifo", "NOT_EXECUTABLE: ", "not a regular file"),
        ("", "COMMAND_MISSING: ", "it is empty"),
        ("/no/such/program", "COMMAND_MISSING: ", "/no/such/program does not exist"),
    ] {
        let found = found(command);
        assert!(found.starts_with(start) && found.contains(part), "{command}: {found}");
    }
    if cfg!(target_os = "linux") {
        assert!(found("two-words").contains("\"#!/usr/bin/env -S sh -e\" as the first line"));
    }
}

#[test]
fn a_check_finds_the_program_and_the_directory_at_once() {
    let folder = Folder::new();
    let command = ScriptCommand { working_directory: Some("nowhere".into()), ..folder.command("missing", &[]) };
    let kinds: Vec<_> = problems(&command, &folder.host(), &folder.cwd()).iter().map(|found| found.kind()).collect();
    assert_eq!(kinds, ["COMMAND_MISSING", "WORKING_DIRECTORY_MISSING"]);
}

/// D-54: programs of every kind start, and every path is absolute.
#[tokio::test]
async fn scripts_and_programs_start_by_name_by_path_and_from_path() {
    let folder = Folder::with("echo own");
    let call = |command: &str, args: &[&str]| folder.call_command(folder.command(command, args));
    for command in ["run", "./run", &folder.dir().join("run").display().to_string()] {
        assert_eq!(call(command, &[]).await, Ok(ToolOutput::text("own")));
    }
    assert_eq!(call("sh", &["-c", "echo path"]).await, Ok(ToolOutput::text("path")));
    assert_eq!(call("/bin/sh", &["./run"]).await, Ok(ToolOutput::text("own")));
    let resolved = preflight(&folder.command("sh", &[]), &folder.host(), &folder.cwd()).expect("sh");
    assert!(resolved.program.is_absolute() && resolved.program.ends_with("sh"));
}

/// Y5.6-1: a file of unknown format is refused, above all not handed to a shell.
#[tokio::test]
async fn a_file_of_unknown_format_is_never_given_to_a_shell() {
    let folder = Folder::new();
    folder.file("run", "echo ran by a shell\n\0", 0o755);
    let error = refused(&folder, folder.command("run", &[])).await;
    assert_eq!((error.code, error.kind()), (ErrorCode::ToolExecutionError, Some("EXEC_FORMAT")));
}

/// A host may look programs up in a place of its own; its scripts then do so as well.
#[tokio::test]
async fn a_host_with_its_own_path_hands_it_on() {
    let folder = Folder::with("echo \"$PATH\"");
    folder.file("py", "#!/usr/bin/env python3\n", 0o755);
    let host = folder.host().with_path("/nowhere");
    let finding = preflight(&folder.command("py", &[]), &host, &folder.cwd()).expect_err("no python3 there");
    assert_eq!(finding.kind(), "INTERPRETER_MISSING");
    let (command, context, name) = (folder.command("run", &[]), folder.context(), crate::kit::name());
    let guest = youyou_script::Guest::Tool(&name);
    let run = youyou_script::ScriptRun { host: &host, command: &command, guest, input: Vec::new(), context: &context };
    assert_eq!(youyou_script::run(run).await.expect("it ran").captured.stdout, b"/nowhere\n");
}

/// K-35: Linux refuses to start what is open for writing; the runner waits until it is closed.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_script_that_is_being_written_starts_once_it_is_closed() {
    let folder = Folder::with("echo hi");
    let writer = OpenOptions::new().append(true).open(folder.dir().join("run")).expect("opens");
    let refusal = std::process::Command::new(folder.dir().join("run")).spawn().expect_err("refused");
    assert_eq!(refusal.kind(), io::ErrorKind::ExecutableFileBusy);
    // The call is polled first, and refused, before the file is closed.
    let (output, ()) = tokio::join!(folder.call(), async { drop(writer) });
    assert_eq!(output, Ok(ToolOutput::text("hi")));
}

/// K-35.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_script_can_be_edited_while_many_run_it() {
    const TEXT: &str = "#!/bin/sh\necho hi\n";
    let folder = Arc::new(Folder::with("echo hi"));
    let (path, stop) = (folder.dir().join("run"), Arc::new(AtomicBool::new(false)));
    let editor = std::thread::spawn({
        let stop = stop.clone();
        move || -> io::Result<u32> {
            let mut edits = 0;
            while !stop.load(Ordering::Relaxed) {
                let mut file = match OpenOptions::new().write(true).truncate(true).open(&path) {
                    // The system protects the other way round as well: this one is just being started.
                    Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => continue,
                    opened => opened?,
                };
                file.write_all(TEXT.as_bytes())?;
                file.set_permissions(std::fs::Permissions::from_mode(0o755))?;
                drop(file);
                edits += 1;
                // Nobody edits without a pause.
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            Ok(edits)
        }
    });
    let runs: Vec<_> = (0..8)
        .map(|_| {
            let folder = folder.clone();
            tokio::spawn(async move {
                for _ in 0..25 {
                    // A shell that reads the file while it is empty has nothing to do; that is not the runner's matter.
                    let output = folder.call().await.expect("it starts");
                    assert!(output.content == "hi" || output.content.is_empty(), "{output:?}");
                }
            })
        })
        .collect();
    for run in runs {
        run.await.expect("no panic");
    }
    stop.store(true, Ordering::Relaxed);
    assert!(editor.join().expect("no panic").expect("edits") > 0);
}
