//! What a folder that stands anywhere is meant to be: by the folder that it stands in, else by its front matter.

use std::path::Path;

use crate::{
    document,
    entry::{FRONT_MATTER, Folder},
    findings::Findings,
    front_matter::FrontMatter,
    index_file,
    yaml::Node,
};

/// What a folder is meant to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderKind {
    /// Read it with [`load_tool`](crate::load_tool).
    Tool,
    /// Read it with [`load_skill`](crate::load_skill).
    Skill,
    /// Read it with [`load_plugin`](crate::load_plugin).
    Plugin,
}

/// Keys that only a tool has.
const OF_TOOLS: &[&str] = &["parameters", "mutating"];
/// Keys that only a plugin has.
const OF_PLUGINS: &[&str] = &["hooks", "id", "enabled", "instance"];
/// Keys of whatever is run; a plugin that has them has others of its own.
const OF_WHAT_RUNS: &[&str] = &["execution", "command", "component"];
/// Keys that a skill has and a tool has not.
const OF_SKILLS: &[&str] = &["required_tools", "allow_implicit_invocation", "description", "display_name", "prompt"];

/// What the folder is meant to be. A folder that says nothing of it, or cannot be read, counts as a tool: whoever loads
/// it is told what is wrong with it.
pub fn folder_kind(dir: &Path) -> FolderKind {
    let Ok(folder) = Folder::at(dir) else { return FolderKind::Tool };
    let parent = folder.dir.parent().and_then(Path::file_name);
    match parent.and_then(|parent| parent.to_str()) {
        Some("skills") => FolderKind::Skill,
        Some("tools") => FolderKind::Tool,
        Some("plugins") => FolderKind::Plugin,
        Some(_) | None => by_keys(&folder.dir.join("index.md")).unwrap_or(FolderKind::Tool),
    }
}

fn by_keys(index: &Path) -> Option<FolderKind> {
    let text = index_file::read(index).ok()?;
    let front_matter = FrontMatter::split(&text).ok()?;
    // What is wrong with it is told by whoever loads the folder.
    let mut untold = Findings::new(index, None, front_matter);
    let composed = document::read(front_matter.yaml, &FRONT_MATTER, &mut untold)?;
    let Node::Map(entries) = composed.root else { return None };
    let any = |keys: &[&str]| entries.iter().any(|(key, _)| keys.contains(&&**key));
    // Whatever strayed into a tool's front matter makes nothing else of it.
    let kinds = [
        (OF_TOOLS, FolderKind::Tool),
        (OF_PLUGINS, FolderKind::Plugin),
        (OF_WHAT_RUNS, FolderKind::Tool),
        (OF_SKILLS, FolderKind::Skill),
    ];
    kinds.into_iter().find_map(|(keys, kind)| any(keys).then_some(kind))
}
