//! A tool that is a component: loaded at its first call, with a fresh instance for every call (C-1, Y3.3-4).

use std::time::Duration;

use wasmtime::{
    Store,
    component::{Instance, InstancePre},
};
use youyou_api::{BoxFuture, CallContext, Error, ToolFailure, ToolHandler, ToolInput, ToolOutput, ToolSpec};

use crate::{
    bindings::{exports::youyou::plugin::tool, youyou::plugin::types::GuestError},
    check::Role,
    convert::{input_to_wit, output_from_wit},
    failure,
    file::ComponentFile,
    host::ComponentHost,
    load::mismatch,
    log::Speaker,
    run::{Call, ComponentSpec, Exports, GuestComponent},
    state::GuestState,
};

/// A tool that is a component.
///
/// Making one reads nothing and compiles nothing. The first call, or [`warm_up`](Self::warm_up), loads the component;
/// from then on it stays as it was, whatever happens to its file.
pub struct ComponentTool {
    spec: ToolSpec,
    component: GuestComponent<tool::GuestIndices>,
    label: String,
}

impl ComponentTool {
    /// A tool that runs `component`.
    pub fn new(host: ComponentHost, spec: ToolSpec, component: ComponentSpec) -> Self {
        let speaker = Speaker::Tool(spec.name.as_str().into());
        let label = format!("tool \"{}\"", spec.name);
        Self { spec, component: GuestComponent::new(host, component, speaker), label }
    }

    /// Loads the component ahead of its first call, compiling it if that was never done.
    ///
    /// Dropping the future does not stop it; what was begun is there for the next call.
    ///
    /// # Errors
    /// `TOOL_EXECUTION_ERROR` when the file cannot be used; `details.kind` says why (K-60).
    pub async fn warm_up(&self) -> Result<(), Error> {
        self.component.warm_up(&self.label, Role::Tool).await.map(|_| ())
    }

    async fn run(&self, input: ToolInput, context: &CallContext) -> Result<ToolOutput, Error> {
        let ready = self.component.ready(&self.label, Role::Tool, context).await?;
        let call = ToolCall { export: &ready.exports, input };
        self.component.call_once(ready, &self.label, &call, context).await
    }
}

impl ToolHandler for ComponentTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, input: ToolInput, context: CallContext) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move { self.run(input, &context).await.map_err(ToolFailure::ForModel) })
    }

    fn timeout(&self) -> Option<Duration> {
        self.component.spec().timeout
    }

    fn backend(&self) -> &'static str {
        "component"
    }
}

impl Exports for tool::GuestIndices {
    fn find(pre: &InstancePre<GuestState>, file: &ComponentFile) -> Result<Self, Error> {
        Self::new(pre).map_err(|error| mismatch(file, Role::Tool, &error))
    }
}

/// `youyou:plugin/tool.run`.
struct ToolCall<'a> {
    export: &'a tool::GuestIndices,
    input: ToolInput,
}

impl Call for ToolCall<'_> {
    type Answer = tool::ToolOutput;
    type Output = ToolOutput;

    async fn run(
        &self,
        store: &mut Store<GuestState>,
        instance: &Instance,
    ) -> wasmtime::Result<Result<Self::Answer, GuestError>> {
        let guest = self.export.load(&mut *store, instance)?;
        guest.call_run(store, &input_to_wit(&self.input)).await
    }

    fn read(&self, who: &str, answer: Self::Answer, state: &GuestState) -> Result<ToolOutput, Error> {
        match output_from_wit(answer) {
            Ok(output) if output.is_error => Ok(failure::explained(output, state)),
            Ok(output) => Ok(output),
            Err(error) => Err(failure::bad_metadata(who, &error)),
        }
    }
}
