//! Reads a folder's `index.md` from disk: bounded, and with a clear word for everything that is not a text file.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read},
    path::Path,
};

use crate::problem::{Problem, Severity};

/// The largest `index.md` that is read.
pub(crate) const MOST_BYTES: u64 = 1024 * 1024;

/// The file's text.
///
/// A link is followed. What is not a regular file is not read: a pipe could be waited for and a device read for ever.
pub(crate) fn read(index: &Path) -> Result<String, Box<Problem>> {
    let file = open(index).map_err(|error| not_opened(index, &error))?;
    let metadata = file.metadata().map_err(|error| unreadable(index, &error))?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() { "a folder" } else { "neither a file nor a folder" };
        return Err(Problem::new(Severity::Error, index, format!("index.md must be a file, it is {what}")).into());
    }
    if metadata.len() > MOST_BYTES {
        return Err(too_large(index, metadata.len()).into());
    }
    let expected = usize::try_from(metadata.len()).unwrap_or_default();
    let mut bytes = Vec::with_capacity(expected + 1);
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unreadable(index, &error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(too_large(index, bytes.len() as u64).into());
    }
    String::from_utf8(bytes).map_err(|error| not_utf8(index, error.as_bytes(), error.utf8_error().valid_up_to()).into())
}

/// Opens without waiting: the other end of a pipe may never come.
fn open(index: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options.open(index)
}

fn too_large(index: &Path, bytes: u64) -> Problem {
    let message = format!("index.md is {bytes} bytes long, at most {MOST_BYTES} (1 MiB) are read");
    Problem::new(Severity::Error, index, message).with_hint("move long texts into other files of the folder")
}

fn unreadable(index: &Path, error: &io::Error) -> Problem {
    Problem::new(Severity::Error, index, format!("index.md cannot be read: {error}"))
}

fn not_utf8(index: &Path, bytes: &[u8], valid: usize) -> Problem {
    let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    let hint = if utf16 { "it looks like UTF-16: save it as UTF-8" } else { "save it as UTF-8" };
    let mut problem =
        Problem::new(Severity::Error, index, format!("index.md is not UTF-8: byte {} is invalid", valid + 1))
            .with_hint(hint);
    let line = bytes[..valid].iter().filter(|byte| **byte == b'\n').count() + 1;
    problem.line = u32::try_from(line).ok();
    problem
}

/// Why there is nothing to read: no folder, nothing in it, a link to nowhere, a link in a circle, or not allowed.
fn not_opened(index: &Path, error: &io::Error) -> Problem {
    let folder = index.parent().unwrap_or(index);
    match error.kind() {
        ErrorKind::NotFound => {}
        ErrorKind::NotADirectory => {
            return Problem::new(Severity::Error, folder, "this is not a folder").with_hint("name the folder itself");
        }
        _ if index.is_dir() => {
            return Problem::new(Severity::Error, index, "index.md must be a file, it is a folder");
        }
        _ => {
            let hint = "check the permissions, and that a link does not lead in a circle";
            return unreadable(index, error).with_hint(hint);
        }
    }
    if let Ok(target) = fs::read_link(index) {
        let message = format!("index.md is a link to {}, where nothing is", target.display());
        return Problem::new(Severity::Error, index, message).with_hint("mend the link");
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
