//! Output that cannot be written: an error that is said, and an exit status that says so too.

use std::fs::OpenOptions;

use youyou_tests::tool::script;

use crate::{
    desk::{Desk, Ran, YOUYOU},
    sessions::{begin, keeping},
};

/// A line of arguments where no file can grow, as on a full disk.
#[track_caller]
pub(crate) fn on_a_full_disk(desk: &Desk, line: &str) -> Ran {
    let mut command = desk.command("sh");
    // Writing beyond the limit is an error then, and no signal.
    command.args(["-c", &format!("trap '' XFSZ; ulimit -f 0; exec \"$0\" {line}"), YOUYOU]);
    desk.finish(command, b"")
}

#[cfg(target_os = "linux")]
/// A line of arguments whose stdout is a device that is always full.
#[track_caller]
fn with_full_stdout(desk: &Desk, args: &[&str]) -> Ran {
    let mut command = desk.youyou(args);
    command.stdout(OpenOptions::new().write(true).open("/dev/full").expect("a device that is full"));
    desk.finish(command, b"")
}

const UNWRITTEN: &str = "error: the output cannot be written to stdout: ";

/// Whoever keeps what a command prints must hear when it is not whole; a reader that went away is another matter.
#[test]
fn output_that_is_lost_is_an_error() {
    let desk = keeping("jsonl", &script("said", "echo answered"));
    let session = begin(&desk, "hello");
    let chat = ["chat", "hello", "--replay", "script.yaml"];
    let json = [&chat[..], &["--json"]].concat();
    let lines: [&[&str]; 15] = [
        &["run-tool", "said"],
        &["run-tool", "said", "--json"],
        &["list", "tools"],
        &["list", "--json"],
        &["check"],
        &["doctor"],
        &["cache"],
        &["prompt", "show"],
        &["sessions", "list"],
        &["sessions", "show", &session],
        &["sessions", "export", &session],
        &["sessions", "export", &session, "--format", "json"],
        &["--help"],
        &chat,
        &json,
    ];
    for args in lines {
        let usual = desk.run(args);
        assert_eq!(usual.code, Some(0), "{args:?}: {usual:?}");
        let full = with_full_stdout(&desk, args);
        assert_eq!(full.code, Some(3), "{args:?}: {full:?}");
        assert_eq!(full.stderr.matches(UNWRITTEN).count(), 1, "said once, {args:?}: {full:?}");
    }
}

/// An error that was to be a document is said where it can be.
#[test]
fn an_error_that_cannot_be_written_as_json_is_said_on_stderr() {
    let desk = Desk::new("");
    let ran = with_full_stdout(&desk, &["run-hook", "none", "TurnEnd", "--json"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.starts_with("error: no plugin \"none\""), "{}", ran.stderr);
}

/// A recording that cannot be begun leaves no file that would keep its name from the next one.
#[test]
fn a_recording_that_cannot_be_begun_is_not_left_behind() {
    let desk = keeping("jsonl", "");
    let ran = on_a_full_disk(&desk, "chat hello --replay script.yaml --record new.jsonl");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.starts_with("error: cannot record to new.jsonl: "), "{}", ran.stderr);
    assert!(!desk.world.path("work/new.jsonl").exists());
}
