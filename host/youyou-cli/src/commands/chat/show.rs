//! Showing a turn while it happens: the answer on stdout, everything about it on stderr.

use std::io::{self, Write};

use youyou::{AgentEvent, AgentEventKind, Error, TurnStatus};

use crate::{exit::Exit, print};

/// Shows one turn.
pub(super) struct Show {
    form: Form,
    /// Whether text was written whose line has not ended.
    open_line: bool,
    exit: Exit,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// One JSON document for each event.
    Json,
    /// Text for a person.
    Text,
}

impl Show {
    pub(super) fn new(json: bool) -> Self {
        let form = if json { Form::Json } else { Form::Text };
        Self { form, open_line: false, exit: Exit::Ok }
    }

    /// How the turn went, as an exit status.
    pub(super) fn exit(&self) -> Exit {
        self.exit
    }

    pub(super) fn event(&mut self, event: &AgentEvent) -> Result<(), Error> {
        self.note_ending(&event.kind);
        if self.form == Form::Json {
            return print::document(event);
        }
        match &event.kind {
            AgentEventKind::TextDelta { text } => self.text(text),
            other => {
                if let Some(line) = aside(other) {
                    self.end_line();
                    print::note(&console::style(line).for_stderr().dim().to_string());
                }
            }
        }
        if event.kind.is_terminal() {
            self.end_line();
        }
        Ok(())
    }

    fn note_ending(&mut self, kind: &AgentEventKind) {
        match kind {
            AgentEventKind::TurnComplete { status: TurnStatus::Failed, .. } => self.exit = Exit::CouldNotRun,
            AgentEventKind::TurnCancelled => self.exit = Exit::Reported,
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let mut out = io::stdout().lock();
        // Whoever reads stdout may have gone away; the turn goes on.
        let _gone = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        self.open_line = !text.ends_with('\n');
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.open_line) {
            print::line("");
        }
    }
}

/// What is worth a line beside the answer.
fn aside(kind: &AgentEventKind) -> Option<String> {
    match kind {
        AgentEventKind::ToolCallStart { tool_name, arguments, .. } => {
            Some(format!("→ {tool_name} {}", shorten(arguments)))
        }
        AgentEventKind::ToolCallEnd { tool_name, output, duration_ms, success, skipped, .. } => {
            let mark = if *success { "✓" } else { "✗" };
            let time = if *skipped { "not started".to_owned() } else { format!("{duration_ms} ms") };
            Some(format!("{mark} {tool_name} ({time}) {}", shorten(output)))
        }
        AgentEventKind::ContextCompacted { tokens_before, tokens_after, .. } => {
            Some(format!("… the context was made shorter: about {tokens_before} tokens before, {tokens_after} after"))
        }
        AgentEventKind::Retry { attempt, delay_ms, error } => {
            Some(format!("… trying again in {delay_ms} ms (attempt {attempt}): {}", error.message))
        }
        AgentEventKind::Error { error, .. } => Some(format!("error: {}", error.message)),
        AgentEventKind::TurnCancelled => Some("cancelled".to_owned()),
        _ => None,
    }
}

/// One line, short enough for a terminal.
fn shorten(text: &str) -> String {
    const SHOWN: usize = 100;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= SHOWN {
        return line;
    }
    line.chars().take(SHOWN - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use youyou::CallId;

    use super::*;

    #[test]
    fn a_call_is_one_line_at_its_begin_and_one_at_its_end() {
        let call_id = CallId::new("c");
        let start = AgentEventKind::ToolCallStart {
            call_id: call_id.clone(),
            tool_name: "read".into(),
            arguments: "{\"path\":\n \"a\"}".into(),
        };
        assert_eq!(aside(&start).as_deref(), Some("→ read {\"path\": \"a\"}"));
        let end = |success, skipped| AgentEventKind::ToolCallEnd {
            call_id: call_id.clone(),
            tool_name: "read".into(),
            output: "x".repeat(200),
            duration_ms: 7,
            success,
            skipped,
        };
        assert_eq!(aside(&end(true, false)), Some(format!("✓ read (7 ms) {}…", "x".repeat(99))));
        assert!(aside(&end(false, true)).is_some_and(|line| line.starts_with("✗ read (not started) x")));
    }
}
