//! What is run, on whose behalf, and the surroundings that every script of a host shares.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use youyou_api::{PluginId, ToolName};

/// The variable that holds YouYou's home folder (Y5.6-4).
pub const ENV_HOME: &str = "YOUYOU_HOME";
/// The variable that holds the folder of the tool or plugin (Y5.6-4).
pub const ENV_COMPONENT_DIR: &str = "YOUYOU_COMPONENT_DIR";
/// The variable that holds the session's id; absent when there is no session (Y5.6-4).
pub const ENV_SESSION_ID: &str = "YOUYOU_SESSION_ID";
/// The variable that counts how many scripts deep a process runs; 1 in a script that the outermost host started.
pub const ENV_DEPTH: &str = "YOUYOU_DEPTH";

/// The variable by which Python is told to leave no compiled modules beside a script's own: what a folder holds is what its
/// user has agreed to run, so running it must not change it (D-40).
pub const ENV_NO_PYTHON_CACHE: &str = "PYTHONDONTWRITEBYTECODE";

/// The `execution` block of a script, as written in `index.md`; nothing in it is resolved yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptCommand {
    /// The program: a path, the name of a file in [`dir`](Self::dir), or a program on `PATH` (D-54).
    pub command: String,
    /// Fixed arguments; those that begin with `./` or `../` are paths in [`dir`](Self::dir) (D-55).
    pub args: Vec<String>,
    /// The folder of the tool or plugin; absolute.
    pub dir: PathBuf,
    /// Where the script runs; relative to the session's working directory, which is the default (D-56).
    pub working_directory: Option<String>,
    /// How long one run may take (`timeout_ms`).
    pub timeout: Option<Duration>,
}

/// On whose behalf a script runs; named in messages and in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guest<'a> {
    /// A tool's call.
    Tool(&'a ToolName),
    /// A plugin's hook.
    Plugin(&'a PluginId),
}

impl fmt::Display for Guest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(name) => write!(f, "tool \"{name}\""),
            Self::Plugin(id) => write!(f, "plugin \"{id}\""),
        }
    }
}

/// What every script of one host shares: YouYou's home, the nesting depth, and where programs are looked up.
///
/// Cheap to clone. It is read from the process environment once, when it is made; runs do not read the environment
/// themselves, so two hosts in one process may differ.
#[derive(Debug, Clone)]
pub struct ScriptHost(Arc<Surroundings>);

#[derive(Debug, Clone)]
struct Surroundings {
    home: PathBuf,
    depth: u32,
    search: Vec<PathBuf>,
    /// Handed to children in place of the inherited `PATH`, where the host was given one of its own.
    own_path: Option<OsString>,
}

impl ScriptHost {
    /// A host whose scripts see `home` as `YOUYOU_HOME`. Takes `PATH` and `YOUYOU_DEPTH` from this process.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        // Without a PATH, programs such as env look where the system's default points.
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        Self(Arc::new(Surroundings {
            home: home.into(),
            depth: nesting_depth(),
            search: std::env::split_paths(&path).collect(),
            own_path: None,
        }))
    }

    /// The same host at another nesting depth.
    #[must_use]
    pub fn with_depth(mut self, depth: u32) -> Self {
        Arc::make_mut(&mut self.0).depth = depth;
        self
    }

    /// The same host with a `PATH` of its own: programs are looked up there, and scripts inherit it.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<OsString>) -> Self {
        let path = path.into();
        let parts = Arc::make_mut(&mut self.0);
        parts.search = std::env::split_paths(&path).collect();
        parts.own_path = Some(path);
        self
    }

    /// How many scripts deep this process runs; 0 outside of any. File hooks are off from 1 on (K-13).
    pub fn depth(&self) -> u32 {
        self.0.depth
    }

    /// YouYou's home folder.
    pub fn home(&self) -> &Path {
        &self.0.home
    }

    /// The folders of `PATH`, in order.
    pub(crate) fn search(&self) -> &[PathBuf] {
        &self.0.search
    }

    pub(crate) fn own_path(&self) -> Option<&OsStr> {
        self.0.own_path.as_deref()
    }
}

/// How many scripts deep this process runs, as its parent said; 0 outside of any (K-13).
pub fn nesting_depth() -> u32 {
    depth_from(std::env::var_os(ENV_DEPTH).as_deref())
}

/// A value that is no number was set by somebody, so it counts as one level: too deep is safe, too shallow recurses.
fn depth_from(value: Option<&OsStr>) -> u32 {
    match value {
        None => 0,
        Some(value) if value.is_empty() => 0,
        Some(value) => value.to_str().and_then(|text| text.trim().parse().ok()).unwrap_or(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_read_from_the_parents_value_and_garbage_counts_as_nested() {
        let depth = |value: &str| depth_from(Some(OsStr::new(value)));
        assert_eq!(depth_from(None), 0);
        assert_eq!([depth(""), depth("0"), depth("2"), depth(" 3 "), depth("-1"), depth("x")], [0, 0, 2, 3, 1, 1]);
    }

    #[test]
    fn a_guest_is_named_with_its_kind() {
        let (tool, plugin) = ("wc".parse().expect("legal"), "acme.guard".parse().expect("legal"));
        assert_eq!(Guest::Tool(&tool).to_string(), "tool \"wc\"");
        assert_eq!(Guest::Plugin(&plugin).to_string(), "plugin \"acme.guard\"");
    }
}
