//! `youyou memories`.

use serde_json::{Value, json};
use youyou::{Api, MemoryDraft, MemoryId, MemoryStorage, Namespace, SqliteStore};
use youyou_tests::api_server::{ApiServer, Say};

use crate::desk::{Desk, on_one_thread};

/// A desk whose agent remembers two things of this workspace, and one of none.
fn remembering() -> Desk {
    let desk = Desk::new("");
    on_one_thread(async {
        let store = SqliteStore::open(desk.world.home().join("youyou.db")).await.expect("opens");
        let work = Namespace::workspace(&std::fs::canonicalize(desk.world.work()).expect("a workspace"));
        let draft = |namespace: &Namespace, id: &str, content: &str| MemoryDraft {
            id: MemoryId::new(id),
            namespace: namespace.clone(),
            content: content.to_owned(),
            source: None,
            tags: Vec::new(),
        };
        let global = Namespace::global();
        store.upsert(vec![draft(&work, "m-1", "The tests run in the evening.")], 1_000).await.expect("stores");
        store.upsert(vec![draft(&work, "m-2", "用户喜欢绿茶。")], 2_000).await.expect("stores");
        store.upsert(vec![draft(&global, "m-3", "Speaks French.")], 3_000).await.expect("stores");
    });
    desk
}

/// Their contents, in order.
fn contents(desk: &Desk, args: &[&str]) -> Vec<String> {
    let document = desk.run(&[&["memories"], args, &["--json"]].concat()).json();
    let memories = document["memories"].as_array().expect("memories");
    memories.iter().map(|memory| memory["content"].as_str().expect("a text").to_owned()).collect()
}

/// Y3.8-1, D-68: the workspace's, the last stored first; the global ones apart.
#[test]
fn memories_are_listed_and_found() {
    let desk = remembering();
    assert_eq!(contents(&desk, &["list"]), ["用户喜欢绿茶。", "The tests run in the evening."]);
    assert_eq!(contents(&desk, &["list", "--limit", "1"]), ["用户喜欢绿茶。"]);
    assert_eq!(contents(&desk, &["list", "--global"]), ["Speaks French."]);
    assert_eq!(contents(&desk, &["search", "绿茶"]), ["用户喜欢绿茶。"]);
    assert_eq!(contents(&desk, &["search", "a test"]), ["The tests run in the evening."]);
    assert_eq!(contents(&desk, &["search", "French"]), [""; 0]);
    let table = desk.run(&["memories", "list"]);
    assert!(table.stdout.starts_with("MEMORY") && table.stdout.contains("m-1"), "{table:?}");
}

#[test]
fn a_memory_can_be_forgotten() {
    let desk = remembering();
    assert_eq!(desk.run(&["memories", "delete", "m-3"]).code, Some(2), "it is none of this workspace");
    assert_eq!(desk.run(&["memories", "delete", "m-3", "--global"]).code, Some(0));
    assert_eq!(desk.run(&["memories", "delete", "m-1"]).code, Some(0));
    assert_eq!((contents(&desk, &["list"]).len(), contents(&desk, &["list", "--global"]).len()), (1, 0));
    assert_eq!(desk.run(&["memories", "delete", "m-1"]).code, Some(2));
}

/// Y4.7-1, Y4.7-2, D-66: what the user says in one process stands in the prompt of another, and is found by two characters.
#[test]
fn what_is_said_in_one_conversation_is_known_in_the_next() {
    let system = |request: &Value| request["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
    let server = ApiServer::answering(Api::OpenAiChat, move |request| {
        let said = if system(request).starts_with("You look after what an assistant remembers") {
            json!({"memories": [{"id": null, "content": "用户只喝绿茶，不喝咖啡。", "tags": ["饮料"]}]}).to_string()
        } else {
            "好的。".to_owned()
        };
        Some(vec![Say::Text(said.into())])
    });
    let desk = Desk::new(&format!(
        "-- home/config.yaml
providers:
  - {{ id: local, kind: openai-chat, base_url: '{}', models: [{{ id: m, context_window: 100000 }}] }}
",
        server.base_url()
    ));
    let told = desk.run(&["chat", "我只喝绿茶。"]);
    assert_eq!((told.code, &*told.stdout), (Some(0), "好的。\n"), "{told:?}");
    assert_eq!(contents(&desk, &["search", "绿茶"]), ["用户只喝绿茶，不喝咖啡。"]);
    assert_eq!(contents(&desk, &["search", "红茶"]), [""; 0]);

    let asked = desk.run(&["chat", "我喝什么？"]);
    assert_eq!(asked.code, Some(0), "{asked:?}");
    let requests = server.requests();
    assert_eq!(requests.len(), 4, "a question and an extraction each");
    let (first, next) = (system(&requests[0]), system(&requests[2]));
    assert!(!first.contains("绿茶") && next.contains("用户只喝绿茶，不喝咖啡。"), "{next}");
    assert_eq!(requests[2]["messages"].as_array().map(Vec::len), Some(2), "it is another session");
    // The model said the same once more, and it is known already.
    assert_eq!(contents(&desk, &["list"]).len(), 1);
    assert_eq!(server.broken_rules(), Vec::<String>::new());
}

/// config.yaml decides.
#[test]
fn an_agent_that_remembers_nothing_has_no_memories() {
    let desk = Desk::new("-- home/config.yaml\nstorage: { memories: none }\n");
    insta::assert_snapshot!(desk.run(&["memories", "list"]).shown(), @"
    err| error: nothing is remembered: [world]/home/config.yaml says `storage: { memories: none }`
    exit 2
    ");
}
