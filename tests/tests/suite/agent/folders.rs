//! Plugins that are folders: scripts and components in one chain with code, and what their folders say (Y3.5, Y4.6).

use serde_json::{Value, json};
use youyou::HookEvent;
use youyou_tests::{
    World,
    agent::{
        CodePlugin, CodeTool, Model, Setup, Turn,
        plugin::{Log, with},
    },
    log::recorded,
};

const ONE_CALL: &str = "
replies:
  - say: [{ call: { tool_name: echo, arguments: { path: a } } }]
  - say: [{ text: Done. }]
";

/// A plugin folder below `root` (`home` or `work/.youyou`) with these lines of front matter, and a script `run`.
fn folder(root: &str, id: &str, lines: &str, body: &str) -> String {
    format!(
        "-- {root}/plugins/{id}/index.md\n---\nversion: 1\nid: {id}\n{lines}\n---\nDoes {id}.\n\
         -- {root}/plugins/{id}/run (executable)\n#!/bin/sh\n{body}\n"
    )
}

fn before(root: &str, id: &str, body: &str) -> String {
    folder(root, id, "hooks: { BeforeToolUse: { command: ./run } }", body)
}

/// Answers that its path gets longer by this letter.
fn appending(letter: char) -> String {
    format!(r#"sed 's/.*"path":"\([a-z]*\)".*/{{"data":{{"arguments":{{"path":"\1{letter}"}}}}}}/'"#)
}

/// Says what it was called with.
fn echo() -> CodeTool {
    CodeTool::new("echo", |input, _| {
        std::future::ready(Ok(youyou::ToolOutput::text(format!("got {}", Value::Object(input.arguments)))))
    })
}

fn setup(tree: &str) -> Setup {
    Setup::over(tree, ONE_CALL).tool(echo())
}

async fn turn(setup: Setup) -> Turn {
    setup.chat().await.1.run("go").await
}

/// Y1-3, Y1-6, Y3.6-3, Y3.6-4, D-1, C-1: code, then the user's folders, then the project's, each in byte order; each sees what those
/// before it changed.
#[tokio::test]
async fn code_and_folders_stand_in_one_order() {
    let tree = [
        before("work/.youyou", "a-project", &appending('d')),
        before("home", "z-global", &appending('c')),
        before("home", "b-global", &appending('b')),
    ]
    .concat();
    let code =
        CodePlugin::new("zz-code").on(HookEvent::BeforeToolUse, |_| with(json!({ "arguments": { "path": "x" } })));
    let turn = turn(setup(&tree).plugin(code)).await;
    insta::assert_snapshot!(turn.to_string(), @r#"
    step 1
    step 1 ends
    call-1 echo starts with {"path":"a"}
    zz-code at BeforeToolUse of call-1 changes arguments.path
    b-global at BeforeToolUse of call-1 changes arguments.path
    z-global at BeforeToolUse of call-1 changes arguments.path
    a-project at BeforeToolUse of call-1 changes arguments.path
    call-1 echo succeeds: got {"path":"xbcd"}
    step 2
    text "Done."
    step 2 ends
    turn completed
    "#);
}

/// Y4.6-1, D-13, K-32: whatever a script does wrong, the call runs, and the event says who and why.
#[tokio::test]
async fn a_broken_script_stops_nothing() {
    let bodies = [
        ("exit", r#"echo broken >&2; exit 3"#),
        ("ignored", r#"echo '{"abort":true,"reason":"no"}'; exit 1"#),
        ("prose", "echo all good"),
        ("latin", r#"printf '{"abort":true,"reason":"\351"}'"#),
        ("silent", "true"),
    ];
    let tree = bodies.map(|(id, body)| before("home", id, body)).concat();
    let hanging =
        folder("home", "hangs", "hooks: { BeforeToolUse: { command: ./run, timeout_ms: 200 } }", "while :; do :; done");
    let gone = folder("home", "gone", "hooks: { BeforeToolUse: { command: ./nowhere } }", "");
    let setup = setup(&[tree, hanging, gone].concat());
    let (host, chat) = setup.chat().await;
    let turn = chat.run("go").await;
    insta::assert_snapshot!(host.world.shown(&turn.to_string()), @r#"
    step 1
    step 1 ends
    call-1 echo starts with {"path":"a"}
    exit at BeforeToolUse of call-1 fails
        warning: plugin "exit": exited with code 3; the end of its stderr:
      broken
    gone at BeforeToolUse of call-1 fails
        warning: plugin "gone": command "./nowhere" was not found: [world]/home/plugins/gone/nowhere does not exist. Create the file, or correct `command` in index.md
    hangs at BeforeToolUse of call-1 fails
        warning: plugin "hangs": it was stopped after 200 ms, its time limit; `timeout_ms` below the event or `execution` in [world]/home/plugins/hangs/index.md sets it
    ignored at BeforeToolUse of call-1 fails
        warning: plugin "ignored": printed abort and exited with code 1: ignored, "no" (an exit other than 0 is a failure, and a failure aborts nothing; exit with 0 to abort); it wrote nothing to stderr
    latin at BeforeToolUse of call-1 fails
        warning: plugin "latin": it changed nothing: what it printed is not UTF-8, from byte 24 of 27 on
    prose at BeforeToolUse of call-1 fails
        warning: plugin "prose": it changed nothing: expected nothing or one JSON object on stdout, it printed "all good" (expected value at line 1 column 1); messages belong on stderr
    silent at BeforeToolUse of call-1 continues
    call-1 echo succeeds: got {"path":"a"}
    step 2
    text "Done."
    step 2 ends
    turn completed
    "#);
}

/// Y4.4-3, D-11, D-14: an abort refuses the call, and a failure does where the folder asks for it.
#[tokio::test]
async fn a_script_may_refuse_a_call() {
    let refusing = before("home", "guard", r#"echo '{"abort":true,"reason":"not this one"}'"#);
    assert!(turn(setup(&refusing)).await.to_string().contains("not this one"));
    let closed = "hooks: { BeforeToolUse: { command: ./run, on_failure: abort } }";
    let failing = folder("home", "guard", closed, "exit 9");
    let turn = turn(setup(&failing)).await.to_string();
    assert!(turn.contains("`on_failure: abort`") && turn.contains("exited with code 9"), "{turn}");
}

/// D-3: a folder with hooks stands in for code of its id, in its own place; one that is disabled does not.
#[tokio::test]
async fn a_folder_replaces_code_of_its_id() {
    let code =
        || CodePlugin::new("p").on(HookEvent::BeforeToolUse, |_| with(json!({ "arguments": { "path": "code" } })));
    let hooks = |enabled: bool| {
        let lines = format!("enabled: {enabled}\nhooks: {{ BeforeToolUse: {{ command: ./run }} }}");
        folder("home", "p", &lines, r#"echo '{"data":{"arguments":{"path":"folder"}}}'"#)
    };
    for (tree, expected) in [(hooks(true), "folder"), (hooks(false), "code")] {
        let turn = turn(setup(&tree).plugin(code())).await.to_string();
        assert!(turn.contains(&format!(r#"got {{"path":"{expected}"}}"#)), "{expected}: {turn}");
    }
}

/// D-3, Y3.5-2, Y3.5-5, D-42: a project's folder without hooks sets the configuration and the switch of the user's plugin;
/// config.yaml has the last word.
#[tokio::test]
async fn an_overlay_configures_and_switches_a_plugin_of_the_user() {
    let body = r#"sed 's/.*"plugin_config":\(.*\)}$/{"data":{"arguments":{"path":"\1"}}}/'"#;
    let lines = "config: 1\nhooks: { BeforeToolUse: { command: ./run } }";
    let user = folder("home", "p", lines, body);
    let overlay = |lines: &str| format!("-- work/.youyou/plugins/p/index.md\n---\nversion: 1\nid: p\n{lines}\n---\n");
    let config = "-- home/config.yaml\nplugin_configs: { p: 3 }\n".to_owned();
    for (tree, expected) in [
        (user.clone(), "1"),
        ([user.clone(), overlay("config: 2")].concat(), "2"),
        ([user.clone(), overlay("config: null")].concat(), "null"),
        ([user.clone(), overlay("config: 2"), config].concat(), "3"),
        ([user.clone(), overlay("enabled: false")].concat(), "a"),
    ] {
        let turn = turn(setup(&tree)).await.to_string();
        assert!(turn.contains(&format!(r#"got {{"path":"{expected}"}}"#)), "{expected}: {turn}");
    }
}

/// Y3.5-5, D-19: a switch outranks what folders say, from the next session on.
#[tokio::test]
async fn a_switch_outranks_the_folders() {
    let tree = before("home", "p", &appending('x'));
    let host = Setup::of(World::new(&tree), Model::replay(&[ONE_CALL, &ONE_CALL.replace("\nreplies:\n", "")].concat()))
        .tool(echo())
        .build()
        .await;
    let chat = host.chat().await;
    assert!(chat.run("go").await.to_string().contains(r#"got {"path":"ax"}"#));
    chat.session().close().await;
    host.agent.switch_plugin(&"p".parse().expect("legal"), Some(false));
    assert!(host.chat().await.run("go").await.to_string().contains(r#"got {"path":"a"}"#));
}

/// Y2-1, D-5: a session keeps the plugins that it began with; the next one has what the folders hold then.
#[tokio::test]
async fn a_new_folder_is_for_the_next_session() {
    let replies = [ONE_CALL, &ONE_CALL.replace("\nreplies:\n", "")].concat();
    let host = Setup::over("", &replies).tool(echo()).build().await;
    let chat = host.chat().await;
    host.world.add(&before("home", "p", &appending('x')));
    assert!(chat.run("go").await.to_string().contains(r#"got {"path":"a"}"#));
    chat.session().close().await;
    assert!(host.chat().await.run("go").await.to_string().contains(r#"got {"path":"ax"}"#));
}

/// C-2, D-16: code, a script and a component of one configuration are given the same document, byte for byte, at every
/// event of a session.
#[test]
fn every_handler_of_an_event_is_given_the_same_document() {
    const EVENTS: [&str; 6] = ["SessionStart", "TurnStart", "BeforeToolUse", "AfterToolUse", "TurnEnd", "SessionEnd"];
    let hooks: String = EVENTS.map(|event| format!("  {event}:\n")).concat();
    let lines =
        |run: &str| format!("config: {{ k: [1, null, \"ä\"] }}\nexecution: {{ {run} }}\nhooks:\n{}", hooks.trim_end());
    let tree = [
        folder("home", "script", &lines("command: ./run"), "cat >>seen"),
        folder("home", "component", &lines("component: p.wasm"), ""),
        "-- home/plugins/component/p.wasm (guest witness)\n".to_owned(),
    ];
    let noted = Log::default();
    let code = CodePlugin::new("code").config(json!({ "k": [1, null, "ä"] })).noting(&noted);
    let (seen, log) = recorded(async |_| {
        let (host, chat) = setup(&tree.concat()).plugin(code).chat().await;
        chat.run("go \"on\"\n€").await;
        chat.session().close().await;
        host.world.read("work/seen")
    });
    let noted = noted.take();
    assert_eq!(noted.len(), EVENTS.len());
    assert_eq!(seen.lines().collect::<Vec<_>>(), noted, "what the script read");
    let said = log.lines(tracing::Level::INFO);
    let said = said.iter().filter_map(|line| {
        let document = &line[line.find(r#"{"payload_version""#)?..];
        Some(&document[..=document.rfind('}')?])
    });
    assert_eq!(said.collect::<Vec<_>>(), noted, "what the component was given");
}

/// Y4.3-1, D-8: a script's section stands in the system prompt of its turn.
#[tokio::test]
async fn a_script_adds_to_the_system_prompt() {
    let body = r#"echo '{"data":{"dynamic_sections":[{"title":"Notes","content":"Use tabs."}]}}'"#;
    let tree = folder("home", "notes", "hooks: { TurnStart: { command: ./run } }", body);
    let (host, chat) = setup(&tree).chat().await;
    chat.run("go").await;
    let system = host.model().requests().remove(0).system;
    assert!(system.contains("Use tabs.") && system.contains("- notes: Does notes."), "{system}");
}

/// C-1, D-14: a component in the chain, with the configuration of its folder; what it may not use it does not get.
#[tokio::test]
async fn a_component_handles_hooks_as_its_folder_says() {
    let component = |config: &str, more: &str| {
        let lines =
            format!("config: {config}\nexecution: {{ component: p.wasm }}\nhooks: {{ BeforeToolUse: {{ {more} }} }}");
        [folder("home", "p", &lines, ""), "-- home/plugins/p/p.wasm (guest hostile)\n".to_owned()].concat()
    };
    for (tree, expected) in [
        (component(r#"{ mode: data, data: '{"arguments":{"path":"b"}}' }"#, ""), r#"got {"path":"b"}"#),
        (component("{ mode: abort, message: not here }", ""), "not here"),
        (component("{ mode: loop }", "timeout_ms: 200, on_failure: abort"), "was stopped after 200 ms"),
        (component("{ mode: loop }", "timeout_ms: 200"), r#"got {"path":"a"}"#),
    ] {
        let turn = turn(setup(&tree)).await.to_string();
        assert!(turn.contains(expected), "{expected}: {turn}");
    }
}

/// K-43, D-3: a folder that cannot be used is warned of once, and nothing else is affected.
#[test]
fn a_broken_folder_is_skipped_with_one_warning() {
    let broken = folder("home", "broken", "hooks: { TurnEnds: { command: ./run } }", "");
    let tree = [broken, before("home", "fine", &appending('x'))].concat();
    let (turn, log) = recorded(async |_| turn(setup(&tree)).await.to_string());
    assert!(turn.contains(r#"got {"path":"ax"}"#), "{turn}");
    let warned: Vec<_> = log.lines(tracing::Level::WARN);
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert!(warned[0].contains("\"TurnEnds\" is not an event"), "{warned:?}");
}

/// Y4.2-3, D-6, D-11: a script that hears that the context is to be made shorter says what the summary is to hold, or that
/// all of it is needed.
#[tokio::test]
async fn a_script_has_its_say_before_a_compaction() {
    let keeper = |answer: &str| {
        let body = format!("cat >seen\necho '{answer}'");
        folder("home", "keeper", "hooks: { BeforeCompact: { command: ./run } }", &body)
    };
    let long = "word ".repeat(240);
    let replies = format!(
        "models: [{{ id: small, context_window: 1000 }}]
replies:
  - {{ when: {{ user: {{ contains: write the summary }} }}, say: [{{ text: They spoke. }}] }}
  - {{ repeat: true, say: [{{ text: 'Fine. {long}' }}] }}
"
    );
    let outgrown = async |answer: &str| {
        let setup = Setup::over(&keeper(answer), &replies).with(|agent| agent.base_instructions("Be brief."));
        let (host, chat) = setup.chat().await;
        chat.run(format!("first {long}")).await;
        let turn = chat.run(format!("second {long}")).await.to_string();
        (host, turn)
    };

    let (host, turn) = outgrown(r#"{"data":{"compact_prompt":"Keep every path."}}"#).await;
    assert!(turn.contains("keeper at BeforeCompact changes compact_prompt\ncompacted by summary"), "{turn}");
    assert_eq!(host.model().requests()[1].system, "Keep every path.");
    let seen: Value = serde_json::from_str(&host.world.read("work/seen")).expect("JSON");
    assert_eq!(seen["message_count"], 3, "{seen}");
    assert!(seen["compact_prompt"].as_str().expect("a text").starts_with("You write the summary"), "{seen}");

    let (host, turn) = outgrown(r#"{"abort":true,"reason":"I need all of it"}"#).await;
    assert!(turn.contains("keeper at BeforeCompact aborts: I need all of it"), "{turn}");
    assert!(turn.contains("Fine.") && !turn.contains("compacted"), "{turn}");
    assert!(host.model().heard(1).contains("first word"), "all of it was sent");
}
