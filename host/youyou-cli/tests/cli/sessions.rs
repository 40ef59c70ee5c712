//! `youyou sessions`, and conversations that go on in another process.

use std::{fs, path::PathBuf};

use serde_json::Value;
use youyou_tests::tool::script;

use crate::{
    desk::{Desk, Ran},
    terminal::OnTerminal,
};

/// Plays what answers in place of the demonstration, which began the session.
const TALK: &str = "
-- work/script.yaml
models: [{ id: demo }]
replies:
  - when: { user: { contains: look } }
    repeat: true
    say: [{ reasoning: Hm. }, { call: { tool_name: look, arguments: { text: here } } }]
  - { when: { tool_result: {} }, repeat: true, say: [{ text: 'Seen.' }] }
  - { when: { user: {} }, repeat: true, template: true, say: [{ text: '<{last_user_text}>' }] }
";

/// The two stores there are, as config.yaml names them.
const STORES: [&str; 2] = ["jsonl", "sqlite"];

/// A desk whose sessions are kept there.
pub(crate) fn keeping(store: &str, tree: &str) -> Desk {
    Desk::new(&format!("-- home/config.yaml\nstorage: {{ sessions: {store} }}\n{tree}{TALK}"))
}

/// Begins a session with a message; its id.
#[track_caller]
pub(crate) fn begin(desk: &Desk, message: &str) -> String {
    let ran = desk.run(&["chat", message, "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let line = ran.stdout.lines().next().expect("an event");
    let event: Value = serde_json::from_str(line).expect("JSON");
    event["session_id"].as_str().expect("an id").to_owned()
}

/// Goes on with what this names, by a script.
#[track_caller]
pub(crate) fn go_on(desk: &Desk, which: &[&str], message: &str) -> Ran {
    let ran = desk.run(&[&["chat", message, "--replay", "script.yaml"], which].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

/// What is printed, without the ids and times of this run.
fn shown(ran: &Ran, ids: &[&str]) -> String {
    let mut shown = ran.shown();
    for (place, id) in (1..).zip(ids) {
        shown = shown.replace(id, &format!("[id {place}]")).replace(&id[..13], &format!("[short {place}]"));
    }
    without_times(&shown)
}

/// Every `2026-11-30 21:22` as `[time]`.
fn without_times(text: &str) -> String {
    let like = |found: &[u8]| {
        let mask = b"0000-00-00 00:00";
        found.iter().zip(mask).all(|(byte, mask)| if *mask == b'0' { byte.is_ascii_digit() } else { byte == mask })
    };
    let bytes = text.as_bytes();
    let place = (0..bytes.len().saturating_sub(15)).find(|place| like(&bytes[*place..place + 16]));
    match place {
        Some(place) => format!("{}[time]{}", &text[..place], without_times(&text[place + 16..])),
        None => text.to_owned(),
    }
}

/// The one session's records, by kind and with their first text.
fn records(desk: &Desk, session: &str) -> Vec<(String, String)> {
    let document = desk.run(&["sessions", "show", session, "--json"]).json();
    let records = document["records"].as_array().expect("records").clone();
    let text = |record: &Value| record["payload"]["parts"][0]["text"].as_str().unwrap_or_default().to_owned();
    records.iter().map(|record| (record["type"].as_str().expect("a type").to_owned(), text(record))).collect()
}

/// The segment of the only session in files.
fn segment(desk: &Desk) -> PathBuf {
    let only = |dir: PathBuf| {
        let inside = |path: &PathBuf| path.is_dir();
        fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("read").path()).find(inside).expect("one")
    };
    only(only(desk.world.home().join("sessions"))).join("000001.jsonl")
}

/// Y6.2-2, Y3.7-1, D-70: a second process goes on where the first one ended, by the last session, a prefix and a title.
#[test]
fn a_conversation_goes_on_in_another_process() {
    for store in STORES {
        let desk = keeping(store, &script("look", "echo a cat"));
        let id = begin(&desk, "Plan a trip");
        assert_eq!(go_on(&desk, &["--resume"], "hello").stdout, "<hello>\n", "{store}");
        go_on(&desk, &["--session", &id[..20]], "look");
        go_on(&desk, &["--session", "plan A TRIP"], "bye");
        let users: Vec<_> = records(&desk, &id).into_iter().filter(|(kind, _)| kind == "user_message").collect();
        let said: Vec<_> = users.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(said, ["Plan a trip", "hello", "look", "bye"], "{store}");
        let listed = desk.run(&["sessions", "list", "--json"]).json();
        assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(1), "{store}: {listed}");
        assert_eq!(desk.world.home().join("youyou.db").exists(), store == "sqlite");
    }
}

/// Y6.2-2: what is sent to the model in the second process holds what was said in the first.
#[test]
fn the_model_hears_what_was_said_before() {
    let desk = keeping("jsonl", &script("look", "echo a cat"));
    begin(&desk, "Plan a trip");
    // The numbers of calls are those of the whole conversation: the log was read.
    for call in ["call-1", "call-2"] {
        let ran = desk.run(&["chat", "look", "--replay", "script.yaml", "--resume", "--json"]);
        assert!(ran.stdout.contains(&format!(r#""call_id":"{call}""#)), "{}", ran.stdout);
    }
}

/// D-68: only the sessions of this workspace, unless all are asked for.
#[test]
fn sessions_are_those_of_the_workspace() {
    let desk = keeping("jsonl", "-- other/file\n");
    let id = begin(&desk, "Plan a trip\nto Oslo");
    let other = desk.run_in(desk.world.path("other"), &["chat", "elsewhere", "--json"]);
    assert_eq!(other.code, Some(0), "{other:?}");
    insta::assert_snapshot!(shown(&desk.run(&["sessions", "list"]), &[&id]), @"
    out| SESSION        LAST USED         MESSAGES  TITLE
    out| [short 1]  [time]  2         Plan a trip
    exit 0
    ");
    let all = desk.run(&["sessions", "list", "--all"]);
    let titles = ["WORKSPACE", "elsewhere", "Plan a trip"];
    assert!(titles.iter().all(|title| all.stdout.contains(title)), "{all:?}");
    let first = desk.run(&["sessions", "list", "--all", "--limit", "1", "--json"]).json();
    assert_eq!((first["sessions"].as_array().map(Vec::len), &first["more"]), (Some(1), &true.into()));
    insta::assert_snapshot!(shown(&desk.run(&["sessions", "search", "TRIP"]), &[&id]), @"
    out| SESSION        LAST USED         MESSAGES  TITLE
    out| [short 1]  [time]  2         Plan a trip
    exit 0
    ");
    insta::assert_snapshot!(shown(&desk.run(&["sessions", "search", "elsewhere"]), &[&id]), @"
    err| no sessions of [world]/work; --all lists those of every workspace
    exit 0
    ");
}

/// Nothing is kept of what a script plays, nor where config.yaml says so.
#[test]
fn what_is_not_to_be_kept_is_not() {
    let desk = keeping("jsonl", "");
    assert_eq!(desk.run(&["chat", "hi", "--replay", "script.yaml"]).code, Some(0));
    insta::assert_snapshot!(desk.run(&["sessions", "list"]).shown(), @"
    err| no sessions of [world]/work; --all lists those of every workspace
    exit 0
    ");
    insta::assert_snapshot!(desk.run(&["chat", "hi", "--resume", "--replay", "script.yaml"]).shown(), @"
    err| error: no session of [world]/work is kept; `youyou chat` begins one, `youyou sessions list --all` lists those of other workspaces
    exit 3
    ");
    insta::assert_snapshot!(desk.run(&["chat", "hi", "--session", "nobody"]).shown(), @r#"
    err| error: no session has the id "nobody", an id that begins so, or this title; list the sessions to see which there are
    exit 3
    "#);
    let desk = keeping("none", "");
    assert_eq!(desk.run(&["chat", "hi"]).code, Some(0));
    assert!(!desk.world.home().join("sessions").exists());
    for args in [&["sessions", "list"][..], &["chat", "hi", "--resume"]] {
        insta::allow_duplicates! { insta::assert_snapshot!(desk.run(args).shown(), @"
        err| error: no sessions are kept: [world]/home/config.yaml says `storage: { sessions: none }`
        exit 2
        "); }
    }
}

/// D-69: rename, and a name that fits two.
#[test]
fn a_title_can_be_changed_and_must_be_clear() {
    for store in STORES {
        let desk = keeping(store, "");
        let (first, second) = (begin(&desk, "hello"), begin(&desk, "hello"));
        let ran = desk.run(&["chat", "hi", "--session", "hello"]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(&first) && ran.stderr.contains(&second), "{ran:?}");
        let ran = desk.run(&["sessions", "show", &first[..3], "--json"]);
        assert_eq!((ran.code, &ran.json()["error"]["code"]), (Some(2), &"SESSION_AMBIGUOUS".into()));
        let renamed = desk.run(&["sessions", "rename", &first, " The greeting "]);
        assert_eq!(renamed.code, Some(0), "{renamed:?}");
        go_on(&desk, &["--session", "the greeting"], "again");
        assert_eq!(records(&desk, &first).last().map(|(_, text)| text.as_str()), Some("<again>"));
        assert_eq!(desk.run(&["sessions", "rename", &first, " "]).code, Some(2));
    }
}

/// Y3.7-2: deleted is gone.
#[test]
fn a_deleted_session_is_gone() {
    for store in STORES {
        let desk = keeping(store, "");
        let id = begin(&desk, "hello");
        assert_eq!(desk.run(&["sessions", "delete", &id[..13]]).code, Some(0));
        for args in [&["sessions", "delete", &id][..], &["sessions", "show", &id], &["chat", "hi", "--session", &id]] {
            let ran = desk.run(args);
            assert_eq!(ran.code, Some(3), "{ran:?}");
            assert!(ran.stderr.contains("no session has the id"), "{ran:?}");
        }
        assert_eq!(desk.run(&["sessions", "list", "--json"]).json()["sessions"], serde_json::json!([]));
    }
}

/// The conversation as a person reads it, whole as Markdown, and for a program.
#[test]
fn a_conversation_can_be_read() {
    let desk = keeping("jsonl", &script("look", "echo '```'; echo a cat"));
    let id = begin(&desk, "hello");
    go_on(&desk, &["--resume"], "look\naround");
    insta::assert_snapshot!(shown(&desk.run(&["sessions", "show", &id]), &[&id]), @r#"
    out| hello
    out| [id 1] · [time] · [world]/work
    out| 
    out| > hello
    out| This is a recorded demonstration and no language model: it understands nothing, and knows a single trick.
    out| 
    out| Write `count the words in: ` and some words after it. Then it asks for the tool word-count, as a model would, and tells what the tool answered.
    out| 
    out| For real answers, name a model provider in config.yaml; docs/providers.md has one for each API.
    out| 
    out| > look
    out| > around
    out| → look {"text":"here"}
    out| ✓ look ``` a cat
    out| Seen.
    exit 0
    "#);
    insta::assert_snapshot!(shown(&desk.run(&["sessions", "export", &id]), &[&id]), @r#"
    out| # hello
    out| 
    out| Session [id 1] of [time], in [world]/work.
    out| 
    out| ## User
    out| 
    out| hello
    out| 
    out| ## Assistant
    out| 
    out| This is a recorded demonstration and no language model: it understands nothing, and knows a single trick.
    out| 
    out| Write `count the words in: ` and some words after it. Then it asks for the tool word-count, as a model would, and tells what the tool answered.
    out| 
    out| For real answers, name a model provider in config.yaml; docs/providers.md has one for each API.
    out| 
    out| ## User
    out| 
    out| look
    out| around
    out| 
    out| ## Assistant
    out| 
    out| > Hm.
    out| 
    out| Call of `look`:
    out| 
    out| ```json
    out| {"text":"here"}
    out| ```
    out| 
    out| Result of `look`:
    out| 
    out| ````
    out| ```
    out| a cat
    out| ````
    out| 
    out| Seen.
    exit 0
    "#);
    let exported = desk.run(&["sessions", "export", &id, "--format", "json"]).json();
    assert_eq!(exported, desk.run(&["sessions", "show", &id, "--json"]).json());
    assert_eq!(exported["session"]["session_id"], id.as_str());
}

/// K-03, K-05: a damaged line and a result without a call are told, by `show` and when the session goes on.
#[test]
fn damage_is_told_and_the_rest_is_there() {
    let desk = keeping("jsonl", "");
    let id = begin(&desk, "hello");
    let path = segment(&desk);
    let mut text = fs::read_to_string(&path).expect("reads");
    let lines = text.lines().count();
    text.push_str("{\"a\":\n");
    text.push_str(
        r#"{"type":"tool_result","payload":{"call_id":"lost","tool_name":"look","content":"a cat","is_error":false}}"#,
    );
    text.push('\n');
    fs::write(&path, text).expect("writes");
    let ran = desk.run(&["sessions", "show", &id]);
    let line = format!("000001.jsonl:{} is skipped", lines + 1);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stderr.contains(&line), "{ran:?}");
    assert!(ran.stdout.contains("✓ look (a result without a call, left out of requests) a cat"), "{ran:?}");
    let document = desk.run(&["sessions", "show", &id, "--json"]).json();
    assert_eq!(document["results_without_a_call"], serde_json::json!(["lost"]));
    assert_eq!(document["skipped"].as_array().map(Vec::len), Some(1));

    let resumed = go_on(&desk, &["--resume"], "and now?");
    assert!(resumed.stderr.contains(&line) && resumed.stderr.contains("\"lost\""), "{resumed:?}");
    assert_eq!(resumed.stdout, "<and now?>\n");
    let events = go_on(&desk, &["--resume", "--json"], "and now?").stdout;
    let first: Value = serde_json::from_str(events.lines().next().expect("an event")).expect("JSON");
    assert_eq!((&first["type"], &first["sequence"]), (&"Error".into(), &1.into()), "{events}");
}

/// SESSION_BUSY: the second of two processes is told, nothing of it is stored, and it can still read.
#[test]
fn two_processes_cannot_have_one_session() {
    for store in STORES {
        let desk = keeping(store, "");
        let id = begin(&desk, "hello");
        let args = ["chat", "--replay", "script.yaml", "--resume"];
        let mut terminal = OnTerminal::start(desk.youyou(&args));
        terminal.until("> ").press("first\r").until("<first>").until("> ");
        let second = desk.run(&["chat", "second", "--replay", "script.yaml", "--resume"]);
        assert_eq!(second.code, Some(3), "{second:?}");
        assert!(second.stderr.contains(&format!("the session {id} is open elsewhere")), "{second:?}");
        assert_eq!(desk.run(&["sessions", "delete", &id]).code, Some(3));
        assert!(desk.run(&["sessions", "show", &id]).stdout.ends_with("> first\n<first>\n"), "{store}");
        terminal.press("\u{4}");
        let (code, shown) = terminal.end();
        assert_eq!(code, Some(0));
        assert!(shown.contains(&format!("to go on: youyou chat --session {}", &id[..13])), "{shown}");
        go_on(&desk, &["--resume"], "third");
    }
}
