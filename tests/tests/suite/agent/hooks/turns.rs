//! Around a turn: its beginning, the message that begins it, and its end.

use serde_json::json;
use youyou::{
    AgentEventKind, AttachmentSource, Error, ErrorCode, HookEvent, HookOutcome, HookPayload, UserMessage,
    hook::{HookEventPayload, TurnEnd},
};
use youyou_tests::agent::{
    CodePlugin, Gate, Setup,
    plugin::{Log, abort, with},
};

use super::{CALL, YES, echo};

/// D-8: sections of the turn's begin stand last in the system prompt of that turn, all of its requests, and are kept in
/// the log.
#[tokio::test]
async fn sections_are_added_for_one_turn() {
    let notes = |id: &str| {
        let title = id.to_owned();
        let once = std::sync::atomic::AtomicBool::new(true);
        CodePlugin::new(id).on(HookEvent::TurnStart, move |_| {
            if !once.swap(false, std::sync::atomic::Ordering::Relaxed) {
                return Ok(HookOutcome::Continue);
            }
            with(json!({"dynamic_sections": [{"title": title, "content": "A meeting at noon."}]}))
        })
    };
    let replies = format!("{CALL}  - say: [{{ text: Again. }}]");
    let (host, chat) = Setup::new(&replies).tool(echo()).plugin(notes("one")).plugin(notes("two")).chat().await;
    chat.run("go").await;
    chat.run("more").await;
    let systems: Vec<_> = host.model().requests().into_iter().map(|request| request.system).collect();
    let [first, second, third] = &systems[..] else { panic!("three requests") };
    assert_eq!(first, second);
    let added = first.strip_prefix(third.as_str()).expect("the rest of the prompt is the same");
    insta::assert_snapshot!(added.trim(), @r#"
    <dynamic title="one">
    A meeting at noon.
    </dynamic>

    <dynamic title="two">
    A meeting at noon.
    </dynamic>
    "#);
    assert!(chat.log().await.contains("section \"two\": A meeting at noon."), "{}", chat.log().await);
    assert!(!host.model().heard(3).contains("noon"));
}

/// D-9: attachments are seen by name and size, and only the text can be changed.
#[tokio::test]
async fn the_text_of_a_message_may_be_changed() {
    let log = Log::default();
    let rewrite = CodePlugin::new("rewrite").on(HookEvent::TurnStart, |_| {
        with(json!({"user_input": {"text": "/secret what they meant", "attachments": []}}))
    });
    let setup = Setup::over("-- work/notes.txt\nsome notes\n", YES);
    let (host, chat) = setup.plugin(CodePlugin::new("a").noting(&log)).plugin(rewrite).chat().await;
    let message =
        UserMessage { text: "hi".into(), attachments: vec![AttachmentSource::FilePath { path: "notes.txt".into() }] };
    chat.run(message).await;
    let seen = log.take();
    let input = r#""user_input":{"text":"hi","attachments":[{"kind":"file","name":"notes.txt","size":11}]}"#;
    assert!(seen.iter().any(|line| line.contains(input)), "{seen:?}");
    insta::assert_snapshot!(host.model().heard(1), @r#"
    user: /secret what they meant
    user attaches "notes.txt": some notes
    "#);
}

/// D-11: a message that is aborted fails its turn before the model is asked, and is in no later request.
#[tokio::test]
async fn an_aborted_message_is_never_sent() {
    let guard = CodePlugin::new("guard").on(HookEvent::TurnStart, |payload| match payload.event {
        HookEventPayload::TurnStart(turn) if turn.user_input.text.contains("password") => abort("it holds a secret"),
        _ => Ok(HookOutcome::Continue),
    });
    let (host, chat) = Setup::new(YES).plugin(guard).chat().await;
    insta::assert_snapshot!(chat.run("my password is 1234").await, @r#"
    guard at TurnStart aborts: it holds a secret
    error HOOK_ABORTED: the plugin "guard" refused this message: it holds a secret
    turn failed: HOOK_ABORTED
    "#);
    assert_eq!(host.model().requests().len(), 0);
    chat.run("hello").await;
    assert_eq!(host.model().heard(1), "user: hello\n");
    insta::assert_snapshot!(chat.log().await, @r#"
    user: my password is 1234
    withheld: the plugin "guard" refused this message: it holds a secret
    user: hello
    assistant: Yes.
    "#);
}

/// D-11: an end cannot be vetoed, and the handlers after are asked all the same. Y3.6-1: whatever the end was.
#[tokio::test]
async fn an_end_cannot_be_vetoed() {
    let log = Log::default();
    let veto =
        CodePlugin::new("veto").on(HookEvent::TurnEnd, |_| abort("go on")).on(HookEvent::SessionEnd, |_| abort("stay"));
    let (host, chat) = Setup::new("replies: [{ say: [{ text: 'Good ' }, { text: bye. }] }]")
        .plugin(veto)
        .plugin(CodePlugin::new("log").noting(&log))
        .chat()
        .await;
    insta::assert_snapshot!(chat.run("hi").await, @r#"
    log at TurnStart continues
    step 1
    text "Good "
    text "bye."
    step 1 ends
    veto at TurnEnd continues
        warning: its abort is ignored, because TurnEnd cannot be vetoed; it said: go on
    log at TurnEnd continues
    turn completed
    "#);
    let failed = chat.run("and now?").await.to_string();
    assert!(failed.contains("log at TurnEnd continues"), "{failed}");
    let ends: Vec<TurnEnd> = log
        .take()
        .iter()
        .filter_map(|line| match serde_json::from_str::<HookPayload>(line).expect("a payload").event {
            HookEventPayload::TurnEnd(end) => Some(end),
            _ => None,
        })
        .collect();
    let said: Vec<_> = ends.iter().map(|end| end.assistant_output.as_str()).collect();
    assert_eq!(said, ["Good bye.", ""]);
    chat.session().close().await;
    host.agent.new_session(youyou::SessionOptions::default()).await.expect("the agent is free");
    insta::assert_snapshot!(chat.close().await, @"
    log at SessionStart continues
    veto at SessionEnd continues
        warning: its abort is ignored, because SessionEnd cannot be vetoed; it said: stay
    log at SessionEnd continues
    ");
}

/// Y6.2-4: a cancelled turn still asks its hooks; a call that waited for them is not started.
#[tokio::test]
async fn hooks_still_run_in_a_cancelled_turn() {
    let (gate, log) = (Gate::new(), Log::default());
    let slow = gate.clone();
    let waiting = CodePlugin::new("waiting").on_async(HookEvent::BeforeToolUse, move |_, _| {
        let slow = slow.clone();
        async move {
            slow.pass().await;
            Ok(HookOutcome::Continue)
        }
    });
    let setup = Setup::new(CALL).tool(echo()).plugin(waiting);
    let (_host, chat) = setup.plugin(CodePlugin::new("log").noting(&log)).chat().await;
    let mut running = chat.send("go").await;
    running.until(|kind| matches!(kind, AgentEventKind::ToolCallStart { .. })).await;
    gate.entered().await;
    chat.cancel();
    gate.open();
    insta::assert_snapshot!(running.end().await, @r#"
    log at TurnStart continues
    step 1
    step 1 ends
    call-1 echo starts with {"x":1}
    waiting at BeforeToolUse of call-1 continues
    log at BeforeToolUse of call-1 continues
    call-1 echo is skipped: [cancelled: this call was not started]
    log at TurnEnd continues
    turn cancelled
    "#);
    assert!(log.take().iter().any(|line| line.contains("TurnEnd")));
}

/// D-27: a second cancel stops a handler too.
#[tokio::test]
async fn a_second_cancel_stops_a_handler() {
    let gate = Gate::new();
    let entering = gate.clone();
    let deaf = CodePlugin::new("deaf").on_async(HookEvent::BeforeToolUse, move |_, context| {
        let gate = entering.clone();
        async move {
            gate.enter();
            context.cancel.cancelled().await;
            Err(Error::new(ErrorCode::HookFailed, "stopped half-way"))
        }
    });
    let (_host, chat) = Setup::new(CALL).tool(echo()).plugin(deaf).chat().await;
    let running = chat.send("go").await;
    gate.entered().await;
    chat.cancel();
    chat.cancel();
    let turn = running.end().await.to_string();
    assert!(turn.contains("warning: stopped half-way") && turn.ends_with("turn cancelled\n"), "{turn}");
}
