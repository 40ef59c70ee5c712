//! Appending to a session. What was written is never written again; what was not wholly written is cut off.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use youyou_api::{Durability, Error, ErrorCode, NewRecord, NewSession, SessionEvent, SessionRecord, SessionSummary};

use super::{
    disk::{Disk, DiskFile},
    line::{self, SegmentOrigin, SegmentStart},
    place,
    read::{End, Outline},
};
use crate::error;

/// Writes the segments of one session. Whoever has it owns the session.
pub(crate) struct Writer {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    session: NewSession,
    summary: SessionSummary,
    end: End,
    file: Option<Box<dyn DiskFile>>,
    /// A write or a sync has failed: what is behind [`End::good`], and the segment after this one, must go first.
    unclean: bool,
    /// Whether there is anything that has not been synced.
    unsynced: bool,
    /// Whether a file was made whose entry in its folder has not been synced.
    new_entry: bool,
}

impl Writer {
    /// Goes on where the reader came to an end.
    pub(crate) fn new(disk: Arc<dyn Disk>, folder: PathBuf, outline: Outline) -> Self {
        let Outline { session, summary, end } = outline;
        // What another process has written may not have been synced by it.
        Self {
            disk,
            folder,
            session,
            summary,
            end,
            file: None,
            unclean: end.torn,
            unsynced: end.good > 0,
            new_entry: true,
        }
    }

    /// Begins a session. What a broken attempt at it may have left goes first.
    pub(crate) fn begin(disk: Arc<dyn Disk>, folder: PathBuf, session: NewSession) -> Self {
        let summary = SessionSummary::new(&session);
        let outline = Outline { session, summary, end: End { torn: true, ..End::start() } };
        Self::new(disk, folder, outline)
    }

    pub(crate) fn summary(&self) -> &SessionSummary {
        &self.summary
    }

    pub(crate) fn end(&self) -> End {
        self.end
    }

    /// Gives the records their numbers and appends them.
    pub(crate) fn append(&mut self, records: Vec<NewRecord>, durability: Durability) -> Result<u64, Error> {
        let first = self.end.next_seq;
        let numbered = records.into_iter().zip(first..);
        let records: Vec<_> = numbered.map(|(NewRecord { at, event }, seq)| SessionRecord { seq, at, event }).collect();
        self.append_numbered(&records, durability)?;
        Ok(first)
    }

    /// Appends records whose numbers grow from at least that of the next one.
    pub(crate) fn append_numbered(&mut self, records: &[SessionRecord], durability: Durability) -> Result<(), Error> {
        self.clean_up()?;
        let rotate = self.end.good > 0 && records.iter().any(|record| is_compaction(&record.event));
        let outcome = if rotate { self.rotate(records, durability) } else { self.extend(records, durability) };
        match outcome {
            Ok(()) => {
                for record in records {
                    self.end.next_seq = record.seq.saturating_add(1);
                    self.summary.observe(record.at, &record.event);
                }
                Ok(())
            }
            Err(error) => {
                self.unclean = true;
                Err(error)
            }
        }
    }

    /// Removes what a failed append has left.
    fn clean_up(&mut self) -> Result<(), Error> {
        if !self.unclean {
            return Ok(());
        }
        let next = place::segment(&self.folder, self.end.segment + 1);
        self.disk.remove(&next).map_err(|error| error::io("remove", &next, error))?;
        let good = self.end.good;
        self.open_file()?.cut(good).map_err(|error| self.failed("cut", error))?;
        self.unclean = false;
        self.end.torn = false;
        Ok(())
    }

    /// Appends to the last segment, in one write.
    fn extend(&mut self, records: &[SessionRecord], durability: Durability) -> Result<(), Error> {
        let mut buffer = Vec::new();
        if !records.is_empty() {
            if self.end.good == 0 {
                self.start(self.end.segment, None, &mut buffer)?;
            } else if self.end.unended {
                buffer.push(b'\n');
            }
            self.serialise(records, &mut buffer)?;
        }
        let offset = self.end.good;
        if !buffer.is_empty() {
            self.open_file()?.write_at(offset, &buffer).map_err(|error| self.failed("write to", error))?;
            self.unsynced = true;
        }
        if durability == Durability::Synced {
            self.sync()?;
        }
        self.end.good += buffer.len() as u64;
        self.end.unended &= buffer.is_empty();
        Ok(())
    }

    /// Writes the records as the beginning of a new segment (P-6).
    fn rotate(&mut self, records: &[SessionRecord], durability: Durability) -> Result<(), Error> {
        // The segments before are never opened again.
        if self.unsynced {
            self.sync()?;
        }
        let segment = self.end.segment + 1;
        let origin = SegmentOrigin { segment: self.end.segment, seq: self.end.next_seq.saturating_sub(1) };
        let mut buffer = Vec::new();
        self.start(segment, Some(origin), &mut buffer)?;
        self.serialise(records, &mut buffer)?;
        let path = place::segment(&self.folder, segment);
        let failed = |error| error::io("write to", &path, error);
        let mut file = self.disk.open(&path).map_err(failed)?;
        file.write_at(0, &buffer).map_err(failed)?;
        if durability == Durability::Synced {
            file.sync().map_err(failed)?;
            self.disk.sync_folder(&self.folder).map_err(failed)?;
        }
        self.file = Some(file);
        self.unsynced = durability != Durability::Synced;
        self.new_entry = self.unsynced;
        self.end = End { segment, good: buffer.len() as u64, unended: false, ..self.end };
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Error> {
        if !self.unsynced {
            return Ok(());
        }
        self.open_file()?.sync().map_err(|error| self.failed("sync", error))?;
        if self.new_entry {
            // Its own folder, the project's and the root may all be new.
            for folder in self.folder.ancestors().take(3) {
                self.disk.sync_folder(folder).map_err(|error| error::io("sync", folder, error))?;
            }
        }
        self.new_entry = false;
        self.unsynced = false;
        Ok(())
    }

    fn open_file(&mut self) -> Result<&mut Box<dyn DiskFile>, Error> {
        let file = match self.file.take() {
            Some(file) => file,
            None => self.disk.open(&self.path()).map_err(|error| self.failed("open", error))?,
        };
        Ok(self.file.insert(file))
    }

    fn start(&self, segment: u32, origin: Option<SegmentOrigin>, buffer: &mut Vec<u8>) -> Result<(), Error> {
        let start = SegmentStart::new(&self.session, segment, origin);
        line::write_start(&start, buffer).map_err(|error| self.failed("serialise for", error.into()))
    }

    fn serialise(&self, records: &[SessionRecord], buffer: &mut Vec<u8>) -> Result<(), Error> {
        records
            .iter()
            .try_for_each(|record| line::write_record(record, buffer))
            .map_err(|error| self.failed("serialise for", error.into()))
    }

    fn path(&self) -> PathBuf {
        place::segment(&self.folder, self.end.segment)
    }

    fn failed(&self, action: &str, error: io::Error) -> Error {
        error::io(action, &self.path(), error)
    }

    /// Whether anything of the session is on disk.
    pub(crate) fn is_stored(&self) -> bool {
        self.end.good > 0
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether everything appended is there.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        if self.unclean && !self.end.torn {
            return Err(Error::new(
                ErrorCode::StorageError,
                format!("the last records of {} could not be stored", self.path().display()),
            ));
        }
        Ok(())
    }
}

fn is_compaction(event: &SessionEvent) -> bool {
    matches!(event, SessionEvent::Metadata(metadata) if metadata.is_compaction())
}
