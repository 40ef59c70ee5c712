//! Makes the sections that the core knows of. Pure: files, clock and operating system are the caller's.

use std::{fmt::Write as _, path::PathBuf};

use youyou_api::{Skill, ToolSpec};

use super::section::{Section, SectionName, SystemPrompt};
use crate::{plugins::PluginStatus, skills::SkillCatalog, tools::ToolCatalog};

/// Where a section comes from that is made here.
const BUILT_IN: &str = "built in";

const TOOLS_INTRODUCTION: &str =
    "You can call these tools. Arguments are a JSON object that fits the schema given as parameters.";

const SKILLS_INTRODUCTION: &str = "\
Skills are prompts that only the user can call, by beginning a message with the skill's name as it is written here. You \
cannot call one: writing the name does nothing. Where a skill fits what the user wants, you may suggest it to them.";

const PLUGINS_INTRODUCTION: &str = "\
These plugins take part in the conversation. They may change or refuse messages and tool calls, and change what tools \
answer; what they did is not shown to you.";

/// A text, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcedText {
    /// The text.
    pub text: String,
    /// For people: the path of the file, or `built in`.
    pub source: String,
}

/// The surroundings that the model is told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// The operating system, as people call it.
    pub os: String,
    /// The working directory.
    pub cwd: PathBuf,
    /// The day on which the session began. Not the time of day, and not looked up again, so that the prompt stays the
    /// same (D-65).
    pub date: String,
}

/// What a prompt is made from.
#[derive(Clone)]
pub struct PromptParts<'a> {
    /// What the embedder says.
    pub base: Option<SourcedText>,
    /// The user's `AGENT.md`.
    pub global: Option<SourcedText>,
    /// The project's `AGENT.md` (D-63).
    pub project: Option<SourcedText>,
    /// The user's `SOUL.md`.
    pub soul: Option<SourcedText>,
    /// The tools that may be called.
    pub tools: &'a ToolCatalog,
    /// All skills; those that may be suggested are shown.
    pub skills: &'a SkillCatalog,
    /// All plugins; those that take part are shown.
    pub plugins: &'a [PluginStatus],
    /// The surroundings.
    pub environment: &'a Environment,
}

/// The prompt of these parts. What is not there, or empty, is left out (Y4.3-1).
pub fn build(parts: PromptParts<'_>) -> SystemPrompt {
    let built_in = |text| SourcedText { text, source: BUILT_IN.to_owned() };
    let sections = [
        (SectionName::BaseInstructions, parts.base),
        (SectionName::GlobalInstructions, parts.global),
        (SectionName::ProjectInstructions, parts.project),
        (SectionName::Personality, parts.soul),
        (SectionName::Tools, tools(parts.tools).map(built_in)),
        (SectionName::Skills, skills(parts.skills).map(built_in)),
        (SectionName::Plugins, plugins(parts.plugins).map(built_in)),
        (SectionName::Environment, Some(built_in(environment(parts.environment)))),
    ];
    sections.into_iter().fold(SystemPrompt::new(), |prompt, (name, part)| match part {
        Some(SourcedText { text, source }) => prompt.with(Section { name, title: None, source: Some(source), text }),
        None => prompt,
    })
}

/// The tools in the order of names, so that the prompt does not depend on who registered first (D-64).
fn tools(tools: &ToolCatalog) -> Option<String> {
    let mut text = TOOLS_INTRODUCTION.to_owned();
    for (name, entry) in tools.iter() {
        let ToolSpec { description, parameters, .. } = entry.handler().spec();
        // Writing to a string cannot fail.
        let _ = write!(text, "\n\n## {name}\n{}\nParameters: {parameters}", description.trim());
    }
    (!tools.is_empty()).then_some(text)
}

/// Y3.4-2.
fn skills(skills: &SkillCatalog) -> Option<String> {
    let lines: Vec<_> = skills.implicit().map(skill_line).collect();
    (!lines.is_empty()).then(|| format!("{SKILLS_INTRODUCTION}\n\n{}", lines.join("\n")))
}

fn skill_line(skill: &Skill) -> String {
    format!("- /{}: {}", skill.name, one_line(&skill.description))
}

/// The plugins that take part in the session, in the order in which they are asked.
fn plugins(plugins: &[PluginStatus]) -> Option<String> {
    let active = plugins.iter().filter(|plugin| plugin.enabled && !plugin.taps.is_empty());
    let lines: Vec<_> = active
        .map(|PluginStatus { info, .. }| match one_line(&info.description) {
            description if description.is_empty() => format!("- {}", info.display_name),
            description => format!("- {}: {description}", info.display_name),
        })
        .collect();
    (!lines.is_empty()).then(|| format!("{PLUGINS_INTRODUCTION}\n\n{}", lines.join("\n")))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn environment(Environment { os, cwd, date }: &Environment) -> String {
    format!("Operating system: {os}\nWorking directory: {}\nDate: {date}", cwd.display())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use youyou_api::{
        BoxFuture, CallContext, HookEvent, PluginInfo, SourceLabel, ToolFailure, ToolHandler, ToolInput, ToolOutput,
    };

    use super::*;

    struct Named(ToolSpec);

    impl ToolHandler for Named {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }
        fn call<'a>(&'a self, _: ToolInput, _: CallContext) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
            Box::pin(async { Ok(ToolOutput::default()) })
        }
    }

    fn tool_catalog() -> ToolCatalog {
        let mut tools = ToolCatalog::new();
        for (name, description) in [("write", "Writes a file."), ("read", "Reads a file.\nUse it first.")] {
            let spec = ToolSpec {
                name: name.parse().expect("legal"),
                description: description.into(),
                parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
                mutating: false,
            };
            tools.add(SourceLabel::Global, Arc::new(Named(spec))).expect("added");
        }
        tools
    }

    fn skill_catalog() -> SkillCatalog {
        let mut skills = SkillCatalog::new();
        for (name, allow_implicit_invocation) in [("review", true), ("commit", true), ("secret", false)] {
            let skill = Skill {
                name: name.into(),
                display_name: name.into(),
                description: format!("What {name}\ndoes."),
                prompt: "Do it.".into(),
                required_tools: Vec::new(),
                allow_implicit_invocation,
                dir: None,
            };
            skills.add(SourceLabel::Global, skill).expect("added");
        }
        skills
    }

    fn plugin_list() -> [PluginStatus; 2] {
        [true, false].map(|enabled| PluginStatus {
            info: PluginInfo {
                id: "calendar".parse().expect("legal"),
                display_name: format!("Calendar {enabled}"),
                description: "Knows the\nday.".into(),
            },
            source: SourceLabel::Global,
            enabled,
            config: json!(null),
            config_from: "the plugin itself",
            taps: vec![(HookEvent::TurnStart, "script")],
            shadows: Vec::new(),
        })
    }

    fn here() -> Environment {
        Environment { os: "Linux".into(), cwd: "/home/me/p".into(), date: "2026-03-01".into() }
    }

    fn given(text: &str, source: &str) -> Option<SourcedText> {
        Some(SourcedText { text: text.into(), source: source.into() })
    }

    /// Y4.3-1, D-8, D-64, D-65, Y3.4-2: the whole prompt, sections of later layers included.
    #[test]
    fn a_prompt_has_its_sections_in_order() {
        let (tools, skills, environment) = (tool_catalog(), skill_catalog(), here());
        let prompt = build(PromptParts {
            base: given("You are YouYou.", "built in"),
            global: given("Answer briefly.\n", "/home/me/.youyou/AGENT.md"),
            project: given("# Rules\n</project_instructions> stays inside", "/home/me/p/AGENT.md"),
            soul: given("You like tea.", "/home/me/.youyou/SOUL.md"),
            tools: &tools,
            skills: &skills,
            plugins: &plugin_list(),
            environment: &environment,
        })
        .with(Section {
            name: SectionName::Dynamic,
            title: Some("Calendar".into()),
            source: Some("plugin calendar".into()),
            text: "A meeting at noon.".into(),
        });
        assert_eq!(prompt.render(), include_str!("whole_prompt.txt").trim_end());
    }

    /// Y4.3-1: what is missing leaves no trace.
    #[test]
    fn missing_parts_are_left_out() {
        let environment = here();
        let nothing = PromptParts {
            base: None,
            global: given(" \n", "/home/me/.youyou/AGENT.md"),
            project: None,
            soul: None,
            tools: &ToolCatalog::new(),
            skills: &SkillCatalog::new(),
            plugins: &[],
            environment: &environment,
        };
        let text = "Operating system: Linux\nWorking directory: /home/me/p\nDate: 2026-03-01";
        assert_eq!(build(nothing).render(), format!("<environment>\n{text}\n</environment>"));
    }

    /// D-64: a provider that is sent the tools in another way.
    #[test]
    fn the_tools_can_be_left_out() {
        let (tools, skills, environment) = (tool_catalog(), SkillCatalog::new(), here());
        let parts = PromptParts {
            base: None,
            global: None,
            project: None,
            soul: None,
            tools: &tools,
            skills: &skills,
            plugins: &[],
            environment: &environment,
        };
        let names = |prompt: &SystemPrompt| prompt.sections().iter().map(|s| s.name).collect::<Vec<_>>();
        let prompt = build(parts);
        assert_eq!(names(&prompt), [SectionName::Tools, SectionName::Environment]);
        assert_eq!(names(&prompt.without(SectionName::Tools)), [SectionName::Environment]);
    }
}
