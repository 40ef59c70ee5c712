//! From the log to the messages of one request.
//!
//! Pure: the same log gives the same messages. What is left out is left out here and nowhere else; the log keeps it.

use std::{collections::HashSet, sync::Arc};

use youyou_api::{AssistantPart, CallResult, Capabilities, CompactionMethod, Message, Part};

use super::{
    history::{AssistantStatus, Entry},
    normal::{filtered, normalize},
    shorten::shorten,
};

/// Stands where the history was cut off without a summary (D-35).
const CUT_NOTICE: &str = "[The beginning of this conversation was left out to make room.]";

/// Stands behind a summary that is older than the cut.
const GAP_NOTICE: &str = "[Parts of the conversation after this were left out to make room.]";

/// What is repeated of a user's message whose turn was cut in the middle, in bytes.
pub(super) const QUOTE_LIMIT_BYTES: usize = 4 * 1024;

/// The messages that a model of these capabilities is sent, in the form that every API accepts.
pub fn project(entries: &[Entry], capabilities: Capabilities) -> Vec<Message> {
    project_view(entries, View::of(entries), capabilities)
}

/// Which part of a log is sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    /// Where it begins; none for the start of the log.
    pub(super) cut: Option<Cut<'a>>,
    /// Where it ends: the first entry that is not sent any more.
    pub(super) end: usize,
    /// What a tool result may weigh, in bytes, beside what the log says of it.
    pub(super) result_limit: Option<usize>,
}

/// A compaction, one of the log or one that is only thought of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut<'a> {
    pub(super) summary: Option<&'a str>,
    pub(super) first_kept: usize,
    pub(super) method: CompactionMethod,
}

impl<'a> View<'a> {
    /// What a request is made from: everything since the latest compaction's cut.
    pub(super) fn of(entries: &'a [Entry]) -> Self {
        let cut = entries.iter().rev().find_map(|entry| match entry {
            Entry::Compaction { summary, first_kept, method, .. } => {
                Some(Cut { summary: summary.as_deref(), first_kept: *first_kept, method: *method })
            }
            _ => None,
        });
        Self { cut, end: entries.len(), result_limit: None }
    }

    /// The first entry that is sent.
    pub(super) fn start(&self) -> usize {
        self.cut.map_or(0, |cut| cut.first_kept).min(self.end)
    }
}

/// The messages of a part of the log, in the form that every API accepts.
pub(super) fn project_view(entries: &[Entry], view: View<'_>, capabilities: Capabilities) -> Vec<Message> {
    let head = view.cut.and_then(|cut| head(entries, cut));
    let mut sent = kept(entries, view, capabilities, |_, message| message);
    if let Some(head) = head {
        sent.insert(0, head);
    }
    normalize(sent)
}

/// The messages of a part of the log, one for each entry that is for the model, with the entry's place. Without what
/// stands for the rest of the log, and not yet in normal form.
pub(super) fn messages(entries: &[Entry], view: View<'_>, capabilities: Capabilities) -> Vec<(usize, Message)> {
    kept(entries, view, capabilities, |place, message| (place, message))
}

/// What is made of each message of a part of the log and the place of its entry.
fn kept<T>(
    entries: &[Entry],
    view: View<'_>,
    capabilities: Capabilities,
    make: impl Fn(usize, Message) -> T,
) -> Vec<T> {
    let end = view.end.min(entries.len());
    // From the end, because a compaction limits the results before it, whichever compaction is the latest.
    let mut limit = entries[end..].iter().fold(view.result_limit, |limit, entry| smaller(limit, result_limit(entry)));
    let withheld = withheld(entries);
    let mut found = Vec::with_capacity(end - view.start().min(end));
    for (place, entry) in entries[..end].iter().enumerate().skip(view.start()).rev() {
        if withheld.contains(&place) {
            continue;
        }
        limit = smaller(limit, result_limit(entry));
        found.extend(message(entry, limit, capabilities).map(|message| make(place, message)));
    }
    found.reverse();
    found
}

fn result_limit(entry: &Entry) -> Option<usize> {
    match entry {
        Entry::Compaction { result_limit, .. } => *result_limit,
        _ => None,
    }
}

/// The messages of the user that are never sent, by their places.
pub(crate) fn withheld(entries: &[Entry]) -> HashSet<usize> {
    let mut latest = None;
    let mut withheld = HashSet::new();
    for (place, entry) in entries.iter().enumerate() {
        match entry {
            Entry::User { .. } => latest = Some(place),
            Entry::Withheld { .. } => withheld.extend(latest),
            _ => {}
        }
    }
    withheld
}

fn smaller(one: Option<usize>, other: Option<usize>) -> Option<usize> {
    one.into_iter().chain(other).min()
}

/// What stands for everything before a cut.
fn head(entries: &[Entry], cut: Cut<'_>) -> Option<Message> {
    let text = match (cut.summary, cut.method) {
        (Some(summary), CompactionMethod::Summary) => summary_text(summary),
        (Some(summary), CompactionMethod::Truncation) => format!("{}\n{GAP_NOTICE}", summary_text(summary)),
        // Only tool results were cut.
        (None, CompactionMethod::Truncation | CompactionMethod::Summary) if cut.first_kept == 0 => return None,
        (None, CompactionMethod::Truncation | CompactionMethod::Summary) => CUT_NOTICE.to_owned(),
    };
    let parts = [Some(text), quote(entries, cut.first_kept)].into_iter().flatten().map(Part::text);
    Some(Message::User { parts: parts.collect() })
}

fn summary_text(summary: &str) -> String {
    format!("[Summary of the conversation so far]\n{summary}\n[End of the summary]")
}

/// The message of the user that a turn answers, where the turn was cut in the middle. Whatever else is left out, what
/// the user asked for is not.
fn quote(entries: &[Entry], first_kept: usize) -> Option<String> {
    let kept = entries.iter().skip(first_kept).find_map(|entry| match entry {
        Entry::User { .. } => Some(true),
        Entry::Assistant { .. } | Entry::ToolResult { .. } => Some(false),
        Entry::System { .. } | Entry::DynamicSection(_) | Entry::Withheld { .. } | Entry::Compaction { .. } => None,
    });
    if kept == Some(true) {
        return None;
    }
    let withheld = withheld(entries);
    let sent = entries.iter().enumerate().take(first_kept).filter(|(place, _)| !withheld.contains(place));
    let parts = sent.rev().find_map(|(_, entry)| match entry {
        Entry::User { parts } => Some(parts),
        _ => None,
    })?;
    let texts: Vec<_> = parts
        .iter()
        .map(|part| match part {
            Part::Text { text } => text.to_string(),
            Part::Image(image) => format!("[image {:?}]", image.name),
            Part::File(file) => format!("[file {:?}]", file.name),
        })
        .collect();
    Some(format!("[The user's last message]\n{}\n[End of the message]", shorten(&texts.join("\n"), QUOTE_LIMIT_BYTES)))
}

/// One entry as a message; none if it is not for the model.
fn message(entry: &Entry, result_limit: Option<usize>, capabilities: Capabilities) -> Option<Message> {
    match entry {
        Entry::User { parts } => Some(Message::User { parts: shown(parts, capabilities) }),
        Entry::Assistant { parts, status, .. } => {
            Some(Message::Assistant { parts: filtered(parts, |part| is_sent(part, *status)) })
        }
        Entry::ToolResult { call_id, tool_name, content, is_error, .. } => {
            Some(Message::ToolResult(Arc::new(CallResult {
                call_id: call_id.clone(),
                tool_name: tool_name.clone(),
                content: result_limit.map_or_else(|| content.clone(), |limit| shorten(content, limit).into()),
                is_error: *is_error,
            })))
        }
        Entry::System { text } => Some(Message::System { text: text.clone() }),
        Entry::DynamicSection(_) | Entry::Withheld { .. } | Entry::Compaction { .. } => None,
    }
}

/// Reasoning that was cut off, or that nobody wants back, is not sent (D-25).
fn is_sent(part: &AssistantPart, status: AssistantStatus) -> bool {
    match part {
        AssistantPart::Reasoning { signature, .. } => signature.is_some() && status == AssistantStatus::Complete,
        AssistantPart::Text { .. } | AssistantPart::ToolCall(_) => true,
    }
}

/// What a user sent, with a placeholder for what the model cannot take (D-74).
fn shown(parts: &Arc<[Part]>, capabilities: Capabilities) -> Arc<[Part]> {
    let is_hidden = |part: &Part| matches!(part, Part::Image(_)) && !capabilities.vision;
    if !parts.iter().any(is_hidden) {
        return parts.clone();
    }
    let show = |part: &Part| match part {
        Part::Image(image) if is_hidden(part) => {
            Part::text(format!("[image {:?} left out: this model cannot look at images]", image.name))
        }
        Part::Text { .. } | Part::Image(_) | Part::File(_) => part.clone(),
    };
    parts.iter().map(show).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use youyou_api::{CallId, ImageFormat, ImagePart, ToolCall, Usage, hook::DynamicSection};

    use super::*;

    fn user(text: &str) -> Entry {
        Entry::User { parts: [Part::text(text)].into() }
    }

    fn assistant(parts: Vec<AssistantPart>, status: AssistantStatus) -> Entry {
        Entry::Assistant { parts: parts.into(), status, usage: Usage::default(), renamed: Vec::new() }
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
            result_limit: None,
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
                    parts: [
                        Part::text("[Summary of the conversation so far]\nthey counted\n[End of the summary]"),
                        Part::text("three"),
                    ]
                    .into()
                },
                Message::Assistant { parts: [said("3")].into() },
            ]
        );
        let cut = [user("one"), user("two"), compaction(None, 1, CompactionMethod::Truncation)];
        assert_eq!(
            project(&cut, Capabilities::ALL),
            [Message::User { parts: [Part::text(CUT_NOTICE), Part::text("two")].into() }]
        );
    }

    fn result(id: &str, content: &str) -> Entry {
        Entry::ToolResult {
            call_id: CallId::new(id),
            tool_name: "t".into(),
            content: content.into(),
            is_error: false,
            metadata: None,
        }
    }

    fn cut(summary: Option<&str>, first_kept: usize, result_limit: Option<usize>) -> Entry {
        Entry::Compaction {
            summary: summary.map(str::to_owned),
            first_kept,
            result_limit,
            tokens_before: 0,
            method: CompactionMethod::Truncation,
        }
    }

    fn calls(id: &str) -> Entry {
        let call = ToolCall { call_id: CallId::new(id), tool_name: "t".into(), arguments: "{}".into() };
        assistant(vec![AssistantPart::ToolCall(call)], AssistantStatus::Complete)
    }

    /// D-35: what does not fit is cut in what is sent; a result that came later is whole.
    #[test]
    fn a_limit_cuts_the_results_before_it_and_outlives_later_compactions() {
        let long = "x".repeat(500);
        let mut entries = vec![user("go"), calls("a"), result("a", &long), cut(None, 0, Some(8))];
        entries.extend([calls("b"), result("b", &long)]);
        let contents = |entries: &[Entry]| -> Vec<usize> {
            let sent = project(entries, Capabilities::ALL);
            sent.iter()
                .filter_map(|message| match message {
                    Message::ToolResult(result) => Some(result.content.len()),
                    Message::User { .. } | Message::Assistant { .. } | Message::System { .. } => None,
                })
                .collect()
        };
        let short = shorten(&long, 8).len();
        assert_eq!(contents(&entries), [short, 500]);
        assert_eq!(project(&entries, Capabilities::ALL)[0], Message::User { parts: [Part::text("go")].into() });
        entries.push(cut(None, 1, None));
        assert_eq!(contents(&entries), [short, 500]);
    }

    /// D-35: a turn cut in the middle still begins with what the user asked for.
    #[test]
    fn a_turn_cut_in_the_middle_repeats_the_users_message() {
        let entries = [user("count them"), calls("a"), result("a", "1"), calls("b"), cut(Some("one done"), 3, None)];
        let expected = Message::User {
            parts: [
                Part::text(format!("{}\n{GAP_NOTICE}", summary_text("one done"))),
                Part::text("[The user's last message]\ncount them\n[End of the message]"),
            ]
            .into(),
        };
        assert_eq!(project(&entries, Capabilities::ALL)[0], expected);
    }

    /// D-73, D-11: a message that could not be sent, or must not be, is in the log and in no request, also not as a quote.
    #[test]
    fn a_withheld_message_is_never_sent() {
        let withheld = || Entry::Withheld { reason: "no".into() };
        let mut entries = vec![user("one"), calls("a"), result("a", "1"), user("secret"), withheld(), user("two")];
        let sent = |entries: &[Entry]| format!("{:?}", project(entries, Capabilities::ALL));
        assert!(!sent(&entries).contains("secret") && sent(&entries).contains("two"));
        entries.extend([calls("b"), result("b", "2"), withheld(), cut(Some("done"), 6, None)]);
        assert!(!sent(&entries).contains("secret") && !sent(&entries).contains("two"));
        assert!(sent(&entries).contains("one"), "{}", sent(&entries));
        entries.push(Entry::DynamicSection(DynamicSection { title: "t".into(), content: "of one turn".into() }));
        assert!(!sent(&entries).contains("of one turn"));
    }

    /// A long conversation is not copied for each request.
    #[test]
    fn a_request_shares_what_the_log_holds() {
        let entries = [user("one"), assistant(vec![said("1")], AssistantStatus::Complete)];
        let [Entry::User { parts: sent }, Entry::Assistant { parts: answered, .. }] = &entries else { unreachable!() };
        let project = project(&entries, Capabilities::ALL);
        let [Message::User { parts: one }, Message::Assistant { parts: other }] = project.as_slice() else {
            panic!("{project:?}")
        };
        assert!(Arc::ptr_eq(sent, one) && Arc::ptr_eq(answered, other));
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
                Message::Assistant { parts } => Some(parts.to_vec()),
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
        let entries = [Entry::User { parts: [image.clone()].into() }];
        assert_eq!(project(&entries, Capabilities::ALL), [Message::User { parts: [image].into() }]);
        let blind = Capabilities { vision: false, ..Capabilities::ALL };
        let text = "[image \"cat.png\" left out: this model cannot look at images]";
        assert_eq!(project(&entries, blind), [Message::User { parts: [Part::text(text)].into() }]);
    }
}
