//! The handle of a running session.

use std::sync::{
    Arc, Mutex, PoisonError, Weak,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use youyou_api::{Error, ErrorCode, ModelId, ModelInfo, Sampling, SessionId, TurnId, UserMessage};

use super::accept::{AttachmentReader, accept};
use crate::{
    context::{Entry, History, compact::Breaker},
    events::{EventClock, Publisher, TurnEvents},
    prompt::SystemPrompt,
    skills::SkillCatalog,
    turn::{self, TurnControl, TurnEnv},
};

/// What a new session may choose (Y6.2-1).
#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    /// The model; without it the configured default (D-44).
    pub model: Option<ModelId>,
    /// Stands in the place of the base instructions.
    pub base_instructions: Option<String>,
    /// How the model is to sample.
    pub sampling: Sampling,
}

/// One conversation. Its tools, skills and prompt are those of the moment it began (Y2-1).
///
/// A clone is the same session. When the last one is dropped and no turn runs, the agent is free for another session,
/// as after [`close`](Self::close).
#[derive(Clone)]
pub struct Session {
    shared: Arc<Shared>,
}

/// What a session is made of.
pub(crate) struct SessionParts {
    pub(crate) env: TurnEnv,
    pub(crate) prompt: SystemPrompt,
    pub(crate) skills: SkillCatalog,
    pub(crate) attachments: Option<Arc<dyn AttachmentReader>>,
    pub(crate) place: Place,
}

/// The one place for a session that an agent has; free again when it is dropped (Y1-4).
pub(crate) struct Place(Arc<AtomicBool>);

impl Place {
    /// Takes the place, if it is free.
    pub(crate) fn take(taken: &Arc<AtomicBool>) -> Option<Self> {
        (!taken.swap(true, Ordering::AcqRel)).then(|| Self(taken.clone()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

struct Shared {
    env: TurnEnv,
    prompt: SystemPrompt,
    skills: SkillCatalog,
    attachments: Option<Arc<dyn AttachmentReader>>,
    clock: EventClock,
    turns: AtomicU64,
    /// Held by the turn that runs.
    log: Arc<tokio::sync::Mutex<Log>>,
    /// The turn that runs, or the last one that did.
    current: Mutex<Option<Arc<TurnControl>>>,
    place: Mutex<Option<Place>>,
}

/// A session that may be over.
pub(crate) struct WeakSession(Weak<Shared>);

impl WeakSession {
    pub(crate) fn upgrade(&self) -> Option<Session> {
        self.0.upgrade().map(|shared| Session { shared })
    }
}

#[derive(Default)]
struct Log {
    history: History,
    breaker: Breaker,
}

impl Session {
    pub(crate) fn new(parts: SessionParts) -> Self {
        let SessionParts { env, prompt, skills, attachments, place } = parts;
        Self {
            shared: Arc::new(Shared {
                env,
                prompt,
                skills,
                attachments,
                clock: EventClock::default(),
                turns: AtomicU64::new(0),
                log: Arc::default(),
                current: Mutex::default(),
                place: Mutex::new(Some(place)),
            }),
        }
    }

    pub(crate) fn downgrade(&self) -> WeakSession {
        WeakSession(Arc::downgrade(&self.shared))
    }

    /// The session's id.
    pub fn id(&self) -> &SessionId {
        &self.shared.env.session_id
    }

    /// The model that is asked.
    pub fn model(&self) -> &ModelInfo {
        &self.shared.env.model
    }

    /// The system prompt, section by section.
    pub fn prompt(&self) -> &SystemPrompt {
        &self.shared.prompt
    }

    /// The skills that the user may call.
    pub fn skills(&self) -> &SkillCatalog {
        &self.shared.skills
    }

    /// Starts a turn with what the user sends, and returns its events (Y6.2-3).
    ///
    /// The turn runs in a task of its own on the caller's runtime; dropping the events does not stop it (D-32). A
    /// message that is refused leaves no trace.
    ///
    /// # Errors
    /// `SESSION_BUSY` while a turn runs (D-31); `SESSION_NOT_FOUND` after [`close`](Self::close); `SKILL_NOT_FOUND`,
    /// `FILE_TOO_LARGE`, `PATH_NOT_ALLOWED`, `INVALID_INPUT`, or `PROVIDER_ERROR` of kind `unsupported_content`, for a
    /// message that cannot be taken.
    ///
    /// # Cancel safety
    /// Dropped before it answers, nothing was sent.
    pub async fn send(&self, message: impl Into<UserMessage>) -> Result<TurnEvents, Error> {
        let shared = &self.shared;
        let busy = || Error::new(ErrorCode::SessionBusy, "a turn is running; wait for its end, or cancel it");
        let mut log = shared.log.clone().try_lock_owned().map_err(|_| busy())?;
        if shared.place.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            return Err(Error::new(ErrorCode::SessionNotFound, "the session is closed; start another one"));
        }
        let parts = accept(message.into(), &shared.skills, &shared.env.model, shared.attachments.clone()).await?;
        log.history.push(Entry::User { parts });
        let control = Arc::new(TurnControl::default());
        *shared.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(control.clone());
        let number = shared.turns.fetch_add(1, Ordering::Relaxed) + 1;
        let turn_id = TurnId::new(format!("turn-{number}"));
        let (publisher, events) = Publisher::new(self.id().clone(), turn_id, shared.clock.clone());
        let session = self.shared.clone();
        tokio::spawn(async move {
            let Log { history, breaker } = &mut *log;
            let ending = turn::run(&session.env, history, breaker, &control, publisher).await;
            drop(log);
            ending.publish();
        });
        Ok(events)
    }

    /// Cancels the turn that runs: the model stops at once, what it said is kept, running tools are waited for
    /// (Y6.2-4). Called again, running tools are stopped too (D-27). With no turn running it does nothing.
    pub fn cancel(&self) {
        if let Some(control) = &*self.shared.current.lock().unwrap_or_else(PoisonError::into_inner) {
            control.cancel();
        }
    }

    /// Waits until no turn runs.
    pub async fn idle(&self) {
        drop(self.shared.log.lock().await);
    }

    /// A copy of the log, as far as it has come; waits for a turn that runs.
    pub async fn entries(&self) -> Vec<Entry> {
        self.shared.log.lock().await.history.entries().to_vec()
    }

    /// Ends the session: a turn that runs is cancelled and waited for; then the agent is free for another (Y6.2-5).
    ///
    /// Closing twice is fine.
    pub async fn close(&self) {
        self.cancel();
        let log = self.shared.log.lock().await;
        self.shared.place.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(log);
    }
}
