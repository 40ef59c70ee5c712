//! Making the context shorter while a turn runs (Y4.2).

use futures_util::StreamExt;
use youyou_api::{AgentEventKind, ChatEvent, CompactionMethod, Error, ErrorCode, ProviderError};

use super::run::Turn;
use crate::context::{Entry, compact, estimate};

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
        if self.compact(before).await {
            return Ok(());
        }
        let message = "the request is too long for the model, and nothing of the conversation can be left out";
        Err(Error::new(ErrorCode::CompactError, message))
    }

    fn estimated_tokens(&self) -> u64 {
        let overhead = estimate::text(&self.env.system) + estimate::tools(&self.env.tools);
        compact::estimate_request(self.history, overhead, self.env.model.capabilities)
    }

    /// Summarises, or cuts off where that fails (Y4.2-3). Whether anything was left out.
    async fn compact(&mut self, tokens_before: u64) -> bool {
        // Reported and estimated figures are no common measure; for the breaker both sides are estimated.
        let before = self.estimated_messages();
        let Some((entry, method)) = self.shorter(tokens_before).await else {
            self.breaker.round(before, before);
            return false;
        };
        self.history.push(entry);
        self.breaker.round(before, self.estimated_messages());
        let tokens_after = self.estimated_tokens();
        self.events.publish(AgentEventKind::ContextCompacted { tokens_before, tokens_after, method });
        true
    }

    fn estimated_messages(&self) -> u64 {
        compact::estimate_messages(self.history.entries(), self.env.model.capabilities)
    }

    async fn shorter(&self, tokens_before: u64) -> Option<(Entry, CompactionMethod)> {
        let (entries, window) = (self.history.entries(), self.env.model.context_window);
        if let Some(plan) = compact::plan_summary(entries, window)
            && let Some(summary) = self.summarise(plan.to_summarise.clone()).await
            && let Some(entry) = plan.compaction(entries, &summary, tokens_before)
        {
            return Some((entry, CompactionMethod::Summary));
        }
        let plan = compact::plan_truncation(entries, window)?;
        Some((plan.compaction(tokens_before), CompactionMethod::Truncation))
    }

    /// The summary; none when the model cannot be asked, or the user cancels meanwhile.
    async fn summarise(&self, messages: Vec<youyou_api::Message>) -> Option<String> {
        let settings = &self.env.compaction;
        let request = compact::summary_request(&settings.model, settings.prompt.as_deref(), messages);
        let answer = async {
            let mut stream = settings.provider.chat(request, self.control.stop().child_token());
            let mut text = String::new();
            while let Some(event) = stream.next().await {
                match event? {
                    ChatEvent::TextDelta { text: piece } => text.push_str(&piece),
                    ChatEvent::Done { .. } => break,
                    _ => {}
                }
            }
            Ok::<_, ProviderError>(text)
        };
        let summary = tokio::select! {
            biased;
            () = self.control.stop().cancelled() => return None,
            summary = answer => summary,
        };
        match summary {
            Ok(text) if !text.trim().is_empty() => Some(text),
            Ok(_) => {
                tracing::warn!("the summary of the conversation came out empty; its beginning is left out instead");
                None
            }
            Err(error) => {
                tracing::warn!(
                    "no summary of the conversation could be made: {error}; its beginning is left out instead"
                );
                None
            }
        }
    }
}
