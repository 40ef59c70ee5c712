//! What is kept: compiled code between processes, and a running session's own view of its tools while files change.

use std::{fs, path::PathBuf};

use serde_json::json;
use tracing::Level;
use youyou::CallStats;
use youyou_tests::{
    Session, World, guest, recorded,
    session::{error_of, text_of},
    tool::{component, hostile, script},
    world::components,
};

/// Where the code of one call came from: `compiled`, `cache` or `memory`.
async fn origin(session: &Session, tool: &str) -> String {
    let mut scope = session.scope();
    scope.stats = CallStats::on();
    text_of(&session.call_in(&scope, tool, "{}").await);
    scope.stats.snapshot()["code"].as_str().expect("a text").to_owned()
}

fn entries(world: &World) -> Vec<PathBuf> {
    let dir = fs::read_dir(world.path("cache/components")).expect("a cache");
    dir.map(|entry| entry.expect("readable").path()).collect()
}

/// K-64: a cache entry that was cut, changed by one bit, emptied or replaced is compiled again, with one warning each.
#[test]
fn a_damaged_entry_is_compiled_again_with_a_warning() {
    let world = World::new(&component("echo", "echo", ""));
    recorded(async |_| assert_eq!(origin(&world.open_with_own_cache(), "echo").await, "compiled"));
    let entry = entries(&world).pop().expect("an entry");
    let whole = fs::read(&entry).expect("readable");
    let half = whole[..whole.len() / 2].to_vec();
    let mut flipped = whole.clone();
    flipped[whole.len() / 3] ^= 1;
    for (what, damaged) in [("half", half), ("flipped", flipped), ("empty", Vec::new()), ("text", b"hello".to_vec())] {
        fs::write(&entry, &damaged).expect("writes");
        let ((), log) = recorded(async |_| {
            assert_eq!(origin(&world.open_with_own_cache(), "echo").await, "compiled", "{what}");
        });
        let warnings = log.lines(Level::WARN);
        assert!(matches!(&warnings[..], [one] if one.contains("is damaged; it is compiled again")), "{warnings:?}");
        assert_eq!(fs::read(&entry).expect("readable"), whole, "{what}");
        recorded(async |_| assert_eq!(origin(&world.open_with_own_cache(), "echo").await, "cache", "{what}"));
    }
}

/// K-64: without a cache everything works, with one warning however many components there are.
#[test]
fn a_cache_that_cannot_be_written_costs_one_warning_and_time() {
    let world = World::new(&[component("echo", "echo", ""), hostile("other", "")].concat());
    world.write("cache", "a file where the directory should be");
    let ((), log) = recorded(async |_| {
        let session = world.open_with_own_cache();
        assert_eq!(origin(&session, "echo").await, "compiled");
        let other = session.call("other", json!({"mode": "count"})).await;
        assert_eq!(text_of(&other), "1");
    });
    let warnings = log.lines(Level::WARN);
    assert!(matches!(&warnings[..], [one] if one.contains("compiled components cannot be kept in")), "{warnings:?}");
}

/// K-64: sessions of one process that start at once compile a component once.
#[test]
fn one_content_is_compiled_once_by_a_process() {
    let world = World::new(&[component("one", "echo", ""), component("two", "echo", "")].concat());
    recorded(async |_| {
        let host = components(&world.path("cache/components"));
        let [a, b] = [world.open_with(host.clone(), |b| b), world.open_with(host, |b| b)];
        let (one, two, three) = tokio::join!(origin(&a, "one"), origin(&a, "two"), origin(&b, "one"));
        let mut origins = [one, two, three];
        origins.sort();
        assert_eq!(origins, ["compiled", "memory", "memory"]);
    });
    assert_eq!(entries(&world).len(), 1);
}

/// Opening a runtime, and listing what is in it, compiles nothing and starts nothing.
#[tokio::test]
async fn nothing_is_compiled_before_it_is_called() {
    let world = World::new(&[component("echo", "echo", ""), script("mark", "touch \"$YOUYOU_HOME/started\"")].concat());
    let session = world.open_with_own_cache();
    assert_eq!(session.runtime().tools().len(), 2);
    assert!(!world.path("cache").exists() && !world.path("home/started").exists());
}

/// K-66: a session keeps the component that it has used; the next one has the new file.
#[tokio::test]
async fn a_session_keeps_a_component_whose_file_is_replaced() {
    let world = World::new(&component("tool", "echo", ""));
    let session = world.open();
    let arguments = json!({"mode": "count"});
    let echoed = r#"{"call_id":"call-1","tool_name":"tool","arguments":{"mode":"count"}}"#;
    assert_eq!(text_of(&session.call("tool", arguments.clone()).await), echoed);
    fs::copy(guest("hostile"), world.path("home/tools/tool/tool.wasm")).expect("replaced");
    assert_eq!(text_of(&session.call("tool", arguments.clone()).await), echoed);
    assert_eq!(text_of(&world.open().call("tool", arguments).await), "1");
}

/// Y2-1: what index.md said when a session began holds until it ends, whether it is edited, removed or newly made.
#[tokio::test]
async fn an_edit_of_index_md_is_for_the_next_session() {
    let world = World::new(&[script("edited", "echo \"$0 $1\""), script("removed", "echo still here")].concat());
    let old = world.open();
    let index = world.read("home/tools/edited/index.md");
    world.write("home/tools/edited/index.md", index.replace("./run", "./run\n  args: [new]").replace("Does", "Did"));
    fs::remove_file(world.path("home/tools/removed/index.md")).expect("removed");
    world.add(&script("made", "echo made"));
    let new = world.open();

    let described = |session: &Session| session.runtime().tools()[0].spec.description.clone();
    assert_eq!((described(&old).as_str(), described(&new).as_str()), ("Does edited.", "Did edited."));
    let run = world.path("home/tools/edited/run").display().to_string();
    assert_eq!(text_of(&old.call("edited", json!({})).await), format!("{run} "));
    assert_eq!(text_of(&new.call("edited", json!({})).await), format!("{run} new"));
    assert_eq!(text_of(&old.call("removed", json!({})).await), "still here");
    assert!(error_of(&new.call("removed", json!({})).await).message.contains("the folder holds no index.md"));
    assert!(error_of(&old.call("made", json!({})).await).message.starts_with("no tool is named \"made\""));
    assert_eq!(text_of(&new.call("made", json!({})).await), "made");
}
