//! The handle of a running session.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, Weak,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use youyou_api::{
    AgentEventKind, CancellationToken, Durability, Error, ErrorCode, ModelId, ModelInfo, Sampling, SessionEvent,
    SessionId, TurnId, UserMessage,
    hook::{HookEventPayload, SessionEnd, SessionStart},
    record::Metadata,
};

use super::accept::{AttachmentReader, accept};
use crate::{
    context::{Entry, History, compact::Breaker},
    events::{EventClock, Publisher, SessionEvents, TurnEvents},
    hooks::Fired,
    journal::{Journal, ProgressJournal, Saved},
    prompt::SystemPrompt,
    skills::SkillCatalog,
    turn::{self, Begin, TurnControl, TurnEnv},
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
    pub(crate) skills: SkillCatalog,
    pub(crate) attachments: Option<Arc<dyn AttachmentReader>>,
    pub(crate) place: Place,
    /// What was there before, in a session that goes on.
    pub(crate) history: History,
    /// Where it is written down, if anywhere.
    pub(crate) journal: Option<Journal>,
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
    skills: SkillCatalog,
    attachments: Option<Arc<dyn AttachmentReader>>,
    clock: EventClock,
    /// Tells of what happens outside of turns.
    outside: Arc<Publisher>,
    outside_events: Mutex<Option<SessionEvents>>,
    turns: AtomicU64,
    /// Held by the turn that runs, until its last event is told.
    log: Arc<tokio::sync::Mutex<Log>>,
    life: Mutex<Life>,
}

/// Where a session stands.
struct Life {
    /// Given back once the session is closed and its last turn is over.
    place: Option<Place>,
    /// Whether messages are still taken.
    open: bool,
    doing: Doing,
}

enum Doing {
    Nothing,
    /// A message is looked at; nothing of it is kept yet.
    Accepting,
    Running(Arc<TurnControl>),
}

impl Shared {
    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// While it exists, the session takes no other message. Dropped, it takes the next one, however this one fared.
struct Busy(Arc<Shared>);

impl Busy {
    /// Begins to accept a message.
    fn accept(shared: &Arc<Shared>) -> Result<Self, Error> {
        let mut life = shared.life();
        if !life.open {
            return Err(closed());
        }
        match life.doing {
            Doing::Nothing => life.doing = Doing::Accepting,
            Doing::Accepting | Doing::Running(_) => {
                return Err(Error::new(ErrorCode::SessionBusy, "a turn is running; wait for its end, or cancel it"));
            }
        }
        Ok(Self(shared.clone()))
    }

    /// Begins the turn, unless the session was closed meanwhile.
    fn run(&self) -> Result<Arc<TurnControl>, Error> {
        let mut life = self.0.life();
        if !life.open {
            return Err(closed());
        }
        let control = Arc::new(TurnControl::default());
        life.doing = Doing::Running(control.clone());
        Ok(control)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.life().doing = Doing::Nothing;
    }
}

fn closed() -> Error {
    Error::new(ErrorCode::SessionNotFound, "the session is closed; start another one")
}

/// A session that may be over.
pub(crate) struct WeakSession(Weak<Shared>);

impl WeakSession {
    pub(crate) fn upgrade(&self) -> Option<Session> {
        self.0.upgrade().map(|shared| Session { shared })
    }
}

struct Log {
    history: History,
    breaker: Breaker,
    journal: Option<Arc<tokio::sync::Mutex<Journal>>>,
}

impl Log {
    /// Where it is written down how far the session was read for memories.
    fn progress(&self) -> Option<ProgressJournal> {
        self.journal.as_ref().map(ProgressJournal::of)
    }
}

/// Stores what is left and lets the session go.
async fn close_journal(journal: Arc<tokio::sync::Mutex<Journal>>, entries: &[Entry]) -> Result<(), Error> {
    // No turn runs, so nobody else has it.
    let Some(journal) = Arc::into_inner(journal) else { return Ok(()) };
    let mut journal = journal.into_inner();
    journal.follow(entries);
    journal.close().await
}

impl Session {
    pub(crate) fn new(parts: SessionParts) -> Self {
        let SessionParts { env, skills, attachments, place, history, journal } = parts;
        let turns = history.entries().iter().filter(|entry| matches!(entry, Entry::User { .. })).count();
        let log = Log {
            history,
            breaker: Breaker::default(),
            journal: journal.map(|journal| Arc::new(tokio::sync::Mutex::new(journal))),
        };
        let clock = EventClock::default();
        let (outside, outside_events) = Publisher::of_session(env.session_id.clone(), clock.clone());
        Self {
            shared: Arc::new(Shared {
                env,
                skills,
                attachments,
                clock,
                outside: Arc::new(outside),
                outside_events: Mutex::new(Some(outside_events)),
                turns: AtomicU64::new(turns as u64),
                log: Arc::new(tokio::sync::Mutex::new(log)),
                life: Mutex::new(Life { place: Some(place), open: true, doing: Doing::Nothing }),
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

    /// The system prompt, section by section; without what is remembered, which depends on what is said first.
    pub fn prompt(&self) -> &SystemPrompt {
        &self.shared.env.prompt
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
        let busy = Busy::accept(shared)?;
        let input = accept(message.into(), &shared.skills, &shared.env.model, shared.attachments.clone()).await?;
        for part in &input.attachments {
            shared.env.provider.accepts(&shared.env.model.id, part)?;
        }
        // The turn before may still have to tell its last event, which comes before any of this one.
        let mut log = shared.log.clone().lock_owned().await;
        let control = busy.run()?;
        let number = shared.turns.fetch_add(1, Ordering::Relaxed) + 1;
        let id = TurnId::new(format!("turn-{number}"));
        let (publisher, events) = Publisher::of_turn(self.id().clone(), id.clone(), shared.clock.clone());
        let begin = Begin { id, events: publisher, input, journal: log.journal.clone() };
        let memory = shared.env.memory.clone();
        tokio::spawn(async move {
            let Log { history, breaker, .. } = &mut *log;
            let ending = turn::run(&busy.0.env, history, breaker, &control, begin).await;
            // Before the last event is told: whoever hears it can send the next message, or start another session if
            // this one is dropped.
            drop(busy);
            ending.publish();
            if let Some(memory) = memory {
                memory.turn_ended(log.history.entries(), log.progress().map(|progress| Arc::new(progress) as _));
            }
            drop(log);
        });
        Ok(events)
    }

    /// Cancels the turn that runs: the model stops at once, what it said is kept, running tools are waited for
    /// (Y6.2-4). Called again, running tools are stopped too (D-27). With no turn running it does nothing.
    pub fn cancel(&self) {
        match &self.shared.life().doing {
            Doing::Running(control) => control.cancel(),
            Doing::Nothing | Doing::Accepting => {}
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

    /// What happens outside of turns: plugins that are asked as the session begins and ends. Given out once.
    pub fn take_events(&self) -> Option<SessionEvents> {
        self.shared.outside_events.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Calls the session something else from now on (D-69). Waits for a turn that runs.
    ///
    /// # Errors
    /// `STORAGE_ERROR`; `INVALID_INPUT` for a title that says nothing, and for a session that is not stored.
    pub async fn rename(&self, title: &str) -> Result<(), Error> {
        let invalid = |message: &str| Error::new(ErrorCode::InvalidInput, message);
        if title.trim().is_empty() {
            return Err(invalid("a title has to say something"));
        }
        let log = self.shared.log.lock().await;
        let journal = log.journal.as_ref().ok_or_else(|| invalid("this session is not stored anywhere"))?;
        let mut journal = journal.lock().await;
        journal.push(SessionEvent::Metadata(Metadata::title(title.trim())));
        match journal.save(Durability::Synced).await {
            Saved::Yes => Ok(()),
            Saved::No(error) | Saved::StillNo(error) => Err(error),
        }
    }

    /// Tells of what should be known of a session that goes on.
    pub(crate) fn tell_of_damage(&self, damage: Vec<Error>) {
        for error in damage {
            tracing::warn!("session {}: {}", self.id(), error.message);
            self.shared.outside.publish(AgentEventKind::Error { error, fatal: false });
        }
    }

    /// Asks the plugins that want to know of a new session (D-20).
    ///
    /// # Errors
    /// `HOOK_ABORTED` (D-11).
    pub(crate) async fn tell_of_start(&self) -> Result<(), Error> {
        let payload = SessionStart { session_id: self.id().clone() };
        match self.fire(HookEventPayload::SessionStart(payload)).await {
            Fired { aborted: Some(aborted), .. } => Err(aborted.into_error("refused this session")),
            Fired { aborted: None, .. } => Ok(()),
        }
    }

    async fn fire(&self, payload: HookEventPayload) -> Fired {
        let report = turn::reporter(&self.shared.outside);
        turn::fire(&self.shared.env.hooks, payload, &CancellationToken::new(), &report).await
    }

    /// Ends the session: a turn that runs is cancelled and waited for, plugins are told, what is worth remembering is
    /// extracted (D-67); then the agent is free for another (Y6.2-5).
    ///
    /// Running tools come to their own end, unless [`cancel`](Self::cancel) is called besides (D-27). Closing twice is
    /// fine. A session that is dropped without it ends untold.
    pub async fn close(&self) {
        {
            let mut life = self.shared.life();
            life.open = false;
            match &life.doing {
                Doing::Running(control) => control.close(),
                Doing::Nothing | Doing::Accepting => {}
            }
        }
        let mut log = self.shared.log.lock().await;
        let place = self.shared.life().place.take();
        if place.is_some() {
            let (session_id, message_count) = (self.id().clone(), log.history.message_count());
            self.fire(HookEventPayload::SessionEnd(SessionEnd { session_id, message_count })).await;
            if let Some(memory) = &self.shared.env.memory {
                let progress = log.progress();
                memory.finish(log.history.entries(), progress.as_ref().map(|progress| progress as _)).await;
            }
        }
        if let Some(journal) = log.journal.take()
            && let Err(error) = close_journal(journal, log.history.entries()).await
        {
            tracing::warn!("session {}: {}", self.id(), error.message);
            self.shared.outside.publish(AgentEventKind::Error { error, fatal: false });
        }
        drop((place, log));
    }
}
