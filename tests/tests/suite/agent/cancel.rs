//! The user cancels: what is kept, what is told, and that the conversation goes on (Y6.2-4, D-22 to D-27).

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures_util::{StreamExt, future::poll_immediate, stream};
use youyou::{AgentEventKind, ChatEvent, Error, ErrorCode, ToolFailure, ToolOutput};
use youyou_tests::{
    World,
    agent::{CodeTool, Gate, Model, Setup},
};

const SLOW_AND_B: &str = "
replies:
  - say:
      - call: { tool_name: slow }
      - call: { tool_name: b }
  - say: [{ text: Hello. }]
";

/// K-01, Y6.2-4, D-24: what runs is waited for, what waits is skipped, and the conversation goes on.
#[tokio::test]
async fn a_running_tool_is_waited_for_and_the_next_one_is_not_started() {
    let gate = Gate::new();
    let setup = Setup::new(SLOW_AND_B).tool(gate.tool("slow", "moved").mutating());
    let (host, chat) = setup.tool(CodeTool::answering("b", "never")).chat().await;
    let mut running = chat.send("go").await;
    running.until(|kind| matches!(kind, AgentEventKind::ToolCallStart { .. })).await;
    gate.entered().await;
    chat.cancel();
    gate.open();
    insta::assert_snapshot!(running.end().await, @r#"
    step 1
    step 1 ends
    call-1 slow starts with {}
    call-1 slow succeeds: moved
    call-2 b starts with {}
    call-2 b is skipped: [cancelled: this call was not started]
    turn cancelled
    "#);
    insta::assert_snapshot!(chat.run("hi").await, @r#"
    step 1
    text "Hello."
    step 1 ends
    turn completed
    "#);
    insta::assert_snapshot!(host.model().heard(2), @r#"
    user: go
    assistant calls call-1 slow: {}
    assistant calls call-2 b: {}
    result of call-1 slow: moved
    failure of call-2 b: [cancelled: this call was not started]
    user: hi
    "#);
}

/// Y6.2-4: a read-only batch that runs is waited for as a whole.
#[tokio::test]
async fn running_read_only_tools_are_waited_for() {
    let gate = Gate::new();
    let setup = Setup::new(SLOW_AND_B).tool(gate.tool("slow", "read"));
    let (_host, chat) = setup.tool(gate.tool("b", "read too")).chat().await;
    let running = chat.send("go").await;
    gate.entered().await;
    chat.cancel();
    gate.open();
    gate.open();
    insta::assert_snapshot!(running.end().await, @r#"
    step 1
    step 1 ends
    call-1 slow starts with {}
    call-2 b starts with {}
    call-1 slow succeeds: read
    call-2 b succeeds: read too
    turn cancelled
    "#);
}

/// D-27: the second cancel stops a tool that listens, and the tool's own words are the result.
#[tokio::test]
async fn a_second_cancel_stops_a_tool_that_listens() {
    let gate = Gate::new();
    let held = gate.clone();
    let slow = CodeTool::new("slow", move |_, context| {
        let held = held.clone();
        async move {
            tokio::select! {
                () = context.cancel.cancelled() => {
                    Err(Error::new(ErrorCode::RequestCancelled, "stopped half-way").into())
                }
                () = held.pass() => Ok(ToolOutput::text("never")),
            }
        }
    });
    let (_host, chat) =
        Setup::new(SLOW_AND_B).tool(slow.mutating()).tool(CodeTool::answering("b", "never")).chat().await;
    let running = chat.send("go").await;
    gate.entered().await;
    chat.cancel();
    chat.cancel();
    insta::assert_snapshot!(running.end().await, @r#"
    step 1
    step 1 ends
    call-1 slow starts with {}
    call-1 slow fails: stopped half-way
    call-2 b starts with {}
    call-2 b is skipped: [cancelled: this call was not started]
    turn cancelled
    "#);
    assert_eq!(chat.run("hi").await.text(), "Hello.");
}

/// D-27: one that does not listen is given up after a grace; what it has done is unknown.
#[tokio::test(start_paused = true)]
async fn a_second_cancel_gives_up_a_tool_that_does_not_listen() {
    let gate = Gate::new();
    let setup = Setup::new(SLOW_AND_B).tool(gate.tool("slow", "never").mutating());
    let (_host, chat) = setup.tool(CodeTool::answering("b", "never")).chat().await;
    let running = chat.send("go").await;
    gate.entered().await;
    chat.cancel();
    chat.cancel();
    insta::assert_snapshot!(running.end().await, @r#"
    step 1
    step 1 ends
    call-1 slow starts with {}
    call-1 slow fails: tool "slow" was cancelled while it ran and did not stop; what it has done is unknown
    call-2 b starts with {}
    call-2 b is skipped: [cancelled: this call was not started]
    turn cancelled
    "#);
    assert_eq!(chat.run("hi").await.text(), "Hello.");
}

/// D-25, D-26: text and whole calls stay, half a call goes, reasoning stays in the log only; a notice follows.
#[tokio::test]
async fn what_the_model_had_said_is_kept() {
    let replies = r#"
replies:
  - say:
      - reasoning: Where to begin?
      - signature: s
      - fragment: { index: 0, call_id: x, tool_name: read, arguments: '{"path":"a"}' }
      - fragment: { index: 1, call_id: y, tool_name: read, arguments: '{"path":' }
      - call: { tool_name: read, arguments: { path: c } }
      - text: I was about to
      - delay_ms: 3600000
      - text: never said
  - say: [{ text: Hello. }]
"#;
    let (host, chat) = Setup::new(replies).tool(CodeTool::answering("read", "never")).chat().await;
    let mut running = chat.send("go").await;
    running.until_text("I was about to").await;
    chat.cancel();
    insta::assert_snapshot!(running.end().await, @r#"
    step 1
    reasoning "Where to begin?"
    text "I was about to"
    step 1 ends
    call-1 read starts with {"path":"a"}
    call-1 read is skipped: [cancelled: this call was not started]
    call-2 read starts with {"path":"c"}
    call-2 read is skipped: [cancelled: this call was not started]
    turn cancelled
    "#);
    insta::assert_snapshot!(chat.log().await, @r#"
    user: go
    assistant thinks (signed): Where to begin?
    assistant calls call-1 read: {"path":"a"}
    assistant calls call-2 read: {"path":"c"}
    assistant: I was about to
      (incomplete)
    failure of call-1 read: [cancelled: this call was not started]
    failure of call-2 read: [cancelled: this call was not started]
    notice: [此消息因用户取消而中断]
    "#);
    insta::assert_snapshot!(chat.run("hi").await, @r#"
    step 1
    text "Hello."
    step 1 ends
    turn completed
    "#);
    insta::assert_snapshot!(host.model().heard(2), @r#"
    user: go
    assistant calls call-1 read: {"path":"a"}
    assistant calls call-2 read: {"path":"c"}
    assistant: I was about to
    failure of call-1 read: [cancelled: this call was not started]
    failure of call-2 read: [cancelled: this call was not started]
    notice: [此消息因用户取消而中断]
    user: hi
    "#);
}

/// D-26: where nothing had been said, the notice alone is kept, whether the model was asked already or not.
#[tokio::test]
async fn a_turn_cancelled_before_the_first_word_leaves_a_notice() {
    let replies = "
replies:
  - { when: { user: { is: go } }, say: [{ delay_ms: 3600000 }] }
  - { when: { user: { is: hi } }, say: [{ text: Hello. }] }
";
    for asked in [1, 0] {
        let (host, chat) = Setup::new(replies).chat().await;
        let mut running = chat.send("go").await;
        if asked > 0 {
            running.until(|kind| matches!(kind, AgentEventKind::StepStart { .. })).await;
        }
        chat.cancel();
        let cancelled = running.end().await;
        assert_eq!(host.model().requests().len(), asked);
        chat.run("hi").await;
        insta::allow_duplicates! {
            insta::assert_snapshot!(cancelled, @r#"
            step 1
            step 1 ends
            turn cancelled
            "#);
            insta::assert_snapshot!(host.model().heard(asked + 1), @r#"
            user: go
            notice: [此消息因用户取消而中断]
            user: hi
            "#);
        }
    }
}

/// Y3.2-3: a provider that takes no notice of being cancelled does not keep the turn.
#[tokio::test]
async fn a_provider_that_does_not_listen_is_left() {
    let model = Model::in_code("deaf", |_, _| {
        let first = ChatEvent::TextDelta { text: "I".into() };
        stream::iter([Ok(first)]).chain(stream::pending()).boxed()
    });
    let (_host, chat) = Setup::of(World::new(""), model).chat().await;
    let mut running = chat.send("go").await;
    running.until_text("I").await;
    chat.cancel();
    insta::assert_snapshot!(running.end().await, @r#"
    step 1
    text "I"
    step 1 ends
    turn cancelled
    "#);
}

/// D-22: cancelling first means that no failure is told, even if the provider fails while it stops.
#[tokio::test]
async fn a_failure_after_the_cancel_is_not_told() {
    let gate = Gate::new();
    let held = gate.clone();
    let failing = CodeTool::new("slow", move |_, _| {
        let held = held.clone();
        async move {
            held.pass().await;
            Err(ToolFailure::Fatal(Error::new(ErrorCode::ToolExecutionError, "the disk is gone")))
        }
    });
    let (_host, chat) =
        Setup::new(SLOW_AND_B).tool(failing.mutating()).tool(CodeTool::answering("b", "never")).chat().await;
    let running = chat.send("go").await;
    gate.entered().await;
    chat.cancel();
    gate.open();
    insta::assert_snapshot!(running.end().await, @r#"
    step 1
    step 1 ends
    call-1 slow starts with {}
    call-1 slow fails: [this call broke off, and what it has done is unknown: the disk is gone]
    call-2 b starts with {}
    call-2 b is skipped: [not started: the turn had ended by a failure before]
    turn cancelled
    "#);
    assert_eq!(chat.run("hi").await.text(), "Hello.");
}

/// D-22: after the end there is nothing to cancel, and the next turn is not touched.
#[tokio::test]
async fn cancelling_after_the_end_does_nothing() {
    let (_host, chat) = Setup::new("replies: [{ repeat: true, say: [{ text: Yes. }] }]").chat().await;
    chat.cancel();
    for message in ["a", "b"] {
        let turn = chat.run(message).await;
        assert_eq!(turn.text(), "Yes.", "{turn}");
        chat.cancel();
        chat.cancel();
    }
    assert_eq!(chat.log().await, "user: a\nassistant: Yes.\nuser: b\nassistant: Yes.\n");
}

/// D-33, Y6.2-4: a pause before another try is no obstacle.
#[tokio::test(start_paused = true)]
async fn a_pause_before_a_retry_ends_with_the_cancel() {
    let replies = "
replies:
  - say: [{ error: { kind: overloaded, message: busy, retry_after_ms: 59000 } }]
  - say: [{ text: Hello. }]
";
    let (host, chat) = Setup::new(replies).chat().await;
    let mut running = chat.send("go").await;
    running.until(|kind| matches!(kind, AgentEventKind::Retry { .. })).await;
    chat.cancel();
    insta::assert_snapshot!(running.end().await, @r#"
    step 1
    retry 1 after 59000 ms: PROVIDER_ERROR overloaded: busy
    step 1 ends
    turn cancelled
    "#);
    assert_eq!(host.model().requests().len(), 1);
    assert_eq!(chat.run("hi").await.text(), "Hello.");
}

/// Y6.2-5: closing cancels the turn and waits for what runs; the agent is free then.
#[tokio::test]
async fn closing_waits_for_the_tool_that_runs() {
    let gate = Gate::new();
    let setup = Setup::new(SLOW_AND_B).tool(gate.tool("slow", "moved").mutating());
    let (host, chat) = setup.tool(CodeTool::answering("b", "never")).chat().await;
    let running = chat.send("go").await;
    gate.entered().await;
    chat.cancel();
    let (turn, ()) = tokio::join!(running.end(), async {
        let close = chat.session().close();
        let mut close = std::pin::pin!(close);
        let early = poll_immediate(&mut close).await;
        assert_eq!(early, None, "the tool runs");
        assert_eq!(chat.refused("hi").await.code, ErrorCode::SessionNotFound);
        gate.open();
        close.await;
    });
    insta::assert_snapshot!(turn, @r#"
    step 1
    step 1 ends
    call-1 slow starts with {}
    call-1 slow succeeds: moved
    call-2 b starts with {}
    call-2 b is skipped: [cancelled: this call was not started]
    turn cancelled
    "#);
    host.chat().await;
}

/// D-22: whenever the cancel comes, a turn has one end, every call its result, and the next message is taken at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancels_from_another_thread_break_nothing() {
    let replies = "
replies:
  - when: { user: {} }
    repeat: true
    say: [{ text: I look. }, { call: { tool_name: look } }, { call: { tool_name: change } }, { call: { tool_name: look } }]
  - { repeat: true, say: [{ text: Seen. }] }
";
    let setup = Setup::new(replies).tool(CodeTool::answering("look", "seen"));
    let (_host, chat) = setup.tool(CodeTool::answering("change", "changed").mutating()).chat().await;
    let turns_run = Arc::new(AtomicBool::new(true));
    let canceller = tokio::spawn({
        let (session, turns_run) = (chat.session().clone(), turns_run.clone());
        async move {
            for patience in (0..40).cycle() {
                for _ in 0..patience {
                    tokio::task::yield_now().await;
                }
                session.cancel();
                if !turns_run.load(Ordering::Relaxed) {
                    break;
                }
            }
        }
    });
    for _ in 0..300 {
        chat.run("look").await;
    }
    turns_run.store(false, Ordering::Relaxed);
    canceller.await.expect("no panic");
    assert!(chat.run("look").await.text().ends_with("Seen."));
}
