//! A script's stderr as log lines (Y5.6-2): one event per line, as they come, and not without end.

use crate::{capture::without_half_character, command::Guest};

/// The `tracing` target of everything that guests write to stderr.
pub const LOG_TARGET: &str = "youyou::guest";

/// Lines that one run may log.
const MAX_LINES: usize = 1000;
/// Bytes that one run may log.
const MAX_BYTES: usize = 256 * 1024;
/// What is shown of one line.
const MAX_LINE_BYTES: usize = 4 * 1024;

/// Splits a stream into lines and logs them until the budget of one run is spent; the rest is counted.
#[derive(Debug)]
pub(crate) struct GuestLog<'a> {
    guest: Guest<'a>,
    /// The line that has begun; at most [`MAX_LINE_BYTES`] of it.
    line: Vec<u8>,
    /// How long that line is so far.
    line_bytes: usize,
    logged_lines: usize,
    logged_bytes: usize,
    dropped_lines: u64,
}

impl<'a> GuestLog<'a> {
    pub(crate) fn new(guest: Guest<'a>) -> Self {
        Self { guest, line: Vec::new(), line_bytes: 0, logged_lines: 0, logged_bytes: 0, dropped_lines: 0 }
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            let (text, ended) = match piece.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (piece, false),
            };
            self.line_bytes = self.line_bytes.saturating_add(text.len());
            let room = MAX_LINE_BYTES.saturating_sub(self.line.len());
            self.line.extend_from_slice(text.get(..room).unwrap_or(text));
            if ended {
                self.end_line();
            }
        }
    }

    /// Logs a last line without an end, and how much was left out.
    pub(crate) fn finish(&mut self) {
        if self.line_bytes > 0 {
            self.end_line();
        }
        if self.dropped_lines > 0 {
            let dropped = self.dropped_lines;
            self.log(&format!("[{dropped} more lines on stderr were not logged]"));
            self.dropped_lines = 0;
        }
    }

    fn end_line(&mut self) {
        if self.logged_lines >= MAX_LINES || self.logged_bytes >= MAX_BYTES {
            self.dropped_lines += 1;
        } else {
            self.logged_lines += 1;
            self.logged_bytes += self.line.len();
            match self.line_bytes.saturating_sub(self.line.len()) {
                0 => self.log(&String::from_utf8_lossy(self.line.strip_suffix(b"\r").unwrap_or(&self.line))),
                more => {
                    let start = String::from_utf8_lossy(without_half_character(&self.line));
                    self.log(&format!("{start}… [{more} more bytes]"));
                }
            }
        }
        self.line.clear();
        self.line_bytes = 0;
    }

    fn log(&self, line: &str) {
        match self.guest {
            Guest::Tool(name) => tracing::info!(target: LOG_TARGET, tool = %name, "{line}"),
            Guest::Plugin(id) => tracing::info!(target: LOG_TARGET, plugin = %id, "{line}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex, PoisonError},
    };

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(chunks: &[&[u8]]) -> Vec<String> {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).without_time().with_writer(move || writer.clone()).finish();
        let name = "wc".parse().expect("legal");
        tracing::subscriber::with_default(subscriber, || {
            let mut log = GuestLog::new(Guest::Tool(&name));
            chunks.iter().for_each(|chunk| log.push(chunk));
            log.finish();
        });
        let bytes = lines.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        String::from_utf8(bytes).expect("UTF-8").lines().map(|line| line.trim().to_owned()).collect()
    }

    /// Y5.6-2.
    #[test]
    fn each_line_is_one_event_that_names_the_tool() {
        assert_eq!(
            logged(&[b"one\r\ntw", b"o\n\nlast"]),
            ["one", "two", "", "last"].map(|line| format!("INFO youyou::guest: {line} tool=wc").to_owned())
        );
    }

    #[test]
    fn a_flood_is_cut_and_the_rest_is_counted() {
        let lines = logged(&["x\n".repeat(MAX_LINES + 7).as_bytes()]);
        assert_eq!(lines.len(), MAX_LINES + 1);
        assert_eq!(lines[MAX_LINES], "INFO youyou::guest: [7 more lines on stderr were not logged] tool=wc");
    }

    #[test]
    fn a_line_without_end_is_shown_in_part() {
        let lines = logged(&[&[b'x'; 3000], &[b'x'; 3000], b"\nnext"]);
        assert!(lines[0].ends_with("x… [1904 more bytes] tool=wc"), "{}", lines[0]);
        assert!(lines[1].contains(": next "));
    }

    #[test]
    fn nothing_is_logged_for_silence() {
        assert!(logged(&[]).is_empty());
    }
}
