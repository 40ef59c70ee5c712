//! Plugins from real folders: what a good one becomes, what is refused, and what an overlay says.

use std::time::Duration;

use serde_json::{Value, json};
use youyou_api::{
    HookEvent, OnFailure,
    SourceLabel::{Global, Project},
};
use youyou_files::{
    Backend, ComponentBackend, HookDefinition, Instance, Loaded, PluginDefinition, ScriptBackend, load_plugin,
    scan_plugins,
};

use crate::tree::{Tree, said};

/// Loads a plugin `p` with these lines in its front matter besides the version and the id.
fn load(lines: &str) -> Loaded<PluginDefinition> {
    let tree = Tree::new();
    tree.write("p/index.md", format!("---\nversion: 1\nid: p\n{lines}---\nDoes p.\n"));
    load_plugin(&tree.path("p"), Global)
}

/// The plugin, about which nothing is to say.
fn fine(lines: &str) -> PluginDefinition {
    let (plugin, remarks) = load(lines).into_result().unwrap_or_else(|problems| panic!("{lines}: {problems:?}"));
    assert_eq!(remarks, [], "{lines}");
    plugin
}

fn hooks(lines: &str) -> Vec<HookDefinition> {
    fine(lines).hooks.expect("hooks")
}

fn script(hook: &HookDefinition) -> (&str, Vec<&str>) {
    match &hook.execution.backend {
        Backend::Script(ScriptBackend { command, args }) => (command, args.iter().map(String::as_str).collect()),
        other => panic!("{other:?}"),
    }
}

fn component(hook: &HookDefinition) -> &ComponentBackend {
    match &hook.execution.backend {
        Backend::Component(component) => component,
        other => panic!("{other:?}"),
    }
}

/// Y5.5-1: every field arrives; an event's own keys stand over the plugin's.
#[test]
fn a_full_plugin_arrives_whole() {
    let tree = Tree::new();
    let index = "---\nversion: 1\nid: acme.guard\ndisplay_name: Guard\nenabled: true\ninstance: per_session\n\
                 config: { keys: [path, 1, null] }\nexecution:\n  component: guard.wasm\n  timeout_ms: 2000\n  \
                 memory_mb: 8\n  permissions: { read: [.] }\nhooks:\n  AfterToolUse:\n  BeforeToolUse: { on_failure: \
                 abort, timeout_ms: 5, permissions: { env: [LANG] } }\n---\n\nKeeps calls inside.\n";
    tree.write("acme.guard/index.md", index);
    let (found, remarks) = load_plugin(&tree.path("acme.guard"), Project).into_result().expect("loads");
    assert_eq!(remarks, []);
    assert_eq!(
        (found.info.id.as_str(), &*found.info.display_name, &*found.info.description),
        ("acme.guard", "Guard", "Keeps calls inside.")
    );
    assert_eq!((found.source, found.enabled, found.instance), (Project, Some(true), Instance::PerSession));
    assert_eq!(found.config, Some(json!({ "keys": ["path", 1, null] })));
    assert_eq!((&found.dir, &found.index), (&tree.path("acme.guard"), &tree.path("acme.guard/index.md")));
    let hooks = found.hooks.expect("hooks");
    let events: Vec<_> = hooks.iter().map(|hook| (hook.event, hook.on_failure)).collect();
    assert_eq!(events, [(HookEvent::BeforeToolUse, OnFailure::Abort), (HookEvent::AfterToolUse, OnFailure::Continue)]);
    let timeouts: Vec<_> = hooks.iter().map(|hook| hook.execution.timeout).collect();
    assert_eq!(timeouts, [5, 2000].map(|ms| Some(Duration::from_millis(ms))));
    let [before, after] = [component(&hooks[0]), component(&hooks[1])];
    assert_eq!(before.path, tree.path("acme.guard/guard.wasm"));
    assert_eq!((before.memory_bytes, after.memory_bytes), (Some(8 << 20), Some(8 << 20)));
    assert_eq!((&before.permissions.read[..], &before.permissions.env[..]), (&[][..], &["LANG".to_owned()][..]));
    assert_eq!(after.permissions.read, ["."]);
}

/// Y5.5-1, D-15: the form without defaults; what is not given is left open.
#[test]
fn a_plugin_may_say_everything_below_its_events() {
    let found = fine("hooks:\n  TurnEnd: { command: ./end.py, args: [--fast], timeout_ms: 9 }\n");
    assert_eq!((found.enabled, found.config, found.instance), (None, None, Instance::PerCall));
    assert_eq!(found.info.display_name, "p");
    let hooks = found.hooks.expect("hooks");
    assert_eq!(script(&hooks[0]), ("./end.py", vec!["--fast"]));
    assert_eq!(hooks[0].execution.timeout, Some(Duration::from_millis(9)));
    assert_eq!(fine("hooks: { TurnEnd: { command: x } }\n").hooks.expect("hooks")[0].execution.timeout, None);
}

/// Y5.5-1: each key of an event stands over the same key of the plugin; of the other kind nothing is taken over.
#[test]
fn an_event_overrides_key_by_key() {
    let defaults = "execution: { command: ./a, args: [x], timeout_ms: 7, working_directory: ./w }\n";
    let found = hooks(&format!(
        "{defaults}hooks:\n  SessionStart: {{ args: [] }}\n  SessionEnd: {{ command: ./b }}\n  TurnStart: {{ component: \
         c.wasm, working_directory: . }}\n"
    ));
    assert_eq!(script(&found[0]), ("./a", vec![]));
    assert_eq!(script(&found[1]), ("./b", vec!["x"]));
    assert!(component(&found[2]).path.ends_with("p/c.wasm"));
    assert!(found.iter().all(|hook| hook.execution.timeout == Some(Duration::from_millis(7))));
    assert_eq!(found[1].execution.working_directory.as_deref(), Some("./w"));
    assert_eq!(found[2].execution.working_directory.as_deref(), Some("."));

    let defaults = "execution: { component: c.wasm, memory_mb: 4, permissions: { read: [.] } }\n";
    let found = hooks(&format!("{defaults}hooks: {{ TurnStart: {{ command: ./a }}, TurnEnd: {{}} }}\n"));
    assert_eq!(script(&found[0]), ("./a", vec![]));
    assert_eq!(component(&found[1]).memory_bytes, Some(4 << 20));
}

/// D-3, Y3.5-2, Y3.5-5: a folder may only say how a plugin is to be; what it leaves open is not the same as a default.
#[test]
fn an_overlay_says_only_what_it_says() {
    let overlay = fine("enabled: false\n");
    assert_eq!((overlay.enabled, overlay.config, overlay.hooks), (Some(false), None, None));
    assert_eq!(fine("config: null\n").config, Some(Value::Null));
    assert_eq!(fine("config:\n").config, Some(Value::Null));
    for (yaml, value) in [("[1, a]", json!([1, "a"])), ("text", json!("text")), ("{}", json!({})), ("0.5", json!(0.5))]
    {
        assert_eq!(fine(&format!("config: {yaml}\n")).config, Some(value));
    }
}

/// Y5.2-1: every mistake at once, with its line, its key and what to do.
#[test]
fn mistakes_are_told_with_their_place_and_their_fix() {
    let loaded = load(
        "name: p\ncommand: ./x\nenabled: \"yes\"\ninstance: per_turn\nexecution: { timeout_ms: 0, instance: per_call, \
         on_failure: abort }\nhooks:\n  PreToolUse: { command: x }\n  before_tool_use: { command: x }\n  Explode: {}\n  \
         TurnStart: ./x\n  TurnEnd: {}\n  SessionEnd: { command: a, component: b }\n  AfterToolUse: { command: x, \
         on_failure: abort }\n  BeforeToolUse: { command: x, on_failure: retry, matcher: rm }\n",
    );
    assert_eq!(loaded.value(), None);
    insta::assert_snapshot!(said(&loaded), @r#"
    error: index.md:4:1: "name" is not a key of a plugin (did you mean `id`?)
    error: index.md:5:1: "command" is not a key of a plugin (it belongs under `execution:`, or below an event in `hooks:`)
    error: index.md:6:10: `enabled` must be `true` or `false`, found the text "yes" (write it without quotes)
    error: index.md:7:11: `instance` must be `per_call` or `per_session`, found "per_turn"
    error: index.md:8:26: `execution.timeout_ms` must be a whole number of milliseconds from 1 to 86400000, found the number 0
    error: index.md:8:29: "instance" is not a key of `execution` (it belongs at the top, beside `execution:`)
    error: index.md:8:49: "on_failure" is not a key of `execution` (it belongs below an event in `hooks:`)
    error: index.md:10:3: "PreToolUse" is not an event (did you mean `BeforeToolUse`? the events are SessionStart, SessionEnd, TurnStart, TurnEnd, BeforeToolUse, AfterToolUse, BeforeCompact)
    error: index.md:11:3: "before_tool_use" is not an event (did you mean `BeforeToolUse`? the events are SessionStart, SessionEnd, TurnStart, TurnEnd, BeforeToolUse, AfterToolUse, BeforeCompact)
    error: index.md:12:3: "Explode" is not an event (the events are SessionStart, SessionEnd, TurnStart, TurnEnd, BeforeToolUse, AfterToolUse, BeforeCompact)
    error: index.md:13:14: `hooks.TurnStart` must be a mapping, found the text "./x" (allowed keys: command, args, component, timeout_ms, working_directory, memory_mb, permissions, on_failure)
    error: index.md:14:3: `hooks.TurnEnd` has neither `command` nor `component` (add `command: ./script` for a script, or `component: file.wasm` for a WebAssembly component)
    error: index.md:15:29: `command` and `component` are both given (keep `command` for a script, or `component` for a WebAssembly component)
    error: index.md:16:43: a failing handler of AfterToolUse cannot abort (remove it; `on_failure: abort` is for `BeforeToolUse`)
    error: index.md:17:44: `hooks.BeforeToolUse.on_failure` must be `continue` or `abort`, found "retry"
    error: index.md:17:51: "matcher" is not a key of a hook (a handler is asked about every tool; it decides by the payload's `tool_name`)
    "#);
    insta::assert_snapshot!(said(&load("hooks: [TurnEnd]\n")), @"error: index.md:4:8: `hooks` must be a mapping, found a list (write `hooks: { BeforeToolUse: { command: ./hook.sh } }`)");
    insta::assert_snapshot!(said(&load("config: { x: .inf }\n")), @"error: index.md:4:1: `config` holds a number that JSON cannot hold");
}

/// A mistake in what all events share is told once.
#[test]
fn a_mistake_in_the_defaults_is_told_once() {
    let loaded = load(
        "execution: { component: x.wasm, args: [a], memory_mb: 0, permissions: { net: 5 } }\nhooks: { TurnStart: {}, \
         TurnEnd: {}, BeforeToolUse: {} }\n",
    );
    insta::assert_snapshot!(said(&loaded), @"
    error: index.md:4:33: `args` is for a script; a component takes no command line (remove it)
    error: index.md:4:55: `execution.memory_mb` must be a whole number of MiB from 1 to 4096, found the number 0
    error: index.md:4:78: `execution.permissions.net` must be a list, found the number 5 (write `[one, two]`, or one `- item` on each line)
    ");
}

/// What is used, but perhaps not as it was meant.
#[test]
fn what_has_no_effect_is_warned_of() {
    let lines = [
        "hooks: {}\n",
        "display_name: P\n",
        "enabled: true\nexecution: { command: x }\ninstance: per_session\n",
        "instance: per_session\nhooks: { TurnEnd: { command: x } }\n",
        "execution: { command: x, memory_mb: 5 }\nhooks: { TurnEnd: {}, TurnStart: {} }\n",
    ];
    assert!(lines.iter().all(|lines| load(lines).value().is_some()));
    insta::assert_snapshot!(lines.map(|lines| said(&load(lines))).concat(), @"
    warning: index.md:4:1: `hooks` is empty, so the plugin handles nothing (add an event, or remove `hooks` to only set `config` or `enabled` of a plugin defined elsewhere)
    warning: index.md:1:1: the folder has no `hooks`, no `config` and no `enabled`, so it says nothing (add `hooks: { BeforeToolUse: { command: ./hook.sh } }`)
    warning: index.md:5:1: `execution` has no effect: the folder has no `hooks` (add `hooks: { … }` with the events to handle, or remove it)
    warning: index.md:6:1: `instance` has no effect: the folder has no `hooks` (add `hooks: { … }` with the events to handle, or remove it)
    warning: index.md:4:1: `instance` has no effect on a script: every event starts it anew (remove it; a script that must remember something writes it to a file)
    warning: index.md:4:26: `memory_mb` has no effect on a script (a script runs with all of the user's rights; only a component can be limited)
    ");
}

/// Y5.2-1, D-50: the id is the folder's name, and a legal one.
#[test]
fn the_id_is_the_folders_name() {
    let tree = Tree::new();
    let index = |id: &str| format!("---\nversion: 1\nid: {id}\nenabled: true\n---\nx\n");
    tree.write("a b/index.md", index("a b")).write("q/index.md", index("p"));
    insta::assert_snapshot!(said(&load_plugin(&tree.path("a b"), Global)), @r#"error: index.md:3:5: plugin name "a b" is not allowed: expected 1 to 64 of A-Z a-z 0-9 _ - .; try "a-b" (rename the folder too)"#);
    insta::assert_snapshot!(said(&load_plugin(&tree.path("q"), Global)), @r#"error: index.md:3:5: `id` is "p" but the folder is named "q" (make the two equal)"#);
}

/// Y5.1-1, D-1, D-3: both levels, by id, the project's first; a broken folder leaves the others alone.
#[test]
fn a_scan_gives_both_levels() {
    let tree = Tree::new();
    let index = |id: &str| format!("---\nversion: 1\nid: {id}\nhooks: {{ TurnEnd: {{ command: ./x }} }}\n---\nx\n");
    tree.write("home/plugins/b/index.md", index("b"))
        .write("home/plugins/a/index.md", index("a"))
        .write("home/plugins/broken/index.md", "---\nversion: 1\n---\n")
        .write("work/.youyou/plugins/b/index.md", "---\nversion: 1\nid: b\nenabled: false\n---\n")
        .write("work/.youyou/plugins/a/index.md", "---\nversion: 2\n---\n");
    let scan = scan_plugins(&tree.roots());
    let found: Vec<_> =
        scan.plugins.iter().map(|plugin| (plugin.info.id.as_str(), plugin.source, plugin.hooks.is_some())).collect();
    assert_eq!(found, [("a", Global, true), ("b", Project, false), ("b", Global, true)]);
    insta::assert_snapshot!(tree.shown(&scan.problems), @"
    error: home/plugins/broken/index.md:1:1: `id` is missing (add `id: broken`)
    warning: home/plugins/broken/index.md:1:1: the folder has no `hooks`, no `config` and no `enabled`, so it says nothing (add `hooks: { BeforeToolUse: { command: ./hook.sh } }`)
    error: work/.youyou/plugins/a/index.md:2:10: version 2 of the format is not supported, only version 1 is (write `version: 1`, or use a newer YouYou; until then the global folder of this name is used)
    ");
}
