//! The two events around a tool call (Y4.4-3).

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};
use youyou_api::{
    BoxFuture, Error, HookEvent, ToolInput, ToolOutput, TurnId,
    hook::{AfterToolUse, BeforeToolUse, HookEventPayload},
};

use super::fire::{Aborted, Asking, Fired, Hooks, Reporter};
use crate::tools::{Before, CallChain, CallScope, ToolCatalog};

/// Asks the plugins about the calls of one turn.
pub struct PluginChain {
    hooks: Arc<Hooks>,
    catalog: Arc<ToolCatalog>,
    turn: TurnId,
    report: Reporter,
}

impl PluginChain {
    /// The chain of a turn; none where nobody taps either event.
    pub fn new(hooks: &Arc<Hooks>, catalog: &Arc<ToolCatalog>, turn: &TurnId, report: &Reporter) -> Option<Arc<Self>> {
        let tapped = [HookEvent::BeforeToolUse, HookEvent::AfterToolUse].iter().any(|event| hooks.is_tapped(*event));
        tapped.then(|| {
            Arc::new(Self {
                hooks: hooks.clone(),
                catalog: catalog.clone(),
                turn: turn.clone(),
                report: report.clone(),
            })
        })
    }

    async fn fire(&self, payload: HookEventPayload, input: &ToolInput, scope: &CallScope) -> Fired {
        let check = |arguments: Map<String, Value>| -> Result<Map<String, Value>, Error> {
            self.catalog.resolve(input.tool_name.as_str())?.checker()?.check(arguments)
        };
        let asking =
            Asking { cancel: scope.cancel.clone(), call_id: Some(&input.call_id), check: &check, report: &self.report };
        self.hooks.fire(payload, asking).await
    }
}

impl CallChain for PluginChain {
    fn before<'a>(&'a self, input: &'a ToolInput, scope: &'a CallScope) -> BoxFuture<'a, Before> {
        Box::pin(async move {
            if !self.hooks.is_tapped(HookEvent::BeforeToolUse) {
                return Before::Run(input.arguments.clone());
            }
            let payload = HookEventPayload::BeforeToolUse(BeforeToolUse {
                session_id: self.hooks.session().clone(),
                turn_id: self.turn.clone(),
                tool_name: input.tool_name.clone(),
                arguments: input.arguments.clone(),
            });
            match self.fire(payload, input, scope).await {
                Fired { aborted: Some(aborted), .. } => Before::Refuse(aborted.into_error("refused this call")),
                Fired { payload: HookEventPayload::BeforeToolUse(BeforeToolUse { arguments, .. }), .. } => {
                    Before::Run(arguments)
                }
                // Firing never makes another event of one.
                Fired { .. } => Before::Run(input.arguments.clone()),
            }
        })
    }

    fn after<'a>(
        &'a self,
        input: &'a ToolInput,
        output: ToolOutput,
        duration: Duration,
        scope: &'a CallScope,
    ) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            if !self.hooks.is_tapped(HookEvent::AfterToolUse) {
                return output;
            }
            let ToolOutput { content, is_error, metadata } = output;
            let payload = HookEventPayload::AfterToolUse(AfterToolUse {
                session_id: self.hooks.session().clone(),
                turn_id: self.turn.clone(),
                tool_name: input.tool_name.clone(),
                output: content,
                duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
                success: !is_error,
            });
            let Fired { payload, aborted } = self.fire(payload, input, scope).await;
            match (aborted, payload) {
                (Some(aborted), _) => ToolOutput { metadata, ..withheld(aborted) },
                (None, HookEventPayload::AfterToolUse(AfterToolUse { output, success, .. })) => {
                    ToolOutput { content: output, is_error: !success, metadata }
                }
                // Firing never makes another event of one.
                (None, _) => ToolOutput { content: String::new(), is_error, metadata },
            }
        })
    }
}

/// Stands in the place of a result that a plugin aborted (D-11).
fn withheld(aborted: Aborted) -> ToolOutput {
    let error = aborted.into_error("withheld this result");
    ToolOutput::error(format!("{}. The tool had already run; what it did stays done.", error.message))
}
