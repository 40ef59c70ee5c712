//! Paths as a guest names them: `/` between parts, relative to its working directory or absolute.
//!
//! Everything here is lexical. What a symlink does is decided by the sandbox below, never by these functions.

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// A path with every `.` and every inner `..` folded away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GuestPath {
    origin: Origin,
    parts: Vec<String>,
}

/// Where a path starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The root of the file system.
    Root,
    /// The working directory, and this many directories up from it.
    WorkingDir { ups: usize },
}

impl GuestPath {
    /// The working directory itself.
    pub(super) fn working_dir() -> Self {
        Self { origin: Origin::WorkingDir { ups: 0 }, parts: Vec::new() }
    }

    /// The root of the file system.
    pub(super) fn root() -> Self {
        Self { origin: Origin::Root, parts: Vec::new() }
    }

    /// The path that `text` names, seen from the working directory.
    pub(super) fn new(text: &str) -> Self {
        Self::working_dir().join(text)
    }

    /// The path that `text` names, seen from this one; an absolute `text` replaces it.
    pub(super) fn join(&self, text: &str) -> Self {
        let mut path = if text.starts_with('/') { Self::root() } else { self.clone() };
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => path.go_up(),
                part => path.parts.push(part.to_owned()),
            }
        }
        path
    }

    fn go_up(&mut self) {
        if self.parts.pop().is_some() {
            return;
        }
        match &mut self.origin {
            Origin::Root => {}
            Origin::WorkingDir { ups } => *ups += 1,
        }
    }

    /// The directory that holds this path.
    pub(super) fn parent(&self) -> Self {
        let mut parent = self.clone();
        parent.go_up();
        parent
    }

    /// Whether this path is `directory` or lies below it.
    pub(super) fn is_within(&self, directory: &Self) -> bool {
        self.origin == directory.origin && self.parts.starts_with(&directory.parts)
    }

    /// What leads from `directory` to this path; none where it is not within.
    pub(super) fn below(&self, directory: &Self) -> Option<PathBuf> {
        if self.origin != directory.origin {
            return None;
        }
        Some(self.parts.strip_prefix(directory.parts.as_slice())?.iter().collect())
    }

    /// Whether this is the working directory itself.
    pub(super) fn is_working_dir(&self) -> bool {
        *self == Self::working_dir()
    }

    /// Whether this is the root of the file system.
    pub(super) fn is_root(&self) -> bool {
        *self == Self::root()
    }

    /// The same parts, started at the root of the file system.
    pub(super) fn as_absolute(&self) -> Self {
        Self { origin: Origin::Root, parts: self.parts.clone() }
    }

    /// The part that comes first after the origin.
    pub(super) fn first_part(&self) -> Option<&str> {
        self.parts.first().map(String::as_str)
    }

    /// Whether the path starts at the root of the file system.
    pub(super) fn is_absolute(&self) -> bool {
        match self.origin {
            Origin::Root => true,
            Origin::WorkingDir { .. } => false,
        }
    }

    /// Where it is on this machine.
    pub(super) fn on_host(&self, working_dir: &Path) -> PathBuf {
        let mut host = match self.origin {
            Origin::Root => PathBuf::from("/"),
            Origin::WorkingDir { ups } => {
                let mut host = working_dir.to_path_buf();
                host.extend((0..ups).map(|_| ".."));
                host
            }
        };
        host.extend(&self.parts);
        host
    }
}

/// `/a/b`, `./a/b`, `../a`, `.`: as it would stand in `index.md`.
impl fmt::Display for GuestPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.origin {
            Origin::Root => write!(f, "/{}", self.parts.join("/")),
            Origin::WorkingDir { ups: 0 } if self.parts.is_empty() => f.write_str("."),
            Origin::WorkingDir { ups: 0 } => write!(f, "./{}", self.parts.join("/")),
            Origin::WorkingDir { ups } => {
                let parts: Vec<&str> = (0..ups).map(|_| "..").chain(self.parts.iter().map(String::as_str)).collect();
                f.write_str(&parts.join("/"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_fold_lexically() {
        let shown = |text: &str| GuestPath::new(text).to_string();
        for (text, expected) in [
            ("", "."),
            (".", "."),
            ("./", "."),
            ("data", "./data"),
            ("./data//x/.", "./data/x"),
            ("data/../secret", "./secret"),
            ("data/../../x", "../x"),
            ("../../x", "../../x"),
            ("..", ".."),
            ("/", "/"),
            ("/etc/../../x", "/x"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn being_within_a_directory_goes_by_whole_parts() {
        let data = GuestPath::new("./data");
        assert!(GuestPath::new("data").is_within(&data));
        assert!(GuestPath::new("data/a/b").is_within(&data));
        assert!(!GuestPath::new("data2").is_within(&data));
        assert!(!GuestPath::new("/data").is_within(&data));
        assert!(!data.join("../x").is_within(&data));
        assert!(!data.join("/data/x").is_within(&data));
        assert!(GuestPath::new("a").is_within(&GuestPath::working_dir()));
        assert!(!GuestPath::new("../a").is_within(&GuestPath::working_dir()));
    }

    proptest::proptest! {
        /// K-63: what counts as within a directory is below it on the host too.
        #[test]
        fn within_means_below_whatever_the_path(base in "[ab./]{0,8}", rest in "[ab./]{0,16}") {
            let base = GuestPath::new(&base);
            let path = base.join(&rest);
            let (cwd, mut depth, mut least) = (Path::new("/1/2/3/4/5/6/7/8/9"), 0i32, 0i32);
            for part in rest.split('/') {
                depth += match part { "" | "." => 0, ".." => -1, _ => 1 };
                least = least.min(depth);
            }
            if !rest.starts_with('/') && least == 0 {
                proptest::prop_assert!(path.is_within(&base), "{path} in {base}");
            }
            if path.is_within(&base) {
                proptest::prop_assert!(path.on_host(cwd).starts_with(base.on_host(cwd)), "{path} in {base}");
            }
        }
    }

    #[test]
    fn a_path_is_found_on_the_host() {
        let cwd = Path::new("/home/me/project");
        assert_eq!(GuestPath::new("a/b").on_host(cwd), Path::new("/home/me/project/a/b"));
        assert_eq!(GuestPath::new("../a").on_host(cwd), Path::new("/home/me/project/../a"));
        assert_eq!(GuestPath::new("/etc").on_host(cwd), Path::new("/etc"));
        assert_eq!(GuestPath::new("..").parent(), GuestPath::new("../.."));
    }
}
