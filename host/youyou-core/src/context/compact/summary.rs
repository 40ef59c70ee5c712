//! Planning a compaction by summary (Y4.2-3).

use youyou_api::{Capabilities, CompactionMethod, Message};

use super::{
    super::{
        history::Entry,
        projection::{Cut, View, project_view},
    },
    cut::Weighed,
    request::fit,
};

/// What is kept as it is: a quarter of the window.
const KEPT: u64 = 4;

/// A cut is worth a request to a model when it leaves out at least a fifth. The summary takes room again, and what
/// saves less than a tenth in the end is useless to the [`Breaker`](super::Breaker).
const WORTH: u64 = 5;

/// A cut, and what is to be summed up for it.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryPlan {
    /// The first entry that is kept, counted from the start of the log.
    pub first_kept: usize,
    /// What is left out, an earlier summary first, without images and short enough for the window that it came from.
    pub to_summarise: Vec<Message>,
}

/// Plans a cut that keeps the recent part of the conversation, about a quarter of the window, and the turn that runs
/// as a whole where that still saves enough. None if nothing can be cut, or too little to be worth it.
pub fn plan_summary(entries: &[Entry], window: u64) -> Option<SummaryPlan> {
    let log = Weighed::new(entries);
    let recent = log.first_within(log.share(window, KEPT));
    let target = log.legal_from(recent).or_else(|| log.last_legal())?;
    let whole_turn = log.last_user().and_then(|user| log.legal_until(user.min(target)));
    let worth = |cut: &usize| log.left_out(*cut) >= (log.total / WORTH).max(1);
    let first_kept = whole_turn.into_iter().chain([target]).find(worth)?;
    Some(SummaryPlan { first_kept, to_summarise: to_summarise(&log, first_kept, window) })
}

fn to_summarise(log: &Weighed<'_>, first_kept: usize, window: u64) -> Vec<Message> {
    let view = View { cut: log.previous, end: first_kept, result_limit: None };
    let blind = Capabilities { vision: false, ..Capabilities::ALL };
    fit(project_view(log.entries, view, blind), window.min(log.total))
}

impl SummaryPlan {
    /// The entry to append, `tokens_before` being for the record. None if the summary is empty, or if it takes as much
    /// as what it stands for; then a summary was no help.
    pub fn compaction(&self, entries: &[Entry], summary: &str, tokens_before: u64) -> Option<Entry> {
        let summary = summary.trim();
        let log = Weighed::new(entries);
        let cut = Cut { summary: Some(summary), first_kept: self.first_kept, method: CompactionMethod::Summary };
        let helps = !summary.is_empty() && log.after(cut, None) < log.total;
        helps.then(|| Entry::Compaction {
            summary: Some(summary.to_owned()),
            first_kept: self.first_kept,
            result_limit: None,
            tokens_before,
            method: CompactionMethod::Summary,
        })
    }
}

#[cfg(test)]
mod tests {
    use youyou_api::Part;

    use super::{super::tests::Log, *};

    fn long() -> String {
        "word ".repeat(80) // 100 tokens
    }

    /// Y4.2-3: the recent part stays as it is.
    #[test]
    fn what_fits_a_quarter_of_the_window_is_kept() {
        let mut log = Log::new();
        for turn in 0..20 {
            log = log.user(&format!("{turn} {}", long())).said(&long());
        }
        let entries = log.entries();
        let plan = plan_summary(&entries, 2_000).expect("much to cut");
        assert_eq!(plan.first_kept, 36, "four messages of a hundred tokens and a little");
        assert!(
            matches!(&plan.to_summarise[0], Message::User { parts } if parts[0] == Part::text(format!("0 {}", long())))
        );
    }

    /// The turn that runs is kept whole while there is something else to leave out, and then cut between its steps.
    #[test]
    fn the_last_message_of_the_user_is_kept_while_that_saves_enough() {
        let mut log = Log::new().user(&long()).said(&long().repeat(2)).user("count");
        for step in 0..8 {
            let id = format!("c{step}");
            log = log.calls(&[&id]).result(&id, &long());
        }
        let mut entries = log.entries();
        let plan = plan_summary(&entries, 800).expect("the first turn");
        assert_eq!(plan.first_kept, 2);
        entries.push(plan.compaction(&entries, "they talked", 0).expect("shorter"));

        let plan = plan_summary(&entries, 800).expect("the first steps");
        assert_eq!(plan.first_kept, 17, "one step of the turn, of some 110 tokens, is left");
        let Message::User { parts } = &plan.to_summarise[0] else { panic!("the user is first") };
        assert_eq!(parts[0], Part::text("[Summary of the conversation so far]\nthey talked\n[End of the summary]"));
        assert_eq!(parts[1], Part::text("count"));
        assert_eq!(parts.len(), 2);
    }

    /// Useless rounds are not begun.
    #[test]
    fn there_is_no_plan_where_nothing_is_worth_cutting() {
        assert_eq!(plan_summary(&[], 1_000), None);
        assert_eq!(plan_summary(&Log::new().user(&long()).entries(), 100), None);
        let batch = Log::new().user("go").calls(&["a"]).result("a", &long()).entries();
        assert_eq!(plan_summary(&batch, 100), None);
        let mut small_start = Log::new().user("hi").said("hello").user(&long());
        for _ in 0..3 {
            small_start = small_start.said(&long());
        }
        let entries = small_start.entries();
        let kept = plan_summary(&entries, 10_000).map(|plan| plan.first_kept);
        assert_eq!(kept, Some(5), "the greeting alone is not worth it");
    }

    /// Trigger 2 with a window that is smaller than its provider says.
    #[test]
    fn a_context_that_is_said_to_fit_is_cut_all_the_same() {
        let mut log = Log::new();
        for _ in 0..10 {
            log = log.user(&long()).said(&long());
        }
        let plan = plan_summary(&log.entries(), 1_000_000).expect("the provider said that it is too long");
        assert_eq!(plan.first_kept, 16);
    }

    #[test]
    fn a_summary_longer_than_what_it_stands_for_is_no_help() {
        let entries = Log::new().user(&long()).said(&long()).user("more").entries();
        let plan = plan_summary(&entries, 200).expect("the first turn");
        assert_eq!(plan.first_kept, 2);
        assert_eq!(plan.compaction(&entries, &long().repeat(2), 0), None);
        assert_eq!(plan.compaction(&entries, " \n", 0), None);
        assert!(plan.compaction(&entries, "they said words", 0).is_some());
    }
}
