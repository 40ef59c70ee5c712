//! A plugin's handler without a host.

use serde_json::Value;

use super::{FakeHost, LogLine, log_text};
use crate::{
    error::GuestError,
    plugin::{self, Answer, Event, HookHandler},
};

/// Asks a handler about an event.
///
/// ```
/// use youyou_guest::{json, plugin::{BeforeToolUse, HookOutcome}, testing};
///
/// fn careful(payload: BeforeToolUse) -> HookOutcome<BeforeToolUse> {
///     match payload.arguments.get("force") {
///         Some(_) => HookOutcome::abort("no force here"),
///         None => HookOutcome::proceed(),
///     }
/// }
///
/// let payload = |arguments| BeforeToolUse {
///     tool_name: "push".into(),
///     arguments: serde_json::from_value(arguments).unwrap(),
///     ..Default::default()
/// };
/// # use youyou_guest::serde_json;
/// assert_eq!(testing::ask(careful, payload(json!({"force": true}))).abort_reason(), Some("no force here"));
/// assert!(testing::ask(careful, payload(json!({}))).proceeds_unchanged());
/// ```
pub fn ask<E: Event>(handler: impl HookHandler<E>, payload: E) -> HookRun {
    let host = FakeHost::start();
    let result = plugin::run(&handler, payload);
    HookRun { result, log: host.stop() }
}

/// What came of asking a handler.
#[derive(Debug, Clone)]
pub struct HookRun {
    result: Result<Answer, GuestError>,
    log: Vec<LogLine>,
}

impl HookRun {
    #[track_caller]
    fn answer(&self) -> &Answer {
        match &self.result {
            Ok(answer) => answer,
            Err(error) => panic!("the handler gave no answer: {error}"),
        }
    }

    /// Whether all goes on as it was.
    ///
    /// # Panics
    /// When there is no answer, with the reason; this and the next two then fail the test.
    #[track_caller]
    pub fn proceeds_unchanged(&self) -> bool {
        match self.answer() {
            Answer::Proceed => true,
            Answer::ContinueWith(changes) => changes.is_empty(),
            Answer::Abort(_) => false,
        }
    }

    /// The fields that it changes, as an object; `null` when it aborts.
    #[track_caller]
    pub fn changes(&self) -> Value {
        match self.answer() {
            Answer::Proceed => Value::Object(serde_json::Map::new()),
            Answer::ContinueWith(changes) => Value::Object(changes.clone()),
            Answer::Abort(_) => Value::Null,
        }
    }

    /// Why it aborts, if it does.
    #[track_caller]
    pub fn abort_reason(&self) -> Option<&str> {
        match self.answer() {
            Answer::Abort(reason) => Some(reason),
            Answer::Proceed | Answer::ContinueWith(_) => None,
        }
    }

    /// Why there is no answer, if there is none.
    pub fn guest_error(&self) -> Option<&GuestError> {
        self.result.as_ref().err()
    }

    /// What the handler logged.
    pub fn log(&self) -> &[LogLine] {
        &self.log
    }

    /// What the handler logged, as lines `level: message`.
    pub fn log_text(&self) -> String {
        log_text(&self.log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        json, log,
        plugin::{AfterToolUse, HookError, HookOutcome, TurnEnd},
    };

    fn shout(payload: AfterToolUse) -> HookOutcome<AfterToolUse> {
        log::info!("{} bytes", payload.output.len());
        HookOutcome::continue_with().output(payload.output.to_uppercase())
    }

    #[test]
    fn a_test_reads_the_answer_and_the_log() {
        let run = ask(shout, AfterToolUse { output: "a".into(), ..AfterToolUse::default() });
        assert_eq!((run.changes(), run.abort_reason()), (json!({"output": "A"}), None));
        assert!(!run.proceeds_unchanged());
        assert_eq!((run.log_text().as_str(), run.log().len()), ("info: 1 bytes\n", 1));
    }

    #[test]
    #[should_panic(expected = "the handler gave no answer: HOOK_ERROR: no disk")]
    fn asking_for_an_answer_that_is_not_there_says_why() {
        fn failing(_: TurnEnd) -> Result<(), HookError> {
            Err("no disk".into())
        }
        let run = ask(failing, TurnEnd::default());
        assert_eq!(run.guest_error().map(|error| error.code.as_str()), Some("HOOK_ERROR"));
        run.changes();
    }
}
