//! Sessions: one at a time, each over what the folders held when it began, free again at once (Y6.2, Y2-1).

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
    mpsc,
};

use futures_util::future::poll_immediate;
use youyou::{Agent, AttachmentSource, ErrorCode, ModelId, Session, SessionOptions, TurnEvents, UserMessage};
use youyou_tests::{
    World,
    agent::{CodeTool, Gate, Host, Model, Setup, Turn},
    tool::script,
};

const YES: &str = "replies: [{ repeat: true, say: [{ text: Yes. }] }]";

async fn yes() -> Host {
    Setup::new(YES).build().await
}

async fn start(agent: &Agent) -> Session {
    agent.new_session(SessionOptions::default()).await.expect("a session")
}

async fn numbers(mut events: TurnEvents) -> Vec<u64> {
    let mut numbers = Vec::new();
    while let Some(event) = events.next().await {
        numbers.push(event.sequence);
    }
    numbers
}

/// Y1-4, Y6.2-1: the second session has to wait until the first is closed.
#[tokio::test]
async fn one_session_runs_at_a_time() {
    let (host, chat) = Setup::new(YES).chat().await;
    let error = host.no_chat(SessionOptions::default()).await;
    assert_eq!((error.code, error.retryable), (ErrorCode::SessionBusy, true));
    chat.run("hi").await;
    chat.session().close().await;
    chat.session().close().await;
    assert_eq!(chat.refused("more").await.code, ErrorCode::SessionNotFound);
    let next = host.chat().await;
    assert_ne!(next.session().id(), chat.session().id());
    assert_eq!(next.run("hi").await.text(), "Yes.");
    assert_eq!(next.log().await, "user: hi\nassistant: Yes.\n", "nothing of the session before");
}

/// D-31: a message while a turn runs is refused and leaves no trace.
#[tokio::test]
async fn a_message_while_a_turn_runs_is_refused() {
    let gate = Gate::new();
    let replies = "replies: [{ say: [{ call: { tool_name: slow } }] }, { say: [{ text: Done. }] }]";
    let (_host, chat) = Setup::new(replies).tool(gate.tool("slow", "slowly")).chat().await;
    let running = chat.send("go").await;
    gate.entered().await;
    assert_eq!(chat.refused("more").await.code, ErrorCode::SessionBusy);
    gate.open();
    assert_eq!(running.end().await.text(), "Done.");
    assert!(!chat.log().await.contains("more"));
}

/// Y7-3, D-31: whoever hears of the end can send the next message, also while somebody reads the log.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_message_can_follow_the_last_event_at_once() {
    let (_host, chat) = Setup::new(YES).chat().await;
    let reading = Arc::new(AtomicBool::new(true));
    let reader = tokio::spawn({
        let (session, reading) = (chat.session().clone(), reading.clone());
        async move {
            while reading.load(Ordering::Relaxed) {
                session.entries().await;
                tokio::task::yield_now().await;
            }
        }
    });
    for _ in 0..300 {
        assert_eq!(chat.run("hi").await.text(), "Yes.");
    }
    reading.store(false, Ordering::Relaxed);
    reader.await.expect("no panic");
}

/// Y7-1, D-30: the events of one turn all come before those of the next, however early that one is sent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_events_of_two_turns_never_mix() {
    let host = yes().await;
    let session = start(&host.agent).await;
    let mut last = 0;
    for _ in 0..200 {
        let first = session.send("a").await.expect("accepted");
        session.idle().await;
        let second = session.send("b").await.expect("accepted");
        let numbers = [numbers(first).await, numbers(second).await].concat();
        let expected: Vec<_> = (last + 1..=last + 8).collect();
        assert_eq!(numbers, expected);
        last += 8;
    }
}

/// Y6.2-5: a session that nobody holds any more is over when its turn is; whoever hears of that can start another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_session_makes_room() {
    let host = yes().await;
    drop(start(&host.agent).await);
    for _ in 0..200 {
        let session = start(&host.agent).await;
        let events = session.send("hi").await.expect("accepted");
        drop(session);
        assert_eq!(numbers(events).await, [1, 2, 3, 4]);
    }
    start(&host.agent).await;
}

/// D-32: a dropped session runs its turn to the end before there is room.
#[tokio::test]
async fn a_dropped_session_keeps_its_place_while_its_turn_runs() {
    let gate = Gate::new();
    let replies = "replies: [{ say: [{ call: { tool_name: slow } }] }, { repeat: true, say: [{ text: Done. }] }]";
    let host = Setup::new(replies).tool(gate.tool("slow", "slowly")).build().await;
    let session = start(&host.agent).await;
    let events = session.send("go").await.expect("accepted");
    drop(session);
    gate.entered().await;
    assert_eq!(host.no_chat(SessionOptions::default()).await.code, ErrorCode::SessionBusy);
    gate.open();
    numbers(events).await;
    assert_eq!(host.chat().await.run("hi").await.text(), "Done.");
}

/// Y6.3-1: shutting down closes the session, also one with a turn that runs, and is final.
#[tokio::test]
async fn an_agent_that_is_shut_down_starts_nothing_more() {
    let gate = Gate::new();
    let replies = "replies: [{ say: [{ call: { tool_name: slow } }] }]";
    let (host, chat) = Setup::new(replies).tool(gate.tool("slow", "slowly")).chat().await;
    let running = chat.send("go").await;
    gate.entered().await;
    let (turn, ()) = tokio::join!(running.end(), async {
        let mut shutdown = std::pin::pin!(host.agent.shutdown());
        assert_eq!(poll_immediate(&mut shutdown).await, None, "the tool runs");
        gate.open();
        shutdown.await;
    });
    assert!(turn.to_string().ends_with("succeeds: slowly\nturn cancelled\n"), "{turn}");
    host.agent.shutdown().await;
    assert_eq!(chat.refused("hi").await.code, ErrorCode::SessionNotFound);
    let error = host.no_chat(SessionOptions::default()).await;
    assert_eq!((error.code, error.message.contains("shut down")), (ErrorCode::InvalidInput, true), "{error}");
}

/// Runs a test on an executor with a single thread for reading files.
fn with_one_file_thread(test: impl Future<Output = ()>) {
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build();
    executor.expect("an executor").block_on(test);
}

/// Keeps that thread busy until it is dropped.
struct FilesWait(#[expect(dead_code, reason = "the other side waits for its end")] mpsc::Sender<()>);

impl FilesWait {
    fn begin() -> Self {
        let (hold, held) = mpsc::channel();
        tokio::task::spawn_blocking(move || held.recv());
        Self(hold)
    }
}

/// Y6.3-1: a session that was about to begin does not outlive the agent.
#[test]
fn a_session_that_begins_during_the_shutdown_is_none() {
    with_one_file_thread(async {
        let host = yes().await;
        let files_wait = FilesWait::begin();
        let mut beginning = std::pin::pin!(host.agent.new_session(SessionOptions::default()));
        assert!(poll_immediate(&mut beginning).await.is_none(), "the folders are being read");
        host.agent.shutdown().await;
        drop(files_wait);
        assert_eq!(beginning.await.err().map(|error| error.code), Some(ErrorCode::InvalidInput));
    });
}

fn with_file(text: &str) -> UserMessage {
    UserMessage { text: text.into(), attachments: vec![AttachmentSource::FilePath { path: "a.txt".into() }] }
}

/// Y6.2-5: a message that is still looked at when the session closes is refused.
#[test]
fn a_message_that_comes_while_the_session_closes_is_refused() {
    with_one_file_thread(async {
        let host = Setup::over("-- work/a.txt\na\n", YES).build().await;
        let session = start(&host.agent).await;
        let files_wait = FilesWait::begin();
        let mut sending = std::pin::pin!(session.send(with_file("hi")));
        assert!(poll_immediate(&mut sending).await.is_none(), "the attachment is being read");
        session.close().await;
        drop(files_wait);
        assert_eq!(sending.await.err().map(|error| error.code), Some(ErrorCode::SessionNotFound));
        assert_eq!(session.entries().await, []);
        start(&host.agent).await;
    });
}

/// Dropped before it answers, nothing was sent, and the next message is taken.
#[test]
fn a_message_whose_sender_gives_up_leaves_no_trace() {
    with_one_file_thread(async {
        let (_host, chat) = Setup::over("-- work/a.txt\na\n", YES).chat().await;
        {
            let _files_wait = FilesWait::begin();
            let mut sending = std::pin::pin!(chat.session().send(with_file("one")));
            assert!(poll_immediate(&mut sending).await.is_none(), "the attachment is being read");
            assert_eq!(chat.refused("two").await.code, ErrorCode::SessionBusy);
        }
        assert_eq!(chat.run("three").await.text(), "Yes.");
        assert_eq!(chat.log().await, "user: three\nassistant: Yes.\n");
    });
}

fn of_model(id: &str) -> SessionOptions {
    SessionOptions { model: Some(ModelId::new(id)), ..SessionOptions::default() }
}

fn models(provider: &str, models: &[&str]) -> Model {
    let models: Vec<_> = models.iter().map(|id| format!("{{ id: {id} }}")).collect();
    Model::replay(&format!("provider: {provider}\nmodels: [{}]\n{YES}", models.join(", ")))
}

/// Y6.2-1, D-44: the session's model, else the configured one, else the only one there is.
#[tokio::test]
async fn a_session_has_the_model_it_names_or_the_configured_one() {
    let (large, other) = (models("large", &["huge", "big"]), models("other", &["small"]));
    let setup = Setup::of(World::new("-- home/config.yaml\ndefault_model: small"), large.clone()).model(other.clone());
    let host = setup.build().await;
    let ids: Vec<_> = host.agent.models().map(|model| model.id.as_str().to_owned()).collect();
    assert_eq!(ids, ["huge", "big", "small"]);
    let chat = host.chat().await;
    assert_eq!(chat.session().model().id.as_str(), "small");
    chat.run("hi").await;
    assert_eq!((large.requests().len(), other.requests().len()), (0, 1));
    chat.session().close().await;
    let chat = host.chat_with(of_model("big")).await;
    chat.run("hi").await;
    assert_eq!(large.requests()[0].model.as_str(), "big");
    chat.session().close().await;
    let error = host.no_chat(of_model("tiny")).await;
    assert_eq!(error.code, ErrorCode::ModelNotSupported);
    insta::assert_snapshot!(error.message, @r#"no provider serves the model "tiny"; there are: huge, big, small"#);
    host.chat().await;
}

/// D-44: several models and none named is an error of the session, as is a default that nobody serves.
#[tokio::test]
async fn a_session_without_a_model_is_refused() {
    let several = Setup::of(World::new(""), models("large", &["huge", "big"])).build().await;
    let error = several.no_chat(SessionOptions::default()).await;
    assert_eq!(error.code, ErrorCode::ModelNotSupported);
    insta::assert_snapshot!(error.message, @r#"no model was named, and there is no `default_model`; there are: huge, big"#);
    for key in ["default_model", "compact_model"] {
        let host = Setup::over(&format!("-- home/config.yaml\n{key}: gone"), YES).build().await;
        let error = host.no_chat(SessionOptions::default()).await;
        assert_eq!(error.code, ErrorCode::ModelNotSupported);
        let expected = format!("`{key}` of config.yaml: no provider serves the model \"gone\"; there are: replay");
        assert_eq!(error.message, expected);
    }
}

/// Y2-1: what is added, edited or removed takes effect at the next session, never in the one that runs.
#[tokio::test]
async fn a_session_keeps_what_the_folders_held_when_it_began() {
    let replies = "
replies:
  - { when: { user: { contains: call } }, repeat: true, say: [{ call: { tool_name: greet } }, { call: { tool_name: later } }] }
  - { repeat: true, say: [{ text: Yes. }] }
";
    let skill = "-- home/skills/old/index.md\n---\nversion: 1\nname: old\ndescription: Old.\n---\nDo the old thing.\n";
    let tree = [&script("greet", "echo hello"), skill, "-- home/AGENT.md\nBe kind.\n"].concat();
    let (host, chat) = Setup::over(&tree, replies).chat().await;
    host.world.add(&script("later", "echo later"));
    host.world.add(&skill.replace("old", "new").replace("Old", "New"));
    host.world.add("-- home/AGENT.md\nBe stern.\n");
    std::fs::remove_dir_all(host.world.path("home/skills/old")).expect("removes");
    let results = |turn: &Turn| -> Vec<String> {
        let shown = turn.to_string();
        let ends = shown.lines().filter(|line| line.contains("succeeds") || line.contains("fails"));
        ends.map(str::to_owned).collect()
    };
    let old = results(&chat.run("call both").await);
    assert_eq!(old[0], "call-1 greet succeeds: hello");
    assert!(old[1].starts_with("call-2 later fails: no tool is named \"later\""), "{old:?}");
    chat.run("/old").await;
    assert_eq!(chat.refused("/new").await.code, ErrorCode::SkillNotFound);
    let requests = host.model().requests();
    assert!(requests.iter().all(|request| request.system == requests[0].system && request.tools == requests[0].tools));
    assert!(requests[0].system.contains("Be kind."));

    chat.session().close().await;
    let chat = host.chat().await;
    assert_eq!(results(&chat.run("call both").await)[1], "call-2 later succeeds: later");
    chat.run("/new").await;
    assert_eq!(chat.refused("/old").await.code, ErrorCode::SkillNotFound);
    assert!(chat.session().prompt().render().contains("Be stern."));
}

/// D-45: folders that cannot be used make the session fail, and the agent is as before.
#[tokio::test]
async fn an_agent_outlives_folders_that_cannot_be_used() {
    let host = Setup::new(YES).tool(CodeTool::answering("read", "text")).build().await;
    host.world.add(
        "-- home/skills/deploy/index.md\n---\nversion: 1\nname: deploy\ndescription: Deploys.\n\
         required_tools: [kube]\n---\nDeploy.\n",
    );
    let error = host.no_chat(SessionOptions::default()).await;
    assert_eq!(error.code, ErrorCode::SkillDependencyNotMet, "{error}");
    host.world.add(&script("kube", "echo done"));
    assert_eq!(host.chat().await.run("hi").await.text(), "Yes.");
}
