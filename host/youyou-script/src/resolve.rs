//! Which words of a command are paths, and where they lead (D-54, D-55, D-56).
//!
//! It looks at the disk only to tell a file in the folder from a program on `PATH`. Whether what it finds can run is
//! the preflight's matter.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

/// Where a command leads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// An absolute path that the text or the disk settles; it need not exist.
    At(PathBuf),
    /// Neither a path, nor a file in the folder, nor a program on `PATH`.
    Nowhere,
}

/// Finds the program (D-54): absolute as is; with a separator, or naming a file in the folder, joined with the folder;
/// else by `PATH`, of which only absolute entries count, so that a session's working directory cannot slip a program in.
pub(crate) fn program(command: &str, dir: &Path, search: &[PathBuf]) -> Program {
    if Path::new(command).is_absolute() {
        return Program::At(command.into());
    }
    if command.contains(is_separator) {
        return Program::At(join(dir, command));
    }
    let inside = dir.join(command);
    // A symbolic link counts although it may lead nowhere: a program of its name on `PATH` is not what the author meant.
    let entry = fs::symlink_metadata(&inside).ok().filter(|_| !command.is_empty());
    let is_folder = entry.as_ref().is_some_and(|entry| entry.is_dir() || entry.is_symlink() && inside.is_dir());
    if entry.is_some() && !is_folder {
        return Program::At(inside);
    }
    let entries = search.iter().filter(|entry| entry.is_absolute());
    match on_path(command, entries) {
        Some(found) => Program::At(found),
        // A folder of that name is what the author meant; the preflight says what is wrong with it.
        None if is_folder => Program::At(inside),
        None => Program::Nowhere,
    }
}

/// Looks a bare name up in folders: the first file that may be executed, else the first file.
pub(crate) fn on_path<'a>(name: &str, entries: impl Iterator<Item = &'a PathBuf>) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    let mut second_best = None;
    for candidate in entries.flat_map(|entry| candidates(&entry.join(name))) {
        if is_executable(&candidate) && candidate.is_file() {
            return Some(candidate);
        }
        if second_best.is_none() && candidate.is_file() {
            second_best = Some(candidate);
        }
    }
    second_best
}

/// Resolves one argument (D-55): `./…` and `../…` lead into the folder, every other argument stays as it is.
pub(crate) fn argument(arg: &str, dir: &Path) -> OsString {
    let path = ["./", "../"].iter().any(|prefix| arg.starts_with(prefix))
        || (cfg!(windows) && [".\\", "..\\"].iter().any(|prefix| arg.starts_with(prefix)));
    if path { join(dir, arg).into_os_string() } else { arg.into() }
}

/// Resolves the working directory (D-56).
pub(crate) fn working_directory(written: Option<&str>, cwd: &Path) -> PathBuf {
    match written {
        None => cwd.to_owned(),
        // Rebuilt from its components, so that `.` leaves no trace in messages.
        Some(written) => cwd.join(written).components().collect(),
    }
}

/// Whether this process may execute the file, as far as the system can tell beforehand.
#[cfg(unix)]
pub(crate) fn is_executable(path: &Path) -> bool {
    nix::unistd::access(path, nix::unistd::AccessFlags::X_OK).is_ok()
}

/// Windows decides by the name and the content; there is nothing to ask beforehand.
#[cfg(windows)]
pub(crate) fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// The spellings under which a program may be found.
#[cfg(unix)]
fn candidates(path: &Path) -> [PathBuf; 1] {
    [path.to_owned()]
}

/// The spellings under which a program may be found.
#[cfg(windows)]
fn candidates(path: &Path) -> [PathBuf; 5] {
    ["", ".exe", ".cmd", ".bat", ".com"].map(|extension| {
        let mut name = path.as_os_str().to_owned();
        name.push(extension);
        name.into()
    })
}

fn is_separator(c: char) -> bool {
    std::path::is_separator(c)
}

/// Joins without a leading `./`. `..` is kept: only the system knows where it leads behind a symbolic link. A trailing
/// separator is kept as well, since some programs give it a meaning.
fn join(dir: &Path, relative: &str) -> PathBuf {
    let mut rest = relative;
    while let Some(shorter) = rest.strip_prefix('.').filter(|shorter| shorter.starts_with(is_separator)) {
        // All separators, since what is left must not look absolute.
        rest = shorter.trim_start_matches(is_separator);
    }
    dir.join(rest)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use proptest::prelude::*;

    use super::*;

    fn file(path: &Path, mode: u32) {
        fs::write(path, "x").expect("writes");
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("chmod");
    }

    /// D-54.
    #[test]
    fn a_command_is_a_path_a_file_in_the_folder_or_a_program_on_path() {
        let (dir, bin) = (tempfile::tempdir().expect("dir"), tempfile::tempdir().expect("dir"));
        let (dir, bin) = (dir.path(), bin.path());
        file(&dir.join("run"), 0o644);
        file(&bin.join("run"), 0o755);
        file(&bin.join("jq"), 0o755);
        fs::create_dir(dir.join("lib")).expect("mkdir");
        file(&bin.join("dangling"), 0o755);
        std::os::unix::fs::symlink("gone", dir.join("dangling")).expect("symlink");
        let search = [PathBuf::from("relative"), bin.to_owned()];
        let find = |command: &str| program(command, dir, &search);

        assert_eq!(find("/bin/sh"), Program::At("/bin/sh".into()));
        assert_eq!(find("run"), Program::At(dir.join("run")));
        assert_eq!(find("./run"), Program::At(dir.join("run")));
        assert_eq!(find("././/none"), Program::At(dir.join("none")));
        assert_eq!(find("sub/run"), Program::At(dir.join("sub/run")));
        assert_eq!(find("../run"), Program::At(dir.join("../run")));
        assert_eq!(find("jq"), Program::At(bin.join("jq")));
        assert_eq!(find("lib"), Program::At(dir.join("lib")));
        assert_eq!(find("dangling"), Program::At(dir.join("dangling")));
        assert_eq!(find("none"), Program::Nowhere);
        assert_eq!(find(""), Program::Nowhere);
    }

    #[test]
    fn path_prefers_a_file_that_may_be_executed() {
        let (first, second) = (tempfile::tempdir().expect("dir"), tempfile::tempdir().expect("dir"));
        file(&first.path().join("a"), 0o644);
        file(&second.path().join("a"), 0o755);
        file(&first.path().join("b"), 0o644);
        let entries = [first.path().to_owned(), second.path().to_owned()];
        assert_eq!(on_path("a", entries.iter()), Some(second.path().join("a")));
        assert_eq!(on_path("b", entries.iter()), Some(first.path().join("b")));
        assert_eq!(on_path("c", entries.iter()), None);
    }

    /// K-34, D-55.
    #[test]
    fn only_arguments_that_begin_with_a_dot_and_a_separator_are_paths() {
        let resolved = |arg: &str| argument(arg, Path::new("/tool")).into_string().expect("UTF-8");
        for untouched in ["-c", "a/b", "main", ".", "..", ".hidden", "...", "/abs", "", "--x=./y", "~/x"] {
            assert_eq!(resolved(untouched), untouched);
        }
        assert_eq!(resolved("./x"), "/tool/x");
        assert_eq!(resolved("./data/"), "/tool/data/");
        assert_eq!(resolved("../x"), "/tool/../x");
        assert_eq!(resolved(".//etc/passwd"), "/tool/etc/passwd");
    }

    /// D-56.
    #[test]
    fn a_working_directory_starts_at_the_sessions() {
        let resolved = |written| working_directory(written, Path::new("/session"));
        assert_eq!(resolved(None), Path::new("/session"));
        assert_eq!(resolved(Some(".")).as_os_str(), "/session");
        assert_eq!(resolved(Some("./a")).as_os_str(), "/session/a");
        assert_eq!(resolved(Some("/b")), Path::new("/b"));
    }

    proptest! {
        /// D-55: an argument either stays exactly as it is, or leads from the folder and keeps its end.
        #[test]
        fn an_argument_is_left_alone_or_starts_in_the_folder(arg in "[./]{0,4}[a-z./-]{0,6}") {
            let resolved = argument(&arg, Path::new("/tool")).into_string().expect("UTF-8");
            if arg.starts_with("./") || arg.starts_with("../") {
                prop_assert!(resolved.starts_with("/tool/"), "{resolved}");
                prop_assert!(arg.ends_with(resolved.trim_start_matches("/tool/")));
            } else {
                prop_assert_eq!(resolved, arg);
            }
        }
    }
}
