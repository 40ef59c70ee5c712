//! `youyou run-hook`: what a handler's answer leads to, and how it fails.

use serde_json::json;

use crate::desk::{Desk, Ran};

/// A plugin of the home whose handler of these events is a shell script with this body.
fn plugin(id: &str, hooks: &str, body: &str) -> String {
    format!(
        "-- home/plugins/{id}/index.md\n---\nversion: 1\nid: {id}\n{hooks}---\nDoes {id}.\n\
         -- home/plugins/{id}/run (executable)\n#!/bin/sh\n{body}\n"
    )
}

const EVERY: &str = "execution: { command: ./run }\nhooks:\n  SessionStart:\n  SessionEnd:\n  TurnStart:\n  TurnEnd:\n  \
                     BeforeToolUse:\n  AfterToolUse:\n  BeforeCompact:\n";

/// A desk with a plugin `p` that handles every event with this body.
fn desk(body: &str) -> Desk {
    Desk::new(&plugin("p", EVERY, body))
}

/// What is shown, without how long it took.
fn shown(ran: &Ran) -> String {
    let timeless = |line: &str| match line.strip_suffix(" ms").and_then(|line| line.rsplit_once(", ")) {
        Some((start, figure)) if figure.bytes().all(|byte| byte.is_ascii_digit()) => format!("{start}, [ms] ms"),
        _ => line.to_owned(),
    };
    ran.shown().lines().map(timeless).collect::<Vec<_>>().join("\n")
}

fn answered(event: &str, body: &str) -> String {
    shown(&desk(body).run(&["run-hook", "p", event, "--payload", "{}"]))
}

/// Y5.6-3: continue, change, abort.
#[test]
fn an_answer_is_told_with_what_it_leads_to() {
    insta::assert_snapshot!(answered("BeforeToolUse", "true"), @"
    out| continue
    out| All goes on, and nothing changes.
    err| p, BeforeToolUse, script, [ms] ms
    exit 0
    ");
    insta::assert_snapshot!(
        answered("BeforeToolUse", r#"echo '{"data":{"arguments":{"path":"b","n":1}}}'"#), @r#"
        out| continue, with changes
        out|   arguments.path: "notes.txt" -> "b"
        out|   arguments.n: (none) -> 1
        out| All goes on, with these changes.
        err| p, BeforeToolUse, script, [ms] ms
        err| warning: there is no tool "read-file" here, so the new arguments were not checked against its parameters
        exit 0
        "#
    );
    insta::assert_snapshot!(answered("BeforeToolUse", r#"echo '{"abort":true,"reason":"not here"}'"#), @"
    out| abort: not here
    out| This blocks. The tool does not run; the model reads the reason as an error result.
    err| p, BeforeToolUse, script, [ms] ms
    exit 1
    ");
    insta::assert_snapshot!(answered("AfterToolUse", r#"echo '{"data":{"output":"***","success":false}}'"#), @r#"
    out| continue, with changes
    out|   output: "milk\nbread\n" -> "***"
    out|   success: true -> false
    out| All goes on, with these changes.
    err| p, AfterToolUse, script, [ms] ms
    exit 0
    "#);
    insta::assert_snapshot!(
        answered("TurnStart", r#"echo '{"data":{"dynamic_sections":[{"title":"t","content":"c"}]}}'"#), @r#"
        out| continue, with changes
        out|   dynamic_sections.0: (none) -> {"title":"t","content":"c"}
        out| All goes on, with these changes.
        err| p, TurnStart, script, [ms] ms
        exit 0
        "#
    );
}

/// D-6, D-11, D-13, Y4.6-1: what does not block is told plainly.
#[test]
fn what_does_not_block_is_told_plainly() {
    insta::assert_snapshot!(answered("TurnEnd", r#"echo '{"abort":true,"reason":"stay"}'"#), @"
    out| abort: stay
    out| This does NOT block. Ignored with a warning: an end cannot be vetoed.
    err| p, TurnEnd, script, [ms] ms
    exit 1
    ");
    insta::assert_snapshot!(answered("BeforeToolUse", r#"echo '{"abort":true,"reason":"no"}'; echo why >&2; exit 2"#), @r#"
    out| failed: plugin "p": printed abort and exited with code 2: ignored, "no" (an exit other than 0 is a failure, and a failure aborts nothing; exit with 0 to abort); the end of its stderr:
    out| why
    out| This does NOT block. A failure stops nothing: all goes on with a warning, as if the handler had not been asked.
    err| p: why
    err| p, BeforeToolUse, script, [ms] ms
    exit 1
    "#);
    insta::assert_snapshot!(answered("BeforeToolUse", "echo done"), @r#"
    out| failed: plugin "p": it changed nothing: expected nothing or one JSON object on stdout, it printed "done" (expected value at line 1 column 1); messages belong on stderr
    out| This does NOT block. A failure stops nothing: all goes on with a warning, as if the handler had not been asked.
    err| p, BeforeToolUse, script, [ms] ms
    exit 1
    "#);
    insta::assert_snapshot!(answered("BeforeToolUse", r#"echo '{"data":{"tool_name":"rm","arguments":7}}'"#), @"
    out| continue
    out| All goes on, and nothing changes.
    err| p, BeforeToolUse, script, [ms] ms
    err| warning: `data.tool_name` is ignored: of BeforeToolUse a handler can change `arguments`
    err| warning: `data.arguments` is ignored: expected a JSON object, found a number
    exit 0
    ");
}

/// D-14: where a failure is to count as an abort, it is told as one.
#[test]
fn a_failure_that_aborts_is_told_as_an_abort() {
    let hooks = "hooks: { BeforeToolUse: { command: ./run, on_failure: abort, timeout_ms: 100 } }\n";
    let desk = Desk::new(&plugin("p", hooks, "while :; do :; done"));
    insta::assert_snapshot!(shown(&desk.run(&["run-hook", "p", "BeforeToolUse", "--payload", "{}"])), @r#"
    out| failed: plugin "p": it was stopped after 100 ms, its time limit; `timeout_ms` below the event or `execution` in [world]/home/plugins/p/index.md sets it
    out| This blocks. `on_failure: abort` makes the failure an abort. The tool does not run; the model reads the reason as an error result.
    err| p, BeforeToolUse, script, [ms] ms
    exit 3
    "#);
}

/// Y3.6-1, Y3.6-2: without a payload a sample is used, and shown; every event has one. A part of one goes over it.
#[test]
fn a_payload_is_completed_from_a_sample() {
    let desk = desk("cat >>got");
    for event in
        ["SessionStart", "SessionEnd", "TurnStart", "TurnEnd", "BeforeToolUse", "AfterToolUse", "BeforeCompact"]
    {
        let ran = desk.run(&["run-hook", "p", event]);
        assert_eq!((ran.code, &*ran.stdout), (Some(0), "continue\nAll goes on, and nothing changes.\n"), "{ran:?}");
        let sample = ran.stderr.lines().next().expect("a line").split_once("is used: ").expect("a sample").1;
        assert_eq!(desk.world.read("work/got").lines().last(), Some(sample), "the handler read what was shown");
    }
    desk.world.write("home/config.yaml", "plugin_configs: { p: { keys: [a] } }\n");
    let payload = r#"{"arguments":{"path":"../x"},"session_id":"mine"}"#;
    let ran = desk.run_with_stdin(&["run-hook", "p", "BeforeToolUse", "--payload", "-"], payload.as_bytes());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    insta::assert_snapshot!(desk.world.read("work/got").lines().last().expect("a line"), @r#"{"payload_version":1,"event":"BeforeToolUse","session_id":"mine","turn_id":"run-hook-1","tool_name":"read-file","arguments":{"path":"../x"},"plugin_config":{"keys":["a"]}}"#);
}

/// A bad payload is refused before anything is started.
#[test]
fn a_payload_that_does_not_fit_is_refused() {
    let desk = desk("touch started");
    let mut said = String::new();
    for (event, payload) in [
        ("BeforeToolUse", "[]"),
        ("BeforeToolUse", "{"),
        ("BeforeToolUse", r#"{"argument":{}}"#),
        ("BeforeToolUse", r#"{"arguments":7}"#),
        ("BeforeToolUse", r#"{"event":"TurnEnd"}"#),
        ("BeforeToolUse", r#"{"payload_version":2}"#),
        ("BeforeToolUse", "@nowhere.json"),
        ("BeforeTool", "{}"),
    ] {
        let ran = desk.run(&["run-hook", "p", event, "--payload", payload]);
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{payload}: {ran:?}");
        said.push_str(&ran.stderr);
    }
    insta::assert_snapshot!(said, @r#"
    error: the payload must be a JSON object, such as {"arguments":{"path":"a.txt"}}
    error: the payload is no JSON: EOF while parsing an object at line 1 column 1
    error: the payload of BeforeToolUse has no field `argument`; it has `payload_version`, `event`, `session_id`, `turn_id`, `tool_name`, `arguments`, `plugin_config`
    error: this is no payload of BeforeToolUse: invalid type: integer `7`, expected a map
    error: the payload's `event` is "TurnEnd", expected "BeforeToolUse"
    error: the payload's `payload_version` is 2, expected 1
    error: cannot read the payload from nowhere.json: No such file or directory (os error 2)
    error: "BeforeTool" is not an event; the events are SessionStart, SessionEnd, TurnStart, TurnEnd, BeforeToolUse, AfterToolUse, BeforeCompact
    "#);
    assert!(!desk.world.path("work/started").exists());
}

/// Exit 3: what could not be run.
#[test]
fn a_handler_that_cannot_be_run_says_why() {
    let hooks = "hooks: { TurnEnd: { command: ./gone } }\n";
    let desk = Desk::new(&plugin("p", hooks, ""));
    insta::assert_snapshot!(shown(&desk.run(&["run-hook", "p", "TurnEnd", "--payload", "{}"])), @r#"
    out| failed: plugin "p": command "./gone" was not found: [world]/home/plugins/p/gone does not exist. Create the file, or correct `command` in index.md
    out| This does NOT block. A failure stops nothing: all goes on with a warning, as if the handler had not been asked.
    err| p, TurnEnd, script, [ms] ms
    exit 3
    "#);
    insta::assert_snapshot!(shown(&desk.run(&["run-hook", "p", "TurnStart"])), @r#"
    err| error: the plugin "p" does not handle TurnStart; it handles TurnEnd
    exit 3
    "#);
    insta::assert_snapshot!(shown(&desk.run(&["run-hook", "q", "TurnStart"])), @r#"
    err| error: no plugin "q" in [world]/home/plugins or [world]/work/.youyou/plugins; there are: p
    exit 3
    "#);
    insta::assert_snapshot!(shown(&desk.run(&["run-hook", "./q", "TurnStart"])), @"
    err| error: [world]/work/q: there is no such folder
    exit 2
    ");
    desk.world.write("home/plugins/p/index.md", "---\nversion: 1\nid: p\nhooks: { TurnEnds: {} }\n---\n");
    insta::assert_snapshot!(shown(&desk.run(&["run-hook", "p", "TurnEnd"])), @r#"
    err| error: [world]/home/plugins/p/index.md:4:10: "TurnEnds" is not an event (did you mean `TurnEnd`? the events are SessionStart, SessionEnd, TurnStart, TurnEnd, BeforeToolUse, AfterToolUse, BeforeCompact)
    exit 2
    "#);
}

/// Y3.5-2, Y3.5-5: a folder anywhere; a plugin that is switched off is tried all the same, and that is said.
#[test]
fn a_folder_can_be_tried_where_it_stands() {
    let desk = Desk::new(&plugin(
        "p",
        "enabled: false\nconfig: { own: true }\nhooks: { TurnEnd: { command: ./run } }\n",
        "cat >got",
    ));
    let ran = desk.run(&["run-hook", "../home/plugins/p", "TurnEnd", "--payload", "{}"]);
    insta::assert_snapshot!(shown(&ran), @"
    out| continue
    out| All goes on, and nothing changes.
    err| note: [world]/work/../home/plugins/p/index.md says `enabled: false`, so an agent would not ask it
    err| p, TurnEnd, script, [ms] ms
    exit 0
    ");
    assert!(desk.world.read("work/got").contains(r#""plugin_config":{"own":true}"#));
    let ran = desk.run(&["run-hook", "p", "TurnEnd", "--payload", "{}"]);
    assert!(ran.stderr.contains("the plugin \"p\" is disabled"), "{ran:?}");
}

/// D-7: new arguments are held to the tool's parameters, as an agent would.
#[test]
fn new_arguments_must_fit_the_tool() {
    let tool = youyou_tests::tool::script("read", "echo read");
    let desk = Desk::new(&[tool, plugin("p", EVERY, r#"echo '{"data":{"arguments":{"path":7}}}'"#)].concat());
    let ran = desk.run(&["run-hook", "p", "BeforeToolUse", "--payload", r#"{"tool_name":"read"}"#]);
    insta::assert_snapshot!(shown(&ran), @r#"
    out| continue
    out| All goes on, and nothing changes.
    err| p, BeforeToolUse, script, [ms] ms
    err| warning: `data.arguments` is ignored: the parameter "path" must be a string, but is the number 7
    exit 0
    "#);
}

#[test]
fn a_trial_is_one_json_document_for_a_program() {
    let desk = desk(r#"echo '{"data":{"output":"b"}}'"#);
    let ran = desk.run(&["run-hook", "p", "AfterToolUse", "--payload", r#"{"output":"a"}"#, "--json"]);
    let mut document = ran.json();
    assert!(document["duration_ms"].take().is_u64());
    assert_eq!(
        document,
        json!({
            "plugin": "p", "event": "AfterToolUse", "backend": "script", "outcome": "changed", "blocks": false,
            "meaning": "All goes on, with these changes.",
            "changes": [{ "field": "output", "before": "a", "after": "b" }], "warnings": [], "duration_ms": null,
        })
    );
    let desk = Desk::new(&plugin("p", EVERY, "echo why >&2; exit 3"));
    let ran = desk.run(&["run-hook", "p", "AfterToolUse", "--json", "--payload", "{}"]);
    let document = ran.json();
    assert_eq!(
        (ran.code, &document["outcome"], &document["error"]["code"]),
        (Some(1), &json!("failed"), &json!("HOOK_FAILED"))
    );
    assert_eq!(document["error"]["details"]["kind"], "EXIT");
}

/// K-13: a script that an agent runs may try a hook; a script in such a script may not, and may not chat either.
#[test]
fn what_is_nested_too_deep_is_refused() {
    let desk = desk("true");
    for (depth, code) in [("1", 0), ("2", 2), ("7", 2), ("garbage", 0)] {
        let mut command = desk.youyou(&["run-hook", "p", "TurnEnd", "--payload", "{}"]);
        command.env("YOUYOU_DEPTH", depth);
        let ran = desk.finish(command, b"");
        assert_eq!(ran.code, Some(code), "{depth}: {ran:?}");
    }
    let mut command = desk.youyou(&["chat", "hi"]);
    command.env("YOUYOU_DEPTH", "2");
    insta::assert_snapshot!(desk.finish(command, b"").shown(), @"
    err| error: `youyou chat` is refused here: it would run inside 2 scripts of agents, one in another (YOUYOU_DEPTH=2, at most 1); a hook or tool that starts an agent must not start itself
    exit 2
    ");
}
