//! Files that look as if they were read and are not (Y3.1-5, D-41, D-63).

use std::{fs, path::Path};

use crate::{
    problem::{Problem, Severity},
    regular_file,
    scan::Roots,
};

/// Says which files of a home and a workspace have no effect, for `doctor` and for the start of a session.
///
/// Warnings tell of files that somebody most likely meant to have an effect, hints of those that other programs read. It
/// looks for names and opens nothing.
pub fn stray_project_files(roots: &Roots) -> Vec<Problem> {
    let home = |name: &str| roots.home.join(name);
    let mut strays = Vec::new();
    if !exists(&home("config.yaml")) && exists(&home("config.yml")) {
        strays.push(
            Problem::new(Severity::Warning, home("config.yml"), "config.yml is not read")
                .with_hint("rename it to \"config.yaml\""),
        );
    }
    let workspace = |name: &str| roots.workspace.join(name);
    let mut elsewhere = vec![(home("AGENTS.md"), home("AGENT.md"))];
    let mut read_here = home("AGENT.md");
    if let Some(project) = roots.project() {
        let in_project = |name: &str, why: &str| {
            let (path, instead) = (project.join(name), home(name));
            let hint = format!("put it into {}", instead.display());
            exists(&path).then(|| Problem::new(Severity::Warning, path, why).with_hint(hint))
        };
        strays.extend(in_project("config.yaml", "a project's config.yaml is not read: it could redirect the agent"));
        strays.extend(in_project("SOUL.md", "a project's SOUL.md is not read: who the agent is, is up to its user"));
        read_here = project.join("AGENT.md");
        elsewhere.push((project.join("AGENTS.md"), read_here.clone()));
    }
    elsewhere.extend(["AGENTS.md", "AGENT.md"].map(|name| (workspace(name), read_here.clone())));
    // With the file in place, the other is there for other programs.
    elsewhere.retain(|(stray, instead)| exists(stray) && !exists(instead));
    strays.extend(elsewhere.into_iter().map(|(stray, instead)| {
        let name = regular_file::name(&stray).into_owned();
        Problem::new(Severity::Hint, stray, format!("{name} is not read here"))
            .with_hint(format!("copy or link it to {}", instead.display()))
    }));
    strays
}

/// Whether anything has this name, a link to nowhere too.
fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
