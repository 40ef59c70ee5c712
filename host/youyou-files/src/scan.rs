//! Finds all folders of one kind on both levels and settles which of two of one name wins (Y3.1-1, Y5.1-1).
//!
//! A scan never fails: what it cannot use it tells as a [`Problem`].

use std::{
    collections::{HashMap, hash_map::Entry},
    fs::{self, DirEntry},
    io::{self, ErrorKind},
    num::NonZero,
    panic::resume_unwind,
    path::{self, Path, PathBuf},
    thread,
};

use youyou_api::SourceLabel;

use crate::{
    entry::Folder,
    plugin::{self, PluginDefinition},
    problem::{Loaded, Problem, Severity},
    skill::{self, SkillDefinition},
    tool::{self, ToolDefinition},
};

/// Where the two levels of the file registry are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// `~/.youyou`: its `tools/`, `skills/` and `plugins/` are the global ones.
    pub home: PathBuf,
    /// The session's directory: what is in its `.youyou/` is the project's.
    pub workspace: PathBuf,
}

impl Roots {
    /// The workspace's `.youyou`; none where that is the home itself, whose files then are the global ones alone.
    pub(crate) fn project(&self) -> Option<PathBuf> {
        let project = self.workspace.join(".youyou");
        let same = match (self.home.canonicalize(), project.canonicalize()) {
            (Ok(home), Ok(project)) => home == project,
            _ => self.home == project,
        };
        (!same).then_some(project)
    }
}

/// What a scan for tools found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolScan {
    /// Every usable tool, those that another one shadows too, in byte order of their names; of one name the project's
    /// first.
    pub tools: Vec<ToolEntry>,
    /// What is wrong, by path and line.
    pub problems: Vec<Problem>,
}

impl ToolScan {
    /// What is to say about the folders of this name; tells why a tool is missing.
    pub fn problems_of(&self, folder: &str) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(move |problem| problem.folder.as_deref() == Some(folder))
    }
}

/// A usable tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolEntry {
    /// The tool.
    pub definition: ToolDefinition,
    /// The level whose tool of this name is used instead (Y3.1-1).
    pub shadowed_by: Option<SourceLabel>,
}

/// Reads every tool folder of both levels. Folders that are missing are fine.
///
/// It blocks while it reads.
pub fn scan_tools(roots: &Roots) -> ToolScan {
    let (found, problems) = scan(roots, "tools", tool::load);
    let tools = found.into_iter().map(|(definition, shadowed_by)| ToolEntry { definition, shadowed_by }).collect();
    ToolScan { tools, problems }
}

/// What a scan for skills found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillScan {
    /// Every usable skill, those that another one shadows too, in byte order of their names; of one name the project's
    /// first.
    pub skills: Vec<SkillEntry>,
    /// What is wrong, by path and line.
    pub problems: Vec<Problem>,
}

impl SkillScan {
    /// What is to say about the folders of this name; tells why a skill is missing.
    pub fn problems_of(&self, folder: &str) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(move |problem| problem.folder.as_deref() == Some(folder))
    }
}

/// A usable skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillEntry {
    /// The skill.
    pub definition: SkillDefinition,
    /// The level whose skill of this name is used instead (Y3.1-1).
    pub shadowed_by: Option<SourceLabel>,
}

/// Reads every skill folder of both levels. Folders that are missing are fine.
///
/// It blocks while it reads.
pub fn scan_skills(roots: &Roots) -> SkillScan {
    let (found, problems) = scan(roots, "skills", skill::load);
    let skills = found.into_iter().map(|(definition, shadowed_by)| SkillEntry { definition, shadowed_by }).collect();
    SkillScan { skills, problems }
}

/// What a scan for plugins found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PluginScan {
    /// Every usable folder of every level, in byte order of the ids; of one id the project's first. Which of them are in
    /// force is the matter of whoever also knows the plugins in code (D-3).
    pub plugins: Vec<PluginDefinition>,
    /// What is wrong, by path and line.
    pub problems: Vec<Problem>,
}

/// Reads every plugin folder of both levels. Folders that are missing are fine.
///
/// It blocks while it reads.
pub fn scan_plugins(roots: &Roots) -> PluginScan {
    let (found, problems) = scan(roots, "plugins", plugin::load);
    PluginScan { plugins: found.into_iter().map(|(definition, _)| definition).collect(), problems }
}

/// Definitions of one kind, each with the level that shadows it, and the problems.
type Scanned<T> = (Vec<(T, Option<SourceLabel>)>, Vec<Problem>);

/// A folder with its level.
pub(crate) type Leveled = (Folder, SourceLabel);

/// Loads every folder below the roots' folders of one kind. A definition's name is its folder's name.
fn scan<T: Send>(roots: &Roots, kind: &str, load: impl Fn(&Folder, SourceLabel) -> Loaded<T> + Sync) -> Scanned<T> {
    let mut problems = Vec::new();
    let mut folders = Vec::new();
    for (root, source) in distinct_roots(roots, kind) {
        list_folders(&root, source, &mut folders, &mut problems);
    }
    folders.sort_by(|(a, a_source), (b, b_source)| (&a.name, b_source).cmp(&(&b.name, a_source)));

    let mut found: Vec<(&Leveled, T, Option<SourceLabel>)> = Vec::with_capacity(folders.len());
    let mut broken: HashMap<&str, Vec<Problem>> = HashMap::new();
    let loaded = load_all(&folders, |(folder, source)| load(folder, *source));
    for (leveled, loaded) in folders.iter().zip(loaded) {
        let (folder, source) = leveled;
        let (value, said) = loaded.into_parts();
        let Some(value) = value else {
            broken.entry(&folder.name).or_default().extend(said);
            continue;
        };
        problems.extend(said);
        let stood_in_for = broken.remove(&*folder.name).into_iter().flatten();
        problems.extend(stood_in_for.map(|problem| stands_in(problem, *source)));
        let above = found.last().filter(|((above, _), ..)| above.name == folder.name);
        let shadowed_by = above.map(|((_, source), ..)| *source);
        found.push((leveled, value, shadowed_by));
    }
    problems.extend(broken.into_values().flatten());
    problems.extend(names_that_differ_in_case(&found));
    problems.sort_by(|a, b| (&a.path, a.line, a.column).cmp(&(&b.path, b.line, b.column)));
    (found.into_iter().map(|(_, value, shadowed_by)| (value, shadowed_by)).collect(), problems)
}

/// Loads folders, on as many threads as there are processors where that is worth their start. In the order of the folders.
fn load_all<T: Send>(folders: &[Leveled], load: impl Fn(&Leveled) -> Loaded<T> + Sync) -> Vec<Loaded<T>> {
    const WORTH_A_THREAD: usize = 100;
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = (folders.len() / WORTH_A_THREAD).clamp(1, processors);
    let load_share = |share: &[Leveled]| share.iter().map(&load).collect::<Vec<_>>();
    let (own, others) = folders.split_at(folders.len().div_ceil(threads));
    thread::scope(|scope| {
        let start = |share| thread::Builder::new().spawn_scoped(scope, move || load_share(share)).map_err(|_| share);
        let others: Vec<_> = others.chunks(own.len().max(1)).map(start).collect();
        let mut loaded = load_share(own);
        for other in others {
            loaded.extend(match other {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                // There are too many threads already.
                Err(share) => load_share(share),
            });
        }
        loaded
    })
}

/// The folders of a kind on both levels. In the home directory the two are one folder, which is then the global one.
fn distinct_roots(roots: &Roots, kind: &str) -> Vec<(PathBuf, SourceLabel)> {
    let global = roots.home.join(kind);
    let project = roots.workspace.join(".youyou").join(kind);
    let same = match (global.canonicalize(), project.canonicalize()) {
        (Ok(global), Ok(project)) => global == project,
        _ => global == project,
    };
    let mut found = vec![(global, SourceLabel::Global)];
    if !same {
        found.push((project, SourceLabel::Project));
    }
    found
}

/// Adds every folder in `root`, in no order.
pub(crate) fn list_folders(root: &Path, source: SourceLabel, folders: &mut Vec<Leveled>, problems: &mut Vec<Problem>) {
    let unusable = |path: &Path, error: &io::Error| {
        Problem::new(Severity::Error, path, format!("the folder cannot be read: {error}"))
    };
    let root = match path::absolute(root) {
        Ok(root) => root,
        Err(error) => return problems.push(unusable(root, &error)),
    };
    let entries = match fs::read_dir(&root) {
        Ok(entries) => entries,
        // A link to nowhere is not a missing folder: somebody meant it to lead somewhere.
        Err(error) if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(&root).is_err() => return,
        Err(error) => return problems.push(unusable(&root, &error)),
    };
    for entry in entries {
        match entry {
            Ok(entry) => match folder(&entry) {
                Ok(folder) => folders.extend(folder.map(|folder| (folder, source))),
                Err(problem) => problems.push(*problem),
            },
            Err(error) => problems.push(unusable(&root, &error)),
        }
    }
}

/// The folder that an entry is or leads to. Files and hidden entries are nobody's definition.
fn folder(entry: &DirEntry) -> Result<Option<Folder>, Box<Problem>> {
    let (path, name) = (entry.path(), entry.file_name());
    if name.as_encoded_bytes().starts_with(b".") {
        return Ok(None);
    }
    let unreadable = |error: io::Error| {
        let hint = "check that a link leads somewhere, and not in a circle";
        Problem::new(Severity::Error, &path, format!("this cannot be read: {error}"))
            .with_hint(hint)
            .with_folder(name.to_string_lossy())
    };
    let mut kind = entry.file_type().map_err(unreadable)?;
    if kind.is_symlink() {
        kind = fs::metadata(&path).map_err(unreadable)?.file_type();
    }
    if !kind.is_dir() {
        return Ok(None);
    }
    match name.into_string() {
        Ok(name) => Ok(Some(Folder { dir: path, name })),
        Err(name) => {
            let problem = Problem::new(Severity::Error, &path, "the folder's name is not UTF-8").with_hint("rename it");
            Err(problem.with_folder(name.to_string_lossy()).into())
        }
    }
}

/// Tells that a folder which cannot be used leaves its name to the one of the lower level.
fn stands_in(mut problem: Problem, lower: SourceLabel) -> Problem {
    if problem.is_error() {
        let hint = problem.hint.take().map(|hint| format!("{hint}; ")).unwrap_or_default();
        problem.hint = Some(format!("{hint}until then the {lower} folder of this name is used"));
    }
    problem
}

/// Two folders of one level whose names differ only in case cannot both exist where case does not count (D-49).
fn names_that_differ_in_case<T>(found: &[(&Leveled, T, Option<SourceLabel>)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !found.iter().any(|((folder, _), ..)| folder.name.contains(char::is_uppercase)) {
        return problems;
    }
    let mut first = HashMap::new();
    for ((folder, source), ..) in found {
        match first.entry((*source, folder.name.to_lowercase())) {
            Entry::Vacant(vacant) => _ = vacant.insert(&folder.name),
            Entry::Occupied(other) => problems.push(
                Problem::new(
                    Severity::Warning,
                    &folder.dir,
                    format!("the names {:?} and {:?} differ only in case", other.get(), folder.name),
                )
                .with_hint("rename one: where file names ignore case, only one of the two folders can exist")
                .with_folder(&folder.name),
            ),
        }
    }
    problems
}
