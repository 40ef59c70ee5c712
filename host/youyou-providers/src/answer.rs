//! One answer: the events of a body, decoded.

use std::collections::VecDeque;

use youyou_api::{ChatEvent, ProviderError};

use crate::{
    http::Events,
    wire::{Decoder, Progress},
};

/// An answer that is being received. After [`ChatEvent::Done`], or the first error, nothing follows.
pub(crate) struct Answer {
    events: Events,
    decoder: Box<dyn Decoder>,
    ready: VecDeque<ChatEvent>,
    /// An error that waits until everything before it was taken.
    failed: Option<ProviderError>,
    over: bool,
}

impl Answer {
    pub(crate) fn new(events: Events, decoder: Box<dyn Decoder>) -> Self {
        Self { events, decoder, ready: VecDeque::new(), failed: None, over: false }
    }

    /// The next piece.
    ///
    /// Cancel safe.
    ///
    /// # Errors
    /// A failure of the transport, a refusal of the API, an event that is not of its language, and an end before the
    /// answer was whole.
    pub(crate) async fn next(&mut self) -> Option<Result<ChatEvent, ProviderError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if self.over {
                return self.failed.take().map(Err);
            }
            let end = match self.events.next().await {
                Some(Ok((_, data))) if data.trim().is_empty() => continue,
                // OpenAI's end mark; a gateway may put it behind the answers of others as well.
                Some(Ok((_, data))) if data.trim() == "[DONE]" => self.decoder.end(&mut self.ready),
                Some(Ok((event, data))) => match self.decoder.take(event.as_deref(), &data, &mut self.ready) {
                    Ok(Progress::More) => continue,
                    Ok(Progress::Over) => self.decoder.end(&mut self.ready),
                    Err(error) => Err(error),
                },
                // Where the line went dead after the last word, nothing is missing.
                Some(Err(error)) => self.decoder.end(&mut self.ready).map_err(|_| error),
                None => self.decoder.end(&mut self.ready),
            };
            self.over = true;
            self.failed = end.err();
        }
    }
}
