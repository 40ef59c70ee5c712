//! `youyou run-tool`: one tool, run as the agent would.

use serde_json::json;
use youyou_tests::{
    repository,
    tool::{component, hostile, script, script_with},
};

use crate::desk::{Desk, Ran};

/// Runs a command as the pages show it, in the repository's root.
fn run_here(args: &[&str]) -> Ran {
    Desk::new("").run_in(repository(), args)
}

const TEXT: &str = r#"{"text":"one two three"}"#;

/// C-3, Y3.3-4: the document on stdout, and nothing else there.
#[test]
fn a_component_answers_with_one_document() {
    let ran = run_here(&["run-tool", "examples/tools/word-count", "--args", TEXT, "--json"]);
    insta::assert_snapshot!(ran.shown(), @r#"
    out| {"content":"3 words, 13 characters, 1 line","is_error":false,"metadata":{"words":3,"characters":13,"lines":1},"duration_ms":[ms]}
    exit 0
    "#);
}

/// C-3, Y3.3-4: the twin has no metadata; all else is the same.
#[test]
fn a_script_answers_with_the_same_document_without_metadata() {
    let component = run_here(&["run-tool", "examples/tools/word-count", "--args", TEXT, "--json"]);
    let script = run_here(&["run-tool", "examples/tools/word-count-py", "--args", TEXT, "--json"]);
    insta::assert_snapshot!(script.shown(), @r#"
    out| {"content":"3 words, 13 characters, 1 line","is_error":false,"duration_ms":[ms]}
    exit 0
    "#);
    let without_metadata = component.shown().replace(r#","metadata":{"words":3,"characters":13,"lines":1}"#, "");
    assert_eq!(script.shown(), without_metadata);
}

#[test]
fn without_json_the_content_alone_is_printed() {
    let ran = run_here(&["run-tool", "examples/tools/word-count", "--args", TEXT]);
    insta::assert_snapshot!(ran.shown(), @"
    out| 3 words, 13 characters, 1 line
    exit 0
    ");
}

/// Y3.3-2: a failure that the tool reports is an answer, with its own exit status.
#[test]
fn a_failure_that_the_tool_reports_exits_with_one() {
    for tool in ["examples/tools/word-count", "examples/tools/word-count-py"] {
        let plain = run_here(&["run-tool", tool, "--args", r#"{"text":""}"#]);
        assert_eq!(plain.shown(), "out| text is empty: give the text to measure\nexit 1");
        let json = run_here(&["run-tool", tool, "--args", r#"{"text":""}"#, "--json"]);
        let document = r#"{"content":"text is empty: give the text to measure","is_error":true,"duration_ms":[ms]}"#;
        assert_eq!(json.shown(), format!("out| {document}\nexit 1"));
    }
}

/// Y5.6-2: what guests say beside their answer goes to stderr, line by line with their name.
#[test]
fn what_a_guest_says_beside_its_answer_goes_to_stderr_alone() {
    let desk = Desk::new(&[hostile("guest", ""), script("script", "echo said >&2; echo answered")].concat());
    let shown = [
        desk.run(&["run-tool", "script"]),
        desk.run(&["run-tool", "guest", "--args", r#"{"mode":"stdout","message":"said"}"#]),
        desk.run(&["run-tool", "guest", "--args", r#"{"mode":"log-lines","count":2}"#, "--json"]),
    ]
    .map(|ran| ran.shown());
    insta::assert_snapshot!(shown.join("\n\n"), @r#"
    out| answered
    err| script: said
    exit 0

    out| printed
    err| guest: said
    exit 0

    out| {"content":"logged","is_error":false,"duration_ms":[ms]}
    err| guest: line 0
    err| guest: line 1
    exit 0
    "#);
}

/// Y3.1-1, Y5.1-1: by name, from the project before the user's own folder.
#[test]
fn a_name_is_looked_up_in_the_project_and_then_at_home() {
    let both = script("both", "echo global");
    let project = both.replace("home/tools/", "work/.youyou/tools/").replace("echo global", "echo project");
    let desk = Desk::new(&[both, project, script("only", "echo global")].concat());
    assert_eq!(desk.run(&["run-tool", "both", "--trust-project"]).shown(), "out| project\nexit 0");
    assert_eq!(desk.run(&["run-tool", "only"]).shown(), "out| global\nexit 0");
    let outside = desk.run_in(desk.world.path("home"), &["run-tool", "both"]);
    assert_eq!(outside.shown(), "out| global\nexit 0");
}

/// A text with a separator is a folder, and so is the name of one that holds an index.md.
#[test]
fn a_folder_is_run_from_wherever_it_stands() {
    let desk = Desk::new(&script("elsewhere", "pwd"));
    let dir = desk.world.path("home/tools/elsewhere").display().to_string();
    assert_eq!(desk.run(&["run-tool", &dir]).shown(), "out| [world]/work\nexit 0");
    assert_eq!(desk.run(&["run-tool", "../home/tools/elsewhere"]).shown(), "out| [world]/work\nexit 0");
    let inside = desk.run_in(&dir, &["run-tool", "."]);
    assert_eq!(inside.shown(), "out| [world]/home/tools/elsewhere\nexit 0");
    let beside = desk.run_in(desk.world.path("home/tools"), &["run-tool", "elsewhere"]);
    assert_eq!(beside.shown(), "out| [world]/home/tools\nexit 0");
}

/// D-56: the project folder is where tools work; `--home` and `YOUYOU_HOME` say where the user's own tools are.
#[test]
fn the_two_folders_can_be_named() {
    let desk = Desk::new(&script("where", "pwd; echo \"$YOUYOU_HOME\""));
    desk.world.add("-- other/\n-- user/.youyou/tools -> home/tools\n");
    let (work, home) = (desk.world.path("other").display().to_string(), desk.world.path("home").display().to_string());
    let named = desk.run(&["run-tool", "where", "--workspace", &work, "--home", &home]);
    assert_eq!(named.shown(), "out| [world]/other\nout| [world]/home\nexit 0");
    let relative = desk.run(&["run-tool", "where", "--home", "../home"]);
    assert_eq!(relative.shown(), "out| [world]/work\nout| [world]/work/../home\nexit 0");
    let mut default = desk.youyou(&["run-tool", "where"]);
    default.env_remove("YOUYOU_HOME");
    assert_eq!(desk.finish(default, b"").shown(), "out| [world]/work\nout| [world]/user/.youyou\nexit 0");
}

/// The arguments as typed, from a file, and from stdin; none at all are `{}`.
#[test]
fn arguments_come_from_the_command_line_a_file_or_stdin() {
    let desk = Desk::new(&format!("{}-- work/arguments.json\n{TEXT}\n", script("show", "cat")));
    let document = r#"{"call_id":"run-tool","tool_name":"show","arguments":{"text":"one two three"}}"#;
    let expected = format!("out| {document}\nexit 0");
    assert_eq!(desk.run(&["run-tool", "show", "--args", TEXT]).shown(), expected);
    assert_eq!(desk.run(&["run-tool", "show", "--args", "@arguments.json"]).shown(), expected);
    assert_eq!(desk.run_with_stdin(&["run-tool", "show", "--args", "-"], TEXT.as_bytes()).shown(), expected);
    let none = desk.run(&["run-tool", "show"]);
    assert_eq!(none.shown(), expected.replace(TEXT, "{}"));
}

/// C-2: five mebibytes reach a script and a component alike.
#[test]
fn arguments_of_five_mebibytes_arrive_whole() {
    let desk = Desk::new("");
    let text = "x".repeat(5 << 20);
    desk.world.write("work/large.json", json!({ "text": text }).to_string());
    for tool in ["word-count", "word-count-py"] {
        let tool = repository().join("examples/tools").join(tool).display().to_string();
        let ran = desk.run(&["run-tool", &tool, "--args", "@large.json"]);
        assert_eq!(ran.shown(), "out| 1 word, 5242880 characters, 1 line\nexit 0");
    }
}

/// C-3: how the work was done; the figures differ from run to run, their names do not.
#[test]
fn figures_are_shown_when_asked_for() {
    let desk = Desk::new(&[component("component", "echo", ""), script("script", "echo hi")].concat());
    let names = |tool: &str| {
        let ran = desk.run(&["run-tool", tool, "--stats", "--json"]);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
        let document = ran.json();
        document["stats"].as_object().expect("figures").keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(names("component"), ["load_us", "code", "run_us", "memory_peak_bytes"]);
    assert_eq!(names("script"), ["spawn_us", "run_us", "stdout_bytes", "stderr_bytes", "exit_code"]);

    let plain = desk.run(&["run-tool", "script", "--stats"]);
    assert_eq!((plain.code, &*plain.stdout), (Some(0), "hi\n"));
    assert!(plain.stderr.starts_with("spawn_us: ") && plain.stderr.ends_with("exit_code: 0\n"), "{}", plain.stderr);
}

/// Y4.4-2, K-10, K-15, K-61, K-62: what could not be run exits with 3, says why on stderr, and as JSON on stdout.
#[test]
fn what_could_not_be_run_exits_with_three() {
    let desk = Desk::new(
        &[
            hostile("guest", ""),
            hostile("looper", "timeout_ms: 2000"),
            script_with("slow", "command: ./run\ntimeout_ms: 200", "echo begun; sleep 1000"),
            script("plain", "echo hi").replace("(executable)", ""),
        ]
        .concat(),
    );
    let cases: [&[&str]; 6] = [
        &["run-tool", "gest"],
        &["run-tool", "guest", "--args", r#"{"mode":"trap"}"#],
        &["run-tool", "guest", "--args", r#"{"mode":"guest-error","message":"come back later"}"#],
        &["run-tool", "looper", "--args", r#"{"mode":"loop"}"#],
        &["run-tool", "slow"],
        &["run-tool", "plain"],
    ];
    let shown = cases.map(|case| {
        let plain = desk.run(case);
        let json = desk.run(&[case, &["--json"]].concat());
        let document = json.json();
        assert_eq!((plain.code, json.code, &*json.stderr), (Some(3), Some(3), ""), "{case:?}");
        assert_eq!(document["is_error"], true);
        assert_eq!(document["content"], document["error"]["message"], "the model would read the message");
        assert_eq!(plain.stderr, format!("error: {}\n", document["content"].as_str().expect("a text")));
        format!("{}\n{} {}", plain.shown(), document["error"]["code"], document["error"]["details"]["kind"])
    });
    insta::assert_snapshot!(shown.join("\n\n"), @r#"
    err| error: no tool is named "gest"; did you mean "guest"?
    exit 3
    "TOOL_NOT_FOUND" null

    err| error: tool "guest" was stopped by a fault: wasm trap: wasm `unreachable` instruction executed
    exit 3
    "TOOL_EXECUTION_ERROR" "TRAP"

    err| error: tool "guest" failed: come back later
    exit 3
    "TOOL_EXECUTION_ERROR" "GUEST_ERROR"

    err| error: tool "looper" was stopped after 2000 ms, the time that a call may take; if it needs more, raise `timeout_ms`
    exit 3
    "TOOL_TIMEOUT" "LIMIT_TIME"

    err| error: tool "slow": it was stopped after 200 ms, its time limit; `timeout_ms` below `execution` in [world]/home/tools/slow/index.md sets it
    exit 3
    "TOOL_TIMEOUT" "LIMIT_TIME"

    err| error: tool "plain": [world]/home/tools/plain/run cannot be executed: it has no execute permission. Run: chmod +x [world]/home/tools/plain/run
    exit 3
    "TOOL_EXECUTION_ERROR" "NOT_EXECUTABLE"
    "#);
}

/// `-v` shows more on stderr and changes nothing on stdout; `YOUYOU_LOG` can silence even the guests.
#[test]
fn more_or_less_can_be_said_on_stderr() {
    let desk = Desk::new(&script("script", "echo said >&2; echo answered"));
    let usual = desk.run(&["run-tool", "script"]);
    assert_eq!(usual.stderr, "script: said\n");
    let more = desk.run(&["run-tool", "script", "-v"]);
    assert_eq!((&more.stdout, more.code), (&usual.stdout, usual.code));
    assert!(more.stderr.contains("script: said\n"), "{}", more.stderr);
    let mut silent = desk.youyou(&["run-tool", "script"]);
    silent.env("YOUYOU_LOG", "off");
    let silent = desk.finish(silent, b"");
    assert_eq!((&silent.stdout, &*silent.stderr), (&usual.stdout, ""));
}

/// Y4.4-2: a tool that says nothing else has the time that config.yaml says, as with an agent.
#[test]
fn the_time_that_a_tool_has_is_the_configured_one() {
    let desk =
        Desk::new(&[script("slow", "sleep 60"), "-- home/config.yaml\ntool_timeout_ms: 50\n".to_owned()].concat());
    for tool in ["slow", "../home/tools/slow"] {
        let ran = desk.run(&["run-tool", tool, "--json"]);
        assert_eq!((ran.code, &ran.json()["error"]["code"]), (Some(3), &json!("TOOL_TIMEOUT")), "{ran:?}");
    }
    desk.world.write("home/config.yaml", "tool_timeout_ms: soon\n");
    let ran = desk.run(&["run-tool", "slow"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("config.yaml:1:18: `tool_timeout_ms` must be"), "{ran:?}");
}
