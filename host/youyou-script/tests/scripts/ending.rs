//! How a run ends: by itself, at its deadline, on cancel, or with its future.

use std::time::{Duration, Instant};

use nix::{
    errno::Errno,
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Map;
use youyou_api::{CallContext, Error, ErrorCode, ToolFailure, ToolHandler, ToolOutput};
use youyou_script::ScriptCommand;

use crate::kit::{FOR_EVER, Folder, Lifeline, REPORT, in_own_process, input};

fn for_model(result: Result<ToolOutput, ToolFailure>) -> Error {
    match result {
        Err(ToolFailure::ForModel(error)) => error,
        other => panic!("expected a failure for the model, found {other:?}"),
    }
}

fn limited(folder: &Folder, timeout: Duration) -> (ScriptCommand, CallContext) {
    let command = ScriptCommand { timeout: Some(timeout), ..folder.command("run", &[]) };
    (command, CallContext::new(folder.cwd(), timeout))
}

/// K-10, Y4.4-2, Y5.6-2: SIGTERM is ignored, so the whole group gets SIGKILL; the message names the limit and its key.
#[tokio::test]
async fn a_script_that_ignores_sigterm_is_killed_with_its_group() {
    let folder = Folder::new();
    let mut lifeline = Lifeline::new(&folder);
    let open = lifeline.open();
    let body = "echo begun; echo why >&2\nwhile :; do sleep 1; done";
    folder.file("run", &format!("#!/bin/sh\ntrap '' TERM\n{open}\nsleep 1000 &\n{REPORT}\n{body}\n"), 0o755);
    let (command, context) = limited(&folder, Duration::from_millis(500));

    let begun = Instant::now();
    let error = for_model(folder.tool(command).call(input(Map::new()), context).await);
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());

    assert_eq!((error.code, error.kind()), (ErrorCode::ToolTimeout, Some("LIMIT_TIME")));
    assert!(error.message.contains("500 ms") && error.message.contains("`timeout_ms`"), "{}", error.message);
    assert_eq!(error.details["timeout_ms"], 500);
    assert_eq!((&error.details["stdout"], &error.details["stderr"]), (&"begun\n".into(), &"why".into()));
    let pid = lifeline.started().await;
    assert_eq!(kill(Pid::from_raw(pid), None), Err(Errno::ESRCH), "the script was reaped");
    lifeline.ended().await;
}

/// Y4.4-2: the group's leader obeys SIGTERM, but a process that it started does not.
#[tokio::test]
async fn what_outlives_the_script_in_its_group_is_killed_too() {
    let folder = Folder::new();
    let mut lifeline = Lifeline::new(&folder);
    let child = format!("trap '' TERM; {}; {REPORT}; while :; do sleep 1; done", lifeline.open());
    folder.file("run", &format!("#!/bin/sh\nsh -c '{}' &\nwait\n", child.replace('\'', r"'\''")), 0o755);
    let (tool, context) = (folder.tool(folder.command("run", &[])), folder.context());
    let cancel = context.cancel.clone();

    let call = tool.call(input(Map::new()), context);
    let (result, _) = tokio::join!(call, async {
        lifeline.started().await;
        cancel.cancel();
    });
    assert_eq!(for_model(result).code, ErrorCode::RequestCancelled);
    lifeline.ended().await;
}

/// K-10, K-31: in a container the host may be the init process, to which all orphans fall; it neither waits for those
/// that live on nor keeps those that were killed as zombies.
#[cfg(target_os = "linux")]
#[test]
fn a_host_that_is_init_waits_for_no_orphan_and_keeps_no_zombie() {
    in_own_process("ending::as_init", &[]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
#[ignore = "started by the test above in a process of its own"]
async fn as_init() {
    nix::sys::prctl::set_child_subreaper(true).expect("may be set");
    let left = Folder::with("sleep 1000 & echo $!").call().await.expect("it ran");
    let left = Pid::from_raw(left.content.parse().expect("a process id"));
    assert_eq!(kill(left, Signal::SIGKILL), Ok(()), "it was alive");

    let folder = Folder::with("sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & wait");
    let (command, context) = limited(&folder, Duration::from_millis(300));
    let error = for_model(folder.tool(command).call(input(Map::new()), context).await);
    let killed: i32 = error.details["stdout"].as_str().and_then(|text| text.trim().parse().ok()).expect("a process id");
    assert_eq!(kill(Pid::from_raw(killed), None), Err(Errno::ESRCH));
}

/// Y4.4-2: what the script prints on SIGTERM is kept, and nobody waits for the rest of the grace.
#[tokio::test]
async fn a_cancelled_script_may_say_its_last_words() {
    let folder = Folder::new();
    let mut lifeline = Lifeline::new(&folder);
    // Without a child of its own, which could be started just after the signal and would get none.
    let body = format!("trap 'echo bye; exit 0' TERM\n{}\n{REPORT}\nwhile :; do :; done", lifeline.open());
    folder.file("run", &format!("#!/bin/sh\n{body}\n"), 0o755);
    let (tool, context) = (folder.tool(folder.command("run", &[])), folder.context());
    let cancel = context.cancel.clone();

    let call = tool.call(input(Map::new()), context);
    let (result, stopped) = tokio::join!(call, async {
        lifeline.started().await;
        cancel.cancel();
        Instant::now()
    });
    assert!(stopped.elapsed() < Duration::from_secs(1), "the grace ends with the group: {:?}", stopped.elapsed());
    let error = for_model(result);
    assert_eq!((error.code, &error.details["stdout"]), (ErrorCode::RequestCancelled, &"bye\n".into()));
    lifeline.ended().await;
}

/// D-60: dropping the future leaves neither a process nor a zombie behind.
#[tokio::test]
async fn dropping_the_call_kills_the_whole_group() {
    let folder = Folder::new();
    let mut lifeline = Lifeline::new(&folder);
    let body = format!("trap '' TERM\n{}\nsleep 1000 &\n{REPORT}\nwait", lifeline.open());
    folder.file("run", &format!("#!/bin/sh\n{body}\n"), 0o755);
    let (tool, context) = (folder.tool(folder.command("run", &[])), folder.context());
    let call = tokio::spawn(async move { tool.call(input(Map::new()), context).await });

    let pid = lifeline.started().await;
    call.abort();
    assert!(call.await.expect_err("aborted").is_cancelled());
    lifeline.ended().await;
    let reaped = async {
        while kill(Pid::from_raw(pid), None).is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(FOR_EVER, reaped).await.expect("the runtime collects the exit status");
}

/// K-31: a process that is left behind holds the pipes open, but not the answer back.
#[tokio::test]
async fn a_background_process_does_not_hold_the_answer_back() {
    let folder = Folder::new();
    let begun = Instant::now();
    let output = folder.call_command(folder.command("sh", &["-c", "echo hi; sleep 30 &"])).await;
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(output, Ok(ToolOutput::text("hi")));
}

/// K-31: a tool may start a server; it is not killed when the tool has answered.
#[tokio::test]
async fn what_a_script_leaves_behind_lives_on() {
    let output = Folder::with("sleep 1000 & echo $!").call().await.expect("it ran");
    let left = Pid::from_raw(output.content.parse().expect("a process id"));
    assert_eq!(kill(left, Signal::SIGKILL), Ok(()), "it was alive");
}

/// K-31: a background process that prints without end is read for two seconds and no longer.
#[tokio::test]
async fn a_talkative_background_process_is_left_after_two_seconds() {
    let folder = Folder::with("echo hi; yes more &");
    let begun = Instant::now();
    let output = folder.call().await.expect("it ran");
    assert!(begun.elapsed() >= Duration::from_secs(2), "{:?}", begun.elapsed());
    assert!(output.content.starts_with("hi\nmore\n"));
}

/// Y4.4-2: the script was in time; that somebody else holds its pipes at the deadline does not change that.
#[tokio::test]
async fn a_deadline_after_the_exit_is_no_timeout() {
    let folder = Folder::with("echo hi; yes more &");
    let (command, context) = limited(&folder, Duration::from_millis(1500));
    let output = folder.tool(command).call(input(Map::new()), context).await.expect("it ran");
    assert!(output.content.starts_with("hi\n") && !output.is_error);
}

/// The command's own limit holds even where the caller allows more.
#[tokio::test]
async fn the_earlier_of_two_limits_counts() {
    let folder = Folder::with("sleep 1000");
    let (command, _) = limited(&folder, Duration::from_millis(50));
    let error = for_model(folder.tool(command).call(input(Map::new()), folder.context()).await);
    assert_eq!((error.code, &error.details["timeout_ms"]), (ErrorCode::ToolTimeout, &50.into()));
}

#[tokio::test]
async fn a_call_that_is_cancelled_before_it_starts_starts_nothing() {
    let folder = Folder::with("touch started");
    let context = folder.context();
    context.cancel.cancel();
    let error = for_model(folder.tool(folder.command("run", &[])).call(input(Map::new()), context).await);
    assert_eq!(error.code, ErrorCode::RequestCancelled);
    assert!(!folder.cwd().join("started").exists());
}

/// Y11-1: each of the two waits for the other, so neither ends if the runner blocks the only thread.
#[tokio::test]
async fn two_scripts_run_side_by_side_on_one_thread() {
    let folder = Folder::new();
    let fifo = folder.cwd().join("meeting");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).expect("mkfifo");
    folder.file("hear", "#!/bin/sh\ncat meeting\n", 0o755);
    folder.file("say", "#!/bin/sh\necho hello > meeting; echo said\n", 0o755);
    let (heard, said) = tokio::join!(
        folder.call_command(folder.command("hear", &[])),
        folder.call_command(folder.command("say", &[])),
    );
    assert_eq!((heard, said), (Ok(ToolOutput::text("hello")), Ok(ToolOutput::text("said"))));
}
