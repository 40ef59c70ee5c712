//! What the handlers of each event receive. As JSON they are the documents, byte for byte, that a script reads.

use serde::{Deserialize, Serialize, de::DeserializeOwned, ser::SerializeStruct};
use serde_json::{Map, Value};

use super::HookError;

/// An event that a plugin can handle; its type is the payload. The seven of this module and no others.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no event",
    label = "not a payload",
    note = "a handler takes one of `SessionStart`, `SessionEnd`, `TurnStart`, `TurnEnd`, `BeforeToolUse`, \
            `AfterToolUse` and `BeforeCompact` of `youyou_guest::plugin`"
)]
pub trait Event: Serialize + DeserializeOwned + sealed::Sealed {
    /// The name, as in index.md.
    const NAME: &'static str;
}

/// An event whose operation a handler can stop.
#[diagnostic::on_unimplemented(
    message = "an abort of {Self} would be ignored",
    note = "a session or a turn that ends cannot be stopped from ending: answer `HookOutcome::proceed()`"
)]
pub trait MayAbort: Event {}

/// An event whose payload a handler can change.
#[diagnostic::on_unimplemented(
    message = "nothing of {Self} can be changed",
    note = "answer `HookOutcome::proceed()`, or return nothing"
)]
pub trait MayChange: Event {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! payloads {
    ($($(#[$doc:meta])* $event:ident { $($(#[$field_doc:meta])* $field:ident : $ty:ty),+ $(,)? })+) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Default, PartialEq, Deserialize)]
            pub struct $event {
                $($(#[$field_doc])* pub $field: $ty,)+
                /// The plugin's final configuration; `null` when it has none. [`config`](Self::config) reads it.
                pub plugin_config: Value,
            }

            impl sealed::Sealed for $event {}

            impl Event for $event {
                const NAME: &'static str = stringify!($event);
            }

            impl $event {
                /// The plugin's configuration as a type of its own. None at all counts as `{}`, so that a type whose
                /// fields all have defaults can always be read.
                ///
                /// # Errors
                /// `INVALID_CONFIG` when it does not fit the type; the message names the field.
                pub fn config<T: DeserializeOwned>(&self) -> Result<T, HookError> {
                    read_config(&self.plugin_config)
                }

                /// The document as one line of JSON, as a script would read it on stdin.
                pub fn to_json(&self) -> String {
                    // Texts, numbers and values always serialise.
                    serde_json::to_string(self).unwrap_or_default()
                }
            }

            /// The whole document: the version and the event's name come first.
            impl Serialize for $event {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    let fields = 3 + [$(stringify!($field)),+].len();
                    let mut document = serializer.serialize_struct(Self::NAME, fields)?;
                    document.serialize_field("payload_version", &1)?;
                    document.serialize_field("event", Self::NAME)?;
                    $(document.serialize_field(stringify!($field), &self.$field)?;)+
                    document.serialize_field("plugin_config", &self.plugin_config)?;
                    document.end()
                }
            }
        )+
    };
}

payloads! {
    /// A new session was created. An abort undoes that.
    SessionStart {
        /// The session.
        session_id: String,
    }
    /// A session is being closed.
    SessionEnd {
        /// The session.
        session_id: String,
        /// Messages in its history.
        message_count: u64,
    }
    /// A turn begins, before the system prompt is assembled. An abort fails the turn.
    TurnStart {
        /// The session.
        session_id: String,
        /// The turn.
        turn_id: String,
        /// What the user wrote and attached.
        user_input: UserInput,
        /// What handlers before this one have added to the system prompt of this turn.
        dynamic_sections: Vec<Section>,
    }
    /// A turn has ended.
    TurnEnd {
        /// The session.
        session_id: String,
        /// The turn.
        turn_id: String,
        /// What the assistant said last.
        assistant_output: String,
    }
    /// A tool is about to run. An abort refuses the call, and the model reads the reason.
    BeforeToolUse {
        /// The session.
        session_id: String,
        /// The turn.
        turn_id: String,
        /// The tool.
        tool_name: String,
        /// Its arguments, which fit its parameters.
        arguments: Map<String, Value>,
    }
    /// A tool has run. After an abort the model reads the reason in place of the output.
    AfterToolUse {
        /// The session.
        session_id: String,
        /// The turn.
        turn_id: String,
        /// The tool.
        tool_name: String,
        /// The text that the model will read.
        output: String,
        /// How long the tool ran, without hooks, in milliseconds.
        duration_ms: u64,
        /// Whether it succeeded.
        success: bool,
    }
    /// The context is about to be compacted. An abort leaves it as it is.
    BeforeCompact {
        /// The session.
        session_id: String,
        /// Messages in its history.
        message_count: u64,
        /// Estimated size of the context, in tokens.
        estimated_tokens: u64,
        /// What the model that writes the summary will be told.
        compact_prompt: String,
    }
}

impl MayAbort for SessionStart {}
impl MayAbort for TurnStart {}
impl MayAbort for BeforeToolUse {}
impl MayAbort for AfterToolUse {}
impl MayAbort for BeforeCompact {}

impl MayChange for TurnStart {}
impl MayChange for BeforeToolUse {}
impl MayChange for AfterToolUse {}
impl MayChange for BeforeCompact {}

/// What the user wrote, without the bytes of what they attached.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserInput {
    /// The text.
    pub text: String,
    /// Images and files, by name and size.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
}

/// One attached image or file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// `image` or `file`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
}

/// A part of the system prompt, for one turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// What it is about.
    pub title: String,
    /// What it says.
    pub content: String,
}

fn read_config<T: DeserializeOwned>(config: &Value) -> Result<T, HookError> {
    let empty = Value::Object(Map::new());
    let config = if config.is_null() { &empty } else { config };
    serde_path_to_error::deserialize(config).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { "it".to_owned() } else { format!("`{path}`") };
        let message =
            format!("the plugin's configuration cannot be used: {place} does not fit: {}", error.into_inner());
        HookError::new("INVALID_CONFIG", message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    /// C-2, D-16: a golden document, as the host writes it, is what this type writes; for each of the seven.
    fn assert_document<E: Event>(golden: &str) {
        let golden = golden.trim_end();
        let host: youyou_api::HookPayload = serde_json::from_str(golden).expect("the host reads it");
        assert_eq!(host.event.event().as_str(), E::NAME);
        assert_eq!(serde_json::to_string(&host).expect("json"), golden, "the host");
        let guest: E = serde_json::from_str(golden).expect("the guest reads it");
        assert_eq!(serde_json::to_string(&guest).expect("json"), golden, "the guest");
    }

    #[test]
    fn every_payload_is_the_hosts_document_byte_for_byte() {
        assert_document::<SessionStart>(include_str!("../../../../tests/golden/SessionStart.payload.json"));
        assert_document::<SessionEnd>(include_str!("../../../../tests/golden/SessionEnd.payload.json"));
        assert_document::<TurnStart>(include_str!("../../../../tests/golden/TurnStart.payload.json"));
        assert_document::<TurnEnd>(include_str!("../../../../tests/golden/TurnEnd.payload.json"));
        assert_document::<BeforeToolUse>(include_str!("../../../../tests/golden/BeforeToolUse.payload.json"));
        assert_document::<AfterToolUse>(include_str!("../../../../tests/golden/AfterToolUse.payload.json"));
        assert_document::<BeforeCompact>(include_str!("../../../../tests/golden/BeforeCompact.payload.json"));
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Config {
        #[serde(default)]
        keys: Vec<String>,
    }

    fn read(plugin_config: Value) -> Result<Config, HookError> {
        SessionStart { plugin_config, ..SessionStart::default() }.config()
    }

    #[test]
    fn a_configuration_is_read_and_what_does_not_fit_is_named() {
        assert_eq!(read(json!({"keys": ["a"]})).expect("fits").keys, ["a"]);
        assert_eq!(read(Value::Null).expect("none at all"), Config { keys: vec![] });
        let error = read(json!({"keys": ["a", 5]})).expect_err("a number");
        assert_eq!(error.code(), Some("INVALID_CONFIG"));
        assert!(error.message().contains("`keys[1]` does not fit: invalid type: integer `5`"), "{error}");
    }
}
