//! What commands take from the command line in more than one form: a folder or a name, a document or a file.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use youyou::{Error, ErrorCode};

/// A text with a separator, `.` or `..` means a folder; so does the name of a folder that holds an index.md.
pub(crate) fn as_folder(typed: &str) -> Option<PathBuf> {
    let path = Path::new(typed);
    let named = typed.contains(std::path::is_separator) || matches!(typed, "." | "..");
    (named || path.join("index.md").exists()).then(|| path.to_owned())
}

/// A document: as typed, `@FILE`, or `-` for stdin. `what` it is goes into messages; whether it is right is others' to say.
///
/// # Errors
/// One with this code when it cannot be read, or is not UTF-8.
pub(crate) fn read(typed: &str, what: &str, code: ErrorCode) -> Result<String, Error> {
    let (bytes, place) = match typed.strip_prefix('@') {
        Some("") => {
            let message = format!("`@` names no file; write @FILE, or - to read {what} from stdin");
            return Err(Error::new(ErrorCode::InvalidInput, message));
        }
        Some(file) => (std::fs::read(file), file),
        None if typed == "-" => {
            let mut bytes = Vec::new();
            (std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes), "stdin")
        }
        None => return Ok(typed.to_owned()),
    };
    let invalid = |why: String| Error::new(code, format!("cannot read {what} from {place}: {why}"));
    String::from_utf8(bytes.map_err(|error| invalid(error.to_string()))?)
        .map_err(|error| invalid(format!("not UTF-8 from byte {} on", error.utf8_error().valid_up_to())))
}
