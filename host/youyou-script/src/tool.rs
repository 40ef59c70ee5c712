//! A tool whose calls are runs of a script.
//!
//! The input document goes in on stdin as one line: the JSON of [`ToolInput`] and one line end, so that a `read` in a
//! shell takes it whole. Stdout is the answer, the exit code its verdict (Y3.3-4, Y5.6-2).

use std::{borrow::Cow, time::Duration};

use youyou_api::{BoxFuture, CallContext, CallStats, ToolFailure, ToolHandler, ToolInput, ToolOutput, ToolSpec};

use crate::{
    capture::without_half_character,
    command::{Guest, ScriptCommand, ScriptHost},
    run::{Captured, ScriptExit, ScriptOutput, ScriptRun, run},
};

/// What a tool's text may weigh, notes included: 1 MiB (Y4.4-4, D-57).
pub const CONTENT_LIMIT_BYTES: usize = 1024 * 1024;

const LOSSY_NOTE: &str = "\n[the output is not valid UTF-8; what could not be read is shown as \u{fffd}]";

/// A script as a [`ToolHandler`].
///
/// The content of its answer is what the script printed on stdout, but for these:
/// - one line end at the end is taken off, so that `echo hi` answers `hi`;
/// - what is not UTF-8 is replaced, and a note at the end says so (D-58);
/// - an exit other than 0 with nothing on stdout is put into words (D-59);
/// - more than 1 MiB is cut at a character, and a note at the end says so (D-57).
#[derive(Debug)]
pub struct ScriptTool {
    host: ScriptHost,
    spec: ToolSpec,
    command: ScriptCommand,
}

impl ScriptTool {
    /// A tool that runs `command`. Nothing is checked before the first call; see [`preflight`](crate::preflight).
    pub fn new(host: ScriptHost, spec: ToolSpec, command: ScriptCommand) -> Self {
        Self { host, spec, command }
    }

    /// What it runs.
    pub fn command(&self) -> &ScriptCommand {
        &self.command
    }
}

impl ToolHandler for ScriptTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, input: ToolInput, context: CallContext) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move {
            let mut document = input.to_json().into_bytes();
            // Only the document is needed from here on; arguments may be large.
            drop(input);
            document.push(b'\n');
            let guest = Guest::Tool(&self.spec.name);
            let output =
                run(ScriptRun { host: &self.host, command: &self.command, guest, input: document, context: &context })
                    .await
                    .map_err(|error| error.into_error(guest, &self.command))?;
            report(&context.stats, &output);
            Ok(answer(output))
        })
    }

    fn timeout(&self) -> Option<Duration> {
        self.command.timeout
    }

    fn backend(&self) -> &'static str {
        "script"
    }
}

/// The figures of one run.
pub(crate) fn report(stats: &CallStats, output: &ScriptOutput) {
    if !stats.wanted() {
        return;
    }
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    stats.set("spawn_us", micros(output.spawn_time));
    stats.set("run_us", micros(output.run_time));
    stats.set("stdout_bytes", output.captured.stdout_bytes);
    stats.set("stderr_bytes", output.captured.stderr_bytes);
    match output.exit {
        ScriptExit::Code(code) => stats.set("exit_code", code),
        ScriptExit::Signal(signal) => stats.set("signal", signal),
    }
}

fn answer(output: ScriptOutput) -> ToolOutput {
    let mut content = content(output.captured);
    if !output.exit.is_success() && content.is_empty() {
        content = match output.exit {
            ScriptExit::Code(_) => format!("[tool {}]", output.exit),
            ScriptExit::Signal(_) => format!("[{}]", output.exit),
        };
    }
    ToolOutput { content, is_error: !output.exit.is_success(), metadata: None }
}

fn content(captured: Captured) -> String {
    let truncated = captured.is_truncated();
    let printed = captured.stdout_bytes;
    let (text, note) = decode(captured);
    let whole = text.len() as u64 + note.len() as u64;
    if !truncated && whole <= CONTENT_LIMIT_BYTES as u64 {
        return text + note;
    }
    // What is not UTF-8 grows when it is replaced, so a text may be too long without having been cut yet.
    let printed = if truncated { printed } else { text.len() as u64 };
    let note = format!("{note}\n[output cut: it has {printed} bytes, the limit is {CONTENT_LIMIT_BYTES}]");
    let mut text = text;
    text.truncate(text.floor_char_boundary(CONTENT_LIMIT_BYTES.saturating_sub(note.len())));
    text + &note
}

/// The text that was printed, and the note that it needs.
fn decode(captured: Captured) -> (String, &'static str) {
    let truncated = captured.is_truncated();
    let mut bytes = captured.stdout;
    let kept = if truncated { without_half_character(&bytes) } else { without_line_end(&bytes) }.len();
    bytes.truncate(kept);
    match String::from_utf8(bytes) {
        Ok(text) => (text, ""),
        Err(error) => match String::from_utf8_lossy(error.as_bytes()) {
            Cow::Borrowed(text) => (text.to_owned(), ""),
            Cow::Owned(text) => (text, LOSSY_NOTE),
        },
    }
}

fn without_line_end(bytes: &[u8]) -> &[u8] {
    match bytes.strip_suffix(b"\n") {
        Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
        None => bytes,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn printed(stdout: &[u8]) -> Captured {
        let kept = &stdout[..stdout.len().min(crate::STDOUT_KEPT_BYTES)];
        Captured { stdout: kept.to_vec(), stdout_bytes: stdout.len() as u64, ..Captured::default() }
    }

    fn answered(exit: ScriptExit, stdout: &[u8]) -> ToolOutput {
        let (spawn_time, run_time) = (Duration::ZERO, Duration::ZERO);
        answer(ScriptOutput { exit, captured: printed(stdout), spawn_time, run_time })
    }

    /// Y5.6-2, D-59.
    #[test]
    fn the_exit_code_is_the_verdict_and_stdout_the_message() {
        assert_eq!(answered(ScriptExit::Code(0), b"hi\n"), ToolOutput::text("hi"));
        assert_eq!(answered(ScriptExit::Code(0), b""), ToolOutput::text(""));
        assert_eq!(answered(ScriptExit::Code(3), b"no such city\n"), ToolOutput::error("no such city"));
        assert_eq!(answered(ScriptExit::Code(3), b"\n"), ToolOutput::error("[tool exited with code 3]"));
        assert_eq!(answered(ScriptExit::Signal(9), b""), ToolOutput::error("[killed by signal 9]"));
    }

    #[test]
    fn exactly_one_line_end_is_taken_off() {
        for (stdout, content) in
            [("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a\n"), ("a\r", "a\r"), (" a ", " a "), ("\n", "")]
        {
            assert_eq!(super::content(printed(stdout.as_bytes())), content);
        }
    }

    /// K-32, D-58.
    #[test]
    fn what_is_not_utf8_is_replaced_and_noted() {
        assert_eq!(content(printed(b"caf\xe9\n")), format!("caf\u{fffd}{LOSSY_NOTE}"));
        assert_eq!(content(printed(b"a\0b\n")), "a\0b");
    }

    /// K-19, Y4.4-4, D-57.
    #[test]
    fn a_long_answer_is_cut_at_a_character_and_says_how_long_it_was() {
        let content = content(printed("€".repeat(400_000).as_bytes()));
        assert!(content.len() <= CONTENT_LIMIT_BYTES && content.len() > CONTENT_LIMIT_BYTES - 4);
        assert!(content.ends_with("€\n[output cut: it has 1200000 bytes, the limit is 1048576]"));
    }

    #[test]
    fn an_answer_of_exactly_the_limit_is_whole() {
        let text = "x".repeat(CONTENT_LIMIT_BYTES);
        assert_eq!(content(printed(text.as_bytes())), text);
        assert_eq!(content(printed(format!("{text}\r\n").as_bytes())), text);
        assert!(
            content(printed(format!("{text}x").as_bytes())).ends_with("it has 1048577 bytes, the limit is 1048576]")
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// D-57, D-58: bytes of any kind and number end as valid text within the limit, with both notes at its end.
        #[test]
        fn no_output_breaks_the_limit(piece in proptest::collection::vec(any::<u8>(), 1..6), over in 0usize..9) {
            let bytes = piece.repeat(CONTENT_LIMIT_BYTES / piece.len() + over);
            let content = content(printed(&bytes));
            prop_assert!(content.len() <= CONTENT_LIMIT_BYTES);
            prop_assert!(bytes.len() <= CONTENT_LIMIT_BYTES + 2 || content.ends_with("the limit is 1048576]"));
        }
    }
}
