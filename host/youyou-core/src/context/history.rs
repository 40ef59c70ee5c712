//! The log of a session. It only grows; nothing in it is ever rewritten.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use youyou_api::{AssistantPart, CallId, CompactionMethod, Part, ToolCall, Usage, hook::DynamicSection};

/// One thing that happened in a session, as far as it matters for what comes after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Entry {
    /// What the user sent, attachments read, a skill's prompt in front (D-62).
    User {
        /// In order.
        parts: Arc<[Part]>,
    },
    /// What the model said in one step.
    Assistant {
        /// Text, reasoning and calls, in the order of the answer.
        parts: Arc<[AssistantPart]>,
        /// Whether the model came to its end.
        status: AssistantStatus,
        /// What the step took.
        usage: Usage,
        /// The calls among the parts whose id the provider had chosen differently.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        renamed: Vec<CallRecord>,
    },
    /// The one answer to a call.
    ToolResult {
        /// The call.
        call_id: CallId,
        /// The name that was asked for.
        tool_name: String,
        /// What the model reads.
        content: Arc<str>,
        /// Whether it is a failure.
        is_error: bool,
        /// The tool's own facts; not for the model. Few tools have any, so they take no room in every entry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<Box<Value>>,
    },
    /// A notice of the runtime, for the model.
    System {
        /// The notice.
        text: Arc<str>,
    },
    /// What a hook added to the system prompt of one turn (D-8); kept because it had influence, and sent with no later
    /// request.
    DynamicSection(DynamicSection),
    /// The user's latest message before this is left out of every request: a hook refused it (D-11), or the provider
    /// cannot take it (D-73). The log keeps it.
    Withheld {
        /// Why.
        reason: String,
    },
    /// From here on, what came before `first_kept` is left out of requests (D-36).
    Compaction {
        /// What stands in its place; none when it was only cut off.
        summary: Option<String>,
        /// The first entry that is still sent, counted from the start of the log.
        first_kept: usize,
        /// What each tool result between `first_kept` and this entry may weigh in requests from now on, in bytes; the
        /// middle of a longer one is left out (D-35). The log keeps it whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result_limit: Option<usize>,
        /// Estimated size before, in tokens.
        tokens_before: u64,
        /// How it was done.
        method: CompactionMethod,
    },
}

/// Whether an assistant's message is whole (Y3.7-3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AssistantStatus {
    /// The model came to its end.
    Complete,
    /// It was cut off, by the user or by a failure.
    Incomplete,
}

/// A call that goes by another id than the provider gave it (K-07).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    /// Ours, unique in the session.
    pub call_id: CallId,
    /// The provider's.
    pub provider_id: String,
}

/// The log of one session, and the figures that requests are judged by.
#[derive(Debug, Clone, Default)]
pub struct History {
    entries: Vec<Entry>,
    calls: u64,
    anchor: Option<Anchor>,
}

/// What the provider last reported: so many tokens for everything up to here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// Entries counted in.
    pub entries: usize,
    /// Tokens of the whole request and its answer.
    pub tokens: u64,
}

impl History {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// A log that goes on. Call ids go on after the highest one in it.
    pub fn resumed(entries: Vec<Entry>) -> Self {
        let ids = entries.iter().filter_map(|entry| match entry {
            Entry::Assistant { parts, .. } => Some(parts),
            _ => None,
        });
        let numbers =
            ids.flat_map(|parts| calls(parts)).filter_map(|id| id.as_str().strip_prefix("call-")?.parse().ok());
        let calls = numbers.max().unwrap_or(0);
        let reported = entries.iter().enumerate().rev().find_map(|(place, entry)| match entry {
            Entry::Assistant { usage, .. } if usage.input_tokens > 0 => Some((place, *usage)),
            _ => None,
        });
        let anchor = reported.map(|(place, usage)| Anchor {
            entries: place + 1,
            tokens: usage.input_tokens.saturating_add(usage.output_tokens),
        });
        Self { entries, calls, anchor }
    }

    /// Everything, oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Appends one entry.
    pub fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// A call id that the session has not used yet (K-07).
    pub fn next_call_id(&mut self) -> CallId {
        self.calls += 1;
        CallId::new(format!("call-{}", self.calls))
    }

    /// Remembers what the provider says that everything so far takes (D-37).
    pub fn anchor(&mut self, usage: Usage) {
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        if usage.input_tokens > 0 {
            self.anchor = Some(Anchor { entries: self.entries.len(), tokens });
        }
    }

    /// The last report of the provider, unless the context has been compacted since.
    pub fn last_anchor(&self) -> Option<Anchor> {
        self.anchor.filter(|anchor| {
            !self.entries[anchor.entries.min(self.entries.len())..]
                .iter()
                .any(|e| matches!(e, Entry::Compaction { .. }))
        })
    }

    /// Messages a person would count: what the user sent and what the model said.
    pub fn message_count(&self) -> u64 {
        self.entries.iter().filter(|entry| matches!(entry, Entry::User { .. } | Entry::Assistant { .. })).count() as u64
    }

    /// Calls that have no result yet, in the order in which they were made (Y4.1-6).
    pub fn unanswered(&self) -> Vec<ToolCall> {
        let mut open: Vec<ToolCall> = Vec::new();
        for entry in &self.entries {
            match entry {
                Entry::Assistant { parts, .. } => open.extend(parts.iter().filter_map(|part| match part {
                    AssistantPart::ToolCall(call) => Some(call.clone()),
                    AssistantPart::Text { .. } | AssistantPart::Reasoning { .. } => None,
                })),
                Entry::ToolResult { call_id, .. } => open.retain(|call| call.call_id != *call_id),
                Entry::User { .. }
                | Entry::System { .. }
                | Entry::DynamicSection(_)
                | Entry::Withheld { .. }
                | Entry::Compaction { .. } => {}
            }
        }
        open
    }
}

/// The calls in what a model said.
pub(crate) fn calls(parts: &[AssistantPart]) -> impl Iterator<Item = &CallId> {
    parts.iter().filter_map(|part| match part {
        AssistantPart::ToolCall(call) => Some(&call.call_id),
        AssistantPart::Text { .. } | AssistantPart::Reasoning { .. } => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> AssistantPart {
        AssistantPart::ToolCall(ToolCall { call_id: CallId::new(id), tool_name: "t".into(), arguments: "{}".into() })
    }

    #[test]
    fn a_call_is_open_until_its_result_is_there() {
        let mut history = History::new();
        history.push(Entry::Assistant {
            parts: [call("a"), call("b")].into(),
            status: AssistantStatus::Complete,
            usage: Usage::default(),
            renamed: Vec::new(),
        });
        history.push(Entry::ToolResult {
            call_id: CallId::new("a"),
            tool_name: "t".into(),
            content: "".into(),
            is_error: false,
            metadata: None,
        });
        let open: Vec<_> = history.unanswered().iter().map(|call| call.call_id.to_string()).collect();
        assert_eq!(open, ["b"]);
        assert_eq!(history.message_count(), 1);
    }

    /// D-37: a report from before a compaction says nothing about what is sent now.
    #[test]
    fn a_compaction_ends_the_reach_of_a_report() {
        let mut history = History::new();
        history.push(Entry::User { parts: [Part::text("hi")].into() });
        history.anchor(Usage { input_tokens: 10, output_tokens: 2 });
        assert_eq!(history.last_anchor(), Some(Anchor { entries: 1, tokens: 12 }));
        history.push(Entry::Compaction {
            summary: None,
            first_kept: 1,
            result_limit: None,
            tokens_before: 12,
            method: CompactionMethod::Truncation,
        });
        assert_eq!(history.last_anchor(), None);
    }
}
