//! A model as a provider knows it: what the runtime is told, and what the wire asks for beside it.

use serde_json::{Map, Value};
use youyou_api::{Capabilities, ModelId, ModelInfo};

/// A model that a provider serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// What the runtime is told.
    pub info: ModelInfo,
    /// What the API calls it.
    pub name: String,
    /// The most tokens that an answer may have, if that is known.
    pub max_output: Option<u32>,
    /// How it is asked to think.
    pub reasoning: Reasoning,
    /// Whether the server wants the reasoning of earlier steps back as plain text; for [`Api::OpenAiChat`] only, whose
    /// servers differ in it.
    ///
    /// [`Api::OpenAiChat`]: crate::Api::OpenAiChat
    pub return_reasoning: bool,
    /// Whether the server takes only ids of tool calls that have nine letters and digits; for [`Api::OpenAiChat`] only,
    /// where Mistral's models want it.
    ///
    /// [`Api::OpenAiChat`]: crate::Api::OpenAiChat
    pub short_call_ids: bool,
    /// What the body of a request for it holds at its top; it goes before what the provider's settings and the request
    /// say.
    pub extra_body: Map<String, Value>,
}

/// How a model is asked to think before it answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reasoning {
    /// Not at all; the wish of a request is left out.
    #[default]
    None,
    /// By a word: low, medium, high.
    Effort,
    /// By a number of tokens.
    Budget,
}

impl Reasoning {
    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::None, Self::Effort, Self::Budget].into_iter().find(|reasoning| reasoning.as_str() == name)
    }

    /// Its name in config.yaml.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Effort => "effort",
            Self::Budget => "budget",
        }
    }
}

impl Model {
    /// A model of which nothing is known but its name and its window, in tokens: it can call tools and streams, and
    /// sees no images.
    pub fn unknown(name: impl Into<String>, context_window: u64) -> Self {
        let name = name.into();
        let capabilities = Capabilities { tool_use: true, vision: false, streaming: true };
        let info =
            ModelInfo { id: ModelId::new(name.clone()), display_name: name.clone(), context_window, capabilities };
        Self {
            info,
            name,
            max_output: None,
            reasoning: Reasoning::None,
            return_reasoning: false,
            short_call_ids: false,
            extra_body: Map::new(),
        }
    }
}
