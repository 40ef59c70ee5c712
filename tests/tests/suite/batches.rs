//! Batches that mix scripts and components: what runs at once, what one after another, and that nobody's failure is
//! another one's. Order is shown by tools that wait for one another, never by the clock.

use serde_json::json;
use youyou::{ErrorCode, ToolResult};
use youyou_tests::{
    Lifeline, World,
    lifeline::REPORT,
    pipe,
    session::{error_of, text_of},
    tool::{component, hostile, mutating, script},
    transcript,
};

/// Appends a line to a log, and says when anybody else is in there too.
const APPEND: &str = "line=$(sed -n 's/.*\"text\":\"\\([^\"]*\\)\".*/\\1/p')
mkdir alone || echo \"$line is not alone\" >> log
echo \"$line\" >> log
rmdir alone
echo \"did $line\"";

fn texts(results: &[ToolResult]) -> Vec<&str> {
    results.iter().map(text_of).collect()
}

/// Y4.1-3: each waits for one that is called after it, so the batch only ends if all of them run at once.
#[tokio::test]
async fn a_read_only_batch_runs_at_once() {
    let tools = [
        component("meet", "meet", "permissions: { read: [\".\"], write: [\".\"] }"),
        script("first", "cat pipe; touch b; echo first"),
        script("second", "echo hello > pipe; echo second"),
    ];
    let world = World::new(&tools.concat());
    pipe(&world, "work/pipe");
    let results = world
        .open()
        .batch(&[
            ("meet", json!({"path": "a", "to": "met-a"})),
            ("meet", json!({"path": "b", "to": "met-b"})),
            ("first", json!({})),
            ("second", json!({})),
            ("meet", json!({"to": "a"})),
        ])
        .await;
    assert_eq!(texts(&results), ["met", "met", "hello\nfirst", "second", "met"]);
    assert!(world.path("work/met-a").exists() && world.path("work/met-b").exists());
}

/// Y4.1-4: one mutating tool makes the whole batch serial, in the order of the calls, whatever runs each of them.
#[tokio::test]
async fn a_batch_with_a_mutating_tool_runs_one_after_another() {
    let tools = [
        script("append", APPEND),
        mutating(&script("change", APPEND)),
        hostile("look", "permissions: { read: [\".\"] }"),
        mutating(&hostile("write", "permissions: { write: [\".\"] }")),
    ];
    let world = World::new(&tools.concat());
    let look = || ("look", json!({"mode": "read", "path": "log"}));
    let session = world.open();
    let calls = [
        ("append", json!({"text": "1"})),
        look(),
        ("change", json!({"text": "2"})),
        ("append", json!({"text": "3"})),
        look(),
    ];
    let results = session.batch(&calls).await;
    assert_eq!(texts(&results), ["did 1", "1\n", "did 2", "did 3", "1\n2\n3\n"]);

    // The mutating one may be the component, and stand last.
    let calls = [
        ("append", json!({"text": "4"})),
        ("append", json!({"text": "5"})),
        look(),
        ("write", json!({"mode": "write", "path": "log", "text": "6\n"})),
    ];
    let results = session.batch(&calls).await;
    assert_eq!(texts(&results), ["did 4", "did 5", "1\n2\n3\n4\n5\n", "written"]);
    assert_eq!(world.read("work/log"), "6\n");
}

/// Y4.1-6, Y4.4-1, K-15, K-23: one result for each call, and one call's failure never touches another.
#[tokio::test]
async fn every_call_has_its_own_result() {
    let tools = [hostile("component", ""), script("script", "echo fine"), script("failing", "echo no; exit 1")];
    for tools in [tools.concat(), mutating(&tools.concat())] {
        let world = World::new(&tools);
        let results = world
            .open()
            .batch(&[
                ("script", json!({})),
                ("", json!({})),
                ("skript", json!({})),
                ("script", json!(null)),
                ("script", json!({"text": 1})),
                ("failing", json!({})),
                ("component", json!({"mode": "trap"})),
                ("component", json!({"mode": "count"})),
                ("script", json!({})),
            ])
            .await;
        insta::allow_duplicates! {
            insta::assert_snapshot!(transcript(&results), @r#"
            call-1 script: ok
              fine
            call-2 : TOOL_NOT_FOUND
              no tool is named ""; there are: component, failing, script
            call-3 skript: TOOL_NOT_FOUND
              no tool is named "skript"; did you mean "script"?
            call-4 script: TOOL_ARGUMENTS_INVALID
              the arguments for tool "script" must be one JSON object, but they are null; nothing was run
            call-5 script: TOOL_ARGUMENTS_INVALID
              tool "script" was not run: the parameter "text" must be a string, but is the number 1
            call-6 failing: failed
              no
            call-7 component: TOOL_EXECUTION_ERROR TRAP
              tool "component" was stopped by a fault: wasm trap: wasm `unreachable` instruction executed
            call-8 component: ok
              1
            call-9 script: ok
              fine
            "#);
        }
    }
}

/// D-27, Y4.1-6: a cancel stops the call that runs, with its whole group, and those that come after it never start.
#[tokio::test]
async fn a_cancelled_batch_starts_nothing_more() {
    let world = World::new(&[script("after", "touch started"), hostile("component", "")].concat());
    let mut lifeline = Lifeline::new(&world);
    world.add(&mutating(&script("slow", &format!("{}\n{REPORT}\nsleep 1000", lifeline.hold()))));
    let session = world.open();
    let scope = session.scope();
    let call = |id: &str, tool: &str, arguments: &str| youyou::ToolCall {
        call_id: youyou::CallId::new(id),
        tool_name: tool.to_owned(),
        arguments: arguments.to_owned(),
    };
    let calls = vec![call("a", "slow", "{}"), call("b", "after", "{}"), call("c", "component", r#"{"mode":"count"}"#)];
    let (results, ()) = tokio::join!(session.runtime().dispatcher().dispatch_batch(calls, &scope), async {
        lifeline.started().await;
        scope.cancel.cancel();
    });
    let results = results.results;
    let codes: Vec<_> = results.iter().map(|result| error_of(result).code).collect();
    assert_eq!(codes, [ErrorCode::RequestCancelled; 3]);
    assert!(!world.path("work/started").exists());
    lifeline.ended().await;
}
