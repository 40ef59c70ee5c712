//! A home and a workspace in a temporary directory, written down as one string.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use youyou::{ComponentHost, HostConfig, Runtime, RuntimeBuilder};

use crate::{compiled::compile_cache, guests, session::Session};

/// A directory with a `home` (what `~/.youyou` is to a user) and a `work` (the project folder), removed at the end.
///
/// Its files are sections of one string. A section begins with `-- ` and a path below the directory; the lines up to
/// the next section are the file:
///
/// ```
/// let world = youyou_tests::World::new("
/// -- home/tools/greet/index.md
/// ---
/// version: 1
/// name: greet
/// execution: { command: ./run }
/// ---
/// Greets.
/// -- home/tools/greet/run (executable)
/// #!/bin/sh
/// echo hello
/// -- work/.youyou/tools/greet -> home/tools/greet
/// -- work/empty/
/// ");
/// assert!(world.path("work/.youyou/tools/greet/run").is_file());
/// ```
///
/// `(executable)` is a program, `(guest NAME)` a copy of a built guest, `-> TARGET` a symbolic link to a path of the
/// same directory, a `/` at the end a folder.
pub struct World {
    root: TempDir,
}

impl World {
    /// Makes the directory and its files.
    ///
    /// # Panics
    /// When the text is no list of sections, or a file cannot be written.
    #[track_caller]
    pub fn new(tree: &str) -> Self {
        let world = Self { root: tempfile::tempdir().expect("a temporary directory") };
        world.add("-- home/tools/\n-- work/\n");
        world.add(tree);
        world
    }

    /// Adds more files, or writes some anew.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    #[track_caller]
    pub fn add(&self, tree: &str) -> &Self {
        let mut sections = format!("\n{tree}");
        if !sections.ends_with('\n') {
            sections.push('\n');
        }
        let (before, sections) = sections.split_once("\n-- ").unwrap_or((&sections, ""));
        assert!(before.trim().is_empty(), "the tree begins with a section, not with {before:?}");
        for section in sections.split("\n-- ").filter(|section| !section.is_empty()) {
            let (head, content) = section.split_once('\n').unwrap_or((section, ""));
            let content =
                if content.is_empty() { String::new() } else { format!("{}\n", content.trim_end_matches('\n')) };
            self.add_section(head.trim(), &content);
        }
        self
    }

    #[track_caller]
    fn add_section(&self, head: &str, content: &str) {
        if let Some((link, target)) = head.split_once(" -> ") {
            self.link(target, link);
        } else if let Some(program) = head.strip_suffix(" (executable)") {
            let path = self.write(program, content);
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("chmod");
        } else if let Some((path, guest)) = head.strip_suffix(')').and_then(|head| head.split_once(" (guest ")) {
            self.write(path, fs::read(guests::guest(guest)).expect("the guest is readable"));
        } else if head.ends_with('/') {
            fs::create_dir_all(self.path(head)).expect("makes the folder");
        } else {
            self.write(head, content);
        }
    }

    /// Writes one file and the folders above it; where it is.
    ///
    /// # Panics
    /// When it cannot be written.
    #[track_caller]
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("makes the folders");
        fs::write(&path, content).expect("writes");
        path
    }

    /// Makes a symbolic link; `target` is a path of this directory, or absolute.
    ///
    /// # Panics
    /// When it cannot be made.
    #[track_caller]
    pub fn link(&self, target: impl AsRef<Path>, link: &str) {
        let link = self.path(link);
        fs::create_dir_all(link.parent().expect("a parent")).expect("makes the folders");
        symlink(self.root.path().join(target), link).expect("links");
    }

    /// A path below the directory.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    /// What `~/.youyou` is to a user.
    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// The project folder.
    pub fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// The text of a file.
    ///
    /// # Panics
    /// When there is none.
    #[track_caller]
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// A runtime on the two folders. What it compiles is kept for all tests and runs.
    ///
    /// # Panics
    /// When it does not open.
    #[track_caller]
    pub fn open(&self) -> Session {
        self.open_with(components(&compile_cache()), |builder| builder)
    }

    /// A runtime with an empty cache of its own, in `cache/components`.
    ///
    /// # Panics
    /// When it does not open.
    #[track_caller]
    pub fn open_with_own_cache(&self) -> Session {
        self.open_with(components(&self.path("cache/components")), |builder| builder)
    }

    /// A runtime with this component host, and with whatever else the test wants in it.
    ///
    /// # Panics
    /// When it does not open.
    #[track_caller]
    pub fn open_with(&self, host: ComponentHost, change: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder) -> Session {
        let builder = Runtime::builder(self.home(), self.work()).components(host);
        Session::new(change(builder).open().expect("the runtime opens"), self.work())
    }

    /// A text without the paths of this machine: the directory is `[world]`, the repository `[repository]`.
    pub fn shown(&self, text: &str) -> String {
        let world = self.root.path().display().to_string();
        text.replace(&world, "[world]").replace(&guests::repository().display().to_string(), "[repository]")
    }
}

/// A component host that keeps what it compiles in `dir`.
///
/// # Panics
/// When it cannot be made.
pub fn components(dir: &Path) -> ComponentHost {
    let mut config = HostConfig::default();
    config.cache_dir = Some(dir.to_owned());
    ComponentHost::new(config).expect("a component host")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_become_files_of_their_kind() {
        let world = World::new(
            "
-- work/a.md
---
key: value
---

text
-- work/run (executable)
#!/bin/sh
-- work/link -> work/a.md
-- work/folder/
-- work/empty
",
        );
        assert_eq!(world.read("work/a.md"), "---\nkey: value\n---\n\ntext\n");
        assert_eq!(world.read("work/link"), world.read("work/a.md"));
        assert_eq!(world.read("work/empty"), "");
        assert!(world.path("work/folder").is_dir());
        let mode = fs::metadata(world.path("work/run")).expect("is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }

    #[test]
    fn paths_of_this_machine_are_not_shown() {
        let world = World::new("");
        assert_eq!(world.shown(&format!("in {}", world.work().display())), "in [world]/work");
    }
}
