//! The sections of a system prompt, their order, and the text that they become.

use serde::{Serialize, Serializer, ser::SerializeStruct};

use crate::{context::estimate, tagged::tagged};

/// What a section is, in the order in which sections stand in the prompt (Y4.3-1). What changes often comes last, so
/// that providers can reuse what they have read of the beginning (D-8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SectionName {
    /// What the embedder says.
    BaseInstructions,
    /// The user's `AGENT.md`.
    GlobalInstructions,
    /// The project's `AGENT.md`.
    ProjectInstructions,
    /// The user's `SOUL.md`.
    Personality,
    /// Tool definitions.
    Tools,
    /// Skills that the model may suggest.
    Skills,
    /// Active plugins.
    Plugins,
    /// What is remembered from earlier sessions.
    Memories,
    /// Operating system, working directory and date.
    Environment,
    /// What a hook added for this turn.
    Dynamic,
}

impl SectionName {
    /// Every name, in order.
    pub const ALL: [Self; 10] = [
        Self::BaseInstructions,
        Self::GlobalInstructions,
        Self::ProjectInstructions,
        Self::Personality,
        Self::Tools,
        Self::Skills,
        Self::Plugins,
        Self::Memories,
        Self::Environment,
        Self::Dynamic,
    ];

    /// The name as it stands in the prompt and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BaseInstructions => "base_instructions",
            Self::GlobalInstructions => "global_instructions",
            Self::ProjectInstructions => "project_instructions",
            Self::Personality => "personality",
            Self::Tools => "tools",
            Self::Skills => "skills",
            Self::Plugins => "plugins",
            Self::Memories => "memories",
            Self::Environment => "environment",
            Self::Dynamic => "dynamic",
        }
    }
}

/// A piece of the system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// What it is.
    pub name: SectionName,
    /// What it is called, where there may be several of one name.
    pub title: Option<String>,
    /// Where it comes from, for people: a file's path, or `built in`.
    pub source: Option<String>,
    /// What it says.
    pub text: String,
}

impl Section {
    /// The section as it stands in the prompt: its text between tags of its name. The base instructions stand as they
    /// are. The model is told where a text comes from only where that is a file which it may be asked to change.
    pub fn render(&self) -> String {
        let mut attributes = Vec::new();
        attributes.extend(self.title.as_deref().map(|title| ("title", title)));
        match self.name {
            SectionName::BaseInstructions => return self.text.trim().to_owned(),
            SectionName::GlobalInstructions | SectionName::ProjectInstructions | SectionName::Personality => {
                attributes.extend(self.source.as_deref().map(|source| ("source", source)));
            }
            SectionName::Tools
            | SectionName::Skills
            | SectionName::Plugins
            | SectionName::Memories
            | SectionName::Environment
            | SectionName::Dynamic => {}
        }
        tagged(self.name.as_str(), &attributes, self.text.trim())
    }

    /// About how many tokens it takes in the prompt.
    pub fn estimated_tokens(&self) -> u64 {
        estimate::text(&self.render())
    }
}

/// The whole prompt. Sections are in the order of their names; those of one name in the order in which they were added.
///
/// Its JSON is what `youyou prompt show --json` prints: every section as it is sent, with its size. Joined by blank
/// lines, the texts are the prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemPrompt {
    sections: Vec<Section>,
}

impl SystemPrompt {
    /// A prompt that says nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same prompt with one section more, in its place. A section without text is left out.
    #[must_use]
    pub fn with(mut self, section: Section) -> Self {
        if !section.text.trim().is_empty() {
            let place = self.sections.partition_point(|present| present.name <= section.name);
            self.sections.insert(place, section);
        }
        self
    }

    /// The same prompt without the sections of a name; for a provider that is sent the tools in another way (D-64).
    #[must_use]
    pub fn without(mut self, name: SectionName) -> Self {
        self.sections.retain(|section| section.name != name);
        self
    }

    /// The sections, in order.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The prompt as it is sent.
    pub fn render(&self) -> String {
        self.sections.iter().map(Section::render).collect::<Vec<_>>().join("\n\n")
    }
}

impl Serialize for Section {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.render();
        let mut fields = serializer.serialize_struct("Section", 6)?;
        fields.serialize_field("name", &self.name)?;
        fields.serialize_field("title", &self.title)?;
        fields.serialize_field("source", &self.source)?;
        serialize_sizes::<S>(&mut fields, &text)?;
        fields.serialize_field("text", &text)?;
        fields.end()
    }
}

impl Serialize for SystemPrompt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("SystemPrompt", 3)?;
        serialize_sizes::<S>(&mut fields, &self.render())?;
        fields.serialize_field("sections", &self.sections)?;
        fields.end()
    }
}

fn serialize_sizes<S: Serializer>(fields: &mut S::SerializeStruct, text: &str) -> Result<(), S::Error> {
    fields.serialize_field("characters", &text.chars().count())?;
    fields.serialize_field("tokens", &estimate::text(text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn section(name: SectionName, title: Option<&str>, text: &str) -> Section {
        Section { name, title: title.map(str::to_owned), source: Some("built in".into()), text: text.into() }
    }

    #[test]
    fn a_name_is_the_same_in_code_and_in_json() {
        for name in SectionName::ALL {
            assert_eq!(serde_json::to_value(name).expect("json"), name.as_str());
        }
        assert!(SectionName::ALL.is_sorted());
    }

    /// D-8: what hooks add comes last, in their order.
    #[test]
    fn sections_of_one_name_stay_in_the_order_in_which_they_were_added() {
        let prompt = SystemPrompt::new()
            .with(section(SectionName::Dynamic, Some("b"), "1"))
            .with(section(SectionName::Dynamic, Some("a"), "2"))
            .with(section(SectionName::BaseInstructions, None, " Be kind.\n"))
            .with(section(SectionName::Memories, None, " \n"));
        assert_eq!(
            prompt.render(),
            "Be kind.\n\n<dynamic title=\"b\">\n1\n</dynamic>\n\n<dynamic title=\"a\">\n2\n</dynamic>"
        );
    }

    /// What `youyou prompt show --json` prints.
    #[test]
    fn the_json_of_a_prompt_shows_each_section_as_it_is_sent_and_its_size() {
        let prompt = SystemPrompt::new().with(section(SectionName::Dynamic, Some("b"), "你好"));
        let text = "<dynamic title=\"b\">\n你好\n</dynamic>";
        assert_eq!(
            serde_json::to_value(&prompt).expect("json"),
            json!({
                "characters": 33,
                "tokens": 10,
                "sections": [{
                    "name": "dynamic", "title": "b", "source": "built in", "characters": 33, "tokens": 10, "text": text,
                }],
            })
        );
        assert_eq!(prompt.render(), text);
    }

    proptest! {
        /// Y4.3-1: whoever adds what when.
        #[test]
        fn sections_are_always_in_order(added in prop::collection::vec((0_usize..10, "[a-z ]{0,3}"), 0..20)) {
            let mut prompt = SystemPrompt::new();
            for (name, text) in &added {
                prompt = prompt.with(section(SectionName::ALL[*name], None, text));
            }
            prop_assert!(prompt.sections().is_sorted_by_key(|section| section.name));
            let mut expected: Vec<_> = added.iter().filter(|(_, text)| !text.trim().is_empty()).collect();
            expected.sort_by_key(|(name, _)| *name);
            let texts: Vec<_> = prompt.sections().iter().map(|section| &section.text).collect();
            prop_assert_eq!(texts, expected.into_iter().map(|(_, text)| text).collect::<Vec<_>>());
        }
    }
}
