//! The loop of a turn: ask, run the tools, ask again, until the model asks for no more.

use std::{panic::AssertUnwindSafe, path::Path, sync::Arc};

use futures_util::FutureExt;
use tokio::sync::Mutex;
use youyou_api::{
    AgentEventKind, Durability, Error, ErrorCode, ErrorSource, ModelInfo, ModelProvider, Sampling, SessionId,
    StopReason, ToolSpec, TurnId, TurnStatus, Usage,
};

use super::{
    calls::EventObserver,
    control::{Ended, TurnControl},
    gather::Gathered,
    hooks,
    input::TurnInput,
    repeat::RepeatDetector,
    step::Answer,
};
use crate::{
    context::{AssistantStatus, Entry, History, compact::Breaker},
    events::Publisher,
    hooks::{Hooks, PluginChain, Reporter},
    journal::{Journal, Saved, WriteAhead},
    memory::MemoryManager,
    prompt::SystemPrompt,
    session::resume::BROKE_OFF,
    tools::Dispatcher,
};

/// What a session's turns have in common. Nothing in it changes while the session runs.
pub(crate) struct TurnEnv {
    pub(crate) session_id: SessionId,
    pub(crate) cwd: Arc<Path>,
    pub(crate) provider: Arc<dyn ModelProvider>,
    pub(crate) model: ModelInfo,
    /// The system prompt, without what is remembered and what hooks add for one turn.
    pub(crate) prompt: SystemPrompt,
    /// The same as text.
    pub(crate) system: String,
    /// What is remembered, and what of the session is to be; none without a storage of memories.
    pub(crate) memory: Option<Arc<MemoryManager>>,
    pub(crate) tools: Vec<ToolSpec>,
    pub(crate) dispatcher: Dispatcher,
    pub(crate) hooks: Arc<Hooks>,
    pub(crate) sampling: Sampling,
    /// Tool calls in one turn (Y4.1-5).
    pub(crate) max_tool_calls: u32,
    pub(crate) compaction: Compaction,
}

/// When and how the context is made shorter (Y4.2).
pub(crate) struct Compaction {
    /// Part of the window past which it is done.
    pub(crate) threshold: f64,
    /// Who writes the summary.
    pub(crate) provider: Arc<dyn ModelProvider>,
    pub(crate) model: ModelInfo,
    /// What to tell them, if not the usual.
    pub(crate) prompt: Option<String>,
}

/// What a turn begins with.
pub(crate) struct Begin {
    pub(crate) id: TurnId,
    pub(crate) events: Publisher,
    pub(crate) input: TurnInput,
    /// Where the turn is written down; none for a session that lives in memory (Y3.7-4).
    pub(crate) journal: Option<Arc<Mutex<Journal>>>,
}

/// One turn that runs.
pub(crate) struct Turn<'a> {
    pub(super) env: &'a TurnEnv,
    pub(super) history: &'a mut History,
    pub(super) breaker: &'a mut Breaker,
    pub(super) control: &'a TurnControl,
    pub(super) id: TurnId,
    pub(super) events: Arc<Publisher>,
    pub(super) observer: Arc<EventObserver>,
    /// Tells of each handler that was asked.
    pub(super) report: Reporter,
    pub(super) journal: Option<Arc<Mutex<Journal>>>,
    /// Writes calls down before they run.
    pub(super) ahead: Option<Arc<WriteAhead>>,
    /// Carries the calls of this turn past the plugins.
    pub(super) dispatcher: Dispatcher,
    /// The system prompt of this turn.
    pub(super) system: String,
    /// Where the log stood when the turn began.
    pub(super) begin: usize,
    pub(super) calls_asked: u32,
    pub(super) repeats: RepeatDetector,
}

/// How a turn ended; still to be told.
#[must_use]
pub(crate) struct Ending {
    events: Arc<Publisher>,
    outcome: Outcome,
}

enum Outcome {
    Cancelled,
    Completed,
    Failed(Error),
}

impl Ending {
    /// Publishes the one terminal event of the turn, its last (D-21).
    pub(crate) fn publish(self) {
        let (status, error_code) = match self.outcome {
            Outcome::Cancelled => return self.events.publish(AgentEventKind::TurnCancelled),
            Outcome::Completed => (TurnStatus::Completed, None),
            Outcome::Failed(error) => {
                let error_code = error.code;
                self.events.publish(AgentEventKind::Error { error, fatal: true });
                (TurnStatus::Failed, Some(error_code))
            }
        };
        self.events.publish(AgentEventKind::TurnComplete { status, error_code });
    }
}

/// Runs a turn to its end, whatever happens in it. The caller publishes the ending once the log is free again, so that
/// whoever hears of it can send the next message.
pub(crate) async fn run(
    env: &TurnEnv,
    history: &mut History,
    breaker: &mut Breaker,
    control: &TurnControl,
    Begin { id, events, input, journal }: Begin,
) -> Ending {
    let events = Arc::new(events);
    let mut turn = Turn::new(env, history, breaker, control, id, &events, journal);
    let outcome = AssertUnwindSafe(turn.run(input)).catch_unwind().await.unwrap_or_else(|panic| {
        let message = format!("the turn ended by a fault of the runtime: {}", crate::panic::text(&*panic));
        Err(Error::new(ErrorCode::ToolExecutionError, message).with_origin(ErrorSource::Agent))
    });
    if let Err(error) = &outcome {
        turn.answer_open_calls(error);
    }
    // Whatever the end was; and before it is decided, so that a user who waits for a plugin can still cancel.
    turn.tell_of_end().await;
    turn.write_down(Durability::Synced).await;
    let outcome = match (control.end(), outcome) {
        (Ended::Cancelled, _) => Outcome::Cancelled,
        (Ended::ByItself, Ok(())) => Outcome::Completed,
        (Ended::ByItself, Err(error)) => Outcome::Failed(error),
    };
    Ending { events, outcome }
}

/// Why an answer did not come to its end.
#[derive(Clone, Copy)]
enum Interruption {
    ByUser,
    ByFailure(ErrorCode),
}

impl Interruption {
    /// Follows the message that was cut off (Y3.7-3, D-26).
    fn notice(self) -> &'static str {
        match self {
            Self::ByUser => "[此消息因用户取消而中断]",
            Self::ByFailure(_) => BROKE_OFF,
        }
    }

    /// Answers the calls in it.
    fn error(self) -> Error {
        match self {
            Self::ByUser => Error::new(ErrorCode::RequestCancelled, "[cancelled: this call was not started]"),
            Self::ByFailure(code) => Error::new(code, "[not started: the answer with this call broke off]"),
        }
    }
}

impl<'a> Turn<'a> {
    fn new(
        env: &'a TurnEnv,
        history: &'a mut History,
        breaker: &'a mut Breaker,
        control: &'a TurnControl,
        id: TurnId,
        events: &Arc<Publisher>,
        journal: Option<Arc<Mutex<Journal>>>,
    ) -> Self {
        let report = hooks::reporter(events);
        let chain = PluginChain::new(&env.hooks, env.dispatcher.shared_catalog(), &id, &report);
        let dispatcher = match chain {
            Some(chain) => env.dispatcher.clone().with_chain(chain),
            None => env.dispatcher.clone(),
        };
        Self {
            env,
            begin: history.entries().len(),
            history,
            breaker,
            control,
            id,
            events: events.clone(),
            observer: Arc::new(EventObserver::new(events.clone())),
            report,
            dispatcher,
            ahead: journal.clone().map(|journal| Arc::new(WriteAhead::new(journal, events.clone()))),
            journal,
            system: env.system.clone(),
            calls_asked: 0,
            repeats: RepeatDetector::default(),
        }
    }

    async fn run(&mut self, input: TurnInput) -> Result<(), Error> {
        let started = self.start(input).await;
        self.write_down(Durability::Buffered).await;
        started?;
        self.steps().await
    }

    /// Stores what is new in the log, as far as it can be stored (D-71).
    pub(super) async fn write_down(&self, durability: Durability) {
        let Some(journal) = &self.journal else { return };
        let mut journal = journal.lock().await;
        journal.follow(self.history.entries());
        if let Saved::No(error) = journal.save(durability).await {
            self.events.publish(AgentEventKind::Error { error, fatal: false });
        }
    }

    async fn steps(&mut self) -> Result<(), Error> {
        for step in 1_u32.. {
            self.events.publish(AgentEventKind::StepStart { step });
            let answer = self.ask().await;
            let usage = match &answer {
                Ok(Answer::Whole { usage, .. }) => *usage,
                Ok(Answer::Cancelled(_) | Answer::Broken(..) | Answer::Unsupported(_)) | Err(_) => Usage::default(),
            };
            self.events.publish(AgentEventKind::StepEnd { step, usage });
            match answer? {
                Answer::Whole { gathered, usage, stop } => {
                    let calls = gathered.calls();
                    self.record(gathered, AssistantStatus::Complete, usage);
                    self.history.anchor(usage);
                    self.tell_of_stop(stop);
                    if calls.is_empty() {
                        return Ok(());
                    }
                    self.write_down(Durability::Buffered).await;
                    self.run_calls(calls).await?;
                    self.write_down(Durability::Buffered).await;
                    if self.control.is_cancelling() {
                        return Ok(());
                    }
                }
                Answer::Cancelled(gathered) => {
                    self.interrupted(gathered, Interruption::ByUser);
                    return Ok(());
                }
                Answer::Unsupported(error) => return Err(self.withhold_message(error)),
                Answer::Broken(gathered, error) => {
                    self.interrupted(gathered, Interruption::ByFailure(error.code));
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn record(&mut self, gathered: Gathered, status: AssistantStatus, usage: Usage) {
        let Gathered { parts, renamed } = gathered;
        if !parts.is_empty() {
            self.history.push(Entry::Assistant { parts: parts.into(), status, usage, renamed });
        }
    }

    /// Keeps what came of an answer, answers the calls in it, and tells the model of it (D-25, D-26).
    fn interrupted(&mut self, gathered: Gathered, interruption: Interruption) {
        let calls = gathered.calls();
        self.record(gathered, AssistantStatus::Incomplete, Usage::default());
        for call in &calls {
            self.skip(call, interruption.error());
        }
        self.history.push(Entry::System { text: interruption.notice().into() });
    }

    /// The provider cannot take what the user attached: without the message, what comes after it can be sent (D-73).
    fn withhold_message(&mut self, mut error: Error) -> Error {
        self.history.push(Entry::Withheld { reason: error.message.clone() });
        error.message.push_str("; the message is left out of the conversation: send it again without what is refused");
        error
    }

    /// An answer that is whole, but not as long as the model wanted, is worth a word to the user (D-29).
    fn tell_of_stop(&self, stop: StopReason) {
        let message = match stop {
            StopReason::End => return,
            StopReason::MaxTokens => "the model's answer was cut at the most tokens that it may have",
            StopReason::Refused => "the model's provider refused to go on with this answer",
        };
        let error = Error::new(ErrorCode::ProviderError, message);
        self.events.publish(AgentEventKind::Error { error, fatal: false });
    }
}
