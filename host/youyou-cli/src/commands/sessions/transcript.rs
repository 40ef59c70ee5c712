//! A stored conversation in words: short for the terminal, whole as Markdown.

use std::collections::HashSet;

use youyou::{AssistantPart, CallId, MessageStatus, Part, SessionEvent, SessionRecord};

use crate::print::{shorten, visible};

/// One thing that happened.
enum Line<'r> {
    User(&'r [Part]),
    Text(&'r str),
    Reasoning(&'r str),
    Call {
        tool_name: &'r str,
        arguments: &'r str,
        answered: bool,
    },
    Result {
        tool_name: &'r str,
        content: &'r str,
        is_error: bool,
        /// Nobody asked for it (K-03).
        stray: bool,
    },
    /// What the runtime says, or what is to be said of a record.
    Notice(String),
}

/// What happened, in order; facts of the store's own are left out.
fn lines(records: &[SessionRecord]) -> Vec<Line<'_>> {
    let answers = |record: &SessionRecord| match &record.event {
        SessionEvent::ToolResult(result) => Some(result.call_id.clone()),
        _ => None,
    };
    let answered: HashSet<CallId> = records.iter().filter_map(answers).collect();
    let strays: HashSet<u64> = stray_records(records).map(|record| record.seq).collect();
    let mut lines = Vec::new();
    for record in records {
        match &record.event {
            SessionEvent::UserMessage(user) => lines.push(Line::User(&user.parts)),
            SessionEvent::AssistantMessage(message) => {
                lines.extend(message.parts.iter().map(|part| match part {
                    AssistantPart::Text { text } => Line::Text(text),
                    AssistantPart::Reasoning { text, .. } => Line::Reasoning(text),
                    AssistantPart::ToolCall(call) => Line::Call {
                        tool_name: &call.tool_name,
                        arguments: &call.arguments,
                        answered: answered.contains(&call.call_id),
                    },
                }));
                if message.status == MessageStatus::Incomplete {
                    lines.push(Line::Notice("the answer was cut off".to_owned()));
                }
            }
            SessionEvent::ToolResult(result) => lines.push(Line::Result {
                tool_name: &result.tool_name,
                content: &result.content,
                is_error: result.is_error,
                stray: strays.contains(&record.seq),
            }),
            SessionEvent::SystemMessage(notice) => {
                let title = notice.section.as_ref().map(|title| format!("{title}: ")).unwrap_or_default();
                lines.push(Line::Notice(format!("{title}{}", notice.text)));
            }
            SessionEvent::Metadata(fact) => {
                if let Some(compaction) = fact.as_compaction() {
                    let summary = compaction.summary.map(|summary| format!(": {summary}")).unwrap_or_default();
                    lines.push(Line::Notice(format!("what was before is left out of requests{summary}")));
                } else if let Some(reason) = fact.as_withheld() {
                    lines.push(Line::Notice(format!("the message is left out of requests: {reason}")));
                }
            }
            SessionEvent::Opaque(record) => {
                lines.push(Line::Notice(format!(
                    "a record of the kind {:?}, which this version does not know",
                    record.kind
                )));
            }
            // The call stands in the assistant's message; this is its write-ahead.
            _ => {}
        }
    }
    lines
}

/// The results of calls that nobody had asked for when they came (K-03).
fn stray_records(records: &[SessionRecord]) -> impl Iterator<Item = &SessionRecord> {
    let mut asked = HashSet::new();
    records.iter().filter(move |record| match &record.event {
        SessionEvent::AssistantMessage(message) => {
            asked.extend(message.parts.iter().filter_map(|part| match part {
                AssistantPart::ToolCall(call) => Some(call.call_id.clone()),
                AssistantPart::Text { .. } | AssistantPart::Reasoning { .. } => None,
            }));
            false
        }
        SessionEvent::ToolResult(result) => !asked.contains(&result.call_id),
        _ => false,
    })
}

/// The ids of the calls whose results nobody had asked for (K-03).
pub(super) fn strays<'r>(records: &'r [SessionRecord]) -> Vec<&'r CallId> {
    let id = |record: &'r SessionRecord| match &record.event {
        SessionEvent::ToolResult(result) => Some(&result.call_id),
        _ => None,
    };
    stray_records(records).filter_map(id).collect()
}

/// What a user's part says.
fn said(part: &Part) -> String {
    match part {
        Part::Text { text } => text.to_string(),
        Part::Image(image) => format!("[image {}]", image.name),
        Part::File(file) => format!("[file {}]", file.name),
    }
}

/// A conversation as a terminal shows it: what was said whole, what was done in a line each.
pub(super) fn text(records: &[SessionRecord]) -> String {
    let mut shown = String::new();
    for line in lines(records) {
        let line = match line {
            Line::User(parts) => {
                let said = parts.iter().map(said).collect::<Vec<_>>().join("\n");
                // Each turn stands apart.
                format!("\n> {}", visible(&said).replace('\n', "\n> "))
            }
            Line::Text(text) => visible(text).into_owned(),
            Line::Reasoning(_) => continue,
            Line::Call { tool_name, arguments, answered } => {
                let unanswered = if answered { "" } else { " (without a result: it was interrupted)" };
                format!("→ {} {}{unanswered}", visible(tool_name), shorten(arguments))
            }
            Line::Result { tool_name, content, is_error, stray } => {
                let mark = if is_error { '✗' } else { '✓' };
                let stray = if stray { " (a result without a call, left out of requests)" } else { "" };
                format!("{mark} {}{stray} {}", visible(tool_name), shorten(content))
            }
            Line::Notice(text) => format!("… {}", shorten(&text)),
        };
        shown.push_str(line.trim_end());
        shown.push('\n');
    }
    shown
}

/// A conversation as a Markdown document, whole.
pub(super) fn markdown(records: &[SessionRecord]) -> String {
    let mut document = String::new();
    let mut speaker = "";
    for line in lines(records) {
        let now = match line {
            Line::User(_) => "User",
            Line::Text(_) | Line::Reasoning(_) | Line::Call { .. } => "Assistant",
            Line::Result { .. } | Line::Notice(_) => speaker,
        };
        if now != speaker || matches!(line, Line::User(_)) {
            document.push_str(&format!("\n## {now}\n"));
            speaker = now;
        }
        document.push_str(&match line {
            Line::User(parts) => parts.iter().map(|part| format!("\n{}\n", attached(part))).collect(),
            Line::Text(text) => format!("\n{}\n", text.trim()),
            Line::Reasoning(text) => format!("\n> {}\n", text.trim().replace('\n', "\n> ")),
            Line::Call { tool_name, arguments, answered } => {
                let unanswered = if answered { "" } else { ", which was interrupted" };
                format!("\nCall of `{tool_name}`{unanswered}:\n\n{}", fenced("json", arguments))
            }
            Line::Result { tool_name, content, is_error, stray } => {
                let what = if is_error { "Failure" } else { "Result" };
                let stray = if stray { ", without a call" } else { "" };
                format!("\n{what} of `{tool_name}`{stray}:\n\n{}", fenced("", content))
            }
            Line::Notice(text) => format!("\n*{}*\n", text.trim()),
        });
    }
    document
}

fn attached(part: &Part) -> String {
    match part {
        Part::File(file) => format!("File {}:\n\n{}", file.name, fenced("", &file.text).trim_end()),
        Part::Text { .. } | Part::Image(_) => said(part).trim().to_owned(),
    }
}

/// A block of code that ends nowhere but at its end, whatever it holds.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::fenced;

    #[test]
    fn a_block_of_code_may_hold_blocks_of_code() {
        assert_eq!(fenced("json", "{}"), "```json\n{}\n```\n");
        assert_eq!(fenced("", "a\n````\nb\n"), "`````\na\n````\nb\n`````\n");
    }
}
