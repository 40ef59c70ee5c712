//! What a list of tools or skills shows about each (Y9-1).

use std::path::{Path, PathBuf};

use serde::Serialize;
use youyou_api::{Skill, SourceLabel, ToolHandler, ToolName, ToolSpec};
use youyou_files::{Problem, Roots, SkillEntry, ToolDefinition};

/// One tool of one level, as `youyou list tools` and a front end show it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolListing {
    /// What the tool tells about itself.
    #[serde(flatten)]
    pub spec: ToolSpec,
    /// The level that it comes from (Y3.1-1).
    pub source: SourceLabel,
    /// How it is run: `code`, `script` or `component`.
    pub backend: &'static str,
    /// Its folder; none for a tool in code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<PathBuf>,
    /// The level whose tool of the same name is used in place of this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadowed_by: Option<SourceLabel>,
}

impl ToolListing {
    pub(crate) fn of_code(handler: &dyn ToolHandler) -> Self {
        let spec = handler.spec().clone();
        Self { spec, source: SourceLabel::Programmatic, backend: handler.backend(), dir: None, shadowed_by: None }
    }

    pub(crate) fn of_definition(definition: &ToolDefinition) -> Self {
        Self {
            spec: definition.spec.clone(),
            source: definition.source,
            backend: definition.execution.backend.as_str(),
            dir: Some(definition.dir.clone()),
            shadowed_by: None,
        }
    }
}

/// One skill of one level, as `youyou list skills` and a front end show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkillListing {
    /// The skill.
    #[serde(flatten)]
    pub skill: Skill,
    /// The level that it comes from (Y3.1-1).
    pub source: SourceLabel,
    /// The level whose skill of the same name is used in place of this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadowed_by: Option<SourceLabel>,
}

/// Every skill folder of a home and a workspace, shadowed ones included, and everything wrong with them.
pub fn list_skills(home: &Path, workspace: &Path) -> (Vec<SkillListing>, Vec<Problem>) {
    let scan = youyou_files::scan_skills(&Roots { home: home.to_owned(), workspace: workspace.to_owned() });
    let listing = |entry: SkillEntry| SkillListing {
        skill: entry.definition.skill,
        source: entry.definition.source,
        shadowed_by: entry.shadowed_by,
    };
    (scan.skills.into_iter().map(listing).collect(), scan.problems)
}

/// Orders the list by name, highest level first, and marks every tool below the first of its name.
pub(crate) fn shadow(tools: &mut [ToolListing]) {
    tools.sort_by(|a, b| a.spec.name.cmp(&b.spec.name).then(b.source.cmp(&a.source)));
    let mut winner: Option<(ToolName, SourceLabel)> = None;
    for tool in tools {
        tool.shadowed_by = match &winner {
            Some((name, source)) if *name == tool.spec.name => Some(*source),
            Some(_) | None => {
                winner = Some((tool.spec.name.clone(), tool.source));
                None
            }
        };
    }
}
