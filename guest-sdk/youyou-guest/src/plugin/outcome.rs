//! What a handler answers, so typed that only what its event allows can be written.

use std::{error::Error, fmt, marker::PhantomData};

use serde::Serialize;
use serde_json::{Map, Value};

use super::payload::{AfterToolUse, BeforeCompact, BeforeToolUse, MayAbort, MayChange, TurnStart};
use crate::error::ToolError;

/// What a handler of event `E` answers.
///
/// ```
/// use youyou_guest::plugin::{AfterToolUse, HookOutcome};
///
/// fn shorten(payload: AfterToolUse) -> HookOutcome<AfterToolUse> {
///     match payload.output.char_indices().nth(1000) {
///         Some((end, _)) => HookOutcome::continue_with().output(&payload.output[..end]),
///         None => HookOutcome::proceed(),
///     }
/// }
/// ```
///
/// The end of a turn cannot be stopped, so there is nothing to call:
///
/// ```compile_fail,E0277
/// use youyou_guest::plugin::{HookOutcome, TurnEnd};
/// let outcome: HookOutcome<TurnEnd> = HookOutcome::abort("stay");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HookOutcome<E> {
    pub(crate) answer: Answer,
    event: PhantomData<fn() -> E>,
}

/// An outcome of whatever event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Proceed,
    ContinueWith(Map<String, Value>),
    Abort(String),
}

impl<E> HookOutcome<E> {
    fn of(answer: Answer) -> Self {
        Self { answer, event: PhantomData }
    }

    /// All goes on as it is.
    pub fn proceed() -> Self {
        Self::of(Answer::Proceed)
    }
}

impl<E: MayAbort> HookOutcome<E> {
    /// Stops the operation. What that means is said at the event; the reason is for the user and the model.
    pub fn abort(reason: impl Into<String>) -> Self {
        Self::of(Answer::Abort(reason.into()))
    }
}

impl<E: MayChange> HookOutcome<E> {
    /// All goes on with the changes that follow: `HookOutcome::continue_with().output("…")`.
    pub fn continue_with() -> Self {
        Self::of(Answer::ContinueWith(Map::new()))
    }

    /// Sets a field. After an abort there is nothing that would go on with it.
    fn with(mut self, field: &str, value: Value) -> Self {
        match &mut self.answer {
            Answer::Proceed => self.answer = Answer::ContinueWith(Map::from_iter([(field.to_owned(), value)])),
            Answer::ContinueWith(fields) => {
                fields.insert(field.to_owned(), value);
            }
            Answer::Abort(_) => {}
        }
        self
    }
}

impl HookOutcome<BeforeToolUse> {
    /// Calls the tool with these arguments in place of the old, as a whole; any serde type that is an object will do.
    ///
    /// # Panics
    /// When the value has no JSON form, which is so for a map whose keys are not text.
    #[must_use]
    #[track_caller]
    pub fn arguments(self, arguments: impl Serialize) -> Self {
        match serde_json::to_value(&arguments) {
            Ok(arguments) => self.with("arguments", arguments),
            Err(error) => panic!("the arguments cannot be written as JSON: {error}"),
        }
    }
}

impl HookOutcome<AfterToolUse> {
    /// Gives the model this text in place of the tool's.
    #[must_use]
    pub fn output(self, output: impl Into<String>) -> Self {
        self.with("output", Value::String(output.into()))
    }

    /// Tells the model that the tool succeeded, or that it did not.
    #[must_use]
    pub fn success(self, success: bool) -> Self {
        self.with("success", Value::Bool(success))
    }
}

impl HookOutcome<TurnStart> {
    /// Gives the model this text in place of the user's; what was attached stays.
    #[must_use]
    pub fn user_text(self, text: impl Into<String>) -> Self {
        self.with("user_input", Value::Object(Map::from_iter([("text".to_owned(), Value::String(text.into()))])))
    }

    /// Adds a section to the system prompt of this turn, after those that are there; at most 32 KiB.
    #[must_use]
    pub fn section(mut self, title: impl Into<String>, content: impl Into<String>) -> Self {
        let section = Value::Object(Map::from_iter([
            ("title".to_owned(), Value::String(title.into())),
            ("content".to_owned(), Value::String(content.into())),
        ]));
        if let Answer::ContinueWith(fields) = &mut self.answer
            && let Some(Value::Array(sections)) = fields.get_mut("dynamic_sections")
        {
            sections.push(section);
            return self;
        }
        self.with("dynamic_sections", Value::Array(vec![section]))
    }
}

impl HookOutcome<BeforeCompact> {
    /// Tells this to the model that writes the summary.
    #[must_use]
    pub fn compact_prompt(self, prompt: impl Into<String>) -> Self {
        self.with("compact_prompt", Value::String(prompt.into()))
    }
}

/// Why a handler has no answer. All goes on as if it had not been asked, with a warning, unless the index.md says
/// `on_failure: abort`.
///
/// `?` makes one from a text, from the errors of `std` and `serde_json`, and from a `Box<dyn Error>`, as for a
/// [`ToolError`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookError(ToolError);

impl HookError {
    /// A failure with a stable name for programs, in `SCREAMING_SNAKE_CASE`.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self(ToolError::new(code, message))
    }

    /// The name, if it was given one.
    pub fn code(&self) -> Option<&str> {
        self.0.code()
    }

    /// What the user reads.
    pub fn message(&self) -> &str {
        self.0.message()
    }
}

impl<E: Into<ToolError>> From<E> for HookError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for HookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl Error for HookError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn data<E>(outcome: HookOutcome<E>) -> Value {
        match outcome.answer {
            Answer::ContinueWith(fields) => fields.into(),
            other => panic!("{other:?}"),
        }
    }

    /// D-6, D-8: the names that each event lets a handler change.
    #[test]
    fn each_event_has_the_changes_that_it_allows() {
        #[derive(Serialize)]
        struct Args {
            path: &'static str,
        }
        assert_eq!(
            data(HookOutcome::continue_with().arguments(Args { path: "a" })),
            json!({"arguments": {"path": "a"}})
        );
        assert_eq!(
            data(HookOutcome::continue_with().output("a").success(false)),
            json!({"output": "a", "success": false})
        );
        assert_eq!(
            data(HookOutcome::continue_with().user_text("u").section("a", "b").section("c", "d")),
            json!({
                "user_input": {"text": "u"},
                "dynamic_sections": [{"title": "a", "content": "b"}, {"title": "c", "content": "d"}]
            })
        );
        assert_eq!(data(HookOutcome::proceed().compact_prompt("p")), json!({"compact_prompt": "p"}));
    }

    /// The host's table says the same.
    #[test]
    fn the_changes_are_those_of_the_hosts_table() {
        let fields = |event: youyou_api::HookEvent| {
            let mut names: Vec<_> = event.rules().mutable.iter().map(|field| field.name).collect();
            names.sort_unstable();
            names
        };
        let own = |data: Value| {
            let mut names: Vec<_> = data.as_object().expect("an object").keys().cloned().collect();
            names.sort_unstable();
            names
        };
        use youyou_api::HookEvent;
        assert_eq!(
            own(data(HookOutcome::<TurnStart>::continue_with().user_text("").section("", ""))),
            fields(HookEvent::TurnStart)
        );
        assert_eq!(own(data(HookOutcome::proceed().arguments(json!({})))), fields(HookEvent::BeforeToolUse));
        assert_eq!(own(data(HookOutcome::proceed().output("").success(true))), fields(HookEvent::AfterToolUse));
        assert_eq!(own(data(HookOutcome::proceed().compact_prompt(""))), fields(HookEvent::BeforeCompact));
        for event in [HookEvent::SessionStart, HookEvent::SessionEnd, HookEvent::TurnEnd] {
            assert_eq!(fields(event), Vec::<&str>::new());
        }
    }

    /// D-12: abort wins.
    #[test]
    fn an_abort_stays_one() {
        let outcome = HookOutcome::<AfterToolUse>::abort("no").output("x");
        assert_eq!(outcome.answer, Answer::Abort("no".to_owned()));
    }

    #[test]
    fn a_question_mark_makes_a_hook_error() {
        fn read() -> Result<(), HookError> {
            "x".parse::<u8>()?;
            Err(HookError::new("LATE", "too late"))
        }
        assert_eq!(read().expect_err("no number").message(), "invalid digit found in string");
        assert_eq!(HookError::from("no").code(), None);
    }
}
