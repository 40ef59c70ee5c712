//! `youyou cache`, and the cache as processes share it.

use std::fs;

use youyou_tests::{compile_cache, tool::component};

use crate::desk::{Desk, on_one_thread};

const ECHO: &str = r#"{"call_id":"run-tool","tool_name":"echo","arguments":{}}"#;

fn desk() -> Desk {
    Desk::with_own_cache(&component("echo", "echo", ""))
}

fn entries(desk: &Desk) -> Vec<std::path::PathBuf> {
    let dir = fs::read_dir(desk.world.path("cache/youyou/components")).expect("a cache");
    dir.map(|entry| entry.expect("readable").path()).collect()
}

/// Where the code came from, as the program itself says.
fn origin(desk: &Desk) -> String {
    let ran = desk.run(&["run-tool", "echo", "--json", "--stats"]);
    assert_eq!((ran.code, &ran.json()["content"]), (Some(0), &ECHO.into()), "{ran:?}");
    ran.json()["stats"]["code"].as_str().expect("a text").to_owned()
}

/// K-64: two processes that start at once with an empty cache.
#[test]
fn two_processes_with_an_empty_cache_both_work() {
    let desk = desk();
    let start = || desk.finish_later(desk.youyou(&["run-tool", "echo"]), b"");
    let (one, two) = on_one_thread(async { tokio::join!(start(), start()) });
    assert_eq!((one.shown(), two.shown()), (format!("out| {ECHO}\nexit 0"), format!("out| {ECHO}\nexit 0")));
    assert_eq!(entries(&desk).len(), 1, "no half-written file is left");
    assert_eq!(origin(&desk), "cache");
}

/// K-64: one warning on stderr, and the answer on stdout as ever.
#[test]
fn a_damaged_entry_is_compiled_again_and_said_so() {
    let desk = desk();
    assert_eq!(origin(&desk), "compiled");
    let entry = entries(&desk).pop().expect("an entry");
    let mut code = fs::read(&entry).expect("readable");
    let half = code.len() / 2;
    code[half] ^= 1;
    for damaged in [&code[..], &code[..half]] {
        fs::write(&entry, damaged).expect("writes");
        let ran = desk.run(&["run-tool", "echo"]);
        let name = entry.file_name().and_then(|name| name.to_str()).expect("a name");
        let shown = ran.shown().replace(name, "[entry]");
        insta::allow_duplicates! {
            insta::assert_snapshot!(shown, @r#"
            out| {"call_id":"run-tool","tool_name":"echo","arguments":{}}
            err| warning: compiled code in [world]/cache/youyou/components/[entry] is damaged; it is compiled again
            exit 0
            "#);
        }
        assert_eq!(origin(&desk), "cache");
    }
}

/// K-64: a file stands where the directory should be, which holds for root as well.
#[test]
fn a_cache_that_cannot_be_written_is_one_warning() {
    let desk = desk();
    desk.world.write("cache/youyou", "a file");
    let ran = desk.run(&["run-tool", "echo"]);
    insta::assert_snapshot!(ran.shown(), @r#"
    out| {"call_id":"run-tool","tool_name":"echo","arguments":{}}
    err| warning: compiled components cannot be kept in [world]/cache/youyou/components: Not a directory (os error 20); they work, but every process compiles them anew. Make that directory writable for you alone, or choose another cache directory
    exit 0
    "#);
}

#[test]
fn the_cache_can_be_looked_at_and_cleared() {
    let desk = desk();
    let shown = |args: &[&str]| {
        let ran = desk.run(args);
        let mib =
            |text: &str| text.split(" MiB of at").next().and_then(|text| text.rsplit(", ").next()).map(str::to_owned);
        let size = mib(&ran.stdout).unwrap_or_default();
        ran.shown().replace(&format!("{size} MiB of"), "[size] MiB of")
    };
    insta::assert_snapshot!(shown(&["cache"]), @"
    out| [world]/cache/youyou/components holds 0 compiled components, [size] MiB of at most 2048.0 MiB
    exit 0
    ");
    origin(&desk);
    insta::assert_snapshot!(shown(&["cache", "info"]), @"
    out| [world]/cache/youyou/components holds 1 compiled component, [size] MiB of at most 2048.0 MiB
    exit 0
    ");
    let info = desk.run(&["cache", "info", "--json"]).json();
    assert_eq!((&info["entries"], &info["dir"]), (&1.into(), &"[world]/cache/youyou/components".into()));
    assert!(info["bytes"].as_u64().is_some_and(|bytes| bytes > 0));
    insta::assert_snapshot!(shown(&["cache", "clear"]), @"
    out| [world]/cache/youyou/components is empty; it held 1 compiled component, [size] MiB of at most 2048.0 MiB
    exit 0
    ");
    assert_eq!(entries(&desk), Vec::<std::path::PathBuf>::new());
    assert_eq!(origin(&desk), "compiled");
}

/// What the tests themselves share is found by the program where the kit says.
#[test]
fn the_shared_cache_is_where_the_kit_says() {
    let info = Desk::new("").run(&["cache", "--json"]).json();
    let dir = compile_cache().display().to_string();
    assert_eq!(
        info["dir"].as_str().map(|shown| shown.replace("[repository]", "")),
        Some(dir.replace(&youyou_tests::repository().display().to_string(), ""))
    );
}
