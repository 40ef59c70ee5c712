//! Fills the placeholders of a reply that is a template. Everything else in braces stays as it is.

use serde_json::Value;
use youyou_api::ChatRequest;

use super::when::latest;

/// What the placeholders of one request stand for.
#[derive(Debug)]
pub(super) struct Fill([(&'static str, String); 3]);

impl Fill {
    pub(super) fn new(request: &ChatRequest, rest: &str) -> Self {
        let (user, result) = latest(request);
        Self([
            ("{last_user_text}", user.unwrap_or_default().to_owned()),
            ("{last_tool_result}", result.unwrap_or_default().to_owned()),
            ("{rest}", rest.trim().to_owned()),
        ])
    }

    /// One pass: what is filled in is not looked at again.
    pub(super) fn text(&self, mut template: &str) -> String {
        let mut filled = String::new();
        while let Some(brace) = template.find('{') {
            let (before, from) = template.split_at(brace);
            filled.push_str(before);
            let known = self.0.iter().find_map(|(name, words)| Some((words.as_str(), from.strip_prefix(name)?)));
            let (words, rest) = known.unwrap_or_else(|| from.split_at(1));
            filled.push_str(words);
            template = rest;
        }
        filled + template
    }

    /// Every text in a value, keys aside.
    pub(super) fn value(&self, template: &Value) -> Value {
        match template {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), self.value(value))).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => template.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn known_placeholders_are_filled_once_and_nothing_else_is_touched() {
        let words = |text: &str| text.to_owned();
        let fill =
            Fill([("{last_user_text}", words("{rest}")), ("{last_tool_result}", words("5")), ("{rest}", words("ä"))]);
        assert_eq!(fill.text("{last_user_text}|{rest}|{last_tool_result}|{other}{"), "{rest}|ä|5|{other}{");
        assert_eq!(fill.value(&json!({"{rest}": ["{rest}", 1]})), json!({"{rest}": ["ä", 1]}));
    }
}
