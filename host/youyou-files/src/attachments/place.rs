//! Opens a path for reading if it leads below the workspace or the home, however it gets there (D-73).
//!
//! The path is resolved first, so that links between and inside the two roots work. What it resolved to is then opened
//! from a handle of the root, which lets nothing lead out: the check holds for the file that is open, not for one that had
//! its name a moment ago.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read},
    path::{Component, Path, PathBuf},
};

use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};
use youyou_api::{Error, ErrorCode};

use super::{FileBytes, invalid, too_large};
use crate::{regular_file::other_kind, scan::Roots};

/// A regular file below a root, open for reading.
pub(super) struct Opened {
    name: String,
    file: File,
    size: u64,
}

impl Opened {
    /// All of it, unless it holds more than `most`; `what` it is, is for the message.
    pub(super) fn read(self, most: u64, what: &str) -> Result<FileBytes, Error> {
        let Self { name, file, size } = self;
        let shown = format!("{name:?}");
        if size > most {
            return Err(too_large(&shown, size, most, what));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
        // One more than allowed, so that a file that has grown since is noticed.
        if let Err(error) = file.take(most + 1).read_to_end(&mut bytes) {
            return Err(invalid(format!("{shown} cannot be read: {error}")));
        }
        let found = bytes.len() as u64;
        if found > most { Err(too_large(&shown, found, most, what)) } else { Ok(FileBytes { name, bytes }) }
    }
}

/// Opens a file; a relative path starts at the workspace.
pub(super) fn open(roots: &Roots, asked: &Path) -> Result<Opened, Error> {
    let full = roots.workspace.join(asked);
    let target = full.canonicalize().map_err(|error| unresolved(roots, asked, &full, &error))?;
    let (root, inside) = below_root(roots, &target).ok_or_else(|| not_allowed(roots, asked))?;
    let file = open_below(&root, &inside).map_err(|error| not_opened(roots, asked, &target, &error))?;
    let metadata = file.metadata().map_err(|error| not_opened(roots, asked, &target, &error))?;
    if let Some(what) = other_kind(metadata.file_type()) {
        return Err(not_a_file(asked, what));
    }
    Ok(Opened { name: name(asked, &inside), file, size: metadata.len() })
}

/// The root that a resolved path is below, and the way from there.
fn below_root(roots: &Roots, target: &Path) -> Option<(PathBuf, PathBuf)> {
    [&roots.workspace, &roots.home].into_iter().find_map(|root| {
        let root = root.canonicalize().ok()?;
        let inside = target.strip_prefix(&root).ok()?.to_owned();
        Some((root, inside))
    })
}

/// Opens without waiting, and nothing that a link leads to outside of `root`.
fn open_below(root: &Path, inside: &Path) -> io::Result<File> {
    let dir = Dir::open_ambient_dir(root, ambient_authority())?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let inside = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
    dir.open_with(inside, &options).map(cap_std::fs::File::into_std)
}

/// What to call a file: as it was asked for if that is a plain way from the workspace, else the way from the root.
fn name(asked: &Path, inside: &Path) -> String {
    let plain = asked.components().all(|component| matches!(component, Component::Normal(_)));
    if plain { asked } else { inside }.to_string_lossy().into_owned()
}

fn refused(code: ErrorCode, asked: &Path, message: String) -> Error {
    Error::new(code, message).with_detail("path", asked.to_string_lossy())
}

fn not_allowed(roots: &Roots, asked: &Path) -> Error {
    let message = format!(
        "{asked:?} may not be attached: it is neither below the workspace {:?} nor below {:?}; copy it into the workspace",
        roots.workspace, roots.home
    );
    refused(ErrorCode::PathNotAllowed, asked, message)
}

fn not_a_file(asked: &Path, what: &str) -> Error {
    let hint = if what == "a folder" { "attach the files in it" } else { "only files can be attached" };
    refused(ErrorCode::InvalidInput, asked, format!("{asked:?} is {what}; {hint}"))
}

/// Why a path leads to nothing. What is outside of the roots is not told of, not even that it is missing.
fn unresolved(roots: &Roots, asked: &Path, full: &Path, error: &io::Error) -> Error {
    let nearest = full.ancestors().skip(1).find_map(|above| above.canonicalize().ok());
    if nearest.is_none_or(|above| below_root(roots, &above).is_none()) {
        return not_allowed(roots, asked);
    }
    let message = match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => match fs::read_link(full) {
            Ok(target) => format!("{asked:?} is a link to {target:?}, where nothing is; mend the link"),
            Err(_) if asked.is_relative() => {
                format!("there is no file {asked:?} in {:?}; a relative path starts there", roots.workspace)
            }
            Err(_) => format!("there is no file {asked:?}; check the path"),
        },
        _ => format!(
            "{asked:?} cannot be opened: {error}; check its permissions, and that links do not lead in a circle"
        ),
    };
    refused(ErrorCode::InvalidInput, asked, message)
}

fn not_opened(roots: &Roots, asked: &Path, target: &Path, error: &io::Error) -> Error {
    // Not an answer of the system: a link that leads out has taken the place of what was resolved.
    if error.kind() == ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
        return not_allowed(roots, asked);
    }
    // A socket, or on some systems a folder, cannot be opened at all.
    match fs::metadata(target).ok().and_then(|metadata| other_kind(metadata.file_type())) {
        Some(what) => not_a_file(asked, what),
        None => {
            let message = format!("{asked:?} cannot be opened: {error}; check its permissions");
            refused(ErrorCode::InvalidInput, asked, message)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_as_it_was_asked_for_where_that_is_plain() {
        let name = |asked: &str| name(Path::new(asked), Path::new("sub/found.txt"));
        assert_eq!(name("sub/link.txt"), "sub/link.txt");
        for odd in ["/w/sub/found.txt", "./x", "a/../b"] {
            assert_eq!(name(odd), "sub/found.txt", "{odd}");
        }
    }
}
