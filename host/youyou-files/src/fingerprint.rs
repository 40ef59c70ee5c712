//! What a project's `.youyou` would run, and a hash that changes when any of it does (D-40).
//!
//! Whether somebody trusts it is the matter of [`trust`](crate::trust); what to do without trust is the host's.

mod listed;

use std::{
    collections::HashSet,
    fs::{self, FileType, Metadata},
    path::{Path, PathBuf},
};

pub use self::listed::{Listed, ListedPlugin};
use crate::{regular_file, scan::Roots};

/// What a project would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectContents {
    /// Every usable tool, in byte order of the names.
    pub tools: Vec<Listed>,
    /// Every folder in `plugins/`, in byte order of the names; also one that cannot be used as it is.
    pub plugins: Vec<ListedPlugin>,
    /// Changes with every byte, name, link and executable bit below `tools/`, `skills/` and `plugins/`, and when something
    /// there takes the place of another of the user's own; not with the times of files or the place of the workspace.
    ///
    /// A link is hashed as the place it leads to, and where that is in the workspace with what stands there; a file that a
    /// tool or plugin names elsewhere in the workspace likewise. What a script reaches in other ways is not watched: programs of the
    /// system, files that it opens or loads by itself.
    pub hash: String,
}

/// Looks at a project's `.youyou`; none where it holds nothing that could run, or is the home itself.
///
/// Skills run nothing and are no reason to ask, but once there is one, they are hashed too: they speak to the model. It
/// blocks while it reads; files are hashed piece by piece, whatever their size.
pub fn project_fingerprint(roots: &Roots) -> Option<ProjectContents> {
    let project = roots.project()?;
    let tools = listed::tools(&project.join("tools"), &roots.home.join("tools"));
    let plugins = listed::plugins(&project.join("plugins"), &roots.home.join("plugins"));
    if tools.is_empty() && plugins.is_empty() {
        return None;
    }
    let named = tools.iter().map(|tool| (&*tool.name, tool.names(&roots.workspace)));
    let named =
        named.chain(plugins.iter().map(|plugin| (&*plugin.name, plugin.names(&roots.workspace)))).collect::<Vec<_>>();
    let own = tools.iter().filter(|tool| tool.replaces.is_some()).map(|tool| ("tools", &*tool.name));
    let own =
        own.chain(plugins.iter().filter(|plugin| plugin.of_user.is_some()).map(|plugin| ("plugins", &*plugin.name)));
    let mut walk = Walk::new(roots, &project);
    own.for_each(|(kind, name)| walk.record(Record::OfUser, name.as_bytes(), kind.as_bytes()));
    let hash = walk.hash(&named);
    Some(ProjectContents { tools, plugins, hash })
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
    /// The user has a tool or plugin of this name too.
    OfUser = b'y',
}

impl<'p> Walk<'p> {
    fn new(roots: &Roots, project: &'p Path) -> Self {
        let kinds = KINDS.iter().filter_map(|kind| project.join(kind).canonicalize().ok()).collect();
        let workspace = roots.workspace.canonicalize().ok();
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"youyou project 1\n");
        Self { project, workspace, kinds, followed: HashSet::new(), hasher }
    }

    /// `named` are the files that each definition names, beside its name.
    fn hash(mut self, named: &[(&str, Vec<PathBuf>)]) -> String {
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
