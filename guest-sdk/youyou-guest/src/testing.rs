//! A tool or a plugin without a host: call it, read its answer and its log, compare it with its `index.md`.
//!
//! ```
//! use youyou_guest::{ToolError, args, json, log, testing};
//!
//! #[args]
//! struct Args {
//!     text: String,
//! }
//!
//! fn shout(args: Args) -> Result<String, ToolError> {
//!     log::debug!("{} bytes", args.text.len());
//!     if args.text.is_empty() {
//!         return Err("text is empty".into());
//!     }
//!     Ok(args.text.to_uppercase())
//! }
//!
//! let answer = testing::call(shout, json!({"text": "hi"}));
//! assert_eq!(answer.content(), "HI");
//! assert_eq!(answer.log_text(), "debug: 2 bytes\n");
//!
//! assert!(testing::call(shout, json!({"text": ""})).is_error());
//! assert_eq!(testing::call(shout, json!({})).guest_error().unwrap().code, "INVALID_ARGUMENTS");
//! ```
//!
//! The arguments go the way that they go in the component, as JSON text. Only the limits and grants of the host are
//! missing: natively the tool may do what the test may do. This module is not there when a component is built.
//!
//! A plugin's handler is asked with [`ask`].

mod plugin;

use std::{cell::RefCell, fmt, io, path::Path};

use serde_json::Value;

use crate::{
    call::{self, Handler},
    document::{ToolInput, ToolOutput},
    error::GuestError,
    index_md::ToolSpec,
    log::Level,
};

pub use plugin::{HookRun, ask};

/// Calls the tool with these arguments: JSON text, or a value from [`json!`](crate::json).
pub fn call<S, H: Handler<S>>(tool: H, arguments: impl fmt::Display) -> ToolAnswer {
    match ToolInput::new("call-1", "tool", arguments.to_string()) {
        Ok(input) => call_with(tool, &input),
        Err(error) => ToolAnswer { result: Err(error), log: Vec::new() },
    }
}

/// Calls the tool with a whole document, for one that reads its call id or its name.
pub fn call_with<S, H: Handler<S>>(tool: H, input: &ToolInput) -> ToolAnswer {
    let host = FakeHost::start();
    let result = call::run(&tool, input);
    ToolAnswer { result, log: host.stop() }
}

/// What a call gave.
#[derive(Debug, Clone)]
pub struct ToolAnswer {
    result: Result<ToolOutput, GuestError>,
    log: Vec<LogLine>,
}

impl ToolAnswer {
    /// The answer.
    ///
    /// # Panics
    /// When there is none, with the reason; this and the next three then fail the test.
    #[track_caller]
    pub fn output(&self) -> &ToolOutput {
        match &self.result {
            Ok(output) => output,
            Err(error) => panic!("the tool gave no answer: {error}"),
        }
    }

    /// The text for the model.
    #[track_caller]
    pub fn content(&self) -> &str {
        &self.output().content
    }

    /// Whether the tool reported failure.
    #[track_caller]
    pub fn is_error(&self) -> bool {
        self.output().is_error
    }

    /// The metadata; `null` when there is none.
    #[track_caller]
    pub fn metadata(&self) -> Value {
        let metadata = self.output().metadata.as_ref();
        // It was made by serialising, so it parses.
        metadata.and_then(|text| serde_json::from_str(text.get()).ok()).unwrap_or_default()
    }

    /// Why there is no answer, if there is none.
    pub fn guest_error(&self) -> Option<&GuestError> {
        self.result.as_ref().err()
    }

    /// What the tool logged.
    pub fn log(&self) -> &[LogLine] {
        &self.log
    }

    /// What the tool logged, as lines `level: message`.
    pub fn log_text(&self) -> String {
        log_text(&self.log)
    }
}

fn log_text(log: &[LogLine]) -> String {
    log.iter().map(|line| format!("{}: {}\n", line.level, line.message)).collect()
}

/// One line that the tool logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// How serious it is.
    pub level: Level,
    /// Its text.
    pub message: String,
}

/// Fails unless the `index.md` describes the parameters that the code reads, and shows what it should say.
///
/// Tests run in the folder of their package, so `"index.md"` is the file beside `Cargo.toml`.
///
/// ```no_run
/// # use youyou_guest::tool;
/// # #[tool]
/// # fn now() -> String { String::new() }
/// #[test]
/// fn the_index_md_fits_the_code() {
///     youyou_guest::testing::assert_index_md(&youyou_tool_spec(), "index.md");
/// }
/// # fn main() {}
/// ```
///
/// # Panics
/// When they differ, when the file cannot be read, or when no `index.md` could describe the arguments.
#[track_caller]
pub fn assert_index_md(spec: &ToolSpec, path: impl AsRef<Path>) {
    if let Err(problem) = check_index_md(spec, path.as_ref()) {
        panic!("{problem}");
    }
}

fn check_index_md(spec: &ToolSpec, path: &Path) -> Result<(), String> {
    let shown = path.display();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(format!("there is no {shown}; this one fits the code:\n\n{}", spec.index_md()?));
        }
        Err(error) => return Err(format!("cannot read {shown}: {error}")),
    };
    let differences = spec.differences(&text).map_err(|problem| format!("{shown}: {problem}"))?;
    if differences.is_empty() {
        return Ok(());
    }
    let right = match spec.parameters_yaml()? {
        none if none.is_empty() => "no `parameters` at all".to_owned(),
        block => format!("this:\n\n{block}"),
    };
    Err(format!(
        "the parameters in {shown} differ from the code:\n- {}\n\nThe code needs {right}",
        differences.join("\n- ")
    ))
}

thread_local! {
    // In a component there is one host and it is everywhere; the log macros take none. For tests, which run on many
    // threads, the same is had by one fake host for each thread, there only during a call.
    static LINES: RefCell<Option<Vec<LogLine>>> = const { RefCell::new(None) };
}

/// Takes log lines on this thread until it is stopped or dropped; a call within a call has its own.
struct FakeHost {
    outer: Option<Vec<LogLine>>,
}

impl FakeHost {
    fn start() -> Self {
        Self { outer: LINES.replace(Some(Vec::new())) }
    }

    fn stop(mut self) -> Vec<LogLine> {
        let lines = LINES.replace(self.outer.take());
        std::mem::forget(self);
        lines.unwrap_or_default()
    }
}

impl Drop for FakeHost {
    fn drop(&mut self) {
        LINES.set(self.outer.take());
    }
}

pub(crate) fn write_log(level: Level, message: fmt::Arguments<'_>) {
    let outside = LINES.with_borrow_mut(|lines| match lines {
        Some(lines) => {
            lines.push(LogLine { level, message: message.to_string() });
            false
        }
        None => true,
    });
    if outside {
        eprintln!("{level}: {message}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{json, log};

    fn noisy() -> ToolOutput {
        log::trace!("a");
        log::debug!("{}", "b");
        log::info!("c {}", 1);
        let name = "d";
        log::warn!("{name}");
        log::error!("e");
        ToolOutput::text("done").with_metadata(json!({"n": 5}))
    }

    #[test]
    fn a_test_reads_what_the_tool_logged() {
        let answer = call(noisy, "{}");
        assert_eq!(answer.log_text(), "trace: a\ndebug: b\ninfo: c 1\nwarn: d\nerror: e\n");
        assert_eq!(answer.log()[4], LogLine { level: Level::Error, message: "e".to_owned() });
        assert_eq!((answer.content(), answer.is_error(), answer.metadata()), ("done", false, json!({"n": 5})));
    }

    #[test]
    fn a_call_within_a_call_keeps_its_own_log() {
        let outer = call(
            || {
                log::info!("before");
                let inner = call(noisy, "{}");
                log::info!("after {}", inner.log().len());
                ""
            },
            "{}",
        );
        assert_eq!(outer.log_text(), "info: before\ninfo: after 5\n");
    }

    #[test]
    fn a_panicking_tool_leaves_no_fake_host_behind() {
        let panicked = std::panic::catch_unwind(|| call(|| -> String { panic!("on purpose") }, "{}"));
        assert!(panicked.is_err());
        assert!(LINES.take().is_none());
    }

    #[test]
    fn a_tool_reads_the_document_of_its_call() {
        let input = ToolInput::new("c7", "echo", r#"{"z":1,"a":2}"#).expect("an object");
        let echo = |_: serde_json::Map<String, Value>, input: &ToolInput| input.to_json();
        let answer = call_with(echo, &input);
        assert_eq!(answer.content(), r#"{"call_id":"c7","tool_name":"echo","arguments":{"z":1,"a":2}}"#);
    }

    #[test]
    #[should_panic(expected = "the tool gave no answer: INVALID_ARGUMENTS: the arguments are not JSON")]
    fn asking_for_an_answer_that_is_not_there_says_why() {
        call(noisy, "{").content();
    }

    #[test]
    fn an_index_md_is_compared_with_the_code() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("index.md");
        let spec = ToolSpec::of(|_: crate::NoArgs| "", "now", "now.wasm", "Tells the time.");

        let problem = check_index_md(&spec, &path).expect_err("no file");
        assert!(problem.contains("this one fits the code:\n\n---\nversion: 1\nname: now\n"), "{problem}");

        std::fs::write(&path, spec.index_md().expect("text")).expect("written");
        assert_eq!(check_index_md(&spec, &path), Ok(()));

        std::fs::write(&path, "---\nparameters:\n  - {name: zone, type: string}\n---\n").expect("written");
        let problem = check_index_md(&spec, &path).expect_err("differs");
        assert!(problem.contains("\n- `zone` is not an argument of the code\n"), "{problem}");
        assert!(problem.contains("no `parameters` at all"), "{problem}");
    }
}
