//! K-61, K-62, K-65 with a real guest that misbehaves on request: what stops it, what is said about it, and that
//! everybody else goes on.

mod guest;

use std::time::{Duration, Instant};

use guest::{Fixture, call, call_within, error_of, outcome};
use serde_json::json;
use youyou_api::{CallContext, ErrorCode, ToolHandler};
use youyou_component::{Allocation, ComponentHost, HostConfig};

/// K-61: the message, file:line, and the tool's name.
#[tokio::test]
async fn a_panic_is_told_with_its_place_and_a_fresh_call_works() {
    let tool = Fixture::shared().tool("breaker");
    let error = error_of(call(&tool, json!({"mode": "panic", "message": "no such luck"})).await);
    assert_eq!((error.code, error.kind()), (ErrorCode::ToolExecutionError, Some("PANIC")));
    assert!(error.message.starts_with("tool \"breaker\" panicked at tests/guests/hostile/src/run.rs:"), "{error}");
    assert!(error.message.ends_with(": no such luck"), "{error}");
    assert!(error.details["line"].as_u64().is_some_and(|line| line > 0), "{error:?}");
    assert_eq!(outcome(call(&tool, json!({"mode": "count"})).await).content, "1");
}

/// K-61: without a panic hook, the guest's last lines on stderr say it.
#[tokio::test]
async fn a_panic_that_is_not_reported_still_shows_what_was_printed() {
    let tool = Fixture::shared().tool("breaker");
    let error = error_of(call(&tool, json!({"mode": "panic-unreported", "message": "no such luck"})).await);
    assert_eq!(error.kind(), Some("TRAP"));
    assert!(error.message.contains("no such luck"), "{error}");
    assert!(error.message.contains("run.rs:"), "{error}");
    assert!(!error.message.contains("wasm backtrace"), "{error}");
}

#[tokio::test]
async fn a_trap_and_an_exit_are_told_apart() {
    let tool = Fixture::shared().tool("breaker");
    let trap = error_of(call(&tool, json!({"mode": "trap"})).await);
    assert_eq!(trap.kind(), Some("TRAP"));
    assert!(trap.message.contains("unreachable") && !trap.message.contains("backtrace"), "{trap}");
    let exit = error_of(call(&tool, json!({"mode": "exit"})).await);
    assert_eq!(exit.kind(), Some("EXIT"));
    assert!(exit.message.contains("ended itself"), "{exit}");
}

/// K-62, Y4.4-2.
#[tokio::test]
async fn an_endless_loop_is_stopped_by_its_time() {
    let tool = Fixture::shared().tool("looper");
    let start = Instant::now();
    let error = error_of(call_within(&tool, json!({"mode": "loop"}), Duration::from_millis(300)).await);
    println!("stopped {:?} after its limit", start.elapsed() - Duration::from_millis(300));
    assert_eq!((error.code, error.kind()), (ErrorCode::ToolTimeout, Some("LIMIT_TIME")));
    assert!(error.message.contains("300 ms") && error.message.contains("`timeout_ms`"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(5));
}

/// K-62, Y4.4-2: waiting in the host counts too.
#[tokio::test]
async fn a_guest_that_sleeps_is_stopped_by_its_time() {
    let tool = Fixture::shared().tool("sleeper");
    let start = Instant::now();
    let error = error_of(call_within(&tool, json!({"mode": "sleep", "ms": 60_000}), Duration::from_millis(300)).await);
    println!("stopped {:?} after its limit", start.elapsed() - Duration::from_millis(300));
    assert_eq!(error.kind(), Some("LIMIT_TIME"));
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(outcome(call(&tool, json!({"mode": "sleep", "ms": 1})).await).content, "slept");
}

/// Y4.4-2: a cancelled call ends, whether the guest computes or waits.
#[tokio::test]
async fn a_cancelled_call_ends() {
    let tool = Fixture::shared().tool("looper");
    for arguments in [json!({"mode": "loop"}), json!({"mode": "sleep", "ms": 60_000})] {
        let context = Fixture::context(Duration::from_secs(60));
        let cancel = context.cancel.clone();
        let canceller = async {
            tokio::task::yield_now().await;
            cancel.cancel();
        };
        let (result, ()) = tokio::join!(tool.call(guest::input(arguments), context), canceller);
        assert_eq!(error_of(result).code, ErrorCode::RequestCancelled);
    }
}

/// Y4.4-2: a caller may watch the deadline too and cancel as soon as it has passed; that is still a time-out.
#[tokio::test]
async fn a_call_that_is_cancelled_at_its_deadline_has_timed_out() {
    let tool = Fixture::shared().tool("sleeper");
    tool.warm_up().await.expect("loads");
    for arguments in [json!({"mode": "loop"}), json!({"mode": "sleep", "ms": 60_000})] {
        let context = Fixture::context(Duration::from_millis(100));
        let (cancel, deadline) = (context.cancel.clone(), context.deadline);
        let canceller = async {
            tokio::time::sleep_until(deadline.at().into()).await;
            cancel.cancel();
        };
        let (result, ()) = tokio::join!(tool.call(guest::input(arguments), context), canceller);
        let error = error_of(result);
        assert_eq!((error.code, error.kind()), (ErrorCode::ToolTimeout, Some("LIMIT_TIME")));
    }
}

/// K-62: on one thread, calls end while another guest computes without end; the loop is only ended after them.
#[tokio::test(flavor = "current_thread")]
async fn other_calls_go_on_while_a_guest_loops() {
    let tool = Fixture::shared().tool("looper");
    tool.warm_up().await.expect("loads");
    let context = Fixture::context(Duration::from_secs(300));
    let cancel = context.cancel.clone();
    let looping = tool.call(guest::input(json!({"mode": "loop"})), context);
    let others = async {
        for _ in 0..5 {
            let start = Instant::now();
            outcome(call(&tool, json!({"mode": "spin", "ms": 1})).await);
            outcome(call(&tool, json!({"mode": "sleep", "ms": 1})).await);
            println!("two calls beside a loop took {:?}", start.elapsed());
        }
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(looping, others);
    assert_eq!(error_of(result).code, ErrorCode::RequestCancelled, "the others waited for the loop's own end");
}

/// K-62.
#[tokio::test]
async fn a_guest_that_allocates_without_end_is_told_its_limit() {
    let tool = Fixture::shared().tool_with("eater", |component| component.memory_bytes = Some(32 << 20));
    let error = error_of(call(&tool, json!({"mode": "allocate"})).await);
    assert_eq!(error.kind(), Some("LIMIT_MEMORY"));
    assert!(error.message.contains("32 MiB") && error.message.contains("`memory_mb`"), "{error}");
    assert_eq!(error.details["memory_mb"], 32);
    // Nothing of it is left for the next call.
    assert_eq!(outcome(call(&tool, json!({"mode": "count"})).await).content, "1");
}

/// K-62: the guest copes with it in its own words; the limit is named beside them.
#[tokio::test]
async fn a_guest_that_copes_with_its_limit_has_the_key_added() {
    let tool = Fixture::shared().tool_with("eater", |component| component.memory_bytes = Some(32 << 20));
    let error = error_of(call(&tool, json!({"mode": "allocate-politely"})).await);
    assert_eq!((error.kind(), error.details["guest_code"].as_str()), (Some("GUEST_ERROR"), Some("NO_ROOM")));
    assert!(error.message.contains("no more memory after") && error.message.contains("`memory_mb`"), "{error}");
}

/// K-65.
#[tokio::test]
async fn a_guest_that_starts_larger_than_its_limit_is_told_both_figures() {
    let tool = Fixture::shared().tool_with("large", |component| component.memory_bytes = Some(1 << 20));
    let error = error_of(call(&tool, json!({"mode": "count"})).await);
    assert_eq!(error.kind(), Some("LIMIT_MEMORY"));
    assert!(error.message.contains("may use 1 MiB"), "{error}");
    assert!(error.message.contains("of memory to start") && error.message.contains("`memory_mb: 2`"), "{error}");
}

/// K-62.
#[tokio::test]
async fn a_recursion_without_end_is_stopped_by_the_stack() {
    let tool = Fixture::shared().tool("digger");
    for mode in ["recurse", "recurse-wide"] {
        let error = error_of(call(&tool, json!({"mode": mode})).await);
        assert_eq!(error.kind(), Some("LIMIT_STACK"), "{mode}: {error}");
        assert!(error.message.contains("stack"), "{error}");
    }
}

/// K-62.
#[tokio::test]
async fn a_guest_that_prints_or_logs_without_end_is_stopped_by_its_time() {
    let tool = Fixture::shared().tool("talker");
    for mode in ["print", "print-error", "log"] {
        let error = error_of(call_within(&tool, json!({"mode": mode}), Duration::from_millis(300)).await);
        assert_eq!(error.kind(), Some("LIMIT_TIME"), "{mode}: {error}");
    }
}

#[tokio::test]
async fn an_output_larger_than_a_call_may_hand_over_is_refused() {
    let tool = Fixture::shared().tool("talker");
    let error = error_of(call(&tool, json!({"mode": "large-output", "bytes": 40 << 20})).await);
    assert_eq!(error.kind(), Some("LIMIT_OUTPUT"), "{error}");
    assert_eq!(outcome(call(&tool, json!({"mode": "large-output", "bytes": 4 << 20})).await).content.len(), 4 << 20);
}

/// Y10: what the guest says, and by which code.
#[tokio::test]
async fn a_guests_own_error_keeps_its_message_and_code() {
    let tool = Fixture::shared().tool("unlucky");
    let error = error_of(call(&tool, json!({"mode": "guest-error", "message": "come back\x1b[2J later"})).await);
    assert_eq!(error.kind(), Some("GUEST_ERROR"));
    assert_eq!(error.message, "tool \"unlucky\" failed: come back\u{fffd}[2J later");
    assert_eq!(error.details["guest_code"], "NO_LUCK");
}

/// A failure that a denial may have caused is named after it, and tells the line that would help.
#[tokio::test]
async fn a_failure_after_a_denial_names_what_was_denied() {
    let tool = Fixture::shared().tool("denied");
    let error = error_of(call(&tool, json!({"mode": "read-then-panic", "path": "./notes.txt"})).await);
    assert_eq!((error.kind(), error.details["failure"].as_str()), (Some("DENIED_READ"), Some("TRAP")));
    assert!(error.message.contains("cannot work without the file"), "{error}");
    assert!(error.message.contains("permissions: { read: [\".\"] }"), "{error}");
    assert_eq!(error.details["denials"][0]["kind"], "DENIED_READ");
}

/// Y3.3-4: the full output; and a clear error where it breaks the contract.
#[tokio::test]
async fn metadata_comes_through_and_must_be_json() {
    let tool = Fixture::shared().tool("meta");
    let output = outcome(call(&tool, json!({"mode": "metadata", "metadata": r#"{"n":[1,2]}"#})).await);
    assert_eq!((output.content.as_str(), output.metadata), ("with metadata", Some(json!({"n": [1, 2]}))));
    let failed = outcome(call(&tool, json!({"mode": "is-error", "message": "that did not work"})).await);
    assert_eq!((failed.content.as_str(), failed.is_error), ("that did not work", true));
    let error = error_of(call(&tool, json!({"mode": "metadata", "metadata": "{oops"})).await);
    assert_eq!(error.kind(), Some("BAD_OUTPUT"));
    assert!(error.message.contains("metadata that is not JSON"), "{error}");
}

/// C-2: a component receives the document that a script would read.
#[tokio::test]
async fn the_input_is_the_document_of_a_script() {
    let tool = Fixture::shared().tool("echo");
    let input = guest::input(json!({"mode": "echo", "z": 1, "a": {"y": [1.5, null], "b": "ä\"\n"}}));
    let document = input.to_json();
    let context = Fixture::context(Duration::from_secs(60));
    let output = outcome(tool.call(input, context).await);
    assert_eq!(output.content, document);
}

/// A call's own instance: what one call left in memory, no other sees.
#[tokio::test]
async fn every_call_has_a_fresh_instance() {
    let tool = Fixture::shared().tool("counter");
    for _ in 0..3 {
        assert_eq!(outcome(call(&tool, json!({"mode": "count"})).await).content, "1");
    }
}

#[tokio::test]
async fn a_call_can_be_measured() {
    let tool = Fixture::shared().tool("counter");
    let mut context: CallContext = Fixture::context(Duration::from_secs(60));
    context.stats = youyou_api::CallStats::on();
    outcome(tool.call(guest::input(json!({"mode": "count"})), context.clone()).await);
    let stats = context.stats.snapshot();
    assert_eq!(stats.keys().collect::<Vec<_>>(), ["load_us", "code", "run_us", "memory_peak_bytes"]);
    assert!(stats["memory_peak_bytes"].as_u64().is_some_and(|bytes| bytes > 0));
}

/// A pool has room for so many calls; the others wait for their turn, and no longer than they may take.
#[tokio::test]
async fn calls_wait_for_their_turn_where_there_is_a_pool() {
    let mut config = HostConfig::default();
    config.cache_dir = None;
    config.allocation = Allocation::Pooling { calls: 2, memory_bytes: 16 << 20 };
    let host = ComponentHost::new(config).expect("a host");
    let tool = guest::tool_of(&host, "pooled", &guest::hostile(), |_| {});
    let sleepers = [0; 6].map(|_| call(&tool, json!({"mode": "sleep", "ms": 20})));
    for result in futures_util::future::join_all(sleepers).await {
        assert_eq!(outcome(result).content, "slept");
    }
    let busy = || call_within(&tool, json!({"mode": "loop"}), Duration::from_secs(1));
    let waiting = call_within(&tool, json!({"mode": "count"}), Duration::from_millis(100));
    let (_, _, waited) = tokio::join!(busy(), busy(), waiting);
    assert_eq!(error_of(waited).kind(), Some("LIMIT_TIME"));
    assert_eq!(outcome(call(&tool, json!({"mode": "count"})).await).content, "1");
    let error = error_of(call(&tool, json!({"mode": "allocate"})).await);
    assert_eq!(error.kind(), Some("LIMIT_MEMORY"));
    assert!(error.message.contains("16 MiB"), "{error}");
}
