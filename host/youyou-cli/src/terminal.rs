//! The terminal's last line, on which something may move while lines are printed above it.

use std::io::{self, Write};

use console::Term;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, TermLike};

/// Stderr, shared by everybody who prints there while a bar may be shown. A clone is the same terminal.
#[derive(Clone)]
pub(crate) struct Terminal(MultiProgress);

impl Terminal {
    /// Bars are shown only where stderr is a terminal that can move its cursor.
    pub(crate) fn new() -> Self {
        const DRAWN_A_SECOND: u8 = 20;
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let stderr = Term::buffered_stderr();
        let target = if dumb || !stderr.is_term() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::term_like_with_hz(Box::new(Forgiving(stderr)), DRAWN_A_SECOND)
        };
        Self(MultiProgress::with_draw_target(target))
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

/// A terminal that may go away: what cannot be drawn then is nobody's loss, and no reason to panic as bars would.
#[derive(Debug)]
struct Forgiving(Term);

/// What is drawn for nobody is drawn well.
fn whatever(drawn: io::Result<()>) -> io::Result<()> {
    drawn.or(Ok(()))
}

impl TermLike for Forgiving {
    fn width(&self) -> u16 {
        TermLike::width(&self.0)
    }

    fn height(&self) -> u16 {
        TermLike::height(&self.0)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        whatever(self.0.move_cursor_up(n))
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        whatever(self.0.move_cursor_down(n))
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        whatever(self.0.move_cursor_right(n))
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        whatever(self.0.move_cursor_left(n))
    }

    fn write_line(&self, line: &str) -> io::Result<()> {
        whatever(self.0.write_line(line))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        whatever(self.0.write_str(text))
    }

    fn clear_line(&self) -> io::Result<()> {
        whatever(self.0.clear_line())
    }

    fn flush(&self) -> io::Result<()> {
        whatever(self.0.flush())
    }
}
