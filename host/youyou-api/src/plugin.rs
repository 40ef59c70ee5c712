//! The ports of plugins: who taps which hooks, and how a handler is asked (Y3.5, Y3.6).
//!
//! A plugin in code is a [`Plugin`]; a plugin that is a folder becomes handlers of the same port, so that the hook chain
//! knows no difference.

use std::{fmt, future::Future, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    call::CallContext,
    error::Error,
    hook::{HookEvent, HookOutcome, HookPayload},
    ids::PluginId,
    tool::BoxFuture,
};

/// How long a handler may take when it does not say (D-15): 30 s.
pub const DEFAULT_HOOK_TIMEOUT: Duration = Duration::from_secs(30);

/// What a plugin tells about itself (Y3.5-1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PluginInfo {
    /// Unique.
    pub id: PluginId,
    /// For people.
    pub display_name: String,
    /// What it does; the model reads it among the active plugins (Y4.3-1).
    pub description: String,
}

/// What a handler's failure counts as (D-14).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// As if it had answered that all may go on, with a warning (Y4.6-1).
    #[default]
    Continue,
    /// As an abort. Only where [the event allows it](crate::hook_rules::EventRules::may_abort_on_failure).
    Abort,
}

/// One handler of one event: code, a script or a component.
pub trait HookHandler: Send + Sync {
    /// Handles one event. A handler cannot fire hooks itself.
    ///
    /// The chain gives it until `context.deadline` and a short grace, then drops the future; a handler that has
    /// something to stop first, a process or an instance, ends by itself at the deadline and when `context.cancel`
    /// fires.
    ///
    /// # Errors
    /// `HOOK_FAILED` when there is no usable answer; it counts as [`on_failure`](Self::on_failure) says.
    fn handle<'a>(
        &'a self,
        payload: &'a HookPayload,
        context: CallContext,
    ) -> BoxFuture<'a, Result<HookOutcome, Error>>;

    /// Makes ready what the first event would otherwise wait for, such as compiling a component. Asked as a session
    /// begins, before any event; what fails here fails again, and is told, when the handler is asked.
    fn prepare(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    /// How long it may take; without it [`DEFAULT_HOOK_TIMEOUT`].
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// What its failure counts as.
    fn on_failure(&self) -> OnFailure {
        OnFailure::Continue
    }

    /// How it is run, for listings: `code`, `script` or `component`.
    fn backend(&self) -> &'static str {
        "code"
    }
}

/// A handler made from an async function; see [`hook_fn`].
struct HookFn<F>(F);

impl<F, R> HookHandler for HookFn<F>
where
    F: Fn(HookPayload, CallContext) -> R + Send + Sync,
    R: Future<Output = Result<HookOutcome, Error>> + Send + 'static,
{
    fn handle<'a>(
        &'a self,
        payload: &'a HookPayload,
        context: CallContext,
    ) -> BoxFuture<'a, Result<HookOutcome, Error>> {
        Box::pin((self.0)(payload.clone(), context))
    }
}

/// A handler from an async function.
///
/// ```
/// use youyou_api::{HookEvent, HookOutcome, Taps, plugin::hook_fn};
///
/// let mut taps = Taps::new();
/// taps.tap(HookEvent::TurnStart, hook_fn(|_payload, _context| async { Ok(HookOutcome::Continue) }));
/// ```
pub fn hook_fn<F, R>(function: F) -> Arc<dyn HookHandler>
where
    F: Fn(HookPayload, CallContext) -> R + Send + Sync + 'static,
    R: Future<Output = Result<HookOutcome, Error>> + Send + 'static,
{
    Arc::new(HookFn(function))
}

/// Where [`Plugin::apply`] puts its handlers; there is no other way to tap a hook (Y3.6-5).
#[derive(Default)]
pub struct Taps(Vec<Tap>);

/// One handler, and what it taps.
#[derive(Clone)]
pub struct Tap {
    /// The event.
    pub event: HookEvent,
    /// Handlers of a lower stage come first, whoever they belong to (D-1).
    pub stage: i32,
    /// Who is asked.
    pub handler: Arc<dyn HookHandler>,
}

impl Taps {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Taps an event, at stage 0.
    pub fn tap(&mut self, event: HookEvent, handler: Arc<dyn HookHandler>) {
        self.tap_at(0, event, handler);
    }

    /// Taps an event at a stage of the host's choice: a guard that must see the final data goes to stage 1000 (D-1).
    pub fn tap_at(&mut self, stage: i32, event: HookEvent, handler: Arc<dyn HookHandler>) {
        self.0.push(Tap { event, stage, handler });
    }

    /// The taps, in the order in which they were made.
    pub fn into_taps(self) -> Vec<Tap> {
        self.0
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { event, stage, handler } = self;
        write!(f, "{event}@{stage} by {}", handler.backend())
    }
}

/// A plugin in code (Y3.5-3): registered, initialized at build, applied once, shut down with the agent in reverse order.
pub trait Plugin: Send + Sync {
    /// What it tells about itself. It does not change.
    fn info(&self) -> &PluginInfo;

    /// Its configuration where neither config.yaml nor a folder of its id gives one (Y3.5-2).
    fn default_config(&self) -> Value {
        Value::Null
    }

    /// Makes it ready, with its final configuration. Plugins are initialized one after another, in the order of
    /// registration.
    ///
    /// # Errors
    /// Any; the build then fails with `PLUGIN_INIT_FAILED`, and the plugins initialized so far are shut down.
    fn initialize<'a>(&'a self, config: &'a Value) -> BoxFuture<'a, Result<(), Error>> {
        let _unused = config;
        Box::pin(async { Ok(()) })
    }

    /// Taps the hooks it wants. Asked once, after every plugin is initialized (D-5).
    fn apply(self: Arc<Self>, taps: &mut Taps);

    /// Lets go of what it holds.
    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}
