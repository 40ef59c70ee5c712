//! K-64, K-66 with a real component: compiled once, kept on disk, and never in the way of a call.

mod guest;

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use guest::{Fixture, call, error_of, host_with, hostile, input, outcome, tool_of};
use serde_json::json;
use youyou_api::{CallStats, ToolHandler};
use youyou_component::{ComponentHost, ComponentTool};

/// Names the cache directory to the copies of this program that a test starts.
const CHILD: &str = "YOUYOU_TEST_CACHE_DIR";

/// Calls the tool once and tells where its code came from.
async fn origin(tool: &ComponentTool) -> String {
    let mut context = Fixture::context(Duration::from_secs(120));
    context.stats = CallStats::on();
    outcome(tool.call(input(json!({"mode": "count"})), context.clone()).await);
    context.stats.snapshot()["code"].as_str().expect("is text").to_owned()
}

fn tool(host: &ComponentHost) -> ComponentTool {
    tool_of(host, "counter", &hostile(), |_| {})
}

fn entries(dir: &Path) -> Vec<std::path::PathBuf> {
    fs::read_dir(dir).expect("lists").map(|entry| entry.expect("an entry").path()).collect()
}

#[tokio::test]
async fn code_comes_from_memory_else_from_the_cache_else_from_the_compiler() {
    let fixture = Fixture::new();
    let cache = fixture.dir.path().join("cache");
    let first = tool(&fixture.host);
    assert!(!cache.exists(), "making a host and a tool touches nothing");
    assert_eq!(origin(&first).await, "compiled");
    assert_eq!(origin(&tool(&fixture.host)).await, "memory");
    assert_eq!(origin(&tool(&host_with(Some(cache.clone())))).await, "cache");
    assert_eq!(fixture.host.cache().info().expect("readable").entries, 1);
    drop(first);
    assert_eq!(origin(&tool(&fixture.host)).await, "cache", "code that nobody uses is not kept in memory");
}

#[tokio::test]
async fn what_many_tools_need_at_once_is_compiled_once() {
    let fixture = Fixture::new();
    let tools: Vec<_> = (0..6).map(|_| tool(&fixture.host)).collect();
    let mut calls = tokio::task::JoinSet::new();
    for tool in tools {
        calls.spawn(async move {
            let origin = origin(&tool).await;
            (tool, origin)
        });
    }
    let origins: Vec<_> = calls.join_all().await.into_iter().map(|(_, origin)| origin).collect();
    assert_eq!(origins.iter().filter(|origin| *origin == "compiled").count(), 1, "{origins:?}");
    assert_eq!(origins.iter().filter(|origin| *origin == "memory").count(), 5, "{origins:?}");
}

/// K-64: two processes start with an empty cache at once; both work, and one entry is left.
#[test]
fn two_processes_with_an_empty_cache_both_work() {
    let dir = tempfile::tempdir().expect("a directory");
    let cache = dir.path().join("cache");
    let start = || {
        Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "one_process_of_several", "--include-ignored", "--nocapture"])
            .env(CHILD, &cache)
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts")
    };
    let processes = [start(), start()];
    for process in processes {
        let output = process.wait_with_output().expect("ends");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("code from"), "{said}");
    }
    assert_eq!(entries(&cache).len(), 1);
}

#[tokio::test]
#[ignore = "one half of two_processes_with_an_empty_cache_both_work"]
async fn one_process_of_several() {
    let Some(cache) = std::env::var_os(CHILD) else { return };
    println!("code from {}", origin(&tool(&host_with(Some(cache.into())))).await);
}

/// K-64: a cache file cut in half.
#[tokio::test]
async fn a_damaged_entry_is_compiled_anew() {
    let fixture = Fixture::new();
    let cache = fixture.dir.path().join("cache");
    assert_eq!(origin(&tool(&fixture.host)).await, "compiled");
    let entry = entries(&cache).pop().expect("an entry");
    let whole = fs::read(&entry).expect("readable");
    fs::write(&entry, &whole[..whole.len() / 2]).expect("cut");
    assert_eq!(origin(&tool(&host_with(Some(cache.clone())))).await, "compiled");
    assert_eq!(origin(&tool(&host_with(Some(cache)))).await, "cache");
}

/// K-64: a cache directory that cannot be made.
#[tokio::test]
async fn without_a_cache_directory_everything_works() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("file"), "").expect("written");
    let host = host_with(Some(dir.path().join("file").join("cache")));
    assert_eq!(origin(&tool(&host)).await, "compiled");
    assert_eq!(origin(&tool(&host_with(None))).await, "compiled");
}

/// Y4.4-2: a call that has no time to compile ends in time, and what it began is there for the next.
#[tokio::test]
async fn a_call_ends_in_time_while_its_component_is_compiled() {
    let fixture = Fixture::new();
    let tool = tool(&fixture.host);
    let error = error_of(tool.call(input(json!({"mode": "count"})), Fixture::context(Duration::ZERO)).await);
    assert_eq!(error.kind(), Some("LIMIT_TIME"));
    assert!(error.message.contains("still being compiled"), "{error}");
    assert_eq!(outcome(call(&tool, json!({"mode": "count"})).await).content, "1");
}

/// K-66, the tool's part.
#[tokio::test]
async fn a_tool_keeps_the_component_that_it_loaded() {
    let fixture = Fixture::new();
    let path = fixture.dir.path().join("tool.wasm");
    fs::copy(hostile(), &path).expect("copied");
    let old = tool_of(&fixture.host, "old", &path, |_| {});
    assert_eq!(outcome(call(&old, json!({"mode": "count"})).await).content, "1");
    fs::write(&path, "something else").expect("replaced");
    assert_eq!(outcome(call(&old, json!({"mode": "count"})).await).content, "1");
    let new = tool_of(&fixture.host, "new", &path, |_| {});
    let error = new.warm_up().await.expect_err("is no component any more");
    assert_eq!(error.kind(), Some("TEXT"));
    assert!(error.message.starts_with("tool \"new\" cannot be run: "), "{error}");
    // A failure is not kept: the file may have been mended.
    fs::copy(hostile(), &path).expect("mended");
    new.warm_up().await.expect("loads");
}

/// K-60: what is not fit to run is refused at the call, too, before anything is compiled.
#[tokio::test]
async fn a_call_of_what_is_no_component_is_a_failure_for_the_model() {
    let fixture = Fixture::new();
    let path = fixture.dir.path().join("tool.wasm");
    fs::write(&path, wat::parse_str("(module)").expect("well-formed")).expect("written");
    let tool = tool_of(&fixture.host, "t", &path, |_| {});
    let error = error_of(tool.call(input(json!({})), Fixture::context(Duration::from_secs(60))).await);
    assert_eq!(error.kind(), Some("CORE_MODULE"));
    assert_eq!(fixture.host.cache().info().expect("readable").entries, 0);
}
