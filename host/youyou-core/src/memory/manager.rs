//! When a session remembers: at its first message, every so many turns, and at its end.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use futures_util::FutureExt;
use tokio::sync::{Mutex, OnceCell};
use youyou_api::{
    CancellationToken, Error, ErrorCode, Memory, MemoryId, MemoryStorage, ModelInfo, ModelProvider, Namespace,
};

use super::{
    extract::Extractor,
    progress::{Progress, ProgressLog},
    recall::{gather, section},
    transcript::Transcript,
};
use crate::{context::Entry, prompt::Section};

/// How long a session's first message waits for its memories.
const RECALL_LIMIT: Duration = Duration::from_secs(5);

/// How much is remembered, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemorySettings {
    /// Memories in the prompt (`memory_max_items`); as many are shown to the model that extracts new ones.
    pub max_items: usize,
    /// Turns from one extraction to the next (`memory_checkpoint_interval`); with 0 there is none but that at the end.
    pub checkpoint_interval: u32,
    /// How long the end of a session may wait for its memories.
    pub close_limit: Duration,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self { max_items: 20, checkpoint_interval: 10, close_limit: Duration::from_secs(30) }
    }
}

/// What one session remembers and what is remembered of it (Y4.7).
///
/// A session's life:
///
/// ```
/// # use youyou_core::{context::Entry, memory::MemoryManager};
/// # async fn life(memory: MemoryManager, log: &[Entry]) {
/// let section = memory.recall("How do I indent?").await; // for the prompt, from the first turn on
/// memory.turn_ended(log, None); // after the last event of each turn
/// memory.finish(log, None).await; // after the plugins were told of the end
/// # drop(section);
/// # }
/// ```
///
/// Both are told where the session is written down, if it is: there the [progress](ProgressLog) is too, from which a
/// session that goes on is [`resumed`](Self::resumed). Dropped, it stops an extraction that runs: that one stores
/// everything it found, or nothing.
pub struct MemoryManager {
    settings: MemorySettings,
    extractor: Arc<Extractor>,
    recalled: OnceCell<Recalled>,
    /// Turns since the last extraction began.
    turns: AtomicU32,
    /// Held while an extraction runs, so that there is one at a time (D-67).
    progress: Arc<Mutex<Progress>>,
}

/// What a session began with.
#[derive(Default)]
struct Recalled {
    section: Option<Section>,
    ids: Vec<MemoryId>,
}

impl MemoryManager {
    /// For one session, whose id is the `source` of what is remembered of it. The provider and the model are those that
    /// extract memories (`memory_model`, else the session's own). `ids` makes the ids of new memories, each another one.
    pub fn new(
        storage: Arc<dyn MemoryStorage>,
        namespace: Namespace,
        provider: Arc<dyn ModelProvider>,
        model: ModelInfo,
        settings: MemorySettings,
        ids: Arc<dyn Fn() -> MemoryId + Send + Sync>,
        source: String,
    ) -> Self {
        let stop = CancellationToken::new();
        let max_known = settings.max_items;
        Self {
            settings,
            extractor: Arc::new(Extractor { storage, namespace, provider, model, max_known, ids, source, stop }),
            recalled: OnceCell::new(),
            turns: AtomicU32::new(0),
            progress: Arc::default(),
        }
    }

    /// The same for a session that goes on: so much of its log was read for memories before.
    #[must_use]
    pub fn resumed(mut self, progress: Progress) -> Self {
        self.progress = Arc::new(Mutex::new(progress));
        self
    }

    /// The section of the prompt with what is remembered: what has most to do with what the user said first, then what was
    /// last stored (Y4.7-1). It stays the same for the session, whatever is asked later (D-66). None when there is
    /// nothing, or when the storage fails or takes longer than 5 seconds, which is logged.
    ///
    /// # Cancel safety
    /// Dropped before it answers, nothing is settled; the next call asks again.
    pub async fn recall(&self, first_text: &str) -> Option<Section> {
        let recalled = self.recalled.get_or_init(|| async {
            match self.look_up(first_text).await {
                Ok(memories) => Recalled {
                    section: section(&memories),
                    ids: memories.into_iter().map(|memory| memory.id).collect(),
                },
                Err(error) => {
                    tracing::warn!("the session begins without memories: {error}");
                    Recalled::default()
                }
            }
        });
        recalled.await.section.clone()
    }

    async fn look_up(&self, text: &str) -> Result<Vec<Memory>, Error> {
        let Extractor { storage, namespace, .. } = &*self.extractor;
        let looking = AssertUnwindSafe(gather(&**storage, namespace, text, self.settings.max_items)).catch_unwind();
        match tokio::time::timeout(RECALL_LIMIT, looking).await {
            Ok(Ok(found)) => found,
            Ok(Err(panic)) => {
                let message = format!("the memory storage panicked: {}", crate::panic::text(&*panic));
                Err(Error::new(ErrorCode::StorageError, message))
            }
            Err(_) => {
                let message = format!("the memory storage did not answer within {RECALL_LIMIT:?}");
                Err(Error::new(ErrorCode::StorageError, message))
            }
        }
    }

    /// Says that a turn is over, and hands in the whole log. Every so many turns an extraction starts in the background,
    /// of what was said since the last one (D-67); if one still runs, it starts after the next turn. One that fails is
    /// logged, and the next one tries the same again.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn turn_ended(&self, entries: &[Entry], log: Option<Arc<dyn ProgressLog>>) {
        let turns = self.turns.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let interval = self.settings.checkpoint_interval;
        if interval == 0 || turns < interval {
            return;
        }
        let Ok(mut progress) = self.progress.clone().try_lock_owned() else { return };
        let Some(transcript) = Transcript::of(entries, progress.entries) else { return };
        self.turns.store(0, Ordering::Relaxed);
        let (extractor, seen) = (self.extractor.clone(), self.seen());
        tokio::spawn(async move { progress.read_on(&extractor, &transcript, &seen, log.as_deref()).await });
    }

    /// Ends the session's remembering: waits for an extraction that runs, and extracts the rest of the log in one batch
    /// (Y4.7-2). Without a word of the user there is nothing to extract, and nobody is asked. After
    /// [`close_limit`](MemorySettings::close_limit) it gives up and stops what runs; that, and what fails, is logged
    /// (Y4.7-4). Nothing is written to the log any more once it has answered.
    ///
    /// # Cancel safety
    /// Dropped before it answers, everything of the rest is stored or nothing.
    pub async fn finish(&self, entries: &[Entry], log: Option<&dyn ProgressLog>) {
        let limit = self.settings.close_limit;
        let rest = async {
            let mut progress = self.progress.lock().await;
            match Transcript::of(entries, progress.entries) {
                Some(transcript) => progress.read_on(&self.extractor, &transcript, &self.seen(), log).await,
                None => drop(progress.settle(&self.extractor, log).await),
            }
        };
        if tokio::time::timeout(limit, rest).await.is_err() {
            self.extractor.stop.cancel();
            // Whoever writes down how far it has come is let finish.
            drop(self.progress.lock().await);
            tracing::warn!("the session ends without its last memories: they took longer than {limit:?}");
        }
    }

    fn seen(&self) -> Vec<MemoryId> {
        self.recalled.get().map(|recalled| recalled.ids.clone()).unwrap_or_default()
    }
}

impl Drop for MemoryManager {
    fn drop(&mut self) {
        self.extractor.stop.cancel();
    }
}
