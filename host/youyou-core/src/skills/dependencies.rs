//! Skills whose tools are missing (Y6.1-1, D-46).

use std::{collections::BTreeMap, fmt::Write as _, path::PathBuf};

use serde_json::json;
use youyou_api::{Error, ErrorCode, SourceLabel};

use super::SkillCatalog;
use crate::tools::ToolCatalog;

/// A tool that a skill needs and that is not there.
#[derive(Debug, Clone, PartialEq)]
pub struct MissingTool {
    /// The skill.
    pub skill: String,
    /// The level that the skill comes from.
    pub source: SourceLabel,
    /// The file that asks for the tool; none for a skill in code.
    pub file: Option<PathBuf>,
    /// The tool.
    pub tool: String,
    /// Why it is missing, as whoever calls it would be told.
    pub why: Error,
}

impl SkillCatalog {
    /// Every tool that a skill needs and that is not there, in the order of skills (Y4.5-1).
    pub fn check_dependencies(&self, tools: &ToolCatalog) -> Vec<MissingTool> {
        let mut missing: Vec<MissingTool> = Vec::new();
        for (skill, source) in self.iter() {
            for (place, tool) in skill.required_tools.iter().enumerate() {
                let Err(why) = tools.resolve(tool) else { continue };
                if skill.required_tools[..place].contains(tool) {
                    continue;
                }
                let file = skill.dir.as_ref().map(|dir| dir.join("index.md"));
                missing.push(MissingTool { skill: skill.name.clone(), source, file, tool: tool.clone(), why });
            }
        }
        missing
    }

    /// Takes out the skills whose tools are missing, so that an agent can be built without them (D-46, lenient);
    /// whoever calls one is told why.
    pub fn skip_unmet(&mut self, missing: &[MissingTool]) {
        for (skill, of_skill) in by_skill(missing) {
            self.skip(skill, dependency_error(&of_skill));
        }
    }
}

fn by_skill(missing: &[MissingTool]) -> BTreeMap<&str, Vec<MissingTool>> {
    let mut skills: BTreeMap<&str, Vec<MissingTool>> = BTreeMap::new();
    for tool in missing {
        skills.entry(&tool.skill).or_default().push(tool.clone());
    }
    skills
}

/// `SKILL_DEPENDENCY_NOT_MET`: every skill with a missing tool, where it asks for the tool, and why that is not there
/// (K-45). `details.missing` lists the same.
pub fn dependency_error(missing: &[MissingTool]) -> Error {
    let skills = by_skill(missing).len();
    let mut message = match skills {
        1 => "a skill needs tools that are not there".to_owned(),
        _ => format!("{skills} skills need tools that are not there"),
    };
    for MissingTool { skill, source, file, tool, why } in missing {
        let place = file.as_ref().map_or_else(String::new, |file| format!(" ({})", file.display()));
        // Writing to a string cannot fail.
        let _ = write!(message, "\n- {source} skill {skill:?}{place} needs {tool:?}: {}", why.message);
    }
    message.push_str("\nRepair or add the tools, or take them out of the skills' required_tools.");
    let details: Vec<_> = missing
        .iter()
        .map(|MissingTool { skill, source, file, tool, why }| {
            json!({ "skill": skill, "source": source, "file": file, "tool": tool, "why": why })
        })
        .collect();
    Error::new(ErrorCode::SkillDependencyNotMet, message).with_detail("missing", details)
}

#[cfg(test)]
mod tests {
    use youyou_api::Skill;

    use super::{super::catalog::tests::skill, *};

    fn catalogs() -> (SkillCatalog, ToolCatalog) {
        let needing = |name: &str, tools: &[&str], dir: Option<&str>| Skill {
            required_tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            dir: dir.map(PathBuf::from),
            ..skill(name, "")
        };
        let mut skills = SkillCatalog::new();
        skills.add(SourceLabel::Programmatic, needing("plain", &[], None)).expect("added");
        skills
            .add(SourceLabel::Project, needing("deploy", &["kube", "kube", "no tool"], Some("/p/deploy")))
            .expect("added");
        skills.add(SourceLabel::Programmatic, needing("count", &["kube"], None)).expect("added");
        let mut tools = ToolCatalog::new();
        let why = "/p/tools/kube was skipped because of index.md:3:1: no version";
        tools.add_skipped("kube", Error::new(ErrorCode::DefinitionInvalid, why));
        (skills, tools)
    }

    /// K-45, D-46: every such skill, its file, and why the tool is missing.
    #[test]
    fn every_skill_with_a_missing_tool_is_listed_with_the_reason() {
        let (skills, tools) = catalogs();
        let error = dependency_error(&skills.check_dependencies(&tools));
        assert_eq!(error.code, ErrorCode::SkillDependencyNotMet);
        assert_eq!(
            error.message,
            "2 skills need tools that are not there\
             \n- programmatic skill \"count\" needs \"kube\": /p/tools/kube was skipped because of index.md:3:1: no version\
             \n- project skill \"deploy\" (/p/deploy/index.md) needs \"kube\": /p/tools/kube was skipped because of \
             index.md:3:1: no version\
             \n- project skill \"deploy\" (/p/deploy/index.md) needs \"no tool\": no tool is named \"no tool\"; \
             no tool is registered\
             \nRepair or add the tools, or take them out of the skills' required_tools."
        );
        assert_eq!(error.details["missing"][1]["file"], "/p/deploy/index.md");
        assert_eq!(error.details["missing"][2]["why"]["code"], "TOOL_NOT_FOUND");
    }

    /// D-46: lenient.
    #[test]
    fn skills_with_missing_tools_can_be_left_out() {
        let (mut skills, tools) = catalogs();
        skills.skip_unmet(&skills.check_dependencies(&tools));
        assert_eq!(skills.iter().map(|(skill, _)| skill.name.as_str()).collect::<Vec<_>>(), ["plain"]);
        assert_eq!(skills.check_dependencies(&tools), []);
        let error = skills.resolve("count").expect_err("left out");
        assert_eq!(error.code, ErrorCode::SkillNotFound);
        assert!(error.message.contains("no version"), "{error}");
    }
}
