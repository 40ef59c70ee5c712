//! One YAML value as it was written: order kept, nothing coerced.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

/// A value of the front matter. Texts borrow from the file where they can.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node<'a> {
    Null,
    Bool(bool),
    Number(Number),
    /// A number that JSON cannot hold: infinite, not a number, or beyond 64 bits.
    OddNumber(String),
    Text(Cow<'a, str>),
    List(Vec<Node<'a>>),
    /// The entries in the order of the file, those of one key too.
    Map(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl Node<'_> {
    /// The value as JSON; none where it holds a number that JSON cannot hold.
    pub(crate) fn to_json(&self) -> Option<Value> {
        Some(match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(value) => Value::Number(value.clone()),
            Self::OddNumber(_) => return None,
            Self::Text(value) => Value::String(value.to_string()),
            Self::List(nodes) => Value::Array(nodes.iter().map(Self::to_json).collect::<Option<_>>()?),
            Self::Map(entries) => {
                let entries = entries.iter().map(|(key, node)| Some((key.to_string(), node.to_json()?)));
                Value::Object(entries.collect::<Option<Map<_, _>>>()?)
            }
        })
    }

    /// The value for a message: `the text "1"`, `a list`, …
    pub(crate) fn described(&self) -> String {
        match self {
            Self::Null => "nothing".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Number(value) => format!("the number {value}"),
            Self::OddNumber(value) => format!("the number {value}"),
            Self::Text(value) => format!("the text {}", quoted(value)),
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) => "a mapping".to_owned(),
        }
    }
}

/// A user's text for a message: in quotes, control characters escaped, not too long.
pub(crate) fn quoted(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_a_message_is_short_and_harmless() {
        assert_eq!(quoted("a\u{1b}[31m"), r#""a\u{1b}[31m""#);
        assert_eq!(quoted(&"ä".repeat(61)), format!("\"{}\"…", "ä".repeat(60)));
    }
}
