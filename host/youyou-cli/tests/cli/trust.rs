//! Whether a project's own tools may be run (D-40): asked once, and again when anything in them changes.

use youyou_tests::tool::script;

use crate::{
    desk::{Desk, Ran},
    terminal::OnTerminal,
};

const TALK: &str = "
-- work/script.yaml
replies:
  - { when: { user: {} }, say: [{ call: { tool_name: own } }] }
  - { when: { tool_result: {} }, template: true, say: [{ text: '{last_tool_result}' }] }
";

/// A desk whose project brings a tool.
fn desk() -> Desk {
    Desk::new(&[script("own", "echo ran").replace("home/tools/", "work/.youyou/tools/"), TALK.to_owned()].concat())
}

const LINE: [&str; 4] = ["chat", "go", "--replay", "script.yaml"];

fn chat(desk: &Desk, more: &[&str]) -> Ran {
    desk.run(&[&LINE, more].concat())
}

fn ask(desk: &Desk) -> OnTerminal {
    let mut terminal = OnTerminal::start(desk.youyou(&LINE));
    terminal.until("tool own: ").until("Trust it?").until("[y/N] ");
    terminal
}

/// Where nobody can be asked, nothing is run, and what to do is said.
#[test]
fn a_project_that_nobody_knows_is_refused_where_nobody_can_be_asked() {
    let desk = desk();
    insta::assert_snapshot!(chat(&desk, &[]).shown(), @"
    err| [world]/work brings what can be run as you:
    err|   tool own: script ./run
    err| error: [world]/work brings tools of its own, and nobody can be asked here whether to trust them; look at them, then say --trust-project
    exit 2
    ");
    let ran = chat(&desk, &["--json"]);
    let message = ran.json()["error"]["message"].to_string();
    assert!(message.contains("[world]/work") && message.contains("--trust-project"), "{message}");
    assert_eq!(ran.code, Some(2));
}

/// Trust is for what the project holds, and ends when that changes.
#[test]
fn trust_is_remembered_until_the_project_changes() {
    let desk = desk();
    let ran = chat(&desk, &["--trust-project"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "ran\n"), "{ran:?}");
    assert_eq!(chat(&desk, &[]).stdout, "ran\n");

    let run = desk.world.read("work/.youyou/tools/own/run");
    desk.world.write("work/.youyou/tools/own/run", run.replace("echo ran", "echo changed"));
    assert_eq!(chat(&desk, &[]).code, Some(2));
    // As it was, it is what the user trusts.
    desk.world.write("work/.youyou/tools/own/run", run);
    assert_eq!(chat(&desk, &[]).stdout, "ran\n");
}

/// On a terminal the user is asked, with what would be run before their eyes.
#[test]
fn on_a_terminal_the_user_is_asked() {
    let desk = desk();
    for no in ["\r", "n\r", "what?\r", "\u{4}"] {
        let mut terminal = ask(&desk);
        terminal.press(no);
        let (code, shown) = terminal.end();
        assert_eq!(code, Some(2), "{no:?}: {shown}");
        assert!(shown.contains("is not trusted; nothing was run") && !shown.contains("→ own"), "{no:?}: {shown}");
    }
    let mut terminal = ask(&desk);
    terminal.press("y\r").until("→ own").until("ran");
    assert_eq!(terminal.end().0, Some(0));
    // From here on also where nobody can be asked.
    assert_eq!(chat(&desk, &[]).stdout, "ran\n");
}

/// A project without anything that could be run needs no trust.
#[test]
fn a_project_that_runs_nothing_is_never_asked_about() {
    let desk = Desk::new(
        "-- work/.youyou/skills/commit/index.md\n---\nversion: 1\nname: commit\ndescription: Commits.\n---\nCommit.",
    );
    assert_eq!(desk.run(&["chat", "hi"]).code, Some(0));
}
