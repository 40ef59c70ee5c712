//! What handlers may do at each event, and what they may break: nothing (Y3.6, Y4.6).

use std::{
    future::{pending, ready},
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json};
use youyou::{
    AgentEventKind, AttachmentSource, Error, ErrorCode, HookEvent, HookOutcome, HookPayload, OnFailure, ToolFailure,
    ToolOutput, UserMessage,
    hook::{HookEventPayload, TurnEnd},
    plugin::hook_fn,
};
use youyou_tests::{
    World,
    agent::{
        Chat, CodePlugin, CodeTool, Gate, Host, Model, Setup,
        plugin::{Log, Settings, abort, with, with_nothing},
    },
};

const CALL: &str = "
replies:
  - say: [{ call: { tool_name: echo, arguments: { x: 1 } } }]
  - say: [{ text: Done. }]
";

const YES: &str = "replies: [{ repeat: true, say: [{ text: Yes. }] }]";

/// Says what it was called with. Takes a number `x`, and no more.
fn echo() -> CodeTool {
    let tool = CodeTool::new("echo", |input, _| {
        ready(Ok(ToolOutput::text(format!("got {}", Value::Object(input.arguments)))))
    });
    let number = json!({"type": "object", "properties": {"x": {"type": "number"}}, "additionalProperties": false});
    tool.taking(number)
}

/// A turn that calls `echo` with `{"x":1}`, with these plugins.
async fn echoed(plugins: impl IntoIterator<Item = CodePlugin>) -> (Host, Chat, String) {
    let setup = plugins.into_iter().fold(Setup::new(CALL).tool(echo()), Setup::plugin);
    let (host, chat) = setup.chat().await;
    let turn = chat.run("go").await.to_string();
    (host, chat, turn)
}

fn arguments(id: &str, arguments: Value) -> CodePlugin {
    CodePlugin::new(id).on(HookEvent::BeforeToolUse, move |_| with(json!({"arguments": arguments})))
}

/// K-11, Y3.6-3: what one handler changed stays changed through one that says nothing, in either order.
#[tokio::test]
async fn an_empty_answer_changes_nothing() {
    let silent = || CodePlugin::new("silent").on(HookEvent::BeforeToolUse, |_| with_nothing());
    for plugins in [[arguments("a", json!({"x": 2})), silent()], [silent(), arguments("a", json!({"x": 2}))]] {
        let (_, _, turn) = echoed(plugins).await;
        assert!(turn.contains(r#"call-1 echo succeeds: got {"x":2}"#), "{turn}");
    }
}

/// Y3.6-3, Y3.6-4, D-1: each handler sees what those before it changed; a stage goes before the order of registration.
#[tokio::test]
async fn handlers_see_each_others_changes_in_order() {
    let add = |id: &str, digit: i64| {
        CodePlugin::new(id).on(HookEvent::BeforeToolUse, move |payload| {
            let HookEventPayload::BeforeToolUse(call) = payload.event else { panic!("the event") };
            with(json!({"arguments": {"x": call.arguments["x"].as_i64().expect("a number") * 10 + digit}}))
        })
    };
    let (_, _, turn) = echoed([add("last", 4).at_stage(1000), add("b", 2), add("a", 3)]).await;
    insta::assert_snapshot!(turn, @r#"
    step 1
    step 1 ends
    call-1 echo starts with {"x":1}
    b at BeforeToolUse of call-1 changes arguments.x
    a at BeforeToolUse of call-1 changes arguments.x
    last at BeforeToolUse of call-1 changes arguments.x
    call-1 echo succeeds: got {"x":1234}
    step 2
    text "Done."
    step 2 ends
    turn completed
    "#);
}

/// D-7, D-6: a broken answer changes nothing, is told, and the call goes on.
#[tokio::test]
async fn a_broken_answer_is_ignored_and_told() {
    let broken = arguments("broken", json!({"x": "one"}));
    let odd = CodePlugin::new("odd").on(HookEvent::BeforeToolUse, |_| with(json!({"tool_name": "rm", "color": 1})));
    let (_, _, turn) = echoed([arguments("a", json!({"x": 2})), broken, odd]).await;
    insta::assert_snapshot!(turn, @r#"
    step 1
    step 1 ends
    call-1 echo starts with {"x":1}
    a at BeforeToolUse of call-1 changes arguments.x
    broken at BeforeToolUse of call-1 continues
        warning: `data.arguments` is ignored: the parameter "x" must be a number, but is the string "one"
    odd at BeforeToolUse of call-1 continues
        warning: `data.tool_name` is ignored: of BeforeToolUse a handler can change `arguments`
        warning: `data.color` is ignored: of BeforeToolUse a handler can change `arguments`
    call-1 echo succeeds: got {"x":2}
    step 2
    text "Done."
    step 2 ends
    turn completed
    "#);
}

/// Y4.4-3, D-11, D-17: a call that is aborted does not run; the model reads why, later handlers are not asked, and nobody
/// is told that it ran.
#[tokio::test]
async fn an_aborted_call_does_not_run() {
    let guard = CodePlugin::new("guard").on(HookEvent::BeforeToolUse, |_| abort("x is too small"));
    let log = Log::default();
    let (host, _, turn) = echoed([guard, CodePlugin::new("later").noting(&log)]).await;
    insta::assert_snapshot!(turn, @r#"
    later at TurnStart continues
    step 1
    step 1 ends
    call-1 echo starts with {"x":1}
    guard at BeforeToolUse of call-1 aborts: x is too small
    call-1 echo fails: the plugin "guard" refused this call: x is too small
    step 2
    text "Done."
    step 2 ends
    later at TurnEnd continues
    turn completed
    "#);
    assert!(host.model().heard(2).contains("the plugin \"guard\" refused this call: x is too small"));
    let seen = log.take().join("\n");
    assert!(!seen.contains("ToolUse"), "{seen}");
}

/// D-11: a result that is aborted is replaced, and the text says that the tool ran; the facts for the host stay.
#[tokio::test]
async fn an_aborted_result_is_replaced() {
    let censor = CodePlugin::new("censor").on(HookEvent::AfterToolUse, |_| abort(""));
    let (_, _, turn) = echoed([censor]).await;
    insta::assert_snapshot!(turn, @r#"
    step 1
    step 1 ends
    call-1 echo starts with {"x":1}
    censor at AfterToolUse of call-1 aborts: aborted by plugin censor
    call-1 echo fails: the plugin "censor" withheld this result: aborted by plugin censor. The tool had already run; what it did stays done.
    step 2
    text "Done."
    step 2 ends
    turn completed
    "#);
}

/// D-18: events show what the model reads, and a handler may turn a failure into a success.
#[tokio::test]
async fn a_result_may_be_changed() {
    let fix = CodePlugin::new("fix").on(HookEvent::AfterToolUse, |payload| {
        let HookEventPayload::AfterToolUse(after) = payload.event else { panic!("the event") };
        assert!(!after.success && after.output == "broken");
        with(json!({"output": "mended", "success": true}))
    });
    let failing = CodeTool::new("echo", |_, _| ready(Ok(ToolOutput::error("broken"))));
    let (host, chat) = Setup::new(CALL).tool(failing).plugin(fix).chat().await;
    let turn = chat.run("go").await.to_string();
    assert!(turn.contains("call-1 echo succeeds: mended"), "{turn}");
    assert!(host.model().heard(2).contains("result of call-1 echo: mended"));
}

/// D-17: handlers hear of calls that failed or timed out, and of no call that did not run.
#[tokio::test(start_paused = true)]
async fn handlers_hear_only_of_calls_that_ran() {
    let replies = "
replies:
  - say:
      - call: { tool_name: nothing }
      - call: { tool_name: echo, arguments: { x: one } }
      - call: { tool_name: echo, arguments: '{' }
      - call: { tool_name: slow }
      - call: { tool_name: failing }
  - say: [{ text: Done. }]
";
    let log = Log::default();
    let slow = CodeTool::new("slow", |_, _| pending()).within(Duration::from_millis(50));
    let failing =
        CodeTool::new("failing", |_, _| ready(Err(ToolFailure::from(Error::new(ErrorCode::ToolExecutionError, "no")))));
    let setup = Setup::new(replies).tool(echo()).tool(slow).tool(failing);
    let (_host, chat) = setup.plugin(CodePlugin::new("a").noting(&log)).chat().await;
    chat.run("go").await;
    let heard: Vec<_> = log
        .take()
        .iter()
        .filter_map(|line| {
            let payload: Value = serde_json::from_str(line).expect("JSON");
            let tool = payload.get("tool_name")?.as_str()?.to_owned();
            Some(format!("{} {tool} {}", payload["event"].as_str()?, payload.get("success").unwrap_or(&Value::Null)))
        })
        .collect();
    assert_eq!(
        heard,
        [
            "BeforeToolUse slow null",
            "BeforeToolUse failing null",
            "AfterToolUse slow false",
            "AfterToolUse failing false"
        ]
    );
}

/// Y4.6-1, D-15: whatever a handler does, panic, fail or hang, the call goes on, and the user is told.
#[tokio::test(start_paused = true)]
async fn a_broken_handler_stops_nothing() {
    let panics = CodePlugin::new("panics").on(HookEvent::BeforeToolUse, |_| panic!("boom"));
    let fails =
        CodePlugin::new("fails").on(HookEvent::BeforeToolUse, |_| Err(Error::new(ErrorCode::HookFailed, "no luck")));
    let hangs = CodePlugin::new("hangs").on_async(HookEvent::BeforeToolUse, |_, _| pending());
    let brief = Settings {
        handler: hook_fn(|_, _| pending()),
        timeout: Some(Duration::from_millis(200)),
        on_failure: OnFailure::Continue,
    };
    let brief = CodePlugin::new("brief").handler(HookEvent::AfterToolUse, Arc::new(brief));
    let (_, _, turn) = echoed([panics, fails, hangs, brief]).await;
    insta::assert_snapshot!(turn, @r#"
    step 1
    step 1 ends
    call-1 echo starts with {"x":1}
    panics at BeforeToolUse of call-1 fails
        warning: it panicked: boom
    fails at BeforeToolUse of call-1 fails
        warning: no luck
    hangs at BeforeToolUse of call-1 fails
        warning: it was stopped after 30000 ms, its time limit
    brief at AfterToolUse of call-1 fails
        warning: it was stopped after 200 ms, its time limit
    call-1 echo succeeds: got {"x":1}
    step 2
    text "Done."
    step 2 ends
    turn completed
    "#);
}

/// D-14: a handler before a call may ask that its failure counts as an abort; one of another event may not.
#[tokio::test]
async fn a_handler_may_ask_to_fail_closed() {
    let closed = || {
        let handler = hook_fn(|_, _| ready(Err(Error::new(ErrorCode::HookFailed, "no answer"))));
        Arc::new(Settings { handler, timeout: None, on_failure: OnFailure::Abort })
    };
    let (_, _, turn) = echoed([CodePlugin::new("guard").handler(HookEvent::BeforeToolUse, closed())]).await;
    insta::assert_snapshot!(turn, @r#"
    step 1
    step 1 ends
    call-1 echo starts with {"x":1}
    guard at BeforeToolUse of call-1 aborts: its handler failed, and it asked for `on_failure: abort`: no answer
        warning: no answer
    call-1 echo fails: the plugin "guard" refused this call: its handler failed, and it asked for `on_failure: abort`: no answer
    step 2
    text "Done."
    step 2 ends
    turn completed
    "#);
    let (_, _, turn) = echoed([CodePlugin::new("guard").handler(HookEvent::AfterToolUse, closed())]).await;
    assert!(turn.contains(r#"succeeds: got {"x":1}"#), "{turn}");
}

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

fn long(start: &str) -> String {
    format!("{start} {}", "word ".repeat(240).trim_end())
}

/// A conversation that outgrows its window, with a plugin that answers this before it is compacted.
async fn outgrown(
    window: u32,
    second: &str,
    answer: impl Fn(HookPayload) -> Result<HookOutcome, Error> + Send + Sync + 'static,
) -> (Model, String) {
    let replies = format!(
        "models: [{{ id: small, context_window: {window} }}]
replies:
  - when: {{ user: {{ contains: write the summary }} }}
    say: [{{ text: They spoke. }}]
  - say: [{{ text: '{}' }}]
  - {second}
  - say: [{{ text: Yes. }}]
",
        long("answer")
    );
    let setup = Setup::of(World::new(""), Model::replay(&replies)).with(|agent| agent.base_instructions("Be brief."));
    let (host, chat) = setup.plugin(CodePlugin::new("keeper").on(HookEvent::BeforeCompact, answer)).chat().await;
    chat.run(long("first")).await;
    let turn = chat.run(long("second")).await.to_string();
    (host.model().clone(), turn)
}

/// Y4.2-3, D-6: asked before the context is made shorter, a plugin may say what the summary is to hold.
#[tokio::test]
async fn the_prompt_of_a_summary_may_be_changed() {
    let answer = |payload: HookPayload| {
        let HookEventPayload::BeforeCompact(compact) = payload.event else { panic!("the event") };
        assert!(compact.estimated_tokens > 800 && compact.message_count == 3, "{compact:?}");
        with(json!({"compact_prompt": format!("{}\nKeep every path.", compact.compact_prompt)}))
    };
    let (model, turn) = outgrown(1_000, "say: [{ text: Fine. }]", answer).await;
    assert!(turn.contains("keeper at BeforeCompact changes compact_prompt\ncompacted by summary"), "{turn}");
    let asked = &model.requests()[1].system;
    assert!(asked.starts_with("You write the summary") && asked.ends_with("\nKeep every path."), "{asked}");
}

/// D-11: an abort leaves the context as it is; where it had to be made shorter, the turn fails.
#[tokio::test]
async fn a_compaction_may_be_refused() {
    let (_, turn) = outgrown(1_000, "say: [{ text: Fine. }]", |_| abort("I need all of it")).await;
    assert!(
        turn.contains("aborts: I need all of it") && turn.contains("Fine.") && !turn.contains("compacted"),
        "{turn}"
    );
    let overflow = "say: [{ error: { kind: context_length, message: too long } }]";
    let (_, turn) = outgrown(100_000, overflow, |_| abort("I need all of it")).await;
    insta::assert_snapshot!(turn, @r#"
    step 1
    keeper at BeforeCompact aborts: I need all of it
    step 1 ends
    error COMPACT_ERROR: the request is too long for the model, and the plugin "keeper" keeps the context from being made shorter: I need all of it
    turn failed: COMPACT_ERROR
    "#);
}
