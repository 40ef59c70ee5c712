//! What is remembered from one session to the next (Y3.8, Y4.7).

use std::sync::Arc;

use youyou::{ErrorCode, MemoryStorage, Namespace, SqliteStore};
use youyou_tests::{
    World,
    agent::{Model, Setup},
};

async fn store(world: &World) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(world.home().join("memories.db")).await.expect("opened"))
}

/// An agent in this world that keeps its memories there.
async fn remembering(world: World, replies: &str) -> Setup {
    let storage = store(&world).await;
    Setup::of(world, Model::replay(replies)).with(|agent| agent.memory_storage(storage).expect("the first one"))
}

/// What the user says, and what the model makes of it at the end of the session.
const TABS: &str = r#"
replies:
  - when: { user: { is: I indent with tabs. } }
    say: [{ text: Noted. }]
  - say: [{ text: '{"memories":[{"id":null,"content":"The user indents with tabs.","tags":["style"]}]}' }]
"#;

/// Y4.7-1, Y4.7-2, D-66, D-67: what the user said in one session stands in the prompt of the next, in this workspace.
#[tokio::test]
async fn what_was_said_is_remembered_in_the_next_session() {
    let (host, chat) = remembering(World::new(""), TABS).await.chat().await;
    chat.run("I indent with tabs.").await;
    assert!(!host.model().requests()[0].system.contains("<memories"));
    chat.close().await;
    let world = host.end().await;

    let (host, chat) = remembering(world, "replies: [{ repeat: true, say: [{ text: Yes. }] }]").await.chat().await;
    chat.run("How do I indent?").await;
    chat.run("And what else?").await;
    let systems: Vec<_> = host.model().requests().into_iter().map(|request| request.system).collect();
    assert!(systems[0].contains("The user indents with tabs."), "{}", systems[0]);
    assert_eq!(systems[0], systems[1], "it stays the same for the session");
    assert!(
        systems[0].find("<memories").expect("there") < systems[0].find("<environment").expect("there"),
        "in its place (Y4.3-1)"
    );
}

/// Y4.7-3: memories belong to a workspace.
#[tokio::test]
async fn a_memory_stays_in_its_workspace() {
    let (host, chat) = remembering(World::new(""), TABS).await.chat().await;
    chat.run("I indent with tabs.").await;
    chat.close().await;
    let here = Namespace::workspace(&host.world.work().canonicalize().expect("a path"));
    let storage = store(&host.world).await;
    let found = storage.search(&here, "tabs", 5).await.expect("searched");
    assert_eq!(found.iter().map(|memory| memory.content.as_str()).collect::<Vec<_>>(), ["The user indents with tabs."]);
    assert_eq!(storage.search(&Namespace::global(), "tabs", 5).await.expect("searched"), []);
}

/// Y4.7-4: an extraction that fails, or that makes no sense, blocks nothing and stores nothing.
#[tokio::test]
async fn a_failed_extraction_does_not_block_the_end() {
    for answer in [
        "{ error: { kind: auth, message: no } }",
        "{ text: I remember everything. }",
        "{ text: '{\"memories\":[{\"id\":null,\"content\":\" \",\"tags\":[]}]}' }",
    ] {
        let replies =
            format!("replies:\n  - when: {{ user: {{ is: hi }} }}\n    say: [{{ text: Yes. }}]\n  - say: [{answer}]\n");
        let (host, chat) = remembering(World::new(""), &replies).await.chat().await;
        chat.run("hi").await;
        chat.close().await;
        assert_eq!(host.model().requests().len(), 2, "it was asked");
        let here = Namespace::workspace(&host.world.work().canonicalize().expect("a path"));
        let stored = store(&host.world).await.list(&here, None, 10).await.expect("listed");
        assert_eq!(stored.items, []);
    }
}

/// Y4.7-2: `memory_model` extracts; a session without a word of the user asks nobody.
#[tokio::test]
async fn another_model_may_extract() {
    let world = World::new("-- home/config.yaml\nmemory_model: scribe\ndefault_model: replay\n");
    let scribe = Model::replay(
        "provider: scribe\nmodels: [{ id: scribe }]\nreplies: [{ say: [{ text: '{\"memories\":[]}' }] }]",
    );
    let setup = remembering(world, "replies: [{ say: [{ text: Yes. }] }]").await.model(scribe.clone());
    let host = setup.build().await;
    host.chat().await.close().await;
    assert_eq!(scribe.requests().len(), 0);
    let chat = host.chat().await;
    chat.run("hi").await;
    chat.close().await;
    assert_eq!((scribe.requests().len(), host.model().requests().len()), (1, 1));
}

/// Y3.1-2, D-48.
#[tokio::test]
async fn an_agent_has_one_memory_storage() {
    let world = World::new("");
    let (one, two) = (store(&world).await, store(&world).await);
    let error = youyou::agent().memory_storage(one).and_then(|agent| agent.memory_storage(two));
    assert_eq!(error.err().map(|error| error.code), Some(ErrorCode::StorageDuplicate));
}
