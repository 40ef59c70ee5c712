//! What a list of tools or skills shows about each (Y9-1).

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Serialize;
use youyou_api::{Skill, SourceLabel, ToolHandler, ToolName, ToolSpec};
use youyou_files::{Problem, Roots, SkillEntry};

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

/// A tool of one level, from which its listing is made when somebody asks: few who open a runtime do.
pub(crate) struct Registered {
    pub(crate) handler: Arc<dyn ToolHandler>,
    pub(crate) source: SourceLabel,
    /// Its folder; none for a tool in code.
    pub(crate) dir: Option<PathBuf>,
}

/// The listings of all tools, by name and then highest level first.
pub(crate) fn list(tools: &[Registered]) -> Vec<ToolListing> {
    let listing = |tool: &Registered| ToolListing {
        spec: tool.handler.spec().clone(),
        source: tool.source,
        backend: tool.handler.backend(),
        dir: tool.dir.clone(),
        shadowed_by: None,
    };
    let mut listings: Vec<_> = tools.iter().map(listing).collect();
    shadow(&mut listings);
    listings
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
fn shadow(tools: &mut [ToolListing]) {
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
