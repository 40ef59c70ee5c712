//! A hook whose handler is a script.
//!
//! The payload goes in on stdin as one line, as a tool's input does; stdout is the answer (Y5.6-3). What an answer and an
//! exit code mean together is one pure function, [`outcome`].

use std::time::Duration;

use serde_json::{Map, Value};
use youyou_api::{
    BoxFuture, CallContext, Error, ErrorCode, HookHandler, HookOutcome, HookPayload, OnFailure, PluginId,
};

use crate::{
    command::{Guest, ScriptCommand, ScriptHost},
    error::with_output,
    run::{Captured, ScriptExit, ScriptRun, run},
    tool::report,
};

/// What an answer may weigh: 1 MiB. A longer one would be cut, and what is cut is no JSON (D-57).
pub const ANSWER_LIMIT_BYTES: usize = 1024 * 1024;

/// The keys that an answer may have.
const KEYS: [&str; 3] = ["data", "abort", "reason"];

/// A script as a [`HookHandler`].
#[derive(Debug)]
pub struct ScriptHook {
    host: ScriptHost,
    plugin: PluginId,
    command: ScriptCommand,
    on_failure: OnFailure,
}

impl ScriptHook {
    /// A handler that runs `command` for each event. Nothing is checked before the first one; see
    /// [`preflight`](crate::preflight).
    pub fn new(host: ScriptHost, plugin: PluginId, command: ScriptCommand) -> Self {
        Self { host, plugin, command, on_failure: OnFailure::Continue }
    }

    /// Sets what a failure counts as (D-14).
    #[must_use]
    pub fn with_on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = on_failure;
        self
    }

    /// What it runs.
    pub fn command(&self) -> &ScriptCommand {
        &self.command
    }
}

impl HookHandler for ScriptHook {
    fn handle<'a>(
        &'a self,
        payload: &'a HookPayload,
        context: CallContext,
    ) -> BoxFuture<'a, Result<HookOutcome, Error>> {
        Box::pin(async move {
            // Text keys and finite numbers always serialise.
            let mut document = serde_json::to_vec(payload).unwrap_or_default();
            document.push(b'\n');
            let guest = Guest::Plugin(&self.plugin);
            let output =
                run(ScriptRun { host: &self.host, command: &self.command, guest, input: document, context: &context })
                    .await
                    .map_err(|error| error.into_error(guest, &self.command))?;
            report(&context.stats, &output);
            for key in stray_keys(&output.captured) {
                tracing::warn!("{guest}: its answer's key {key:?} means nothing; what is to change goes below `data`");
            }
            outcome(&self.plugin, output.exit, output.captured)
        })
    }

    fn timeout(&self) -> Option<Duration> {
        self.command.timeout
    }

    fn on_failure(&self) -> OnFailure {
        self.on_failure
    }

    fn backend(&self) -> &'static str {
        "script"
    }
}

/// What a script's exit and output mean for the hook that it handled (Y5.6-3, D-12, D-13).
///
/// | exit | stdout | |
/// |---|---|---|
/// | 0 | nothing, blanks, `{}`, `{"abort":false}`, `{"data":{}}` | Continue |
/// | 0 | `{"data":{…}}` | ContinueWith the data |
/// | 0 | `{"abort":true,"reason":"…"}`, whatever `data` says | Abort; without a reason "aborted by plugin ID" |
/// | 0 | anything else: no JSON, no object, an `abort` that is no boolean, `data` that is no object, not UTF-8, more than [`ANSWER_LIMIT_BYTES`] | `HOOK_FAILED`, kind `INVALID_OUTPUT` |
/// | other | an abort | `HOOK_FAILED`, kind `ABORT_IGNORED` |
/// | other | anything else | `HOOK_FAILED`, kind `EXIT` |
///
/// # Errors
/// `HOOK_FAILED` as in the table. For an exit other than 0 the message carries the end of stderr (Y4.6-1); in any case
/// the details hold the end of both streams.
pub fn outcome(plugin: &PluginId, exit: ScriptExit, captured: Captured) -> Result<HookOutcome, Error> {
    let answer = answer(plugin, &captured);
    let (kind, message) = match (exit.is_success(), answer) {
        (true, Ok(outcome)) => return Ok(outcome),
        (true, Err(why)) => ("INVALID_OUTPUT", format!("it changed nothing: {why}")),
        (false, Ok(HookOutcome::Abort { reason })) => {
            let why = "an exit other than 0 is a failure, and a failure aborts nothing; exit with 0 to abort";
            let said = format!("printed abort and {exit}: ignored, {reason:?} ({why})");
            ("ABORT_IGNORED", with_stderr(said, &captured))
        }
        (false, _) => ("EXIT", with_stderr(exit.to_string(), &captured)),
    };
    let error = Error::new(ErrorCode::HookFailed, format!("{}: {message}", Guest::Plugin(plugin))).with_kind(kind);
    let error = match exit {
        ScriptExit::Code(code) => error.with_detail("exit_code", code),
        ScriptExit::Signal(signal) => error.with_detail("signal", signal),
    };
    Err(with_output(error, captured))
}

fn with_stderr(message: String, captured: &Captured) -> String {
    match captured.stderr_tail.trim_end() {
        "" => format!("{message}; it wrote nothing to stderr"),
        stderr => format!("{message}; the end of its stderr:\n{stderr}"),
    }
}

/// What was printed, or why it is no answer.
fn answer(plugin: &PluginId, captured: &Captured) -> Result<HookOutcome, String> {
    let Some(mut answer) = parse(captured)? else { return Ok(HookOutcome::Continue) };
    match answer.remove("abort") {
        Some(Value::Bool(true)) => {
            let reason = answer.get("reason").and_then(Value::as_str).filter(|reason| !reason.trim().is_empty());
            let reason = reason.map_or_else(|| format!("aborted by plugin {plugin}"), str::to_owned);
            return Ok(HookOutcome::Abort { reason });
        }
        None | Some(Value::Bool(false)) => {}
        Some(other) => return Err(format!("`abort` must be true or false, it printed {}", shown(&other.to_string()))),
    }
    match answer.remove("data") {
        None => Ok(HookOutcome::Continue),
        Some(Value::Object(data)) if data.is_empty() => Ok(HookOutcome::Continue),
        Some(Value::Object(data)) => Ok(HookOutcome::ContinueWith(data)),
        Some(other) => Err(format!("`data` must be an object, it printed {}", shown(&other.to_string()))),
    }
}

/// The object that was printed; none where nothing was.
fn parse(captured: &Captured) -> Result<Option<Map<String, Value>>, String> {
    if captured.stdout_bytes > ANSWER_LIMIT_BYTES as u64 {
        let printed = captured.stdout_bytes;
        return Err(format!("it printed {printed} bytes, an answer may have {ANSWER_LIMIT_BYTES}"));
    }
    let text = std::str::from_utf8(&captured.stdout).map_err(|error| {
        format!("what it printed is not UTF-8, from byte {} of {} on", error.valid_up_to(), captured.stdout_bytes)
    })?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let expected = "expected nothing or one JSON object on stdout";
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(Some(object)),
        Ok(_) => Err(format!("{expected}, it printed {}", shown(text))),
        Err(error) => Err(format!("{expected}, it printed {} ({error}); messages belong on stderr", shown(text))),
    }
}

/// Keys of an answer that have no meaning, as when the fields to change are not below `data`.
fn stray_keys(captured: &Captured) -> Vec<String> {
    let answer = parse(captured).ok().flatten().unwrap_or_default();
    answer.into_iter().map(|(key, _)| key).filter(|key| !KEYS.contains(&&**key)).collect()
}

/// The beginning of a text, for a message.
fn shown(text: &str) -> String {
    const SHOWN_BYTES: usize = 200;
    let text = text.trim();
    let start = &text[..text.floor_char_boundary(SHOWN_BYTES)];
    let more = if start.len() < text.len() { "…" } else { "" };
    format!("{start:?}{more}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn plugin() -> PluginId {
        "acme.guard".parse().expect("legal")
    }

    fn printed(stdout: &[u8]) -> Captured {
        let kept = &stdout[..stdout.len().min(crate::STDOUT_KEPT_BYTES)];
        let stderr_tail = "why\n".to_owned();
        Captured { stdout: kept.to_vec(), stdout_bytes: stdout.len() as u64, stderr_tail, stderr_bytes: 4 }
    }

    /// What comes of an exit and an output: `continue`, the data, `abort: …`, or the kind of failure.
    fn cell(exit: ScriptExit, stdout: &[u8]) -> String {
        match outcome(&plugin(), exit, printed(stdout)) {
            Ok(HookOutcome::Continue) => "continue".to_owned(),
            Ok(HookOutcome::ContinueWith(data)) => Value::from(data).to_string(),
            Ok(HookOutcome::Abort { reason }) => format!("abort: {reason}"),
            Ok(other) => panic!("{other:?}"),
            Err(error) => {
                assert_eq!(error.code, ErrorCode::HookFailed);
                error.kind().expect("every failure has a kind").to_owned()
            }
        }
    }

    /// Y5.6-3, Y4.6-1, D-12, D-13, K-32: every kind of output with every kind of exit.
    #[test]
    fn an_exit_and_an_output_have_one_meaning() {
        let long = format!(r#"{{"data":{{"output":"{}"}}}}"#, "x".repeat(ANSWER_LIMIT_BYTES));
        let cells: &[(&[u8], &str, &str)] = &[
            (b"", "continue", "EXIT"),
            (b" \r\n\t", "continue", "EXIT"),
            (b"{}", "continue", "EXIT"),
            (b"{}\n", "continue", "EXIT"),
            (br#"{"data":{}}"#, "continue", "EXIT"),
            (br#"{"abort":false}"#, "continue", "EXIT"),
            (br#"{"abort":false,"reason":"no"}"#, "continue", "EXIT"),
            (br#"{"reason":"alone"}"#, "continue", "EXIT"),
            (br#"{"other":1}"#, "continue", "EXIT"),
            (br#"{"data":{"arguments":{"x":2}}}"#, r#"{"arguments":{"x":2}}"#, "EXIT"),
            (br#"{"data":{"a":1},"abort":false}"#, r#"{"a":1}"#, "EXIT"),
            (br#"{"abort":true,"reason":"not here"}"#, "abort: not here", "ABORT_IGNORED"),
            (br#"{"abort":true}"#, "abort: aborted by plugin acme.guard", "ABORT_IGNORED"),
            (br#"{"abort":true,"reason":" "}"#, "abort: aborted by plugin acme.guard", "ABORT_IGNORED"),
            (br#"{"abort":true,"reason":7}"#, "abort: aborted by plugin acme.guard", "ABORT_IGNORED"),
            (br#"{"abort":true,"data":{"a":1},"reason":"r"}"#, "abort: r", "ABORT_IGNORED"),
            (br#"{"abort":true,"data":7}"#, "abort: aborted by plugin acme.guard", "ABORT_IGNORED"),
            (br#"{"abort":"yes"}"#, "INVALID_OUTPUT", "EXIT"),
            (br#"{"abort":1,"data":{"a":1}}"#, "INVALID_OUTPUT", "EXIT"),
            (br#"{"abort":null}"#, "INVALID_OUTPUT", "EXIT"),
            (br#"{"data":[1]}"#, "INVALID_OUTPUT", "EXIT"),
            (br#"{"data":null}"#, "INVALID_OUTPUT", "EXIT"),
            (br#"{"data":"x","abort":false}"#, "INVALID_OUTPUT", "EXIT"),
            (b"null", "INVALID_OUTPUT", "EXIT"),
            (b"[]", "INVALID_OUTPUT", "EXIT"),
            (br#""{}""#, "INVALID_OUTPUT", "EXIT"),
            (b"ok", "INVALID_OUTPUT", "EXIT"),
            (b"{", "INVALID_OUTPUT", "EXIT"),
            (b"{} {}", "INVALID_OUTPUT", "EXIT"),
            (b"checking...\n{\"abort\":true}", "INVALID_OUTPUT", "EXIT"),
            (b"{\"data\":{\"a\":\"caf\xe9\"}}", "INVALID_OUTPUT", "EXIT"),
            (b"{\"abort\":true,\"reason\":\"\xff\"}", "INVALID_OUTPUT", "EXIT"),
            (b"\xff\xfe", "INVALID_OUTPUT", "EXIT"),
            (long.as_bytes(), "INVALID_OUTPUT", "EXIT"),
        ];
        for (stdout, success, failure) in cells {
            let case = String::from_utf8_lossy(&stdout[..stdout.len().min(80)]).into_owned();
            assert_eq!(cell(ScriptExit::Code(0), stdout), *success, "{case}");
            for exit in [ScriptExit::Code(1), ScriptExit::Code(2), ScriptExit::Code(-1), ScriptExit::Signal(9)] {
                assert_eq!(cell(exit, stdout), *failure, "{case}, {exit}");
            }
        }
    }

    /// D-57: exactly 1 MiB is an answer, one byte more is none.
    #[test]
    fn an_answer_may_have_one_mebibyte() {
        let frame = r#"{"data":{"output":""}}"#.len();
        let of = |bytes: usize| format!(r#"{{"data":{{"output":"{}"}}}}"#, "x".repeat(bytes - frame));
        assert!(cell(ScriptExit::Code(0), of(ANSWER_LIMIT_BYTES).as_bytes()).starts_with(r#"{"output":"x"#));
        assert_eq!(cell(ScriptExit::Code(0), of(ANSWER_LIMIT_BYTES + 1).as_bytes()), "INVALID_OUTPUT");
    }

    fn message(exit: ScriptExit, stdout: &[u8]) -> String {
        outcome(&plugin(), exit, printed(stdout)).expect_err("a failure").message
    }

    /// Y4.6-1, D-13: a warning says what was printed, what was expected, and what the script had to say.
    #[test]
    fn a_failure_says_what_was_wrong() {
        all_equal(&[
            (
                message(ScriptExit::Code(3), b""),
                "plugin \"acme.guard\": exited with code 3; the end of its stderr:\nwhy",
            ),
            (
                message(ScriptExit::Code(2), br#"{"abort":true,"reason":"no"}"#),
                "plugin \"acme.guard\": printed abort and exited with code 2: ignored, \"no\" (an exit other than 0 is \
                 a failure, and a failure aborts nothing; exit with 0 to abort); the end of its stderr:\nwhy",
            ),
            (
                message(ScriptExit::Code(0), b"all good\n"),
                "plugin \"acme.guard\": it changed nothing: expected nothing or one JSON object on stdout, it printed \
                 \"all good\" (expected value at line 1 column 1); messages belong on stderr",
            ),
            (
                message(ScriptExit::Code(0), br#"{"data":7}"#),
                "plugin \"acme.guard\": it changed nothing: `data` must be an object, it printed \"7\"",
            ),
            (
                message(ScriptExit::Code(0), b"{\"a\":\"\xe9\"}"),
                "plugin \"acme.guard\": it changed nothing: what it printed is not UTF-8, from byte 6 of 9 on",
            ),
        ]);
        let silent = Captured { stderr_tail: String::new(), ..printed(b"") };
        let error = outcome(&plugin(), ScriptExit::Signal(9), silent).expect_err("a failure");
        assert_eq!(error.message, "plugin \"acme.guard\": killed by signal 9; it wrote nothing to stderr");
        assert_eq!(error.details["signal"], 9);
    }

    fn all_equal(pairs: &[(String, &str)]) {
        for (found, expected) in pairs {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn keys_that_mean_nothing_are_told() {
        assert_eq!(
            stray_keys(&printed(br#"{"arguments":{},"data":{"x":1},"abort":false,"why":1}"#)),
            ["arguments", "why"]
        );
        assert!(stray_keys(&printed(b"no json")).is_empty());
    }

    proptest! {
        /// K-32: whatever a script prints, there is an outcome or a failure with a kind, and only exit 0 changes anything.
        #[test]
        fn any_bytes_have_an_outcome(stdout in proptest::collection::vec(any::<u8>(), 0..60), code in 0i32..3) {
            let outcome = outcome(&plugin(), ScriptExit::Code(code), printed(&stdout));
            prop_assert!(code == 0 || outcome.is_err());
            if let Err(error) = outcome {
                prop_assert!(error.kind().is_some());
            }
        }

        /// Y5.6-3: any object below `data` arrives as it was printed.
        #[test]
        fn any_data_arrives(keys in proptest::collection::btree_map("[a-z]{1,4}", any::<i64>(), 1..5)) {
            let data = json!(keys);
            let answer = json!({ "data": data }).to_string();
            prop_assert_eq!(cell(ScriptExit::Code(0), answer.as_bytes()), data.to_string());
        }
    }
}
