//! Reads a file whole or its start: without waiting, bounded, and never anything but a regular file.
//!
//! A link is followed. A pipe could be waited for and a device read for ever, so neither is read. What the bytes mean is
//! not known here.

use std::{
    borrow::Cow,
    fs::{self, File, Metadata},
    io::{self, ErrorKind, Read},
    path::Path,
};

use crate::problem::{Problem, Severity};

/// Why there is nothing to read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It is missing, a link leads nowhere, or it may not be opened.
    NotOpened(io::Error),
    /// It is something else; says what.
    NotAFile(&'static str),
    /// It holds more bytes than are read.
    TooLarge { found: u64, most: u64 },
    /// Reading failed half-way.
    Broken(io::Error),
}

/// All bytes of a file that holds at most `most`.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>, Unread> {
    let (file, metadata) = open(path)?;
    let size = metadata.len();
    if size > most {
        return Err(Unread::TooLarge { found: size, most });
    }
    // One more than allowed, so that a file that has grown since is noticed.
    let bytes = read_start_of(file, size, most + 1)?;
    let found = bytes.len() as u64;
    if found > most { Err(Unread::TooLarge { found, most }) } else { Ok(bytes) }
}

/// The first bytes of a file, at most `most`, and how many it holds in all.
pub(crate) fn read_start(path: &Path, most: u64) -> Result<(Vec<u8>, u64), Unread> {
    let (file, metadata) = open(path)?;
    let size = metadata.len();
    let bytes = read_start_of(file, size, most)?;
    let size = size.max(bytes.len() as u64);
    Ok((bytes, size))
}

/// The text of a file's bytes.
pub(crate) fn text(path: &Path, bytes: Vec<u8>) -> Result<String, Box<Problem>> {
    String::from_utf8(bytes).map_err(|error| {
        let (bytes, valid) = (error.as_bytes(), error.utf8_error().valid_up_to());
        let message = format!("{} is not UTF-8: byte {} is invalid", name(path), valid + 1);
        let mut problem = Problem::new(Severity::Error, path, message).with_hint(save_as_utf8(bytes));
        problem.line = Some(line_of(bytes, valid));
        problem.into()
    })
}

/// What to do about bytes that are not UTF-8.
pub(crate) fn save_as_utf8(bytes: &[u8]) -> &'static str {
    let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    if utf16 { "it looks like UTF-16: save it as UTF-8" } else { "save it as UTF-8" }
}

/// The line, counted from 1, that a byte stands in.
pub(crate) fn line_of(bytes: &[u8], offset: usize) -> u32 {
    let before = bytes.get(..offset).unwrap_or(bytes);
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    u32::try_from(line).unwrap_or(u32::MAX)
}

/// The name of a file, for messages.
pub(crate) fn name(path: &Path) -> Cow<'_, str> {
    path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy())
}

/// What an open file is, if it is no regular one.
pub(crate) fn other_kind(kind: fs::FileType) -> Option<&'static str> {
    match (kind.is_file(), kind.is_dir()) {
        (true, _) => None,
        (false, true) => Some("a folder"),
        (false, false) => Some("neither a file nor a folder"),
    }
}

impl Unread {
    /// Whether nothing at all has this name. A link to nowhere is there: somebody meant it to lead somewhere.
    pub(crate) fn is_missing(&self, path: &Path) -> bool {
        match self {
            Self::NotOpened(error) => error.kind() == ErrorKind::NotFound && fs::symlink_metadata(path).is_err(),
            Self::NotAFile(_) | Self::TooLarge { .. } | Self::Broken(_) => false,
        }
    }

    /// The same in words, for whoever wrote the file.
    pub(crate) fn problem(&self, path: &Path) -> Problem {
        let name = name(path);
        let problem = |message: String| Problem::new(Severity::Error, path, message);
        match self {
            Self::NotOpened(error) => match fs::read_link(path) {
                Ok(target) if error.kind() == ErrorKind::NotFound => {
                    problem(format!("{name} is a link to {}, where nothing is", target.display()))
                        .with_hint("mend the link")
                }
                _ if path.is_dir() => problem(format!("{name} must be a file, it is a folder")),
                _ => problem(format!("{name} cannot be read: {error}"))
                    .with_hint("check the permissions, and that a link does not lead in a circle"),
            },
            Self::NotAFile(what) => problem(format!("{name} must be a file, it is {what}")),
            Self::TooLarge { found, most } => {
                problem(format!("{name} is {found} bytes long, at most {most} ({} KiB) are read", most / 1024))
            }
            Self::Broken(error) => problem(format!("{name} cannot be read: {error}")),
        }
    }
}

/// Opens without waiting: the other end of a pipe may never come.
pub(crate) fn open(path: &Path) -> Result<(File, Metadata), Unread> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path).map_err(Unread::NotOpened)?;
    let metadata = file.metadata().map_err(Unread::Broken)?;
    match other_kind(metadata.file_type()) {
        None => Ok((file, metadata)),
        Some(what) => Err(Unread::NotAFile(what)),
    }
}

fn read_start_of(file: File, size: u64, most: u64) -> Result<Vec<u8>, Unread> {
    let expected = usize::try_from(size.min(most)).unwrap_or_default();
    let mut bytes = Vec::with_capacity(expected + 1);
    file.take(most).read_to_end(&mut bytes).map_err(Unread::Broken)?;
    Ok(bytes)
}
