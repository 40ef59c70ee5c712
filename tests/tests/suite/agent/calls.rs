//! Calls as models make them: repeated ids, names of nothing, broken arguments, far too many; and tools that break.

use std::{
    future::{Ready, pending, ready},
    time::Duration,
};

use youyou::{CallRecord, Entry, Error, ErrorCode, Message, ToolFailure, ToolOutput};
use youyou_tests::agent::{CodeTool, Setup, Turn};

fn echo() -> CodeTool {
    CodeTool::new("echo", |input, _| {
        let arguments = serde_json::Value::Object(input.arguments).to_string();
        ready(Ok(ToolOutput::text(format!("got {arguments}"))))
    })
}

/// K-07: every call goes by an id of ours, each result stays with its call, and the provider's ids are kept.
#[tokio::test]
async fn a_provider_may_repeat_its_ids() {
    let replies = "
replies:
  - say:
      - call: { call_id: same, tool_name: echo, arguments: { n: 1 } }
      - call: { call_id: same, tool_name: echo, arguments: { n: 2 } }
  - say: [{ call: { call_id: same, tool_name: echo, arguments: { n: 3 } } }]
  - say: [{ text: Three. }]
";
    let (host, chat) = Setup::new(replies).tool(echo()).chat().await;
    chat.run("go").await;
    insta::assert_snapshot!(host.model().heard(3), @r#"
    user: go
    assistant calls call-1 echo: {"n":1}
    assistant calls call-2 echo: {"n":2}
    result of call-1 echo: got {"n":1}
    result of call-2 echo: got {"n":2}
    assistant calls call-3 echo: {"n":3}
    result of call-3 echo: got {"n":3}
    "#);
    let entries = chat.session().entries().await;
    let renamed =
        entries.iter().flat_map(|entry| if let Entry::Assistant { renamed, .. } = entry { &renamed[..] } else { &[] });
    let pairs: Vec<_> =
        renamed.map(|record: &CallRecord| (record.call_id.as_str(), record.provider_id.as_str())).collect();
    assert_eq!(pairs, [("call-1", "same"), ("call-2", "same"), ("call-3", "same")]);
}

/// K-15: a call of nothing names what was asked for and what comes near; the turn goes on and ends.
#[tokio::test]
async fn a_call_of_no_tool_is_answered_with_the_nearest_one() {
    let replies = "
replies:
  - say: [{ call: { tool_name: '' } }, { call: { tool_name: Reed } }, { call: { tool_name: read } }]
  - say: [{ text: I see. }]
";
    let (_host, chat) = Setup::new(replies).tool(CodeTool::answering("read", "text")).chat().await;
    insta::assert_snapshot!(chat.run("go").await, @r#"
    step 1
    step 1 ends
    call-1  starts with {}
    call-2 Reed starts with {}
    call-3 read starts with {}
    call-1  fails: no tool is named ""; there are: read
    call-2 Reed fails: no tool is named "Reed"; did you mean "read"?
    call-3 read succeeds: text
    step 2
    text "I see."
    step 2 ends
    turn completed
    "#);
}

/// K-21, D-38: pieces of two calls interleave; the calls come in the order of their blocks, arguments whole, and none begins
/// before the answer is whole.
#[tokio::test]
async fn interleaved_pieces_become_two_calls() {
    let replies = r#"
replies:
  - say:
      - fragment: { index: 1, call_id: y, tool_name: echo, arguments: '{"b":' }
      - fragment: { index: 0, call_id: x, tool_name: echo, arguments: '{"a":' }
      - fragment: { index: 1, arguments: "2}" }
      - fragment: { index: 0, arguments: "1}" }
  - say: [{ text: Both. }]
"#;
    let (_host, chat) = Setup::new(replies).tool(echo()).chat().await;
    insta::assert_snapshot!(chat.run("go").await, @r#"
    step 1
    step 1 ends
    call-1 echo starts with {"a":1}
    call-2 echo starts with {"b":2}
    call-1 echo succeeds: got {"a":1}
    call-2 echo succeeds: got {"b":2}
    step 2
    text "Both."
    step 2 ends
    turn completed
    "#);
}

/// K-23: arguments that are no object are told to the model as what they are; nothing runs with `{}` in their place.
#[tokio::test]
async fn arguments_that_are_no_object_reach_no_tool() {
    let replies = r#"
replies:
  - say:
      - call: { tool_name: echo, arguments: 'null' }
      - call: { tool_name: echo, arguments: '"x"' }
      - call: { tool_name: echo, arguments: '[]' }
      - call: { tool_name: echo, arguments: '{"a":' }
      - call: { tool_name: echo, arguments: '' }
      - call: { tool_name: echo, arguments: '{"a": nan}' }
  - say: [{ text: I see. }]
"#;
    let (_host, chat) = Setup::new(replies).tool(echo()).chat().await;
    insta::assert_snapshot!(chat.run("go").await, @r#"
    step 1
    step 1 ends
    call-1 echo starts with null
    call-2 echo starts with "x"
    call-3 echo starts with []
    call-4 echo starts with {"a":
    call-5 echo starts with
    call-6 echo starts with {"a": nan}
    call-1 echo fails: the arguments for tool "echo" must be one JSON object, but they are null; nothing was run
    call-2 echo fails: the arguments for tool "echo" must be one JSON object, but they are the string "x"; nothing was run
    call-3 echo fails: the arguments for tool "echo" must be one JSON object, but they are the array []; nothing was run
    call-4 echo fails: the arguments for tool "echo" must be one JSON object, but they are cut off at line 1 column 5; nothing was run
    call-5 echo fails: the arguments for tool "echo" must be one JSON object, but they are empty (write {} for none); nothing was run
    call-6 echo fails: the arguments for tool "echo" must be one JSON object, but they are not valid JSON: expected ident at line 1 column 8; nothing was run
    step 2
    text "I see."
    step 2 ends
    turn completed
    "#);
}

/// K-23, D-29: a call that the token limit cut off is answered as cut off, and the user is told of the limit.
#[tokio::test]
async fn a_call_cut_off_by_the_token_limit_is_not_run() {
    let replies = r#"
replies:
  - say:
      - fragment: { index: 0, call_id: x, tool_name: echo, arguments: '{"a":1}' }
      - fragment: { index: 1, call_id: y, tool_name: echo, arguments: '{"text":"a lot of' }
      - done: { stop: max_tokens, usage: { input_tokens: 10, output_tokens: 4096 } }
  - say: [{ text: Shorter then. }]
"#;
    let (_host, chat) = Setup::new(replies).tool(echo()).chat().await;
    insta::assert_snapshot!(chat.run("go").await, @r#"
    step 1
    step 1 ends: 10 tokens read, 4096 written
    remark PROVIDER_ERROR: the model's answer was cut at the most tokens that it may have
    call-1 echo starts with {"a":1}
    call-2 echo starts with {"text":"a lot of
    call-1 echo succeeds: got {"a":1}
    call-2 echo fails: the arguments for tool "echo" must be one JSON object, but they are cut off at line 1 column 17; nothing was run
    step 2
    text "Shorter then."
    step 2 ends
    turn completed
    "#);
}

/// K-19, Y4.4-4: what goes into the context is cut at a character, with a note.
#[tokio::test]
async fn an_enormous_output_is_cut() {
    let replies = "replies: [{ say: [{ call: { tool_name: print } }] }, { say: [{ text: Long. }] }]";
    let print = CodeTool::new("print", |_, _| ready(Ok(ToolOutput::text("€".repeat(400_000)))));
    let (host, chat) = Setup::new(replies).tool(print).chat().await;
    assert_eq!(chat.run("go").await.text(), "Long.");
    let requests = host.model().requests();
    let Message::ToolResult(result) = &requests[1].messages[2] else { panic!("a result is third") };
    let content = &result.content;
    assert!(content.len() <= 1_048_576 && content.len() > 1_048_000, "{} bytes", content.len());
    assert!(
        content.starts_with("€€") && content.ends_with("€\n[output cut: it has 1200000 bytes, the limit is 1048576]")
    );
}

/// Y4.1-6: a panic, a failure and a time-out are results; siblings and the turn are not touched.
#[tokio::test(start_paused = true)]
async fn a_tool_that_breaks_is_told_to_the_model() {
    let replies = "
replies:
  - say:
      - call: { tool_name: panics }
      - call: { tool_name: bursts }
      - call: { tool_name: fails }
      - call: { tool_name: hangs }
      - call: { tool_name: echo }
  - say: [{ text: I see. }]
";
    let panics = || CodeTool::new("panics", |_, _| async { panic!("index out of bounds") });
    let bursts = || {
        CodeTool::new("bursts", |input, _| -> Ready<Result<ToolOutput, ToolFailure>> {
            panic!("cannot even begin with {:?}", input.arguments)
        })
    };
    let fails = || {
        let error = || Error::new(ErrorCode::ToolExecutionError, "no such file");
        CodeTool::new("fails", move |_, _| ready(Err(error().into())))
    };
    let hangs = || CodeTool::new("hangs", |_, _| pending()).within(Duration::from_millis(20));
    let all = Setup::new(replies).tool(panics()).tool(bursts()).tool(fails()).tool(hangs()).tool(echo());
    let (_host, at_once) = all.chat().await;
    let at_once = at_once.run("go").await;
    let all = Setup::new(replies).tool(panics().mutating()).tool(bursts()).tool(fails()).tool(hangs()).tool(echo());
    let (_host, serial) = all.chat().await;
    let serial = serial.run("go").await;
    let ends = |turn: &Turn| -> Vec<String> {
        let shown = turn.to_string();
        shown.lines().filter(|line| !line.contains(" starts with ")).map(str::to_owned).collect()
    };
    assert_eq!(ends(&at_once), ends(&serial));
    insta::assert_snapshot!(serial, @r#"
    step 1
    step 1 ends
    call-1 panics starts with {}
    call-1 panics fails: tool "panics" panicked: index out of bounds
    call-2 bursts starts with {}
    call-2 bursts fails: tool "bursts" panicked: cannot even begin with {}
    call-3 fails starts with {}
    call-3 fails fails: no such file
    call-4 hangs starts with {}
    call-4 hangs fails: tool "hangs" was stopped after 20 ms, its time limit; the `timeout()` of its handler sets it
    call-5 echo starts with {}
    call-5 echo succeeds: got {}
    step 2
    text "I see."
    step 2 ends
    turn completed
    "#);
}

/// D-60, Y4.4-2: a tool past its limit is given up, and the turn goes on.
#[tokio::test(start_paused = true)]
async fn a_tool_that_never_ends_is_given_up_at_its_limit() {
    let replies = "replies: [{ say: [{ call: { tool_name: hang } }, { call: { tool_name: wait } }] }, { say: [{ text: Too slow. }] }]";
    let hang = CodeTool::new("hang", |_, _| pending());
    let wait = CodeTool::new("wait", |_, _| pending()).within(Duration::from_millis(1500));
    let setup = Setup::over("-- home/config.yaml\ntool_timeout_ms: 2000", replies);
    let (_host, chat) = setup.tool(hang).tool(wait).chat().await;
    insta::assert_snapshot!(chat.run("go").await, @r#"
    step 1
    step 1 ends
    call-1 hang starts with {}
    call-2 wait starts with {}
    call-1 hang fails: tool "hang" was stopped after 2000 ms, its time limit; `tool_timeout_ms` of config.yaml sets it for a handler without a `timeout()`
    call-2 wait fails: tool "wait" was stopped after 1500 ms, its time limit; the `timeout()` of its handler sets it
    step 2
    text "Too slow."
    step 2 ends
    turn completed
    "#);
}

fn fatal(name: &str) -> CodeTool {
    let error = || ToolFailure::Fatal(Error::new(ErrorCode::ToolExecutionError, "the disk is gone"));
    CodeTool::new(name, move |_, _| ready(Err(error())))
}

const FATAL: &str = "
replies:
  - say: [{ call: { tool_name: echo } }, { call: { tool_name: fatal } }, { call: { tool_name: echo } }]
  - say: [{ text: What now? }]
";

/// Y4.1-6, Y7-3: a fatal failure ends the turn; every call has its result and its end all the same.
#[tokio::test]
async fn a_fatal_failure_ends_the_turn_with_every_call_answered() {
    let (host, chat) = Setup::new(FATAL).tool(echo()).tool(fatal("fatal").mutating()).chat().await;
    insta::assert_snapshot!(chat.run("go").await, @r#"
    step 1
    step 1 ends
    call-1 echo starts with {}
    call-1 echo succeeds: got {}
    call-2 fatal starts with {}
    call-2 fatal fails: [this call broke off, and what it has done is unknown: the disk is gone]
    call-3 echo starts with {}
    call-3 echo is skipped: [not started: the turn had ended by a failure before]
    error TOOL_EXECUTION_ERROR: the disk is gone
    turn failed: TOOL_EXECUTION_ERROR
    "#);
    assert_eq!(chat.run("hi").await.text(), "What now?");
    insta::assert_snapshot!(host.model().heard(2), @r#"
    user: go
    assistant calls call-1 echo: {}
    assistant calls call-2 fatal: {}
    assistant calls call-3 echo: {}
    result of call-1 echo: got {}
    failure of call-2 fatal: [this call broke off, and what it has done is unknown: the disk is gone]
    failure of call-3 echo: [not started: the turn had ended by a failure before]
    user: hi
    "#);
}

/// The same in a batch that runs at once: its siblings' results are real and stay.
#[tokio::test]
async fn a_fatal_failure_among_read_only_calls_keeps_their_results() {
    let (host, chat) = Setup::new(FATAL).tool(echo()).tool(fatal("fatal")).chat().await;
    insta::assert_snapshot!(chat.run("go").await, @r#"
    step 1
    step 1 ends
    call-1 echo starts with {}
    call-2 fatal starts with {}
    call-3 echo starts with {}
    call-1 echo succeeds: got {}
    call-2 fatal fails: [this call broke off, and what it has done is unknown: the disk is gone]
    call-3 echo succeeds: got {}
    error TOOL_EXECUTION_ERROR: the disk is gone
    turn failed: TOOL_EXECUTION_ERROR
    "#);
    assert_eq!(chat.run("hi").await.text(), "What now?");
    insta::assert_snapshot!(host.model().heard(2), @r#"
    user: go
    assistant calls call-1 echo: {}
    assistant calls call-2 fatal: {}
    assistant calls call-3 echo: {}
    result of call-1 echo: got {}
    failure of call-2 fatal: [this call broke off, and what it has done is unknown: the disk is gone]
    result of call-3 echo: got {}
    user: hi
    "#);
}

/// D-28, Y4.1-5: calls up to the limit run, the rest is refused, the turn fails; the model reads of it in the next one.
#[tokio::test]
async fn too_many_calls_end_the_turn() {
    let replies = "
replies:
  - say: [{ call: { tool_name: echo, arguments: { n: 1 } } }, { call: { tool_name: nothing } }]
  - say:
      - call: { tool_name: echo, arguments: { n: 3 } }
      - call: { tool_name: echo, arguments: { n: 4 } }
      - call: { tool_name: echo, arguments: { n: 5 } }
  - say: [{ call: { tool_name: echo, arguments: { n: 6 } } }]
  - say: [{ text: I stop. }]
";
    let setup = Setup::over("-- home/config.yaml\nmax_tool_calls_per_turn: 3", replies);
    let (host, chat) = setup.tool(echo()).chat().await;
    let turn = chat.run("go").await;
    insta::assert_snapshot!(turn, @r#"
    step 1
    step 1 ends
    call-1 echo starts with {"n":1}
    call-2 nothing starts with {}
    call-1 echo succeeds: got {"n":1}
    call-2 nothing fails: no tool is named "nothing"; there are: echo
    step 2
    step 2 ends
    call-3 echo starts with {"n":3}
    call-3 echo succeeds: got {"n":3}
    call-4 echo starts with {"n":4}
    call-4 echo is skipped: the limit of 3 tool calls in one turn is reached; this call was not started
    call-5 echo starts with {"n":5}
    call-5 echo is skipped: the limit of 3 tool calls in one turn is reached; this call was not started
    error MAX_TOOL_CALLS_EXCEEDED: the model asked for more than 3 tool calls in one turn
    turn failed: MAX_TOOL_CALLS_EXCEEDED
    "#);
    assert_eq!(turn.failure().details["limit"], 3);
    assert_eq!(chat.run("go on").await.text(), "I stop.");
    insta::assert_snapshot!(host.model().heard(3), @r#"
    user: go
    assistant calls call-1 echo: {"n":1}
    assistant calls call-2 nothing: {}
    result of call-1 echo: got {"n":1}
    failure of call-2 nothing: no tool is named "nothing"; there are: echo
    assistant calls call-3 echo: {"n":3}
    assistant calls call-4 echo: {"n":4}
    assistant calls call-5 echo: {"n":5}
    result of call-3 echo: got {"n":3}
    failure of call-4 echo: the limit of 3 tool calls in one turn is reached; this call was not started
    failure of call-5 echo: the limit of 3 tool calls in one turn is reached; this call was not started
    user: go on
    "#);
}

/// D-28: a turn of exactly as many calls as allowed is fine.
#[tokio::test]
async fn as_many_calls_as_allowed_are_fine() {
    let replies = "
replies:
  - say: [{ call: { tool_name: echo } }, { call: { tool_name: echo } }, { call: { tool_name: echo } }]
  - say: [{ text: Done. }]
";
    let setup = Setup::over("-- home/config.yaml\nmax_tool_calls_per_turn: 3", replies);
    let (_host, chat) = setup.tool(echo()).chat().await;
    assert_eq!(chat.run("go").await.text(), "Done.");
}

/// K-15: a model that goes round in circles is told so after five equal calls, and again after five more.
#[tokio::test]
async fn five_equal_calls_in_a_row_are_remarked() {
    let replies = "
replies:
  - when: { user: {} }
    say: [{ call: { tool_name: echo, arguments: { n: 1 } } }, { call: { tool_name: echo, arguments: { n: 1 } } }]
  - say: [{ call: { tool_name: echo, arguments: { n: 1 } } }]
  - say: [{ call: { tool_name: echo, arguments: { n: 1 } } }, { call: { tool_name: echo, arguments: { n: 1 } } }]
  - say: [{ text: I see. }]
";
    let (host, chat) = Setup::new(replies).tool(echo()).chat().await;
    chat.run("go").await;
    assert!(!host.model().heard(3).contains("notice"), "{}", host.model().heard(3));
    insta::assert_snapshot!(host.model().heard(4), @r#"
    user: go
    assistant calls call-1 echo: {"n":1}
    assistant calls call-2 echo: {"n":1}
    result of call-1 echo: got {"n":1}
    result of call-2 echo: got {"n":1}
    assistant calls call-3 echo: {"n":1}
    result of call-3 echo: got {"n":1}
    assistant calls call-4 echo: {"n":1}
    assistant calls call-5 echo: {"n":1}
    result of call-4 echo: got {"n":1}
    result of call-5 echo: got {"n":1}
    notice: [The tool "echo" has been called 5 times in a row with the same arguments. Its answer will not change: use what you have, try something else, or tell the user what is missing.]
    "#);
}
