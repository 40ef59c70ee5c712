//! What a project's `.youyou` would run, and a hash that changes when any of it does (D-40).
//!
//! Whether somebody trusts it is the matter of [`trust`](crate::trust); what to do without trust is the host's.

use std::{
    collections::HashSet,
    fmt::Write,
    fs::{self, FileType, Metadata},
    path::{Component, Path, PathBuf},
};

use youyou_api::{HookEvent, SourceLabel};

use crate::{
    entry::Folder,
    execution::{Backend, ComponentBackend, ScriptBackend},
    plugin::{self, PluginDefinition},
    regular_file,
    scan::{Roots, list_folders},
    tool,
};

/// What a project would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectContents {
    /// Every usable tool, in byte order of the names.
    pub tools: Vec<Listed>,
    /// Every folder in `plugins/`, in byte order of the names; also one that cannot be used as it is.
    pub plugins: Vec<ListedPlugin>,
    /// Changes with every byte, name, link and executable bit below `tools/`, `skills/` and `plugins/`, and not
    /// with the times of files or the place of the workspace.
    ///
    /// A link is hashed as the place it leads to, and where that is in the workspace with what stands there; a file that a
    /// tool or plugin names elsewhere in the workspace likewise. What a script reaches in other ways is not watched: programs of the
    /// system, files that it opens or loads by itself.
    pub hash: String,
}

/// One tool, for a person to judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// What a call runs, as it is written.
    pub backend: Backend,
    /// Its `index.md`.
    pub index: PathBuf,
}

impl Listed {
    /// What a call runs, on one line: `script ./run.py --fast`, or `component count.wasm, write ["."]`.
    ///
    /// Words with blanks or signs in them are quoted, and what a terminal would not show as it is, is escaped, so that
    /// nothing can hide in it.
    pub fn runs(&self) -> String {
        runs(&self.backend, parent(&self.index))
    }

    fn names(&self, workspace: &Path) -> Vec<PathBuf> {
        named_outside(&self.backend, parent(&self.index), workspace)
    }
}

/// One plugin's folder, for a person to judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPlugin {
    /// The folder's name; what a terminal would not show as it is, is escaped.
    pub name: String,
    /// Its `index.md`.
    pub index: PathBuf,
    /// What its handlers run, as it is written, each with the events.
    pub handlers: Vec<(Vec<HookEvent>, Backend)>,
    /// What it says beside that: whether the plugin is enabled, how it is configured.
    sets: Vec<&'static str>,
}

impl ListedPlugin {
    fn new(folder: &Folder) -> Self {
        let plugin = plugin::load(folder, SourceLabel::Project).into_parts().0;
        let mut handlers: Vec<(Vec<HookEvent>, Backend)> = Vec::new();
        let sets = match &plugin {
            Some(plugin) => sets(plugin),
            None => vec!["cannot be used as it is"],
        };
        for hook in plugin.and_then(|plugin| plugin.hooks).into_iter().flatten() {
            match handlers.iter_mut().find(|(_, backend)| *backend == hook.execution.backend) {
                Some((events, _)) => events.push(hook.event),
                None => handlers.push((vec![hook.event], hook.execution.backend)),
            }
        }
        let index = folder.dir.join("index.md");
        Self { name: folder.name.escape_debug().to_string(), index, handlers, sets }
    }

    /// What its handlers run and what else it says, one thing a line, at least one:
    /// `BeforeToolUse, AfterToolUse: script ./guard.py`. Escaped like [`Listed::runs`].
    pub fn lines(&self) -> Vec<String> {
        let dir = parent(&self.index);
        let handlers = self.handlers.iter().map(|(events, backend)| {
            let events = events.iter().map(|event| event.as_str()).collect::<Vec<_>>().join(", ");
            format!("{events}: {}", runs(backend, dir))
        });
        handlers.chain(self.sets.iter().map(|set| (*set).to_owned())).collect()
    }

    fn names(&self, workspace: &Path) -> Vec<PathBuf> {
        self.handlers.iter().flat_map(|(_, backend)| named_outside(backend, parent(&self.index), workspace)).collect()
    }
}

/// What a folder says beside its handlers. Where it has none, that is about a plugin defined elsewhere: a project may
/// switch off what guards its user.
fn sets(plugin: &PluginDefinition) -> Vec<&'static str> {
    let enabled = plugin.enabled.map(|enabled| if enabled { "enabled" } else { "switched off" });
    let config = plugin.config.as_ref().filter(|_| plugin.hooks.is_none()).map(|_| "configured anew");
    let mut sets: Vec<_> = enabled.into_iter().chain(config).collect();
    if sets.is_empty() && plugin.hooks.as_ref().is_none_or(Vec::is_empty) {
        sets.push("handles nothing");
    }
    sets
}

fn parent(index: &Path) -> &Path {
    index.parent().unwrap_or(index)
}

fn runs(backend: &Backend, dir: &Path) -> String {
    match backend {
        Backend::Script(ScriptBackend { command, args }) => {
            let words = std::iter::once(command).chain(args);
            words.fold("script".to_owned(), |line, word| line + " " + &shown(word))
        }
        Backend::Component(ComponentBackend { path, permissions, .. }) => {
            let file = path.strip_prefix(dir).unwrap_or(path);
            let mut line = format!("component {}", shown(&file.to_string_lossy()));
            let grants = [
                ("read", &permissions.read),
                ("write", &permissions.write),
                ("env", &permissions.env),
                ("net", &permissions.net),
            ];
            for (key, granted) in grants.into_iter().filter(|(_, granted)| !granted.is_empty()) {
                _ = write!(line, ", {key} {granted:?}");
            }
            line
        }
    }
}

/// The files outside of its folder that a definition names by a path, as far as that can be told (D-54, D-55). An argument
/// that is no path of the folder may be one of the working directory, as `sh scripts/check.sh` has it.
fn named_outside(backend: &Backend, dir: &Path, workspace: &Path) -> Vec<PathBuf> {
    let relative = |word: &str| ["./", "../", ".\\", "..\\"].iter().any(|start| word.starts_with(start));
    let leaves = |path: &PathBuf| {
        let ups = path.strip_prefix(dir).map(|inside| inside.components().any(|step| step == Component::ParentDir));
        ups.unwrap_or(true)
    };
    let mut paths = match backend {
        Backend::Script(ScriptBackend { command, args }) => {
            let command = Some(command).filter(|command| command.contains(['/', '\\']));
            let of_folder =
                command.into_iter().chain(args.iter().filter(|arg| relative(arg))).map(|word| dir.join(word));
            let of_workspace = args.iter().filter(|arg| !relative(arg)).map(|word| workspace.join(word));
            of_folder.chain(of_workspace.filter(|path| path.is_file())).collect()
        }
        Backend::Component(ComponentBackend { path, .. }) => vec![path.clone()],
    };
    paths.retain(leaves);
    paths
}

/// A word as it is where that is plain, else quoted and escaped.
fn shown(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("{word:?}") }
}

/// Looks at a project's `.youyou`; none where it holds nothing that could run, or is the home itself.
///
/// Skills run nothing and are no reason to ask, but once there is one, they are hashed too: they speak to the model. It
/// blocks while it reads; files are hashed piece by piece, whatever their size.
pub fn project_fingerprint(roots: &Roots) -> Option<ProjectContents> {
    let project = roots.project()?;
    let tools = list_tools(&project.join("tools"));
    let plugins = list_plugins(&project.join("plugins"));
    if tools.is_empty() && plugins.is_empty() {
        return None;
    }
    let named = tools.iter().map(|tool| (&*tool.name, tool.names(&roots.workspace)));
    let named =
        named.chain(plugins.iter().map(|plugin| (&*plugin.name, plugin.names(&roots.workspace)))).collect::<Vec<_>>();
    let hash = Walk::new(roots, &project).hash(&named);
    Some(ProjectContents { tools, plugins, hash })
}

fn list_tools(dir: &Path) -> Vec<Listed> {
    let mut folders = Vec::new();
    list_folders(dir, SourceLabel::Project, &mut folders, &mut Vec::new());
    let mut tools = folders
        .iter()
        .filter_map(|(folder, source)| tool::load(folder, *source).into_parts().0)
        .map(|tool| Listed { name: tool.spec.name.into(), backend: tool.execution.backend, index: tool.index })
        .collect::<Vec<_>>();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    tools
}

fn list_plugins(dir: &Path) -> Vec<ListedPlugin> {
    let mut folders = Vec::new();
    list_folders(dir, SourceLabel::Project, &mut folders, &mut Vec::new());
    folders.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    folders.iter().map(|(folder, _)| ListedPlugin::new(folder)).collect()
}

/// The folders that are hashed.
const KINDS: [&str; 3] = ["plugins", "skills", "tools"];

/// One walk through a project's folders. Each record in the hash says its kind and its lengths, so that no two projects
/// that differ give one row of bytes.
struct Walk<'p> {
    project: &'p Path,
    /// Links that lead below here are followed.
    workspace: Option<PathBuf>,
    /// What is walked through anyway.
    kinds: Vec<PathBuf>,
    /// Folders that a link led to; each is walked through once, so that circles end.
    followed: HashSet<PathBuf>,
    hasher: blake3::Hasher,
}

/// The kinds of records.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Record {
    File = b'f',
    Executable = b'x',
    Link = b'l',
    /// Where a link leads in the end, or what a definition names outside of its folder.
    Reached = b'r',
    /// A pipe, a socket or a device.
    Other = b'o',
    Unreadable = b'u',
}

impl<'p> Walk<'p> {
    fn new(roots: &Roots, project: &'p Path) -> Self {
        let kinds = KINDS.iter().filter_map(|kind| project.join(kind).canonicalize().ok()).collect();
        let workspace = roots.workspace.canonicalize().ok();
        Self { project, workspace, kinds, followed: HashSet::new(), hasher: blake3::Hasher::new() }
    }

    /// `named` are the files that each definition names, beside its name.
    fn hash(mut self, named: &[(&str, Vec<PathBuf>)]) -> String {
        self.hasher.update(b"youyou project 1\n");
        for kind in KINDS {
            let dir = self.project.join(kind);
            // The folder itself may be a link to anywhere: what stands in it is what runs.
            if dir.is_dir() {
                self.folder(&dir, kind.as_bytes());
            }
        }
        for (name, paths) in named {
            for path in paths {
                self.named(path, name.as_bytes());
            }
        }
        self.hasher.finalize().to_hex().to_string()
    }

    /// `way` leads from the project to the folder, its names parted by slashes on every system.
    fn folder(&mut self, dir: &Path, way: &[u8]) {
        let Ok(entries) = fs::read_dir(dir) else { return self.record(Record::Unreadable, way, b"") };
        let mut entries = entries.filter_map(Result::ok).map(|entry| (entry.file_name(), entry)).collect::<Vec<_>>();
        entries.sort_by(|(a, _), (b, _)| a.as_encoded_bytes().cmp(b.as_encoded_bytes()));
        for (name, entry) in entries {
            let way = [way, b"/", name.as_encoded_bytes()].concat();
            match entry.file_type() {
                Ok(kind) => self.entry(&entry.path(), &way, kind),
                Err(_) => self.record(Record::Unreadable, &way, b""),
            }
        }
    }

    fn entry(&mut self, path: &Path, way: &[u8], kind: FileType) {
        if kind.is_symlink() {
            self.link(path, way);
        } else if kind.is_dir() {
            self.folder(path, way);
        } else if kind.is_file() {
            self.file(path, way);
        } else {
            self.record(Record::Other, way, b"");
        }
    }

    fn link(&mut self, path: &Path, way: &[u8]) {
        let Ok(target) = fs::read_link(path) else { return self.record(Record::Unreadable, way, b"") };
        self.record(Record::Link, way, target.as_os_str().as_encoded_bytes());
        if let Some((target, metadata)) = self.reach(path, way) {
            self.entry(&target, way, metadata.file_type());
        }
    }

    /// A file that a tool or plugin names in some other folder of the workspace.
    fn named(&mut self, path: &Path, way: &[u8]) {
        if let Some((target, metadata)) = self.reach(path, way)
            && metadata.is_file()
        {
            self.file(&target, way);
        }
    }

    /// Notes where a path leads, and gives that if it is in the workspace and not walked through otherwise.
    fn reach(&mut self, path: &Path, way: &[u8]) -> Option<(PathBuf, Metadata)> {
        let target = path.canonicalize().ok()?;
        if self.kinds.iter().any(|kind| target.starts_with(kind)) {
            return None;
        }
        let inside = self.workspace.as_ref().and_then(|workspace| target.strip_prefix(workspace).ok());
        self.record(Record::Reached, way, inside.unwrap_or(&target).as_os_str().as_encoded_bytes());
        let leads_up = self.kinds.iter().any(|kind| kind.starts_with(&target));
        if inside.is_none() || leads_up || !self.followed.insert(target.clone()) {
            return None;
        }
        let metadata = fs::metadata(&target).ok()?;
        Some((target, metadata))
    }

    fn file(&mut self, path: &Path, way: &[u8]) {
        let hashed = regular_file::open(path).ok().and_then(|(file, metadata)| {
            let mut content = blake3::Hasher::new();
            content.update_reader(file).ok()?;
            Some((if is_executable(&metadata) { Record::Executable } else { Record::File }, content.finalize()))
        });
        match hashed {
            Some((kind, content)) => self.record(kind, way, content.as_bytes()),
            None => self.record(Record::Unreadable, way, b""),
        }
    }

    fn record(&mut self, kind: Record, way: &[u8], rest: &[u8]) {
        self.hasher.update(&[kind as u8]);
        for part in [way, rest] {
            self.hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
    }
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

/// Where there is no such bit, a file's name decides.
#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn only_a_plain_word_is_shown_as_it_is() {
        assert_eq!(shown("--fast=1"), "--fast=1");
        for (word, expected) in [
            ("", r#""""#),
            ("a b", r#""a b""#),
            ("x;rm -r /", r#""x;rm -r /""#),
            ("\u{1b}[2K", r#""\u{1b}[2K""#),
            ("a\nb", r#""a\nb""#),
            ("\u{202e}gpj", r#""\u{202e}gpj""#),
        ] {
            assert_eq!(shown(word), expected);
        }
    }
}
