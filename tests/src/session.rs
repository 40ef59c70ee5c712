//! A runtime and its calls. A call that does not end fails its test.

use std::path::PathBuf;

use serde_json::Value;
use youyou::{CallId, CallScope, Error, Runtime, ToolCall, ToolResult};

use crate::FOR_EVER;

/// A runtime, and the directory that its tools work in.
pub struct Session {
    runtime: Runtime,
    cwd: PathBuf,
}

impl Session {
    /// A session of tools that work in `cwd`.
    pub fn new(runtime: Runtime, cwd: impl Into<PathBuf>) -> Self {
        Self { runtime, cwd: cwd.into() }
    }

    /// The runtime itself.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// A scope in which nothing is cancelled yet.
    pub fn scope(&self) -> CallScope {
        CallScope::new(&self.cwd)
    }

    /// Calls one tool.
    pub async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        self.call_text(tool, &arguments.to_string()).await
    }

    /// Calls one tool with arguments as a model may write them.
    pub async fn call_text(&self, tool: &str, arguments: &str) -> ToolResult {
        self.call_in(&self.scope(), tool, arguments).await
    }

    /// Calls one tool in a scope of the test's own.
    pub async fn call_in(&self, scope: &CallScope, tool: &str, arguments: &str) -> ToolResult {
        let call = self.runtime.dispatcher().dispatch(tool_call("call-1", tool, arguments), scope);
        tokio::time::timeout(FOR_EVER, call).await.expect("the call ends").expect("no failure is fatal")
    }

    /// Calls tools as one response of a model would; the results are checked to be one for each, in order.
    pub async fn batch(&self, calls: &[(&str, Value)]) -> Vec<ToolResult> {
        let id = |index: usize| format!("call-{}", index + 1);
        let asked: Vec<_> = calls
            .iter()
            .enumerate()
            .map(|(index, (tool, arguments))| tool_call(&id(index), tool, &arguments.to_string()))
            .collect();
        let scope = self.scope();
        let batch = self.runtime.dispatcher().dispatch_batch(asked, &scope);
        let batch = tokio::time::timeout(FOR_EVER, batch).await.expect("the batch ends");
        assert_eq!(batch.fatal, None);
        let results = batch.results;
        let ids: Vec<_> = results.iter().map(|result| result.call_id.as_str().to_owned()).collect();
        assert_eq!(ids, (0..calls.len()).map(id).collect::<Vec<_>>());
        results
    }
}

fn tool_call(id: &str, tool: &str, arguments: &str) -> ToolCall {
    ToolCall { call_id: CallId::new(id), tool_name: tool.to_owned(), arguments: arguments.to_owned() }
}

/// The error of a call that failed.
///
/// # Panics
/// When it did not.
#[track_caller]
pub fn error_of(result: &ToolResult) -> &Error {
    let error = result.error.as_ref().unwrap_or_else(|| panic!("expected a failure, found {:?}", result.output));
    assert_eq!(result.output.content, error.message, "the model reads the message");
    assert!(result.output.is_error, "the model is told that it is a failure");
    error
}

/// The text of a call that succeeded.
///
/// # Panics
/// When it did not.
#[track_caller]
pub fn text_of(result: &ToolResult) -> &str {
    assert!(result.success(), "the call failed: {:?} {:?}", result.output, result.error);
    &result.output.content
}
