//! What strangers have written, on a terminal and in a pipe: models, tools, plugins and authors of definitions.
//!
//! Each of them tries to set the terminal's title, which this program never does itself.

use youyou::{MemoryDraft, MemoryId, MemoryStorage, Namespace, SqliteStore};
use youyou_tests::tool::script;

use crate::{
    desk::{Desk, on_one_thread},
    terminal::OnTerminal,
};

/// What sets a title, with a name by which to tell who said it.
fn title(by: &str) -> String {
    format!("\u{1b}]0;{by}\u{7}\u{9b}2J")
}

/// The same as it may be shown.
fn harmless(by: &str) -> String {
    format!("␛]0;{by}␇\u{fffd}2J")
}

/// A plugin that answers as a stranger would.
fn plugin(id: &str, answer: &str) -> String {
    format!(
        "-- home/plugins/{id}/index.md\n---\nversion: 1\nid: {id}\nexecution: {{ command: ./run }}\nhooks:\n  TurnStart:\n  \
         BeforeToolUse:\n---\nA {} plugin.\n-- home/plugins/{id}/answer\n{answer}\n-- home/plugins/{id}/run \
         (executable)\n#!/bin/sh\nprintf '{}\\n' >&2\ncat \"${{0%/*}}/answer\"\n",
        title("described"),
        title("stderr"),
    )
}

fn desk() -> Desk {
    let talk = format!(
        "-- work/script.yaml\nmodels: [{{ id: demo }}]\nreplies:\n\
         \x20 - {{ when: {{ user: {{ contains: fail }} }}, say: [{{ error: {{ kind: auth, message: {failure} }} }}] }}\n\
         \x20 - {{ when: {{ user: {{ contains: call }} }}, say: [{{ call: {{ tool_name: {called}, arguments: {{ text: {arguments} }} }} }}] }}\n\
         \x20 - {{ when: {{ user: {{}} }}, say: [{{ call: {{ tool_name: loud }} }}] }}\n\
         \x20 - {{ when: {{ tool_result: {{}} }}, say: [{{ text: {said} }}] }}\n",
        failure = quoted("failed"),
        called = quoted("called"),
        arguments = quoted("arguments"),
        said = quoted("said"),
    );
    let loud = format!("printf '{}\\n' >&2\nprintf '{}'", title("stderr"), title("stdout"));
    let described = quoted("described");
    let skill =
        format!("-- home/skills/odd/index.md\n---\nversion: 1\nname: odd\ndescription: {described}\n---\nDo it.\n");
    let refused = serde_json::json!({ "abort": true, "reason": title("refused") }).to_string();
    let changed = serde_json::json!({ "data": { "dynamic_sections": [], title("field"): 1 } }).to_string();
    let tool = script("loud", &loud).replace("Does loud.", &format!("A {} tool.", title("described")));
    let desk = Desk::new(&[tool, skill, plugin("wide", &changed), talk].concat());
    desk.world
        .add(&plugin("stern", &refused).replace("  TurnStart:\n", "  TurnEnd:\n").replace("  BeforeToolUse:\n", ""));
    desk
}

/// As YAML and JSON write it.
fn quoted(by: &str) -> String {
    serde_json::to_string(&title(by)).expect("a text").replace('\u{9b}', "\\u009b")
}

/// Everything that is shown of a command on a terminal.
#[track_caller]
fn on_terminal(desk: &Desk, args: &[&str]) -> String {
    let (_, shown) = OnTerminal::start(desk.youyou(args)).end();
    assert!(!shown.contains("\u{1b}]") && !shown.contains('\u{9b}'), "{args:?} sets a title: {shown:?}");
    shown
}

/// Neither on stdout nor on stderr is a stranger obeyed, whatever is printed, and by whichever way.
#[test]
fn nothing_that_a_stranger_writes_is_obeyed_by_the_terminal() {
    let desk = desk();
    let cases: [(&[&str], &[&str]); 9] = [
        (&["run-tool", "loud"], &["stderr", "stdout"]),
        (&["list", "tools"], &["described"]),
        (&["list", "skills"], &["described"]),
        (&["list", "plugins"], &["described"]),
        (&["run-hook", "stern", "TurnEnd"], &["stderr", "refused"]),
        (&["run-hook", "wide", "TurnStart"], &["stderr", "field"]),
        (&["chat", "go", "--replay", "script.yaml"], &["stderr", "stdout", "said", "field"]),
        (&["chat", "call", "--replay", "script.yaml"], &["called"]),
        (&["chat", "fail", "--replay", "script.yaml"], &["failed"]),
    ];
    for (args, strangers) in cases {
        let shown = on_terminal(&desk, args);
        for by in strangers {
            assert!(shown.contains(&harmless(by)), "{args:?} shows what {by:?} is: {shown:?}");
        }
    }
}

/// What is kept was written by strangers too.
#[test]
fn nothing_that_is_kept_is_obeyed_by_the_terminal() {
    let desk = desk();
    let ran = desk.run(&["chat", &title("user")]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    on_one_thread(async {
        let store = SqliteStore::open(desk.world.home().join("youyou.db")).await.expect("opens");
        let (namespace, content) = (Namespace::global(), title("remembered"));
        let draft = MemoryDraft { id: MemoryId::new(title("id")), namespace, content, source: None, tags: Vec::new() };
        store.upsert(vec![draft], 1_000).await.expect("stores");
    });
    let found = desk.run(&["sessions", "list", "--json"]).json();
    let session = found["sessions"][0]["session_id"].as_str().expect("an id").to_owned();
    desk.run(&["sessions", "rename", &session, &title("named")]);
    let cases: [(&[&str], &[&str]); 5] = [
        (&["sessions", "list"], &["named"]),
        (&["sessions", "show", &session], &["named", "user"]),
        (&["sessions", "export", &session], &["named", "user"]),
        (&["sessions", "delete", &session], &["named"]),
        (&["memories", "list", "--global"], &["id", "remembered"]),
    ];
    for (args, strangers) in cases {
        let shown = on_terminal(&desk, args);
        for by in strangers {
            assert!(shown.contains(&harmless(by)), "{args:?} shows what {by:?} is: {shown:?}");
        }
    }
}

/// A program that reads a pipe has what the model and the tool said byte by byte; JSON escapes it and stays the same.
#[test]
fn a_pipe_has_every_byte() {
    let desk = desk();
    let tool = desk.run(&["run-tool", "loud"]);
    assert_eq!(tool.stdout, format!("{}\n", title("stdout")));
    assert_eq!(tool.stderr, format!("loud: {}\n", harmless("stderr")), "stderr is for people");
    let chat = desk.run(&["chat", "go", "--replay", "script.yaml"]);
    assert_eq!(chat.stdout, format!("{}\n", title("said")));
    let json = desk.run(&["run-tool", "loud", "--json"]);
    assert!(!json.stdout.trim_end().contains(char::is_control), "{json:?}");
    assert_eq!(json.json()["content"], title("stdout"));
}
