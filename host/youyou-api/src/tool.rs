//! The documents of a tool call, and the port that every kind of tool answers (Y3.3).
//!
//! A [`ToolCall`] is what the model asked for, still unchecked. The dispatcher turns it into a [`ToolInput`], which a
//! script reads on stdin and a component receives through WIT, and hands that to the tool's [`ToolHandler`].

use std::time::Duration;

pub use futures_core::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    call::CallContext,
    error::Error,
    ids::{CallId, ToolName},
};

/// What a tool tells about itself (Y3.3-1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolSpec {
    /// Unique name.
    pub name: ToolName,
    /// For the model: what the tool does and when to use it.
    pub description: String,
    /// JSON Schema of the arguments; always of type `object`.
    pub parameters: Value,
    /// Whether a call can change anything. A batch with one mutating tool runs one call after another (Y4.1-4).
    #[serde(default)]
    pub mutating: bool,
}

/// A call as the model asked for it; nothing in it is checked yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolCall {
    /// Joins the call to its result.
    pub call_id: CallId,
    /// The name asked for; perhaps of no tool at all, perhaps empty (K-15).
    pub tool_name: String,
    /// The arguments as JSON text, exactly as they came; perhaps cut off (K-23).
    pub arguments: String,
}

/// The document that a tool receives (Y3.3-2): on stdin for a script, through WIT for a component (C-2).
///
/// ```
/// # use youyou_api::{CallId, ToolInput, ToolName};
/// let input = ToolInput {
///     call_id: CallId::new("call-1"),
///     tool_name: ToolName::new("word-count").unwrap(),
///     arguments: serde_json::from_str(r#"{"text":"one two"}"#).unwrap(),
/// };
/// assert_eq!(
///     input.to_json(),
///     r#"{"call_id":"call-1","tool_name":"word-count","arguments":{"text":"one two"}}"#
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolInput {
    /// Joins the call to its result.
    pub call_id: CallId,
    /// The tool that is called; one handler may serve several names.
    pub tool_name: ToolName,
    /// The arguments, which fit the tool's parameters; keys in the order in which the model gave them.
    pub arguments: Map<String, Value>,
}

impl ToolInput {
    /// The document as one line of JSON.
    pub fn to_json(&self) -> String {
        // A map with text keys and finite numbers always serialises.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What a tool answers (Y3.3-2).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolOutput {
    /// Text for the model.
    pub content: String,
    /// Whether the tool reports failure; the model sees the content either way.
    #[serde(default)]
    pub is_error: bool,
    /// Structured facts for the host; the model does not see them. Scripts have none (Y3.3-4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

impl ToolOutput {
    /// A successful answer.
    pub fn text(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// An answer that reports failure to the model.
    pub fn error(content: impl Into<String>) -> Self {
        Self { content: content.into(), is_error: true, metadata: None }
    }

    /// The same answer with metadata.
    #[must_use]
    pub fn with_metadata(mut self, metadata: impl Into<Value>) -> Self {
        self.metadata = Some(metadata.into());
        self
    }
}

/// Why a tool gave no answer of its own. The variant says who should hear of it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ToolFailure {
    /// The model hears of it, as an error result, and may try something else; the turn goes on.
    #[error("{0}")]
    ForModel(Error),
    /// The turn cannot go on.
    #[error("{0}")]
    Fatal(Error),
}

impl ToolFailure {
    /// The error, whoever hears of it.
    pub fn error(&self) -> &Error {
        match self {
            Self::ForModel(error) | Self::Fatal(error) => error,
        }
    }
}

/// `?` on an [`Error`] makes a failure for the model.
impl From<Error> for ToolFailure {
    fn from(error: Error) -> Self {
        Self::ForModel(error)
    }
}

/// A tool as the dispatcher sees it: code in the host, a script or a component (Y3.3).
///
/// ```
/// use youyou_api::{BoxFuture, CallContext, ToolFailure, ToolHandler, ToolInput, ToolName, ToolOutput, ToolSpec};
///
/// struct Shout(ToolSpec);
///
/// impl ToolHandler for Shout {
///     fn spec(&self) -> &ToolSpec {
///         &self.0
///     }
///     fn call<'a>(&'a self, input: ToolInput, _: CallContext) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
///         Box::pin(async move {
///             let text = input.arguments.get("text").and_then(|t| t.as_str()).unwrap_or_default();
///             Ok(ToolOutput::text(text.to_uppercase()))
///         })
///     }
/// }
/// ```
pub trait ToolHandler: Send + Sync {
    /// What the tool tells about itself. It does not change during a session.
    fn spec(&self) -> &ToolSpec;

    /// Runs one call. The arguments fit [`ToolSpec::parameters`].
    ///
    /// The dispatcher gives it until `context.deadline` and a short grace, then drops the future (D-60); a handler that
    /// has something to stop first, a process or an instance, ends by itself at the deadline and when
    /// `context.cancel` fires.
    ///
    /// # Errors
    /// [`ToolFailure::ForModel`] for what the model should read, [`ToolFailure::Fatal`] for what must end the turn.
    fn call<'a>(&'a self, input: ToolInput, context: CallContext) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>>;

    /// How long one call may take; without it the agent's own figure holds (Y4.4-2).
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// How the tool is run, for listings: `code`, `script` or `component`.
    fn backend(&self) -> &'static str {
        "code"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Y3.3-2, C-2: the documents, pinned.
    #[test]
    fn the_documents_of_a_call_have_this_shape() {
        let call = ToolCall { call_id: CallId::new("c"), tool_name: String::new(), arguments: "{".into() };
        assert_eq!(serde_json::to_string(&call).expect("json"), r#"{"call_id":"c","tool_name":"","arguments":"{"}"#);
        assert_eq!(
            serde_json::to_string(&ToolOutput::text("hi")).expect("json"),
            r#"{"content":"hi","is_error":false}"#
        );
        let output: ToolOutput = serde_json::from_str(r#"{"content":"hi","metadata":{"n":1}}"#).expect("parses");
        assert_eq!(output, ToolOutput::text("hi").with_metadata(serde_json::json!({"n": 1})));
    }

    #[test]
    fn arguments_keep_the_order_in_which_the_model_gave_them() {
        let json = r#"{"call_id":"c","tool_name":"t","arguments":{"z":1,"a":{"y":2,"b":3}}}"#;
        let input: ToolInput = serde_json::from_str(json).expect("parses");
        assert_eq!(input.to_json(), json);
    }
}
