//! When a reply fits a request. Nothing of the conversation counts but its last message.

use serde::{Deserialize, Serialize};
use youyou_api::{ChatRequest, Message, Part};

/// What the last message of a request must be; what is given must hold. Notices of the runtime at the end are passed
/// over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum When {
    /// Anything.
    #[default]
    Any,
    /// The user's. Its text is its last part that is text, since what the runtime puts into a user's message stands
    /// before the user's own words (D-62).
    User {
        /// The whole text.
        #[serde(skip_serializing_if = "Option::is_none")]
        is: Option<String>,
        /// A piece of the text; ASCII case does not count.
        #[serde(skip_serializing_if = "Option::is_none")]
        contains: Option<String>,
    },
    /// The result of a tool call.
    ToolResult {
        /// The tool that was called.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_name: Option<String>,
        /// The whole text that the model reads.
        #[serde(skip_serializing_if = "Option::is_none")]
        is: Option<String>,
        /// A piece of that text; ASCII case does not count.
        #[serde(skip_serializing_if = "Option::is_none")]
        contains: Option<String>,
        /// Whether the call failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    },
}

impl When {
    /// Fits when the user's last text is exactly this.
    pub fn user_is(text: impl Into<String>) -> Self {
        Self::User { is: Some(text.into()), contains: None }
    }

    /// Fits when the user's last text holds this piece.
    pub fn user_contains(piece: impl Into<String>) -> Self {
        Self::User { is: None, contains: Some(piece.into()) }
    }

    /// Fits the result of a call of this tool, whatever it is.
    pub fn result_of(tool_name: impl Into<String>) -> Self {
        Self::ToolResult { tool_name: Some(tool_name.into()), is: None, contains: None, is_error: None }
    }

    /// The condition that fits a request as closely as one can.
    pub(crate) fn exactly(request: &ChatRequest) -> Self {
        match last(request) {
            Some(Message::User { parts }) => Self::User { is: text(parts).map(str::to_owned), contains: None },
            Some(Message::ToolResult(result)) => Self::ToolResult {
                tool_name: Some(result.tool_name.clone()),
                is: Some(result.content.to_string()),
                contains: None,
                is_error: Some(result.is_error),
            },
            Some(Message::Assistant { .. } | Message::System { .. }) | None => Self::Any,
        }
    }

    /// Whether it fits; if so, what follows the piece that `contains` asks for.
    pub(super) fn fits<'a>(&self, request: &'a ChatRequest) -> Option<&'a str> {
        match (self, last(request)) {
            (Self::Any, _) => Some(""),
            (Self::User { is, contains }, Some(Message::User { parts })) => text_fits(is, contains, text(parts)),
            (Self::ToolResult { tool_name, is, contains, is_error }, Some(Message::ToolResult(result)))
                if tool_name.as_ref().is_none_or(|name| *name == result.tool_name)
                    && is_error.is_none_or(|asked| asked == result.is_error) =>
            {
                text_fits(is, contains, Some(&result.content))
            }
            (Self::User { .. } | Self::ToolResult { .. }, _) => None,
        }
    }
}

fn text_fits<'a>(is: &Option<String>, contains: &Option<String>, text: Option<&'a str>) -> Option<&'a str> {
    if is.is_some() && is.as_deref() != text {
        return None;
    }
    contains.as_ref().map_or(Some(""), |piece| after(text?, piece))
}

/// What follows the first place where `text` holds `piece`.
fn after<'a>(text: &'a str, piece: &str) -> Option<&'a str> {
    if piece.is_empty() {
        return Some(text);
    }
    let mut windows = text.as_bytes().windows(piece.len());
    let start = windows.position(|window| window.eq_ignore_ascii_case(piece.as_bytes()))?;
    text.get(start + piece.len()..)
}

/// The last message of a request, notices of the runtime passed over.
pub(super) fn last(request: &ChatRequest) -> Option<&Message> {
    request.messages.iter().rfind(|message| !matches!(message, Message::System { .. }))
}

/// The last part that is text.
pub(super) fn text(parts: &[Part]) -> Option<&str> {
    parts.iter().rev().find_map(|part| match part {
        Part::Text { text } => Some(&**text),
        Part::Image(_) | Part::File(_) => None,
    })
}

/// The latest text of the user, and the latest content of a tool result, wherever they stand.
pub(super) fn latest(request: &ChatRequest) -> (Option<&str>, Option<&str>) {
    let (mut user, mut result) = (None, None);
    for message in &request.messages {
        match message {
            Message::User { parts } => user = text(parts).or(user),
            Message::ToolResult(answer) => result = Some(&*answer.content),
            Message::Assistant { .. } | Message::System { .. } => {}
        }
    }
    (user, result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_found_whatever_its_case_and_cuts_no_character() {
        assert_eq!(after("Größe: COUNT in: ä", "count in:"), Some(" ä"));
        assert_eq!(after("ä", "ä"), Some(""));
        assert_eq!(after("ab", "abc"), None);
        assert_eq!(after("ab", ""), Some("ab"));
    }
}
