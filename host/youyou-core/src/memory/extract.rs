//! One extraction: what is known, what a model makes of it and of a conversation, and what is stored of that.

use std::{
    collections::HashSet,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use futures_util::FutureExt;
use youyou_api::{
    CancellationToken, Error, ErrorCode, Memory, MemoryDraft, MemoryId, MemoryStorage, ModelInfo, ModelProvider,
    Namespace, ProviderErrorKind,
};

use super::{
    answer::{self, Kept},
    recall::gather,
    request::extraction_request,
    transcript::Transcript,
};
use crate::aside;

/// How long an extraction may take that nobody waits for. One at a time runs, so one that hangs would be the last.
const TIME_LIMIT: Duration = Duration::from_secs(5 * 60);

/// Whoever makes memories of conversations.
pub(super) struct Extractor {
    pub(super) storage: Arc<dyn MemoryStorage>,
    pub(super) namespace: Namespace,
    pub(super) provider: Arc<dyn ModelProvider>,
    pub(super) model: ModelInfo,
    /// How many memories that have to do with the conversation the model is told of, beside those it has seen.
    pub(super) max_known: usize,
    pub(super) ids: Arc<dyn Fn() -> MemoryId + Send + Sync>,
    pub(super) source: String,
    /// Fired when nobody wants memories any more.
    pub(super) stop: CancellationToken,
}

impl Extractor {
    /// What is to be remembered of a conversation; none if that could not be found out.
    pub(super) async fn find(&self, transcript: &Transcript, seen: &[MemoryId]) -> Option<Vec<MemoryDraft>> {
        self.guarded(self.extract(transcript, seen)).await
    }

    /// Stores all of it or nothing, and says which.
    pub(super) async fn store(&self, drafts: Vec<MemoryDraft>) -> bool {
        let stored = self.guarded(async { self.storage.upsert(drafts, now()).await }).await;
        if let Some(stored) = &stored {
            tracing::debug!("memories of the conversation are stored: {stored:?}");
        }
        stored.is_some()
    }

    /// What comes of this work, if it comes to its end. What fails is logged; whoever panics fails (Y4.7-4).
    async fn guarded<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Option<T> {
        let work = AssertUnwindSafe(work).catch_unwind();
        let outcome = tokio::select! {
            biased;
            () = self.stop.cancelled() => return None,
            outcome = tokio::time::timeout(TIME_LIMIT, work) => outcome,
        };
        match outcome {
            Ok(Ok(Ok(outcome))) => return Some(outcome),
            Ok(Ok(Err(error))) => tracing::warn!("no memories of the conversation could be stored: {error}"),
            Ok(Err(panic)) => {
                let text = crate::panic::text(&*panic);
                tracing::warn!("no memories of the conversation could be stored; something panicked: {text}");
            }
            Err(_) => {
                tracing::warn!("no memories of the conversation could be stored: it took longer than {TIME_LIMIT:?}");
            }
        }
        None
    }

    async fn extract(&self, transcript: &Transcript, seen: &[MemoryId]) -> Result<Vec<MemoryDraft>, Error> {
        let known = self.known(transcript, seen).await?;
        let request = extraction_request(&self.model, &known, transcript).ok_or_else(|| self.too_small())?;
        let answer = aside::ask(&*self.provider, request, self.stop.child_token()).await?;
        let kept = answer::sift(answer::parse(&answer)?, &known);
        Ok(kept.into_iter().map(|kept| self.draft(kept)).collect())
    }

    /// What the model should know of: what has to do with what the user said, and what the conversation began with. That
    /// is read again, because somebody may have deleted it meanwhile.
    async fn known(&self, transcript: &Transcript, seen: &[MemoryId]) -> Result<Vec<Memory>, Error> {
        let words = transcript.words_of_user();
        let mut known = gather(&*self.storage, &self.namespace, &words, self.max_known).await?;
        let found: HashSet<_> = known.iter().map(|memory| memory.id.clone()).collect();
        for id in seen.iter().filter(|id| !found.contains(*id)) {
            known.extend(self.storage.load(&self.namespace, id).await?);
        }
        Ok(known)
    }

    fn draft(&self, Kept { replaces, content, tags }: Kept) -> MemoryDraft {
        MemoryDraft {
            id: replaces.unwrap_or_else(|| (self.ids)()),
            namespace: self.namespace.clone(),
            content,
            source: Some(self.source.clone()),
            tags,
        }
    }

    fn too_small(&self) -> Error {
        let message = format!(
            "half of the window of the model {:?}, {} tokens in all, has no room for a conversation beside the \
             instructions; choose another memory_model",
            self.model.id.as_str(),
            self.model.context_window
        );
        Error::new(ErrorCode::ProviderError, message).with_kind(ProviderErrorKind::ContextLength.as_str())
    }
}

/// In milliseconds since 1970-01-01 UTC.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
