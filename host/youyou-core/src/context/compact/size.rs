//! How much a request takes, and whether that is too much (Y4.2-2, D-37).

use youyou_api::{AssistantPart, Capabilities, Message, Part};

use super::super::{
    estimate,
    history::{Entry, History},
    projection::{View, messages, project},
};

/// What the next request takes, in tokens.
///
/// Where the provider has reported a size since the latest compaction, that size and an estimate of what came after
/// it; else an estimate of everything. Never less than characters / 4 of what is sent, so compaction never comes later
/// than the requirements ask for. `overhead` is the estimate of the system prompt and the tools.
pub fn estimate_request(history: &History, overhead: u64, capabilities: Capabilities) -> u64 {
    let entries = history.entries();
    let sent = project(entries, capabilities);
    let Some(anchor) = history.last_anchor() else { return overhead.saturating_add(sum(&sent)) };
    let since = entries.get(anchor.entries..).unwrap_or_default();
    let view = View { cut: None, end: since.len(), result_limit: None };
    let since = messages(since, view, capabilities);
    let guess = anchor.tokens.saturating_add(sum(since.iter().map(|(_, message)| message)));
    let characters: u64 = sent.iter().map(characters).sum();
    guess.max(overhead.saturating_add(characters.div_ceil(4)))
}

/// The estimate for the messages that these entries come to, whatever a provider has reported. The figures of before
/// and after a compaction are comparable.
pub fn estimate_messages(entries: &[Entry], capabilities: Capabilities) -> u64 {
    sum(&project(entries, capabilities))
}

/// Whether a request of that size is to be preceded by a compaction: above `threshold`, a part of one, of the model's
/// window (Y4.2-2).
pub fn is_due(estimated: u64, threshold: f64, window: u64) -> bool {
    // Both are far below 2^52, where the conversion begins to lose digits.
    #[expect(clippy::cast_precision_loss, reason = "token counts are small")]
    let (estimated, window) = (estimated as f64, window as f64);
    estimated > threshold * window
}

/// The estimate for a list of messages.
pub(super) fn sum<'a>(messages: impl IntoIterator<Item = &'a Message>) -> u64 {
    messages.into_iter().map(estimate::message).sum()
}

/// The characters of a message, as the requirements count them.
fn characters(message: &Message) -> u64 {
    let count = estimate::characters;
    match message {
        Message::User { parts } => parts
            .iter()
            .map(|part| match part {
                Part::Text { text } => count(text),
                Part::File(file) => count(&file.name) + count(&file.text),
                Part::Image(image) => count(&image.name),
            })
            .sum(),
        Message::Assistant { parts } => parts
            .iter()
            .map(|part| match part {
                AssistantPart::Text { text } | AssistantPart::Reasoning { text, .. } => count(text),
                AssistantPart::ToolCall(call) => count(&call.tool_name) + count(&call.arguments),
            })
            .sum(),
        Message::ToolResult(result) => count(&result.content),
        Message::System { text } => count(text),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use youyou_api::Usage;

    use super::{
        super::tests::{Log, log},
        *,
    };

    fn history(entries: &[Entry], anchored: Option<(usize, u64)>) -> History {
        let mut history = History::new();
        for (place, entry) in entries.iter().enumerate() {
            history.push(entry.clone());
            if let Some((_, tokens)) = anchored.filter(|(entries, _)| *entries == place + 1) {
                history.anchor(Usage { input_tokens: tokens, output_tokens: 0 });
            }
        }
        history
    }

    /// D-37: a report covers what came before it, system prompt and tools included; only the rest is guessed.
    #[test]
    fn the_estimate_is_anchored_on_what_the_provider_reported() {
        let entries = Log::new().user("你好").said("yes").user(&"x".repeat(400)).entries();
        let unanchored = estimate_request(&history(&entries, None), 1_000, Capabilities::ALL);
        assert_eq!(unanchored, 1_000 + (2 + 4) + (1 + 4) + (100 + 4));
        let anchored = estimate_request(&history(&entries, Some((2, 5_000))), 1_000, Capabilities::ALL);
        assert_eq!(anchored, 5_000 + (100 + 4));
    }

    /// D-37: a report that is far too small does not put compaction off.
    #[test]
    fn a_report_below_characters_by_four_is_not_believed() {
        let entries = Log::new().user(&"x".repeat(4_000)).said("ok").entries();
        assert_eq!(estimate_request(&history(&entries, Some((2, 3))), 50, Capabilities::ALL), 50 + 1_001);
    }

    /// Y4.2-2: the threshold itself is not above the threshold.
    #[test]
    fn compaction_is_due_above_the_threshold() {
        assert!(!is_due(80, 0.8, 100));
        assert!(is_due(81, 0.8, 100));
        assert!(!is_due(0, 0.8, 0));
    }

    proptest! {
        /// Y4.2-2, D-37: for any log and any report.
        #[test]
        fn compaction_is_never_due_later_than_characters_by_four_demands(
            entries in log(),
            at in 0_usize..30,
            tokens in 0_u64..3_000,
            overhead in 0_u64..1_000,
        ) {
            let estimated = estimate_request(&history(&entries, Some((at, tokens))), overhead, Capabilities::ALL);
            let sent = project(&entries, Capabilities::ALL);
            prop_assert!(estimated >= overhead + sent.iter().map(characters).sum::<u64>() / 4);
        }
    }
}
