//! Around a tool call: before it and after it.

use std::{
    future::{pending, ready},
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json};
use youyou::{
    Error, ErrorCode, HookEvent, OnFailure, ToolFailure, ToolOutput, hook::HookEventPayload, plugin::hook_fn,
};
use youyou_tests::agent::{
    CodePlugin, CodeTool, Setup,
    plugin::{Log, Settings, abort, with, with_nothing},
};

use super::{CALL, arguments, echo, echoed};

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
