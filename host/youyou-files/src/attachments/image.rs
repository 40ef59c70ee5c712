//! Images: from a file's bytes or from Base64, of one of four formats that the bytes themselves tell (Y8-1, D-73).
//!
//! Pixels are not looked at.

use std::{borrow::Cow, sync::Arc};

use base64::{
    DecodeError, Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use youyou_api::{Error, ImageFormat, ImagePart};

use super::{FileBytes, MOST_IMAGE_BYTES, invalid, too_large};

/// The standard alphabet; padding is written, and may be missing in what is read.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// An image in a file.
pub(super) fn from_file(file: FileBytes) -> Result<ImagePart, Error> {
    let FileBytes { name, bytes } = file;
    let shown = format!("{name:?}");
    let format = format_of(&bytes, &shown)?;
    agree(format, named_format(&name), &shown)?;
    Ok(ImagePart { name, format, data: BASE64.encode(&bytes).into(), size: bytes.len() as u64 })
}

/// An image by its encoded bytes.
pub(super) fn from_base64(data: &str, name: Option<&str>) -> Result<ImagePart, Error> {
    let shown = &name.map_or_else(|| "the image".to_owned(), |name| format!("{name:?}"));
    let (declared, encoded) = parts_of_url(data.trim(), shown)?;
    let encoded = without_blanks(encoded);
    // Known before anything is decoded.
    let size = encoded.trim_end_matches('=').len() as u64 * 3 / 4;
    if size > MOST_IMAGE_BYTES {
        return Err(too_large(shown, size, MOST_IMAGE_BYTES, "an image"));
    }
    let bytes = BASE64.decode(&*encoded).map_err(|error| {
        let why = match error {
            DecodeError::InvalidByte(offset, byte) => format!("character {} is {:?}", offset + 1, char::from(byte)),
            DecodeError::InvalidLength(_) | DecodeError::InvalidLastSymbol { .. } | DecodeError::InvalidPadding => {
                "its end is missing".to_owned()
            }
        };
        invalid(format!("{shown} is not Base64: {why}; encode its bytes with the standard alphabet, A-Z a-z 0-9 + /"))
    })?;
    let format = format_of(&bytes, shown)?;
    agree(format, declared, shown)?;
    agree(format, name.and_then(named_format), shown)?;
    let is_padded = encoded.len().is_multiple_of(4);
    let data: Arc<str> = if is_padded { Arc::from(&*encoded) } else { BASE64.encode(&bytes).into() };
    let name = name.map_or_else(|| format!("image.{}", extension(format)), str::to_owned);
    Ok(ImagePart { name, format, data, size: bytes.len() as u64 })
}

/// The format that a `data:` URL declares, and the encoded bytes; of anything else all of it.
fn parts_of_url<'d>(data: &'d str, shown: &str) -> Result<(Option<ImageFormat>, &'d str), Error> {
    let Some(url) = data.strip_prefix("data:") else { return Ok((None, data)) };
    let Some((media_type, encoded)) = url.split_once(";base64,") else {
        return Err(invalid(format!(
            "{shown} is a `data:` URL without `;base64,`; encode the image's bytes in Base64"
        )));
    };
    let media_type = media_type.split(';').next().unwrap_or_default();
    let known = ALL.into_iter().find(|format| format.media_type().eq_ignore_ascii_case(media_type));
    Ok((known, encoded))
}

const ALL: [ImageFormat; 4] = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::Webp];

/// Encoders break lines.
fn without_blanks(encoded: &str) -> Cow<'_, str> {
    if encoded.bytes().any(|byte| byte.is_ascii_whitespace()) {
        Cow::Owned(encoded.split_ascii_whitespace().collect())
    } else {
        Cow::Borrowed(encoded)
    }
}

fn format_of(bytes: &[u8], shown: &str) -> Result<ImageFormat, Error> {
    ImageFormat::sniff(bytes).ok_or_else(|| {
        let found = match looks_like(bytes) {
            Some(found) => format!("it looks like {found}; convert it"),
            None if bytes.is_empty() => "it is empty".to_owned(),
            None => "its first bytes are of none of them; convert it".to_owned(),
        };
        invalid(format!("{shown} is no image that can be sent: PNG, JPEG, GIF and WebP are, but {found}"))
    })
}

/// Other formats that people try to send.
fn looks_like(bytes: &[u8]) -> Option<&'static str> {
    let start = String::from_utf8_lossy(bytes.get(..256).unwrap_or(bytes));
    match bytes {
        [b'B', b'M', _, _, _, _, 0, 0, ..] => Some("BMP"),
        [b'I', b'I', b'*', 0, ..] | [b'M', b'M', 0, b'*', ..] => Some("TIFF"),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => Some("HEIC, AVIF or a video"),
        [b'%', b'P', b'D', b'F', ..] => Some("PDF"),
        _ if start.contains("<svg") => Some("SVG"),
        _ => None,
    }
}

/// The format that a file's name says.
fn named_format(name: &str) -> Option<ImageFormat> {
    let (_, extension) = name.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "png" => ImageFormat::Png,
        "jpg" | "jpeg" | "jpe" | "jfif" => ImageFormat::Jpeg,
        "gif" => ImageFormat::Gif,
        "webp" => ImageFormat::Webp,
        _ => return None,
    })
}

fn extension(format: ImageFormat) -> &'static str {
    match format {
        ImageFormat::Png => "png",
        ImageFormat::Jpeg => "jpg",
        ImageFormat::Gif => "gif",
        ImageFormat::Webp => "webp",
    }
}

/// Refuses an image that is said to be of another format than it is (D-73).
fn agree(found: ImageFormat, declared: Option<ImageFormat>, shown: &str) -> Result<(), Error> {
    match declared {
        Some(declared) if declared != found => Err(invalid(format!(
            "{shown} is said to be {}, but its first bytes are those of {}; name it `.{}`",
            declared.media_type(),
            found.media_type(),
            extension(found)
        ))),
        Some(_) | None => Ok(()),
    }
}
