//! Scripts that misbehave, through index.md and the whole dispatcher.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use serde_json::json;
use youyou::{ErrorCode, ErrorSource, ToolOutput};
use youyou_tests::{
    Lifeline, World,
    lifeline::{REPORT, exists},
    own_process::{in_own_process, peak_kib},
    session::{error_of, text_of},
    tool::{index, script, script_with},
    transcript,
};

/// K-10, Y4.4-2: SIGTERM is ignored, so the whole group is killed; the caller is back soon and reads which limit it was.
#[tokio::test]
async fn a_script_that_will_not_stop_is_killed_with_everything_it_started() {
    let world = World::new("");
    let mut lifeline = Lifeline::new(&world);
    let hold = lifeline.hold();
    let body = format!("trap '' TERM\n{hold}\nsleep 1000 &\n{REPORT}\nwhile :; do sleep 1; done");
    world.add(&script_with("stubborn", "command: ./run\ntimeout_ms: 500", &body)).add(&script("fine", "echo fine"));
    let session = world.open();
    let begun = Instant::now();
    let results = session.batch(&[("stubborn", json!({})), ("fine", json!({}))]).await;
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    let error = error_of(&results[0]);
    assert_eq!((error.code, error.kind(), error.retryable), (ErrorCode::ToolTimeout, Some("LIMIT_TIME"), true));
    insta::assert_snapshot!(world.shown(&transcript(&results)), @r#"
    call-1 stubborn: TOOL_TIMEOUT LIMIT_TIME
      tool "stubborn": it was stopped after 500 ms, its time limit; `timeout_ms` below `execution` in [world]/home/tools/stubborn/index.md sets it
    call-2 fine: ok
      fine
    "#);
    assert!(!exists(lifeline.started().await), "it was reaped");
    lifeline.ended().await;
}

/// K-30, Y5.6-1, Y5.6-5: eight reasons not to start, eight messages, each with the fix; none is handed to a shell.
#[tokio::test]
async fn each_reason_not_to_start_has_its_own_message() {
    let world = World::new(
        "
-- home/tools/missing/other
-- home/tools/interpreter/run (executable)
#!/no/such/interpreter
-- home/tools/no-exec/run
#!/bin/sh
-- home/tools/no-shebang/run (executable)
echo \"given to a shell\" > \"$YOUYOU_HOME/ran\"
-- home/tools/nowhere/run (executable)
#!/bin/sh
-- home/tools/folder/run/
-- home/tools/empty/run (executable)
",
    );
    world.write("home/tools/crlf/run", "#!/bin/sh\r\necho hi\r\n");
    let names = ["missing", "interpreter", "crlf", "no-exec", "no-shebang", "nowhere", "folder", "empty"];
    for name in names {
        let more = if name == "nowhere" { "\nworking_directory: no/such/folder" } else { "" };
        world.write(&format!("home/tools/{name}/index.md"), index(name, &format!("command: ./run{more}")));
    }
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(world.path("home/tools/crlf/run"), executable).expect("chmod");

    let session = world.open();
    let results = session.batch(&names.map(|name| (name, json!({})))).await;
    let errors: Vec<_> = results.iter().map(error_of).collect();
    assert!(errors.iter().all(|e| (e.code, e.origin) == (ErrorCode::ToolExecutionError, ErrorSource::Tool)));
    assert_eq!(errors.iter().filter_map(|error| error.kind()).collect::<BTreeSet<_>>().len(), 8);
    insta::assert_snapshot!(world.shown(&transcript(&results)), @r##"
    call-1 missing: TOOL_EXECUTION_ERROR COMMAND_MISSING
      tool "missing": command "./run" was not found: [world]/home/tools/missing/run does not exist. Create the file, or correct `command` in index.md
    call-2 interpreter: TOOL_EXECUTION_ERROR INTERPRETER_MISSING
      tool "interpreter": [world]/home/tools/interpreter/run starts with "#!/no/such/interpreter", but "/no/such/interpreter" is not a program on this machine. Install it, or correct the first line
    call-3 crlf: TOOL_EXECUTION_ERROR CRLF_SHEBANG
      tool "crlf": the first line of [world]/home/tools/crlf/run ("#!/bin/sh") ends in CR LF, as on Windows, and the system takes the CR for a part of the interpreter's name. Save the file with LF line ends: sed -i 's/\r$//' [world]/home/tools/crlf/run
    call-4 no-exec: TOOL_EXECUTION_ERROR NOT_EXECUTABLE
      tool "no-exec": [world]/home/tools/no-exec/run cannot be executed: it has no execute permission. Run: chmod +x [world]/home/tools/no-exec/run
    call-5 no-shebang: TOOL_EXECUTION_ERROR NO_SHEBANG
      tool "no-shebang": [world]/home/tools/no-shebang/run has no shebang, so nothing says which program runs it: its first line is "echo \"given to a shell\" > \"$YOUYOU_HOME/ran\"". Put #!/bin/sh above it, as the very first bytes of the file
    call-6 nowhere: TOOL_EXECUTION_ERROR WORKING_DIRECTORY_MISSING
      tool "nowhere": the working directory [world]/work/no/such/folder does not exist. Create it, or correct `working_directory`, which is relative to the session's directory and not to the tool's folder
    call-7 folder: TOOL_EXECUTION_ERROR IS_DIRECTORY
      tool "folder": [world]/home/tools/folder/run is a folder, and only a file can be run. Name the file inside it in `command`, for example "./run/run.sh"
    call-8 empty: TOOL_EXECUTION_ERROR EMPTY_FILE
      tool "empty": [world]/home/tools/empty/run is empty (0 bytes). Write the script into it, starting with a line such as #!/bin/sh
    "##);
    assert!(!world.path("home/ran").exists());
}

/// K-31: a process that is left behind does not hold the answer back.
#[tokio::test]
async fn a_background_process_does_not_hold_the_answer_back() {
    let world = World::new("");
    let index = index("server", "command: sh\nargs: [\"-c\", \"echo hi; sleep 30 &\"]");
    world.write("home/tools/server/index.md", index);
    let session = world.open();
    let begun = Instant::now();
    let result = session.call("server", json!({})).await;
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(text_of(&result), "hi");
}

/// K-33, Y4.4-4: in a process of its own, so that its memory can be read off.
#[cfg(target_os = "linux")]
#[test]
fn a_flood_takes_bounded_memory_and_the_exit_code_counts() {
    in_own_process("scripts::flood");
}

#[cfg(target_os = "linux")]
#[tokio::test]
#[ignore = "started by the test above in a process of its own"]
async fn flood() {
    let world = World::new(&script("flood", "head -c 52428800 /dev/zero | tr '\\0' x\nexit 7"));
    let session = world.open();
    let before = peak_kib();
    let result = session.call("flood", json!({})).await;
    let grown = peak_kib() - before;
    assert!(result.output.is_error && result.error.is_none(), "the exit code is the tool's own");
    assert!(result.output.content.len() <= 1 << 20);
    assert!(result.output.content.ends_with("[output cut: it has 52428800 bytes, the limit is 1048576]"));
    assert!(grown < 12 * 1024, "the process grew by {grown} KiB");
}

/// K-08, K-19, K-32, K-34, Y5.6-2, D-59: odd outputs and endings are one answer each.
#[tokio::test]
async fn odd_scripts_are_answered_for() {
    let world = World::new(
        &[
            script("deaf", "echo '{}'"),
            script("wide", "i=0; while [ $i -lt 400 ]; do printf '€%.0s' $(seq 1000); i=$((i+1)); done"),
            script("latin", "printf 'caf\\351\\n'"),
            script("half", "printf 'half a li'; kill -9 $$"),
            script("silent", "echo only the log >&2; exit 3"),
            script("mute", "exec <&- >&- 2>&-; exit 0"),
            script_with("args", "command: ./run\nargs: [\"-c\", \"a/b\", \"./x\"]", "printf '%s\\n' \"$@\""),
        ]
        .concat(),
    );
    let session = world.open();
    let payload = json!({"text": "x".repeat(200_000)});
    assert_eq!(session.call("deaf", payload).await.output, ToolOutput::text("{}"), "a payload that nobody reads");
    let wide = session.call("wide", json!({})).await;
    let wide = text_of(&wide);
    assert!(wide.len() <= 1 << 20 && wide.ends_with("€\n[output cut: it has 1200000 bytes, the limit is 1048576]"));
    let names = ["latin", "half", "silent", "mute", "args"];
    let results = session.batch(&names.map(|name| (name, json!({})))).await;
    insta::assert_snapshot!(world.shown(&transcript(&results)), @"
    call-1 latin: ok
      caf�
      [the output is not valid UTF-8; what could not be read is shown as �]
    call-2 half: failed
      half a li
    call-3 silent: failed
      [tool exited with code 3]
    call-4 mute: ok
    call-5 args: ok
      -c
      a/b
      [world]/home/tools/args/x
    ");
}

/// Y5.6-4, Y5.6-5, D-56: what a script finds around it.
#[tokio::test]
async fn a_script_knows_where_it_is() {
    let body = "pwd; echo \"$YOUYOU_HOME\"; echo \"$YOUYOU_COMPONENT_DIR\"; echo \"${YOUYOU_SESSION_ID-no session}\"";
    let world = World::new(&format!("{}-- work/sub/\n", script("here", body)));
    world.add(&script_with("there", "command: ./run\nworking_directory: sub", body));
    let session = world.open();
    let results = session.batch(&[("here", json!({})), ("there", json!({}))]).await;
    insta::assert_snapshot!(world.shown(&transcript(&results)), @"
    call-1 here: ok
      [world]/work
      [world]/home
      [world]/home/tools/here
      no session
    call-2 there: ok
      [world]/work/sub
      [world]/home
      [world]/home/tools/there
      no session
    ");
}
