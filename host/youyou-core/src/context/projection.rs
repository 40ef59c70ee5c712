//! From the log to the messages of one request.
//!
//! Pure: the same log gives the same messages. What is left out is left out here and nowhere else; the log keeps it.

use youyou_api::{AssistantPart, Capabilities, CompactionMethod, FilePart, Message, Part};

use super::{
    history::{AssistantStatus, Entry},
    normal::normalize,
};

/// Stands where the history was cut off without a summary (D-35).
const CUT_NOTICE: &str = "[The beginning of this conversation was left out to make room.]";

/// The messages that a model of these capabilities is sent, in the form that every API accepts.
pub fn project(entries: &[Entry], capabilities: Capabilities) -> Vec<Message> {
    let (head, rest) = after_compaction(entries);
    let mut messages = Vec::with_capacity(rest.len() + 1);
    messages.extend(head);
    messages.extend(rest.iter().filter_map(|entry| message(entry, capabilities)));
    normalize(messages)
}

/// What stands for everything before the latest compaction's cut, and the entries after the cut.
fn after_compaction(entries: &[Entry]) -> (Option<Message>, &[Entry]) {
    let latest = entries.iter().rev().find_map(|entry| match entry {
        Entry::Compaction { summary, first_kept, method, .. } => Some((summary, *first_kept, *method)),
        Entry::User { .. } | Entry::Assistant { .. } | Entry::ToolResult { .. } | Entry::System { .. } => None,
    });
    let Some((summary, first_kept, method)) = latest else { return (None, entries) };
    let text = match (summary, method) {
        (Some(summary), CompactionMethod::Summary) => {
            format!("[Summary of the conversation so far]\n{summary}\n[End of the summary]")
        }
        (Some(_) | None, CompactionMethod::Truncation | CompactionMethod::Summary) => CUT_NOTICE.to_owned(),
    };
    (Some(Message::User { parts: vec![Part::text(text)] }), entries.get(first_kept..).unwrap_or_default())
}

/// One entry as a message; none if it is not for the model.
fn message(entry: &Entry, capabilities: Capabilities) -> Option<Message> {
    match entry {
        Entry::User { parts } => {
            Some(Message::User { parts: parts.iter().map(|part| shown(part, capabilities)).collect() })
        }
        Entry::Assistant { parts, status, .. } => {
            Some(Message::Assistant { parts: parts.iter().filter(|part| is_sent(part, *status)).cloned().collect() })
        }
        Entry::ToolResult { call_id, tool_name, content, is_error, .. } => Some(Message::ToolResult {
            call_id: call_id.clone(),
            tool_name: tool_name.clone(),
            content: content.clone(),
            is_error: *is_error,
        }),
        Entry::System { text } => Some(Message::System { text: text.clone() }),
        Entry::Compaction { .. } => None,
    }
}

/// Reasoning that was cut off, or that nobody wants back, is not sent (D-25).
fn is_sent(part: &AssistantPart, status: AssistantStatus) -> bool {
    match part {
        AssistantPart::Reasoning { signature, .. } => signature.is_some() && status == AssistantStatus::Complete,
        AssistantPart::Text { .. } | AssistantPart::ToolCall(_) => true,
    }
}

/// A piece of what the user sent, or a placeholder where the model cannot take it (D-74); a file as its text.
fn shown(part: &Part, capabilities: Capabilities) -> Part {
    match part {
        Part::Image(image) if !capabilities.vision => {
            Part::text(format!("[image {:?} left out: this model cannot look at images]", image.name))
        }
        Part::Text { .. } | Part::Image(_) | Part::File(FilePart { .. }) => part.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use youyou_api::{ImageFormat, ImagePart, Usage};

    use super::*;

    fn user(text: &str) -> Entry {
        Entry::User { parts: vec![Part::text(text)] }
    }

    fn assistant(parts: Vec<AssistantPart>, status: AssistantStatus) -> Entry {
        Entry::Assistant { parts, status, usage: Usage::default(), renamed: Vec::new() }
    }

    fn said(text: &str) -> AssistantPart {
        AssistantPart::Text { text: text.into() }
    }

    fn thought(signature: Option<serde_json::Value>) -> AssistantPart {
        AssistantPart::Reasoning { text: "hm".into(), signature }
    }

    #[test]
    fn only_the_latest_compaction_counts() {
        let compaction = |summary: Option<&str>, first_kept, method| Entry::Compaction {
            summary: summary.map(str::to_owned),
            first_kept,
            tokens_before: 0,
            method,
        };
        let entries = [
            user("one"),
            compaction(Some("old"), 1, CompactionMethod::Summary),
            user("two"),
            assistant(vec![said("2")], AssistantStatus::Complete),
            user("three"),
            compaction(Some("they counted"), 4, CompactionMethod::Summary),
            assistant(vec![said("3")], AssistantStatus::Complete),
        ];
        assert_eq!(
            project(&entries, Capabilities::ALL),
            [
                Message::User {
                    parts: vec![
                        Part::text("[Summary of the conversation so far]\nthey counted\n[End of the summary]"),
                        Part::text("three"),
                    ]
                },
                Message::Assistant { parts: vec![said("3")] },
            ]
        );
        let cut = [user("one"), user("two"), compaction(None, 1, CompactionMethod::Truncation)];
        assert_eq!(
            project(&cut, Capabilities::ALL),
            [Message::User { parts: vec![Part::text(CUT_NOTICE), Part::text("two")] }]
        );
    }

    /// D-25: reasoning goes back only whole, and only to a provider that signed it.
    #[test]
    fn reasoning_goes_back_only_signed_and_whole() {
        let signature = Some(serde_json::json!("s"));
        let entries = [
            user("hi"),
            assistant(vec![thought(None), said("a")], AssistantStatus::Complete),
            user("go"),
            assistant(vec![thought(signature.clone()), said("b")], AssistantStatus::Complete),
            user("on"),
            assistant(vec![thought(signature.clone()), said("c")], AssistantStatus::Incomplete),
        ];
        let assistants: Vec<_> = project(&entries, Capabilities::ALL)
            .into_iter()
            .filter_map(|message| match message {
                Message::Assistant { parts } => Some(parts),
                _ => None,
            })
            .collect();
        assert_eq!(assistants, [vec![said("a")], vec![thought(signature), said("b")], vec![said("c")]]);
    }

    /// D-74.
    #[test]
    fn a_model_without_vision_is_told_of_the_image() {
        let image = Part::Image(ImagePart {
            name: "cat.png".into(),
            format: ImageFormat::Png,
            data: Arc::from("AAAA"),
            size: 3,
        });
        let entries = [Entry::User { parts: vec![image.clone()] }];
        assert_eq!(project(&entries, Capabilities::ALL), [Message::User { parts: vec![image] }]);
        let blind = Capabilities { vision: false, ..Capabilities::ALL };
        let text = "[image \"cat.png\" left out: this model cannot look at images]";
        assert_eq!(project(&entries, blind), [Message::User { parts: vec![Part::text(text)] }]);
    }
}
