//! Input that is no good: one clear message, an exit status that tells whose fault it is, and nothing was started.

use youyou_tests::tool::{hostile, index, script};

use crate::desk::{Desk, Ran};

/// Tools that leave a trace when they are started.
fn desk() -> Desk {
    let required = "{ name: text, type: string, required: true }";
    let marked = script("marked", "touch started; cat").replace("{ name: text, type: string }", required);
    let desk = Desk::new(&marked);
    desk.world.write("home/tools/broken/index.md", "---\nversion: 1\nname: other\n---\nDoes nothing.\n");
    desk.world.write("home/tools/no-component/index.md", index("no-component", "component: none.wasm"));
    desk.world.write("work/not-utf8.json", b"{\"text\":\"caf\xe9\"}");
    desk.world.write("work/cut.json", "{\"text\":\"caf");
    desk.world.add("-- work/folder/\n-- work/empty.json\n");
    desk
}

/// Runs a command for a person and for a program, and checks that both are told the same.
#[track_caller]
fn both_ways(desk: &Desk, args: &[&str]) -> Ran {
    let plain = desk.run(args);
    let json = desk.run(&[args, &["--json"]].concat());
    let error = json.json()["error"].clone();
    assert_eq!((plain.code, &*plain.stdout), (json.code, ""), "{plain:?} {json:?}");
    assert_eq!(plain.stderr, format!("error: {}\n", error["message"].as_str().expect("a message")));
    assert_eq!(json.stderr, "");
    assert_eq!(plain.stderr.lines().count(), 1, "one message: {}", plain.stderr);
    for key in ["code", "retryable", "source"] {
        assert!(!error[key].is_null(), "Y10-1: {key} is not in {error}");
    }
    plain
}

/// K-23, D-52, Y10-1: each bad input has a message of its own, and the tool was not started.
#[test]
fn bad_input_is_told_apart_and_starts_nothing() {
    let desk = desk();
    let inputs = [
        "null",
        "[]",
        "\"x\"",
        "7",
        "",
        "{\"text\":\"caf",
        "{'text':1}",
        "{} {}",
        "{}",
        r#"{"text":1}"#,
        r#"{"txt":"a"}"#,
        "@missing.json",
        "@not-utf8.json",
        "@cut.json",
        "@empty.json",
        "@folder",
        "@",
        "-",
    ];
    let shown = inputs.map(|input| {
        let ran = both_ways(&desk, &["run-tool", "marked", "--args", input]);
        assert_eq!(ran.code, Some(2), "{input}");
        assert!(!desk.world.path("work/started").exists(), "{input}");
        format!("{input}\n  {}", ran.stderr)
    });
    insta::assert_snapshot!(shown.concat(), @r#"
    null
      error: the arguments for tool "marked" must be one JSON object, but they are null; nothing was run
    []
      error: the arguments for tool "marked" must be one JSON object, but they are the array []; nothing was run
    "x"
      error: the arguments for tool "marked" must be one JSON object, but they are the string "x"; nothing was run
    7
      error: the arguments for tool "marked" must be one JSON object, but they are the number 7; nothing was run

      error: the arguments for tool "marked" must be one JSON object, but they are empty (write {} for none); nothing was run
    {"text":"caf
      error: the arguments for tool "marked" must be one JSON object, but they are cut off at line 1 column 12; nothing was run
    {'text':1}
      error: the arguments for tool "marked" must be one JSON object, but they are not valid JSON: key must be a string at line 1 column 2; nothing was run
    {} {}
      error: the arguments for tool "marked" must be one JSON object, but they are not valid JSON: trailing characters at line 1 column 4; nothing was run
    {}
      error: tool "marked" was not run: the parameter "text" is required and missing
    {"text":1}
      error: tool "marked" was not run: the parameter "text" must be a string, but is the number 1
    {"txt":"a"}
      error: tool "marked" was not run: there is no parameter "txt"; did you mean "text"?; the parameter "text" is required and missing
    @missing.json
      error: cannot read the arguments from missing.json: No such file or directory (os error 2)
    @not-utf8.json
      error: cannot read the arguments from not-utf8.json: not UTF-8 from byte 12 on
    @cut.json
      error: the arguments for tool "marked" must be one JSON object, but they are cut off at line 1 column 12; nothing was run
    @empty.json
      error: the arguments for tool "marked" must be one JSON object, but they are empty (write {} for none); nothing was run
    @folder
      error: cannot read the arguments from folder: Is a directory (os error 21)
    @
      error: `@` names no file; write @FILE, or - to read the arguments from stdin
    -
      error: the arguments for tool "marked" must be one JSON object, but they are empty (write {} for none); nothing was run
    "#);
    // The same tool does start when the input is good.
    assert_eq!(desk.run(&["run-tool", "marked", "--args", r#"{"text":"a"}"#]).code, Some(0));
    assert!(desk.world.path("work/started").exists());
}

/// K-15, K-43, K-60, Y5.2-1: a tool that is not there, or cannot be used, by name and by folder.
#[test]
fn a_tool_that_cannot_be_used_says_why() {
    let desk = desk();
    let shown = [
        (3, "nothing-like-it"),
        (3, ""),
        (3, "marked "),
        (2, "broken"),
        (2, "../home/tools/broken"),
        (2, "./nowhere"),
        (2, "./folder"),
        (2, "/dev/null"),
        (3, "no-component"),
        (3, "../home/tools/no-component"),
    ]
    .map(|(code, tool)| {
        let ran = both_ways(&desk, &["run-tool", tool]);
        assert_eq!(ran.code, Some(code), "{tool}: {}", ran.stderr);
        format!("{tool:?} exits with {code}\n  {}", ran.stderr)
    });
    insta::assert_snapshot!(shown.concat(), @r#"
    "nothing-like-it" exits with 3
      error: no tool is named "nothing-like-it"; there are: marked, no-component
    "" exits with 3
      error: no tool is named ""; there are: marked, no-component
    "marked " exits with 3
      error: no tool is named "marked "; did you mean "marked"?
    "broken" exits with 2
      error: [world]/home/tools/broken/index.md:1:1: `execution` is missing (add `execution: { command: ./script }`); and 1 more
    "../home/tools/broken" exits with 2
      error: [world]/work/../home/tools/broken/index.md:1:1: `execution` is missing (add `execution: { command: ./script }`); and 1 more
    "./nowhere" exits with 2
      error: [world]/work/nowhere: there is no such folder
    "./folder" exits with 2
      error: [world]/work/folder: the folder holds no index.md (every folder here needs one; move other folders elsewhere)
    "/dev/null" exits with 2
      error: /dev/null: this is not a folder (name the folder itself)
    "no-component" exits with 3
      error: tool "no-component" cannot be run: there is no component at `[world]/home/tools/no-component/none.wasm`; build it, or fix `component:` in index.md
    "../home/tools/no-component" exits with 3
      error: tool "no-component" cannot be run: there is no component at `[world]/work/../home/tools/no-component/none.wasm`; build it, or fix `component:` in index.md
    "#);
}

/// What was typed wrongly is told on stderr with the usage; nothing is printed on stdout.
#[test]
fn a_command_that_does_not_parse_exits_with_two() {
    let desk = desk();
    let lines: [&[&str]; 8] = [
        &[],
        &["run-tool"],
        &["run-tol", "marked"],
        &["run-tool", "marked", "--arg", "{}"],
        &["run-tool", "marked", "extra"],
        &["list", "spoons"],
        &["cache", "burn"],
        &["new", "tool", "x", "--lang", "cobol"],
    ];
    for args in lines {
        let ran = desk.run(args);
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{args:?}");
        assert!(
            ran.stderr.contains("Usage: ") || ran.stderr.contains("[possible values: "),
            "{args:?}: {}",
            ran.stderr
        );
    }
}

#[test]
fn folders_that_cannot_be_used_are_told_of() {
    let desk = desk();
    let shown = [
        both_ways(&desk, &["run-tool", "marked", "--workspace", "nowhere"]),
        both_ways(&desk, &["list", "--workspace", "cut.json"]),
        both_ways(&desk, &["inspect", "nowhere.wasm"]),
        both_ways(&desk, &["inspect", "cut.json"]),
        both_ways(&desk, &["inspect", "../home/tools/marked"]),
        both_ways(&desk, &["inspect", "../home/tools/broken"]),
        both_ways(&desk, &["inspect", "folder"]),
    ];
    insta::assert_snapshot!(shown.map(|ran| ran.shown()).join("\n\n"), @"
    err| error: the workspace nowhere is not a folder
    exit 2

    err| error: the workspace cut.json is not a folder
    exit 2

    err| error: there is no component at `nowhere.wasm`; build it, or fix `component:` in index.md
    exit 3

    err| error: expected a component in `cut.json`, found a text file; name the .wasm file that the build made; a script belongs under `command:`, not `component:`
    exit 3

    err| error: ../home/tools/marked is a script; only components can be inspected
    exit 2

    err| error: [world]/work/../home/tools/broken/index.md:1:1: `execution` is missing (add `execution: { command: ./script }`); and 1 more
    exit 2

    err| error: [world]/work/folder: the folder holds no index.md (every folder here needs one; move other folders elsewhere)
    exit 2
    ");
}

/// Y7: a home that is not there is an empty one.
#[test]
fn a_home_that_is_missing_is_no_fault() {
    let desk = desk();
    let ran = desk.run(&["list", "--home", "nowhere"]);
    insta::assert_snapshot!(ran.shown(), @"
    err| no tools in [world]/work/nowhere/tools or [world]/work/.youyou/tools; `youyou new tool NAME` makes one
    exit 0
    ");
}

/// K-60: `check` says without running it what a call would say.
#[test]
fn a_check_refuses_a_file_in_the_words_of_a_call() {
    let desk = Desk::with_own_cache(&hostile("tool", ""));
    let whole = std::fs::read(desk.world.path("home/tools/tool/tool.wasm")).expect("readable");
    for bytes in [b"".as_slice(), b"\0asm\x01\0\0\0", b"#!/bin/sh\n", &whole[..whole.len() / 2]] {
        desk.world.write("home/tools/tool/tool.wasm", bytes);
        let run = both_ways(&desk, &["run-tool", "tool"]);
        let check = desk.run(&["check", "../home/tools/tool"]);
        assert_eq!((run.code, check.code), (Some(3), Some(1)));
        let reason = run.stderr.strip_prefix("error: tool \"tool\" cannot be run: ").expect("the tool is named");
        let checked = check.stderr.replace("/work/../home/", "/home/");
        assert!(checked.contains(reason.trim_end()), "check says the same: {} {checked}", run.stderr);
    }
    assert_eq!(desk.run(&["cache", "--json"]).json()["entries"], 0);
}
