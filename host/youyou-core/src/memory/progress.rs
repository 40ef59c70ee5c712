//! How far a session has been read for memories, so that neither a pause of the session nor a crash reads anything twice
//! or leaves anything out (D-67).
//!
//! What a model found is written down with the session before it is stored as memories. From then on it is not asked
//! again for that part; what is not known to be stored is stored when the session goes on, by the same ids.

use youyou_api::{BoxFuture, Error, MemoryDraft, MemoryId};

use super::{extract::Extractor, transcript::Transcript};

/// How far the log of a session has been read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// So many of its entries.
    pub entries: usize,
    /// What was found in them and is not known to be stored.
    pub pending: Vec<MemoryDraft>,
}

/// Where progress outlives the process.
pub trait ProgressLog: Send + Sync {
    /// Writes it down, in place of what was written before.
    ///
    /// # Errors
    /// `STORAGE_ERROR`.
    fn note<'a>(&'a self, progress: &'a Progress) -> BoxFuture<'a, Result<(), Error>>;
}

impl Progress {
    /// Extracts a part of the conversation. What was found before comes first; while that cannot be stored, nothing else
    /// is asked for.
    pub(super) async fn read_on(
        &mut self,
        extractor: &Extractor,
        transcript: &Transcript,
        seen: &[MemoryId],
        log: Option<&dyn ProgressLog>,
    ) {
        if !self.settle(extractor, log).await {
            return;
        }
        let Some(pending) = extractor.find(transcript, seen).await else { return };
        *self = Self { entries: transcript.end, pending };
        self.note(log).await;
        self.settle(extractor, log).await;
    }

    /// Stores what was found, and says whether nothing is left to be stored.
    pub(super) async fn settle(&mut self, extractor: &Extractor, log: Option<&dyn ProgressLog>) -> bool {
        if self.pending.is_empty() {
            return true;
        }
        if !extractor.store(self.pending.clone()).await {
            return false;
        }
        self.pending.clear();
        self.note(log).await;
        true
    }

    async fn note(&self, log: Option<&dyn ProgressLog>) {
        let Some(log) = log else { return };
        if let Err(error) = log.note(self).await {
            tracing::warn!("how far the session was read for memories could not be written down: {error}");
        }
    }
}
