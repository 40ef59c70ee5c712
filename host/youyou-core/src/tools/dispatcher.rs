//! One tool call, phase by phase.

use std::{sync::Arc, time::Duration};

use tracing::Instrument;
use youyou_api::{CallId, Error, ErrorCode, ToolCall, ToolFailure, ToolHandler, ToolInput, ToolName, ToolOutput};

use super::{
    arguments,
    catalog::ToolCatalog,
    chain::{Before, CallChain},
    execute::{Executed, execute},
    output::cap,
    scope::CallScope,
};

/// How long a call may take when neither the tool nor the configuration says (Y5.7-1): 120 s.
pub const DEFAULT_TOOL_TIMEOUT: Duration = Duration::from_millis(120_000);

/// Carries tool calls through their phases (Y4.4). Cheap to clone; every clone works on the same catalog.
#[derive(Clone)]
pub struct Dispatcher {
    catalog: Arc<ToolCatalog>,
    timeout: Duration,
    chain: Option<Arc<dyn CallChain>>,
}

/// The one answer to a tool call, whatever became of it (Y4.1-6).
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The call that this answers.
    pub call_id: CallId,
    /// The name that was asked for.
    pub tool_name: String,
    /// What the model reads, and the tool's metadata.
    pub output: ToolOutput,
    /// How long the tool itself ran; zero if it was not started.
    pub duration: Duration,
    /// Why there is no answer of the tool's own; none when the tool answered, even with an error.
    pub error: Option<Error>,
}

impl ToolResult {
    /// Whether the call succeeded.
    pub fn success(&self) -> bool {
        !self.output.is_error
    }

    /// Whether the call was never started, because its scope was stopped first or its turn was over its limit.
    pub fn skipped(&self) -> bool {
        self.error.as_ref().is_some_and(|error| error.kind() == Some(SKIPPED))
    }

    /// The answer to a call that is not started, for the reason that `error` gives (D-24).
    pub fn not_started(call: &ToolCall, error: Error) -> Self {
        Self::failed(call.call_id.clone(), call.tool_name.clone(), error.with_kind(SKIPPED))
    }

    /// The answer to a call that had begun when `error` ended the turn.
    pub(crate) fn broken_off(call_id: CallId, tool_name: String, duration: Duration, error: &Error) -> Self {
        let text = format!("[this call broke off, and what it has done is unknown: {}]", error.message);
        Self { call_id, tool_name, output: ToolOutput::error(text), duration, error: Some(error.clone()) }
    }

    /// The answer to a call that did not run, or broke: the model reads the message.
    fn failed(call_id: CallId, tool_name: String, error: Error) -> Self {
        let output = ToolOutput::error(error.message.clone());
        Self { call_id, tool_name, output, duration: Duration::ZERO, error: Some(error) }
    }
}

/// A call that ends its turn, and the result that it has all the same (Y4.1-6).
pub(super) struct BrokenOff {
    pub(super) result: ToolResult,
    pub(super) fatal: Error,
}

/// `details.kind` of a call that was never started.
const SKIPPED: &str = "SKIPPED";

/// A call that is resolved, checked and allowed to run.
pub(super) struct Ready {
    pub(super) input: ToolInput,
    handler: Arc<dyn ToolHandler>,
}

/// A call that has run, but whose output is not final yet.
pub(super) struct Ran {
    call_id: CallId,
    tool_name: ToolName,
    /// What the tool received, kept only where a chain will be asked about it.
    input: Option<ToolInput>,
    output: ToolOutput,
    duration: Duration,
    error: Option<Error>,
}

impl Dispatcher {
    /// A dispatcher over a catalog, with the default timeout and no chain.
    pub fn new(catalog: Arc<ToolCatalog>) -> Self {
        Self { catalog, timeout: DEFAULT_TOOL_TIMEOUT, chain: None }
    }

    /// Sets how long a call may take when the tool itself does not say (Y4.4-2).
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets who takes part in each call (Y4.4-3).
    #[must_use]
    pub fn with_chain(mut self, chain: Arc<dyn CallChain>) -> Self {
        self.chain = Some(chain);
        self
    }

    /// The tools that it carries calls to.
    pub fn catalog(&self) -> &ToolCatalog {
        &self.catalog
    }

    /// The same, to be shared.
    pub fn shared_catalog(&self) -> &Arc<ToolCatalog> {
        &self.catalog
    }

    /// Carries one call through all its phases.
    ///
    /// Every failure that the model should hear of is in the result. Dropping the future stops the call.
    ///
    /// # Errors
    /// Only what must end the turn: [`ToolFailure::Fatal`] of the handler.
    pub async fn dispatch(&self, call: ToolCall, scope: &CallScope) -> Result<ToolResult, Error> {
        self.carry(call, scope).await.map_err(|broken| broken.fatal)
    }

    /// The same, with a result for a call that must end the turn as well.
    pub(super) async fn carry(&self, call: ToolCall, scope: &CallScope) -> Result<ToolResult, Box<BrokenOff>> {
        scope.tell_started(&call);
        let carried = match self.enter(call, scope).await {
            Ok(ready) => match self.run(ready, scope).await {
                Ok(ran) => Ok(self.after(ran, scope).await),
                Err(broken) => Err(broken),
            },
            Err(result) => Ok(*result),
        };
        scope.tell_ended(carried.as_ref().unwrap_or_else(|broken| &broken.result)).await;
        carried
    }

    /// Everything before the tool runs; or the result of a call that will not.
    pub(super) async fn enter(&self, call: ToolCall, scope: &CallScope) -> Result<Ready, Box<ToolResult>> {
        if scope.stop.is_cancelled() {
            return Err(cancelled(&call));
        }
        if self.chain.is_none() && scope.journal.is_none() {
            return self.prepare(call);
        }
        let asked = call.clone();
        let mut ready = self.prepare(call)?;
        if let Some(chain) = &self.chain {
            ready = self.before(chain.as_ref(), ready, scope).await?;
            // It may have taken its time.
            if scope.stop.is_cancelled() {
                return Err(cancelled(&asked));
            }
        }
        if let Some(journal) = &scope.journal {
            let written = journal.before(&ready.input, ready.handler.spec().mutating).await;
            written.map_err(|error| Box::new(ToolResult::not_started(&asked, error)))?;
        }
        Ok(ready)
    }

    /// Resolves the tool and checks the arguments; or the result of a call that cannot run.
    fn prepare(&self, call: ToolCall) -> Result<Ready, Box<ToolResult>> {
        let ToolCall { call_id, tool_name, arguments } = call;
        let checked = self.catalog.resolve(&tool_name).and_then(|entry| {
            let arguments = arguments::parse(&tool_name, &arguments)?;
            Ok((entry.handler().clone(), entry.checker()?.check(arguments)?))
        });
        match checked {
            Ok((handler, arguments)) => {
                let tool_name = handler.spec().name.clone();
                Ok(Ready { input: ToolInput { call_id, tool_name, arguments }, handler })
            }
            Err(error) => Err(Box::new(ToolResult::failed(call_id, tool_name, error))),
        }
    }

    /// Asks the chain; or the result of a call that it refused.
    async fn before(
        &self,
        chain: &dyn CallChain,
        mut ready: Ready,
        scope: &CallScope,
    ) -> Result<Ready, Box<ToolResult>> {
        let allowed = match chain.before(&ready.input, scope).await {
            Before::Run(arguments) if arguments == ready.input.arguments => return Ok(ready),
            Before::Run(arguments) => self.recheck(&ready, arguments),
            Before::Refuse(error) => Err(error),
        };
        match allowed {
            Ok(arguments) => {
                ready.input.arguments = arguments;
                Ok(ready)
            }
            Err(error) => {
                let ToolInput { call_id, tool_name, .. } = ready.input;
                Err(Box::new(ToolResult::failed(call_id, tool_name.into(), error)))
            }
        }
    }

    fn recheck(
        &self,
        ready: &Ready,
        arguments: serde_json::Map<String, serde_json::Value>,
    ) -> Result<serde_json::Map<String, serde_json::Value>, Error> {
        self.catalog.resolve(ready.input.tool_name.as_str())?.checker()?.check(arguments)
    }

    /// Runs the tool and caps what it answers.
    pub(super) async fn run(&self, ready: Ready, scope: &CallScope) -> Result<Ran, Box<BrokenOff>> {
        let Ready { input, handler } = ready;
        let span = tracing::debug_span!("tool_call", tool = %input.tool_name, call_id = %input.call_id);
        let (call_id, tool_name) = (input.call_id.clone(), input.tool_name.clone());
        let kept = self.chain.is_some().then(|| input.clone());
        let Executed { answer, duration } = execute(&handler, input, self.timeout, scope).instrument(span).await;
        let (output, error) = match answer {
            Ok(output) => (output, None),
            Err(ToolFailure::ForModel(error)) => (ToolOutput::error(error.message.clone()), Some(error)),
            Err(ToolFailure::Fatal(fatal)) => {
                let result = ToolResult::broken_off(call_id, tool_name.into(), duration, &fatal);
                return Err(Box::new(BrokenOff { result, fatal }));
            }
        };
        Ok(Ran { call_id, tool_name, input: kept, output: cap(output), duration, error })
    }

    /// Asks the chain again, and makes the result.
    pub(super) async fn after(&self, ran: Ran, scope: &CallScope) -> ToolResult {
        let Ran { call_id, tool_name, input, mut output, duration, error } = ran;
        if let (Some(chain), Some(input)) = (&self.chain, &input) {
            output = cap(chain.after(input, output, duration, scope).await);
        }
        ToolResult { call_id, tool_name: tool_name.into(), output, duration, error }
    }
}

/// The answer to a call that was still waiting when its scope was stopped (D-24).
fn cancelled(call: &ToolCall) -> Box<ToolResult> {
    let error = Error::new(ErrorCode::RequestCancelled, "[cancelled: this call was not started]");
    Box::new(ToolResult::not_started(call, error))
}
