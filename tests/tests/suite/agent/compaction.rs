//! A context that grows too large is made shorter, and the conversation goes on (Y4.2, D-34 to D-37).

use futures_util::{StreamExt, stream};
use youyou::{AgentEventKind, ChatEvent, Entry, ErrorCode, StopReason, ToolOutput, Usage};
use youyou_tests::{
    World,
    agent::{Chat, CodeTool, Gate, Host, Model, Setup, Turn},
};

/// The model of the conversation holds a thousand tokens; another one writes the summaries.
const CONFIG: &str = "-- home/config.yaml\ndefault_model: small\ncompact_model: writer\n";

/// Some 300 tokens.
fn long(start: &str) -> String {
    format!("{start} {}", "word ".repeat(240).trim_end())
}

/// A model of that window that says each of these.
fn saying(window: u32, replies: &[&str]) -> Model {
    let replies: String = replies.iter().map(|reply| format!("  - {reply}\n")).collect();
    Model::replay(&format!("models: [{{ id: small, context_window: {window} }}]\nreplies:\n{replies}"))
}

/// The model that writes summaries.
fn writer(replies: &str) -> Model {
    Model::replay(&format!("provider: scribe\nmodels: [{{ id: writer }}]\n{replies}"))
}

fn setup(tree: &str, model: Model, writer: &Model) -> Setup {
    let setup = Setup::of(World::new(tree), model).model(writer.clone());
    setup.with(|agent| agent.base_instructions("Be brief."))
}

/// What was told of each compaction: the sizes before and after.
fn sizes(turn: &Turn) -> Vec<(u64, u64)> {
    let sizes = turn.kinds().filter_map(|kind| match kind {
        AgentEventKind::ContextCompacted { tokens_before, tokens_after, .. } => Some((*tokens_before, *tokens_after)),
        _ => None,
    });
    sizes.collect()
}

/// Two turns, the second of which goes past the threshold.
async fn outgrow(setup: Setup) -> (Host, Chat, Turn) {
    let (host, chat) = setup.chat().await;
    chat.run(long("first")).await;
    let turn = chat.run(long("second")).await;
    (host, chat, turn)
}

/// Two long answers.
fn talkative() -> Model {
    let answer = format!("{{ say: [{{ text: '{}' }}] }}", long("answer"));
    saying(1_000, &[&answer, "{ say: [{ text: Yes. }] }", "{ say: [{ text: Again. }] }"])
}

/// Y4.2-2, Y4.2-3, D-36: past the threshold, the beginning is summed up by compact_model as compact_prompt says.
#[tokio::test]
async fn past_the_threshold_the_beginning_is_summed_up() {
    let writer = writer("replies: [{ say: [{ text: They spoke of }, { text: ' words.' }] }]");
    let (host, chat, turn) = outgrow(setup(&format!("{CONFIG}compact_prompt: Sum it up."), talkative(), &writer)).await;
    insta::assert_snapshot!(turn, @r#"
    step 1
    compacted by summary
    text "Yes."
    step 1 ends
    turn completed
    "#);
    insta::assert_snapshot!(host.model().heard(2), @r#"
    user: [Summary of the conversation so far]
      They spoke of words.
      [End of the summary]
    user: second word word word word word word word word word word word word word word wor… (1206 bytes)
    "#);
    insta::assert_snapshot!(chat.log().await, @r#"
    user: first word word word word word word word word word word word word word word word… (1205 bytes)
    assistant: answer word word word word word word word word word word word word word word wor… (1206 bytes)
    user: second word word word word word word word word word word word word word word wor… (1206 bytes)
    compaction by summary, kept from entry 2: They spoke of words.
    assistant: Yes.
    "#);
    let [(before, after)] = sizes(&turn)[..] else { panic!("one compaction") };
    assert!(before > 800 && after < before / 2, "{before} to {after}");
    let entries = chat.session().entries().await;
    let stored = entries.iter().find_map(|entry| {
        if let Entry::Compaction { tokens_before, .. } = entry { Some(*tokens_before) } else { None }
    });
    assert_eq!(stored, Some(before));
    let [asked] = &writer.requests()[..] else { panic!("one summary") };
    assert_eq!((asked.system.as_str(), asked.tools.len()), ("Sum it up.", 0));
    let shown = format!("{:?}", asked.messages);
    assert!(shown.contains("first word") && shown.contains("answer word") && !shown.contains("second word"), "{shown}");
    assert_eq!(chat.run("more").await.text(), "Again.");
    assert_eq!(writer.requests().len(), 1, "there is room again");
}

/// Y4.2-3: without a compact_model, the session's own model is asked.
#[tokio::test]
async fn without_a_compact_model_the_sessions_own_writes_the_summary() {
    let answer = format!("{{ say: [{{ text: '{}' }}] }}", long("answer"));
    let summary = "{ when: { user: { contains: write the summary } }, say: [{ text: They spoke of words. }] }";
    let model = saying(1_000, &[summary, &answer, "{ say: [{ text: Yes. }] }"]);
    let setup = Setup::of(World::new(""), model).with(|agent| agent.base_instructions("Be brief."));
    let (host, _chat, turn) = outgrow(setup).await;
    insta::assert_snapshot!(turn, @r#"
    step 1
    compacted by summary
    text "Yes."
    step 1 ends
    turn completed
    "#);
    assert!(host.model().heard(3).contains("They spoke of words."));
}

/// D-37: what the provider reports counts, where an estimate would still see room.
#[tokio::test]
async fn the_reported_size_counts() {
    let full = "{ say: [{ text: Hm. }, { done: { usage: { input_tokens: 890, output_tokens: 2 } } }] }";
    let writer = writer("replies: [{ say: [{ text: Words. }] }]");
    let model = saying(1_000, &[full, "{ say: [{ text: Yes. }] }"]);
    let (_host, _chat, turn) = outgrow(setup(CONFIG, model, &writer)).await;
    let [(before, after)] = sizes(&turn)[..] else { panic!("one compaction: {turn}") };
    assert!(before > 1_100 && after < 400, "{before} to {after}");
}

/// Y4.2-3, D-35: whatever is wrong with the summary, the beginning is left out and the turn goes on.
#[tokio::test(start_paused = true)]
async fn without_a_summary_the_beginning_is_left_out() {
    let too_long = format!("replies: [{{ say: [{{ text: '{}' }}] }}]", long("and").repeat(3));
    let scripted = [
        "replies: [{ say: [{ error: { kind: auth, message: no key } }] }]",
        "replies: [{ say: [{ text: Half a summ }, cut] }]",
        "replies: [{ say: [{ text: ' ' }] }]",
        "replies: [{ say: [{ text: I cannot help with that. }, { done: { stop: refused } }] }]",
        &too_long,
    ];
    let panics = Model::in_code("writer", |_, _| panic!("no summary today"));
    let late = Model::in_code("writer", |_, _| stream::poll_fn(|_| panic!("no summary either")).boxed());
    for writer in scripted.map(writer).into_iter().chain([panics, late]) {
        let (host, chat, turn) = outgrow(setup(CONFIG, talkative(), &writer)).await;
        assert_eq!(writer.requests().len(), 1);
        insta::allow_duplicates! {
            insta::assert_snapshot!(turn, @r#"
            step 1
            compacted by truncation
            text "Yes."
            step 1 ends
            turn completed
            "#);
            insta::assert_snapshot!(host.model().heard(2), @r#"
            user: [The beginning of this conversation was left out to make room.]
            user: second word word word word word word word word word word word word word word wor… (1206 bytes)
            "#);
        }
        assert_eq!(chat.run("more").await.text(), "Again.");
    }
}

/// Y4.2-2, second trigger: the provider finds the request too long, whatever its window is said to be.
#[tokio::test]
async fn a_request_that_the_provider_finds_too_long_is_made_shorter_and_sent_again() {
    let too_long = "{ say: [{ error: { kind: context_length, message: 'prompt is too long: 300000 tokens' } }] }";
    let model = saying(200_000, &["{ say: [{ text: Hm. }] }", too_long, "{ say: [{ text: Yes. }] }"]);
    let writer = writer("replies: [{ say: [{ text: Words. }] }]");
    let (host, _chat, turn) = outgrow(setup(CONFIG, model, &writer)).await;
    insta::assert_snapshot!(turn, @r#"
    step 1
    compacted by summary
    text "Yes."
    step 1 ends
    turn completed
    "#);
    insta::assert_snapshot!(host.model().heard(3), @r#"
    user: [Summary of the conversation so far]
      Words.
      [End of the summary]
    user: second word word word word word word word word word word word word word word wor… (1206 bytes)
    "#);
}

/// D-34: once for a request; what is still too long then ends the turn, and the next turn can go on.
#[tokio::test]
async fn a_request_still_too_long_ends_the_turn() {
    let too_long = "{ say: [{ error: { kind: context_length, message: prompt is too long } }] }";
    let model = saying(200_000, &["{ say: [{ text: Hm. }] }", too_long, too_long, "{ say: [{ text: Yes. }] }"]);
    let writer = writer("replies: [{ say: [{ text: Words. }] }]");
    let (_host, chat, turn) = outgrow(setup(CONFIG, model, &writer)).await;
    insta::assert_snapshot!(turn, @r#"
    step 1
    compacted by summary
    step 1 ends
    error COMPACT_ERROR: the request is still too long for the model after its context was made shorter: prompt is too long
    turn failed: COMPACT_ERROR
    "#);
    assert_eq!(chat.run("hi").await.text(), "Yes.");
}

/// D-34: where nothing can be left out, the turn ends at once.
#[tokio::test]
async fn a_first_message_too_long_ends_the_turn() {
    let too_long = "{ say: [{ error: { kind: context_length, message: prompt is too long } }] }";
    let model = saying(200_000, &[too_long, "{ say: [{ text: Yes. }] }"]);
    let (host, chat) = Setup::of(World::new(""), model).chat().await;
    let turn = chat.run("hi").await;
    insta::assert_snapshot!(turn, @r#"
    step 1
    step 1 ends
    error COMPACT_ERROR: the request is too long for the model, and nothing of the conversation can be left out
    turn failed: COMPACT_ERROR
    "#);
    assert_eq!((turn.failure().code, turn.failure().retryable), (ErrorCode::CompactError, false));
    assert_eq!(host.model().requests().len(), 1);
    assert_eq!(chat.run("hi").await.text(), "Yes.");
}

/// D-33: an overflow that is told after the first piece is a failure like any other.
#[tokio::test]
async fn an_overflow_after_the_first_piece_is_a_failure() {
    let late = "{ say: [{ text: I was }, { error: { kind: context_length, message: the answer does not fit } }] }";
    let (_host, chat) = Setup::of(World::new(""), saying(200_000, &[late])).chat().await;
    insta::assert_snapshot!(chat.run("hi").await, @r#"
    step 1
    text "I was"
    step 1 ends
    error PROVIDER_ERROR context_length: the answer does not fit
    turn failed: PROVIDER_ERROR
    "#);
}

/// Y6.2-4: a cancel while the summary is written leaves everything as it was.
#[tokio::test]
async fn a_cancel_while_the_summary_is_written_leaves_nothing_out() {
    let gate = Gate::new();
    let held = gate.clone();
    let writer = Model::in_code("writer", move |_, _| {
        let held = held.clone();
        let text = ChatEvent::TextDelta { text: "Words.".into() };
        let done = ChatEvent::Done { usage: Usage::default(), stop: StopReason::End };
        let start = stream::once(async move {
            held.pass().await;
            Ok(text)
        });
        start.chain(stream::iter([Ok(done)])).boxed()
    });
    let (host, chat) = setup(CONFIG, talkative(), &writer).chat().await;
    chat.run(long("first")).await;
    let running = chat.send(long("second")).await;
    gate.entered().await;
    chat.cancel();
    insta::assert_snapshot!(running.end().await, @r#"
    step 1
    step 1 ends
    turn cancelled
    "#);
    assert_eq!(host.model().requests().len(), 1, "nothing more was asked");
    assert!(!chat.log().await.contains("compaction"), "{}", chat.log().await);
    gate.open();
    let turn = chat.run("third").await;
    assert_eq!((turn.text().as_str(), sizes(&turn).len()), ("Yes.", 1), "{turn}");
}

/// D-35: a tool result larger than the window is cut in what is sent; the log keeps it.
#[tokio::test]
async fn a_result_larger_than_the_window_is_cut() {
    let model = saying(2_000, &["{ say: [{ call: { tool_name: print } }] }", "{ say: [{ text: Long. }] }"]);
    let print = CodeTool::new("print", |_, _| std::future::ready(Ok(ToolOutput::text("0123456789".repeat(4_000)))));
    let setup = Setup::of(World::new(""), model).with(|agent| agent.base_instructions("Be brief.")).tool(print);
    let (host, chat) = setup.chat().await;
    let turn = chat.run("go").await;
    insta::assert_snapshot!(turn, @r#"
    step 1
    step 1 ends
    call-1 print starts with {}
    call-1 print succeeds: 01234567890123456789012345678901234567890123456789012345678901234567890123456789… (40000 bytes)
    step 2
    compacted by truncation
    text "Long."
    step 2 ends
    turn completed
    "#);
    insta::assert_snapshot!(host.model().heard(2), @r#"
    user: go
    assistant calls call-1 print: {}
    result of call-1 print: 01234567890123456789012345678901234567890123456789012345678901234567890123456789… (2080 bytes)
    "#);
    let entries = chat.session().entries().await;
    assert!(entries.iter().any(|entry| matches!(entry, Entry::ToolResult { content, .. } if content.len() == 40_000)));
}

/// After three rounds in a row that saved next to nothing, the first of which had nothing to leave out, no further one
/// is begun, though each request is past the threshold.
#[tokio::test]
async fn useless_rounds_come_to_an_end() {
    let calls = ["{ say: [{ call: { tool_name: tick } }] }"; 6];
    let model = saying(1_400, &[&calls[..], &["{ say: [{ text: Done. }] }"]].concat());
    let writer = writer("replies: [{ repeat: true, say: [{ error: { kind: auth, message: no key } }] }]");
    let setup = setup(CONFIG, model, &writer).tool(CodeTool::answering("tick", "tock"));
    let (_host, chat) = setup.chat().await;
    let turn = chat.run("word ".repeat(900)).await;
    assert_eq!(turn.text(), "Done.");
    assert_eq!(turn.kinds().filter(|kind| matches!(kind, AgentEventKind::StepStart { .. })).count(), 7);
    let sizes = sizes(&turn);
    assert!(sizes.len() == 2 && sizes.iter().all(|(_, after)| *after > 1_400 * 8 / 10), "{sizes:?}");
    assert_eq!(writer.requests().len(), 2);
}
