//! What a stored session consists of (Y3.7-1).
//!
//! A session's log is a list of [`SessionRecord`]s. Each has a number, a time and one [`SessionEvent`]; outside of Rust a
//! record is `{"seq": …, "at": …, "type": …, "payload": {…}}`, whatever the store. What a later version adds is kept as it
//! came ([`SessionEvent::Opaque`]), so that an older one can still read, continue and pass on the session.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned, ser::SerializeStruct};
use serde_json::{Map, Value};

use crate::{
    event::CompactionMethod,
    ids::{CallId, ModelId},
    memory::MemoryDraft,
    message::{AssistantPart, Part},
    provider::Usage,
    tool::ToolInput,
};

/// One record of a session's log.
///
/// ```
/// # use youyou_api::{SessionEvent, SessionRecord};
/// let record = SessionRecord { seq: 3, at: 1_700_000_000_000, event: SessionEvent::system("The user cancelled.") };
/// assert_eq!(
///     serde_json::to_string(&record).unwrap(),
///     r#"{"seq":3,"at":1700000000000,"type":"system_message","payload":{"text":"The user cancelled."}}"#
/// );
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRecord {
    /// Its number in the session, from 0. The store gives it; it never changes. Numbers only grow, and one is missing
    /// where a record was damaged.
    pub seq: u64,
    /// When it was made, in milliseconds since 1970-01-01 UTC.
    pub at: u64,
    /// What happened.
    pub event: SessionEvent,
}

/// A record that is to be appended: all but its number.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRecord {
    /// When it was made, in milliseconds since 1970-01-01 UTC.
    pub at: u64,
    /// What happened.
    pub event: SessionEvent,
}

/// What happened in a session (Y3.7-1).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SessionEvent {
    /// What the user sent.
    UserMessage(UserRecord),
    /// What the model said in one step, the calls it asked for included.
    AssistantMessage(AssistantRecord),
    /// A call is about to run, with the arguments that the tool is given, hooks applied.
    ///
    /// What the model asked for stands in the assistant message; this record is written ahead of the call. A call without
    /// a result was interrupted and may have had an effect if there is such a record, and never ran if there is none
    /// (D-71).
    ToolCall(ToolInput),
    /// The one answer to a call.
    ToolResult(ToolResultRecord),
    /// A notice of the runtime, for the model (D-26).
    SystemMessage(SystemRecord),
    /// A fact about the session that is no part of the conversation (D-36).
    Metadata(Metadata),
    /// Something that this version does not understand, as it was stored.
    Opaque(OpaqueRecord),
}

/// What the user sent: attachments read, a skill's prompt in front (D-62, D-72).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UserRecord {
    /// In order.
    pub parts: Arc<[Part]>,
}

/// What the model said in one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AssistantRecord {
    /// Text, reasoning and calls, in the order of the answer.
    pub parts: Arc<[AssistantPart]>,
    /// Whether the model came to its end.
    pub status: MessageStatus,
    /// What the step took.
    #[serde(default)]
    pub usage: Usage,
    /// The calls among the parts whose id the provider had chosen differently.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<RenamedCall>,
}

/// Whether an assistant's message is whole (Y3.7-3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageStatus {
    /// The model came to its end.
    Complete,
    /// It was cut off, by the user or by a failure.
    Incomplete,
}

/// A call that goes by another id than the provider gave it (K-07).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenamedCall {
    /// Ours, unique in the session.
    pub call_id: CallId,
    /// The provider's.
    pub provider_id: String,
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResultRecord {
    /// The call.
    pub call_id: CallId,
    /// The name that was asked for.
    pub tool_name: String,
    /// What the model reads.
    pub content: Arc<str>,
    /// Whether it is a failure.
    pub is_error: bool,
    /// The tool's own facts; not for the model.
    // A stored null is a fact of the tool's too; only a missing field is none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub metadata: Option<Value>,
}

/// A notice of the runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemRecord {
    /// The notice.
    pub text: Arc<str>,
    /// The title, where it is no notice but a section that a hook added to the system prompt of one turn (D-8); no later
    /// request holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
}

/// A fact about the session, by its kind. Kinds that nobody knows are kept.
///
/// ```
/// # use youyou_api::Metadata;
/// assert_eq!(Metadata::title("Trip to Oslo").as_title(), Some("Trip to Oslo"));
/// assert_eq!(Metadata::title("Trip to Oslo").as_model(), None);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// What kind of fact: `title`, `model`, `compaction`, `withheld`, `memories`, or one of the host's own.
    pub kind: String,
    /// The fact.
    #[serde(default)]
    pub data: Map<String, Value>,
}

/// From here on, what came before `first_kept` is left out of requests (D-36).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compaction {
    /// What stands in its place; none when it was only cut off.
    pub summary: Option<String>,
    /// The [number](SessionRecord::seq) of the first record that is still sent. Records before it may have been skipped
    /// as damaged, so it is no position in a list.
    pub first_kept: u64,
    /// What each tool result between `first_kept` and this record may weigh in requests, in bytes (D-35).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_limit: Option<u64>,
    /// Estimated size before, in tokens.
    pub tokens_before: u64,
    /// How it was done.
    pub method: CompactionMethod,
}

/// How far a session was read for memories (Y4.7-2).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// The [number](SessionRecord::seq) of the first record that is still to be read; none from where on nothing of the
    /// session is to be remembered.
    pub next: Option<u64>,
    /// What was found so far and may not be stored yet. A session that goes on stores it first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<MemoryDraft>,
}

/// A record as it was stored, by a version that knows more.
#[derive(Debug, Clone, PartialEq)]
pub struct OpaqueRecord {
    /// Its `type`.
    pub kind: String,
    /// Its `payload`.
    pub payload: Value,
}

impl Metadata {
    const TITLE: &str = "title";
    const MODEL: &str = "model";
    const COMPACTION: &str = "compaction";
    const WITHHELD: &str = "withheld";
    const MEMORIES: &str = "memories";

    /// A fact of a host's own kind.
    pub fn new(kind: impl Into<String>, data: Map<String, Value>) -> Self {
        Self { kind: kind.into(), data }
    }

    /// The session is called so from now on (D-69).
    pub fn title(title: impl Into<String>) -> Self {
        Self::with(Self::TITLE, Self::TITLE, title.into())
    }

    /// The session uses this model from now on (D-70).
    pub fn model(model: &ModelId) -> Self {
        Self::with(Self::MODEL, Self::MODEL, model.as_str().to_owned())
    }

    /// The context was made shorter (D-36).
    pub fn compaction(compaction: &Compaction) -> Self {
        Self::of(Self::COMPACTION, compaction)
    }

    /// The session was read for memories so far.
    pub fn memories(remembered: &Remembered) -> Self {
        Self::of(Self::MEMORIES, remembered)
    }

    /// The user's latest message before this is left out of every request, for this reason (D-11, D-73).
    pub fn withheld(reason: impl Into<String>) -> Self {
        Self::with(Self::WITHHELD, "reason", reason.into())
    }

    /// Why the user's latest message is left out of requests, if that is what it says.
    pub fn as_withheld(&self) -> Option<&str> {
        self.text(Self::WITHHELD, "reason")
    }

    /// The title, if that is what it says.
    pub fn as_title(&self) -> Option<&str> {
        self.text(Self::TITLE, Self::TITLE)
    }

    /// The model, if that is what it says.
    pub fn as_model(&self) -> Option<ModelId> {
        self.text(Self::MODEL, Self::MODEL).map(ModelId::new)
    }

    /// Whether it says that the context was made shorter, readable or not.
    pub fn is_compaction(&self) -> bool {
        self.kind == Self::COMPACTION
    }

    /// The compaction, if that is what it says and this version can read it.
    pub fn as_compaction(&self) -> Option<Compaction> {
        self.is_compaction().then(|| Compaction::deserialize(&Value::Object(self.data.clone())).ok()).flatten()
    }

    /// How far the session was read for memories, if that is what it says and this version can read it.
    pub fn as_memories(&self) -> Option<Remembered> {
        (self.kind == Self::MEMORIES).then(|| Remembered::deserialize(&Value::Object(self.data.clone())).ok()).flatten()
    }

    fn of(kind: &str, fact: &impl Serialize) -> Self {
        // A struct of texts and numbers always becomes an object.
        let data = match serde_json::to_value(fact) {
            Ok(Value::Object(data)) => data,
            Ok(_) | Err(_) => Map::new(),
        };
        Self::new(kind, data)
    }

    fn with(kind: &str, key: &str, text: String) -> Self {
        Self::new(kind, Map::from_iter([(key.to_owned(), Value::String(text))]))
    }

    fn text(&self, kind: &str, key: &str) -> Option<&str> {
        (self.kind == kind).then(|| self.data.get(key).and_then(Value::as_str)).flatten()
    }
}

impl SessionEvent {
    /// What the user sent.
    pub fn user(parts: impl Into<Arc<[Part]>>) -> Self {
        Self::UserMessage(UserRecord { parts: parts.into() })
    }

    /// A notice of the runtime.
    pub fn system(text: impl Into<Arc<str>>) -> Self {
        Self::SystemMessage(SystemRecord { text: text.into(), section: None })
    }

    /// Its `type` as stored: `user_message`, `assistant_message`, `tool_call`, `tool_result`, `system_message`,
    /// `metadata`, or what a later version wrote.
    pub fn kind(&self) -> &str {
        match self {
            Self::UserMessage(_) => "user_message",
            Self::AssistantMessage(_) => "assistant_message",
            Self::ToolCall(_) => "tool_call",
            Self::ToolResult(_) => "tool_result",
            Self::SystemMessage(_) => "system_message",
            Self::Metadata(_) => "metadata",
            Self::Opaque(record) => &record.kind,
        }
    }

    /// Its `payload`, to be serialised beside [`kind`](Self::kind).
    pub fn payload(&self) -> impl Serialize + '_ {
        Payload(self)
    }

    /// Reads an event back from its `type` and the JSON text of its `payload`.
    ///
    /// A type that is not known, and a payload that a known type does not have here, become [`Opaque`](Self::Opaque).
    ///
    /// # Errors
    /// When the payload is not JSON.
    pub fn from_parts(kind: &str, payload: &str) -> Result<Self, serde_json::Error> {
        fn read<T: DeserializeOwned>(payload: &str, wrap: impl FnOnce(T) -> SessionEvent) -> Option<SessionEvent> {
            serde_json::from_str(payload).ok().map(wrap)
        }
        let known = match kind {
            "user_message" => read(payload, Self::UserMessage),
            "assistant_message" => read(payload, Self::AssistantMessage),
            "tool_call" => read(payload, Self::ToolCall),
            "tool_result" => read(payload, Self::ToolResult),
            "system_message" => read(payload, Self::SystemMessage),
            "metadata" => read(payload, Self::Metadata),
            _ => None,
        };
        match known {
            Some(event) => Ok(event),
            None => Ok(Self::Opaque(OpaqueRecord { kind: kind.to_owned(), payload: serde_json::from_str(payload)? })),
        }
    }
}

struct Payload<'a>(&'a SessionEvent);

impl Serialize for Payload<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            SessionEvent::UserMessage(record) => record.serialize(serializer),
            SessionEvent::AssistantMessage(record) => record.serialize(serializer),
            SessionEvent::ToolCall(record) => record.serialize(serializer),
            SessionEvent::ToolResult(record) => record.serialize(serializer),
            SessionEvent::SystemMessage(record) => record.serialize(serializer),
            SessionEvent::Metadata(record) => record.serialize(serializer),
            SessionEvent::Opaque(record) => record.payload.serialize(serializer),
        }
    }
}

impl Serialize for SessionRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut record = serializer.serialize_struct("SessionRecord", 4)?;
        record.serialize_field("seq", &self.seq)?;
        record.serialize_field("at", &self.at)?;
        record.serialize_field("type", self.event.kind())?;
        record.serialize_field("payload", &self.event.payload())?;
        record.end()
    }
}

impl<'de> Deserialize<'de> for SessionRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Stored {
            seq: u64,
            at: u64,
            #[serde(rename = "type")]
            kind: String,
            payload: Value,
        }
        let Stored { seq, at, kind, payload } = Stored::deserialize(deserializer)?;
        let event = SessionEvent::from_parts(&kind, &payload.to_string()).map_err(serde::de::Error::custom)?;
        Ok(Self { seq, at, event })
    }
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        ids::{MemoryId, ToolName},
        memory::Namespace,
        tool::ToolCall,
    };

    fn events() -> Vec<SessionEvent> {
        let compaction = Compaction {
            summary: None,
            first_kept: 7,
            result_limit: Some(4096),
            tokens_before: 90_000,
            method: CompactionMethod::Truncation,
        };
        let call = ToolCall { call_id: CallId::new("call-1"), tool_name: String::new(), arguments: "{\"a".into() };
        vec![
            SessionEvent::user(vec![Part::text("hi\n\u{2028}\"")]),
            SessionEvent::AssistantMessage(AssistantRecord {
                parts: [AssistantPart::Text { text: "let me".into() }, AssistantPart::ToolCall(call)].into(),
                status: MessageStatus::Incomplete,
                usage: Usage { input_tokens: 3, output_tokens: 4 },
                renamed: vec![RenamedCall { call_id: CallId::new("call-1"), provider_id: "same".into() }],
            }),
            SessionEvent::ToolCall(ToolInput {
                call_id: CallId::new("call-1"),
                tool_name: ToolName::new("t").expect("legal"),
                arguments: Map::from_iter([("z".to_owned(), json!(1)), ("a".to_owned(), json!(null))]),
            }),
            SessionEvent::ToolResult(ToolResultRecord {
                call_id: CallId::new("call-1"),
                tool_name: "t".into(),
                content: "done".into(),
                is_error: false,
                metadata: Some(Value::Null),
            }),
            SessionEvent::system("cancelled"),
            SessionEvent::Metadata(Metadata::compaction(&compaction)),
            SessionEvent::Metadata(Metadata::memories(&remembered())),
            SessionEvent::Metadata(Metadata::new("mine", Map::from_iter([("x".to_owned(), json!([1.5]))]))),
            SessionEvent::Opaque(OpaqueRecord { kind: "picture".into(), payload: json!("as it is") }),
        ]
    }

    fn remembered() -> Remembered {
        let draft = MemoryDraft {
            id: MemoryId::new("m-1"),
            namespace: Namespace::global(),
            content: "Uses tabs.".into(),
            source: Some("s-1".into()),
            tags: vec!["style".into()],
        };
        Remembered { next: Some(7), pending: vec![draft] }
    }

    /// Y3.7-1.
    #[test]
    fn every_kind_of_record_survives_its_json() {
        for (seq, event) in (0..).zip(events()) {
            let record = SessionRecord { seq, at: 5, event };
            let json = serde_json::to_string(&record).expect("json");
            assert!(!json.contains('\n'), "{json}");
            assert_eq!(serde_json::from_str::<SessionRecord>(&json).expect(&json), record);
        }
    }

    /// D-36: a compaction is metadata, and reads back.
    #[test]
    fn metadata_says_what_it_was_made_of() {
        let event = &events()[5];
        let SessionEvent::Metadata(metadata) = event else { panic!("metadata: {event:?}") };
        assert_eq!(
            serde_json::to_string(metadata).expect("json"),
            r#"{"kind":"compaction","data":{"summary":null,"first_kept":7,"result_limit":4096,"tokens_before":90000,"method":"truncation"}}"#
        );
        assert_eq!(metadata.as_compaction().map(|compaction| compaction.first_kept), Some(7));
        assert_eq!(metadata.as_title(), None);
        assert_eq!(Metadata::model(&ModelId::new("m")).as_model(), Some(ModelId::new("m")));
        assert_eq!(Metadata::memories(&remembered()).as_memories(), Some(remembered()));
        let none = Metadata::memories(&Remembered::default());
        assert_eq!(serde_json::to_string(&none).expect("json"), r#"{"kind":"memories","data":{"next":null}}"#);
    }

    #[test]
    fn what_a_later_version_wrote_is_kept_as_it_came() {
        for (kind, payload) in [
            ("picture", r#"{"a":[1,{"b":null}]}"#),
            // A known type with a part that is not known here.
            ("user_message", r#"{"parts":[{"type":"hologram","x":1}]}"#),
        ] {
            let event = SessionEvent::from_parts(kind, payload).expect("it is JSON");
            assert!(matches!(&event, SessionEvent::Opaque(_)), "{event:?}");
            assert_eq!(
                (event.kind(), serde_json::to_string(&event.payload()).expect("json").as_str()),
                (kind, payload)
            );
        }
        // One more field changes nothing for a reader that does not know it.
        let more = SessionEvent::from_parts("system_message", r#"{"text":"a","color":"red"}"#).expect("it is JSON");
        assert_eq!(more, SessionEvent::system("a"));
        SessionEvent::from_parts("user_message", "{\"a\":").expect_err("it is cut off");
    }
}
