//! Tools in code: of a closure, and ones that wait for the test.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::sync::Notify;
use youyou::{BoxFuture, CallContext, ToolFailure, ToolHandler, ToolInput, ToolName, ToolOutput, ToolSpec};

use super::PATIENCE;

type Answer = Result<ToolOutput, ToolFailure>;
type Run = dyn Fn(ToolInput, CallContext) -> BoxFuture<'static, Answer> + Send + Sync;

/// A tool in code. It takes any object, and is read-only unless it is made otherwise.
pub struct CodeTool {
    spec: ToolSpec,
    timeout: Option<Duration>,
    run: Box<Run>,
}

impl CodeTool {
    /// A tool that does this.
    ///
    /// # Panics
    /// When a tool cannot have that name.
    #[track_caller]
    pub fn new<A>(name: &str, run: impl Fn(ToolInput, CallContext) -> A + Send + Sync + 'static) -> Self
    where
        A: Future<Output = Answer> + Send + 'static,
    {
        let spec = ToolSpec {
            name: ToolName::new(name).expect("a tool's name"),
            description: format!("Does {name}."),
            parameters: json!({"type": "object"}),
            mutating: false,
        };
        Self { spec, timeout: None, run: Box::new(move |input, context| Box::pin(run(input, context))) }
    }

    /// A tool that answers at once.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    #[track_caller]
    pub fn answering(name: &str, text: &str) -> Self {
        let text = text.to_owned();
        Self::new(name, move |_, _| std::future::ready(Ok(ToolOutput::text(text.clone()))))
    }

    /// The same tool, which may change something.
    #[must_use]
    pub fn mutating(mut self) -> Self {
        self.spec.mutating = true;
        self
    }

    /// The same tool, which takes only what fits this JSON Schema.
    #[must_use]
    pub fn taking(mut self, parameters: serde_json::Value) -> Self {
        self.spec.parameters = parameters;
        self
    }

    /// The same tool with a time limit of its own.
    #[must_use]
    pub fn within(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

impl ToolHandler for CodeTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, input: ToolInput, context: CallContext) -> BoxFuture<'a, Answer> {
        (self.run)(input, context)
    }

    fn timeout(&self) -> Option<Duration> {
        self.timeout
    }
}

/// Holds tools up until the test lets them go.
#[derive(Clone, Default)]
pub struct Gate(Arc<Sides>);

#[derive(Default)]
struct Sides {
    entered: Notify,
    opened: Notify,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// A tool that answers once the gate was opened for it. It takes no notice of being cancelled.
    ///
    /// # Panics
    /// As [`CodeTool::new`].
    #[track_caller]
    pub fn tool(&self, name: &str, text: &str) -> CodeTool {
        let (gate, text) = (self.clone(), text.to_owned());
        CodeTool::new(name, move |_, _| {
            let (gate, text) = (gate.clone(), text.clone());
            async move {
                gate.pass().await;
                Ok(ToolOutput::text(text))
            }
        })
    }

    /// Tells the test that somebody stands here, and waits until it opens the gate.
    pub async fn pass(&self) {
        self.0.entered.notify_one();
        self.0.opened.notified().await;
    }

    /// Tells the test that somebody stands here, who does not wait for it.
    pub fn enter(&self) {
        self.0.entered.notify_one();
    }

    /// Waits until a tool stands before the gate.
    ///
    /// # Panics
    /// When none comes.
    pub async fn entered(&self) {
        tokio::time::timeout(PATIENCE, self.0.entered.notified()).await.expect("a tool comes to the gate");
    }

    /// Lets one tool through.
    pub fn open(&self) {
        self.0.opened.notify_one();
    }
}
