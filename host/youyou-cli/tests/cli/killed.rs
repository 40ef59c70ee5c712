//! A conversation whose process is killed, whatever it is doing, goes on (K-02, P-6).

use std::{collections::HashMap, fs, path::Path, process::Stdio};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader, Lines};
use youyou_tests::{
    FOR_EVER,
    tool::{mutating, script},
};

use crate::{
    desk::{Desk, on_one_thread},
    sessions::{begin, keeping},
};

/// Runs for each store.
const RUNS: usize = 15;

/// A model that asks for three changes, one after the other, and then for two at once.
const CHANGES: &str = "
-- work/changes.yaml
models: [{ id: demo }]
replies:
  - when: { user: {} }
    repeat: true
    say: [{ text: 'I will. ' }, { call: { tool_name: change, arguments: { text: one } } }]
  - when: { tool_result: { is: one } }
    repeat: true
    say: [{ call: { tool_name: change, arguments: { text: two } } }]
  - when: { tool_result: { is: two } }
    repeat: true
    say: [{ call: { tool_name: change, arguments: { text: half } } }, { call: { tool_name: change, arguments: { text: three } } }]
  - { when: { tool_result: {} }, repeat: true, say: [{ text: 'Done.' }] }
";

/// Notes the id of each call that it is run for, in one write, then answers with its text. It may outlive the
/// program, and gets no input if that was killed before it could write it.
const CHANGE: &str = r#"input=$(cat)
[ -n "$input" ] || exit 1
printf '%s\n' "$input" | sed 's/.*"call_id":"\([^"]*\)".*/\1/' >> NOTES
printf '%s' "$input" | sed 's/.*"text":"\([a-z]*\)".*/\1/' | tr -d '\n'"#;

/// Numbers that look random and are the same in each run (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

async fn line(lines: &mut Lines<BufReader<impl AsyncRead + Unpin>>) -> Option<String> {
    tokio::time::timeout(FOR_EVER, lines.next_line()).await.expect("it says something").expect("reads")
}

/// Goes on with the session, and kills the program after so many events.
async fn killed_after(desk: &Desk, events: u64) {
    let mut command = desk.youyou(&["chat", "go", "--replay", "changes.yaml", "--resume", "--json"]);
    command.stderr(Stdio::null());
    let mut child = command.spawn().expect("starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    for seen in 0..events {
        assert!(line(&mut lines).await.is_some(), "it ended by itself after {seen} events");
    }
    child.kill().await.expect("is killed");
}

/// What is stored: how often each call was asked for, and answered.
fn calls(desk: &Desk, session: &str) -> HashMap<String, (u64, u64)> {
    let document = desk.run(&["sessions", "show", session, "--json"]).json();
    assert_eq!(document["results_without_a_call"], serde_json::json!([]));
    let mut calls: HashMap<String, (u64, u64)> = HashMap::new();
    let id = |value: &Value| value["call_id"].as_str().expect("an id").to_owned();
    for record in document["records"].as_array().expect("records") {
        match record["type"].as_str() {
            Some("assistant_message") => {
                for part in record["payload"]["parts"].as_array().expect("parts") {
                    if part["type"] == "tool_call" {
                        calls.entry(id(part)).or_default().0 += 1;
                    }
                }
            }
            Some("tool_result") => calls.entry(id(&record["payload"])).or_default().1 += 1,
            _ => {}
        }
    }
    calls
}

/// Kills a conversation again and again, and looks at the session after each time it goes on.
fn survives(store: &str) {
    let desk = keeping(store, CHANGES);
    let notes = desk.world.path("notes");
    let change = CHANGE.replace("NOTES", &notes.display().to_string());
    desk.world.add(&mutating(&script("change", &change)));
    let session = begin(&desk, "hello");
    let mut dice = Dice(0x5eed);
    for run in 0..RUNS {
        on_one_thread(killed_after(&desk, 1 + dice.below(14)));
        let ran = desk.run(&["chat", "well?", "--replay", "script.yaml", "--resume"]);
        assert_eq!((ran.code, &*ran.stdout), (Some(0), "<well?>\n"), "run {run}: {ran:?}");
        let calls = calls(&desk, &session);
        for (call, counts) in &calls {
            assert_eq!(*counts, (1, 1), "run {run}: {call} was asked for and answered so often");
        }
        let ran = run_for(&notes);
        for (place, call) in ran.iter().enumerate() {
            assert!(calls.contains_key(call), "run {run}: {call} ran and is not stored");
            assert!(!ran[..place].contains(call), "run {run}: {call} ran twice");
        }
    }
    assert!(run_for(&notes).len() >= RUNS, "too few calls ran to show anything: {:?}", run_for(&notes));
}

/// The calls that the tool was run for, in order; the last may be missing if it still runs.
fn run_for(notes: &Path) -> Vec<String> {
    let notes = fs::read_to_string(notes).unwrap_or_default();
    notes.lines().map(str::to_owned).collect()
}

#[test]
fn a_killed_conversation_kept_in_files_goes_on() {
    survives("jsonl");
}

#[test]
fn a_killed_conversation_kept_in_a_database_goes_on() {
    survives("sqlite");
}
