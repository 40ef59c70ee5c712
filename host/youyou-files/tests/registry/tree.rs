//! A registry in a temporary directory, and what was said about it without the directory's own path.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use youyou_api::SourceLabel;
use youyou_files::{Loaded, Problem, Roots, ToolDefinition, ToolScan, load_tool, scan_tools};

/// `home/` and `work/` below a directory that is removed at the end.
pub(crate) struct Tree {
    dir: TempDir,
}

impl Tree {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a temporary directory") }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    /// Writes a file and the folders above it.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("creates folders");
        fs::write(path, content).expect("writes");
        self
    }

    /// Writes a global tool that is in order.
    pub(crate) fn good(&self, name: &str) -> &Self {
        self.write(&format!("home/tools/{name}/index.md"), tool(name))
    }

    #[cfg(unix)]
    pub(crate) fn link(&self, target: &str, link: &str) -> &Self {
        let link = self.path(link);
        fs::create_dir_all(link.parent().expect("a parent")).expect("creates folders");
        std::os::unix::fs::symlink(self.path(target), link).expect("links");
        self
    }

    /// Makes a pipe that nobody writes to.
    #[cfg(unix)]
    pub(crate) fn pipe(&self, path: &str) {
        let made = std::process::Command::new("mkfifo").arg(self.path(path)).status();
        assert!(made.expect("mkfifo runs").success());
    }

    pub(crate) fn roots(&self) -> Roots {
        Roots { home: self.path("home"), workspace: self.path("work") }
    }

    pub(crate) fn scan(&self) -> ToolScan {
        scan_tools(&self.roots())
    }

    /// Every problem with its severity, one on each line, in neutral words.
    pub(crate) fn shown(&self, problems: &[Problem]) -> String {
        self.neutral(&problems.iter().map(|problem| format!("{}: {problem}\n", problem.severity)).collect::<String>())
    }

    /// A message in which paths start at the tree and the system's own numbers of errors are left out.
    pub(crate) fn neutral(&self, message: &str) -> String {
        let dir = format!("{}{}", self.dir.path().display(), std::path::MAIN_SEPARATOR);
        let mut shown = message.replace(&dir, "");
        while let Some(start) = shown.find(" (os error ") {
            let length = shown[start..].find(')').expect("closed") + 1;
            shown.replace_range(start..start + length, "");
        }
        shown
    }
}

/// An index.md that nothing is to say about.
pub(crate) fn tool(name: &str) -> String {
    format!("---\nversion: 1\nname: {name}\nmutating: false\nexecution:\n  command: ./run\n---\nDoes {name}.\n")
}

/// A skill's index.md that nothing is to say about.
pub(crate) fn skill(name: &str) -> String {
    format!("---\nversion: 1\nname: {name}\ndescription: Does {name}.\n---\nDo {name}.\n")
}

/// Loads a tool `t` whose index.md is this.
pub(crate) fn load(index: impl AsRef<[u8]>) -> Loaded<ToolDefinition> {
    let tree = Tree::new();
    tree.write("t/index.md", index);
    load_tool(&tree.path("t"), SourceLabel::Global)
}

/// Loads a tool `t` with these lines in its front matter besides the version and the name.
pub(crate) fn load_lines(lines: &str) -> Loaded<ToolDefinition> {
    load(format!("---\nversion: 1\nname: t\nmutating: false\n{lines}---\nA tool.\n"))
}

/// The tool, about which nothing is to say.
pub(crate) fn fine(loaded: Loaded<ToolDefinition>) -> ToolDefinition {
    let (tool, remarks) = loaded.into_result().expect("loads");
    assert_eq!(remarks, []);
    tool
}

/// What is said, without the path.
pub(crate) fn said<T>(loaded: &Loaded<T>) -> String {
    let line = |problem: &Problem| {
        let shown = problem.to_string();
        let place = shown.find("index.md").map_or(&*shown, |start| &shown[start..]);
        format!("{}: {place}\n", problem.severity)
    };
    loaded.problems().iter().map(line).collect()
}

/// The names found, in order.
pub(crate) fn names(scan: &ToolScan) -> Vec<&str> {
    scan.tools.iter().map(|tool| tool.definition.spec.name.as_str()).collect()
}

/// Whether a path is inside another.
pub(crate) fn is_below(path: &Path, above: &Path) -> bool {
    path.is_absolute() && path.starts_with(above)
}
