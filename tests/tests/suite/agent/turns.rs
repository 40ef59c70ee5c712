//! Turns that go well: what is told of them, what the model is sent, and in which order tools run.

use std::sync::Arc;

use tokio::sync::Barrier;
use youyou::{Sampling, SessionOptions, ToolOutput};
use youyou_tests::{
    World,
    agent::{CodeTool, Gate, Model, Setup, Turn},
    example,
};

/// Y4.1-2, Y6.2-3, Y7-2: pieces are told as they come; the next turn builds on this one.
#[tokio::test]
async fn a_plain_turn_is_told_piece_by_piece_and_remembered() {
    let replies = "
replies:
  - say:
      - reasoning: A greet
      - reasoning: ing.
      - text: Good
      - text: ' day.'
      - done: { usage: { input_tokens: 40, output_tokens: 4 } }
  - say: [{ text: Yes. }]
";
    let (host, chat) = Setup::new(replies).chat().await;
    insta::assert_snapshot!(chat.run("hello").await, @r#"
    step 1
    reasoning "A greet"
    reasoning "ing."
    text "Good"
    text " day."
    step 1 ends: 40 tokens read, 4 written
    turn completed
    "#);
    insta::assert_snapshot!(chat.run("still there?").await, @r#"
    step 1
    text "Yes."
    step 1 ends
    turn completed
    "#);
    insta::assert_snapshot!(host.model().heard(2), @r#"
    user: hello
    assistant: Good day.
    user: still there?
    "#);
    insta::assert_snapshot!(chat.log().await, @r#"
    user: hello
    assistant thinks: A greeting.
    assistant: Good day.
    user: still there?
    assistant: Yes.
    "#);
}

/// Y3.2-2: an answer of nothing is an answer; nothing empty is sent later.
#[tokio::test]
async fn a_model_may_have_nothing_to_say() {
    let (host, chat) =
        Setup::new("replies: [{ say: [] }, { say: [{ text: ' ' }] }, { say: [{ text: Hi. }] }]").chat().await;
    for message in ["one", "two", "three"] {
        chat.run(message).await;
    }
    insta::assert_snapshot!(host.model().heard(3), @r#"
    user: one
    user: two
    user: three
    "#);
}

/// Y4.1-2, Y4.1-3: the calls wait for one another, so the batch only ends if all of them run at once; results are in
/// the order of the calls.
#[tokio::test]
async fn a_read_only_batch_runs_at_once() {
    let replies = "
replies:
  - say:
      - text: I look.
      - call: { tool_name: meet, arguments: { who: a } }
      - call: { tool_name: meet, arguments: { who: b } }
      - call: { tool_name: meet, arguments: { who: c } }
  - say: [{ text: Seen. }]
";
    let barrier = Arc::new(Barrier::new(3));
    let meet = CodeTool::new("meet", move |input, _| {
        let barrier = barrier.clone();
        async move {
            barrier.wait().await;
            Ok(ToolOutput::text(format!("met as {}", input.arguments["who"])))
        }
    });
    let (host, chat) = Setup::new(replies).tool(meet).chat().await;
    insta::assert_snapshot!(chat.run("look").await, @r#"
    step 1
    text "I look."
    step 1 ends
    call-1 meet starts with {"who":"a"}
    call-2 meet starts with {"who":"b"}
    call-3 meet starts with {"who":"c"}
    call-1 meet succeeds: met as "a"
    call-2 meet succeeds: met as "b"
    call-3 meet succeeds: met as "c"
    step 2
    text "Seen."
    step 2 ends
    turn completed
    "#);
    insta::assert_snapshot!(host.model().heard(2), @r#"
    user: look
    assistant: I look.
    assistant calls call-1 meet: {"who":"a"}
    assistant calls call-2 meet: {"who":"b"}
    assistant calls call-3 meet: {"who":"c"}
    result of call-1 meet: met as "a"
    result of call-2 meet: met as "b"
    result of call-3 meet: met as "c"
    "#);
}

/// Y4.1-4: one mutating call makes the batch serial: each one ends before the next begins.
#[tokio::test]
async fn a_batch_with_a_mutating_tool_runs_one_after_another() {
    let replies = "
replies:
  - say:
      - call: { tool_name: look }
      - call: { tool_name: change }
      - call: { tool_name: look }
  - say: [{ text: Done. }]
";
    let look = CodeTool::answering("look", "seen");
    let (_host, chat) =
        Setup::new(replies).tool(look).tool(CodeTool::answering("change", "changed").mutating()).chat().await;
    insta::assert_snapshot!(chat.run("go").await, @r#"
    step 1
    step 1 ends
    call-1 look starts with {}
    call-1 look succeeds: seen
    call-2 change starts with {}
    call-2 change succeeds: changed
    call-3 look starts with {}
    call-3 look succeeds: seen
    step 2
    text "Done."
    step 2 ends
    turn completed
    "#);
}

/// C-1, Y4.1-2: a component and its twin as a script, called in one batch, then the answer; the whole conversation.
#[tokio::test]
async fn a_component_and_a_script_answer_in_one_batch() {
    let replies = "
replies:
  - when: { user: { contains: count } }
    say:
      - text: I ask both.
      - call: { tool_name: word-count, arguments: { text: one two three } }
      - call: { tool_name: word-count-py, arguments: { text: one two three } }
      - done: { usage: { input_tokens: 200, output_tokens: 30 } }
  - when: { tool_result: { tool_name: word-count-py, is_error: false } }
    say:
      - text: Three words, both say.
      - done: { usage: { input_tokens: 260, output_tokens: 6 } }
";
    let world = World::new("");
    for name in ["word-count", "word-count-py"] {
        world.link(example(name), &format!("home/tools/{name}"));
    }
    let (_host, chat) = Setup::of(world, Model::replay(replies)).chat().await;
    insta::assert_snapshot!(chat.run("count the words").await, @r#"
    step 1
    text "I ask both."
    step 1 ends: 200 tokens read, 30 written
    call-1 word-count starts with {"text":"one two three"}
    call-2 word-count-py starts with {"text":"one two three"}
    call-1 word-count succeeds: 3 words, 13 characters, 1 line
    call-2 word-count-py succeeds: 3 words, 13 characters, 1 line
    step 2
    text "Three words, both say."
    step 2 ends: 260 tokens read, 6 written
    turn completed
    "#);
    insta::assert_snapshot!(chat.log().await, @r#"
    user: count the words
    assistant: I ask both.
    assistant calls call-1 word-count: {"text":"one two three"}
    assistant calls call-2 word-count-py: {"text":"one two three"}
    result of call-1 word-count: 3 words, 13 characters, 1 line
    result of call-2 word-count-py: 3 words, 13 characters, 1 line
    assistant: Three words, both say.
    "#);
}

/// Y6.2-1, Y3.2-2: what a session chooses is what the model is sent.
#[tokio::test]
async fn a_session_may_choose_its_instructions_and_how_to_sample() {
    let setup = Setup::new("replies: [{ repeat: true, say: [{ text: Yes. }] }]");
    let host = setup.with(|agent| agent.base_instructions("Be an agent.")).build().await;
    let chat = host.chat().await;
    chat.run("a").await;
    chat.session().close().await;
    let sampling = Sampling { temperature: Some(0.5), max_tokens: Some(10), reasoning_effort: None };
    let base_instructions = Some("Be a pirate.".to_owned());
    let chat = host.chat_with(SessionOptions { base_instructions, sampling, ..SessionOptions::default() }).await;
    chat.run("b").await;
    let requests = host.model().requests();
    let starts: Vec<_> = requests.iter().map(|request| request.system.lines().next().unwrap_or_default()).collect();
    assert_eq!(starts, ["Be an agent.", "Be a pirate."]);
    assert_eq!(requests[0].sampling, Sampling::default());
    assert_eq!(requests[1].sampling, sampling);
}

/// D-32: whoever stops listening loses the events and nothing else.
#[tokio::test]
async fn a_dropped_stream_does_not_stop_the_turn() {
    let replies = "
replies:
  - say: [{ text: I ask. }, { call: { tool_name: slow } }]
  - say: [{ text: Done. }]
  - say: [{ text: Yes. }]
";
    let gate = Gate::new();
    let (_host, chat) = Setup::new(replies).tool(gate.tool("slow", "slowly")).chat().await;
    chat.send("go").await.look_away();
    gate.entered().await;
    gate.open();
    chat.session().idle().await;
    insta::assert_snapshot!(chat.log().await, @r#"
    user: go
    assistant: I ask.
    assistant calls call-1 slow: {}
    result of call-1 slow: slowly
    assistant: Done.
    "#);
    insta::assert_snapshot!(chat.run("more?").await, @r#"
    step 1
    text "Yes."
    step 1 ends
    turn completed
    "#);
}

/// Y7-1: the document that a front end reads; both numbers go on over the turns of a session.
#[tokio::test]
async fn events_are_numbered_over_a_session_and_named_by_turn() {
    let (_host, chat) = Setup::new("replies: [{ repeat: true, say: [{ text: Yes. }] }]").chat().await;
    let (first, second) = (chat.run("a").await, chat.run("b").await);
    let place = |turn: &Turn| -> Vec<_> {
        turn.events.iter().map(|event| (event.turn_id.as_ref().map(ToString::to_string), event.sequence)).collect()
    };
    let turn = |name: &str, numbers: std::ops::Range<u64>| -> Vec<_> {
        numbers.map(|number| (Some(name.to_owned()), number)).collect()
    };
    assert_eq!(place(&first), turn("turn-1", 1..5));
    assert_eq!(place(&second), turn("turn-2", 5..9));
    let mut document = serde_json::to_value(&second.events[1]).expect("JSON");
    assert!(document["timestamp"].as_u64().is_some_and(|time| time > 1_700_000_000_000), "milliseconds since 1970");
    document["timestamp"] = 0.into();
    document["session_id"] = "s".into();
    let expected =
        r#"{"session_id":"s","turn_id":"turn-2","timestamp":0,"sequence":6,"type":"TextDelta","text":"Yes."}"#;
    assert_eq!(document.to_string(), expected);
}
