//! One line of a segment: what is written, and how it is read back.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use youyou_api::{Fork, NewSession, SessionEvent, SessionId, SessionRecord};

/// The form of segments that this version writes and knows.
pub(crate) const FORMAT: u32 = 1;

/// The `type` of a segment's first line.
const START: &str = "segment_start";

/// What a segment's first line says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SegmentStart {
    pub(crate) format: u32,
    pub(crate) session_id: SessionId,
    /// Its number in the session, from 1.
    pub(crate) segment: u32,
    pub(crate) created_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) forked_from: Option<Fork>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) compacted_from: Option<SegmentOrigin>,
}

/// Where the segment before ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SegmentOrigin {
    pub(crate) segment: u32,
    /// The number of its last record.
    pub(crate) seq: u64,
}

impl SegmentStart {
    pub(crate) fn new(session: &NewSession, segment: u32, compacted_from: Option<SegmentOrigin>) -> Self {
        Self {
            format: FORMAT,
            session_id: session.id.clone(),
            segment,
            created_at: session.created_at,
            project: session.project.clone(),
            forked_from: session.forked_from.clone(),
            compacted_from,
        }
    }

    /// What the session started with.
    pub(crate) fn session(&self) -> NewSession {
        NewSession {
            id: self.session_id.clone(),
            created_at: self.created_at,
            project: self.project.clone(),
            forked_from: self.forked_from.clone(),
        }
    }
}

#[derive(Serialize)]
struct StartLine<'a> {
    r#type: &'a str,
    payload: &'a SegmentStart,
}

#[derive(Deserialize)]
struct AnyLine<'a> {
    seq: Option<u64>,
    #[serde(default)]
    at: u64,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    payload: &'a RawValue,
}

/// A line that was read.
#[derive(Debug, PartialEq)]
pub(crate) enum Line {
    Start(SegmentStart),
    /// Its number is missing where a person, or another program, wrote the line.
    Record {
        seq: Option<u64>,
        at: u64,
        event: SessionEvent,
    },
}

/// Appends the first line of a segment.
pub(crate) fn write_start(start: &SegmentStart, buffer: &mut Vec<u8>) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *buffer, &StartLine { r#type: START, payload: start })?;
    buffer.push(b'\n');
    Ok(())
}

/// Appends the line of a record.
pub(crate) fn write_record(record: &SessionRecord, buffer: &mut Vec<u8>) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *buffer, record)?;
    buffer.push(b'\n');
    Ok(())
}

/// Reads a line, its end left off.
///
/// # Errors
/// Why it cannot be read, for a person.
pub(crate) fn read(line: &[u8]) -> Result<Line, String> {
    let text = str::from_utf8(line).map_err(|error| format!("it is not UTF-8: {error}"))?;
    let not_json = |error: serde_json::Error| format!("it is not a record: {error}");
    let AnyLine { seq, at, kind, payload } = serde_json::from_str(text).map_err(not_json)?;
    if kind == START {
        return serde_json::from_str(payload.get()).map(Line::Start).map_err(not_json);
    }
    Ok(Line::Record { seq, at, event: SessionEvent::from_parts(&kind, payload.get()).map_err(not_json)? })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use youyou_api::Part;

    use super::*;

    fn written(record: &SessionRecord) -> String {
        let mut buffer = Vec::new();
        write_record(record, &mut buffer).expect("it serialises");
        String::from_utf8(buffer).expect("UTF-8")
    }

    /// P-6: the two kinds of lines, pinned.
    #[test]
    fn the_lines_have_this_shape() {
        let session = NewSession::new(SessionId::new("s-1"), 5).in_project("/work");
        let start = SegmentStart::new(&session, 2, Some(SegmentOrigin { segment: 1, seq: 9 }));
        let mut buffer = Vec::new();
        write_start(&start, &mut buffer).expect("it serialises");
        let line = r#"{"type":"segment_start","payload":{"format":1,"session_id":"s-1","segment":2,"created_at":5,"project":"/work","compacted_from":{"segment":1,"seq":9}}}"#;
        assert_eq!(String::from_utf8(buffer).expect("UTF-8"), format!("{line}\n"));
        assert_eq!(read(line.as_bytes()), Ok(Line::Start(start)));
        let record = SessionRecord { seq: 3, at: 7, event: SessionEvent::system("a") };
        assert_eq!(written(&record), "{\"seq\":3,\"at\":7,\"type\":\"system_message\",\"payload\":{\"text\":\"a\"}}\n");
    }

    /// The example in docs/sessions.md is what is written, to the byte.
    #[test]
    fn the_example_of_the_page_is_true() {
        let page = include_str!("../../../../docs/sessions.md");
        let example = page.split_once("```jsonl\n").and_then(|(_, rest)| rest.split_once("```")).expect("an example").0;
        let (mut again, mut records) = (Vec::new(), 0);
        for line in example.lines() {
            match read(line.as_bytes()).unwrap_or_else(|reason| panic!("{line}: {reason}")) {
                Line::Start(start) => write_start(&start, &mut again).expect("it serialises"),
                Line::Record { seq, at, event } => {
                    assert!(!matches!(event, SessionEvent::Opaque(_)), "{line}");
                    records += 1;
                    let record = SessionRecord { seq: seq.expect("a number"), at, event };
                    write_record(&record, &mut again).expect("it serialises");
                }
            }
        }
        assert_eq!(records, 5);
        assert_eq!(String::from_utf8(again).expect("UTF-8"), example);
    }

    proptest! {
        /// A record is one line whatever it holds, and reads back.
        #[test]
        fn any_text_stays_on_one_line(text in "\\PC*|[\\x00-\\x7f\u{2028}\u{85}]*", seq: u64, at: u64) {
            let event = SessionEvent::user(vec![Part::text(text)]);
            let line = written(&SessionRecord { seq, at, event: event.clone() });
            prop_assert_eq!(line.find('\n'), Some(line.len() - 1));
            prop_assert_eq!(read(line.trim_end().as_bytes()), Ok(Line::Record { seq: Some(seq), at, event }));
        }

        /// Damage is told, never a panic.
        #[test]
        fn any_bytes_can_be_read(bytes: Vec<u8>) {
            let _ = read(&bytes);
        }

        /// No piece of a line passes for a whole one.
        #[test]
        fn a_cut_line_is_not_a_record(text in "\\PC{0,20}", cut in 0.0..1.0) {
            let line = written(&SessionRecord { seq: 1, at: 2, event: SessionEvent::system(text) });
            let line = line.trim_end().as_bytes();
            let cut = (cut * line.len() as f64) as usize;
            prop_assert!(read(&line[..cut]).is_err());
        }
    }
}
