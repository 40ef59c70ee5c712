//! What a replay script holds. Reading it from text is next door; its form is described in docs/replay.md.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::Value;
use serde_yaml::with::singleton_map_recursive;
use youyou_api::{
    CallId, Capabilities, ChatEvent, ModelId, ModelInfo, ProviderError, ProviderErrorKind, ProviderId, StopReason,
    ToolCall, Usage,
};

use super::{fill::Fill, when::When};

/// A replay script: the models it stands for and what they say.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// What messages call it; a file's path where it was read from one.
    pub name: String,
    /// The provider's id.
    pub provider: ProviderId,
    /// The models that may be asked; at least one.
    pub models: Vec<ModelInfo>,
    /// In order; see [`Reply`].
    pub replies: Vec<Reply>,
}

impl Script {
    /// A script of these replies, with the provider `replay` and its one model `replay`, which can do everything.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let file = ScriptFile { replies: replies.into_iter().collect(), ..ScriptFile::default() };
        file.into_script("the replay script")
    }
}

/// What is said to one request. A request gets the first reply that is left and whose [`When`] fits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a reply: `when`, `tool_listed`, `repeat`, `template`, `say`")]
pub struct Reply {
    /// Which requests it answers.
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "singleton_map_recursive::deserialize")]
    pub when: When,
    /// A tool that the request must list besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_listed: Option<String>,
    /// Whether it is left in place once it has been said.
    #[serde(default, skip_serializing_if = "is_default")]
    pub repeat: bool,
    /// Whether `{last_user_text}`, `{last_tool_result}` and `{rest}` are filled in, in texts and in arguments.
    #[serde(default, skip_serializing_if = "is_default")]
    pub template: bool,
    /// What is said, in order. Where no step ends the reply, it is [done](Step::Done).
    #[serde(deserialize_with = "steps")]
    pub say: Vec<Step>,
}

impl Reply {
    /// A reply to any request, said once.
    pub fn new(say: impl IntoIterator<Item = Step>) -> Self {
        Self { say: say.into_iter().collect(), ..Self::default() }
    }

    /// The same reply, for such requests only.
    #[must_use]
    pub fn when(self, when: When) -> Self {
        Self { when, ..self }
    }

    /// The same reply, said as often as it fits.
    #[must_use]
    pub fn repeated(self) -> Self {
        Self { repeat: true, ..self }
    }
}

/// One step of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// A piece of text.
    Text(String),
    /// A piece of reasoning.
    Reasoning(String),
    /// What the provider wants back beside the reasoning before it.
    Signature(Value),
    /// A whole tool call.
    Call {
        /// `call-1`, `call-2`, … by its place in the reply, where it is not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<CallId>,
        /// The tool asked for.
        tool_name: String,
        /// A text is sent exactly as it is, so that it may be broken; anything else as its JSON. `{}` if not given.
        #[serde(default = "no_arguments")]
        arguments: Value,
    },
    /// A piece of a tool call (K-21).
    Fragment {
        /// Which call of the reply it belongs to.
        index: u32,
        /// The call's id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
        /// The tool asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_name: Option<String>,
        /// More of the arguments' text.
        #[serde(default, skip_serializing_if = "is_default")]
        arguments: String,
    },
    /// A pause, in milliseconds of tokio's clock.
    DelayMs(u64),
    /// Ends the reply well.
    Done {
        /// Why the model stopped.
        #[serde(default)]
        stop: StopReason,
        /// What the request took.
        #[serde(default, with = "UsageFile")]
        usage: Usage,
    },
    /// Ends the reply with an error.
    Error {
        /// How the runtime is to treat it (D-33).
        kind: ProviderErrorKind,
        /// For people.
        #[serde(default)]
        message: String,
        /// How long the provider asks to wait, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
    },
    /// Ends the stream without a word, as a broken connection may.
    Cut,
}

impl Step {
    /// A piece of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A whole tool call.
    pub fn call(tool_name: impl Into<String>, arguments: impl Into<Value>) -> Self {
        Self::Call { call_id: None, tool_name: tool_name.into(), arguments: arguments.into() }
    }

    /// An error without a wish to wait.
    pub fn error(kind: ProviderErrorKind, message: impl Into<String>) -> Self {
        Self::Error { kind, message: message.into(), retry_after_ms: None }
    }

    /// The end of a reply where its steps name none.
    pub(super) const END: &Self =
        &Self::Done { stop: StopReason::End, usage: Usage { input_tokens: 0, output_tokens: 0 } };

    pub(crate) fn ends(&self) -> bool {
        match self {
            Self::Done { .. } | Self::Error { .. } | Self::Cut => true,
            Self::Text(_)
            | Self::Reasoning(_)
            | Self::Signature(_)
            | Self::Call { .. }
            | Self::Fragment { .. }
            | Self::DelayMs(_) => false,
        }
    }

    /// What a stream yields for it. `number` counts the whole calls of the reply, this one included.
    pub(super) fn play(&self, number: usize, fill: Option<&Fill>) -> Played {
        let text = |text: &String| fill.map_or_else(|| text.clone(), |fill| fill.text(text));
        Played::Item(Ok(match self {
            Self::Text(piece) => ChatEvent::TextDelta { text: text(piece) },
            Self::Reasoning(piece) => ChatEvent::ReasoningDelta { text: text(piece) },
            Self::Signature(signature) => ChatEvent::ReasoningSignature { signature: signature.clone() },
            Self::Call { call_id, tool_name, arguments } => ChatEvent::ToolCall(ToolCall {
                call_id: call_id.clone().unwrap_or_else(|| CallId::new(format!("call-{number}"))),
                tool_name: tool_name.clone(),
                arguments: match (arguments, fill) {
                    (Value::String(raw), _) => text(raw),
                    (value, None) => value.to_string(),
                    (value, Some(fill)) => fill.value(value).to_string(),
                },
            }),
            Self::Fragment { index, call_id, tool_name, arguments } => ChatEvent::ToolCallDelta {
                index: *index,
                call_id: call_id.clone(),
                tool_name: tool_name.clone(),
                arguments: arguments.clone(),
            },
            Self::Done { stop, usage } => ChatEvent::Done { usage: *usage, stop: *stop },
            Self::Error { kind, message, retry_after_ms } => {
                let retry_after = retry_after_ms.map(Duration::from_millis);
                return Played::Item(Err(ProviderError { retry_after, ..ProviderError::new(*kind, message) }));
            }
            Self::DelayMs(pause) => return Played::Pause(Duration::from_millis(*pause)),
            Self::Cut => return Played::Nothing,
        }))
    }

    /// The step that plays this; none for an event that scripts do not know yet.
    pub(crate) fn from_item(item: &Result<ChatEvent, ProviderError>) -> Option<Self> {
        Some(match item {
            Ok(ChatEvent::TextDelta { text }) => Self::Text(text.clone()),
            Ok(ChatEvent::ReasoningDelta { text }) => Self::Reasoning(text.clone()),
            Ok(ChatEvent::ReasoningSignature { signature }) => Self::Signature(signature.clone()),
            Ok(ChatEvent::ToolCallDelta { index, call_id, tool_name, arguments }) => Self::Fragment {
                index: *index,
                call_id: call_id.clone(),
                tool_name: tool_name.clone(),
                arguments: arguments.clone(),
            },
            Ok(ChatEvent::ToolCall(ToolCall { call_id, tool_name, arguments })) => Self::Call {
                call_id: Some(call_id.clone()),
                tool_name: tool_name.clone(),
                arguments: Value::String(arguments.clone()),
            },
            Ok(ChatEvent::Done { usage, stop }) => Self::Done { stop: *stop, usage: *usage },
            Ok(_) => return None,
            Err(error) => Self::Error {
                kind: error.kind,
                message: error.message.clone(),
                retry_after_ms: error.retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
            },
        })
    }
}

/// What a step does to the stream.
#[derive(Debug)]
pub(super) enum Played {
    Item(Result<ChatEvent, ProviderError>),
    Pause(Duration),
    Nothing,
}

/// [`Usage`] as it stands in a script, where unknown keys are refused.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Usage", deny_unknown_fields)]
struct UsageFile {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

/// A whole script as it stands in a file; the head line of a JSONL script has the same keys.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a script: `version`, `provider`, `models`, `replies`")]
pub(crate) struct ScriptFile {
    #[serde(deserialize_with = "version")]
    version: u64,
    provider: ProviderId,
    models: Vec<ModelFile>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) replies: Vec<Reply>,
}

impl Default for ScriptFile {
    fn default() -> Self {
        Self { version: 1, provider: ProviderId::new("replay"), models: Vec::new(), replies: Vec::new() }
    }
}

impl ScriptFile {
    /// The head that declares what a provider declares.
    pub(crate) fn head(provider: &ProviderId, models: &[ModelInfo]) -> Self {
        let models = models.iter().map(ModelFile::from).collect();
        Self { provider: provider.clone(), models, ..Self::default() }
    }

    pub(super) fn into_script(self, name: &str) -> Script {
        let mut models: Vec<_> = self.models.into_iter().map(ModelInfo::from).collect();
        if models.is_empty() {
            models.push(ModelFile::new("replay").into());
        }
        Script { name: name.to_owned(), provider: self.provider, models, replies: self.replies }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelFile {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    display_name: Option<String>,
    #[serde(default = "usual_window")]
    context_window: u64,
    #[serde(default = "all", with = "CapabilitiesFile")]
    capabilities: Capabilities,
}

/// [`Capabilities`] as they stand in a script: a model can do what is not denied.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Capabilities", deny_unknown_fields)]
struct CapabilitiesFile {
    #[serde(default = "yes")]
    tool_use: bool,
    #[serde(default = "yes")]
    vision: bool,
    #[serde(default = "yes")]
    streaming: bool,
}

impl ModelFile {
    fn new(id: &str) -> Self {
        let (context_window, capabilities) = (usual_window(), Capabilities::ALL);
        Self { id: id.to_owned(), display_name: None, context_window, capabilities }
    }
}

impl From<ModelFile> for ModelInfo {
    fn from(ModelFile { id, display_name, context_window, capabilities }: ModelFile) -> Self {
        let display_name = display_name.unwrap_or_else(|| id.clone());
        Self { display_name, id: ModelId::new(id), context_window, capabilities }
    }
}

impl From<&ModelInfo> for ModelFile {
    fn from(info: &ModelInfo) -> Self {
        let ModelInfo { id, display_name, context_window, capabilities } = info.clone();
        Self { id: id.to_string(), display_name: Some(display_name), context_window, capabilities }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}

fn usual_window() -> u64 {
    200_000
}

fn all() -> Capabilities {
    Capabilities::ALL
}

fn yes() -> bool {
    true
}

fn version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    match u64::deserialize(deserializer)? {
        1 => Ok(1),
        other => Err(D::Error::custom(format!("`version` is {other}, and only 1 is known"))),
    }
}

/// The steps of a reply, each a map with one key, in YAML too; nothing follows the step that ends it.
fn steps<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Step>, D::Error> {
    let steps: Vec<Step> = singleton_map_recursive::deserialize(deserializer)?;
    match steps.iter().position(Step::ends) {
        Some(end) if end + 1 < steps.len() => Err(D::Error::custom(format!(
            "step {} ends the reply, so nothing may follow it; start another reply, or move it to the end",
            end + 1
        ))),
        Some(_) | None => Ok(steps),
    }
}
