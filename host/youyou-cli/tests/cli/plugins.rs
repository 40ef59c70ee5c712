//! `youyou list plugins`, `check` and `new plugin`.

use crate::{
    desk::{Desk, YOUYOU},
    new::prepare,
    pages::with_cargo,
};

/// Plugins of both levels: in force, overlaid, shadowed, switched off, and an overlay of nothing.
fn desk() -> Desk {
    Desk::new(
        "
-- home/plugins/z-first/index.md
---
version: 1
id: z-first
config: { level: 1 }
hooks: { BeforeToolUse: { command: ./run }, TurnEnd: { command: ./run } }
---
Comes first, because the user's own are asked before the project's.
-- home/plugins/z-first/run (executable)
#!/bin/sh
-- work/.youyou/plugins/z-first/index.md
---
version: 1
id: z-first
config: { level: 2 }
---
-- home/plugins/both/index.md
---
version: 1
id: both
hooks: { TurnEnd: { command: ./run } }
---
The user's.
-- home/plugins/both/run (executable)
#!/bin/sh
-- work/.youyou/plugins/both/index.md
---
version: 1
id: both
execution: { component: both.wasm }
hooks: { BeforeToolUse: {}, TurnEnd: { command: ./run } }
---
The project's.
-- work/.youyou/plugins/both/run (executable)
#!/bin/sh
-- work/.youyou/plugins/both/both.wasm (guest hostile)
-- home/plugins/off/index.md
---
version: 1
id: off
enabled: false
hooks: { TurnStart: { command: ./run } }
---
Is switched off.
-- home/plugins/off/run (executable)
#!/bin/sh
-- home/plugins/nothing/index.md
---
version: 1
id: nothing
enabled: true
---
",
    )
}

/// D-1, D-3, Y3.5-2, Y3.5-5: order, level, events, configuration, and what stands in for what.
#[test]
fn a_list_of_plugins_shows_how_each_stands() {
    insta::assert_snapshot!(desk().run(&["list", "plugins"]).shown(), @"
    out| ORDER  ID       SOURCE                        HANDLES                                      CONFIG                  DESCRIPTION
    out| -      nothing  global (overlay of nothing)   nothing                                      none
    out| 1      z-first  global (overlaid)             TurnEnd, BeforeToolUse (script)              the project's index.md  Comes first, because the user's own are asked before the pr…
    out| 2      both     project (in place of global)  TurnEnd (script); BeforeToolUse (component)  none                    The project's.
    out| off    off      global                        TurnStart (script)                           none                    Is switched off.
    exit 0
    ");
    insta::assert_snapshot!(Desk::new("").run(&["list", "plugins"]).shown(), @"
    err| no plugins in [world]/home/plugins or [world]/work/.youyou/plugins; `youyou new plugin NAME` makes one
    exit 0
    ");
}

#[test]
fn a_list_of_plugins_is_one_json_document_for_a_program() {
    let document = desk().run(&["list", "plugins", "--json"]).json();
    let plugins = document["plugins"].as_array().expect("a list");
    let keys = ["id", "source", "enabled", "config", "config_from", "taps", "shadows", "overlays", "dir"];
    let rows: Vec<_> = plugins.iter().map(|plugin| keys.map(|key| plugin[key].to_string()).join(" ")).collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    "nothing" "global" true null "the plugin itself" [] null ["[world]/home/plugins/nothing"] "[world]/home/plugins/nothing"
    "z-first" "global" true {"level":2} "the project's index.md" [["TurnEnd","script"],["BeforeToolUse","script"]] null ["[world]/work/.youyou/plugins/z-first"] "[world]/home/plugins/z-first"
    "both" "project" true null "the plugin itself" [["TurnEnd","script"],["BeforeToolUse","component"]] ["global"] null "[world]/work/.youyou/plugins/both"
    "off" "global" false null "the plugin itself" [["TurnStart","script"]] null null "[world]/home/plugins/off"
    "#);
}

/// K-30, K-60, Y5.2-1: everything at once, and nothing is run or compiled.
#[test]
fn a_check_of_plugins_finds_everything_at_once() {
    let desk = Desk::with_own_cache(
        "
-- home/plugins/good/index.md
---
version: 1
id: good
hooks: { TurnEnd: { command: ./run } }
---
Is in order.
-- home/plugins/good/run (executable)
#!/bin/sh
touch started
-- home/plugins/gone/index.md
---
version: 1
id: gone
execution: { command: ./run }
hooks: { TurnEnd: {}, TurnStart: {} }
---
Has no script.
-- home/plugins/exports/index.md
---
version: 1
id: exports
execution: { component: p.wasm, permissions: { net: [\"ftp://example.com\"] } }
hooks: { TurnEnd: {}, BeforeToolUse: {} }
---
Exports no handler of TurnEnd.
-- home/plugins/exports/p.wasm (guest hostile)
-- home/plugins/text/index.md
---
version: 1
id: text
hooks: { TurnEnd: { component: p.wasm } }
---
Is no component.
-- home/plugins/text/p.wasm
hello
-- work/.youyou/plugins/mistakes/index.md
---
version: 1
id: mistakes
hooks: { TurnEnds: { command: ./run }, TurnStart: { comand: ./run } }
---
Is full of mistakes.
",
    );
    insta::assert_snapshot!(desk.run(&["check"]).shown(), @r#"
    out| 5 folders checked: 7 errors
    err| error: [world]/work/.youyou/plugins/mistakes/index.md:4:10: "TurnEnds" is not an event (did you mean `TurnEnd`? the events are SessionStart, SessionEnd, TurnStart, TurnEnd, BeforeToolUse, AfterToolUse, BeforeCompact)
    err| error: [world]/work/.youyou/plugins/mistakes/index.md:4:40: `hooks.TurnStart` has neither `command` nor `component` (add `command: ./script` for a script, or `component: file.wasm` for a WebAssembly component)
    err| error: [world]/work/.youyou/plugins/mistakes/index.md:4:53: "comand" is not a key of a hook (did you mean `command`?)
    err| error: [world]/home/plugins/exports/index.md: expected https, http, tcp or udp, found the scheme "ftp" (write "https://example.com", or "tcp://HOST:PORT" for another protocol)
    err| error: [world]/home/plugins/exports/index.md: it does not export `youyou:plugin/turn-end@1.0.0`, so nothing can handle TurnEnd, which index.md declares under `hooks`; take `TurnEnd` out there, or build a handler of it into the component
    err| hint: [world]/home/plugins/exports/index.md: it exports `youyou:plugin/after-tool-use@1.0.0`, which is never called: to tap the event, write `AfterToolUse: {}` under `hooks` in index.md
    err| error: [world]/home/plugins/gone/index.md: command "./run" was not found: [world]/home/plugins/gone/run does not exist. Create the file, or correct `command` in index.md
    err| error: [world]/home/plugins/text/index.md: expected a component in `[world]/home/plugins/text/p.wasm`, found a text file; name the .wasm file that the build made; a script belongs under `command:`, not `component:`
    exit 1
    "#);
    assert!(!desk.world.path("work/started").exists() && !desk.world.path("cache").exists());
}

/// Y5.5-1: made, checked and tried, without an edit in between; installed, an agent asks it.
#[test]
fn a_new_plugin_works_at_once() {
    for (language, program) in [("sh", "before.sh"), ("python", "hooks.py")] {
        let desk = Desk::new("");
        let made = desk.run(&["new", "plugin", "acme.guard", "--lang", language]);
        insta::allow_duplicates! {
            insta::assert_snapshot!(made.shown(), @r#"
            out| made [world]/work/acme.guard
            out| 
            out| next:
            out|   youyou run-hook [world]/work/acme.guard BeforeToolUse --payload '{"arguments":{"path":"notes.txt"}}'
            out|   youyou run-hook [world]/work/acme.guard BeforeToolUse --payload '{"arguments":{"path":".env"}}'
            out| 
            out| to install it for every project: move the folder to [world]/home/plugins/acme.guard
            exit 0
            "#);
        }
        assert!(desk.world.path("work/acme.guard").join(program).is_file());
        let trial = |path: &str| {
            let payload = serde_json::json!({ "arguments": { "path": path } }).to_string();
            desk.run(&["run-hook", "./acme.guard", "BeforeToolUse", "--payload", &payload])
        };
        let fine = trial("notes.txt");
        assert_eq!((fine.code, &*fine.stdout), (Some(0), "continue\nAll goes on, and nothing changes.\n"), "{fine:?}");
        let refused = trial("config/.env");
        assert_eq!(
            (refused.code, &*refused.stdout),
            (
                Some(1),
                "abort: acme.guard: .env files hold secrets\nThis blocks. The tool does not run; the model reads the \
                 reason as an error result.\n"
            ),
            "{language}: {refused:?}"
        );
        // Installed as the last line says.
        desk.world.add("-- home/plugins/\n");
        std::fs::rename(desk.world.path("work/acme.guard"), desk.world.path("home/plugins/acme.guard")).expect("moves");
        assert_eq!(desk.run(&["check"]).shown(), "out| 1 folder checked: no errors\nexit 0", "{language}");
        assert!(desk.run(&["list", "plugins"]).stdout.contains("1      acme.guard"));
    }
}

/// Y5.5-1, C-3: the component, too, once it is built; and its own tests pass.
#[test]
fn a_new_component_plugin_builds_and_works() {
    let desk = Desk::new("");
    let made = desk.run(&["new", "plugin", "acme.guard"]);
    assert!(made.stdout.contains("cargo build --release --target wasm32-wasip2"), "{made:?}");
    let dir = desk.world.path("work/acme.guard");
    prepare(&dir);
    for command in ["cargo build --release --target wasm32-wasip2", "cargo test"] {
        let ran = desk.finish(with_cargo(&desk, &dir, command), b"");
        assert_eq!(ran.code, Some(0), "{command}: {}", ran.stderr);
    }
    assert_eq!(desk.run(&["check", "acme.guard"]).shown(), "out| 1 folder checked: no errors\nexit 0");
    let trial = |path: &str| {
        let payload = serde_json::json!({ "arguments": { "path": path } }).to_string();
        desk.run(&["run-hook", "./acme.guard", "BeforeToolUse", "--payload", &payload])
    };
    assert_eq!(trial("notes.txt").code, Some(0));
    let refused = trial("config/.env");
    assert!(refused.stdout.starts_with("abort: acme.guard: .env files hold secrets\nThis blocks."), "{refused:?}");
    assert_eq!(desk.run(&["inspect", "acme.guard"]).code, Some(0));
}

/// D-50: nothing is made under an id that no plugin can have.
#[test]
fn a_bad_id_is_refused() {
    let desk = Desk::new("-- work/taken/\n");
    for id in ["taken", "two words", "a/b", ""] {
        let ran = desk.run(&["new", "plugin", id, "--lang", "sh"]);
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{id:?}: {ran:?}");
    }
}

/// K-13: an agent that a hook starts asks no hooks of folders, so that a hook cannot start itself without end.
#[test]
fn an_agent_that_a_hook_starts_asks_no_hooks() {
    let desk = Desk::new("-- work/replies.yaml\nreplies: [{ repeat: true, say: [{ text: Yes. }] }]\n");
    desk.world.add(&format!(
        "
-- home/plugins/nest/index.md
---
version: 1
id: nest
hooks: {{ SessionEnd: {{ command: ./run }} }}
---
Starts an agent when one ends.
-- home/plugins/nest/run (executable)
#!/bin/sh
{YOUYOU} chat x --replay replies.yaml >answer 2>answer.log
echo \"depth $YOUYOU_DEPTH: exit $?\" >>ends
"
    ));
    let ran = desk.run(&["chat", "hi", "--replay", "replies.yaml"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(desk.world.read("work/ends"), "depth 1: exit 0\n", "{}", desk.world.read("work/answer.log"));
    assert_eq!(desk.world.read("work/answer"), ran.stdout);
}
