//! Everything that is wrong with definitions, without running or compiling anything (`youyou check`).

use std::path::Path;

use youyou_api::{Error, SourceLabel};
use youyou_component::{ComponentHost, HostConfig};
use youyou_files::{Problem, Roots, Severity, ToolDefinition};

use crate::assemble::Backends;

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// How many folders were looked at.
    pub folders: usize,
    /// Everything there is to say about them.
    pub problems: Vec<Problem>,
}

/// Checks every tool of a home and a workspace, shadowed ones included.
///
/// # Errors
/// Those of making a component host.
pub fn check_all(home: &Path, workspace: &Path) -> Result<Checked, Error> {
    let scan = youyou_files::scan_tools(&Roots { home: home.to_owned(), workspace: workspace.to_owned() });
    let mut broken: Vec<_> = scan.problems.iter().filter(|problem| problem.is_error()).map(|p| &p.path).collect();
    broken.dedup();
    let folders = scan.tools.len() + broken.len();
    let definitions = scan.tools.iter().map(|entry| &entry.definition);
    let problems = check_definitions(definitions, home, workspace)?;
    Ok(Checked { folders, problems: [scan.problems, problems].concat() })
}

/// Checks the tools in these folders, wherever they stand.
///
/// # Errors
/// Those of making a component host.
pub fn check_folders(dirs: &[impl AsRef<Path>], home: &Path, workspace: &Path) -> Result<Checked, Error> {
    let mut checked = Checked { folders: dirs.len(), problems: Vec::new() };
    let mut definitions = Vec::with_capacity(dirs.len());
    for dir in dirs {
        let (definition, problems) = youyou_files::load_tool(dir.as_ref(), SourceLabel::Project).into_parts();
        checked.problems.extend(problems);
        definitions.extend(definition);
    }
    checked.problems.extend(check_definitions(&definitions, home, workspace)?);
    Ok(checked)
}

/// What is wrong with the configuration and the instructions, and with files that look like them and are not read.
pub fn check_settings(home: &Path, workspace: &Path) -> Vec<Problem> {
    let roots = Roots { home: home.to_owned(), workspace: workspace.to_owned() };
    let mut problems = match youyou_files::load_config(home) {
        Ok((_, problems)) => problems,
        // The message begins with the place.
        Err(error) => vec![Problem::new(Severity::Error, home.join("config.yaml"), error.message)],
    };
    problems.extend(youyou_files::load_instructions(&roots).1);
    problems.extend(youyou_files::stray_project_files(&roots));
    problems
}

fn check_definitions<'a>(
    definitions: impl IntoIterator<Item = &'a ToolDefinition>,
    home: &Path,
    workspace: &Path,
) -> Result<Vec<Problem>, Error> {
    let backends = Backends::new(home, ComponentHost::new(HostConfig::default())?);
    Ok(definitions.into_iter().flat_map(|definition| backends.check(definition, workspace)).collect())
}
