//! The terminal's last line, on which something may move while lines are printed above it.

use std::io::{self, Write};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget};

/// Stderr, shared by everybody who prints there while a bar may be shown. A clone is the same terminal.
#[derive(Clone)]
pub(crate) struct Terminal(MultiProgress);

impl Terminal {
    /// Bars are shown only where stderr is a terminal that can move its cursor.
    pub(crate) fn new() -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let target = if dumb { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        Self(MultiProgress::with_draw_target(target))
    }

    /// Prints a line to stderr, above the bar.
    pub(crate) fn note(&self, text: &str) {
        self.0.suspend(|| crate::print::note(text));
    }

    /// Does what prints something, while no bar is shown.
    pub(crate) fn above<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }

    /// Shows a bar on the last line, if any can be shown.
    pub(crate) fn show(&self, bar: ProgressBar) -> ProgressBar {
        self.0.add(bar)
    }
}

/// Writes to stderr, above the bar.
impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.above(|| io::stderr().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
