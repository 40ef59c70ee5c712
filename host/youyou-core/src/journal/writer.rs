//! Appending what has happened to a store, once, in order, and as soon as it can be.

use std::collections::HashMap;

use youyou_api::{
    CallId, Durability, Error, ModelId, NewRecord, SessionEvent, SessionLog,
    record::{Metadata, Remembered},
};

use super::records::{Restored, event};
use crate::{context::Entry, events::now_ms};

/// Follows the log of a session into its store.
///
/// What cannot be stored is kept and tried again with what comes next (D-71): the store's promise that a failed append
/// leaves nothing behind makes that the same record, not a second one.
pub(crate) struct Journal {
    log: Box<dyn SessionLog>,
    /// Not stored yet.
    pending: Vec<NewRecord>,
    /// The number of each entry's record, as far as the log has been followed.
    seqs: Vec<u64>,
    /// Results that were written before they were entries.
    ahead: HashMap<CallId, u64>,
    /// Whether the last try to store something failed.
    failing: bool,
}

/// What came of a try to store what is pending.
#[derive(Debug)]
pub(crate) enum Saved {
    /// All of it.
    Yes,
    /// Nothing, and the user has not been told yet.
    No(Error),
    /// Nothing, again.
    StillNo(Error),
}

impl Journal {
    /// The journal of a new session. Its first record says which model is used (D-70), the next one that it is read for
    /// memories, if it is; nothing is stored before there is something to store.
    pub(crate) fn new(log: Box<dyn SessionLog>, model: &ModelId, remembers: bool) -> Self {
        Self::resumed(log, &Restored::default(), model, remembers)
    }

    /// The journal of a session that goes on, perhaps with another model, or with memories where there were none.
    pub(crate) fn resumed(log: Box<dyn SessionLog>, restored: &Restored, model: &ModelId, remembers: bool) -> Self {
        let seqs = restored.seqs.clone();
        let mut journal = Self { log, pending: Vec::new(), seqs, ahead: HashMap::new(), failing: false };
        if restored.model.as_ref() != Some(model) {
            journal.push(SessionEvent::Metadata(Metadata::model(model)));
        }
        if restored.remembered.next.is_some() != remembers {
            let next = remembers.then(|| journal.next_seq());
            let remembered = Remembered { next, pending: restored.remembered.pending.clone() };
            journal.push(SessionEvent::Metadata(Metadata::memories(&remembered)));
        }
        journal
    }

    /// Notes a fact that is no entry of the log.
    pub(crate) fn push(&mut self, event: SessionEvent) -> u64 {
        let seq = self.next_seq();
        self.pending.push(NewRecord { at: now_ms(), event });
        seq
    }

    /// Notes a result that becomes an entry later.
    pub(super) fn push_ahead(&mut self, call_id: CallId, event: SessionEvent) {
        let seq = self.push(event);
        self.ahead.insert(call_id, seq);
    }

    /// Takes over what is new in the log.
    pub(crate) fn follow(&mut self, entries: &[Entry]) {
        for entry in entries.iter().skip(self.seqs.len()) {
            let known = match entry {
                Entry::ToolResult { call_id, .. } => self.ahead.remove(call_id),
                _ => None,
            };
            let seq = known.unwrap_or_else(|| self.push(event(entry, &self.seqs, self.next_seq())));
            self.seqs.push(seq);
        }
    }

    /// Stores what is pending. Dropped half-way, it can be called again.
    pub(crate) async fn save(&mut self, durability: Durability) -> Saved {
        if self.pending.is_empty() && durability == Durability::Buffered {
            return Saved::Yes;
        }
        match self.store(durability).await {
            Ok(()) => Saved::Yes,
            Err(error) if std::mem::replace(&mut self.failing, true) => Saved::StillNo(error),
            Err(error) => Saved::No(error),
        }
    }

    /// Notes a fact that is no entry of the log, and stores it with what is pending. That it could not be stored is left
    /// for the next one to tell the user who saves.
    ///
    /// # Errors
    /// `STORAGE_ERROR`; it is pending then.
    pub(super) async fn note(&mut self, event: SessionEvent, durability: Durability) -> Result<(), Error> {
        self.push(event);
        self.store(durability).await
    }

    async fn store(&mut self, durability: Durability) -> Result<(), Error> {
        self.log.append(self.pending.clone(), durability).await?;
        self.pending.clear();
        self.failing = false;
        Ok(())
    }

    /// Lets the session go.
    ///
    /// # Errors
    /// `STORAGE_ERROR` when something could not be stored.
    pub(crate) async fn close(mut self) -> Result<(), Error> {
        if self.seqs.is_empty() {
            // Nobody has said anything: there is nothing worth keeping.
            self.pending.clear();
            return self.log.close().await;
        }
        let saved = self.save(Durability::Synced).await;
        let closed = self.log.close().await;
        match saved {
            Saved::Yes => closed,
            Saved::No(error) | Saved::StillNo(error) => Err(error),
        }
    }

    /// The number of the first record behind so many entries of the log, as far as it has been followed.
    pub(super) fn after(&self, entries: usize) -> u64 {
        self.seqs.get(..entries).unwrap_or(&self.seqs).last().map_or(0, |seq| seq + 1)
    }

    /// The number that the next record will have: nobody else writes to this session.
    fn next_seq(&self) -> u64 {
        self.log.next_seq() + self.pending.len() as u64
    }
}
