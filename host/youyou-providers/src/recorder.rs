//! Writes what a provider says as a replay script. What it was asked is not kept, but for the last message.

use std::{
    io::{self, Write},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use futures_core::Stream;
use serde::Serialize;
use tokio::time::Instant;
use youyou_api::{
    CancellationToken, ChatEvent, ChatRequest, ChatStream, ModelId, ModelInfo, ModelProvider, Part, ProviderError,
    ProviderId,
};

use crate::replay::{Reply, ScriptFile, Step, When};

/// A provider that speaks through another one and writes a replay script of it in JSONL: the head at once, and a line
/// for each answer when its stream ends or is dropped. Each line is flushed, so that after a crash everything but the
/// answer in flight is there.
///
/// Of a request nothing is written but the user's last text, or which tool's result came last and whether it is a
/// failure; no prompt, no earlier message and no tool's output, where secrets may stand. What the model said is written
/// as it came. A stream that ends without [`ChatEvent::Done`], cancelled ones too, is written as [cut](Step::Cut).
///
/// When writing fails, recording stops with an error in the log; the conversation goes on.
#[derive(Debug)]
pub struct Recorder<P: ?Sized> {
    provider: Arc<P>,
    tape: Tape,
    delays: Delays,
    results: Results,
}

#[derive(Debug, Clone, Copy)]
enum Delays {
    LeftOut,
    Measured,
}

#[derive(Debug, Clone, Copy)]
enum Results {
    Named,
    Whole,
}

impl<P: ModelProvider + ?Sized> Recorder<P> {
    /// Begins a recording with the provider's id and models.
    ///
    /// # Errors
    /// What `to` says when the head cannot be written.
    pub fn new(provider: Arc<P>, to: impl Write + Send + 'static) -> io::Result<Self> {
        let mut to: Box<dyn Write + Send> = Box::new(to);
        write_line(&mut to, &ScriptFile::head(provider.id(), provider.models()))?;
        let tape = Tape(Arc::new(Mutex::new(Some(to))));
        Ok(Self { provider, tape, delays: Delays::LeftOut, results: Results::Named })
    }

    /// The same recorder, which also writes how long each event was waited for, in whole milliseconds.
    #[must_use]
    pub fn with_delays(self) -> Self {
        Self { delays: Delays::Measured, ..self }
    }

    /// The same recorder, which also writes the text of a tool result that came last, so that replaying tells when a
    /// tool answers differently. The text may hold secrets.
    #[must_use]
    pub fn with_tool_results(self) -> Self {
        Self { results: Results::Whole, ..self }
    }
}

impl<P: ModelProvider + ?Sized> ModelProvider for Recorder<P> {
    fn id(&self) -> &ProviderId {
        self.provider.id()
    }

    fn models(&self) -> &[ModelInfo] {
        self.provider.models()
    }

    fn accepts(&self, model: &ModelId, part: &Part) -> Result<(), ProviderError> {
        self.provider.accepts(model, part)
    }

    fn tools_in_prompt(&self) -> bool {
        self.provider.tools_in_prompt()
    }

    fn chat(&self, request: ChatRequest, cancel: CancellationToken) -> ChatStream {
        let mut when = When::exactly(&request);
        match (&mut when, self.results) {
            (When::ToolResult { is, .. }, Results::Named) => *is = None,
            (When::Any | When::User { .. }, Results::Named) | (_, Results::Whole) => {}
        }
        let inner = self.provider.chat(request, cancel);
        let (tape, delays) = (self.tape.clone(), self.delays);
        Box::pin(Recording { inner, tape, delays, reply: Some(Reply::default().when(when)), waiting: None })
    }
}

/// Where the lines go; nowhere once writing has failed.
#[derive(Clone)]
struct Tape(Arc<Mutex<Option<Box<dyn Write + Send>>>>);

impl std::fmt::Debug for Tape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tape")
    }
}

impl Tape {
    fn write(&self, reply: &Reply) {
        let mut to = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Err(error)) = to.as_mut().map(|to| write_line(to, reply)) {
            tracing::error!(%error, "recording stopped: the replay script cannot be written");
            *to = None;
        }
    }
}

fn write_line(to: &mut Box<dyn Write + Send>, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// One stream that is listened to.
struct Recording {
    inner: ChatStream,
    tape: Tape,
    delays: Delays,
    /// What has been said; none once it is written.
    reply: Option<Reply>,
    /// Since when the next event is waited for; none before the first poll, and between an event and the next poll.
    waiting: Option<Instant>,
}

impl Recording {
    /// Notes what came, the end of the stream too, and how long it was waited for.
    fn hear(&mut self, came: Option<&Result<ChatEvent, ProviderError>>, waited: Duration) {
        let Some(mut reply) = self.reply.take() else { return };
        let waited = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        match self.delays {
            Delays::Measured if waited > 0 => reply.say.push(Step::DelayMs(waited)),
            Delays::Measured | Delays::LeftOut => {}
        }
        match came.map_or(Some(Step::Cut), Step::from_item) {
            Some(step) => reply.say.push(step),
            None => tracing::warn!("an event is left out of the recording: replay scripts have no step for it"),
        }
        if reply.say.last().is_some_and(Step::ends) {
            self.tape.write(&reply);
        } else {
            self.reply = Some(reply);
        }
    }
}

impl Stream for Recording {
    type Item = Result<ChatEvent, ProviderError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let since = *this.waiting.get_or_insert_with(Instant::now);
        let polled = this.inner.as_mut().poll_next(context);
        if let Poll::Ready(came) = &polled {
            this.waiting = None;
            this.hear(came.as_ref(), since.elapsed());
        }
        polled
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let begun = self.waiting.is_some() || self.reply.as_ref().is_some_and(|reply| !reply.say.is_empty());
        // A stream that was never polled asked nothing.
        if begun {
            self.hear(None, self.waiting.map_or(Duration::ZERO, |since| since.elapsed()));
        }
    }
}
