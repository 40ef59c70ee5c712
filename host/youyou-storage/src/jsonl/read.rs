//! Reading a session from its segments. Nothing is changed, whatever is found (K-02, K-05).

use std::{
    fs::File,
    io::{BufRead, BufReader, ErrorKind, Seek, SeekFrom},
    path::Path,
};

use youyou_api::{
    Error, ErrorCode, NewSession, SessionEvent, SessionId, SessionRecord, SessionSummary, Skipped, StoredSession,
};

use super::{
    line::{self, FORMAT, Line},
    place,
};
use crate::error::{io, not_found};

/// Where the next record goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// The last segment.
    pub(crate) segment: u32,
    /// How much of it is whole lines, in bytes. What is behind was cut off while it was being written.
    pub(crate) good: u64,
    /// Whether the last of them lacks its line break, as an editor may leave it.
    pub(crate) unended: bool,
    /// Whether there is more behind.
    pub(crate) torn: bool,
    /// The number of the next record.
    pub(crate) next_seq: u64,
}

impl End {
    /// Before the first segment.
    pub(crate) fn start() -> Self {
        Self { segment: 1, good: 0, unended: false, torn: false, next_seq: 0 }
    }
}

/// What is known of a session beside its records.
pub(crate) struct Outline {
    pub(crate) session: NewSession,
    pub(crate) summary: SessionSummary,
    pub(crate) end: End,
}

/// What a reader hands on, record by record.
type Sink<'a> = &'a mut dyn FnMut(u64, u64, SessionEvent);

/// Reads the whole session in this folder.
///
/// # Errors
/// `SESSION_NOT_FOUND`, `STORAGE_ERROR`.
pub(crate) fn session(folder: &Path, id: &SessionId) -> Result<(StoredSession, Outline), Error> {
    let (mut records, mut skipped) = (Vec::new(), Vec::new());
    let outline = read(folder, id, &mut skipped, &mut |seq, at, event| records.push(SessionRecord { seq, at, event }))?;
    let stored = StoredSession {
        summary: outline.summary.clone(),
        forked_from: outline.session.forked_from.clone(),
        records,
        skipped,
    };
    Ok((stored, outline))
}

/// Reads what listings show of the session in this folder.
///
/// # Errors
/// Those of [`session`].
pub(crate) fn outline(folder: &Path, id: &SessionId) -> Result<Outline, Error> {
    read(folder, id, &mut Vec::new(), &mut |_, _, _| {})
}

fn read(folder: &Path, id: &SessionId, skipped: &mut Vec<Skipped>, sink: Sink<'_>) -> Result<Outline, Error> {
    if !place::holds_session(folder) {
        return Err(not_found(id));
    }
    let session = NewSession::new(id.clone(), 0);
    let summary = SessionSummary::new(&session);
    let mut outline = Outline { session, summary, end: End::start() };
    for number in 1.. {
        let path = place::segment(folder, number);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => break,
            Err(error) => return Err(io("read", &path, error)),
        };
        outline.end = End { segment: number, ..End::start().with_next(outline.end.next_seq) };
        segment(&path, file, &mut outline, skipped, sink)?;
    }
    // Its making was broken off before anything of it was acknowledged.
    if outline.end.segment == 1 && outline.end.good == 0 {
        return Err(not_found(id));
    }
    Ok(outline)
}

/// Reads on where an outline ends, to bring it up to date.
///
/// # Errors
/// Those of [`session`].
pub(crate) fn catch_up(folder: &Path, outline: &mut Outline) -> Result<(), Error> {
    loop {
        let path = place::segment(folder, outline.end.segment);
        let mut file = File::open(&path).map_err(|error| io("read", &path, error))?;
        file.seek(SeekFrom::Start(outline.end.good)).map_err(|error| io("read", &path, error))?;
        segment(&path, file, outline, &mut Vec::new(), &mut |_, _, _| {})?;
        if !place::segment(folder, outline.end.segment + 1).is_file() {
            return Ok(());
        }
        outline.end = End { segment: outline.end.segment + 1, ..End::start().with_next(outline.end.next_seq) };
    }
}

impl End {
    fn with_next(self, next_seq: u64) -> Self {
        Self { next_seq, ..self }
    }
}

/// Reads one segment from where `file` stands, which is `outline.end`.
fn segment(
    path: &Path,
    file: File,
    outline: &mut Outline,
    skipped: &mut Vec<Skipped>,
    sink: Sink<'_>,
) -> Result<(), Error> {
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut buffer = Vec::new();
    for number in 1_u64.. {
        buffer.clear();
        let read = reader.read_until(b'\n', &mut buffer).map_err(|error| io("read", path, error))?;
        if read == 0 {
            break;
        }
        let ended = buffer.last() == Some(&b'\n');
        let found = line::read(buffer.trim_ascii_end());
        if !ended && found.is_err() {
            outline.end.torn = true;
            break;
        }
        outline.end.good += read as u64;
        outline.end.unended = !ended;
        match found {
            Ok(Line::Start(start)) => begin(path, &start, outline)?,
            Ok(Line::Record { seq, at, event }) => {
                let next = outline.end.next_seq;
                let seq = seq.map_or(next, |seq| seq.max(next));
                outline.end.next_seq = seq.saturating_add(1);
                outline.summary.observe(at, &event);
                sink(seq, at, event);
            }
            Err(_) if buffer.trim_ascii().is_empty() => {}
            Err(reason) => {
                // Its number is gone with it.
                outline.end.next_seq += 1;
                skipped.push(Skipped { place: format!("{}:{number}", path.display()), reason });
            }
        }
    }
    Ok(())
}

fn begin(path: &Path, start: &line::SegmentStart, outline: &mut Outline) -> Result<(), Error> {
    if start.format > FORMAT {
        return Err(Error::new(
            ErrorCode::StorageError,
            format!(
                "{} was written by a newer version: it has format {}, this version knows {FORMAT}; update to read it",
                path.display(),
                start.format
            ),
        )
        .with_kind("NEWER_FORMAT"));
    }
    if start.segment == 1 {
        let id = outline.session.id.clone();
        outline.session = NewSession { id, ..start.session() };
        outline.summary.project = start.project.clone();
        outline.summary.created_at = start.created_at;
        outline.summary.updated_at = outline.summary.updated_at.max(start.created_at);
    }
    Ok(())
}
