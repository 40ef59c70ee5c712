//! A session under observation, and its turns.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use futures_util::FutureExt;
use youyou::{AgentEvent, AgentEventKind, Error, Session, SessionEvents, TurnEvents, UserMessage};

use super::{
    Model, PATIENCE,
    check::{SessionCheck, TurnCheck},
    show,
};

/// A conversation whose events and requests are checked.
pub struct Chat {
    session: Session,
    models: Vec<Model>,
    check: Mutex<SessionCheck>,
    /// What happened outside of turns.
    outside: Vec<AgentEvent>,
    outside_events: SessionEvents,
}

impl Chat {
    pub(super) fn new(session: Session, models: Vec<Model>) -> Self {
        let mut check = SessionCheck::new(session.id().clone());
        let mut outside_events = session.take_events().expect("nobody has taken them");
        let mut outside = Vec::new();
        // Hooks of the session's begin have run by now.
        while let Some(Some(event)) = outside_events.next().now_or_never() {
            check.take_outside(&event).unwrap_or_else(|rule| panic!("{event:?} breaks a rule: {rule}"));
            outside.push(event);
        }
        Self { session, models, check: Mutex::new(check), outside, outside_events }
    }

    /// Closes the session; everything that happened outside of turns, checked.
    ///
    /// # Panics
    /// When an event breaks a rule.
    pub async fn close(self) -> Turn {
        let Self { session, check, mut outside, mut outside_events, .. } = self;
        session.close().await;
        drop(session);
        let mut check = check.into_inner().unwrap_or_else(PoisonError::into_inner);
        while let Some(event) = tokio::time::timeout(PATIENCE, outside_events.next()).await.expect("events end") {
            check.take_outside(&event).unwrap_or_else(|rule| panic!("{event:?} breaks a rule: {rule}"));
            outside.push(event);
        }
        Turn { events: outside }
    }

    /// The session itself.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Runs a turn to its end.
    ///
    /// # Panics
    /// When the message is refused, the turn does not end, or an event or a request breaks a rule.
    pub async fn run(&self, message: impl Into<UserMessage>) -> Turn {
        self.send(message).await.end().await
    }

    /// Starts a turn.
    ///
    /// # Panics
    /// When the message is refused.
    pub async fn send(&self, message: impl Into<UserMessage>) -> Running<'_> {
        let sent = tokio::time::timeout(PATIENCE, self.session.send(message)).await.expect("the message is looked at");
        let events = sent.unwrap_or_else(|error| panic!("the message is accepted: {error}"));
        Running { chat: self, events, seen: Vec::new(), check: TurnCheck::default() }
    }

    /// Why a message is refused.
    ///
    /// # Panics
    /// When it is not.
    pub async fn refused(&self, message: impl Into<UserMessage>) -> Error {
        let sent = tokio::time::timeout(PATIENCE, self.session.send(message)).await.expect("the message is looked at");
        sent.expect_err("the message is refused")
    }

    /// Cancels the turn that runs.
    pub fn cancel(&self) {
        self.session.cancel();
    }

    /// The session's log as text.
    pub async fn log(&self) -> String {
        show::entries(&self.session.entries().await)
    }

    fn check(&self) -> MutexGuard<'_, SessionCheck> {
        self.check.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A turn that runs.
pub struct Running<'c> {
    chat: &'c Chat,
    events: TurnEvents,
    seen: Vec<AgentEvent>,
    check: TurnCheck,
}

impl Running<'_> {
    /// The next event, checked; none after the last.
    ///
    /// # Panics
    /// When none comes, or it breaks a rule.
    pub async fn next(&mut self) -> Option<AgentEventKind> {
        let next = tokio::time::timeout(PATIENCE, self.events.next()).await;
        let event = next.unwrap_or_else(|_| panic!("the turn goes on after\n{}", show::events(&self.seen)));
        let checked = match &event {
            Some(event) => self.chat.check().take(&mut self.check, event),
            None => self.check.end(),
        };
        let kind = event.as_ref().map(|event| event.kind.clone());
        self.seen.extend(event);
        checked.unwrap_or_else(|rule| {
            panic!("the last of these events breaks a rule: {rule}\n{}", show::events(&self.seen))
        });
        kind
    }

    /// Waits for an event.
    ///
    /// # Panics
    /// When the turn ends without it.
    pub async fn until(&mut self, wanted: impl Fn(&AgentEventKind) -> bool) -> &mut Self {
        loop {
            match self.next().await {
                Some(kind) if wanted(&kind) => return self,
                Some(_) => {}
                None => panic!("the turn ended without the event:\n{}", show::events(&self.seen)),
            }
        }
    }

    /// Waits until the model has said this piece.
    ///
    /// # Panics
    /// When the turn ends without it.
    pub async fn until_text(&mut self, piece: &str) -> &mut Self {
        self.until(|kind| matches!(kind, AgentEventKind::TextDelta { text } if text == piece)).await
    }

    /// Waits for the end.
    ///
    /// # Panics
    /// As [`next`](Self::next), and when a request of the session broke a rule of model APIs.
    pub async fn end(mut self) -> Turn {
        while self.next().await.is_some() {}
        for model in &self.chat.models {
            assert!(model.broken_rules().is_empty(), "{}", model.broken_rules().join("\n"));
        }
        Turn { events: self.seen }
    }

    /// Stops listening.
    pub fn look_away(self) {
        self.chat.check().look_away();
    }
}

/// A turn that is over.
#[derive(Debug)]
pub struct Turn {
    /// Its events, all checked.
    pub events: Vec<AgentEvent>,
}

/// A line for each event.
impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&show::events(&self.events))
    }
}

impl Turn {
    /// What happened, in order.
    pub fn kinds(&self) -> impl Iterator<Item = &AgentEventKind> {
        self.events.iter().map(|event| &event.kind)
    }

    /// What the model said.
    pub fn text(&self) -> String {
        let pieces = self.kinds().filter_map(|kind| match kind {
            AgentEventKind::TextDelta { text } => Some(text.as_str()),
            _ => None,
        });
        pieces.collect()
    }

    /// The error that ended it.
    ///
    /// # Panics
    /// When none did.
    #[track_caller]
    pub fn failure(&self) -> &Error {
        let fatal = self.kinds().find_map(|kind| match kind {
            AgentEventKind::Error { error, fatal: true } => Some(error),
            _ => None,
        });
        fatal.unwrap_or_else(|| panic!("the turn failed:\n{self}"))
    }
}
