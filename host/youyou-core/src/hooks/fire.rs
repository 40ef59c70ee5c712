//! Asking the handlers of an event, one after another (Y3.6-3, Y3.6-4).

use std::{
    panic::AssertUnwindSafe,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use tracing::Instrument;
use youyou_api::{
    CallContext, CallId, CallStats, Error, ErrorCode, HookEvent, HookHandler, HookOutcome, HookPayload, HookRun,
    OnFailure, PluginId, SessionId,
    call::{CancellationToken, Deadline},
    hook::{HookEventPayload, HookRunOutcome, PAYLOAD_VERSION},
    hook_rules::AbortMeaning,
    plugin::DEFAULT_HOOK_TIMEOUT,
};

use super::{
    fold::{ArgumentsCheck, Folded, fold},
    registry::{HookRegistry, Registered},
};
use crate::bounded::within;

/// Is told of each handler that was asked.
pub type Reporter = Arc<dyn Fn(HookRun) + Send + Sync>;

/// The hooks of one session.
pub struct Hooks {
    registry: HookRegistry,
    session: SessionId,
    cwd: Arc<Path>,
}

/// What surrounds one firing.
pub(crate) struct Asking<'a> {
    /// Stops the handler that is asked, and every one after it at once.
    pub(crate) cancel: CancellationToken,
    /// The call that the event is about.
    pub(crate) call_id: Option<&'a CallId>,
    /// Whether new arguments fit the tool (D-7).
    pub(crate) check: ArgumentsCheck<'a>,
    /// Is told of each handler.
    pub(crate) report: &'a Reporter,
}

/// What came of asking everybody.
#[derive(Debug, Clone, PartialEq)]
pub struct Fired {
    /// The payload, with what the answers changed.
    pub payload: HookEventPayload,
    /// Who stopped it, if anybody did.
    pub aborted: Option<Aborted>,
}

/// A handler's abort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aborted {
    /// Whose handler.
    pub plugin: PluginId,
    /// Why.
    pub reason: String,
}

impl Aborted {
    /// The abort as an error; `what` is what it stopped, as in `refused this call`.
    pub fn into_error(self, what: &str) -> Error {
        let Self { plugin, reason } = self;
        Error::new(ErrorCode::HookAborted, format!("the plugin {:?} {what}: {reason}", plugin.as_str()))
            .with_detail("plugin", plugin.as_str())
            .with_detail("reason", reason)
    }
}

impl Hooks {
    /// The hooks of a session that works in `cwd`.
    pub fn new(registry: HookRegistry, session: SessionId, cwd: Arc<Path>) -> Self {
        Self { registry, session, cwd }
    }

    /// The session that they belong to.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Whether anybody taps the event.
    pub fn is_tapped(&self, event: HookEvent) -> bool {
        self.registry.is_tapped(event)
    }

    /// Makes every handler ready, all at once, so that no event waits for what is only done once.
    pub(crate) async fn prepare(&self) {
        let preparing = self.registry.handlers().map(|handler| AssertUnwindSafe(handler.prepare()).catch_unwind());
        // A handler that panics here is asked all the same.
        futures_util::future::join_all(preparing).await;
    }

    /// Asks every handler of the event. Each sees what those before it changed (Y3.6-3); an abort stops the rest
    /// (Y3.6-4), unless the event cannot be aborted (D-11).
    pub(crate) async fn fire(&self, payload: HookEventPayload, asking: Asking<'_>) -> Fired {
        let event = payload.event();
        let mut document =
            HookPayload { payload_version: PAYLOAD_VERSION, event: payload, plugin_config: serde_json::Value::Null };
        for registered in self.registry.of(event) {
            document.plugin_config.clone_from(&registered.config);
            let started = Instant::now();
            let context = self.context(registered.handler.as_ref(), &asking.cancel);
            let span = tracing::debug_span!("hook", %event, plugin = %registered.plugin);
            let answer = ask(registered, &document, context, &asking.cancel).instrument(span).await;
            let taken = take(registered, event, answer, &mut document.event, asking.check);
            let aborted = taken.report(registered, event, asking.call_id, started.elapsed(), asking.report);
            if let Some(reason) = aborted {
                return Fired {
                    payload: document.event,
                    aborted: Some(Aborted { plugin: registered.plugin.clone(), reason }),
                };
            }
        }
        Fired { payload: document.event, aborted: None }
    }

    fn context(&self, handler: &dyn HookHandler, cancel: &CancellationToken) -> CallContext {
        CallContext {
            cancel: cancel.child_token(),
            deadline: Deadline::after(handler.timeout().unwrap_or(DEFAULT_HOOK_TIMEOUT)),
            session: Some(self.session.clone()),
            cwd: self.cwd.clone(),
            stats: CallStats::off(),
        }
    }
}

/// Asks one handler: bounded in time, and with its panics caught.
async fn ask(
    registered: &Registered,
    document: &HookPayload,
    context: CallContext,
    by_user: &CancellationToken,
) -> Result<HookOutcome, Error> {
    let failed = |message: String, kind: &str| Error::new(ErrorCode::HookFailed, message).with_kind(kind);
    let (cancel, deadline) = (context.cancel.clone(), context.deadline);
    // The handler is entered inside the future, so that a panic on the way in is caught as well.
    let asked = AssertUnwindSafe(async { registered.handler.handle(document, context).await }).catch_unwind();
    match within(asked, &cancel, deadline).await {
        Some(Ok(answer)) => answer,
        Some(Err(panic)) => Err(failed(format!("it panicked: {}", crate::panic::text(&*panic)), "PANIC")),
        None if by_user.is_cancelled() => {
            Err(failed("it was cancelled while it ran, and did not stop".to_owned(), "CANCELLED"))
        }
        None => {
            let ms = deadline.budget().as_millis();
            Err(failed(format!("it was stopped after {ms} ms, its time limit"), "LIMIT_TIME"))
        }
    }
}

/// What an answer came to.
struct Taken {
    outcome: HookRunOutcome,
    folded: Folded,
}

/// Takes an answer: merges its data, and decides what a failure counts as (Y4.6-1, D-14).
fn take(
    registered: &Registered,
    event: HookEvent,
    answer: Result<HookOutcome, Error>,
    payload: &mut HookEventPayload,
    check: ArgumentsCheck<'_>,
) -> Taken {
    let rules = event.rules();
    let warned = |outcome, warning| Taken { outcome, folded: Folded { warnings: vec![warning], ..Folded::default() } };
    match answer {
        Ok(HookOutcome::Continue) => Taken { outcome: HookRunOutcome::Continued, folded: Folded::default() },
        Ok(HookOutcome::ContinueWith(data)) => {
            let folded = fold(payload, data, check);
            let changed = !folded.changes.is_empty();
            let outcome = if changed { HookRunOutcome::Changed } else { HookRunOutcome::Continued };
            Taken { outcome, folded }
        }
        Ok(HookOutcome::Abort { reason }) if rules.abort == AbortMeaning::Ignored => warned(
            HookRunOutcome::Continued,
            format!("its abort is ignored, because {event} cannot be vetoed; it said: {reason}"),
        ),
        Ok(HookOutcome::Abort { reason }) => {
            let reason =
                if reason.trim().is_empty() { format!("aborted by plugin {}", registered.plugin) } else { reason };
            Taken { outcome: HookRunOutcome::Aborted(reason), folded: Folded::default() }
        }
        Ok(other) => warned(HookRunOutcome::Failed, format!("its answer {other:?} is not known to this chain")),
        Err(error) if registered.handler.on_failure() == OnFailure::Abort && rules.may_abort_on_failure => {
            let reason = format!("its handler failed, and it asked for `on_failure: abort`: {}", error.message);
            warned(HookRunOutcome::Aborted(reason), error.message)
        }
        Err(error) => warned(HookRunOutcome::Failed, error.message),
    }
}

impl Taken {
    /// Tells of the run; the reason if it was an abort.
    fn report(
        self,
        registered: &Registered,
        event: HookEvent,
        call_id: Option<&CallId>,
        duration: Duration,
        report: &Reporter,
    ) -> Option<String> {
        let plugin = &registered.plugin;
        for warning in &self.folded.warnings {
            // A folder's handler says whose it is.
            let named = warning.contains(&format!("plugin {:?}", plugin.as_str()));
            if named {
                tracing::warn!("{warning}");
            } else {
                tracing::warn!("plugin {:?}, {event}: {warning}", plugin.as_str());
            }
        }
        let aborted = match &self.outcome {
            HookRunOutcome::Aborted(reason) => Some(reason.clone()),
            HookRunOutcome::Continued | HookRunOutcome::Changed | HookRunOutcome::Failed => None,
        };
        report(HookRun {
            plugin_id: plugin.clone(),
            event,
            call_id: call_id.cloned(),
            backend: registered.handler.backend().to_owned(),
            outcome: self.outcome,
            changes: self.folded.changes,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            warnings: self.folded.warnings,
        });
        aborted
    }
}
