//! What an agent tells its host while it works (Y7).

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, ErrorCode},
    hook::HookRun,
    ids::{CallId, SessionId, TurnId},
    provider::Usage,
};

/// One event, in its envelope (Y7-1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentEvent {
    /// The session.
    pub session_id: SessionId,
    /// The turn; none for what happens outside of one (D-30).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// When it happened, in milliseconds since 1970-01-01 UTC.
    pub timestamp: u64,
    /// Counts the events of a session's run from 1, without gaps (D-30).
    pub sequence: u64,
    /// What happened.
    #[serde(flatten)]
    pub kind: AgentEventKind,
}

/// What happened (Y7-2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum AgentEventKind {
    /// More of the assistant's text.
    TextDelta {
        /// The piece.
        text: String,
    },
    /// More of the model's reasoning.
    ReasoningDelta {
        /// The piece.
        text: String,
    },
    /// A tool call begins. Its [`ToolCallEnd`](Self::ToolCallEnd) always follows (Y7-3).
    ToolCallStart {
        /// Joins the two events.
        call_id: CallId,
        /// The name that the model asked for.
        tool_name: String,
        /// The arguments' text as the model wrote it.
        arguments: String,
    },
    /// A tool call has ended.
    ToolCallEnd {
        /// Joins the two events.
        call_id: CallId,
        /// The name that the model asked for.
        tool_name: String,
        /// The text that the model will read (D-18).
        output: String,
        /// How long the tool itself ran, in milliseconds.
        duration_ms: u64,
        /// Whether it succeeded.
        success: bool,
        /// The call was not started, because the turn was cancelled or over its limit (D-24).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        skipped: bool,
    },
    /// The context was made shorter.
    ContextCompacted {
        /// Estimated size before, in tokens.
        tokens_before: u64,
        /// Estimated size after, in tokens.
        tokens_after: u64,
        /// How it was done.
        method: CompactionMethod,
    },
    /// A request to the model begins (L-13).
    StepStart {
        /// Counts the requests of a turn from 1.
        step: u32,
    },
    /// A request to the model has ended; its tool calls, if any, come next.
    StepEnd {
        /// Counts the requests of a turn from 1.
        step: u32,
        /// What the request took.
        usage: Usage,
    },
    /// A request to the model failed and is tried again.
    Retry {
        /// How often it has been tried.
        attempt: u32,
        /// How long the pause is, in milliseconds.
        delay_ms: u64,
        /// Why.
        error: Error,
    },
    /// A plugin's handler was asked: which, what it answered and what that changed.
    HookRan(HookRun),
    /// The turn has ended by itself; the last event of its turn (D-21).
    TurnComplete {
        /// How it ended.
        status: TurnStatus,
        /// Why, when it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error_code: Option<ErrorCode>,
    },
    /// The turn was cancelled; the last event of its turn.
    TurnCancelled,
    /// Something failed. Never the last event of a turn (D-21).
    Error {
        /// What.
        error: Error,
        /// Whether the turn ends of it (D-29).
        fatal: bool,
    },
}

impl AgentEventKind {
    /// Whether this is the last event of its turn.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::TurnComplete { .. } | Self::TurnCancelled)
    }
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TurnStatus {
    /// The model had nothing more to ask for.
    Completed,
    /// It could not go on.
    Failed,
}

/// How the context was made shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CompactionMethod {
    /// A model wrote a summary of what was left out.
    Summary,
    /// The oldest messages were left out (Y4.2-3).
    Truncation,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Y7-1: the document that a front end reads.
    #[test]
    fn an_event_is_one_flat_document() {
        let event = AgentEvent {
            session_id: SessionId::new("s"),
            turn_id: Some(TurnId::new("t")),
            timestamp: 5,
            sequence: 1,
            kind: AgentEventKind::TurnComplete {
                status: TurnStatus::Failed,
                error_code: Some(ErrorCode::MaxToolCallsExceeded),
            },
        };
        let json = serde_json::to_string(&event).expect("json");
        assert_eq!(
            json,
            r#"{"session_id":"s","turn_id":"t","timestamp":5,"sequence":1,"type":"TurnComplete","status":"failed","error_code":"MAX_TOOL_CALLS_EXCEEDED"}"#
        );
        assert_eq!(serde_json::from_str::<AgentEvent>(&json).expect("parses"), event);
    }
}
