//! Everything that is wrong with definitions, without running or compiling anything (`youyou check`).

use std::{collections::HashSet, path::Path};

use youyou_api::{Error, SourceLabel};
use youyou_component::{ComponentHost, HostConfig};
use youyou_files::{FolderKind, Loaded, Problem, Roots, Severity, SkillDefinition, ToolDefinition, ToolScan};

use crate::{assemble::Backends, plugins};

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// How many folders were looked at.
    pub folders: usize,
    /// Everything there is to say about them.
    pub problems: Vec<Problem>,
}

/// Checks every tool, skill and plugin of a home and a workspace, shadowed ones included.
///
/// # Errors
/// Those of making a component host.
pub fn check_all(home: &Path, workspace: &Path) -> Result<Checked, Error> {
    let roots = Roots { home: home.to_owned(), workspace: workspace.to_owned() };
    let (tools, skills) = (youyou_files::scan_tools(&roots), youyou_files::scan_skills(&roots));
    let plugins = youyou_files::scan_plugins(&roots);
    let usable = tools.tools.len() + skills.skills.len() + plugins.plugins.len();
    let folders = usable + broken(&tools.problems) + broken(&skills.problems) + broken(&plugins.problems);
    let backends = Backends::new(home, ComponentHost::new(HostConfig::default())?);
    let definitions = tools.tools.iter().map(|entry| &entry.definition);
    let unusable = definitions.flat_map(|definition| backends.check(definition, workspace)).collect();
    let provided = tools.tools.iter().map(|entry| &entry.definition);
    let missing = missing_tools(skills.skills.iter().map(|entry| &entry.definition), provided, &tools);
    let unasked = plugins.plugins.iter().flat_map(|plugin| plugins::check(&backends, plugin, workspace)).collect();
    let problems = [tools.problems, unusable, skills.problems, missing, plugins.problems, unasked].concat();
    Ok(Checked { folders, problems })
}

/// How many folders have an error.
fn broken(problems: &[Problem]) -> usize {
    problems.iter().filter(|problem| problem.is_error()).map(|problem| &problem.path).collect::<HashSet<_>>().len()
}

/// Skills whose tools no folder provides; a host may still register such a tool in code (K-45).
fn missing_tools<'a>(
    skills: impl IntoIterator<Item = &'a SkillDefinition>,
    provided: impl IntoIterator<Item = &'a ToolDefinition>,
    tools: &ToolScan,
) -> Vec<Problem> {
    let provided: HashSet<_> = provided.into_iter().map(|tool| tool.spec.name.as_str()).collect();
    let mut problems = Vec::new();
    for SkillDefinition { skill, index, .. } in skills {
        for tool in skill.required_tools.iter().filter(|tool| !provided.contains(tool.as_str())) {
            let message = format!("the skill needs the tool {tool:?}, and no folder provides it");
            let hint = match tools.problems_of(tool).find(|problem| problem.is_error()) {
                Some(why) => format!("its folder cannot be used: {why}"),
                None => "fine if your host registers that tool in code".to_owned(),
            };
            let problem = Problem::new(Severity::Warning, index, message).with_hint(hint);
            problems.push(problem.with_folder(&skill.name));
        }
    }
    problems
}

/// Checks the tools, skills and plugins in these folders, wherever they stand. A skill may need the tools of a home and a
/// workspace, and those among the folders.
///
/// # Errors
/// Those of making a component host.
pub fn check_folders(dirs: &[impl AsRef<Path>], home: &Path, workspace: &Path) -> Result<Checked, Error> {
    let backends = Backends::new(home, ComponentHost::new(HostConfig::default())?);
    let mut checked = Checked { folders: dirs.len(), problems: Vec::new() };
    let (mut tools, mut skills, mut plugins) = (Vec::new(), Vec::new(), Vec::new());
    for dir in dirs.iter().map(AsRef::as_ref) {
        checked.problems.extend(match youyou_files::folder_kind(dir) {
            FolderKind::Tool => kept(youyou_files::load_tool(dir, SourceLabel::Project), &mut tools),
            FolderKind::Plugin => kept(youyou_files::load_plugin(dir, SourceLabel::Project), &mut plugins),
            FolderKind::Skill => kept(youyou_files::load_skill(dir, SourceLabel::Project), &mut skills),
        });
    }
    checked.problems.extend(tools.iter().flat_map(|tool| backends.check(tool, workspace)));
    checked.problems.extend(plugins.iter().flat_map(|plugin| plugins::check(&backends, plugin, workspace)));
    if skills.iter().any(|definition: &SkillDefinition| !definition.skill.required_tools.is_empty()) {
        let roots = Roots { home: home.to_owned(), workspace: workspace.to_owned() };
        let scan = youyou_files::scan_tools(&roots);
        let provided = scan.tools.iter().map(|entry| &entry.definition).chain(&tools);
        checked.problems.extend(missing_tools(&skills, provided, &scan));
    }
    Ok(checked)
}

/// Keeps what was loaded; returns what there is to say about it.
fn kept<T>(loaded: Loaded<T>, into: &mut Vec<T>) -> Vec<Problem> {
    let (value, problems) = loaded.into_parts();
    into.extend(value);
    problems
}

/// What is wrong with the configuration and the instructions, and with files that look like them and are not read.
pub fn check_settings(home: &Path, workspace: &Path) -> Vec<Problem> {
    let roots = Roots { home: home.to_owned(), workspace: workspace.to_owned() };
    let mut problems = match youyou_files::load_config(home) {
        Ok((config, problems)) => [problems, crate::providers::check(&config, home)].concat(),
        Err(_) => youyou_files::check_config(home),
    };
    problems.extend(youyou_files::load_instructions(&roots).1);
    problems.extend(youyou_files::stray_project_files(&roots));
    problems
}
