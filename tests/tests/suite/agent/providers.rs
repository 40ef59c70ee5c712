//! Providers that fail: what is tried again, what ends the turn, and what is kept (D-33, D-25, D-26).

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{StreamExt, stream};
use youyou::{ChatEvent, ChatStream, ErrorCode, ErrorSource, ProviderError, StopReason, Usage};
use youyou_tests::{
    World,
    agent::{Chat, CodeTool, Host, Model, Setup},
};

async fn chat_with(model: Model) -> (Host, Chat) {
    Setup::of(World::new(""), model).chat().await
}

fn says(text: &str) -> Vec<Result<ChatEvent, ProviderError>> {
    let done = ChatEvent::Done { usage: Usage::default(), stop: StopReason::End };
    vec![Ok(ChatEvent::TextDelta { text: text.to_owned() }), Ok(done)]
}

/// A provider in code whose first answer is this one; after it, it says hello.
fn first(odd: impl Fn() -> ChatStream + Send + Sync + 'static) -> Model {
    let count = AtomicUsize::new(0);
    Model::in_code("odd", move |_, _| match count.fetch_add(1, Ordering::Relaxed) {
        0 => odd(),
        _ => stream::iter(says("Hello.")).boxed(),
    })
}

/// K-22: a provider that always wants to be asked at once is asked ever later, and then no more.
#[tokio::test(start_paused = true)]
async fn retries_grow_apart_and_come_to_an_end() {
    let replies =
        "replies: [{ repeat: true, say: [{ error: { kind: rate_limit, message: slow down, retry_after_ms: 0 } }] }]";
    let (host, chat) = Setup::new(replies).chat().await;
    let start = tokio::time::Instant::now();
    let turn = chat.run("hi").await;
    insta::assert_snapshot!(turn, @r#"
    step 1
    retry 1 after 500 ms: PROVIDER_ERROR rate_limit: slow down
    retry 2 after 1000 ms: PROVIDER_ERROR rate_limit: slow down
    retry 3 after 2000 ms: PROVIDER_ERROR rate_limit: slow down
    step 1 ends
    error PROVIDER_ERROR rate_limit: slow down
    turn failed: PROVIDER_ERROR
    "#);
    assert_eq!(start.elapsed().as_millis() / 100, 35, "the pauses are kept");
    assert_eq!(host.model().requests().len(), 4);
    assert!(turn.failure().retryable && turn.failure().origin == ErrorSource::Provider);
}

/// K-24: a rate limit that speaks of tokens is a rate limit: it is waited for, and nothing is left out.
#[tokio::test(start_paused = true)]
async fn a_rate_limit_in_tokens_is_no_context_overflow() {
    let replies = "
replies:
  - say: [{ text: Hello. }]
  - say:
      - error: { kind: rate_limit, message: 'the limit of 30000 input tokens per minute is reached', retry_after_ms: 2500 }
  - say: [{ text: Yes. }]
";
    let (host, chat) = Setup::new(replies).chat().await;
    chat.run("hi").await;
    insta::assert_snapshot!(chat.run("still there?").await, @r#"
    step 1
    retry 1 after 2500 ms: PROVIDER_ERROR rate_limit: the limit of 30000 input tokens per minute is reached
    text "Yes."
    step 1 ends
    turn completed
    "#);
    assert_eq!(host.model().requests()[1], host.model().requests()[2], "the same request again");
}

/// D-33: a provider that asks for an hour is not waited for.
#[tokio::test(start_paused = true)]
async fn a_pause_too_long_is_a_failure_now() {
    let replies =
        "replies: [{ say: [{ error: { kind: rate_limit, message: come back later, retry_after_ms: 3600000 } }] }]";
    let (_host, chat) = Setup::new(replies).chat().await;
    insta::assert_snapshot!(chat.run("hi").await, @r#"
    step 1
    step 1 ends
    error PROVIDER_ERROR rate_limit: come back later
    turn failed: PROVIDER_ERROR
    "#);
}

/// D-33, D-25, D-26: what has been shown is not said twice; it is kept as incomplete, and a notice follows.
#[tokio::test]
async fn an_answer_that_broke_off_is_kept_and_not_tried_again() {
    let replies = r#"
replies:
  - say:
      - reasoning: Hm.
      - text: I was
      - fragment: { index: 0, call_id: x, tool_name: read, arguments: '{}' }
      - error: { kind: network, message: connection reset }
  - say: [{ text: Hello. }]
"#;
    let (host, chat) = Setup::new(replies).tool(CodeTool::answering("read", "never")).chat().await;
    let turn = chat.run("go").await;
    insta::assert_snapshot!(turn, @r#"
    step 1
    reasoning "Hm."
    text "I was"
    step 1 ends
    call-1 read starts with {}
    call-1 read is skipped: [not started: the answer with this call broke off]
    error PROVIDER_ERROR network: connection reset
    turn failed: PROVIDER_ERROR
    "#);
    assert_eq!(turn.failure().code, ErrorCode::ProviderError);
    insta::assert_snapshot!(chat.log().await, @r#"
    user: go
    assistant thinks: Hm.
    assistant: I was
    assistant calls call-1 read: {}
      (incomplete)
    failure of call-1 read: [not started: the answer with this call broke off]
    notice: [此消息因异常中断]
    "#);
    assert_eq!(chat.run("hi").await.text(), "Hello.");
    insta::assert_snapshot!(host.model().heard(2), @r#"
    user: go
    assistant: I was
    assistant calls call-1 read: {}
    failure of call-1 read: [not started: the answer with this call broke off]
    notice: [此消息因异常中断]
    user: hi
    "#);
}

/// D-33: a stream that just ends has not said that it is complete: before its first piece it is tried again, after it
/// the turn fails.
#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_without_being_done_is_a_network_failure() {
    let replies = "
replies:
  - say: [cut]
  - say: [{ text: I was }, cut]
  - say: [{ text: Hello. }]
";
    let (_host, chat) = Setup::new(replies).chat().await;
    insta::assert_snapshot!(chat.run("go").await, @r#"
    step 1
    retry 1 after 500 ms: PROVIDER_ERROR network: the model's answer ended without saying that it was complete
    text "I was"
    step 1 ends
    error PROVIDER_ERROR network: the model's answer ended without saying that it was complete
    turn failed: PROVIDER_ERROR
    "#);
    assert_eq!(chat.run("hi").await.text(), "Hello.");
}

/// D-33: what cannot succeed later is told at once, by its kind.
#[tokio::test]
async fn a_failure_that_will_not_pass_is_told_at_once() {
    for kind in ["auth", "invalid_request", "unsupported_content", "other"] {
        let replies = format!(
            "replies: [{{ say: [{{ error: {{ kind: {kind}, message: no }} }}] }}, {{ say: [{{ text: Hello. }}] }}]"
        );
        let (host, chat) = Setup::new(&replies).chat().await;
        let turn = chat.run("go").await;
        let failure = turn.failure();
        assert_eq!((failure.code, failure.kind(), failure.retryable), (ErrorCode::ProviderError, Some(kind), false));
        assert_eq!(host.model().requests().len(), 1, "{kind}");
        assert_eq!(chat.run("hi").await.text(), "Hello.");
    }
}

/// A panic of a provider is a failed turn, wherever it happens; the session goes on.
#[tokio::test]
async fn a_provider_that_panics_fails_the_turn() {
    let (_host, chat) = chat_with(first(|| panic!("no key in {:?}", "config"))).await;
    insta::assert_snapshot!(chat.run("go").await, @r#"
    step 1
    step 1 ends
    error PROVIDER_ERROR other: the model provider panicked: no key in "config"
    turn failed: PROVIDER_ERROR
    "#);
    assert_eq!(chat.run("hi").await.text(), "Hello.");

    let in_stream = || {
        let start = stream::iter([Ok(ChatEvent::TextDelta { text: "I was".into() })]);
        start.chain(stream::poll_fn(|_| panic!("unexpected end of JSON"))).boxed()
    };
    let (_host, chat) = chat_with(first(in_stream)).await;
    insta::assert_snapshot!(chat.run("go").await, @r#"
    step 1
    text "I was"
    step 1 ends
    error PROVIDER_ERROR other: the model provider panicked: unexpected end of JSON
    turn failed: PROVIDER_ERROR
    "#);
    insta::assert_snapshot!(chat.log().await, @r#"
    user: go
    assistant: I was
      (incomplete)
    notice: [此消息因异常中断]
    "#);
    assert_eq!(chat.run("hi").await.text(), "Hello.");
}

/// D-29: an answer that the provider would not finish is kept, and the user is told.
#[tokio::test]
async fn a_refusal_to_go_on_is_remarked() {
    let replies = "replies: [{ say: [{ text: I ca }, { done: { stop: refused } }] }, { say: [{ text: Hello. }] }]";
    let (_host, chat) = Setup::new(replies).chat().await;
    insta::assert_snapshot!(chat.run("go").await, @r#"
    step 1
    text "I ca"
    step 1 ends
    remark PROVIDER_ERROR: the model's provider refused to go on with this answer
    turn completed
    "#);
    chat.run("hi").await;
    insta::assert_snapshot!(chat.log().await, @r#"
    user: go
    assistant: I ca
    user: hi
    assistant: Hello.
    "#);
}

/// What comes after the end does not count, and is not waited for.
#[tokio::test]
async fn what_a_provider_says_after_the_end_does_not_count() {
    let more = || stream::iter([says("One."), says("Two.")].concat()).chain(stream::pending()).boxed();
    let (_host, chat) = chat_with(first(more)).await;
    assert_eq!(chat.run("go").await.text(), "One.");
    insta::assert_snapshot!(chat.log().await, @r#"
    user: go
    assistant: One.
    "#);
}

/// A failure in a later step keeps the steps before it.
#[tokio::test]
async fn a_failure_after_a_tool_call_keeps_its_result() {
    let replies = "
replies:
  - say: [{ call: { tool_name: read } }]
  - say: [{ error: { kind: auth, message: the key has expired } }]
  - say: [{ text: Hello. }]
";
    let (host, chat) = Setup::new(replies).tool(CodeTool::answering("read", "text")).chat().await;
    insta::assert_snapshot!(chat.run("go").await, @r#"
    step 1
    step 1 ends
    call-1 read starts with {}
    call-1 read succeeds: text
    step 2
    step 2 ends
    error PROVIDER_ERROR auth: the key has expired
    turn failed: PROVIDER_ERROR
    "#);
    chat.run("hi").await;
    insta::assert_snapshot!(host.model().heard(3), @r#"
    user: go
    assistant calls call-1 read: {}
    result of call-1 read: text
    notice: [此消息因异常中断]
    user: hi
    "#);
}

/// Y3.2-1: a model that cannot ask for tools is sent none.
#[tokio::test]
async fn a_model_without_tools_is_sent_none() {
    let replies = "
models: [{ id: plain, capabilities: { tool_use: false } }]
replies: [{ say: [{ text: Hello. }] }]
";
    let (host, chat) = Setup::new(replies).tool(CodeTool::answering("read", "text")).chat().await;
    chat.run("hi").await;
    assert_eq!(host.model().requests()[0].tools, []);
}

/// D-73: a provider that does not take an image after all costs that message, not the conversation.
#[tokio::test]
async fn a_message_that_the_provider_does_not_take_is_left_out_of_later_requests() {
    let replies = "
replies:
  - say: [{ error: { kind: unsupported_content, message: no images here } }]
  - say: [{ text: Hello. }]
";
    let (host, chat) = Setup::new(replies).chat().await;
    insta::assert_snapshot!(chat.run("look at this").await, @"
    step 1
    step 1 ends
    error PROVIDER_ERROR unsupported_content: no images here; the message is left out of the conversation: send it again without what is refused
    turn failed: PROVIDER_ERROR
    ");
    chat.run("hi").await;
    assert_eq!(host.model().heard(2), "user: hi\n");
}
