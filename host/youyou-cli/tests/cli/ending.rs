//! How the program ends when it is interrupted, or when nobody listens any more.

use std::io;

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tokio::process::Child;
use youyou_tests::{
    Lifeline, example,
    lifeline::{REPORT, exists},
    tool::{hostile, script},
};

use crate::desk::{Desk, on_one_thread};

pub(crate) fn send(child: &Child, signal: Signal) {
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).expect("it runs");
    kill(Pid::from_raw(pid), signal).expect("the signal is sent");
}

/// K-10: the script has a process group of its own, which ends with the program however that is asked to stop.
#[test]
fn a_signal_ends_the_script_and_all_it_started() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let desk = Desk::new("");
        let mut lifeline = Lifeline::new(&desk.world);
        desk.world.add(&script("slow", &format!("{}\nsleep 1000 &\n{REPORT}\necho begun; wait", lifeline.hold())));
        on_one_thread(async {
            let child = desk.youyou(&["run-tool", "slow"]).spawn().expect("starts");
            let script = lifeline.started().await;
            send(&child, signal);
            let output = child.wait_with_output().await.expect("ends");
            assert_eq!(output.status.code(), Some(3), "{signal}");
            assert_eq!(output.stdout, b"", "{signal}");
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(said, "error: tool \"slow\": it was cancelled while it ran; what it had done by then is done\n");
            lifeline.ended().await;
            assert!(!exists(script), "it was reaped");
        });
    }
}

/// K-62: a guest that never rests is stopped as well.
#[test]
fn a_signal_ends_a_guest_that_never_rests() {
    let desk = Desk::new(&hostile("looper", ""));
    on_one_thread(async {
        let mut command =
            desk.youyou(&["run-tool", "looper", "--args", r#"{"mode":"print-then-loop","message":"here"}"#]);
        let mut child = command.spawn().expect("starts");
        // The guest's first words say that it runs.
        let mut lines =
            tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(child.stderr.take().expect("a pipe")));
        assert_eq!(lines.next_line().await.expect("reads").as_deref(), Some("looper: here"));
        send(&child, Signal::SIGINT);
        assert_eq!(child.wait().await.expect("ends").code(), Some(3));
        let said = lines.next_line().await.expect("reads");
        assert_eq!(said.as_deref(), Some("error: tool \"looper\" was stopped: the call was cancelled"));
    });
}

/// The write end of a pipe that nobody reads.
fn nobody_reads() -> io::PipeWriter {
    io::pipe().expect("a pipe").1
}

/// Whoever read stdout or stderr may be gone; the program does its work, says nothing of it and keeps its exit status.
#[test]
fn a_closed_pipe_is_no_reason_to_panic() {
    let desk = Desk::new(
        &[script("said", "echo said >&2; echo answered"), script("broken", "").replace("version: 1", "")].concat(),
    );
    let (word_count, said) = (example("word-count").display().to_string(), ["run-tool", "said"]);
    let lines: [(&[&str], i32); 12] = [
        (&said, 0),
        (&["run-tool", "said", "--json", "--stats"], 0),
        (&["run-tool", "said", "--stats", "-v"], 0),
        (&["run-tool", "none"], 3),
        (&["run-tool", "none", "--json"], 3),
        (&["run-tool", &word_count, "--args", r#"{"text":"a"}"#], 0),
        (&["list"], 0),
        (&["list", "--json"], 0),
        (&["check"], 1),
        (&["inspect", &word_count], 0),
        (&["--help"], 0),
        (&["no-such-command"], 2),
    ];
    for (args, code) in lines {
        let usual = desk.run(args);
        assert_eq!(usual.code, Some(code), "{args:?}: {usual:?}");
        let mut deaf = desk.youyou(args);
        deaf.stdout(nobody_reads());
        let deaf = desk.finish(deaf, b"");
        assert_eq!(
            (deaf.code, deaf.stderr.contains("panicked")),
            (usual.code, false),
            "stdout closed, {args:?}: {deaf:?}"
        );
        let mut mute = desk.youyou(args);
        mute.stderr(nobody_reads());
        let mute = desk.finish(mute, b"");
        let without_figures = |text: &str| text.split("\"duration_ms\"").next().unwrap_or_default().to_owned();
        assert_eq!(mute.code, usual.code, "stderr closed, {args:?}");
        assert_eq!(without_figures(&mute.stdout), without_figures(&usual.stdout), "stderr closed, {args:?}");
    }
}
