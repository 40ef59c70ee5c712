//! What a conversation consists of, in one normal form (Y4.2-1).
//!
//! A [`Message`] is what a provider is sent. The history that the runtime keeps is richer; requests are made from it
//! anew each time. Whatever is large or many is shared (`Arc`), so that a request takes no second copy of the conversation.

use std::{path::PathBuf, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ids::CallId, tool::ToolCall};

/// One entry of the list that a provider is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// From the user.
    User {
        /// What the user wrote and attached, in order; never empty.
        parts: Arc<[Part]>,
    },
    /// From the model.
    Assistant {
        /// What the model said and asked for, in order; never empty.
        parts: Arc<[AssistantPart]>,
    },
    /// The answer to one tool call of the assistant message before. Apart, so that a list of messages stays small.
    ToolResult(Arc<CallResult>),
    /// A notice of the runtime in the course of the conversation. An API without such a role is sent it as a user's
    /// message (D-26).
    System {
        /// The notice.
        text: Arc<str>,
    },
}

/// What came of a tool call, for the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallResult {
    /// The call that is answered.
    pub call_id: CallId,
    /// The tool that was called.
    pub tool_name: String,
    /// What the model reads.
    pub content: Arc<str>,
    /// Whether it is a failure.
    pub is_error: bool,
}

/// A piece of what the user sends (Y8-1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Plain text.
    Text {
        /// The text.
        text: Arc<str>,
    },
    /// An image.
    Image(ImagePart),
    /// A file's text.
    File(FilePart),
}

impl Part {
    /// A piece of text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// An image, decoded size at most 20 MiB (D-73).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImagePart {
    /// What it is called, for people.
    pub name: String,
    /// Its format, found from its first bytes.
    pub format: ImageFormat,
    /// Its bytes in Base64.
    pub data: Arc<str>,
    /// Its size in bytes before encoding.
    pub size: u64,
}

/// The image formats that may be sent (Y8-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ImageFormat {
    /// PNG.
    #[serde(rename = "image/png")]
    Png,
    /// JPEG.
    #[serde(rename = "image/jpeg")]
    Jpeg,
    /// GIF.
    #[serde(rename = "image/gif")]
    Gif,
    /// WebP.
    #[serde(rename = "image/webp")]
    Webp,
}

impl ImageFormat {
    /// Its media type, such as `image/png`.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }

    /// The format that these bytes begin like.
    pub fn sniff(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            _ => None,
        }
    }
}

/// A text file, read once when the message was accepted (D-72).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilePart {
    /// What it is called, for people.
    pub name: String,
    /// Its text.
    pub text: Arc<str>,
    /// Its size in bytes.
    pub size: u64,
}

/// A piece of what the model says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AssistantPart {
    /// Text for the user.
    Text {
        /// The text.
        text: Arc<str>,
    },
    /// How the model came to it. Sent back only to a provider that asks for it with a signature.
    Reasoning {
        /// The text.
        text: Arc<str>,
        /// What the provider wants back beside the text, as it came.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<Value>,
    },
    /// A call of a tool.
    ToolCall(ToolCall),
}

/// What a host hands in when the user sends something (Y8-1).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UserMessage {
    /// What the user wrote; `/name` at its start triggers a skill.
    pub text: String,
    /// What the user attached.
    #[serde(default)]
    pub attachments: Vec<AttachmentSource>,
}

impl From<&str> for UserMessage {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), attachments: Vec::new() }
    }
}

impl From<String> for UserMessage {
    fn from(text: String) -> Self {
        Self { text, attachments: Vec::new() }
    }
}

/// Where an attachment comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AttachmentSource {
    /// An image by its bytes in Base64.
    ImageData {
        /// The encoded bytes.
        data: String,
        /// What to call it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// An image in a file, below the workspace or the home (D-73).
    ImagePath {
        /// Relative to the workspace, or absolute.
        path: PathBuf,
    },
    /// A text file, below the workspace or the home.
    FilePath {
        /// Relative to the workspace, or absolute.
        path: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_known_by_its_first_bytes() {
        assert_eq!(ImageFormat::sniff(b"\x89PNG\r\n\x1a\nrest"), Some(ImageFormat::Png));
        assert_eq!(ImageFormat::sniff(b"\xff\xd8\xff\xe0"), Some(ImageFormat::Jpeg));
        assert_eq!(ImageFormat::sniff(b"GIF89a"), Some(ImageFormat::Gif));
        assert_eq!(ImageFormat::sniff(b"RIFF\x01\x02\x03\x04WEBPVP8 "), Some(ImageFormat::Webp));
        assert_eq!(ImageFormat::sniff(b"RIFF\x01\x02\x03\x04WAVE"), None);
        assert_eq!(ImageFormat::sniff(b""), None);
    }

    #[test]
    fn a_message_names_its_role_and_its_parts() {
        let message = Message::Assistant { parts: [AssistantPart::Text { text: "hi".into() }].into() };
        assert_eq!(
            serde_json::to_string(&message).expect("json"),
            r#"{"role":"assistant","parts":[{"type":"text","text":"hi"}]}"#
        );
    }
}
