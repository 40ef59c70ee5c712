//! Plugins in code, made of closures.

use std::{
    future::ready,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Map, Value};
use youyou::{
    BoxFuture, CallContext, Error, HookEvent, HookHandler, HookOutcome, HookPayload, OnFailure, Plugin, PluginInfo,
    Taps, plugin::hook_fn,
};

type Answer = Result<HookOutcome, Error>;

/// A plugin in code.
pub struct CodePlugin {
    info: PluginInfo,
    config: Value,
    taps: Vec<(i32, HookEvent, Arc<dyn HookHandler>)>,
    log: Log,
    init_error: Option<Error>,
}

/// What plugins noted, in order. A clone is the same log.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    /// Notes a line.
    pub fn note(&self, line: impl Into<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line.into());
    }

    /// The lines so far, which are forgotten.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl CodePlugin {
    /// A plugin that taps nothing.
    ///
    /// # Panics
    /// When a plugin cannot have that id.
    #[track_caller]
    pub fn new(id: &str) -> Self {
        let info = PluginInfo {
            id: id.parse().expect("a plugin's id"),
            display_name: id.to_owned(),
            description: format!("Does {id}."),
        };
        Self { info, config: Value::Null, taps: Vec::new(), log: Log::default(), init_error: None }
    }

    /// Its own configuration.
    #[must_use]
    pub fn config(mut self, config: Value) -> Self {
        self.config = config;
        self
    }

    /// Where it notes its life: `init ID CONFIG`, `apply ID`, `shutdown ID`.
    #[must_use]
    pub fn logged(mut self, log: &Log) -> Self {
        self.log = log.clone();
        self
    }

    /// Cannot be initialized.
    #[must_use]
    pub fn failing(mut self, error: Error) -> Self {
        self.init_error = Some(error);
        self
    }

    /// Taps an event.
    #[must_use]
    pub fn on(self, event: HookEvent, answer: impl Fn(HookPayload) -> Answer + Send + Sync + 'static) -> Self {
        self.handler(event, hook_fn(move |payload, _| ready(answer(payload))))
    }

    /// Taps an event with a future.
    #[must_use]
    pub fn on_async<A>(
        self,
        event: HookEvent,
        answer: impl Fn(HookPayload, CallContext) -> A + Send + Sync + 'static,
    ) -> Self
    where
        A: Future<Output = Answer> + Send + 'static,
    {
        self.handler(event, hook_fn(answer))
    }

    /// Taps an event with any handler.
    #[must_use]
    pub fn handler(mut self, event: HookEvent, handler: Arc<dyn HookHandler>) -> Self {
        self.taps.push((0, event, handler));
        self
    }

    /// Moves the last tap to a stage.
    #[must_use]
    pub fn at_stage(mut self, stage: i32) -> Self {
        if let Some(tap) = self.taps.last_mut() {
            tap.0 = stage;
        }
        self
    }

    /// Taps every event, notes each payload as JSON, and changes nothing.
    #[must_use]
    pub fn noting(self, log: &Log) -> Self {
        HookEvent::ALL.iter().fold(self, |plugin, event| {
            let log = log.clone();
            plugin.on(*event, move |payload| {
                log.note(serde_json::to_string(&payload).expect("JSON"));
                Ok(HookOutcome::Continue)
            })
        })
    }
}

impl Plugin for CodePlugin {
    fn info(&self) -> &PluginInfo {
        &self.info
    }

    fn default_config(&self) -> Value {
        self.config.clone()
    }

    fn initialize<'a>(&'a self, config: &'a Value) -> BoxFuture<'a, Result<(), Error>> {
        self.log.note(format!("init {} {config}", self.info.id));
        Box::pin(ready(self.init_error.clone().map_or(Ok(()), Err)))
    }

    fn apply(self: Arc<Self>, taps: &mut Taps) {
        self.log.note(format!("apply {}", self.info.id));
        for (stage, event, handler) in &self.taps {
            taps.tap_at(*stage, *event, handler.clone());
        }
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        self.log.note(format!("shutdown {}", self.info.id));
        Box::pin(ready(()))
    }
}

/// An answer that changes these fields.
///
/// # Panics
/// When the value is no object.
#[track_caller]
pub fn with(data: Value) -> Answer {
    let Value::Object(data) = data else { panic!("data is an object") };
    Ok(HookOutcome::ContinueWith(data))
}

/// An answer that changes nothing, with data.
pub fn with_nothing() -> Answer {
    Ok(HookOutcome::ContinueWith(Map::new()))
}

/// An answer that aborts.
pub fn abort(reason: &str) -> Answer {
    Ok(HookOutcome::Abort { reason: reason.to_owned() })
}

/// The same handler, with settings that a folder would give it.
pub struct Settings {
    /// Who answers.
    pub handler: Arc<dyn HookHandler>,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// What its failure counts as.
    pub on_failure: OnFailure,
}

impl HookHandler for Settings {
    fn handle<'a>(&'a self, payload: &'a HookPayload, context: CallContext) -> BoxFuture<'a, Answer> {
        self.handler.handle(payload, context)
    }

    fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    fn on_failure(&self) -> OnFailure {
        self.on_failure
    }
}
