//! The port to language models (Y3.2).

use std::{pin::Pin, time::Duration};

use futures_core::Stream;
use serde::{Deserialize, Serialize};

use crate::{
    call::CancellationToken,
    error::{Error, ErrorCode},
    ids::{ModelId, ProviderId},
    message::{Message, Part},
    tool::{ToolCall, ToolSpec},
};

/// A stream of what a model says. It ends after [`ChatEvent::Done`] or the first error.
pub type ChatStream = Pin<Box<dyn Stream<Item = Result<ChatEvent, ProviderError>> + Send>>;

/// An adapter that talks to a model API (Y3.2). Only code registers one (Y3.1-3).
pub trait ModelProvider: Send + Sync {
    /// Its unique id.
    fn id(&self) -> &ProviderId;

    /// The models it serves. The list does not change while the agent lives.
    fn models(&self) -> &[ModelInfo];

    /// Whether `part` can be sent to one of its models. Asked before a message is accepted, so that what cannot be sent
    /// never becomes history (Y8-1, D-73); whether the model sees images at all is known from its capabilities.
    ///
    /// # Errors
    /// [`ProviderErrorKind::UnsupportedContent`], with what to do.
    fn accepts(&self, model: &ModelId, part: &Part) -> Result<(), ProviderError> {
        let _ = (model, part);
        Ok(())
    }

    /// Whether the system prompt describes the tools that each request defines as well (D-64).
    fn tools_in_prompt(&self) -> bool {
        true
    }

    /// Starts one request. The stream is lazy: nothing is sent before it is polled.
    ///
    /// When `cancel` fires, or the stream is dropped, the request stops at once (Y3.2-3); what comes after the token
    /// fired is ignored, so a stream may simply end.
    fn chat(&self, request: ChatRequest, cancel: CancellationToken) -> ChatStream;
}

/// What a provider tells about a model (Y3.2-1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelInfo {
    /// Unique over all providers.
    pub id: ModelId,
    /// For people.
    pub display_name: String,
    /// How much a request and its answer may hold, in tokens.
    pub context_window: u64,
    /// What it can do.
    pub capabilities: Capabilities,
}

/// What a model can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Capabilities {
    /// It can ask for tools.
    pub tool_use: bool,
    /// It can look at images.
    pub vision: bool,
    /// Its answers come in pieces.
    pub streaming: bool,
}

impl Capabilities {
    /// Everything.
    pub const ALL: Self = Self { tool_use: true, vision: true, streaming: true };
}

/// One request to a model (Y3.2-2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChatRequest {
    /// The model asked.
    pub model: ModelId,
    /// The system prompt.
    pub system: String,
    /// The conversation, projected: it begins with the user, and every call in it has one result right after its
    /// message.
    pub messages: Vec<Message>,
    /// The tools that may be called.
    pub tools: Vec<ToolSpec>,
    /// How to sample, as far as the caller cares.
    #[serde(flatten)]
    pub sampling: Sampling,
}

/// How a model is to sample; what is not set is the provider's own choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sampling {
    /// 0 for the likeliest answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    /// What the answer may hold, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// How long to think before answering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<ReasoningEffort>,
}

/// How long a model is to think before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReasoningEffort {
    /// As little as possible.
    Low,
    /// Some.
    Medium,
    /// As long as it takes.
    High,
}

/// One piece of a streamed answer (Y3.2-2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChatEvent {
    /// More of the text.
    TextDelta {
        /// The piece.
        text: String,
    },
    /// More of the reasoning.
    ReasoningDelta {
        /// The piece.
        text: String,
    },
    /// What the provider wants back beside the reasoning that came before it, in a later request.
    ReasoningSignature {
        /// As it came.
        signature: serde_json::Value,
    },
    /// More of a tool call; pieces of several calls may interleave (K-21).
    ToolCallDelta {
        /// Which call of this answer it belongs to; calls are taken in the order of this number.
        index: u32,
        /// The provider's id for the call, once known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
        /// The tool's name, once known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_name: Option<String>,
        /// More of the arguments' text.
        #[serde(default)]
        arguments: String,
    },
    /// A whole tool call.
    ToolCall(ToolCall),
    /// The answer is complete.
    Done {
        /// What the request took.
        #[serde(default)]
        usage: Usage,
        /// Why the model stopped.
        #[serde(default)]
        stop: StopReason,
    },
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It had said everything, or waits for its tools.
    #[default]
    End,
    /// The answer had become as long as allowed; a call at its end may be cut off.
    MaxTokens,
    /// The provider refused to go on.
    Refused,
}

/// What a request took, in tokens. Zero where the provider does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage {
    /// Read, cached ones included.
    pub input_tokens: u64,
    /// Written, reasoning included.
    pub output_tokens: u64,
}

/// Why a request failed, as far as the runtime treats kinds differently (D-33).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProviderErrorKind {
    /// The request was longer than the model's window.
    ContextLength,
    /// Too many requests.
    RateLimit,
    /// The provider has no capacity just now.
    Overloaded,
    /// No answer came, or it broke off.
    Network,
    /// The key is missing, wrong or has no right to the model.
    Auth,
    /// The request was refused as it is.
    InvalidRequest,
    /// The model cannot take a kind of content.
    UnsupportedContent,
    /// Anything else.
    Other,
}

impl ProviderErrorKind {
    /// Whether the same request may succeed later.
    pub fn retryable(self) -> bool {
        match self {
            Self::RateLimit | Self::Overloaded | Self::Network => true,
            Self::ContextLength | Self::Auth | Self::InvalidRequest | Self::UnsupportedContent | Self::Other => false,
        }
    }

    /// The kind as it stands in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ContextLength => "context_length",
            Self::RateLimit => "rate_limit",
            Self::Overloaded => "overloaded",
            Self::Network => "network",
            Self::Auth => "auth",
            Self::InvalidRequest => "invalid_request",
            Self::UnsupportedContent => "unsupported_content",
            Self::Other => "other",
        }
    }
}

/// A failed request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[error("{message}")]
pub struct ProviderError {
    /// How the runtime is to treat it.
    pub kind: ProviderErrorKind,
    /// For people; holds no key.
    pub message: String,
    /// How long the provider asks to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "retry_after_ms", with = "millis")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub retry_after: Option<Duration>,
}

impl ProviderError {
    /// A failure without a wish to wait.
    pub fn new(kind: ProviderErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None }
    }
}

/// `PROVIDER_ERROR`, retryable as the kind is (D-33); `details.kind` is the kind.
impl From<ProviderError> for Error {
    fn from(error: ProviderError) -> Self {
        let mut converted = Error::new(ErrorCode::ProviderError, error.message).with_kind(error.kind.as_str());
        converted.retryable = error.kind.retryable();
        converted
    }
}

mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde hands out the field as it is")]
    pub(super) fn serialize<S: Serializer>(value: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(|duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D-33: retryable by kind, not by code.
    #[test]
    fn an_error_is_retryable_as_its_kind_is() {
        for (kind, retryable) in [(ProviderErrorKind::RateLimit, true), (ProviderErrorKind::Auth, false)] {
            let error = Error::from(ProviderError::new(kind, "no"));
            assert_eq!((error.code, error.retryable), (ErrorCode::ProviderError, retryable));
            assert_eq!(error.kind(), Some(kind.as_str()));
            assert_eq!(serde_json::to_value(kind).expect("json"), kind.as_str());
        }
    }

    #[test]
    fn an_error_survives_its_json() {
        let error = ProviderError {
            retry_after: Some(Duration::from_millis(1500)),
            ..ProviderError::new(ProviderErrorKind::Overloaded, "later")
        };
        let json = serde_json::to_string(&error).expect("json");
        assert_eq!(json, r#"{"kind":"overloaded","message":"later","retry_after_ms":1500}"#);
        assert_eq!(serde_json::from_str::<ProviderError>(&json).expect("parses"), error);
    }
}
