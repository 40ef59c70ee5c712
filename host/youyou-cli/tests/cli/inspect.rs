//! `youyou inspect`: a component from the outside.

use serde_json::json;
use youyou_tests::{example, guest, repository};

use crate::desk::Desk;

/// What differs with every build of a guest.
fn without_figures(text: &str) -> String {
    let figure =
        |line: &str| ["size", "memory at start", "sha256"].iter().any(|name| line.starts_with(&format!("out| {name}")));
    text.lines().filter(|line| !figure(line)).map(|line| format!("{line}\n")).collect()
}

/// C-3: what it exports, imports, could use and was granted.
#[test]
fn a_folder_is_shown_with_what_it_grants() {
    let ran = Desk::new("").run_in(repository(), &["inspect", "examples/tools/http-get"]);
    let shown: String =
        without_figures(&ran.shown()).lines().filter(|line| !line.contains("wasi:")).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(shown, @"
    out| file                   [repository]/examples/tools/http-get/http_get.wasm
    out| usable as              a tool
    out| could use, if granted  environment variables (env), the network (net)
    out| granted                may send requests to http://127.0.0.1:8080
    out| exports                youyou:plugin/tool@1.0.0
    out| imports                youyou:plugin/log@1.0.0
    out|                        youyou:plugin/types@1.0.0
    exit 0
    ");
}

#[test]
fn a_file_is_shown_as_one_json_document() {
    let file = guest("echo");
    let ran = Desk::new("").run(&["inspect", &file.display().to_string(), "--json"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    let document = ran.json();
    assert_eq!(document["tool"], true);
    assert_eq!(document["exports"], json!(["youyou:plugin/tool@1.0.0"]));
    assert_eq!(document["problems"], json!([]));
    assert_eq!(document["size_bytes"], std::fs::metadata(&file).expect("is there").len());
    assert_eq!(document["sha256"].as_str().map(str::len), Some(64));
    assert!(document.get("granted").is_none(), "nothing is known of a bare file");
    let folder = Desk::new("").run(&["inspect", &example("grep-files").display().to_string(), "--json"]).json();
    assert_eq!(folder["granted"]["read"], json!(["."]));
}

/// A component that is no tool of ours is shown all the same, with what is wrong with it.
#[test]
fn a_component_without_our_export_is_shown_with_the_problem() {
    let desk = Desk::new("");
    desk.world.write("work/other.wasm", b"\0asm\x0d\0\x01\0");
    let ran = desk.run(&["inspect", "other.wasm"]);
    insta::assert_snapshot!(without_figures(&ran.shown()), @"
    out| file                   other.wasm
    out| usable as              nothing
    out| could use, if granted  nothing
    out| problem                it exports none of `youyou:plugin/tool@1.0.0`, `youyou:plugin/session-start@1.0.0`, `youyou:plugin/session-end@1.0.0`, `youyou:plugin/turn-start@1.0.0`, `youyou:plugin/turn-end@1.0.0`, `youyou:plugin/before-tool-use@1.0.0`, `youyou:plugin/after-tool-use@1.0.0`, `youyou:plugin/before-compact@1.0.0` (is the file truncated?)
    exit 1
    ");
}

/// A plugin's folder: its components, each with the events that index.md gives it; one that it cannot handle is told.
#[test]
fn the_components_of_a_plugin_are_shown_with_their_events() {
    let desk = Desk::new(
        "
-- work/p/index.md
---
version: 1
id: p
execution: { component: p.wasm, permissions: { read: [.] } }
hooks: { BeforeToolUse: {}, TurnEnd: {}, TurnStart: { command: ./run } }
---
Is half a plugin.
-- work/p/p.wasm (guest hostile)
-- work/s/index.md
---
version: 1
id: s
hooks: { TurnStart: { command: ./run } }
---
Has no component.
",
    );
    let ran = desk.run(&["inspect", "p"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for line in ["a handler of BeforeToolUse", "index.md gives it", "it exports no handler of TurnEnd", "read"] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    let document = desk.run(&["inspect", "p", "--json"]).json();
    assert_eq!(document["plugin"], "p");
    let components = document["components"].as_array().expect("a list");
    assert_eq!((components.len(), &components[0]["declared"]), (1, &json!(["TurnEnd", "BeforeToolUse"])));
    let script = desk.run(&["inspect", "s"]);
    assert_eq!(script.code, Some(2));
    assert!(script.stderr.contains("only components can be inspected"), "{script:?}");
}
