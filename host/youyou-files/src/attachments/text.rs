//! Files: UTF-8 text and nothing else (Y8-1).

use youyou_api::{Error, FilePart, ImageFormat};

use super::{FileBytes, invalid};

/// A file's text, without a byte order mark.
pub(super) fn from_file(file: FileBytes) -> Result<FilePart, Error> {
    let FileBytes { name, bytes } = file;
    let size = bytes.len() as u64;
    if let Some(nul) = bytes.iter().position(|byte| *byte == 0) {
        return Err(not_text(&name, &bytes, &format!("byte {} is NUL", nul + 1)));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(FilePart { name, text: text.strip_prefix('\u{feff}').unwrap_or(&text).into(), size }),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            Err(not_text(&name, error.as_bytes(), &format!("byte {} is not UTF-8", valid + 1)))
        }
    }
}

fn not_text(name: &str, bytes: &[u8], why: &str) -> Error {
    let hint = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it looks like UTF-16: save it as UTF-8",
        _ if ImageFormat::sniff(bytes).is_some() => "it is an image: attach it as one",
        [b'%', b'P', b'D', b'F', ..] => "it is a PDF: attach its text",
        _ => {
            "UTF-8 text can be attached as a file, PNG, JPEG, GIF and WebP as an image; convert it, or let a tool read it"
        }
    };
    invalid(format!("{name:?} is not a text file: {why}; {hint}"))
}
