//! When a reply fits a request. Only the request's last message counts, and which tools it lists.

use std::fmt;

use serde::{Deserialize, Serialize};
use youyou_api::{ChatRequest, Message, Part};

/// Which requests a reply answers. The default answers any.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WhenFile", into = "WhenFile")]
pub struct When {
    /// What the last message must be; notices of the runtime at the end are passed over.
    pub last: Last,
    /// A tool that the request must list.
    pub tool_listed: Option<String>,
}

/// What a request's last message must be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Last {
    /// Anything.
    #[default]
    Any,
    /// The user's.
    User(UserMatch),
    /// The result of a tool call.
    ToolResult(ResultMatch),
}

/// A message of the user; what is given must hold. Its text is its last part that is text, since what the runtime puts
/// into a user's message stands before the user's own words (D-62).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "`is` or `contains` in braces")]
pub struct UserMatch {
    /// The whole text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is: Option<String>,
    /// A piece of the text; ASCII case does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
}

/// The result of a tool call; what is given must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "`tool_name`, `is`, `contains` or `is_error` in braces")]
pub struct ResultMatch {
    /// The tool that was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The whole text that the model reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is: Option<String>,
    /// A piece of that text; ASCII case does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// Whether the call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
}

impl When {
    /// Fits when the user's last text is exactly this.
    pub fn user_is(text: impl Into<String>) -> Self {
        Self { last: Last::User(UserMatch { is: Some(text.into()), contains: None }), tool_listed: None }
    }

    /// Fits when the user's last text holds this piece.
    pub fn user_contains(piece: impl Into<String>) -> Self {
        Self { last: Last::User(UserMatch { is: None, contains: Some(piece.into()) }), tool_listed: None }
    }

    /// Fits the result of a call of this tool, whatever it is.
    pub fn result_of(tool_name: impl Into<String>) -> Self {
        let last = ResultMatch { tool_name: Some(tool_name.into()), ..ResultMatch::default() };
        Self { last: Last::ToolResult(last), tool_listed: None }
    }

    /// Whether it fits; if so, what follows the piece that `contains` asks for.
    pub(super) fn fits<'a>(&self, request: &'a ChatRequest) -> Option<&'a str> {
        let listed = |name: &String| request.tools.iter().any(|tool| tool.name.as_str() == name);
        if !self.tool_listed.as_ref().is_none_or(listed) {
            return None;
        }
        match (&self.last, LastMessage::of(request)) {
            (Last::Any, _) => Some(""),
            (Last::User(asked), LastMessage::User(text)) => {
                fit_text(asked.is.as_deref(), asked.contains.as_deref(), text)
            }
            (Last::ToolResult(asked), LastMessage::ToolResult { tool_name, content, is_error }) => {
                let right = asked.tool_name.as_ref().is_none_or(|name| name == tool_name)
                    && asked.is_error.is_none_or(|failed| failed == is_error);
                right.then(|| fit_text(asked.is.as_deref(), asked.contains.as_deref(), Some(content))).flatten()
            }
            (Last::User(_) | Last::ToolResult(_), _) => None,
        }
    }
}

fn fit_text<'a>(is: Option<&str>, contains: Option<&str>, text: Option<&'a str>) -> Option<&'a str> {
    if is.is_some() && is != text {
        return None;
    }
    match contains {
        None => Some(""),
        Some(piece) => after(text?, piece),
    }
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

/// The last message of a request, as far as a reply can depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastMessage<'a> {
    User(Option<&'a str>),
    ToolResult { tool_name: &'a str, content: &'a str, is_error: bool },
    Assistant,
    None,
}

impl<'a> LastMessage<'a> {
    pub(crate) fn of(request: &'a ChatRequest) -> Self {
        request.messages.iter().rev().find_map(Self::of_message).unwrap_or(Self::None)
    }

    fn of_message(message: &'a Message) -> Option<Self> {
        match message {
            Message::User { parts } => Some(Self::User(parts.iter().rev().find_map(text_of))),
            Message::ToolResult { call_id: _, tool_name, content, is_error } => {
                Some(Self::ToolResult { tool_name, content, is_error: *is_error })
            }
            Message::Assistant { parts: _ } => Some(Self::Assistant),
            Message::System { text: _ } => None,
        }
    }
}

/// The latest text of the user, and the latest content of a tool result, wherever they stand.
pub(super) fn latest(request: &ChatRequest) -> (&str, &str) {
    let (mut user, mut result) = (None, None);
    for message in request.messages.iter().rev().filter_map(LastMessage::of_message) {
        match message {
            LastMessage::User(text) => user = user.or(text),
            LastMessage::ToolResult { content, .. } => result = result.or(Some(content)),
            LastMessage::Assistant | LastMessage::None => {}
        }
    }
    (user.unwrap_or_default(), result.unwrap_or_default())
}

fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Text { text } => Some(text),
        Part::Image(_) | Part::File(_) => None,
    }
}

impl fmt::Display for LastMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(Some(text)) => write!(f, "the user's {}", Short(text)),
            Self::User(None) => f.write_str("the user's, without text"),
            Self::ToolResult { tool_name, content, is_error } => {
                let outcome = if *is_error { "failure" } else { "result" };
                write!(f, "the {outcome} of {tool_name:?}: {}", Short(content))
            }
            Self::Assistant => f.write_str("the assistant's"),
            Self::None => f.write_str("missing"),
        }
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (is, contains) = match &self.last {
            Last::Any => {
                f.write_str("any request")?;
                (&None, &None)
            }
            Last::User(UserMatch { is, contains }) => {
                f.write_str("a user's message")?;
                (is, contains)
            }
            Last::ToolResult(ResultMatch { tool_name, is, contains, is_error }) => {
                f.write_str(match is_error {
                    Some(true) => "a failure",
                    Some(false) => "a success",
                    None => "a result",
                })?;
                tool_name.iter().try_for_each(|name| write!(f, " of {name:?}"))?;
                (is, contains)
            }
        };
        is.iter().try_for_each(|text| write!(f, " that is {}", Short(text)))?;
        contains.iter().try_for_each(|text| write!(f, " that contains {}", Short(text)))?;
        self.tool_listed.iter().try_for_each(|name| write!(f, " with the tool {name:?} listed"))
    }
}

/// A text in quotes, cut where it is too long for a message.
struct Short<'a>(&'a str);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 200;
        match self.0.char_indices().nth(LONGEST) {
            None => write!(f, "{:?}", self.0),
            Some((end, _)) => write!(f, "{:?}… ({} bytes)", self.0.get(..end).unwrap_or_default(), self.0.len()),
        }
    }
}

/// [`When`] as it stands in a script.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "`user`, `tool_result` or `tool_listed` in braces")]
pub(super) struct WhenFile {
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<UserMatch>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_result: Option<ResultMatch>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_listed: Option<String>,
}

impl TryFrom<WhenFile> for When {
    type Error = &'static str;

    fn try_from(file: WhenFile) -> Result<Self, Self::Error> {
        let last = match (file.user, file.tool_result) {
            (None, None) => Last::Any,
            (Some(user), None) => Last::User(user),
            (None, Some(result)) => Last::ToolResult(result),
            (Some(_), Some(_)) => {
                return Err("`when` has both `user` and `tool_result`, and no last message is both: keep one");
            }
        };
        Ok(Self { last, tool_listed: file.tool_listed })
    }
}

impl From<When> for WhenFile {
    fn from(When { last, tool_listed }: When) -> Self {
        let (user, tool_result) = match last {
            Last::Any => (None, None),
            Last::User(user) => (Some(user), None),
            Last::ToolResult(result) => (None, Some(result)),
        };
        Self { user, tool_result, tool_listed }
    }
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

    #[test]
    fn a_condition_is_told_in_words() {
        let when = ResultMatch {
            tool_name: Some("read".into()),
            contains: Some("x".repeat(300)),
            is_error: Some(true),
            is: None,
        };
        let when = When { last: Last::ToolResult(when), tool_listed: Some("grep".into()) };
        let expected = format!(
            r#"a failure of "read" that contains "{}"… (300 bytes) with the tool "grep" listed"#,
            "x".repeat(200)
        );
        assert_eq!(when.to_string(), expected);
    }
}
