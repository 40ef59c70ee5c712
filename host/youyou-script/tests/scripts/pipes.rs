//! What goes through the pipes: the input document, the answer, the log.

use serde_json::{Map, json};
use youyou_api::{CallStats, ToolHandler, ToolOutput};
use youyou_script::{Guest, ScriptExit, ScriptRun, run};

use crate::kit::{Folder, Log, input, name};

/// Y5.6-1, Y3.3-2: the document, one line end, and the end of the input.
#[tokio::test]
async fn the_input_document_is_one_line_on_stdin() {
    let folder = Folder::with("read -r line; printf '%s|' \"$line\"; cat");
    let arguments = json!({"text": "a\nb", "n": 1}).as_object().expect("an object").clone();
    let output = folder.tool(folder.command("run", &[])).call(input(arguments.clone()), folder.context()).await;
    let document = input(arguments).to_json();
    assert_eq!(document, r#"{"call_id":"c-1","tool_name":"probe","arguments":{"text":"a\nb","n":1}}"#);
    assert_eq!(output, Ok(ToolOutput::text(format!("{document}|"))));
}

/// K-08, Y5.6-1: a script that never reads its input has done nothing wrong.
#[tokio::test]
async fn input_that_nobody_reads_is_no_failure() {
    let folder = Folder::with("echo '{}'");
    let (log, _guard) = Log::start();
    let (host, command, context, name) = (folder.host(), folder.command("run", &[]), folder.context(), name());
    let output = run(ScriptRun {
        host: &host,
        command: &command,
        guest: Guest::Tool(&name),
        input: vec![b'x'; 200_000],
        context: &context,
    })
    .await
    .expect("it ran");
    assert_eq!((output.exit, &output.captured.stdout[..]), (ScriptExit::Code(0), &b"{}\n"[..]));
    assert_eq!(log.text(), "");
}

/// Y5.6-1: the pipes hold 64 KiB, so whoever writes first and reads later would wait for ever.
#[tokio::test]
async fn a_script_may_print_before_it_reads() {
    let folder = Folder::with("head -c 500000 /dev/zero | tr '\\0' x; head -c 500000 /dev/zero >&2; cat | wc -c");
    let arguments = json!({"text": "y".repeat(500_000)}).as_object().expect("an object").clone();
    let expected = input(arguments.clone()).to_json().len() + 1;
    let output =
        folder.tool(folder.command("run", &[])).call(input(arguments), folder.context()).await.expect("it ran");
    let (printed, counted) = output.content.split_at(500_000);
    assert!(printed.bytes().all(|byte| byte == b'x'));
    assert_eq!(counted.trim(), expected.to_string());
}

#[tokio::test]
async fn arguments_of_ten_megabytes_arrive_whole() {
    let folder = Folder::with("wc -c");
    let arguments = json!({"text": "z".repeat(10 << 20)}).as_object().expect("an object").clone();
    let expected = input(arguments.clone()).to_json().len() + 1;
    let output =
        folder.tool(folder.command("run", &[])).call(input(arguments), folder.context()).await.expect("it ran");
    assert_eq!(output.content.trim(), expected.to_string());
}

/// K-19, Y4.4-4, D-57.
#[tokio::test]
async fn a_flood_of_wide_characters_is_cut_between_two_of_them() {
    let folder = Folder::with("i=0; while [ $i -lt 400 ]; do printf '€%.0s' $(seq 1000); i=$((i+1)); done");
    let content = folder.call().await.expect("it ran").content;
    assert!(content.len() <= 1 << 20 && content.starts_with("€€"), "{} bytes", content.len());
    assert!(content.ends_with("€\n[output cut: it has 1200000 bytes, the limit is 1048576]"));
}

/// K-32, D-58: the tool's side.
#[tokio::test]
async fn output_that_is_not_utf8_is_replaced_and_noted() {
    let folder = Folder::with("printf 'caf\\351\\n'");
    let output = folder.call().await.expect("it ran");
    assert!(!output.is_error);
    assert_eq!(
        output.content,
        "caf\u{fffd}\n[the output is not valid UTF-8; what could not be read is shown as \u{fffd}]"
    );
}

/// Y3.3-4, Y5.6-2, D-59: the exit code is the verdict, stdout the message, stderr only the log.
#[tokio::test]
async fn failure_is_told_by_the_exit_code() {
    let spoken = Folder::with("echo 'no such city'; echo detail >&2; exit 3").call().await;
    assert_eq!(spoken, Ok(ToolOutput::error("no such city")));
    let silent = Folder::with("echo detail >&2; exit 3").call().await;
    assert_eq!(silent, Ok(ToolOutput::error("[tool exited with code 3]")));
    let killed = Folder::with("exec <&- >&- 2>&-; kill -9 $$").call().await;
    assert_eq!(killed, Ok(ToolOutput::error("[killed by signal 9]")));
}

/// Y5.6-2.
#[tokio::test]
async fn stderr_goes_to_the_log_line_by_line_and_nowhere_else() {
    let (log, _guard) = Log::start();
    let output = Folder::with("echo one >&2; printf two >&2; echo answer").call().await;
    assert_eq!(output, Ok(ToolOutput::text("answer")));
    assert_eq!(log.text(), " INFO youyou::guest: one tool=probe\n INFO youyou::guest: two tool=probe\n");
}

#[tokio::test]
async fn the_runner_keeps_the_last_lines_of_stderr() {
    let folder = Folder::with("seq 100 >&2; exit 1");
    let (host, command, context, name) = (folder.host(), folder.command("run", &[]), folder.context(), name());
    let guest = Guest::Tool(&name);
    let run = run(ScriptRun { host: &host, command: &command, guest, input: Vec::new(), context: &context });
    let captured = run.await.expect("it ran").captured;
    let lines: Vec<_> = captured.stderr_tail.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[19]), (20, "81", "100"));
    assert_eq!(captured.stderr_bytes, 292);
}

#[tokio::test]
async fn figures_are_reported_when_they_are_wanted() {
    let folder = Folder::with("printf abc; printf de >&2; exit 4");
    let mut context = folder.context();
    context.stats = CallStats::on();
    folder.tool(folder.command("run", &[])).call(input(Map::new()), context.clone()).await.expect("it ran");
    let stats = context.stats.snapshot();
    let names: Vec<_> = stats.keys().map(String::as_str).collect();
    assert_eq!(names, ["spawn_us", "run_us", "stdout_bytes", "stderr_bytes", "exit_code"]);
    assert_eq!(
        (&stats["stdout_bytes"], &stats["stderr_bytes"], &stats["exit_code"]),
        (&json!(3), &json!(2), &json!(4))
    );
}
