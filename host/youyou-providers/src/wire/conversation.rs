//! The messages of a request as APIs see them: the user's side and the model's side in turn.
//!
//! Results, what the user wrote and the runtime's notices (D-26) all stand on the user's side; a file is text.

use std::borrow::Cow;

use youyou_api::{AssistantPart, CallResult, ChatRequest, FilePart, ImagePart, Message, Part};

use super::Api;

/// One side speaks.
#[derive(Debug, PartialEq)]
pub(crate) enum Turn<'r> {
    /// The user's side: first the results of the calls before, then everything else. One of the two is not empty.
    User { results: Vec<&'r CallResult>, contents: Vec<Content<'r>> },
    /// The model's.
    Assistant(&'r [AssistantPart]),
}

/// What is no result.
#[derive(Debug, PartialEq)]
pub(crate) enum Content<'r> {
    Text(Cow<'r, str>),
    Image(&'r ImagePart),
}

/// The conversation of a request.
///
/// An image that the API does not take, accepted for another model, is replaced by a placeholder (D-74).
pub(crate) fn turns(request: &ChatRequest, api: Api) -> Vec<Turn<'_>> {
    let mut turns = Vec::with_capacity(request.messages.len());
    for message in &request.messages {
        match message {
            Message::Assistant { parts } => turns.push(Turn::Assistant(parts)),
            Message::ToolResult(result) => user_side(&mut turns).0.push(result),
            Message::User { parts } => user_side(&mut turns).1.extend(parts.iter().map(|part| content(part, api))),
            Message::System { text } => user_side(&mut turns).1.push(Content::Text(Cow::Borrowed(text))),
        }
    }
    turns
}

/// Where the user's side goes on, or begins.
fn user_side<'t, 'r>(turns: &'t mut Vec<Turn<'r>>) -> (&'t mut Vec<&'r CallResult>, &'t mut Vec<Content<'r>>) {
    if !matches!(turns.last(), Some(Turn::User { .. })) {
        turns.push(Turn::User { results: Vec::new(), contents: Vec::new() });
    }
    match turns.last_mut() {
        Some(Turn::User { results, contents }) => (results, contents),
        Some(Turn::Assistant(_)) | None => unreachable!("a turn of the user was just added"),
    }
}

fn content(part: &Part, api: Api) -> Content<'_> {
    match part {
        Part::Text { text } => Content::Text(Cow::Borrowed(text)),
        Part::Image(image) => match api.accepts(image) {
            Ok(()) => Content::Image(image),
            Err(why) => Content::Text(Cow::Owned(format!("[image left out: {why}]"))),
        },
        Part::File(file) => Content::Text(Cow::Owned(file_text(file))),
    }
}

/// A file between tags. A closing tag in it would end it early, so a backslash is put into that one.
fn file_text(file: &FilePart) -> String {
    let name = file.name.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    let text = file.text.replace("</file", "<\\/file");
    let line_end = if text.ends_with('\n') { "" } else { "\n" };
    format!("<file name=\"{name}\">\n{text}{line_end}</file>")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// D-26, D-74.
    #[test]
    fn each_side_speaks_in_turn_and_results_come_first() {
        let request: ChatRequest =
            serde_json::from_value(json!({"model": "m", "system": "", "tools": [], "messages": [
                {"role": "user", "parts": [
                    {"type": "text", "text": "hi"},
                    {"type": "file", "name": "a\"b.txt", "text": "x </file> y", "size": 11},
                {"type": "image", "name": "cat", "format": "image/gif", "data": "", "size": 1},
                ]},
                {"role": "assistant", "parts": [
                    {"type": "tool_call", "call_id": "c", "tool_name": "t", "arguments": "{}"},
                ]},
                {"role": "tool_result", "call_id": "c", "tool_name": "t", "content": "r", "is_error": true},
                {"role": "system", "text": "notice"},
                {"role": "user", "parts": [{"type": "text", "text": "more"}]},
            ]}))
            .expect("a request");
        let turns = turns(&request, Api::Gemini);
        let [Turn::User { results, contents }, Turn::Assistant(_), Turn::User { results: answers, contents: more }] =
            &turns[..]
        else {
            panic!("{turns:?}")
        };
        assert!(results.is_empty());
        assert_eq!(contents[0], Content::Text("hi".into()));
        assert_eq!(contents[1], Content::Text("<file name=\"a&quot;b.txt\">\nx <\\/file> y\n</file>".into()));
        let left_out =
            "[image left out: \"cat\" cannot be sent: Gemini takes no GIF images; convert it to PNG, JPEG or WebP]";
        assert_eq!(contents[2], Content::Text(left_out.into()));
        let answers: Vec<_> = answers.iter().map(|it| (&*it.tool_name, &*it.content, it.is_error)).collect();
        assert_eq!(answers, [("t", "r", true)]);
        assert_eq!(more[..], [Content::Text("notice".into()), Content::Text("more".into())]);
    }
}
