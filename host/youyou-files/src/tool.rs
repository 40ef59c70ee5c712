//! A tool's folder: front matter and description, read into a [`ToolDefinition`] (Y5.3-1).

use std::path::{Path, PathBuf};

use youyou_api::{SourceLabel, ToolName, ToolSpec};

use crate::{
    entry::{self, Entry, Folder},
    execution::{self, Execution},
    fields::Keys,
    findings::{At, Findings},
    parameters,
    problem::Loaded,
};

const IN_EXECUTION: &str = "it belongs under `execution:`";

const KEYS: Keys = Keys {
    of: "a tool",
    allowed: &["version", "name", "mutating", "parameters", "execution"],
    astray: &[
        ("description", "a tool's description is the text below the second `---`"),
        ("command", IN_EXECUTION),
        ("args", IN_EXECUTION),
        ("component", IN_EXECUTION),
        ("timeout_ms", IN_EXECUTION),
        ("working_directory", IN_EXECUTION),
        ("memory_mb", IN_EXECUTION),
        ("permissions", IN_EXECUTION),
        ("hooks", "only plugins have hooks"),
        ("<<", "merge keys are not supported: write the keys out"),
    ],
};

/// A tool as its folder defines it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// What the tool tells about itself; its parameters as JSON Schema, in the order of the file.
    pub spec: ToolSpec,
    /// The level that it comes from.
    pub source: SourceLabel,
    /// Its folder, absolute. Links on the way are not resolved.
    pub dir: PathBuf,
    /// Its `index.md`.
    pub index: PathBuf,
    /// How it is run.
    pub execution: Execution,
}

/// Reads the tool in one folder, which may be anywhere.
///
/// The result holds everything there is to say at once. Nothing is run, compiled or looked for besides `index.md`.
///
/// ```no_run
/// use youyou_api::SourceLabel;
/// match youyou_files::load_tool("tools/word-count".as_ref(), SourceLabel::Project).into_result() {
///     Ok((tool, remarks)) => println!("{} ({} remarks)", tool.spec.name, remarks.len()),
///     Err(problems) => problems.iter().for_each(|problem| eprintln!("{problem}")),
/// }
/// ```
pub fn load_tool(dir: &Path, source: SourceLabel) -> Loaded<ToolDefinition> {
    match Folder::at(dir) {
        Ok(folder) => load(&folder, source),
        Err(problem) => Loaded::refused(*problem),
    }
}

/// Reads the tool in a folder that is known already.
pub(crate) fn load(folder: &Folder, source: SourceLabel) -> Loaded<ToolDefinition> {
    entry::load(folder, &KEYS, |entry, findings| read(entry, source, findings))
}

fn read(entry: &Entry<'_>, source: SourceLabel, findings: &mut Findings<'_>) -> Option<ToolDefinition> {
    let top = &entry.top;
    let name = entry.name("name", findings).and_then(|name| legal_name(entry, name, findings));
    let mutating = match top.get("mutating") {
        Some(field) => field.boolean(findings),
        None => {
            findings
                .hint(At::Start, "`mutating` is not given, so the tool counts as read-only")
                .hint("write `mutating: true` if a call can change anything, else `mutating: false`");
            Some(false)
        }
    };
    let parameters = parameters::read(top.get("parameters").as_ref(), findings);
    let execution = top
        .required("execution", "execution: { command: ./script }", findings)
        .and_then(|field| execution::read(&field, entry.dir, findings));
    if entry.body.is_empty() {
        findings
            .warning(At::Start, "the tool has no description, so the model cannot tell when to use it")
            .hint("write it below the second `---`");
    }
    Some(ToolDefinition {
        spec: ToolSpec {
            name: name?,
            description: entry.body.clone().into_owned(),
            parameters: parameters?,
            mutating: mutating?,
        },
        source,
        dir: entry.dir.to_owned(),
        index: entry.index.to_owned(),
        execution: execution?,
    })
}

/// The name, which equals the folder's, as a tool's name (D-50).
fn legal_name(entry: &Entry<'_>, name: &str, findings: &mut Findings<'_>) -> Option<ToolName> {
    match ToolName::new(name) {
        Ok(name) => Some(name),
        Err(error) => {
            let field = entry.top.get("name");
            let at = field.as_ref().map_or(At::Start, |field| field.at());
            findings.error(at, error.to_string()).hint("rename the folder too");
            None
        }
    }
}
