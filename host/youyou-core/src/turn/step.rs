//! One step: a request to the model, tried until it is answered, cancelled or given up.

use std::panic::AssertUnwindSafe;

use futures_util::{FutureExt, StreamExt};
use youyou_api::{AgentEventKind, ChatRequest, Error, ErrorCode, ProviderError, ProviderErrorKind, StopReason, Usage};

use super::{
    gather::{Gather, Gathered, Piece},
    retry,
    run::Turn,
};
use crate::{
    aside::broke_off,
    context::{Entry, projection::project},
};

/// What a step gave.
pub(super) enum Answer {
    /// The model came to its end.
    Whole { gathered: Gathered, usage: Usage, stop: StopReason },
    /// The user cancelled while it spoke.
    Cancelled(Gathered),
    /// It broke off, or never began.
    Broken(Gathered, Error),
    /// The provider does not take something in the user's message of this turn (D-73).
    Unsupported(Error),
}

/// What one try gave.
enum Tried {
    Whole(Gather, Usage, StopReason),
    Cancelled(Gather),
    Failed(Gather, ProviderError, Progress),
}

/// Whether any of an answer had come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    None,
    Some,
}

impl Turn<'_> {
    /// Asks the model with everything that is in the log.
    ///
    /// A request is tried again only before anything of its answer came (D-33). One that is too long is made shorter
    /// once (D-34).
    ///
    /// # Errors
    /// `COMPACT_ERROR` when the context cannot be made to fit.
    pub(super) async fn ask(&mut self) -> Result<Answer, Error> {
        self.compact_if_due().await?;
        let (mut retries, mut compacted) = (0, false);
        loop {
            if self.control.is_cancelling() {
                return Ok(Answer::Cancelled(Gathered::default()));
            }
            match self.try_once().await {
                Tried::Whole(gather, usage, stop) => {
                    let gathered = gather.complete(|| self.history.next_call_id());
                    return Ok(Answer::Whole { gathered, usage, stop });
                }
                Tried::Cancelled(gather) => {
                    return Ok(Answer::Cancelled(gather.incomplete(|| self.history.next_call_id())));
                }
                Tried::Failed(_, error, Progress::None) if error.kind == ProviderErrorKind::ContextLength => {
                    if compacted {
                        return Err(still_too_long(&error));
                    }
                    self.compact_now().await?;
                    compacted = true;
                }
                Tried::Failed(_, error, Progress::None)
                    if error.kind == ProviderErrorKind::UnsupportedContent && self.is_unanswered() =>
                {
                    return Ok(Answer::Unsupported(error.into()));
                }
                Tried::Failed(gather, error, progress) => {
                    retries += 1;
                    let pause = retry::pause(&error, retries).filter(|_| progress == Progress::None);
                    let Some(pause) = pause else {
                        let gathered = gather.incomplete(|| self.history.next_call_id());
                        return Ok(Answer::Broken(gathered, error.into()));
                    };
                    self.events.publish(AgentEventKind::Retry {
                        attempt: retries,
                        delay_ms: u64::try_from(pause.as_millis()).unwrap_or(u64::MAX),
                        error: error.into(),
                    });
                    tokio::select! {
                        () = tokio::time::sleep(pause) => {}
                        () = self.control.stop().cancelled() => {}
                    }
                }
            }
        }
    }

    /// Whether the model has not said anything in this turn yet.
    fn is_unanswered(&self) -> bool {
        !self.entries_of_turn().iter().any(|entry| matches!(entry, Entry::Assistant { .. }))
    }

    fn request(&self) -> ChatRequest {
        ChatRequest {
            model: self.env.model.id.clone(),
            system: self.system.clone(),
            messages: project(self.history.entries(), self.env.model.capabilities),
            tools: if self.env.model.capabilities.tool_use { self.env.tools.clone() } else { Vec::new() },
            sampling: self.env.sampling,
        }
    }

    async fn try_once(&self) -> Tried {
        let mut gather = Gather::default();
        let mut progress = Progress::None;
        let stop = self.control.stop();
        let request = self.request();
        let start = AssertUnwindSafe(|| self.env.provider.chat(request, stop.child_token()));
        let mut stream = match std::panic::catch_unwind(start) {
            Ok(stream) => stream,
            Err(panic) => return Tried::Failed(gather, panicked(&*panic), progress),
        };
        let mut stopped = std::pin::pin!(stop.cancelled());
        loop {
            let next = AssertUnwindSafe(stream.next()).catch_unwind();
            let item = tokio::select! {
                biased;
                () = &mut stopped => return Tried::Cancelled(gather),
                item = next => item,
            };
            let event = match item {
                Ok(Some(Ok(event))) => event,
                Ok(Some(Err(error))) => return Tried::Failed(gather, error, progress),
                Ok(None) if stop.is_cancelled() => return Tried::Cancelled(gather),
                Ok(None) => return Tried::Failed(gather, broke_off(), progress),
                Err(panic) => return Tried::Failed(gather, panicked(&*panic), progress),
            };
            progress = Progress::Some;
            match gather.take(event) {
                Piece::Text(text) => self.events.publish(AgentEventKind::TextDelta { text }),
                Piece::Reasoning(text) => self.events.publish(AgentEventKind::ReasoningDelta { text }),
                Piece::Silent => {}
                Piece::Done(usage, stop) => return Tried::Whole(gather, usage, stop),
            }
            // A provider that is always ready must not keep the other tasks of its thread waiting.
            tokio::task::consume_budget().await;
        }
    }
}

pub(super) fn panicked(panic: &(dyn std::any::Any + Send)) -> ProviderError {
    let text = crate::panic::text(panic);
    ProviderError::new(ProviderErrorKind::Other, format!("the model provider panicked: {text}"))
}

fn still_too_long(error: &ProviderError) -> Error {
    let message = format!("the request is still too long for the model after its context was made shorter: {error}");
    Error::new(ErrorCode::CompactError, message)
}
