//! Showing a turn while it happens: the answer on stdout, everything about it on stderr.

use youyou::{AgentEvent, AgentEventKind, Error, HookRun, TurnStatus, hook::HookRunOutcome};

use super::running::RunningTools;
use crate::{
    exit::Exit,
    print::{self, shorten},
    terminal::Terminal,
};

/// Shows one turn.
pub(super) struct Show {
    form: Form,
    terminal: Terminal,
    running: RunningTools,
    /// Whether text was written whose line has not ended.
    open_line: bool,
    exit: Exit,
    /// Whether something could not be written; then nothing more is.
    unwritten: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// One JSON document for each event.
    Json,
    /// Text for a person.
    Text,
}

impl Show {
    pub(super) fn new(json: bool, terminal: Terminal) -> Self {
        let form = if json { Form::Json } else { Form::Text };
        let running = RunningTools::new(terminal.clone());
        Self { form, terminal, running, open_line: false, exit: Exit::Ok, unwritten: false }
    }

    /// How the turn went, as an exit status.
    pub(super) fn exit(&self) -> Exit {
        if self.unwritten && self.exit == Exit::Ok { Exit::CouldNotRun } else { self.exit }
    }

    /// Shows what has happened. What cannot be written is an error on stderr and in the end; the turn goes on.
    pub(super) fn event(&mut self, event: &AgentEvent) {
        self.follow(&event.kind);
        if self.form == Form::Json {
            return self.print(|| print::document(event));
        }
        match &event.kind {
            AgentEventKind::TextDelta { text } => self.text(text),
            other => {
                if let Some(line) = aside(other) {
                    self.aside(&line);
                }
            }
        }
        if event.kind.is_terminal() {
            self.end_line();
        }
    }

    /// Says that the turn is being cancelled, and what it still waits for.
    pub(super) fn cancelling(&mut self) {
        if let Some(names) = self.running.names() {
            self.aside(&format!("waiting for {names} to end; Ctrl-C again leaves at once"));
        }
    }

    /// Says that nothing is waited for any more.
    pub(super) fn left(&mut self) {
        self.aside("left at once; whatever still ran was killed");
    }

    /// Keeps track of what runs, and of how the turn ends.
    fn follow(&mut self, kind: &AgentEventKind) {
        match kind {
            AgentEventKind::ToolCallStart { call_id, tool_name, .. } => self.running.started(call_id, tool_name),
            AgentEventKind::ToolCallEnd { call_id, .. } => self.running.ended(call_id),
            AgentEventKind::TurnComplete { status: TurnStatus::Failed, .. } => self.exit = Exit::CouldNotRun,
            AgentEventKind::TurnCancelled => self.exit = Exit::Reported,
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        self.print(|| print::piece(text));
        if !text.is_empty() {
            self.open_line = !text.ends_with('\n');
        }
    }

    fn aside(&mut self, line: &str) {
        self.end_line();
        self.terminal.above(|| print::dim(line));
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.open_line) {
            self.print(|| print::line(""));
        }
    }

    /// Prints to stdout, above the bar.
    fn print(&mut self, print: impl FnOnce() -> Result<(), Error>) {
        if self.unwritten {
            return;
        }
        if let Err(error) = self.terminal.above(print) {
            self.unwritten = true;
            self.terminal.above(|| print::failure(&error, false));
        }
    }
}

/// What is worth a line beside the answer.
fn aside(kind: &AgentEventKind) -> Option<String> {
    match kind {
        AgentEventKind::ToolCallStart { tool_name, arguments, .. } => {
            Some(format!("→ {} {}", shorten(tool_name), shorten(arguments)))
        }
        AgentEventKind::ToolCallEnd { tool_name, output, duration_ms, success, skipped, .. } => {
            let mark = if *success { "✓" } else { "✗" };
            let time = if *skipped { "not started".to_owned() } else { shown_time(*duration_ms) };
            Some(format!("{mark} {} ({time}) {}", shorten(tool_name), shorten(output)))
        }
        AgentEventKind::HookRan(run) => hook(run),
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

/// What a plugin changed or refused; what went wrong in one is warned of in the log.
fn hook(run: &HookRun) -> Option<String> {
    let plugin = run.plugin_id.as_str();
    match &run.outcome {
        HookRunOutcome::Changed => {
            let fields: Vec<_> = run.changes.iter().map(|change| change.field.as_str()).collect();
            Some(format!("~ the plugin {plugin} changed {}", shorten(&fields.join(", "))))
        }
        HookRunOutcome::Aborted(reason) => Some(format!("⊘ the plugin {plugin} refused: {}", shorten(reason))),
        HookRunOutcome::Continued | HookRunOutcome::Failed => None,
    }
}

/// A time as people say it.
fn shown_time(milliseconds: u64) -> String {
    if milliseconds < 1_000 {
        return format!("{milliseconds} ms");
    }
    let tenths = milliseconds / 100;
    format!("{}.{} s", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use youyou::CallId;

    use super::*;

    /// "Which plugin changed my arguments?"
    #[test]
    fn what_a_plugin_did_is_told() {
        let run = |outcome| HookRun {
            plugin_id: "guard".parse().expect("legal"),
            event: youyou::HookEvent::BeforeToolUse,
            call_id: None,
            backend: "script".into(),
            outcome,
            changes: vec![youyou::hook::ChangedField { field: "arguments.path".into(), before: None, after: None }],
            duration_ms: 1,
            warnings: Vec::new(),
        };
        let told = |outcome| aside(&AgentEventKind::HookRan(run(outcome)));
        assert_eq!(told(HookRunOutcome::Changed).as_deref(), Some("~ the plugin guard changed arguments.path"));
        assert_eq!(told(HookRunOutcome::Aborted("no".into())).as_deref(), Some("⊘ the plugin guard refused: no"));
        assert_eq!(told(HookRunOutcome::Continued), None);
    }

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
        assert_eq!([999, 1_000, 61_250].map(shown_time), ["999 ms", "1.0 s", "61.2 s"]);
        assert_eq!(aside(&end(true, false)), Some(format!("✓ read (7 ms) {}…", "x".repeat(99))));
        assert!(aside(&end(false, true)).is_some_and(|line| line.starts_with("✗ read (not started) x")));
    }
}
