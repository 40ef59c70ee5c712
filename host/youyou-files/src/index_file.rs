//! Reads a folder's `index.md` from disk, with a clear word for everything that is not a text file.

use std::{
    fs,
    io::{self, ErrorKind},
    path::Path,
};

use crate::{
    problem::{Problem, Severity},
    regular_file::{self, Unread},
};

/// The largest `index.md` that is read.
pub(crate) const MOST_BYTES: u64 = 1024 * 1024;

/// The file's text.
pub(crate) fn read(index: &Path) -> Result<String, Box<Problem>> {
    let bytes = regular_file::read(index, MOST_BYTES).map_err(|unread| match unread {
        Unread::NotOpened(error) => not_opened(index, error),
        Unread::TooLarge { found, .. } => too_large(index, found),
        Unread::NotAFile(_) | Unread::Broken(_) => unread.problem(index),
    })?;
    regular_file::text(index, bytes)
}

fn too_large(index: &Path, bytes: u64) -> Problem {
    let message = format!("index.md is {bytes} bytes long, at most {MOST_BYTES} (1 MiB) are read");
    Problem::new(Severity::Error, index, message).with_hint("move long texts into other files of the folder")
}

/// Why there is nothing to read: no folder, nothing in it, a link to nowhere, a link in a circle, or not allowed.
fn not_opened(index: &Path, error: io::Error) -> Problem {
    let folder = index.parent().unwrap_or(index);
    if error.kind() == ErrorKind::NotADirectory {
        return Problem::new(Severity::Error, folder, "this is not a folder").with_hint("name the folder itself");
    }
    let unread = Unread::NotOpened(error);
    if !unread.is_missing(index) {
        return unread.problem(index);
    }
    if !folder.exists() {
        return Problem::new(Severity::Error, folder, "there is no such folder");
    }
    let problem = Problem::new(Severity::Error, folder, "the folder holds no index.md");
    match near_name(folder) {
        Some(near) => problem.with_hint(format!("rename {near:?} to \"index.md\"")),
        None => problem.with_hint("every folder here needs one; move other folders elsewhere"),
    }
}

/// A file that may have been meant as `index.md`.
fn near_name(folder: &Path) -> Option<String> {
    const LOOKED_AT: usize = 1000;
    let names =
        fs::read_dir(folder).ok()?.take(LOOKED_AT).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| name.to_lowercase().starts_with("index.m")).min()
}
