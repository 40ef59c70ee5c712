//! What a log sends at present, weighed, and the places where it may be cut.

use std::collections::{HashMap, VecDeque};

use youyou_api::{CallId, Capabilities, CompactionMethod, Message};

use super::{
    super::{
        estimate,
        history::{Entry, calls},
        projection::{Cut, QUOTE_LIMIT_BYTES, View, messages, project, project_view},
    },
    size::sum,
};

/// A log, and what the entries that it sends take.
///
/// Images count: what a model without vision is sent is smaller than this says, never larger.
pub(super) struct Weighed<'a> {
    pub(super) entries: &'a [Entry],
    /// The latest compaction.
    pub(super) previous: Option<Cut<'a>>,
    /// The first entry that is sent.
    pub(super) start: usize,
    /// What the whole request takes.
    pub(super) total: u64,
    /// The entries that are sent, and what each of them and all after it take.
    from: Vec<(usize, u64)>,
    /// Where it may be cut, ascending; each place leaves out something.
    legal: Vec<usize>,
}

impl<'a> Weighed<'a> {
    pub(super) fn new(entries: &'a [Entry]) -> Self {
        let view = View::of(entries);
        let mut from: Vec<_> = messages(entries, view, Capabilities::ALL)
            .iter()
            .map(|(place, message)| (*place, estimate::message(message)))
            .collect();
        let mut after = 0;
        for (_, tokens) in from.iter_mut().rev() {
            after += *tokens;
            *tokens = after;
        }
        let total = sum(&project(entries, Capabilities::ALL));
        let legal = legal_cuts(entries, view.start());
        Self { entries, previous: view.cut, start: view.start(), total, from, legal }
    }

    /// What the entries from a place on take.
    pub(super) fn kept(&self, place: usize) -> u64 {
        let next = self.from.partition_point(|(entry, _)| *entry < place);
        self.from.get(next).map_or(0, |(_, tokens)| *tokens)
    }

    /// What a cut at that place leaves out.
    pub(super) fn left_out(&self, place: usize) -> u64 {
        self.total.saturating_sub(self.kept(place))
    }

    /// A part of the window; of what there is, where that is not much more than the part. A context that a provider
    /// finds too long is too long, whatever the window is said to be.
    pub(super) fn share(&self, window: u64, divisor: u64) -> u64 {
        let share = window / divisor;
        if share <= self.total / 4 * 3 { share } else { self.total / divisor }
    }

    /// The first place from which on the entries take no more than that.
    pub(super) fn first_within(&self, tokens: u64) -> usize {
        let fits = self.from.partition_point(|(_, kept)| *kept > tokens);
        self.from.get(fits).map_or(self.entries.len(), |(place, _)| *place)
    }

    /// The place of the last so many messages.
    pub(super) fn last_messages(&self, count: usize) -> usize {
        self.from.len().checked_sub(count).and_then(|at| self.from.get(at)).map_or(self.start, |(place, _)| *place)
    }

    /// The first legal cut at or after a place.
    pub(super) fn legal_from(&self, place: usize) -> Option<usize> {
        self.legal.get(self.legal.partition_point(|legal| *legal < place)).copied()
    }

    /// The last legal cut at or before a place.
    pub(super) fn legal_until(&self, place: usize) -> Option<usize> {
        self.legal.partition_point(|legal| *legal <= place).checked_sub(1).and_then(|at| self.legal.get(at)).copied()
    }

    /// The last legal cut.
    pub(super) fn last_legal(&self) -> Option<usize> {
        self.legal.last().copied()
    }

    /// What the user sent last, of what is sent.
    pub(super) fn last_user(&self) -> Option<usize> {
        let sent = self.entries.iter().enumerate().skip(self.start).rev();
        sent.filter(|(_, entry)| matches!(entry, Entry::User { .. })).map(|(place, _)| place).next()
    }

    /// What the whole request takes after a cut.
    pub(super) fn after(&self, cut: Cut<'_>, result_limit: Option<usize>) -> u64 {
        sum(&project_view(self.entries, self.view(cut, result_limit), Capabilities::ALL))
    }

    /// The messages that a cut keeps, without what stands for the others.
    pub(super) fn messages_after(&self, place: usize, result_limit: Option<usize>) -> Vec<(usize, Message)> {
        let cut = Cut { summary: None, first_kept: place, method: CompactionMethod::Truncation };
        messages(self.entries, self.view(cut, result_limit), Capabilities::ALL)
    }

    fn view<'b>(&self, cut: Cut<'b>, result_limit: Option<usize>) -> View<'b> {
        View { cut: Some(cut), end: self.entries.len(), result_limit }
    }
}

/// Where a log that is sent from `start` on may be cut: before what the user sent or the model said, and never between
/// a call and its result. A call that has no result at all holds nothing together.
pub(super) fn legal_cuts(entries: &[Entry], start: usize) -> Vec<usize> {
    let mut results = results_by_call(entries, start);
    let mut legal = Vec::new();
    // The last result that belongs to a call seen so far.
    let mut reach = start;
    let mut short_question = false;
    for (place, entry) in entries.iter().enumerate().skip(start) {
        let open = place <= reach;
        match entry {
            Entry::User { parts } => {
                if !open {
                    legal.push(place);
                }
                let tokens: u64 = parts.iter().map(estimate::part).sum();
                short_question = tokens <= QUOTE_LIMIT_BYTES as u64 / 4;
            }
            Entry::Assistant { parts, .. } => {
                // Right behind a question there is nothing to gain: the question would be repeated.
                if !open && !short_question {
                    legal.push(place);
                }
                short_question = false;
                for call in calls(parts) {
                    reach = reach.max(result_after(&mut results, call, place).unwrap_or(reach));
                }
            }
            Entry::ToolResult { .. } => short_question = false,
            Entry::System { .. } | Entry::DynamicSection(_) | Entry::Withheld { .. } | Entry::Compaction { .. } => {}
        }
    }
    legal
}

fn results_by_call(entries: &[Entry], start: usize) -> HashMap<&CallId, VecDeque<usize>> {
    let mut results: HashMap<&CallId, VecDeque<usize>> = HashMap::new();
    for (place, entry) in entries.iter().enumerate().skip(start) {
        if let Entry::ToolResult { call_id, .. } = entry {
            results.entry(call_id).or_default().push_back(place);
        }
    }
    results
}

/// The result that normalization gives to a call: the first one behind it that no earlier call has taken.
fn result_after(results: &mut HashMap<&CallId, VecDeque<usize>>, call: &CallId, place: usize) -> Option<usize> {
    let waiting = results.get_mut(call)?;
    while let Some(result) = waiting.pop_front() {
        if result > place {
            return Some(result);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{super::tests::Log, *};

    /// Y4.1-6: a cut never parts a call from its result.
    #[test]
    fn a_log_is_cut_before_a_user_or_between_the_steps_of_a_turn() {
        let entries = Log::new()
            .user("one") // 0: where it begins
            .calls(&["a", "b"])
            .result("a", "1")
            .result("b", "2")
            .calls(&["c"]) // 4
            .result("c", "3")
            .said("done") // 6
            .user("two") // 7
            .said("ok")
            .system("a notice")
            .user("three") // 10
            .entries();
        assert_eq!(legal_cuts(&entries, 0), [4, 6, 7, 10]);
        assert_eq!(legal_cuts(&entries, 7), [10]);
        assert!(legal_cuts(&entries, 99).is_empty());
    }

    /// K-02: a crashed session can still be cut.
    #[test]
    fn a_call_without_a_result_holds_nothing_together() {
        let entries = Log::new().user("one").calls(&["a", "b"]).result("a", "1").user("two").said("ok").entries();
        assert_eq!(legal_cuts(&entries, 0), [3]);
        let late = Log::new().user("one").calls(&["a"]).user("two").result("a", "1").user("three").entries();
        assert_eq!(legal_cuts(&late, 0), [4]);
    }

    /// K-07: ids that repeat are paired as they are in a request.
    #[test]
    fn repeated_ids_hold_only_their_own_results() {
        let entries = Log::new()
            .user("one")
            .calls(&["same", "same"])
            .result("same", "1")
            .result("same", "2")
            .calls(&["same"]) // 4
            .result("same", "3")
            .user("two") // 6
            .entries();
        assert_eq!(legal_cuts(&entries, 0), [4, 6]);
    }

    #[test]
    fn a_question_too_long_to_be_repeated_may_be_cut_off() {
        let entries = Log::new().user(&"x".repeat(9_000)).said("ok").entries();
        assert_eq!(legal_cuts(&entries, 0), [1]);
    }
}
