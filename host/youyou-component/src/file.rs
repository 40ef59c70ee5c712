//! A component's file as it was read, once: its bytes and where they came from.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use youyou_api::{Error, ErrorCode};

use crate::kind::Kind;

/// The bytes of a component's file.
pub(crate) struct ComponentFile {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl ComponentFile {
    /// Reads a regular file; anything else, a pipe for example, is refused before it could block.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let found = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        if !found.is_file() {
            let what = if found.is_dir() { "a directory" } else { "no regular file" };
            return Err(missing(format!(
                "expected a component at `{}`, found {what}; fix `component:` in index.md: it names a .wasm file",
                path.display()
            )));
        }
        let bytes = fs::read(path).map_err(|error| unreadable(path, &error))?;
        Ok(Self { path: path.to_owned(), bytes })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    if error.kind() == io::ErrorKind::NotFound {
        return missing(format!(
            "there is no component at `{}`; build it, or fix `component:` in index.md",
            path.display()
        ));
    }
    missing(format!("the component at `{}` cannot be read: {error}", path.display()))
}

fn missing(message: String) -> Error {
    Error::new(ErrorCode::ToolExecutionError, message).with_kind(Kind::ComponentMissing.as_str())
}
