//! The models whose figures are known without being told.

use std::sync::LazyLock;

use serde::Deserialize;
use youyou_api::{Capabilities, ModelId, ModelInfo};

use crate::{
    model::{Model, Reasoning},
    wire::Api,
};

static CATALOGUE: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let catalogue: Catalogue = toml::from_str(include_str!("catalogue.toml")).expect("a test reads the catalogue");
    catalogue.model
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalogue {
    model: Vec<Entry>,
}

/// A model of the catalogue.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Which API serves it.
    api: Api,
    /// What the API calls it.
    id: String,
    /// For people.
    display_name: String,
    /// How much a request and its answer may hold, in tokens.
    context_window: u64,
    /// The most tokens that an answer may have.
    max_output: u32,
    /// How it is asked to think.
    #[serde(default)]
    reasoning: Reasoning,
    /// Whether it can ask for tools.
    #[serde(default = "yes")]
    tool_use: bool,
    /// Whether it sees images.
    #[serde(default = "yes")]
    vision: bool,
}

fn yes() -> bool {
    true
}

/// The models of an API that are known, in the order of the catalogue. [`Api::OpenAiChat`] has none: which server it
/// is, and what runs there, is for the user to say.
pub fn known_models(api: Api) -> Vec<Model> {
    CATALOGUE.iter().filter(|entry| entry.api == api).map(Entry::model).collect()
}

/// The model of this name, if it is known. What OpenAI serves over one of its APIs, it serves over the other.
pub fn known_model(api: Api, name: &str) -> Option<Model> {
    let api = if api == Api::OpenAiChat { Api::OpenAiResponses } else { api };
    CATALOGUE.iter().find(|entry| entry.api == api && entry.id == name).map(Entry::model)
}

impl Entry {
    fn model(&self) -> Model {
        Model {
            info: ModelInfo {
                id: ModelId::new(self.id.clone()),
                display_name: self.display_name.clone(),
                context_window: self.context_window,
                capabilities: Capabilities { tool_use: self.tool_use, vision: self.vision, streaming: true },
            },
            name: self.id.clone(),
            max_output: Some(self.max_output),
            reasoning: self.reasoning,
            return_reasoning: false,
            short_call_ids: false,
            extra_body: serde_json::Map::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_catalogue_can_be_read_and_holds_no_model_twice() {
        let mut ids = HashSet::new();
        for entry in &*CATALOGUE {
            assert!(ids.insert(&entry.id), "{} twice", entry.id);
            assert!(u64::from(entry.max_output) < entry.context_window, "{}", entry.id);
        }
        for api in [Api::OpenAiResponses, Api::Anthropic, Api::Gemini] {
            assert!(known_models(api).len() >= 3, "{}", api.as_str());
        }
        assert_eq!(known_models(Api::OpenAiChat), []);
        assert_eq!(known_model(Api::OpenAiChat, "gpt-4.1"), known_model(Api::OpenAiResponses, "gpt-4.1"));
        assert_eq!(known_model(Api::Anthropic, "gpt-4.1"), None);
    }
}
