//! Hook handlers that are components: what they answer, and K-60 to K-63 for guests that misbehave on request. A broken
//! handler is an error of one kind, and everybody else goes on.

mod guest;
#[path = "guest/plugin.rs"]
mod plugin;

use std::{sync::Arc, time::Duration};

use guest::Fixture;
use plugin::{about_to_run, ask, ask_within, before, context, has_run, plugin as plugin_of, said, turn_ended};
use serde_json::{Value, json};
use youyou_api::{ErrorCode, ErrorSource, HookEvent, HookHandler, HookOutcome, OnFailure};
use youyou_component::{ComponentHook, ComponentSpec, Grants, HookSettings, Instancing};

async fn error_of(hook: &ComponentHook, config: Value) -> youyou_api::Error {
    let error = ask(hook, &about_to_run(config)).await.expect_err("it misbehaves");
    assert_eq!((error.code, error.origin, error.retryable), (ErrorCode::HookFailed, ErrorSource::Plugin, false));
    error
}

fn hook_with(id: &str, change: impl FnOnce(&mut ComponentSpec)) -> ComponentHook {
    plugin_of(&Fixture::shared().host, id, Instancing::PerCall, change)
        .handler(HookEvent::BeforeToolUse, HookSettings::default())
}

/// Y3.6-3, D-12: continue, change, abort.
#[tokio::test]
async fn each_of_the_three_outcomes_comes_through() {
    let hook = before("answers", Instancing::PerCall);
    let outcome = ask(&hook, &about_to_run(json!({"mode": "continue"}))).await;
    assert_eq!(outcome, Ok(HookOutcome::Continue));
    let data = r#"{"arguments":{"z":1,"a":[1.50,"ä"]},"made up":null}"#;
    let outcome = ask(&hook, &about_to_run(json!({"mode": "data", "data": data}))).await;
    let Ok(HookOutcome::ContinueWith(changes)) = outcome else { panic!("{outcome:?}") };
    assert_eq!(
        Value::from(changes),
        serde_json::from_str::<Value>(data).expect("an object"),
        "what it means is not decided here"
    );
    assert_eq!(said(ask(&hook, &about_to_run(json!({"mode": "abort", "message": "not today"}))).await), "not today");
    assert_eq!(said(ask(&hook, &about_to_run(json!({"mode": "abort"}))).await), "aborted by plugin answers");
}

/// D-6: data is an object; a guest that lies is no better than one that breaks.
#[tokio::test]
async fn data_that_is_no_object_is_a_failure_that_says_so() {
    let hook = before("liar", Instancing::PerCall);
    for (data, found) in [("[1]", "an array"), ("null", "null"), ("{\"a\":", "text that is not JSON"), ("", "not JSON")]
    {
        let error = error_of(&hook, json!({"mode": "data", "data": data})).await;
        assert_eq!(error.kind(), Some("INVALID_OUTPUT"), "{error}");
        assert!(
            error.message.starts_with("hook BeforeToolUse of plugin \"liar\" answered `continue-with` with "),
            "{error}"
        );
        assert!(error.message.contains(found), "{error}");
    }
}

/// K-61.
#[tokio::test]
async fn a_panic_is_told_with_its_place_and_the_plugin() {
    let hook = before("breaker", Instancing::PerCall);
    let error = error_of(&hook, json!({"mode": "panic", "message": "no such luck"})).await;
    assert_eq!(error.kind(), Some("PANIC"));
    let start = "hook BeforeToolUse of plugin \"breaker\" panicked at tests/guests/hostile/src/run.rs:";
    assert!(error.message.starts_with(start) && error.message.ends_with(": no such luck"), "{error}");
    assert_eq!(said(ask(&hook, &about_to_run(json!({"mode": "count"}))).await), "1", "a fresh call works");
}

/// Y4.6-1, Y10: each way to break has the name that it has for tools.
#[tokio::test]
async fn every_way_to_break_has_the_kind_that_it_has_for_tools() {
    let hook = hook_with("breaker", |component| component.memory_bytes = Some(32 << 20));
    for (config, kind) in [
        (json!({"mode": "trap"}), "TRAP"),
        (json!({"mode": "exit"}), "EXIT"),
        (json!({"mode": "guest-error", "message": "not now"}), "GUEST_ERROR"),
        (json!({"mode": "allocate"}), "LIMIT_MEMORY"),
        (json!({"mode": "recurse"}), "LIMIT_STACK"),
        (json!({"mode": "large-output", "bytes": 40 << 20}), "LIMIT_MEMORY"),
    ] {
        let error = error_of(&hook, config.clone()).await;
        assert_eq!(error.kind(), Some(kind), "{config}: {error}");
        assert!(error.message.starts_with("hook BeforeToolUse of plugin \"breaker\" "), "{error}");
    }
    let hook = before("talker", Instancing::PerCall);
    let error = error_of(&hook, json!({"mode": "large-output", "bytes": 40 << 20})).await;
    assert_eq!(error.kind(), Some("LIMIT_OUTPUT"), "{error}");
}

/// K-62: loops, waits and endless printing are stopped by their time, which the message names with its key.
#[tokio::test]
async fn a_handler_that_does_not_end_is_stopped_by_its_time() {
    for instancing in [Instancing::PerCall, Instancing::PerSession] {
        let hook = before("looper", instancing);
        for config in [json!({"mode": "loop"}), json!({"mode": "sleep", "ms": 60_000}), json!({"mode": "log"})] {
            let error =
                ask_within(&hook, &about_to_run(config), Duration::from_millis(200)).await.expect_err("stopped");
            assert_eq!((error.code, error.kind()), (ErrorCode::HookFailed, Some("LIMIT_TIME")));
            assert!(error.message.contains("200 ms") && error.message.contains("`timeout_ms`"), "{error}");
        }
    }
}

/// Y4.6-1: a cancelled session does not wait for its handlers.
#[tokio::test]
async fn a_cancelled_handler_ends() {
    for instancing in [Instancing::PerCall, Instancing::PerSession] {
        let hook = before("looper", instancing);
        hook.warm_up().await.expect("loads");
        let context = context(Duration::from_secs(60));
        let cancel = context.cancel.clone();
        let canceller = async {
            tokio::task::yield_now().await;
            cancel.cancel();
        };
        let payload = about_to_run(json!({"mode": "loop"}));
        let (result, ()) = tokio::join!(hook.handle(&payload, context), canceller);
        let error = result.expect_err("cancelled");
        assert_eq!((error.code, error.kind()), (ErrorCode::HookFailed, Some("CANCELLED")));
    }
}

/// K-62: on one thread, others are served while a handler computes without end; it is only ended after them.
#[tokio::test(flavor = "current_thread")]
async fn the_executor_is_not_blocked_by_a_handler_that_loops() {
    for instancing in [Instancing::PerCall, Instancing::PerSession] {
        let (looping, other) = (before("looper", instancing), before("other", instancing));
        looping.warm_up().await.expect("loads");
        let context = context(Duration::from_secs(300));
        let cancel = context.cancel.clone();
        let payload = about_to_run(json!({"mode": "loop"}));
        let others = async {
            for _ in 0..3 {
                said(ask(&other, &about_to_run(json!({"mode": "spin", "ms": 1}))).await);
            }
            cancel.cancel();
        };
        let (result, ()) = tokio::join!(looping.handle(&payload, context), others);
        assert_eq!(result.expect_err("stopped").kind(), Some("CANCELLED"), "the others waited for the loop's own end");
    }
}

/// K-63: the grants of a plugin are its own, and a denial names the line that would help.
#[tokio::test]
async fn a_handler_reaches_what_it_was_granted_and_nothing_else() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(dir.path().join("data")).expect("made");
    std::fs::write(dir.path().join("data/in.txt"), "inside").expect("written");
    std::fs::write(dir.path().join("out.txt"), "outside").expect("written");
    let grants = Grants::parse(&["./data".to_owned()], &[], &[], &[]).expect("legal");
    let hook = hook_with("reader", |component| component.grants = grants);
    let read = async |config: Value| {
        let mut context = context(Duration::from_secs(60));
        context.cwd = Arc::from(dir.path());
        hook.handle(&about_to_run(config), context).await
    };
    assert_eq!(said(read(json!({"mode": "read", "path": "./data/in.txt"})).await), "inside");
    for path in ["./data/../out.txt", "../out.txt", "/etc/passwd", "./out.txt"] {
        let error = read(json!({"mode": "read-then-panic", "path": path})).await.expect_err("denied");
        assert_eq!((error.code, error.kind()), (ErrorCode::HookFailed, Some("DENIED_READ")), "{path}: {error}");
        assert!(error.message.contains("permissions: { read: "), "{error}");
    }
    let error = read(json!({"mode": "write", "path": "./data/new.txt"})).await;
    assert!(said(error).contains("denied"), "a read grant is no write grant");
    assert!(!dir.path().join("data/new.txt").exists());
}

/// K-60: what is wrong with the file shows before anything is compiled, in one message.
#[tokio::test]
async fn a_component_without_the_handler_is_refused() {
    let plugin = plugin_of(&Fixture::shared().host, "half", Instancing::PerCall, |_| {});
    let (first, second) = (HookEvent::TurnEnd, HookEvent::BeforeToolUse);
    let missing = plugin.handler(first, HookSettings::default());
    for _ in 0..2 {
        let error = missing.handle(&turn_ended(), context(Duration::from_secs(60))).await.expect_err("not exported");
        assert_eq!((error.code, error.kind()), (ErrorCode::HookFailed, Some("MISSING_EXPORT")));
        assert!(error.message.starts_with("hook TurnEnd of plugin \"half\" cannot be run: "), "{error}");
        assert!(error.message.contains("exports found: youyou:plugin/tool@1.0.0"), "{error}");
        assert_eq!(missing.warm_up().await, Err(error));
        // The second time the component is there, for its other handler.
        ask(&plugin.handler(second, HookSettings::default()), &about_to_run(json!({"mode": "continue"})))
            .await
            .expect("works");
    }
    let none = hook_with("none", |component| component.path = "/no/such.wasm".into());
    assert_eq!(none.warm_up().await.expect_err("no file").kind(), Some("COMPONENT_MISSING"));
}

/// A handler that is tapped at another event than its own says so.
#[tokio::test]
async fn a_handler_that_is_asked_about_another_event_says_so() {
    let hook = before("lost", Instancing::PerCall);
    let error = ask(&hook, &has_run(json!({"mode": "continue"}))).await.expect_err("another event");
    assert!(error.message.contains("it was asked about AfterToolUse"), "{error}");
}

/// D-14, D-15: what the index.md says about a handler, and for all handlers of its component.
#[tokio::test]
async fn a_handler_tells_its_settings() {
    let second = Duration::from_secs(1);
    let plugin =
        plugin_of(&Fixture::shared().host, "set", Instancing::PerCall, |component| component.timeout = Some(second));
    let settings = HookSettings { timeout: Some(2 * second), on_failure: OnFailure::Abort };
    let (own, common) = (
        plugin.handler(HookEvent::BeforeToolUse, settings),
        plugin.handler(HookEvent::AfterToolUse, HookSettings::default()),
    );
    assert_eq!((own.timeout(), own.on_failure()), (Some(2 * second), OnFailure::Abort));
    assert_eq!((common.timeout(), common.on_failure()), (Some(second), OnFailure::Continue));
    assert_eq!(own.backend(), "component");
}

/// Each event has a fresh instance unless the plugin asks for another.
#[tokio::test]
async fn nothing_is_remembered_from_one_event_to_the_next() {
    let hook = before("counter", Instancing::PerCall);
    for _ in 0..3 {
        assert_eq!(said(ask(&hook, &about_to_run(json!({"mode": "count"}))).await), "1");
    }
}
