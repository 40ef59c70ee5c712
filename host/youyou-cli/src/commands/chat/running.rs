//! The tools that run at this moment, and the line that moves while they do.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use youyou::CallId;

use crate::{print::shorten, terminal::Terminal};

/// How often the line moves.
const TICK: Duration = Duration::from_millis(100);

/// Which calls have begun and not ended.
pub(super) struct RunningTools {
    terminal: Terminal,
    calls: Vec<(CallId, String)>,
    bar: Option<ProgressBar>,
}

impl RunningTools {
    pub(super) fn new(terminal: Terminal) -> Self {
        Self { terminal, calls: Vec::new(), bar: None }
    }

    pub(super) fn started(&mut self, call_id: &CallId, tool_name: &str) {
        self.calls.push((call_id.clone(), shorten(tool_name)));
        self.show();
    }

    pub(super) fn ended(&mut self, call_id: &CallId) {
        self.calls.retain(|(id, _)| id != call_id);
        self.show();
    }

    /// Their names, in the order in which they began; none when nothing runs.
    pub(super) fn names(&self) -> Option<String> {
        let names: Vec<_> = self.calls.iter().map(|(_, name)| name.as_str()).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// Brings the line up to date: what runs, and for how long already.
    fn show(&mut self) {
        match (self.names(), &self.bar) {
            (None, _) => self.clear(),
            (Some(names), Some(bar)) => bar.set_message(names),
            (Some(names), None) => {
                let bar = self.terminal.show(ProgressBar::new_spinner().with_message(names));
                if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
                    bar.set_style(style);
                }
                bar.enable_steady_tick(TICK);
                self.bar = Some(bar);
            }
        }
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// Nothing moves any more once nobody looks after it.
impl Drop for RunningTools {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_is_named_in_the_order_of_its_begin() {
        let mut running = RunningTools::new(Terminal::new());
        assert_eq!(running.names(), None);
        running.started(&CallId::new("1"), "read");
        running.started(&CallId::new("2"), "grep");
        running.started(&CallId::new("3"), "read");
        assert_eq!(running.names().as_deref(), Some("read, grep, read"));
        running.ended(&CallId::new("1"));
        assert_eq!(running.names().as_deref(), Some("grep, read"));
    }
}
