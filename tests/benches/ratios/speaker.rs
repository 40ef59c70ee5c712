//! A model in code that answers at once, so that only the session around it is measured.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use futures_util::stream;
use youyou::{
    CancellationToken, Capabilities, ChatEvent, ChatRequest, ChatStream, ModelId, ModelInfo, ModelProvider, ProviderId,
    Session, SessionOptions, StopReason, Usage,
};

use crate::{Outcome, setting::Setting};

/// A clone is the same model.
#[derive(Clone)]
pub(crate) struct Speaker(Arc<Inner>);

struct Inner {
    id: ProviderId,
    models: [ModelInfo; 1],
    /// Every answer, piece by piece.
    piece: String,
    pieces: usize,
    asked: Mutex<Option<Asked>>,
}

/// The latest request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) at: Instant,
    pub(crate) messages: usize,
}

impl Speaker {
    /// A model that says `piece` so many times whenever it is asked.
    pub(crate) fn new(piece: String, pieces: usize) -> Self {
        let info = ModelInfo {
            id: ModelId::new("speaker"),
            display_name: "Speaker".to_owned(),
            // So that nothing is ever left out of a request.
            context_window: 1 << 40,
            capabilities: Capabilities::ALL,
        };
        Self(Arc::new(Inner { id: ProviderId::new("speaker"), models: [info], piece, pieces, asked: Mutex::default() }))
    }

    /// A session with it, of an agent that has nothing else.
    pub(crate) async fn session(&self, setting: &Setting) -> Outcome<Session> {
        let agent = youyou::agent().home(setting.home()).workspace(setting.workspace()).provider(self.clone());
        Ok(agent.build().await?.new_session(SessionOptions::default()).await?)
    }

    /// When it was asked last, and with how many messages.
    pub(crate) fn asked(&self) -> Outcome<Asked> {
        let asked = *self.0.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.ok_or_else(|| "the model was not asked".into())
    }
}

impl ModelProvider for Speaker {
    fn id(&self) -> &ProviderId {
        &self.0.id
    }

    fn models(&self) -> &[ModelInfo] {
        &self.0.models
    }

    fn chat(&self, request: ChatRequest, _: CancellationToken) -> ChatStream {
        let asked = Asked { at: Instant::now(), messages: request.messages.len() };
        *self.0.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(asked);
        let (speaker, pieces) = (self.clone(), self.0.pieces);
        let said = (0..pieces).map(move |_| Ok(ChatEvent::TextDelta { text: speaker.0.piece.clone() }));
        let done = ChatEvent::Done { usage: Usage::default(), stop: StopReason::End };
        Box::pin(stream::iter(said.chain([Ok(done)])))
    }
}
