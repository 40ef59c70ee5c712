//! What reaches the log of the host, and how much of it.

use std::fmt::Write as _;

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use super::*;

/// Collects events as `LEVEL field=value … message`.
#[derive(Clone)]
struct Collector {
    target: &'static str,
    lines: Arc<Mutex<Vec<String>>>,
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, " {}={value:?}", field.name()).expect("writes to a string");
    }
}

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with(self.target)
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.lines.lock().expect("not poisoned").push(line.0);
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// What is said to `target` while `act` runs on this thread.
pub(crate) fn collected_from(target: &'static str, act: impl FnOnce()) -> Vec<String> {
    let lines = Arc::<Mutex<Vec<String>>>::default();
    tracing::subscriber::with_default(Collector { target, lines: Arc::clone(&lines) }, act);
    std::mem::take(&mut lines.lock().expect("not poisoned"))
}

fn collected(say: impl FnOnce(&GuestLog)) -> Vec<String> {
    collected_from(TARGET, || say(&GuestLog::new(Speaker::Tool("t".into()))))
}

#[test]
fn what_a_guest_says_goes_to_tracing_with_the_tools_name() {
    let lines = collected(|log| {
        log.write(Level::Warn, "careful");
        log.print(Stream::Stdout, b"one\ntw");
        log.print(Stream::Stderr, b"err\n");
        log.print(Stream::Stdout, b"o\n\nthree");
        log.finish();
    });
    assert_eq!(
        lines,
        [
            r#"WARN message=careful tool="t""#,
            r#"INFO message=one tool="t" stream="stdout""#,
            r#"INFO message=err tool="t" stream="stderr""#,
            r#"INFO message=two tool="t" stream="stdout""#,
            r#"INFO message= tool="t" stream="stdout""#,
            r#"INFO message=three tool="t" stream="stdout""#,
        ]
    );
}

/// K-62: lines past the budget are counted and reported once.
#[test]
fn a_guest_that_says_too_much_is_cut_off_and_counted() {
    let lines = collected(|log| {
        (0..LINES_PER_CALL + 7).for_each(|_| log.write(Level::Info, "12345"));
        log.print(Stream::Stderr, b"x\n");
        log.finish();
        log.finish();
    });
    assert_eq!(lines.len() as u64, LINES_PER_CALL + 1, "said once, and not again when the log is dropped");
    let last = lines.last().expect("a line");
    assert!(last.starts_with("WARN message=8 more lines (36 bytes) were dropped"), "{last}");
}

/// K-62: a guest that prints without end keeps no more than the tail.
#[test]
fn what_is_kept_of_printing_is_bounded() {
    let log = GuestLog::new(Speaker::Tool("t".into()));
    for n in 0..50_000 {
        log.print(Stream::Stderr, format!("line {n}\n").as_bytes());
        log.print(Stream::Stdout, &[b'x'; 1000]);
    }
    let tail = log.stderr_tail();
    assert!(tail.ends_with("line 49998\nline 49999"), "{tail}");
    assert!(tail.len() <= TAIL_BYTES);
    assert!(log.state().stdout.capacity() <= 2 * LONGEST_LINE);
}

#[test]
fn a_text_is_cut_at_a_characters_border_and_cannot_steer_a_terminal() {
    assert_eq!(excerpt("äöü", 3), "ä … (4 bytes more)");
    assert_eq!(excerpt("a\x1b[2Jb\n", 100), "a\u{fffd}[2Jb\n");
}
