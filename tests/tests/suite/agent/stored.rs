//! Sessions that are kept, and go on (Y3.7, Y6.2-2, D-70, D-71).

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use youyou::{
    AssistantPart, BoxFuture, CallId, Durability, Error, ErrorCode, HookEvent, JsonlSessions, NewRecord, NewSession,
    Page, Part, SessionEvent, SessionId, SessionLog, SessionOptions, SessionStorage, ToolCall, ToolOutput,
    record::{AssistantRecord, MessageStatus, ToolResultRecord},
    storage::{OpenSession, SessionQuery, SessionSummary, StoredSession},
};
use youyou_tests::{
    World,
    agent::{
        CodePlugin, CodeTool, Gate, Host, Model, Setup, Turn,
        plugin::{abort, with},
    },
};

const YES: &str = "replies: [{ repeat: true, say: [{ text: Yes. }] }]";

fn store(world: &World) -> JsonlSessions {
    JsonlSessions::new(world.home().join("sessions"))
}

/// An agent in this world that keeps its sessions there.
fn keeping(world: World, replies: &str) -> Setup {
    let storage = store(&world);
    Setup::of(world, Model::replay(replies))
        .with(|agent| agent.session_storage(Arc::new(storage)).expect("the first one"))
}

/// Every file of the store, with what it holds.
fn files(world: &World) -> Vec<(PathBuf, Vec<u8>)> {
    fn walk(dir: &std::path::Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
        for entry in fs::read_dir(dir).into_iter().flatten().map_while(Result::ok) {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|ext| ext == "jsonl") {
                found.push((path.clone(), fs::read(&path).expect("read")));
            }
        }
    }
    let mut found = Vec::new();
    walk(&world.home().join("sessions"), &mut found);
    found.sort();
    found
}

/// Y6.2-2, Y3.7-1, K-07: a session goes on where it was, in another process for all it knows: what was said is sent, and
/// call ids go on counting.
#[tokio::test]
async fn a_session_goes_on_where_it_was() {
    let call = "
replies:
  - say: [{ reasoning: Hm. }, { call: { tool_name: look } }, { call: { tool_name: look } }]
  - say: [{ text: Seen. }]
";
    let look = || CodeTool::answering("look", "a cat");
    let (host, chat) = keeping(World::new(""), call).tool(look()).chat().await;
    let id = chat.session().id().clone();
    chat.run("look around").await;
    chat.close().await;
    let world = host.end().await;

    let listed = store(&world).list(SessionQuery::first(10)).await.expect("listed");
    let [summary] = &listed.items[..] else { panic!("one session") };
    assert_eq!((summary.title.as_deref(), summary.message_count), (Some("look around"), 3));

    let host = keeping(world, call).tool(look()).build().await;
    let chat = host.resumed(&id).await;
    chat.run("and now?").await;
    insta::assert_snapshot!(host.model().heard(2), @"
    user: look around
    assistant calls call-1 look: {}
    assistant calls call-2 look: {}
    result of call-1 look: a cat
    result of call-2 look: a cat
    assistant: Seen.
    user: and now?
    assistant calls call-3 look: {}
    assistant calls call-4 look: {}
    result of call-3 look: a cat
    result of call-4 look: a cat
    ");
    assert_eq!(chat.close().await.events.len(), 0, "nothing was damaged");
}

/// Nothing is stored before there is something to store.
#[tokio::test]
async fn a_session_without_a_message_leaves_nothing() {
    let (host, chat) = keeping(World::new(""), YES).chat().await;
    chat.close().await;
    assert_eq!(files(&host.world), []);
}

/// A session that this store has not got; and one without a store.
#[tokio::test]
async fn an_unknown_session_is_not_resumed() {
    for setup in [Setup::new(YES), keeping(World::new(""), YES)] {
        let host = setup.build().await;
        let gone = host.agent.resume_session(&SessionId::new("gone"), SessionOptions::default()).await;
        assert_eq!(gone.err().map(|error| error.code), Some(ErrorCode::SessionNotFound));
        host.chat().await.run("the agent is free").await;
    }
}

/// D-70: the model that it used last, unless another is chosen, which is then remembered.
#[tokio::test]
async fn a_session_keeps_its_model() {
    let two = "models: [{ id: one }, { id: two }]\nreplies: [{ repeat: true, say: [{ text: Yes. }] }]";
    let host = keeping(World::new("-- home/config.yaml\ndefault_model: one\n"), two).build().await;
    let choosing = |id: &str| SessionOptions { model: Some(youyou::ModelId::new(id)), ..SessionOptions::default() };
    let chat = host.chat_with(choosing("two")).await;
    let id = chat.session().id().clone();
    chat.run("hi").await;
    chat.close().await;
    let chat = host.resumed(&id).await;
    assert_eq!(chat.session().model().id.as_str(), "two");
    chat.close().await;
    let session = host.agent.resume_session(&id, choosing("one")).await.expect("resumed");
    session.send("hi").await.expect("sent");
    session.close().await;
    drop(session);
    assert_eq!(host.resumed(&id).await.session().model().id.as_str(), "one");
    let world = host.end().await;

    let host = keeping(world, "models: [{ id: three }]\nreplies: []").build().await;
    let gone = host.agent.resume_session(&id, SessionOptions::default()).await;
    assert_eq!(gone.err().map(|error| error.code), Some(ErrorCode::ModelNotSupported));
}

/// SESSION_BUSY: one owner at a time; the session is as it was for whoever has it.
#[tokio::test]
async fn a_session_has_one_owner() {
    let (host, chat) = keeping(World::new(""), YES).chat().await;
    chat.run("hi").await;
    let storage = store(&host.world);
    let other = Setup::of(World::new(""), Model::replay(YES))
        .with(|agent| agent.session_storage(Arc::new(storage)).expect("one"));
    let other = other.build().await;
    let busy = other.agent.resume_session(chat.session().id(), SessionOptions::default()).await;
    assert_eq!(busy.err().map(|error| error.code), Some(ErrorCode::SessionBusy));
    chat.run("still here").await;
}

fn assistant(calls: &[&str]) -> SessionEvent {
    let call = |id: &&str| {
        AssistantPart::ToolCall(ToolCall { call_id: CallId::new(*id), tool_name: "t".into(), arguments: "{}".into() })
    };
    SessionEvent::AssistantMessage(AssistantRecord {
        parts: calls.iter().map(call).collect(),
        status: MessageStatus::Complete,
        usage: youyou::Usage::default(),
        renamed: Vec::new(),
    })
}

fn result(call: &str) -> SessionEvent {
    SessionEvent::ToolResult(ToolResultRecord {
        call_id: CallId::new(call),
        tool_name: "t".into(),
        content: format!("{call} done").into(),
        is_error: false,
        metadata: None,
    })
}

/// A world with a session of these records.
async fn stored(events: Vec<SessionEvent>) -> (World, SessionId) {
    let world = World::new("");
    let id = SessionId::new("s-1");
    let mut log = store(&world).create(NewSession::new(id.clone(), 1)).await.expect("made");
    let records = events.into_iter().map(|event| NewRecord { at: 2, event }).collect();
    log.append(records, Durability::Synced).await.expect("stored");
    log.close().await.expect("closed");
    (world, id)
}

/// K-02, D-26: a call that a crash left open is answered, the model is told that the turn broke off, and what is stored
/// is not rewritten.
#[tokio::test]
async fn a_crash_between_calls_leaves_no_call_open() {
    let (world, id) =
        stored(vec![SessionEvent::user(vec![Part::text("go")]), assistant(&["a", "b"]), result("a")]).await;
    let before = files(&world);
    let host = keeping(world, YES).build().await;
    let chat = host.resumed(&id).await;
    assert_eq!(files(&host.world), before, "resuming writes nothing");
    chat.run("hi").await;
    insta::assert_snapshot!(host.model().heard(1), @"
    user: go
    assistant calls a t: {}
    assistant calls b t: {}
    result of a t: a done
    failure of b t: [interrupted; whether this call had an effect is unknown]
    notice: [此消息因异常中断]
    user: hi
    ");
    for ((path, before), (_, after)) in before.iter().zip(files(&host.world)) {
        assert!(after.starts_with(before), "{} is only appended to", path.display());
    }
    chat.close().await;
    let chat = host.resumed(&id).await;
    chat.run("again").await;
    assert_eq!(host.model().heard(2).matches("interrupted;").count(), 1, "{}", host.model().heard(2));
}

/// K-03: a result without a call is in no request, and the user is told.
#[tokio::test]
async fn a_result_without_a_call_is_left_out() {
    let (world, id) = stored(vec![SessionEvent::user(vec![Part::text("go")]), result("x")]).await;
    let host = keeping(world, YES).build().await;
    let chat = host.resumed(&id).await;
    chat.run("hi").await;
    assert!(!host.model().heard(1).contains("x done"), "{}", host.model().heard(1));
    insta::assert_snapshot!(chat.close().await, @r#"remark STORAGE_ERROR DAMAGED: a result of the call "x" is left out of requests: no such call is stored"#);
}

/// K-05: a line that cannot be read is skipped, and the user is told which.
#[tokio::test]
async fn a_damaged_line_is_skipped_and_told() {
    let text = |text: &str| SessionEvent::user(vec![Part::text(text)]);
    let (world, id) = stored(vec![text("one"), text("two"), text("three")]).await;
    let (path, bytes) = files(&world).remove(0);
    let lines: Vec<_> = String::from_utf8(bytes).expect("text").lines().map(str::to_owned).collect();
    let damaged: Vec<_> = lines.iter().map(|line| if line.contains("two") { "{\"a\":" } else { line }).collect();
    fs::write(&path, damaged.join("\n") + "\n").expect("written");
    let host = keeping(world, YES).build().await;
    let chat = host.resumed(&id).await;
    chat.run("four").await;
    insta::assert_snapshot!(host.model().heard(1), @"
    user: one
    user: three
    notice: [此消息因异常中断]
    user: four
    ");
    let told = chat.close().await.to_string();
    assert!(told.contains("remark STORAGE_ERROR DAMAGED") && told.contains(":3 is skipped"), "{told}");
}

/// K-01, D-24: what a cancel left is stored as it was, and goes on so.
#[tokio::test]
async fn a_cancelled_turn_goes_on_as_it_was() {
    let replies = "
replies:
  - say: [{ text: Wait. }, { call: { tool_name: slow } }, { call: { tool_name: b } }]
  - say: [{ text: Hello. }]
";
    let gate = Gate::new();
    let setup = keeping(World::new(""), replies).tool(gate.tool("slow", "moved").mutating());
    let (host, chat) = setup.tool(CodeTool::answering("b", "never")).chat().await;
    let id = chat.session().id().clone();
    let running = chat.send("go").await;
    gate.entered().await;
    chat.cancel();
    gate.open();
    running.end().await;
    let log = chat.log().await;
    drop(chat);
    let chat = host.resumed(&id).await;
    assert_eq!(chat.log().await, log);
    chat.run("hi").await;
    insta::assert_snapshot!(host.model().heard(2), @"
    user: go
    assistant: Wait.
    assistant calls call-1 slow: {}
    assistant calls call-2 b: {}
    result of call-1 slow: moved
    failure of call-2 b: [cancelled: this call was not started]
    user: hi
    ");
}

/// D-36, D-8, D-11: a compaction, a section of one turn and a withheld message are what they were.
#[tokio::test]
async fn everything_but_messages_comes_back_too() {
    let long = "word ".repeat(240);
    let replies = format!(
        "
models: [{{ id: small, context_window: 1000 }}]
replies:
  - when: {{ user: {{ contains: write the summary }} }}
    say: [{{ text: They spoke. }}]
  - say: [{{ text: '{long}' }}]
  - say: [{{ text: Fine. }}]
  - say: [{{ text: Yes. }}]
"
    );
    let plugin = CodePlugin::new("p").on(HookEvent::TurnStart, |payload| {
        let text = serde_json::to_string(&payload).expect("JSON");
        if text.contains("password") {
            return abort("a secret");
        }
        with(serde_json::json!({"dynamic_sections": [{"title": "now", "content": "Noon."}]}))
    });
    let setup = keeping(World::new(""), &replies).with(|agent| agent.base_instructions("Be brief."));
    let (host, chat) = setup.plugin(plugin).chat().await;
    let id = chat.session().id().clone();
    chat.run(format!("first {long}")).await;
    chat.run(format!("second {long}")).await;
    chat.run("my password").await;
    let log = chat.log().await;
    assert!(log.contains("compaction by summary") && log.contains("withheld") && log.contains("section"), "{log}");
    chat.close().await;
    let chat = host.resumed(&id).await;
    assert_eq!(chat.log().await, log);
    chat.run("go on").await;
    let heard = host.model().heard(4);
    assert!(heard.contains("They spoke.") && !heard.contains("password") && !heard.contains("first"), "{heard}");
}

/// A store that can be broken, over a real one.
struct Fragile {
    inner: JsonlSessions,
    broken: Arc<AtomicBool>,
}

struct FragileLog {
    inner: Box<dyn SessionLog>,
    broken: Arc<AtomicBool>,
}

impl SessionStorage for Fragile {
    fn create(&self, session: NewSession) -> BoxFuture<'_, Result<Box<dyn SessionLog>, Error>> {
        Box::pin(async move {
            let inner = self.inner.create(session).await?;
            Ok(Box::new(FragileLog { inner, broken: self.broken.clone() }) as Box<dyn SessionLog>)
        })
    }
    fn open<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<OpenSession, Error>> {
        self.inner.open(id)
    }
    fn load<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<StoredSession, Error>> {
        self.inner.load(id)
    }
    fn list(&self, query: SessionQuery) -> BoxFuture<'_, Result<Page<SessionSummary>, Error>> {
        self.inner.list(query)
    }
    fn find<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<SessionSummary, Error>> {
        self.inner.find(text)
    }
    fn delete<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<(), Error>> {
        self.inner.delete(id)
    }
    fn fork<'a>(
        &'a self,
        source: &'a SessionId,
        last: u64,
        session: NewSession,
    ) -> BoxFuture<'a, Result<OpenSession, Error>> {
        self.inner.fork(source, last, session)
    }
}

impl SessionLog for FragileLog {
    fn id(&self) -> &SessionId {
        self.inner.id()
    }
    fn next_seq(&self) -> u64 {
        self.inner.next_seq()
    }
    fn append(&mut self, records: Vec<NewRecord>, durability: Durability) -> BoxFuture<'_, Result<u64, Error>> {
        if self.broken.load(Ordering::Relaxed) {
            return Box::pin(async { Err(Error::new(ErrorCode::StorageError, "the disk is full")) });
        }
        self.inner.append(records, durability)
    }
    fn close(self: Box<Self>) -> BoxFuture<'static, Result<(), Error>> {
        self.inner.close()
    }
}

async fn fragile(replies: &str, tool: CodeTool) -> (Host, youyou_tests::agent::Chat, Arc<AtomicBool>) {
    let world = World::new("");
    let broken = Arc::new(AtomicBool::new(false));
    let storage = Fragile { inner: store(&world), broken: broken.clone() };
    let setup =
        Setup::of(world, Model::replay(replies)).with(|agent| agent.session_storage(Arc::new(storage)).expect("one"));
    let (host, chat) = setup.tool(tool).chat().await;
    (host, chat, broken)
}

/// D-71, D-29: what cannot be stored does not stop a turn that only reads; the user is told once, and nothing is lost once
/// the store works again.
#[tokio::test]
async fn a_store_that_fails_for_a_while_loses_nothing() {
    let replies = "
replies:
  - say: [{ call: { tool_name: look } }]
  - say: [{ text: Seen. }]
  - say: [{ text: Good. }]
";
    let (host, chat, broken) = fragile(replies, CodeTool::answering("look", "a cat")).await;
    broken.store(true, Ordering::Relaxed);
    insta::assert_snapshot!(chat.run("look").await, @r#"
    remark STORAGE_ERROR: the disk is full
    step 1
    step 1 ends
    call-1 look starts with {}
    call-1 look succeeds: a cat
    step 2
    text "Seen."
    step 2 ends
    turn completed
    "#);
    broken.store(false, Ordering::Relaxed);
    chat.run("well?").await;
    let (id, log) = (chat.session().id().clone(), chat.log().await);
    chat.close().await;
    let world = host.end().await;
    let host = keeping(world, YES).build().await;
    assert_eq!(host.resumed(&id).await.log().await, log);
}

/// D-71: a call that may change something does not run unless it is written down; the turn fails, and the log is sound.
#[tokio::test]
async fn a_mutating_call_runs_only_when_it_is_written_down() {
    let replies = "
replies:
  - say: [{ call: { tool_name: move } }, { call: { tool_name: move } }]
  - say: [{ text: I see. }]
";
    let moved = Arc::new(AtomicBool::new(false));
    let flag = moved.clone();
    let tool = CodeTool::new("move", move |_, _| {
        flag.store(true, Ordering::Relaxed);
        std::future::ready(Ok(ToolOutput::text("moved")))
    });
    let (_host, chat, broken) = fragile(replies, tool.mutating()).await;
    broken.store(true, Ordering::Relaxed);
    let turn: Turn = chat.run("move it").await;
    insta::assert_snapshot!(turn, @"
    remark STORAGE_ERROR: the disk is full
    step 1
    step 1 ends
    call-1 move starts with {}
    call-1 move is skipped: the call was not started, because it could not be written down: the disk is full
    call-2 move starts with {}
    call-2 move is skipped: the call was not started, because it could not be written down: the disk is full
    error STORAGE_ERROR: the call was not started, because it could not be written down: the disk is full
    turn failed: STORAGE_ERROR
    ");
    assert!(!moved.load(Ordering::Relaxed));
    broken.store(false, Ordering::Relaxed);
    assert_eq!(chat.run("why?").await.text(), "I see.");
}

/// D-69: a session is called what it is renamed to.
#[tokio::test]
async fn a_session_can_be_renamed_while_it_runs() {
    let (host, chat) = keeping(World::new(""), YES).chat().await;
    chat.run("hello").await;
    assert_eq!(chat.session().rename(" ").await.map_err(|error| error.code), Err(ErrorCode::InvalidInput));
    chat.session().rename("Trip to Oslo").await.expect("renamed");
    let found = store(&host.world).find("trip to oslo").await.expect("found");
    assert_eq!(found.session_id, *chat.session().id());
}

/// Y3.1-2, D-48.
#[test]
fn an_agent_has_one_session_storage() {
    let world = World::new("");
    let error = youyou::agent()
        .session_storage(Arc::new(store(&world)))
        .and_then(|agent| agent.session_storage(Arc::new(store(&world))));
    assert_eq!(error.err().map(|error| error.code), Some(ErrorCode::StorageDuplicate));
}
