//! What a hook handler receives and what it may answer (Y3.6).
//!
//! The payload is one document for every kind of handler (C-2): code receives the value, a script its JSON on stdin, a
//! component the same fields through WIT.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{CallId, PluginId, SessionId, ToolName, TurnId};

/// The version of the payload documents (D-16).
pub const PAYLOAD_VERSION: u32 = 1;

/// Common to every payload: which version of the document this is, and the plugin's own configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookPayload {
    /// Always [`PAYLOAD_VERSION`] (D-16).
    pub payload_version: u32,
    /// The event and its fields.
    #[serde(flatten)]
    pub event: HookEventPayload,
    /// The final configuration of the plugin that is asked (Y3.6-2); `null` when it has none.
    pub plugin_config: Value,
}

macro_rules! hook_events {
    ($($(#[$doc:meta])* $event:ident { $($(#[$field_doc:meta])* $field:ident : $ty:ty),+ $(,)? })+) => {
        /// The seven points at which plugins may take part (Y3.6-1).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum HookEvent {
            $($(#[$doc])* $event,)+
        }

        impl HookEvent {
            /// Every event, in the order of a session's life.
            pub const ALL: &'static [HookEvent] = &[$(HookEvent::$event,)+];

            /// The name as it stands in index.md and in payloads.
            pub fn as_str(self) -> &'static str {
                match self { $(HookEvent::$event => stringify!($event),)+ }
            }
        }

        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            pub struct $event { $($(#[$field_doc])* pub $field: $ty,)+ }
        )+

        /// The fields of each event, tagged by `event` (D-16).
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(tag = "event")]
        pub enum HookEventPayload {
            $($(#[$doc])* $event($event),)+
        }

        impl HookEventPayload {
            /// Which event this is.
            pub fn event(&self) -> HookEvent {
                match self { $(Self::$event(_) => HookEvent::$event,)+ }
            }
        }
    };
}

hook_events! {
    /// A new session was created (D-20: not on resume).
    SessionStart {
        /// The session.
        session_id: SessionId,
    }
    /// A session is being closed.
    SessionEnd {
        /// The session.
        session_id: SessionId,
        /// Messages in its history.
        message_count: u64,
    }
    /// A turn begins, before the system prompt is assembled (D-8).
    TurnStart {
        /// The session.
        session_id: SessionId,
        /// The turn.
        turn_id: TurnId,
        /// What the user wrote and attached.
        user_input: UserInput,
        /// What handlers before this one have added to the system prompt of this turn (D-8).
        dynamic_sections: Vec<DynamicSection>,
    }
    /// A turn has ended.
    TurnEnd {
        /// The session.
        session_id: SessionId,
        /// The turn.
        turn_id: TurnId,
        /// What the assistant said last.
        assistant_output: String,
    }
    /// A tool is about to run; its arguments may still change.
    BeforeToolUse {
        /// The session.
        session_id: SessionId,
        /// The turn.
        turn_id: TurnId,
        /// The tool.
        tool_name: ToolName,
        /// Its arguments, which fit its parameters.
        arguments: Map<String, Value>,
    }
    /// A tool has run; its output may still change.
    AfterToolUse {
        /// The session.
        session_id: SessionId,
        /// The turn.
        turn_id: TurnId,
        /// The tool.
        tool_name: ToolName,
        /// The text that the model will read (D-18).
        output: String,
        /// How long the tool ran, without hooks, in milliseconds (D-18).
        duration_ms: u64,
        /// Whether it succeeded.
        success: bool,
    }
    /// The context is about to be compacted.
    BeforeCompact {
        /// The session.
        session_id: SessionId,
        /// Messages in its history.
        message_count: u64,
        /// Estimated size of the context, in tokens.
        estimated_tokens: u64,
        /// What the model that writes the summary will be told.
        compact_prompt: String,
    }
}

impl fmt::Display for HookEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the user wrote, without the bytes of what they attached (D-9).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UserInput {
    /// The text; the only part that a hook may change.
    pub text: String,
    /// Images and files, by name and size.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
}

/// One attached image or file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attachment {
    /// `image` or `file`.
    pub kind: AttachmentKind,
    /// File name, or a generated one.
    pub name: String,
    /// Decoded size in bytes.
    pub size: u64,
}

/// What an attachment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AttachmentKind {
    /// PNG, JPEG, GIF or WebP.
    Image,
    /// Any other file.
    File,
}

/// What a hook adds to the end of the system prompt, for one turn (D-8).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DynamicSection {
    /// What it is about.
    pub title: String,
    /// What it says; at most [`MAX_SECTION_BYTES`](Self::MAX_SECTION_BYTES), then it is cut.
    pub content: String,
}

impl DynamicSection {
    /// The most that one section may hold, in bytes: 32 KiB (D-8).
    pub const MAX_SECTION_BYTES: usize = 32 * 1024;
}

/// What one handler answers (Y3.6-3).
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub enum HookOutcome {
    /// Go on; nothing changes.
    #[default]
    Continue,
    /// Go on with these payload fields replaced, each as a whole (D-6).
    ContinueWith(Map<String, Value>),
    /// Stop the operation; what that means is the event's own matter (D-11).
    Abort {
        /// Why, for the user and the model.
        reason: String,
    },
}

/// What one handler was asked and what came of it: the answer to "which plugin changed my arguments?".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookRun {
    /// Whose handler.
    pub plugin_id: PluginId,
    /// What it was asked about.
    pub event: HookEvent,
    /// The tool call, for events about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
    /// How it is run: `code`, `script` or `component`.
    pub backend: String,
    /// What came of it.
    pub outcome: HookRunOutcome,
    /// What the answer changed, in the order of the payload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangedField>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// What was wrong with the answer, or why there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What came of asking a handler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum HookRunOutcome {
    /// All goes on as it was.
    Continued,
    /// All goes on, with changes.
    Changed,
    /// It aborted, for this reason.
    Aborted(String),
    /// It gave no usable answer; all goes on as if it had not been asked.
    Failed,
}

/// A value that an answer changed. The values may be long or secret, so only their digests are told: the first 16 hex
/// digits of the BLAKE3 hash of each value's JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedField {
    /// The payload field; below an object also the key: `arguments.path`.
    pub field: String,
    /// The digest before; none if it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The digest after; none if it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(event: HookEventPayload) -> HookPayload {
        HookPayload { payload_version: PAYLOAD_VERSION, event, plugin_config: Value::Null }
    }

    /// D-16, Y3.6-1, Y3.6-2: flat, with the event's name and the plugin's configuration.
    #[test]
    fn a_payload_is_one_flat_document() {
        let before = payload(HookEventPayload::BeforeToolUse(BeforeToolUse {
            session_id: SessionId::new("s"),
            turn_id: TurnId::new("t"),
            tool_name: "word-count".parse().expect("legal"),
            arguments: Map::new(),
        }));
        let json = serde_json::to_string(&before).expect("json");
        assert_eq!(
            json,
            r#"{"payload_version":1,"event":"BeforeToolUse","session_id":"s","turn_id":"t","tool_name":"word-count","arguments":{},"plugin_config":null}"#
        );
        assert_eq!(serde_json::from_str::<HookPayload>(&json).expect("parses"), before);
    }

    #[test]
    fn every_event_is_named_as_in_index_md() {
        let names: Vec<_> = HookEvent::ALL.iter().map(|event| event.as_str()).collect();
        assert_eq!(
            names.join(" "),
            "SessionStart SessionEnd TurnStart TurnEnd BeforeToolUse AfterToolUse BeforeCompact"
        );
    }
}
