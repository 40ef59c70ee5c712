//! What a user attaches, read into message parts (Y8-1, D-72, D-73).
//!
//! An attachment is read once, when the message is accepted; a message that is refused leaves nothing behind. Whether a
//! model can take an image is not known here.
//!
//! - `place`: which paths may be read, and opening them so that no link leads out;
//! - `image`: formats, Base64 and the size of images;
//! - `text`: files.

mod image;
mod place;
mod text;

use std::path::PathBuf;

use youyou_api::{AttachmentSource, Error, ErrorCode, Part};

use crate::scan::Roots;

/// The largest image, in decoded bytes: 20 MiB, inclusive (D-73).
pub const MOST_IMAGE_BYTES: u64 = 20 * 1024 * 1024;
/// The largest file, in bytes: 10 MiB, inclusive (D-73).
pub const MOST_FILE_BYTES: u64 = 10 * 1024 * 1024;

/// Reads attachments for the sessions of one workspace.
///
/// Only files below the workspace and below the home can be read. That is made sure of on the opened file, so that links,
/// `..` and files that are exchanged meanwhile lead nowhere else.
///
/// ```
/// use youyou_api::{AttachmentSource, Part};
/// use youyou_files::AttachmentReader;
/// let workspace = tempfile::tempdir()?;
/// std::fs::write(workspace.path().join("notes.txt"), "Buy milk.")?;
/// let reader = AttachmentReader::new(workspace.path().join("home"), workspace.path());
/// let part = reader.read(&AttachmentSource::FilePath { path: "notes.txt".into() })?;
/// assert!(matches!(part, Part::File(file) if &*file.text == "Buy milk."));
/// let outside = reader.read(&AttachmentSource::FilePath { path: "../notes.txt".into() });
/// assert_eq!(outside.unwrap_err().code.as_str(), "PATH_NOT_ALLOWED");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachmentReader {
    roots: Roots,
}

impl AttachmentReader {
    /// A reader for a home and a workspace; neither need exist yet.
    pub fn new(home: impl Into<PathBuf>, workspace: impl Into<PathBuf>) -> Self {
        Self { roots: Roots { home: home.into(), workspace: workspace.into() } }
    }

    /// Reads one attachment whole. It blocks while it reads and waits for nothing: a pipe or a device is refused.
    ///
    /// An image's Base64 may be a `data:` URL and may hold line ends; the part holds it in its plain form. A relative path
    /// starts at the workspace.
    ///
    /// # Errors
    /// - `FILE_TOO_LARGE`: it holds more than [`MOST_IMAGE_BYTES`] or [`MOST_FILE_BYTES`]; nothing of a file is read then.
    ///   `details.size` and `details.limit` say it in bytes.
    /// - `PATH_NOT_ALLOWED`: the path leads outside of the workspace and the home.
    /// - `INVALID_INPUT`: there is no such file, it is not a regular file, an image is of none of the four formats or not
    ///   of the one that its name says, a file is not UTF-8 text, the Base64 is none.
    pub fn read(&self, source: &AttachmentSource) -> Result<Part, Error> {
        match source {
            AttachmentSource::ImageData { data, name } => image::from_base64(data, name.as_deref()).map(Part::Image),
            AttachmentSource::ImagePath { path } => {
                image::from_file(place::open(&self.roots, path)?.read(MOST_IMAGE_BYTES, "an image")?).map(Part::Image)
            }
            AttachmentSource::FilePath { path } => {
                text::from_file(place::open(&self.roots, path)?.read(MOST_FILE_BYTES, "a file")?).map(Part::File)
            }
        }
    }
}

/// A file that has been read.
struct FileBytes {
    /// What it is called, for people.
    name: String,
    bytes: Vec<u8>,
}

fn invalid(message: String) -> Error {
    Error::new(ErrorCode::InvalidInput, message)
}

/// `shown` is the name in quotes, `what` is `an image` or `a file`.
fn too_large(shown: &str, size: u64, limit: u64, what: &str) -> Error {
    const MIB: u64 = 1024 * 1024;
    let message = format!(
        "{shown} is {size} bytes ({:.1} MiB) long, but {what} may be at most {} MiB ({limit} bytes) long; make it \
         smaller, or attach a part of it",
        size as f64 / MIB as f64,
        limit / MIB
    );
    Error::new(ErrorCode::FileTooLarge, message).with_detail("size", size).with_detail("limit", limit)
}
