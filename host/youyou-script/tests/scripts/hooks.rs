//! Scripts as handlers of hooks: what they read, what their answers do, and how they fail.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use youyou_api::{
    Error, ErrorCode, HookHandler, HookOutcome, HookPayload, PluginId, SessionId, TurnId,
    hook::{BeforeToolUse, HookEventPayload, PAYLOAD_VERSION, SessionEnd},
};
use youyou_script::{ScriptCommand, ScriptHook};

use crate::kit::{Folder, Lifeline, Log, REPORT};

fn plugin() -> PluginId {
    "guard".parse().expect("legal")
}

fn payload(argument: &str) -> HookPayload {
    let event = HookEventPayload::BeforeToolUse(BeforeToolUse {
        session_id: SessionId::new("s-1"),
        turn_id: TurnId::new("t-1"),
        tool_name: "read".parse().expect("legal"),
        arguments: json!({ "path": argument }).as_object().expect("an object").clone(),
    });
    HookPayload { payload_version: PAYLOAD_VERSION, event, plugin_config: json!({ "keys": ["path"] }) }
}

async fn ask(folder: &Folder, command: ScriptCommand, payload: &HookPayload) -> Result<HookOutcome, Error> {
    ScriptHook::new(folder.host(), plugin(), command).handle(payload, folder.context()).await
}

/// Asks a shell script with this body.
async fn answer_of(body: &str) -> Result<HookOutcome, Error> {
    let folder = Folder::with(body);
    ask(&folder, folder.command("run", &[]), &payload("a.txt")).await
}

fn failure(result: Result<HookOutcome, Error>) -> Error {
    let error = result.expect_err("a failure");
    assert_eq!(error.code, ErrorCode::HookFailed);
    error
}

/// Y5.6-1, C-2, D-16: the payload, one line end, and the end of the input.
#[tokio::test]
async fn the_payload_is_one_line_on_stdin() {
    let folder = Folder::with("read -r line; printf '%s|' \"$line\" >got; cat >>got");
    let payload = payload("a\nb");
    assert_eq!(ask(&folder, folder.command("run", &[]), &payload).await, Ok(HookOutcome::Continue));
    let got = std::fs::read_to_string(folder.cwd().join("got")).expect("it wrote");
    assert_eq!(
        got,
        r#"{"payload_version":1,"event":"BeforeToolUse","session_id":"s-1","turn_id":"t-1","tool_name":"read","arguments":{"path":"a\nb"},"plugin_config":{"keys":["path"]}}|"#
    );
    assert_eq!(got.trim_end_matches('|'), serde_json::to_string(&payload).expect("json"));
}

/// Y5.6-3.
#[tokio::test]
async fn an_answer_continues_changes_or_aborts() {
    assert_eq!(answer_of("true").await, Ok(HookOutcome::Continue));
    assert_eq!(answer_of("echo '{}'").await, Ok(HookOutcome::Continue));
    let data = json!({ "arguments": { "path": "b.txt" } }).as_object().expect("an object").clone();
    assert_eq!(
        answer_of(r#"echo '{"data":{"arguments":{"path":"b.txt"}}}'"#).await,
        Ok(HookOutcome::ContinueWith(data))
    );
    let reason = "not here".to_owned();
    assert_eq!(answer_of(r#"echo '{"abort":true,"reason":"not here"}'"#).await, Ok(HookOutcome::Abort { reason }));
}

/// K-08: 200 kB that nobody reads are no failure and no reason to warn.
#[tokio::test]
async fn a_payload_that_nobody_reads_is_no_failure() {
    let folder = Folder::with("echo '{}'");
    let (log, _guard) = Log::start();
    let answer = ask(&folder, folder.command("run", &[]), &payload(&"x".repeat(200_000))).await;
    assert_eq!(answer, Ok(HookOutcome::Continue));
    assert_eq!(log.text(), "");
}

/// K-10, Y4.6-1: killed at its limit with its whole group, and told as a failure that a hint explains.
#[tokio::test]
async fn a_handler_that_ignores_sigterm_is_killed_at_its_limit() {
    let folder = Folder::new();
    let mut lifeline = Lifeline::new(&folder);
    let body = format!("trap '' TERM\n{}\n{REPORT}\necho late >&2\nwhile :; do sleep 1; done", lifeline.open());
    folder.file("run", &format!("#!/bin/sh\n{body}\n"), 0o755);
    let command = ScriptCommand { timeout: Some(Duration::from_millis(500)), ..folder.command("run", &[]) };
    let begun = Instant::now();
    let error = failure(ask(&folder, command, &payload("a")).await);
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    assert_eq!(error.kind(), Some("LIMIT_TIME"));
    assert_eq!(
        error.message,
        format!(
            "plugin \"guard\": it was stopped after 500 ms, its time limit; `timeout_ms` below the event or \
             `execution` in {} sets it",
            folder.dir().join("index.md").display()
        )
    );
    assert_eq!(error.details["stderr"], "late");
    lifeline.started().await;
    lifeline.ended().await;
}

#[tokio::test]
async fn a_cancelled_handler_is_stopped() {
    let folder = Folder::new();
    let mut lifeline = Lifeline::new(&folder);
    let body = format!("{}\n{REPORT}\nwhile :; do sleep 1; done", lifeline.open());
    folder.file("run", &format!("#!/bin/sh\n{body}\n"), 0o755);
    let (hook, context) = (ScriptHook::new(folder.host(), plugin(), folder.command("run", &[])), folder.context());
    let (cancel, payload) = (context.cancel.clone(), payload("a"));
    let (result, ()) = tokio::join!(hook.handle(&payload, context), async {
        lifeline.started().await;
        cancel.cancel();
    });
    assert_eq!(failure(result).kind(), Some("CANCELLED"));
    lifeline.ended().await;
}

/// K-32, D-58, D-57: what is not UTF-8, and what is cut, is no answer.
#[tokio::test]
async fn what_is_not_json_is_no_answer() {
    for body in [
        r#"printf '{"data":{"output":"caf\351"}}'"#,
        "echo done",
        r#"printf '{"data":{"output":"'; head -c 1100000 /dev/zero | tr '\0' x; printf '"}}'"#,
    ] {
        assert_eq!(failure(answer_of(body).await).kind(), Some("INVALID_OUTPUT"), "{body}");
    }
}

/// Y4.6-1, D-13: an exit other than 0 undoes what was printed; the warning carries stderr.
#[tokio::test]
async fn an_exit_other_than_0_counts_as_failure() {
    let error = failure(answer_of("echo first >&2; echo last >&2; exit 3").await);
    assert_eq!(error.kind(), Some("EXIT"));
    assert_eq!(error.message, "plugin \"guard\": exited with code 3; the end of its stderr:\nfirst\nlast");
    let error = failure(answer_of(r#"echo '{"abort":true,"reason":"no"}'; exit 2"#).await);
    assert_eq!(error.kind(), Some("ABORT_IGNORED"));
    assert!(error.message.contains("printed abort and exited with code 2: ignored"), "{}", error.message);
    let error = failure(answer_of("kill -9 $$").await);
    assert_eq!((error.kind(), &error.details["signal"]), (Some("EXIT"), &Value::from(9)));
}

/// K-30: what keeps a handler from being started is told as for tools.
#[tokio::test]
async fn a_handler_that_cannot_be_started_says_why() {
    let folder = Folder::new();
    let error = failure(ask(&folder, folder.command("./gone.sh", &[]), &payload("a")).await);
    assert_eq!(error.kind(), Some("COMMAND_MISSING"));
    assert!(error.message.starts_with("plugin \"guard\": "), "{}", error.message);
}

/// Y5.6-4, K-13: a handler knows its session, its folder and how deep it is nested.
#[tokio::test]
async fn a_handler_finds_its_surroundings() {
    let folder = Folder::with(r#"printf '%s %s %s' "$YOUYOU_SESSION_ID" "$YOUYOU_COMPONENT_DIR" "$YOUYOU_DEPTH" >got"#);
    let hook = ScriptHook::new(folder.host().with_depth(0), plugin(), folder.command("run", &[]));
    let mut context = folder.context();
    context.session = Some(SessionId::new("s-1"));
    let ended = HookEventPayload::SessionEnd(SessionEnd { session_id: SessionId::new("s-1"), message_count: 2 });
    let payload = HookPayload { event: ended, ..payload("") };
    assert_eq!(hook.handle(&payload, context).await, Ok(HookOutcome::Continue));
    let got = std::fs::read_to_string(folder.cwd().join("got")).expect("it wrote");
    assert_eq!(got, format!("s-1 {} 1", folder.dir().display()));
}

/// What would change below the wrong key changes nothing, and that is told.
#[tokio::test]
async fn a_key_that_means_nothing_is_warned_of() {
    let folder = Folder::with(r#"echo '{"arguments":{"path":"b"}}'"#);
    let (log, _guard) = Log::start();
    assert_eq!(ask(&folder, folder.command("run", &[]), &payload("a")).await, Ok(HookOutcome::Continue));
    assert_eq!(
        log.text(),
        " WARN youyou_script::hook: plugin \"guard\": its answer's key \"arguments\" means nothing; what is to change \
         goes below `data`\n"
    );
}
