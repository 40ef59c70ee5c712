//! Making the context shorter while a turn runs (Y4.2).

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use youyou_api::{AgentEventKind, CompactionMethod, Durability, Error, ErrorCode, Message};

use super::{hooks::CompactWord, run::Turn, step::panicked};
use crate::{
    aside,
    context::{Entry, compact, estimate},
};

/// What came of trying to make the context shorter.
enum Compacted {
    Shorter,
    /// A plugin did not want it; everything is as before.
    Refused(Error),
    /// There is nothing that could be left out.
    Impossible,
    /// The user cancelled meanwhile; everything is as before.
    Cancelled,
}

/// What is to be appended to the log.
enum Shortening {
    By(Entry, CompactionMethod),
    Impossible,
    Cancelled,
}

/// What came of asking for a summary.
enum Summary {
    Written(String),
    Failed,
    Cancelled,
}

impl Turn<'_> {
    /// Makes the context shorter if it nears the model's window (Y4.2-2, first trigger).
    ///
    /// # Errors
    /// None at present: where it cannot be made shorter, the request is tried as it is.
    pub(super) async fn compact_if_due(&mut self) -> Result<(), Error> {
        let before = self.estimated_tokens();
        let due = compact::is_due(before, self.env.compaction.threshold, self.env.model.context_window);
        if due && !self.breaker.is_tripped() {
            self.compact(before).await;
        }
        Ok(())
    }

    /// Makes the context shorter because the provider says it is too long (Y4.2-2, second trigger).
    ///
    /// # Errors
    /// `COMPACT_ERROR` when there is nothing that could be left out.
    pub(super) async fn compact_now(&mut self) -> Result<(), Error> {
        let before = self.estimated_tokens();
        match self.compact(before).await {
            Compacted::Shorter | Compacted::Cancelled => Ok(()),
            Compacted::Refused(error) => {
                let message = format!("the request is too long for the model, and {}", error.message);
                Err(Error::new(ErrorCode::CompactError, message).with_cause(error))
            }
            Compacted::Impossible => {
                let message = "the request is too long for the model, and nothing of the conversation can be left out";
                Err(Error::new(ErrorCode::CompactError, message))
            }
        }
    }

    fn estimated_tokens(&self) -> u64 {
        let overhead = estimate::text(&self.system) + estimate::tools(&self.env.tools);
        compact::estimate_request(self.history, overhead, self.env.model.capabilities)
    }

    /// Summarises, or cuts off where that fails (Y4.2-3).
    async fn compact(&mut self, tokens_before: u64) -> Compacted {
        // Reported and estimated figures are no common measure; for the breaker both sides are estimated.
        let before = self.estimated_messages();
        let prompt = match self.before_compact(tokens_before).await {
            CompactWord::Go { prompt } => prompt,
            CompactWord::Skip(error) => return Compacted::Refused(error),
        };
        let (entry, method) = match self.shortening(tokens_before, prompt.as_deref()).await {
            Shortening::By(entry, method) => (entry, method),
            Shortening::Impossible => {
                self.breaker.round(before, before);
                return Compacted::Impossible;
            }
            Shortening::Cancelled => return Compacted::Cancelled,
        };
        self.history.push(entry);
        self.write_down(Durability::Buffered).await;
        self.breaker.round(before, self.estimated_messages());
        let tokens_after = self.estimated_tokens();
        self.events.publish(AgentEventKind::ContextCompacted { tokens_before, tokens_after, method });
        Compacted::Shorter
    }

    fn estimated_messages(&self) -> u64 {
        compact::estimate_messages(self.history.entries(), self.env.model.capabilities)
    }

    async fn shortening(&self, tokens_before: u64, prompt: Option<&str>) -> Shortening {
        let (entries, window) = (self.history.entries(), self.env.model.context_window);
        if let Some(plan) = compact::plan_summary(entries, window) {
            match self.summarise(plan.to_summarise.clone(), prompt).await {
                Summary::Written(text) => {
                    if let Some(entry) = plan.compaction(entries, &text, tokens_before) {
                        return Shortening::By(entry, CompactionMethod::Summary);
                    }
                }
                Summary::Failed => {}
                Summary::Cancelled => return Shortening::Cancelled,
            }
        }
        match compact::plan_truncation(entries, window) {
            Some(plan) => Shortening::By(plan.compaction(tokens_before), CompactionMethod::Truncation),
            None => Shortening::Impossible,
        }
    }

    async fn summarise(&self, messages: Vec<Message>, prompt: Option<&str>) -> Summary {
        let request = compact::summary_request(&self.env.compaction.model, prompt, messages);
        let provider = &*self.env.compaction.provider;
        let asking = AssertUnwindSafe(aside::ask(provider, request, self.control.stop().child_token())).catch_unwind();
        let summary = tokio::select! {
            biased;
            () = self.control.stop().cancelled() => return Summary::Cancelled,
            summary = asking => summary.unwrap_or_else(|panic| Err(panicked(&*panic))),
        };
        match summary {
            Ok(text) if !text.trim().is_empty() => Summary::Written(text),
            Ok(_) => {
                tracing::warn!("the summary of the conversation came out empty; its beginning is left out instead");
                Summary::Failed
            }
            Err(error) => {
                tracing::warn!(
                    "no summary of the conversation could be made: {error}; its beginning is left out instead"
                );
                Summary::Failed
            }
        }
    }
}
