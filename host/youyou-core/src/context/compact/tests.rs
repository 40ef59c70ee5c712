//! Logs for the tests of this module, and what holds for a compaction of any log.

use proptest::prelude::*;
use youyou_api::{
    AssistantPart, CallId, Capabilities, CompactionMethod, ImageFormat, ImagePart, Message, Part, ToolCall, Usage,
};

use super::{super::normal, cut::legal_cuts, *};
use crate::context::{
    AssistantStatus, Entry,
    projection::{View, project},
};

/// Writes a log, an entry a call.
#[derive(Default)]
pub(super) struct Log(Vec<Entry>);

impl Log {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn entries(self) -> Vec<Entry> {
        self.0
    }

    pub(super) fn user(mut self, text: &str) -> Self {
        self.0.push(Entry::User { parts: [Part::text(text)].into() });
        self
    }

    pub(super) fn said(self, text: &str) -> Self {
        self.assistant(vec![AssistantPart::Text { text: text.into() }])
    }

    pub(super) fn calls(self, ids: &[&str]) -> Self {
        self.assistant(ids.iter().map(|id| call(id)).collect())
    }

    fn assistant(mut self, parts: Vec<AssistantPart>) -> Self {
        self.0.push(assistant(parts));
        self
    }

    pub(super) fn result(mut self, id: &str, content: &str) -> Self {
        self.0.push(result(id, content));
        self
    }

    pub(super) fn system(mut self, text: &str) -> Self {
        self.0.push(Entry::System { text: text.into() });
        self
    }
}

fn call(id: &str) -> AssistantPart {
    AssistantPart::ToolCall(ToolCall { call_id: CallId::new(id), tool_name: "t".into(), arguments: "{}".into() })
}

fn assistant(parts: Vec<AssistantPart>) -> Entry {
    let parts = parts.into();
    Entry::Assistant { parts, status: AssistantStatus::Complete, usage: Usage::default(), renamed: Vec::new() }
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

/// Any log at all: tidy turns, crashed ones, stray results, repeated ids, earlier compactions that make no sense.
pub(super) fn log() -> impl Strategy<Value = Vec<Entry>> {
    let id = || prop_oneof![Just("a"), Just("b"), Just("c"), Just("")];
    let text = || {
        prop_oneof![
            Just(String::new()),
            Just("hi".to_owned()),
            (1_usize..3_000).prop_map(|length| "x".repeat(length)),
            (1_usize..500).prop_map(|length| "字".repeat(length)),
        ]
    };
    let said = prop_oneof![
        text().prop_map(|text| AssistantPart::Text { text: text.into() }),
        id().prop_map(call),
        text().prop_map(|text| AssistantPart::Reasoning { text: text.into(), signature: Some("s".into()) }),
    ];
    let image = Part::Image(ImagePart { name: "i".into(), format: ImageFormat::Png, data: "AAAA".into(), size: 3 });
    let sent = prop_oneof![4 => text().prop_map(Part::text), 1 => Just(image)];
    let limit = prop_oneof![Just(None), (0_usize..2_000).prop_map(Some)];
    let summary = prop_oneof![Just(None), text().prop_map(Some)];
    let method = prop_oneof![Just(CompactionMethod::Summary), Just(CompactionMethod::Truncation)];
    let step = (id(), text(), text()).prop_map(|(id, said, content)| {
        vec![assistant(vec![AssistantPart::Text { text: said.into() }, call(id)]), result(id, &content)]
    });
    let anything = prop_oneof![
        5 => step,
        3 => prop::collection::vec(sent, 1..3).prop_map(|parts| vec![Entry::User { parts: parts.into() }]),
        2 => prop::collection::vec(said, 0..4).prop_map(|parts| vec![assistant(parts)]),
        2 => (id(), text()).prop_map(|(id, content)| vec![result(id, &content)]),
        1 => text().prop_map(|text| vec![Entry::System { text: text.into() }]),
        1 => (summary, 0_usize..30, limit, method).prop_map(|(summary, first_kept, result_limit, method)| {
            vec![Entry::Compaction { summary, first_kept, result_limit, tokens_before: 0, method }]
        }),
    ];
    prop::collection::vec(anything, 0..25).prop_map(|entries| entries.concat())
}

/// What a compaction promises, checked before it is appended.
fn check_step(entries: &[Entry], compaction: &Entry) -> Result<(), TestCaseError> {
    let Entry::Compaction { first_kept, .. } = compaction else {
        return Err(TestCaseError::fail("not a compaction"));
    };
    let start = View::of(entries).start();
    let legal = legal_cuts(entries, start).contains(first_kept);
    prop_assert!(legal || *first_kept == start, "{first_kept} is no legal cut");
    prop_assert_eq!(parted(entries, start, *first_kept), Vec::<usize>::new());

    let mut after = entries.to_vec();
    after.push(compaction.clone());
    normal::tests::check(&project(&after, Capabilities::ALL))?;
    let (before, after) = (estimate_messages(entries, Capabilities::ALL), estimate_messages(&after, Capabilities::ALL));
    prop_assert!(after < before, "{before} tokens became {after}");
    Ok(())
}

/// The results from `cut` on whose call is before it, found in what is really sent: the call of each result whose text
/// is its own place.
fn parted(entries: &[Entry], start: usize, cut: usize) -> Vec<usize> {
    let numbered: Vec<_> = entries
        .iter()
        .enumerate()
        .map(|(place, entry)| match entry {
            Entry::ToolResult { call_id, .. } => result(call_id.as_str(), &place.to_string()),
            Entry::Assistant { parts, .. } => assistant(parts.to_vec()),
            other => other.clone(),
        })
        .collect();
    let answered = |from: usize, to: usize| -> Vec<usize> {
        let kept = numbered[from..to].iter().filter(|entry| !matches!(entry, Entry::Compaction { .. })).cloned();
        let sent = project(&kept.collect::<Vec<_>>(), Capabilities::ALL);
        sent.iter()
            .filter_map(|message| match message {
                Message::ToolResult(result) => result.content.parse().ok(),
                Message::User { .. } | Message::Assistant { .. } | Message::System { .. } => None,
            })
            .collect()
    };
    let end = numbered.len();
    let apart = [answered(start, cut), answered(cut, end)].concat();
    answered(start, end).into_iter().filter(|place| !apart.contains(place)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Y4.1-6, Y4.2-3, D-35: truncating goes on until nothing can be gained, and every step of it is sound.
    #[test]
    fn truncating_any_log_keeps_it_normal_and_comes_to_an_end(entries in log(), window in 0_u64..8_000) {
        let mut entries = entries;
        while let Some(plan) = plan_truncation(&entries, window) {
            let compaction = plan.compaction(0);
            check_step(&entries, &compaction)?;
            entries.push(compaction);
        }
    }

    /// Y4.1-6, Y4.2-3: the same for summaries, short ones and ones that are no help.
    #[test]
    fn summing_up_any_log_keeps_it_normal_and_comes_to_an_end(
        entries in log(),
        window in 0_u64..8_000,
        length in 0_usize..4_000,
    ) {
        let mut entries = entries;
        while let Some(plan) = plan_summary(&entries, window) {
            prop_assert!(legal_cuts(&entries, View::of(&entries).start()).contains(&plan.first_kept));
            normal::tests::check(&plan.to_summarise)?;
            let Some(compaction) = plan.compaction(&entries, &"s".repeat(length), 0) else { break };
            check_step(&entries, &compaction)?;
            entries.push(compaction);
        }
    }

    /// Y4.2-3: a log that is too large becomes small, however the two ways alternate.
    #[test]
    fn both_ways_together_keep_any_log_normal(entries in log(), ways in prop::collection::vec(any::<bool>(), 1..8)) {
        let mut entries = entries;
        for by_summary in ways {
            let compaction = if by_summary {
                plan_summary(&entries, 2_000).and_then(|plan| plan.compaction(&entries, "they talked", 0))
            } else {
                plan_truncation(&entries, 2_000).map(|plan| plan.compaction(0))
            };
            let Some(compaction) = compaction else { continue };
            check_step(&entries, &compaction)?;
            entries.push(compaction);
        }
    }
}
