//! Components that misbehave, through the whole dispatcher: what the caller is told, and that everybody else goes on.

use std::collections::BTreeSet;

use serde_json::json;
use youyou::{ErrorCode, ToolResult};
use youyou_tests::{
    World, guest,
    session::{error_of, text_of},
    tool::{component, hostile, index, script},
    transcript,
};

/// K-60: nine files that are not what they should be, nine messages, nothing compiled, and the tool beside them works.
#[tokio::test]
async fn each_file_that_cannot_be_run_is_refused_in_its_own_words() {
    let world = World::new(&script("fine", "echo fine"));
    let whole = std::fs::read(guest("hostile")).expect("readable");
    let wat = |text: &str| wat::parse_str(text).expect("well-formed");
    let other_export = |name: &str| wat(&format!("(component (instance) (export \"{name}\" (instance 0)))"));
    let import = "(component (import \"acme:store/kv@1.0.0\" (instance)) (instance) \
                  (export \"youyou:plugin/tool@1.0.0\" (instance 1)))";
    let rows = [
        ("core-module", wat("(module (func (export \"run\")))"), "CORE_MODULE", "--target wasm32-wasip2"),
        (
            "wasip1",
            wat("(module (import \"wasi_snapshot_preview1\" \"fd_write\" (func)))"),
            "CORE_MODULE",
            "WASI preview 1",
        ),
        ("truncated", whole[..whole.len() / 2].to_vec(), "TRUNCATED", "truncated"),
        ("empty", Vec::new(), "EMPTY_FILE", "an empty file"),
        ("text", b"#!/bin/sh\necho hi\n".to_vec(), "TEXT", "`command:`"),
        ("precompiled", precompiled().await, "PRECOMPILED", "the .wasm file it was made from"),
        (
            "no-export",
            other_export("acme:other/thing@1.0.0"),
            "MISSING_EXPORT",
            "exports found: acme:other/thing@1.0.0",
        ),
        ("other-version", other_export("youyou:plugin/tool@2.0.0"), "WIT_VERSION", "youyou:plugin/tool@1.0.0"),
        ("unknown-import", wat(import), "UNKNOWN_IMPORT", "acme:store/kv@1.0.0"),
    ];
    for (name, bytes, ..) in &rows {
        world.write(&format!("home/tools/{name}/index.md"), index(name, "component: tool.wasm"));
        world.write(&format!("home/tools/{name}/tool.wasm"), bytes);
    }
    let session = world.open_with_own_cache();
    let mut calls: Vec<_> = rows.iter().map(|(name, ..)| (*name, json!({}))).collect();
    calls.push(("fine", json!({})));
    let results = session.batch(&calls).await;

    let mut messages = BTreeSet::new();
    for ((name, _, kind, part), result) in rows.iter().zip(&results) {
        let error = error_of(result);
        assert_eq!((error.code, error.kind()), (ErrorCode::ToolExecutionError, Some(*kind)), "{name}: {error}");
        assert!(error.message.starts_with(&format!("tool \"{name}\" cannot be run: ")), "{error}");
        assert!(error.message.contains(part), "{name}: {part:?} is not in {error}");
        messages.insert(error.message.replace(name, ""));
    }
    assert_eq!(messages.len(), rows.len(), "{messages:#?}");
    assert_eq!(text_of(results.last().expect("the last")), "fine");
    let cache = session.runtime().components().cache().info().expect("readable");
    assert_eq!(cache.entries, 0, "nothing was compiled");
}

/// Code that was compiled ahead of time, as it lies in a cache.
async fn precompiled() -> Vec<u8> {
    let world = World::new(&component("echo", "echo", ""));
    text_of(&world.open_with_own_cache().call("echo", json!({})).await);
    let entry = std::fs::read_dir(world.path("cache/components")).expect("a cache").next().expect("an entry");
    std::fs::read(entry.expect("readable").path()).expect("readable")
}

/// K-61, Y10-1: the message, file:line and the tool's name; and the next call starts afresh.
#[tokio::test]
async fn a_panic_is_told_with_its_place_and_the_next_call_works() {
    let world = World::new(&hostile("breaker", ""));
    let session = world.open();
    for mode in ["panic", "panic-unreported"] {
        let result = session.call("breaker", json!({"mode": mode, "message": "no such luck"})).await;
        let error = error_of(&result);
        assert_eq!(error.code, ErrorCode::ToolExecutionError);
        for part in ["tool \"breaker\"", "panicked at", "hostile/src/run.rs:", "no such luck"] {
            assert!(error.message.contains(part), "{part:?} is not in {error}");
        }
        assert!(!error.message.contains("wasm backtrace"), "{error}");
        assert_eq!(text_of(&session.call("breaker", json!({"mode": "count"})).await), "1");
    }
}

/// K-62, K-65, Y4.4-2: whatever a guest has too much of, the limit that stopped it is named with its value and its key;
/// its siblings in the same batch have their answers, and a fresh call works.
#[tokio::test]
async fn each_excess_is_stopped_by_its_own_limit() {
    let world = World::new(
        &[
            hostile("looper", "timeout_ms: 300"),
            hostile("printer", "timeout_ms: 300"),
            hostile("eater", "memory_mb: 32"),
            hostile("digger", ""),
            hostile("large", "memory_mb: 1"),
            component("echo", "echo", ""),
            script("hello", "echo hello"),
        ]
        .concat(),
    );
    let session = world.open();
    // Their time is short, and loading is not what it is for: what does not fit in goes on until the next call.
    for tool in ["digger", "looper", "printer"] {
        while !session.call(tool, json!({"mode": "count"})).await.success() {}
    }
    let results = session
        .batch(&[
            ("looper", json!({"mode": "loop"})),
            ("looper", json!({"mode": "sleep", "ms": 600_000})),
            ("printer", json!({"mode": "print"})),
            ("printer", json!({"mode": "log"})),
            ("eater", json!({"mode": "allocate"})),
            ("digger", json!({"mode": "recurse"})),
            ("digger", json!({"mode": "recurse-wide"})),
            ("large", json!({"mode": "count"})),
            ("echo", json!({"text": "sibling"})),
            ("hello", json!({})),
            ("eater", json!({"mode": "count"})),
        ])
        .await;
    insta::assert_snapshot!(told(&results), @r#"
    call-1 looper: TOOL_TIMEOUT LIMIT_TIME
      tool "looper" was stopped after 300 ms, the time that a call may take; if it needs more, raise `timeout_ms`
    call-2 looper: TOOL_TIMEOUT LIMIT_TIME
      tool "looper" was stopped after 300 ms, the time that a call may take; if it needs more, raise `timeout_ms`
    call-3 printer: TOOL_TIMEOUT LIMIT_TIME
      tool "printer" was stopped after 300 ms, the time that a call may take; if it needs more, raise `timeout_ms`
    call-4 printer: TOOL_TIMEOUT LIMIT_TIME
      tool "printer" was stopped after 300 ms, the time that a call may take; if it needs more, raise `timeout_ms`
    call-5 eater: TOOL_EXECUTION_ERROR LIMIT_MEMORY
      tool "eater" ran out of memory: it may use 32 MiB; if it needs more, raise `memory_mb`; its last lines on stderr:
      memory allocation of 1048576 bytes failed
      note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
    call-6 digger: TOOL_EXECUTION_ERROR LIMIT_STACK
      tool "digger" used up its stack of 1 MiB, most likely by a recursion without end
    call-7 digger: TOOL_EXECUTION_ERROR LIMIT_STACK
      tool "digger" wrote below the start of its memory: most likely a recursion without end used up the stack that the guest keeps there
    call-8 large: TOOL_EXECUTION_ERROR LIMIT_MEMORY
      tool "large" needs 1.1 MiB of memory to start and may use 1 MiB; set `memory_mb: 2` or more
    call-9 echo: ok
      {"call_id":"call-9","tool_name":"echo","arguments":{"text":"sibling"}}
    call-10 hello: ok
      hello
    call-11 eater: ok
      1
    "#);
    for tool in ["looper", "printer", "eater", "digger"] {
        assert_eq!(text_of(&session.call(tool, json!({"mode": "count"})).await), "1", "{tool}");
    }
}

/// A transcript without the guest's own last words, which hold places in its source.
fn told(results: &[ToolResult]) -> String {
    let text = transcript(results);
    let lines = text.lines().filter(|line| !line.starts_with("  thread ") && !line.contains(".rs:"));
    lines.map(|line| format!("{line}\n")).collect()
}

/// K-62 on one thread: while guests burn without end, everybody else is served. The guests have two minutes, so they run
/// to the end of this test.
#[tokio::test]
async fn others_go_on_beside_guests_that_never_rest() {
    go_on_beside_guests_that_never_rest().await;
}

/// K-62 on as many threads as there are guests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_go_on_beside_guests_on_every_thread() {
    go_on_beside_guests_that_never_rest().await;
}

async fn go_on_beside_guests_that_never_rest() {
    let tools = [hostile("burner", ""), component("echo", "echo", ""), script("hello", "echo hello")];
    let world = World::new(&tools.concat());
    let session = world.open();
    text_of(&session.call("burner", json!({"mode": "count"})).await);
    let scope = session.scope();
    let burn = |mode: &str| {
        let arguments = json!({"mode": mode}).to_string();
        let (session, scope) = (&session, &scope);
        async move { session.call_in(scope, "burner", &arguments).await }
    };
    let others = async {
        for _ in 0..5 {
            let results = session
                .batch(&[
                    ("echo", json!({"text": "a"})),
                    ("hello", json!({})),
                    ("burner", json!({"mode": "spin", "ms": 5})),
                    ("burner", json!({"mode": "sleep", "ms": 5})),
                ])
                .await;
            results.iter().for_each(|result| assert!(result.success(), "{result:?}"));
        }
        scope.cancel.cancel();
    };
    let (looping, printing, logging, ()) = tokio::join!(burn("loop"), burn("print"), burn("log"), others);
    for burnt in [looping, printing, logging] {
        // Had they not run until then, it would be another code.
        assert_eq!(error_of(&burnt).code, ErrorCode::RequestCancelled);
    }
}

/// Y4.1-6: odd endings are one result each.
#[tokio::test]
async fn a_guest_that_ends_in_an_odd_way_is_one_error_result() {
    let world = World::new(&hostile("odd", ""));
    let session = world.open();
    let results = session
        .batch(&[
            ("odd", json!({"mode": "trap"})),
            ("odd", json!({"mode": "exit"})),
            ("odd", json!({"mode": "guest-error", "message": "come back later"})),
            ("odd", json!({"mode": "metadata", "metadata": "{oops"})),
            ("odd", json!({"mode": "allocate-politely"})),
            ("odd", json!({"mode": "no-such-mode"})),
            ("odd", json!({"mode": "count"})),
        ])
        .await;
    insta::assert_snapshot!(transcript(&results), @r#"
    call-1 odd: TOOL_EXECUTION_ERROR TRAP
      tool "odd" was stopped by a fault: wasm trap: wasm `unreachable` instruction executed
    call-2 odd: TOOL_EXECUTION_ERROR EXIT
      tool "odd" ended itself (an `exit`) instead of returning its output
    call-3 odd: TOOL_EXECUTION_ERROR GUEST_ERROR
      tool "odd" failed: come back later
    call-4 odd: TOOL_EXECUTION_ERROR BAD_OUTPUT
      tool "odd" returned metadata that is not JSON: key must be a string at line 1 column 2; expected one JSON document, or none
    call-5 odd: TOOL_EXECUTION_ERROR GUEST_ERROR
      tool "odd" failed: no more memory after 254 MiB
      (it asked for more memory than the 256 MiB that it may use; if it needs more, raise `memory_mb`)
    call-6 odd: TOOL_EXECUTION_ERROR GUEST_ERROR
      tool "odd" failed: no mode "no-such-mode"
    call-7 odd: ok
      1
    "#);
}

/// K-19, Y4.4-4: a component's answer is cut like a script's.
#[tokio::test]
async fn a_huge_answer_is_cut_at_one_mebibyte() {
    let world = World::new(&hostile("talker", ""));
    let result = world.open().call("talker", json!({"mode": "large-output", "bytes": 2_000_000})).await;
    let text = text_of(&result);
    assert!(text.len() <= 1 << 20 && text.ends_with("\n[output cut: it has 2000000 bytes, the limit is 1048576]"));
}
