//! Writing down how far a session was read for memories (D-67).

use std::sync::{Arc, Weak};

use tokio::sync::Mutex;
use youyou_api::{
    BoxFuture, Durability, Error, SessionEvent,
    record::{Metadata, Remembered},
};

use super::writer::Journal;
use crate::memory::{Progress, ProgressLog};

/// The place for it in a session's journal. It keeps the journal of nobody open who wants to close it.
pub(crate) struct ProgressJournal(Weak<Mutex<Journal>>);

impl ProgressJournal {
    pub(crate) fn of(journal: &Arc<Mutex<Journal>>) -> Self {
        Self(Arc::downgrade(journal))
    }
}

impl ProgressLog for ProgressJournal {
    fn note<'a>(&'a self, Progress { entries, pending }: &'a Progress) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let Some(journal) = self.0.upgrade() else { return Ok(()) };
            let mut journal = journal.lock().await;
            let remembered = Remembered { next: Some(journal.after(*entries)), pending: pending.clone() };
            // Memories are safe from a power cut once they are stored; so must be that they are not to be found again.
            let durability = if pending.is_empty() { Durability::Buffered } else { Durability::Synced };
            journal.note(SessionEvent::Metadata(Metadata::memories(&remembered)), durability).await
        })
    }
}
