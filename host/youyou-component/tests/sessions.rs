//! `instance: per_session`: what a plugin remembers from one event to the next, when it is lost, and that this is told
//! (K-67, Y3.5-4).

mod guest;
#[path = "guest/plugin.rs"]
mod plugin;

use std::{
    future::poll_fn,
    io,
    pin::pin,
    sync::{Arc, Mutex},
    task::Poll,
    time::Duration,
};

use futures_util::future::join_all;
use guest::{Fixture, host_with};
use plugin::{about_to_run, ask, ask_within, before, context, has_run, plugin as plugin_of, said};
use serde_json::{Value, json};
use tracing::{Dispatch, dispatcher};
use youyou_api::{HookEvent, HookHandler};
use youyou_component::{
    Allocation, ComponentHook, ComponentHost, ComponentPlugin, HookSettings, HostConfig, Instancing,
};

fn per_session(id: &str) -> ComponentPlugin {
    plugin_of(&Fixture::shared().host, id, Instancing::PerSession, |_| {})
}

fn handlers(plugin: &ComponentPlugin) -> (ComponentHook, ComponentHook) {
    let handler = |event| plugin.handler(event, HookSettings::default());
    (handler(HookEvent::BeforeToolUse), handler(HookEvent::AfterToolUse))
}

/// How many calls the instance has seen, this one included.
async fn count(hook: &ComponentHook) -> String {
    said(ask(hook, &about_to_run(json!({"mode": "count"}))).await)
}

/// Warnings that are logged while `test` runs on this thread.
fn warnings(test: impl Future<Output = ()>) -> Vec<String> {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_ansi(false)
        .without_time()
        .with_writer(move || writer.clone())
        .finish();
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("an executor");
    dispatcher::with_default(&Dispatch::new(subscriber), || executor.block_on(test));
    let text = String::from_utf8(std::mem::take(&mut *log.0.lock().expect("not poisoned"))).expect("text");
    text.lines().map(str::to_owned).collect()
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("not poisoned").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Y3.5-4: one instance for all events of a session, and another for the next session.
#[tokio::test]
async fn what_a_plugin_remembers_lasts_for_a_session() {
    let plugin = per_session("counter");
    let (before, after) = handlers(&plugin);
    assert_eq!(count(&before).await, "1");
    assert_eq!(said(ask(&after, &has_run(json!({"mode": "count"}))).await), "2", "every handler speaks to the same");
    // An answer that cannot be used, or none, breaks nothing.
    ask(&before, &about_to_run(json!({"mode": "data", "data": "[]"}))).await.expect_err("no object");
    ask(&before, &about_to_run(json!({"mode": "guest-error"}))).await.expect_err("an error");
    assert_eq!(count(&before).await, "3");
    assert_eq!(count(&handlers(&per_session("counter")).0).await, "1");
}

/// K-67: a trap in the third call; the fourth works, and it is known that what was remembered is lost.
#[test]
fn a_plugin_that_trapped_is_made_anew_and_the_loss_is_told() {
    let lines = warnings(async {
        let plugin = per_session("fragile");
        let (before, after) = handlers(&plugin);
        assert_eq!(count(&before).await, "1");
        assert_eq!(count(&before).await, "2");
        let error = ask(&after, &has_run(json!({"mode": "trap"}))).await.expect_err("traps");
        assert_eq!(error.kind(), Some("TRAP"));
        assert_eq!(count(&before).await, "1");
        assert_eq!(count(&before).await, "2");
    });
    let [line] = &lines[..] else { panic!("one warning, found {lines:?}") };
    assert!(line.contains("what was remembered of this session is lost"), "{line}");
    assert!(line.contains("broke off in hook AfterToolUse of plugin \"fragile\""), "{line}");
    assert!(line.contains("hook BeforeToolUse of plugin \"fragile\" starts a new one"), "{line}");
}

/// K-67, K-61, K-62: whatever ends a call half-way ends the instance.
#[test]
fn every_call_that_did_not_return_ends_the_instance() {
    for config in [
        json!({"mode": "panic", "message": "x"}),
        json!({"mode": "exit"}),
        json!({"mode": "allocate"}),
        json!({"mode": "recurse"}),
        json!({"mode": "loop"}),
        json!({"mode": "sleep", "ms": 60_000}),
    ] {
        let lines = warnings(async {
            let plugin = plugin_of(&Fixture::shared().host, "fragile", Instancing::PerSession, |component| {
                component.memory_bytes = Some(32 << 20);
            });
            let (hook, _) = handlers(&plugin);
            assert_eq!(count(&hook).await, "1");
            ask_within(&hook, &about_to_run(config.clone()), Duration::from_millis(500)).await.expect_err("breaks off");
            assert_eq!(count(&hook).await, "1", "{config}");
        });
        assert_eq!(lines.len(), 1, "{config}: {lines:?}");
    }
}

/// K-67: a call whose future was dropped while the guest ran.
#[test]
fn a_dropped_call_ends_the_instance() {
    let lines = warnings(async {
        let (hook, _) = handlers(&per_session("dropped"));
        assert_eq!(count(&hook).await, "1");
        let payload = about_to_run(json!({"mode": "sleep", "ms": 60_000}));
        {
            let mut call = pin!(hook.handle(&payload, context(Duration::from_secs(300))));
            // One poll takes the guest to where it waits for the clock.
            let pending = poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx).is_pending())).await;
            assert!(pending);
        }
        assert_eq!(count(&hook).await, "1");
    });
    assert_eq!(lines.len(), 1, "{lines:?}");
}

/// Calls queue: each sees what all before it left, and none runs beside another.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_at_one_time_run_one_after_another() {
    let (hook, _) = handlers(&per_session("queue"));
    let calls = join_all((0..20).map(|_| count(&hook))).await;
    let mut seen: Vec<u32> = calls.iter().map(|count| count.parse().expect("a number")).collect();
    seen.sort_unstable();
    assert_eq!(seen, (1..=20).collect::<Vec<_>>());
}

/// A call that waits for its turn waits no longer than it may, and disturbs nobody.
#[tokio::test]
async fn a_call_in_the_queue_has_its_own_deadline() {
    let (hook, _) = handlers(&per_session("queue"));
    hook.warm_up().await.expect("loads");
    let context = context(Duration::from_secs(300));
    let cancel = context.cancel.clone();
    let slow = about_to_run(json!({"mode": "loop"}));
    let waiting = async {
        let error = ask_within(&hook, &about_to_run(json!({"mode": "count"})), Duration::from_millis(50)).await;
        assert_eq!(error.expect_err("waited too long").kind(), Some("LIMIT_TIME"));
        cancel.cancel();
    };
    let (slow, ()) = tokio::join!(hook.handle(&slow, context), waiting);
    assert_eq!(slow.expect_err("cancelled").kind(), Some("CANCELLED"));
}

/// Budgets are those of a call: what one event used up or was refused is history for the next.
#[tokio::test]
async fn every_call_has_its_own_budgets() {
    let plugin = plugin_of(&Fixture::shared().host, "spender", Instancing::PerSession, |component| {
        component.memory_bytes = Some(32 << 20);
    });
    let (hook, _) = handlers(&plugin);
    let error = ask(&hook, &about_to_run(json!({"mode": "allocate-politely"}))).await.expect_err("an error of its own");
    assert!(error.message.contains("`memory_mb`"), "{error}");
    let error = ask(&hook, &about_to_run(json!({"mode": "guest-error", "message": "x"}))).await.expect_err("again");
    assert!(!error.message.contains("`memory_mb`"), "the refusal was an earlier call's: {error}");
    said(ask(&hook, &about_to_run(json!({"mode": "read", "path": "/etc/passwd"}))).await);
    let error = ask(&hook, &about_to_run(json!({"mode": "guest-error", "message": "x"}))).await.expect_err("again");
    assert_eq!(error.details.get("denials"), None, "the denial was an earlier call's: {error}");
    assert_eq!(count(&hook).await, "1", "the instance lived on");
}

/// A kept instance takes one place of a pool, and gives it back when its plugin is gone.
#[tokio::test]
async fn a_kept_instance_gives_its_place_in_a_pool_back() {
    let mut config = HostConfig::default();
    config.cache_dir = None;
    config.allocation = Allocation::Pooling { calls: 1, memory_bytes: 16 << 20 };
    let host = ComponentHost::new(config).expect("a host");
    let kept = plugin_of(&host, "kept", Instancing::PerSession, |_| {});
    let (hook, after) = handlers(&kept);
    assert_eq!((count(&hook).await, count(&hook).await), ("1".to_owned(), "2".to_owned()));
    let (other, _) = handlers(&plugin_of(&host, "other", Instancing::PerCall, |_| {}));
    let waited = ask_within(&other, &about_to_run(json!({"mode": "count"})), Duration::from_millis(50)).await;
    assert_eq!(waited.expect_err("no place").kind(), Some("LIMIT_TIME"));
    drop((kept, hook, after));
    assert_eq!(count(&other).await, "1");
}

/// Making a plugin reads nothing; a handler that is never asked costs nothing.
#[tokio::test]
async fn nothing_happens_before_the_first_event() {
    let dir = tempfile::tempdir().expect("a directory");
    let host = host_with(Some(dir.path().join("cache")));
    let plugin = plugin_of(&host, "idle", Instancing::PerSession, |component| component.path = "/no/such.wasm".into());
    let (hook, _) = handlers(&plugin);
    assert!(!dir.path().join("cache").exists());
    let error = hook.handle(&about_to_run(Value::Null), context(Duration::from_secs(60))).await.expect_err("no file");
    assert_eq!(error.kind(), Some("COMPONENT_MISSING"));
    drop(before("unused", Instancing::PerSession));
}
