//! Whether a project's own tools may be run (D-40): asked once, and again when anything in them changes.

use std::thread;

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

/// D-3, D-40: what a project does to the user's own is told, also where nothing of the project itself would run.
#[test]
fn what_a_project_does_to_the_users_own_is_told() {
    let guard = |level: &str, lines: &str| {
        format!("-- {level}/plugins/guard/index.md\n---\nversion: 1\nid: guard\n{lines}---\nGuards.\n")
    };
    let hooks = "hooks: { BeforeToolUse: { command: ./guard } }\n";
    let desk = Desk::new(&[guard("home", hooks), guard("work/.youyou", "enabled: false\n")].concat());
    insta::assert_snapshot!(desk.run(&["chat", "hi"]).shown(), @"
    err| [world]/work runs nothing of its own, and says how plugins are to be:
    err|   plugin guard: switches off your own in [world]/home/plugins/guard
    err| error: [world]/work brings settings of plugins of its own, and nobody can be asked here whether to trust them; look at them, then say --trust-project
    exit 2
    ");
    let desk = self::desk();
    desk.world.add(&[script("own", "echo yours"), guard("work/.youyou", hooks), guard("home", hooks)].concat());
    insta::assert_snapshot!(chat(&desk, &[]).shown(), @"
    err| [world]/work brings what can be run as you:
    err|   tool own: script ./run
    err|   tool own: takes the place of your own in [world]/home/tools/own
    err|   plugin guard: BeforeToolUse: script ./guard
    err|   plugin guard: takes the place of your own in [world]/home/plugins/guard
    err| error: [world]/work brings tools and plugins of its own, and nobody can be asked here whether to trust them; look at them, then say --trust-project
    exit 2
    ");
}

/// D-40: by its name a project's tool is run by nobody who does not trust the project; who names its folder has chosen it,
/// and the user's own need no trust.
#[test]
fn run_tool_asks_for_the_trust_that_chat_asks_for() {
    let desk = desk();
    desk.world.add(&script("mine", "echo mine"));
    insta::assert_snapshot!(desk.run(&["run-tool", "own"]).shown(), @"
    err| [world]/work brings what can be run as you:
    err|   tool own: script ./run
    err| error: [world]/work brings tools of its own, and nobody can be asked here whether to trust them; look at them, then say --trust-project
    exit 2
    ");
    assert_eq!(desk.run(&["run-tool", "mine"]).stdout, "mine\n");
    assert_eq!(desk.run(&["run-tool", ".youyou/tools/own"]).stdout, "ran\n");
    assert_eq!(desk.run(&["run-tool", "own"]).code, Some(2), "that was about the folder");

    let mut terminal = OnTerminal::start(desk.youyou(&["run-tool", "own"]));
    terminal.until("tool own: ").until("[y/N] ").press("y\r").until("ran");
    assert_eq!(terminal.end().0, Some(0));
    assert_eq!(desk.run(&["run-tool", "own"]).stdout, "ran\n");
    assert_eq!(chat(&desk, &[]).stdout, "ran\n", "one answer is for all");
}

/// D-40: the same of a plugin, and of the user's own plugin that a project configures anew.
#[test]
fn run_hook_asks_for_the_trust_that_chat_asks_for() {
    let plugin = |level: &str, id: &str, lines: &str| {
        format!(
            "-- {level}/plugins/{id}/index.md\n---\nversion: 1\nid: {id}\n{lines}---\nA plugin.\n\
             -- {level}/plugins/{id}/run (executable)\n#!/bin/sh\necho '{{}}'\n"
        )
    };
    let hooks = "hooks: { TurnEnd: { command: ./run } }\n";
    let desk = Desk::new(
        &[
            plugin("work/.youyou", "theirs", hooks),
            plugin("home", "mine", hooks),
            plugin("home", "changed", hooks),
            plugin("work/.youyou", "changed", "config: { x: 1 }\n"),
        ]
        .concat(),
    );
    for (id, code) in [("theirs", 2), ("changed", 2), ("mine", 0)] {
        let ran = desk.run(&["run-hook", id, "TurnEnd"]);
        assert_eq!(ran.code, Some(code), "{id}: {ran:?}");
    }
    assert_eq!(desk.run(&["run-hook", ".youyou/plugins/theirs", "TurnEnd"]).code, Some(0));
    assert_eq!(desk.run(&["run-hook", "theirs", "TurnEnd", "--trust-project"]).code, Some(0));
    assert_eq!(desk.run(&["run-hook", "changed", "TurnEnd"]).code, Some(0), "that is remembered");
}

/// D-40: of many runs at once each has its answer kept.
#[test]
fn runs_at_once_lose_no_answer() {
    const PROJECTS: usize = 6;
    let desk = Desk::new("");
    let tool = script("own", "echo ran");
    for project in 0..PROJECTS {
        desk.world.add(&tool.replace("home/tools/", &format!("work/{project}/.youyou/tools/")));
    }
    let run = |project: usize, trust: &[&str]| {
        let project = project.to_string();
        desk.run(&[&["run-tool", "own", "--workspace", &project], trust].concat())
    };
    thread::scope(|scope| {
        for project in 0..PROJECTS {
            scope.spawn(move || assert_eq!(run(project, &["--trust-project"]).code, Some(0)));
        }
    });
    for project in 0..PROJECTS {
        assert_eq!(run(project, &[]).code, Some(0), "{project} is trusted");
    }
}

/// D-40: running a tool does not change it, although it imports a module of its own folder.
#[test]
fn a_python_tool_stays_trusted() {
    let tool = script("own", "").replace("#!/bin/sh\n", "#!/usr/bin/env python3\nimport own_module\n");
    let desk = Desk::new(&tool.replace("home/tools/", "work/.youyou/tools/"));
    desk.world.write("work/.youyou/tools/own/own_module.py", "print('imported')\n");
    for trust in [&["--trust-project"][..], &[], &[]] {
        let ran = desk.run(&[&["run-tool", "own"], trust].concat());
        assert_eq!((ran.code, &*ran.stdout), (Some(0), "imported\n"), "{ran:?}");
    }
    assert!(!desk.world.path("work/.youyou/tools/own/__pycache__").exists());
}
