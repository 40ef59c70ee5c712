//! What a guest says while it runs, through our `log` import or by printing, and how much of it is kept.
//!
//! All of it goes to `tracing` under the target [`TARGET`], with the name in the field `tool` or `plugin`; none of it
//! ever reaches the process's own stdout.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::bindings::youyou::plugin::log::Level;

/// The tracing target of everything that guests say.
pub const TARGET: &str = "youyou::guest";

/// What one call may write before lines are dropped, through all of its channels together.
const LINES_PER_CALL: u64 = 1_000;
const BYTES_PER_CALL: u64 = 256 * 1024;

/// The end of stderr that is kept for an error message.
const TAIL_LINES: usize = 12;
const TAIL_BYTES: usize = 4 * 1024;

/// A printed line that does not end is passed on in pieces of this size.
const LONGEST_LINE: usize = 8 * 1024;

/// The place and message of a panic that a guest reported (K-61).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Panic {
    pub(crate) message: String,
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// Which of the two printed streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

impl Stream {
    fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// Whom a guest speaks for.
#[derive(Debug, Clone)]
pub(crate) enum Speaker {
    Tool(Arc<str>),
    Plugin(Arc<str>),
}

/// An event of the log, with the speaker's name.
macro_rules! say {
    ($level:ident, $speaker:expr, $($rest:tt)+) => {
        match $speaker {
            Speaker::Tool(tool) => tracing::$level!(target: TARGET, tool = &**tool, $($rest)+),
            Speaker::Plugin(plugin) => tracing::$level!(target: TARGET, plugin = &**plugin, $($rest)+),
        }
    };
}

/// The log of one guest; every clone is the same log.
#[derive(Clone)]
pub(crate) struct GuestLog(Arc<Mutex<LogState>>);

struct LogState {
    speaker: Speaker,
    lines_left: u64,
    bytes_left: u64,
    dropped: Dropped,
    panic: Option<Panic>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    stderr_tail: VecDeque<String>,
}

#[derive(Default, Clone, Copy)]
struct Dropped {
    lines: u64,
    bytes: u64,
}

impl GuestLog {
    pub(crate) fn new(speaker: Speaker) -> Self {
        Self(Arc::new(Mutex::new(LogState {
            speaker,
            lines_left: LINES_PER_CALL,
            bytes_left: BYTES_PER_CALL,
            dropped: Dropped::default(),
            panic: None,
            stdout: Vec::new(),
            stderr: Vec::new(),
            stderr_tail: VecDeque::new(),
        })))
    }

    fn state(&self) -> MutexGuard<'_, LogState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One line through the `log` import.
    pub(crate) fn write(&self, level: Level, message: &str) {
        let mut state = self.state();
        if !state.spend(message) {
            return;
        }
        let speaker = &state.speaker;
        match level {
            Level::Trace => say!(trace, speaker, "{message}"),
            Level::Debug => say!(debug, speaker, "{message}"),
            Level::Info => say!(info, speaker, "{message}"),
            Level::Warn => say!(warn, speaker, "{message}"),
            Level::Error => say!(error, speaker, "{message}"),
        }
    }

    /// Bytes printed to one of the streams; complete lines are passed on, the rest waits for its end.
    pub(crate) fn print(&self, stream: Stream, mut bytes: &[u8]) {
        let mut state = self.state();
        while !bytes.is_empty() {
            let waiting = state.waiting(stream);
            let room = LONGEST_LINE.saturating_sub(waiting.len());
            let chunk = &bytes[..bytes.len().min(room)];
            let (line, ends) = match chunk.iter().position(|byte| *byte == b'\n') {
                Some(end) => (&chunk[..end], true),
                None => (chunk, chunk.len() == room),
            };
            waiting.extend_from_slice(line);
            let newline = usize::from(ends && line.len() < chunk.len());
            bytes = &bytes[line.len() + newline..];
            if ends {
                state.end_line(stream);
            }
        }
    }

    /// Remembers a panic for the error that follows; the first one counts.
    pub(crate) fn report_panic(&self, panic: Panic) {
        self.state().panic.get_or_insert(panic);
    }

    pub(crate) fn panic(&self) -> Option<Panic> {
        self.state().panic.clone()
    }

    /// The last lines of stderr, for the error of a guest that did not report its panic.
    pub(crate) fn stderr_tail(&self) -> String {
        let mut state = self.state();
        if !state.stderr.is_empty() {
            state.end_line(Stream::Stderr);
        }
        let lines: Vec<_> = state.stderr_tail.iter().map(String::as_str).collect();
        excerpt(lines.join("\n").trim(), TAIL_BYTES)
    }

    /// A new call begins in a guest that lives on: the budget is full again, and what an earlier call said last is no
    /// longer of interest.
    pub(crate) fn start_call(&self) {
        let mut state = self.state();
        state.lines_left = LINES_PER_CALL;
        state.bytes_left = BYTES_PER_CALL;
        state.panic = None;
        state.stderr_tail.clear();
    }

    /// Ends a call: passes on lines without an end, and says once how much was dropped.
    pub(crate) fn finish(&self) {
        self.state().finish();
    }
}

/// A call that was dropped half-way ends here.
impl Drop for LogState {
    fn drop(&mut self) {
        self.finish();
    }
}

impl LogState {
    fn finish(&mut self) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            if !self.waiting(stream).is_empty() {
                self.end_line(stream);
            }
        }
        let Dropped { lines, bytes } = std::mem::take(&mut self.dropped);
        if lines > 0 {
            say!(
                warn,
                &self.speaker,
                "{lines} more lines ({bytes} bytes) were dropped: one call may write {LINES_PER_CALL} lines or {} KiB",
                BYTES_PER_CALL / 1024
            );
        }
    }

    /// Whether the budget covers `line`. Once a line was dropped all later ones are, so that what is kept has no holes.
    fn spend(&mut self, line: &str) -> bool {
        let bytes = line.len() as u64;
        if self.dropped.lines == 0 && self.lines_left > 0 && self.bytes_left >= bytes {
            self.lines_left -= 1;
            self.bytes_left -= bytes;
            return true;
        }
        self.dropped.lines += 1;
        self.dropped.bytes += bytes;
        false
    }

    fn waiting(&mut self, stream: Stream) -> &mut Vec<u8> {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }

    fn end_line(&mut self, stream: Stream) {
        let bytes = std::mem::take(self.waiting(stream));
        let line = String::from_utf8_lossy(&bytes);
        if self.spend(&line) {
            say!(info, &self.speaker, stream = stream.name(), "{line}");
        }
        if stream == Stream::Stderr {
            self.stderr_tail.push_back(line.into_owned());
            let too_much = |tail: &VecDeque<String>| {
                let bytes: usize = tail.iter().map(String::len).sum();
                tail.len() > TAIL_LINES || (tail.len() > 1 && bytes > TAIL_BYTES)
            };
            while too_much(&self.stderr_tail) {
                self.stderr_tail.pop_front();
            }
        }
    }
}

/// A guest's text as it may stand in a message: no control characters, such as those that move a terminal's cursor.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect()
}

/// A guest's text as [`printable`], cut to `most` bytes at a character's border.
pub(crate) fn excerpt(text: &str, most: usize) -> String {
    if text.len() <= most {
        return printable(text);
    }
    let end = text.floor_char_boundary(most);
    format!("{} … ({} bytes more)", printable(&text[..end]), text.len() - end)
}

#[cfg(test)]
pub(crate) mod tests;
