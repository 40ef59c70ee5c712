//! From the log to records and back.

use std::collections::HashSet;

use youyou_api::{
    CallId, ModelId, SessionEvent, SessionRecord,
    hook::DynamicSection,
    record::{
        AssistantRecord, Compaction, MessageStatus, Metadata, Remembered, RenamedCall, SystemRecord, ToolResultRecord,
        UserRecord,
    },
};

use crate::{
    context::{AssistantStatus, CallRecord, Entry},
    memory::Progress,
};

/// An entry as it is stored. `seqs` are the numbers of the entries before it: what a store counts is records.
pub(super) fn event(entry: &Entry, seqs: &[u64], next: u64) -> SessionEvent {
    match entry.clone() {
        Entry::User { parts } => SessionEvent::UserMessage(UserRecord { parts }),
        Entry::Assistant { parts, status, usage, renamed } => SessionEvent::AssistantMessage(AssistantRecord {
            parts,
            status: match status {
                AssistantStatus::Complete => MessageStatus::Complete,
                AssistantStatus::Incomplete => MessageStatus::Incomplete,
            },
            usage,
            renamed: renamed
                .into_iter()
                .map(|CallRecord { call_id, provider_id }| RenamedCall { call_id, provider_id })
                .collect(),
        }),
        Entry::ToolResult { call_id, tool_name, content, is_error, metadata } => {
            let metadata = metadata.map(|metadata| *metadata);
            SessionEvent::ToolResult(ToolResultRecord { call_id, tool_name, content, is_error, metadata })
        }
        Entry::System { text } => SessionEvent::SystemMessage(SystemRecord { text, section: None }),
        Entry::DynamicSection(DynamicSection { title, content }) => {
            SessionEvent::SystemMessage(SystemRecord { text: content.into(), section: Some(title) })
        }
        Entry::Withheld { reason } => SessionEvent::Metadata(Metadata::withheld(reason)),
        Entry::Compaction { summary, first_kept, result_limit, tokens_before, method } => {
            SessionEvent::Metadata(Metadata::compaction(&Compaction {
                summary,
                first_kept: seqs.get(first_kept).copied().unwrap_or(next),
                result_limit: result_limit.map(|limit| limit as u64),
                tokens_before,
                method,
            }))
        }
    }
}

/// A session as it was stored, understood.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Restored {
    /// The log.
    pub(crate) entries: Vec<Entry>,
    /// The number of each entry's record.
    pub(super) seqs: Vec<u64>,
    /// The model that it used last (D-70).
    pub(crate) model: Option<ModelId>,
    /// How far it was read for memories.
    pub(super) remembered: Remembered,
    /// Results of calls that nobody asked for: they are left out of requests (K-03).
    pub(crate) strays: Vec<CallId>,
    /// Records that this version does not understand.
    pub(crate) opaque: usize,
}

impl Restored {
    /// How far the log was read for memories. What was said while nothing was to be remembered counts as read.
    pub(crate) fn progress(&self) -> Progress {
        let Remembered { next, pending } = &self.remembered;
        let entries = next.map_or(self.seqs.len(), |next| self.seqs.partition_point(|seq| *seq < next));
        Progress { entries, pending: pending.clone() }
    }
}

/// Understands the records of a session, as far as they are the log's.
pub(crate) fn restore(records: Vec<SessionRecord>) -> Restored {
    let mut restored = Restored::default();
    let mut asked = HashSet::new();
    for SessionRecord { seq, event, .. } in records {
        if let SessionEvent::Metadata(metadata) = &event {
            restored.model = metadata.as_model().or(restored.model);
            restored.remembered = metadata.as_memories().unwrap_or(restored.remembered);
        }
        restored.opaque += usize::from(matches!(event, SessionEvent::Opaque(_)));
        let Some(entry) = entry(event, &restored.seqs) else { continue };
        match &entry {
            Entry::Assistant { parts, .. } => asked.extend(crate::context::calls(parts).cloned()),
            Entry::ToolResult { call_id, .. } if !asked.contains(call_id) => restored.strays.push(call_id.clone()),
            _ => {}
        }
        restored.entries.push(entry);
        restored.seqs.push(seq);
    }
    restored
}

/// A record as an entry of the log; none for those that are no part of it.
fn entry(event: SessionEvent, seqs: &[u64]) -> Option<Entry> {
    Some(match event {
        SessionEvent::UserMessage(UserRecord { parts }) => Entry::User { parts },
        SessionEvent::AssistantMessage(AssistantRecord { parts, status, usage, renamed }) => Entry::Assistant {
            parts,
            status: match status {
                MessageStatus::Complete => AssistantStatus::Complete,
                MessageStatus::Incomplete => AssistantStatus::Incomplete,
            },
            usage,
            renamed: renamed
                .into_iter()
                .map(|RenamedCall { call_id, provider_id }| CallRecord { call_id, provider_id })
                .collect(),
        },
        SessionEvent::ToolResult(ToolResultRecord { call_id, tool_name, content, is_error, metadata }) => {
            Entry::ToolResult { call_id, tool_name, content, is_error, metadata: metadata.map(Box::new) }
        }
        SessionEvent::SystemMessage(SystemRecord { text, section: None }) => Entry::System { text },
        SessionEvent::SystemMessage(SystemRecord { text, section: Some(title) }) => {
            Entry::DynamicSection(DynamicSection { title, content: text.to_string() })
        }
        SessionEvent::Metadata(metadata) => return fact(&metadata, seqs),
        _ => return None,
    })
}

fn fact(metadata: &Metadata, seqs: &[u64]) -> Option<Entry> {
    if let Some(reason) = metadata.as_withheld() {
        return Some(Entry::Withheld { reason: reason.to_owned() });
    }
    let Compaction { summary, first_kept, result_limit, tokens_before, method } = metadata.as_compaction()?;
    Some(Entry::Compaction {
        summary,
        // Records may be missing, so the first one that is still there.
        first_kept: seqs.partition_point(|seq| *seq < first_kept),
        result_limit: result_limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX)),
        tokens_before,
        method,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use youyou_api::{AssistantPart, CompactionMethod, Part, ToolCall, Usage};

    use super::*;

    fn any_entry() -> impl Strategy<Value = Entry> {
        let text = || ".{0,6}";
        let call = || {
            "[ab]".prop_map(|id| ToolCall { call_id: CallId::new(id), tool_name: "t".into(), arguments: "{".into() })
        };
        let part = prop_oneof![
            text().prop_map(|text| AssistantPart::Text { text: text.into() }),
            (text(), any::<bool>()).prop_map(|(text, signed)| AssistantPart::Reasoning {
                text: text.into(),
                signature: signed.then(|| json!(1))
            }),
            call().prop_map(AssistantPart::ToolCall),
        ];
        let status = prop_oneof![Just(AssistantStatus::Complete), Just(AssistantStatus::Incomplete)];
        let method = prop_oneof![Just(CompactionMethod::Summary), Just(CompactionMethod::Truncation)];
        prop_oneof![
            text().prop_map(|text| Entry::User { parts: [Part::text(text)].into() }),
            (prop::collection::vec(part, 0..3), status, any::<bool>()).prop_map(|(parts, status, renamed)| {
                let renamed = renamed.then(|| CallRecord { call_id: CallId::new("a"), provider_id: "x".into() });
                let usage = Usage { input_tokens: 1, output_tokens: 2 };
                Entry::Assistant { parts: parts.into(), status, usage, renamed: renamed.into_iter().collect() }
            }),
            ("[abc]", text(), any::<bool>(), any::<Option<bool>>()).prop_map(|(id, content, is_error, fact)| {
                let metadata = fact.map(|fact| Box::new(json!({"fact": fact})));
                Entry::ToolResult {
                    call_id: CallId::new(id),
                    tool_name: "t".into(),
                    content: content.into(),
                    is_error,
                    metadata,
                }
            }),
            text().prop_map(|text| Entry::System { text: text.into() }),
            (text(), text()).prop_map(|(title, content)| Entry::DynamicSection(DynamicSection { title, content })),
            text().prop_map(|reason| Entry::Withheld { reason }),
            (any::<Option<u16>>(), 0..12usize, any::<Option<u16>>(), method).prop_map(
                |(summary, first_kept, limit, method)| {
                    Entry::Compaction {
                        summary: summary.map(|n| n.to_string()),
                        first_kept,
                        result_limit: limit.map(usize::from),
                        tokens_before: 9,
                        method,
                    }
                }
            ),
        ]
    }

    proptest! {
        /// Y3.7-1, D-36: whatever happened comes back as it was, also where a store counts records that are no entries,
        /// and through the JSON that stores write.
        #[test]
        fn every_log_comes_back(entries in prop::collection::vec((any_entry(), 0..3u64), 0..12)) {
            let (mut seqs, mut next) = (Vec::new(), 0);
            let mut records = Vec::new();
            let mut expected = Vec::new();
            for (mut entry, gap) in entries {
                if let Entry::Compaction { first_kept, .. } = &mut entry {
                    *first_kept = (*first_kept).min(expected.len());
                }
                for _ in 0..gap {
                    records.push(SessionRecord { seq: next, at: 0, event: SessionEvent::Metadata(Metadata::title("t")) });
                    next += 1;
                }
                records.push(SessionRecord { seq: next, at: 0, event: event(&entry, &seqs, next) });
                seqs.push(next);
                next += 1;
                expected.push(entry);
            }
            let stored: Vec<String> = records.iter().map(|r| serde_json::to_string(r).expect("json")).collect();
            let read = stored.iter().map(|line| serde_json::from_str(line).expect("json")).collect();
            let restored = restore(read);
            prop_assert_eq!(restored.entries, expected);
            prop_assert_eq!(restored.seqs, seqs);
        }
    }

    /// K-03, D-70: what is there beside the log.
    #[test]
    fn a_stray_result_and_the_last_model_are_told() {
        let record = |seq, event| SessionRecord { seq, at: 0, event };
        let stray = ToolResultRecord {
            call_id: CallId::new("x"),
            tool_name: "t".into(),
            content: "lost".into(),
            is_error: false,
            metadata: None,
        };
        let restored = restore(vec![
            record(0, SessionEvent::Metadata(Metadata::model(&ModelId::new("one")))),
            record(1, SessionEvent::user(vec![Part::text("hi")])),
            record(2, SessionEvent::ToolResult(stray)),
            record(3, SessionEvent::Metadata(Metadata::model(&ModelId::new("two")))),
            record(4, SessionEvent::from_parts("hologram", "{}").expect("json")),
        ]);
        assert_eq!(restored.model, Some(ModelId::new("two")));
        assert_eq!(restored.strays, [CallId::new("x")]);
        assert_eq!((restored.entries.len(), restored.opaque), (2, 1));
    }
}
