//! Appends a line of JSON to a file for every event, and counts what there was for a summary when the session ends.
//!
//! One instance serves the whole session (`instance: per_session`), so the counts are plain variables.

mod record;

use std::{
    cell::RefCell,
    fs::File,
    io::Write as _,
    time::{SystemTime, UNIX_EPOCH},
};

use youyou_guest::{
    hook,
    plugin::{
        AfterToolUse, BeforeCompact, BeforeToolUse, Event, HookError, SessionEnd, SessionStart, TurnEnd, TurnStart,
    },
    serde::Deserialize,
};

use crate::record::{Counts, line};

/// The configuration.
#[derive(Deserialize)]
#[serde(crate = "youyou_guest::serde", default, deny_unknown_fields)]
struct Config {
    /// The file, in a folder that the plugin may write.
    path: String,
    /// Whether what was said, asked and answered is written too, or only that it was.
    contents: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self { path: "audit/audit.jsonl".to_owned(), contents: false }
    }
}

thread_local! {
    static COUNTS: RefCell<Counts> = RefCell::default();
}

#[hook]
fn session_start(payload: SessionStart) -> Result<(), HookError> {
    record(&payload, payload.config()?)
}

#[hook]
fn turn_start(payload: TurnStart) -> Result<(), HookError> {
    record(&payload, payload.config()?)
}

#[hook]
fn before_tool_use(payload: BeforeToolUse) -> Result<(), HookError> {
    record(&payload, payload.config()?)
}

#[hook]
fn after_tool_use(payload: AfterToolUse) -> Result<(), HookError> {
    COUNTS.with_borrow_mut(|counts| counts.tool_ran(&payload.tool_name, payload.success));
    record(&payload, payload.config()?)
}

#[hook]
fn before_compact(payload: BeforeCompact) -> Result<(), HookError> {
    record(&payload, payload.config()?)
}

#[hook]
fn turn_end(payload: TurnEnd) -> Result<(), HookError> {
    record(&payload, payload.config()?)
}

#[hook]
fn session_end(payload: SessionEnd) -> Result<(), HookError> {
    let config: Config = payload.config()?;
    let path = config.path.clone();
    record(&payload, config)?;
    let summary = COUNTS.with_borrow(|counts| counts.summary(&payload.session_id, now_ms()));
    append(&path, &summary)
}

fn record<E: Event>(payload: &E, config: Config) -> Result<(), HookError> {
    let number = COUNTS.with_borrow_mut(|counts| counts.event(E::NAME));
    append(&config.path, &line(payload, number, now_ms(), config.contents)?)
}

fn append(path: &str, line: &str) -> Result<(), HookError> {
    let open = || File::options().create(true).append(true).open(path);
    let written = open().and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    written.map_err(|error| HookError::new("NOT_WRITTEN", format!("cannot append to {path}: {error}")))
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use youyou_guest::{
        json,
        serde_json::{self, Value},
        testing,
    };

    use super::*;

    /// What one instance writes in the life of a session. Each test has a thread, and so counts, of its own.
    #[test]
    fn a_session_leaves_a_line_for_each_event_and_a_summary() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("audit.jsonl");
        let plugin_config = json!({"path": path});
        let session_id = "s".to_owned();
        testing::ask(
            session_start,
            SessionStart { session_id: session_id.clone(), plugin_config: plugin_config.clone() },
        );
        for success in [true, false] {
            let run = AfterToolUse {
                session_id: session_id.clone(),
                tool_name: "read-file".to_owned(),
                output: "secret".to_owned(),
                success,
                plugin_config: plugin_config.clone(),
                ..AfterToolUse::default()
            };
            assert!(testing::ask(after_tool_use, run).proceeds_unchanged());
        }
        testing::ask(session_end, SessionEnd { session_id, message_count: 4, plugin_config });

        let text = std::fs::read_to_string(&path).expect("written");
        assert!(!text.contains("secret"), "{text}");
        let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        for line in &mut lines {
            assert!(line["at_ms"].as_u64().is_some_and(|at| at > 0), "{line}");
            line["at_ms"] = json!(0);
        }
        assert_eq!(lines[0], json!({"n": 1, "at_ms": 0, "event": "SessionStart", "session_id": "s"}));
        assert_eq!(lines[2]["success"], false);
        assert_eq!(lines[3]["message_count"], 4);
        assert_eq!(
            lines[4],
            json!({
                "at_ms": 0, "session_id": "s",
                "summary": {
                    "events": {"SessionStart": 1, "AfterToolUse": 2, "SessionEnd": 1},
                    "tools": {"read-file": {"ran": 2, "failed": 1}}
                }
            })
        );
        assert_eq!(lines.len(), 5);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_a_failure_that_names_it() {
        let payload = SessionStart { plugin_config: json!({"path": "no/such/folder/x"}), ..SessionStart::default() };
        let run = testing::ask(session_start, payload);
        let error = run.guest_error().expect("fails");
        assert_eq!(error.code, "NOT_WRITTEN");
        assert!(error.message.starts_with("cannot append to no/such/folder/x: "), "{error}");
    }
}
