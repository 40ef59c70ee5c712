//! What is remembered of a conversation whose process is killed: everything that was said, and nothing twice (D-67).

use std::collections::HashSet;

use serde_json::{Value, json};
use youyou::Api;
use youyou_tests::api_server::{ApiServer, Say};

use super::{Moment, killed_at, plan};
use crate::desk::Desk;

/// After so many kills the program may end by itself, so that one extraction never has more to find than it may.
const KILLS_IN_A_ROW: u64 = 8;

/// Says yes; and of each `fact-` that the user told it makes a memory that is worded another way each time.
fn model() -> ApiServer {
    let mut asked = 0;
    ApiServer::answering(Api::OpenAiChat, move |request| {
        asked += 1;
        let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
        let messages: Vec<_> = request["messages"].as_array().expect("messages").iter().map(text).collect();
        let said = match messages.last()?.split_once("<conversation>") {
            None => "Yes.".to_owned(),
            Some((_, conversation)) => {
                let memory = |fact| json!({"id": null, "content": format!("{fact} in answer {asked}"), "tags": []});
                json!({ "memories": facts(conversation).map(memory).collect::<Vec<_>>() }).to_string()
            }
        };
        Some(vec![Say::Text(said.into())])
    })
}

/// Every `fact-1` in a text, in order.
fn facts(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().filter(|word| word.starts_with("fact-"))
}

/// What is remembered, in order.
fn remembered(desk: &Desk) -> Vec<String> {
    let document = desk.run(&["memories", "list", "--limit", "100000", "--json"]).json();
    let contents = document["memories"].as_array().expect("memories").iter().map(|memory| memory["content"].as_str());
    contents.flat_map(|content| facts(content.expect("a text")).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// What the user said in the one session.
fn said(desk: &Desk) -> Vec<String> {
    let session = desk.run(&["sessions", "list", "--json"]).json()["sessions"][0]["session_id"].clone();
    let document = desk.run(&["sessions", "show", session.as_str().expect("an id"), "--json"]).json();
    let users = document["records"].as_array().expect("records").iter().filter(|one| one["type"] == "user_message");
    users.map(|user| user["payload"]["parts"][0]["text"].as_str().expect("a text").to_owned()).collect()
}

fn remembers(store: &str) {
    let (kills, mut dice) = plan(&format!("memories, {store}"));
    let server = model();
    let desk = Desk::new(&format!(
        "-- home/config.yaml
memory_checkpoint_interval: 1
storage: {{ sessions: {store} }}
providers:
  - {{ id: local, kind: openai-chat, base_url: '{}', models: [{{ id: m, context_window: 100000 }}] }}
",
        server.base_url()
    ));
    let mut told = 0;
    let mut tell = |args: &[&str]| {
        told += 1;
        desk.youyou(&[&["chat", &format!("fact-{told}")], args].concat())
    };
    let begun = desk.finish(tell(&[]), b"");
    assert_eq!(begun.code, Some(0), "{begun:?}");
    for kill in 0..kills {
        // While it starts, answers, and is asked what there is to remember.
        while killed_at(tell(&["--resume", "--json"]), &Moment::draw(&mut dice, 7)).is_none() {}
        if kill % KILLS_IN_A_ROW == 0 {
            let ran = desk.finish(tell(&["--resume"]), b"");
            assert_eq!((ran.code, &*ran.stdout), (Some(0), "Yes.\n"), "{ran:?}");
        }
    }
    let ran = desk.finish(tell(&["--resume"]), b"");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(server.broken_rules(), Vec::<String>::new());
    let (said, remembered) = (said(&desk), remembered(&desk));
    let once: HashSet<_> = remembered.iter().collect();
    assert_eq!(once.len(), remembered.len(), "something was extracted twice: {remembered:?}");
    let left_out: Vec<_> = said.iter().filter(|fact| !once.contains(fact)).collect();
    assert_eq!(left_out, Vec::<&String>::new(), "of {said:?}");
    assert_eq!(said.len(), remembered.len(), "what nobody said is remembered: {remembered:?}");
    println!("memories, {store}: {kills} kills, {} facts", remembered.len());
}

#[test]
fn a_killed_conversation_kept_in_files_is_remembered_once() {
    remembers("jsonl");
}

#[test]
fn a_killed_conversation_kept_in_a_database_is_remembered_once() {
    remembers("sqlite");
}
