//! Loads one folder of any kind: its `index.md`, the front matter as a tree, and what holds for every kind of folder:
//! the version, and that the name inside is the name of the folder (Y5.1-1, Y5.2-1).

use std::{
    borrow::Cow,
    path::{self, Path, PathBuf},
};

use crate::{
    document::{self, Kind},
    fields::{Field, Keys, Section},
    findings::{At, Findings},
    front_matter::FrontMatter,
    index_file,
    problem::{Loaded, Problem, Severity},
    yaml::{Composed, Node},
};

/// The only version of the format (D-51).
const VERSION: u64 = 1;

/// The document at the top of every `index.md`.
pub(crate) const FRONT_MATTER: Kind = Kind {
    name: "the front matter",
    too_long: "the description belongs below the second `---`, long texts into other files of the folder",
};

/// A folder whose front matter is a mapping.
pub(crate) struct Entry<'e> {
    /// The folder, absolute, as it is called by those who look for it: a link is not followed.
    pub(crate) dir: &'e Path,
    /// Its `index.md`.
    pub(crate) index: &'e Path,
    /// The name of the folder.
    pub(crate) folder: &'e str,
    /// The front matter.
    pub(crate) top: Section<'e>,
    /// The Markdown below it.
    pub(crate) body: Cow<'e, str>,
}

/// A folder before it is opened.
pub(crate) struct Folder {
    /// Its absolute path.
    pub(crate) dir: PathBuf,
    /// Its name.
    pub(crate) name: String,
}

/// Loads a folder and hands it to `read` once the parts that all kinds share are in order.
pub(crate) fn load<T>(
    folder: &Folder,
    keys: &Keys,
    read: impl FnOnce(&Entry<'_>, &mut Findings<'_>) -> Option<T>,
) -> Loaded<T> {
    let Folder { dir, name: folder } = folder;
    let index = dir.join("index.md");
    let text = match index_file::read(&index) {
        Ok(text) => text,
        Err(problem) => return Loaded::refused(problem.with_folder(folder)),
    };
    let front_matter = match FrontMatter::split(&text) {
        Ok(front_matter) => front_matter,
        Err(none) => {
            let mut problem =
                Problem::new(Severity::Error, index, none.message).with_hint(none.hint).with_folder(folder);
            problem.line = Some(none.line);
            return Loaded::refused(problem);
        }
    };
    let mut findings = Findings::new(&index, Some(folder), front_matter);
    let value = parse(front_matter.yaml, &mut findings).and_then(|composed| {
        let top = Field::top(&composed.root);
        supported_version(&top, &mut findings).then_some(())?;
        document::note_remarks(&composed.remarks, front_matter.yaml, &mut findings);
        let top = top.section(keys, &mut findings)?;
        top.required("version", "version: 1", &mut findings);
        let body = front_matter.body();
        read(&Entry { dir, index: &index, folder, top, body }, &mut findings)
    });
    Loaded::new(value, findings.into_problems())
}

impl Folder {
    /// The folder at a path, which need not be absolute; fails where a path names none.
    pub(crate) fn at(dir: &Path) -> Result<Self, Box<Problem>> {
        let unusable = |message: String| Box::new(Problem::new(Severity::Error, dir, message));
        let mut found =
            path::absolute(dir).map_err(|error| unusable(format!("the folder's path cannot be used: {error}")))?;
        if found.file_name().is_none() {
            // `x/..` names no folder by itself.
            found = found.canonicalize().map_err(|error| unusable(format!("the folder cannot be opened: {error}")))?;
        }
        let name =
            found.file_name().ok_or_else(|| unusable("the root of a file system cannot be a definition".to_owned()))?;
        let name = name.to_str().ok_or_else(|| unusable("the folder's name is not UTF-8; rename it".to_owned()))?;
        Ok(Self { name: name.to_owned(), dir: found })
    }
}

impl Entry<'_> {
    /// The name that stands under `key`, if it is the folder's name.
    pub(crate) fn name(&self, key: &str, findings: &mut Findings<'_>) -> Option<&str> {
        let field = self.top.required(key, &format!("{key}: {}", self.folder), findings)?;
        let name = field.text(findings)?;
        if name != self.folder {
            findings
                .error(field.at(), format!("`{key}` is {name:?} but the folder is named {:?}", self.folder))
                .hint("make the two equal");
            return None;
        }
        Some(name)
    }
}

fn parse<'a>(yaml: &'a str, findings: &mut Findings<'_>) -> Option<Composed<'a>> {
    let composed = document::read(yaml, &FRONT_MATTER, findings)?;
    match &composed.root {
        Node::Map(_) => Some(composed),
        Node::Null => {
            findings.error(At::Start, "the front matter is empty").hint("it needs at least `version: 1` and a name");
            None
        }
        other => {
            let found = other.described();
            findings
                .error(At::Offset(Some(0)), format!("the front matter must be `key: value` lines, found {found}"))
                .hint("it needs at least `version: 1` and a name");
            None
        }
    }
}

/// Notes a version that is not 1. False for a later one: then nothing else in the file means what it seems to.
fn supported_version(top: &Field<'_>, findings: &mut Findings<'_>) -> bool {
    let top = top.unchecked_section();
    let Some(version) = top.and_then(|top| top.get("version")) else { return true };
    match version.node {
        Node::Number(number) if number.as_u64() == Some(VERSION) => true,
        Node::Number(number) if number.is_u64() || number.is_i64() => {
            findings
                .error(
                    version.at(),
                    format!("version {number} of the format is not supported, only version {VERSION} is"),
                )
                .hint(format!("write `version: {VERSION}`, or use a newer YouYou"));
            false
        }
        other => {
            let found = other.described();
            findings
                .error(version.at(), format!("`version` must be the number {VERSION}, found {found}"))
                .hint(format!("write `version: {VERSION}`, without quotes"));
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_known_by_its_own_name() {
        let folder = Folder::at(Path::new("some/tool")).expect("absolute");
        assert!(folder.dir.is_absolute() && folder.dir.ends_with("some/tool"));
        assert_eq!(folder.name, "tool");
        assert!(Folder::at(Path::new("/")).is_err());
    }
}
