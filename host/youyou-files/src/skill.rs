//! A skill's folder: front matter and prompt, read into a [`SkillDefinition`] (Y5.4-1).
//!
//! Whether the tools that it needs are there is not known here; the agent asks when it is built (Y6.1-1).

use std::path::{Path, PathBuf};

use youyou_api::{Skill, SourceLabel, ToolName};

use crate::{
    entry::{self, Entry, Folder},
    fields::{Field, Keys},
    findings::{At, Findings},
    problem::Loaded,
    yaml::quoted,
};

const ONLY_TOOLS: &str = "only tools have it; a skill is a prompt and runs nothing";

const KEYS: Keys = Keys {
    of: "a skill",
    allowed: &["version", "name", "display_name", "description", "required_tools", "allow_implicit_invocation"],
    astray: &[
        ("prompt", "a skill's prompt is the text below the second `---`"),
        ("title", "did you mean `display_name`?"),
        ("tools", "did you mean `required_tools`?"),
        ("allowed-tools", "did you mean `required_tools`?"),
        ("implicit", "did you mean `allow_implicit_invocation`?"),
        ("execution", ONLY_TOOLS),
        ("command", ONLY_TOOLS),
        ("parameters", "only tools have them; what the user writes after the skill's name is handed on as it is"),
        ("mutating", ONLY_TOOLS),
        ("hooks", "only plugins have hooks"),
        ("id", "did you mean `name`?"),
        ("<<", "merge keys are not supported: write the keys out"),
    ],
};

/// A skill as its folder defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillDefinition {
    /// The skill; its `dir` is set, and absolute (D-62).
    pub skill: Skill,
    /// The level that it comes from.
    pub source: SourceLabel,
    /// Its folder, absolute. Links on the way are not resolved.
    pub dir: PathBuf,
    /// Its `index.md`.
    pub index: PathBuf,
}

/// Reads the skill in one folder, which may be anywhere.
///
/// The result holds everything there is to say at once. Nothing is looked for besides `index.md`.
///
/// ```no_run
/// use youyou_api::SourceLabel;
/// match youyou_files::load_skill("skills/commit".as_ref(), SourceLabel::Project).into_result() {
///     Ok((skill, remarks)) => println!("/{} ({} remarks)", skill.skill.name, remarks.len()),
///     Err(problems) => problems.iter().for_each(|problem| eprintln!("{problem}")),
/// }
/// ```
pub fn load_skill(dir: &Path, source: SourceLabel) -> Loaded<SkillDefinition> {
    match Folder::at(dir) {
        Ok(folder) => load(&folder, source),
        Err(problem) => Loaded::refused(*problem),
    }
}

/// Reads the skill in a folder that is known already.
pub(crate) fn load(folder: &Folder, source: SourceLabel) -> Loaded<SkillDefinition> {
    entry::load(folder, &KEYS, |entry, findings| read(entry, source, findings))
}

fn read(entry: &Entry<'_>, source: SourceLabel, findings: &mut Findings<'_>) -> Option<SkillDefinition> {
    let top = &entry.top;
    let name = entry.name("name", findings).and_then(|name| legal_name(entry, name, findings));
    let description = top
        .required("description", "description: What it is for, in one line.", findings)
        .and_then(|field| field.one_line(findings));
    let display_name = match top.get("display_name") {
        Some(field) => field.one_line(findings),
        None => name.clone(),
    };
    let required_tools = match top.get("required_tools") {
        Some(field) => read_required_tools(&field, findings),
        None => Some(Vec::new()),
    };
    let allow_implicit_invocation = match top.get("allow_implicit_invocation") {
        Some(field) => field.boolean(findings),
        None => Some(false),
    };
    if entry.body.is_empty() {
        findings.error(At::Start, "the skill has no prompt").hint("write it below the second `---`");
    }
    Some(SkillDefinition {
        skill: Skill {
            name: name?,
            display_name: display_name?,
            description: description?,
            prompt: entry.body.clone().into_owned(),
            required_tools: required_tools?,
            allow_implicit_invocation: allow_implicit_invocation?,
            dir: Some(entry.dir.to_owned()),
        },
        source,
        dir: entry.dir.to_owned(),
        index: entry.index.to_owned(),
    })
}

/// The name, which equals the folder's, if it may stand behind a slash (D-50).
fn legal_name(entry: &Entry<'_>, name: &str, findings: &mut Findings<'_>) -> Option<String> {
    if Skill::is_legal_name(name) {
        return Some(name.to_owned());
    }
    let field = entry.top.get("name");
    let at = field.as_ref().map_or(At::Start, |field| field.at());
    let expected = "expected 1 to 64 letters of any script, digits, `_` and `-`";
    findings.error(at, format!("skill name {} is not allowed: {expected}", quoted(name))).hint("rename the folder too");
    None
}

fn read_required_tools(field: &Field<'_>, findings: &mut Findings<'_>) -> Option<Vec<String>> {
    let mut tools: Vec<String> = Vec::new();
    for item in field.items(findings)? {
        let Some(tool) = item.text(findings) else { continue };
        match ToolName::new(tool) {
            Ok(_) if tools.iter().any(|known| known == tool) => {
                findings.hint(item.at(), format!("{} names {} again", item.name(), quoted(tool)));
            }
            Ok(_) => tools.push(tool.to_owned()),
            // No tool can ever be called that, so the skill could never be used.
            Err(error) => _ = findings.error(item.at(), error.to_string()),
        }
    }
    Some(tools)
}
