//! Planning a compaction without a model: the oldest messages are left out (Y4.2-3, D-35).

use youyou_api::{CompactionMethod, Message};

use super::{
    super::{estimate, history::Entry, projection::Cut},
    cut::Weighed,
    size::sum,
};

/// Messages that are kept at most.
const MESSAGES: usize = 20;

/// What they may take: half of the window.
const KEPT: u64 = 2;

/// What a tool result keeps at least, in bytes.
const SMALLEST_RESULT: usize = 256;

/// What a tool result keeps at most once results are cut, in bytes.
const LARGEST_RESULT: usize = 256 * 1024;

/// A cut without a summary of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TruncationPlan {
    /// The first entry that is kept, counted from the start of the log.
    pub first_kept: usize,
    /// What each kept tool result may weigh, in bytes, where one message is larger than what may be kept.
    pub result_limit: Option<usize>,
    /// An earlier summary, which goes on standing for what it stood for.
    pub summary: Option<String>,
}

/// Plans a cut that keeps the last 20 messages or what fits half of the window, whichever is less, from a legal cut on;
/// the tool results in it are cut where it would not fit otherwise. None if that would not make the request smaller.
pub fn plan_truncation(entries: &[Entry], window: u64) -> Option<TruncationPlan> {
    let log = Weighed::new(entries);
    let room = log.share(window, KEPT);
    let wanted = log.first_within(room).max(log.last_messages(MESSAGES));
    // Where all messages fit, it is an earlier summary that is too long.
    let nearest =
        if wanted <= log.start { Some(log.start) } else { log.legal_from(wanted).or_else(|| log.last_legal()) };
    let candidates = [nearest, log.last_legal(), Some(log.start)];
    candidates.into_iter().flatten().find_map(|first_kept| plan_at(&log, first_kept, room))
}

/// The plan with that cut, if it makes the request smaller.
fn plan_at(log: &Weighed<'_>, first_kept: usize, room: u64) -> Option<TruncationPlan> {
    let summary = log.previous.and_then(|cut| cut.summary).filter(|summary| estimate::text(summary) <= room / 4);
    let result_limit = if log.kept(first_kept) <= room { None } else { result_limit(log, first_kept, room) };
    let cut = Cut { summary, first_kept, method: CompactionMethod::Truncation };
    let smaller = log.after(cut, result_limit) < log.total;
    smaller.then(|| TruncationPlan { first_kept, result_limit, summary: summary.map(str::to_owned) })
}

/// The largest limit under which what is kept fits; the smallest one if none does.
fn result_limit(log: &Weighed<'_>, first_kept: usize, room: u64) -> Option<usize> {
    let kept = log.messages_after(first_kept, None);
    let largest = kept.iter().filter_map(|(_, message)| result_size(message)).max()?;
    let mut limit = largest.next_power_of_two().clamp(SMALLEST_RESULT, LARGEST_RESULT);
    while limit > SMALLEST_RESULT {
        limit /= 2;
        if sum(log.messages_after(first_kept, Some(limit)).iter().map(|(_, message)| message)) <= room {
            break;
        }
    }
    Some(limit)
}

fn result_size(message: &Message) -> Option<usize> {
    match message {
        Message::ToolResult(result) => Some(result.content.len()),
        Message::User { .. } | Message::Assistant { .. } | Message::System { .. } => None,
    }
}

impl TruncationPlan {
    /// The entry to append, `tokens_before` being for the record.
    pub fn compaction(self, tokens_before: u64) -> Entry {
        Entry::Compaction {
            summary: self.summary,
            first_kept: self.first_kept,
            result_limit: self.result_limit,
            tokens_before,
            method: CompactionMethod::Truncation,
        }
    }
}

#[cfg(test)]
mod tests {
    use youyou_api::Capabilities;

    use super::{
        super::{estimate_messages, tests::Log},
        *,
    };

    fn long() -> String {
        "word ".repeat(80) // 100 tokens
    }

    fn turns(count: usize, text: &str) -> Log {
        (0..count).fold(Log::new(), |log, _| log.user(text).said(text))
    }

    /// D-35: twenty messages where they fit.
    #[test]
    fn the_last_twenty_messages_are_kept() {
        let entries = turns(40, &long()).entries();
        let plan = plan_truncation(&entries, 100_000).expect("a cut");
        assert_eq!(plan, TruncationPlan { first_kept: 60, result_limit: None, summary: None });
    }

    /// D-35: half of the window where twenty messages do not fit, from what the user sent or a step of the model.
    #[test]
    fn what_fits_half_of_the_window_is_kept() {
        let entries = turns(10, &long()).entries();
        let plan = plan_truncation(&entries, 1_000).expect("a cut");
        assert_eq!(plan.first_kept, 16, "four messages of a hundred tokens and a little");
    }

    /// D-35: a cut that would part a call from its result moves on.
    #[test]
    fn the_cut_moves_to_the_nearest_legal_place() {
        let log = turns(10, &long()).user("go").calls(&["a", "b"]).result("a", &long()).result("b", &long());
        let entries = log.said(&long()).entries();
        // Room for two results and the answer would begin at the first result, or for one at the second.
        for window in [630, 500] {
            assert_eq!(plan_truncation(&entries, window).map(|plan| plan.first_kept), Some(24), "{window}");
        }
        // With room for the calls as well, the turn is kept.
        assert_eq!(plan_truncation(&entries, 800).map(|plan| plan.first_kept), Some(20));
    }

    /// D-35: one message larger than what may be kept has its tool results cut; the log keeps them.
    #[test]
    fn a_result_larger_than_the_window_is_cut() {
        let huge = "x".repeat(1_000_000);
        let mut entries = Log::new().user("go").calls(&["a"]).result("a", &huge).entries();
        let plan = plan_truncation(&entries, 10_000).expect("a cut");
        assert_eq!((plan.first_kept, plan.result_limit), (0, Some(16 * 1024)));
        entries.push(plan.compaction(250_000));
        assert!(estimate_messages(&entries, Capabilities::ALL) < 5_000);
        assert!(matches!(&entries[2], Entry::ToolResult { content, .. } if **content == *huge));
    }

    /// D-35: what was asked for stays, also where a turn alone is too large.
    #[test]
    fn a_turn_too_large_is_cut_between_its_steps() {
        let mut log = Log::new().user("count them all");
        for step in 0..60 {
            let id = format!("c{step}");
            log = log.calls(&[&id]).result(&id, &long());
        }
        let mut entries = log.entries();
        let plan = plan_truncation(&entries, 1_500).expect("a cut");
        entries.push(plan.compaction(0));
        let sent = super::super::super::projection::project(&entries, Capabilities::ALL);
        let first = format!("{:?}", sent[0]);
        assert!(first.contains("count them all"), "{first}");
        assert!(estimate_messages(&entries, Capabilities::ALL) < 800);
    }

    /// Y4.2-3: a summary outlives a truncation that comes after it.
    #[test]
    fn an_earlier_summary_goes_on_standing() {
        let mut entries = turns(2, "hi").entries();
        entries.push(Entry::Compaction {
            summary: Some("they greeted".into()),
            first_kept: 2,
            result_limit: None,
            tokens_before: 0,
            method: CompactionMethod::Summary,
        });
        entries.extend(turns(30, &long()).entries());
        let plan = plan_truncation(&entries, 100_000).expect("a cut");
        assert_eq!(plan.summary.as_deref(), Some("they greeted"));
    }

    #[test]
    fn a_summary_too_long_to_be_kept_is_given_up_before_messages_are() {
        let mut entries = turns(2, &long()).entries();
        entries.push(Entry::Compaction {
            summary: Some(long().repeat(10)),
            first_kept: 2,
            result_limit: None,
            tokens_before: 0,
            method: CompactionMethod::Summary,
        });
        let plan = plan_truncation(&entries, 1_000).expect("a cut");
        assert_eq!(plan, TruncationPlan { first_kept: 2, result_limit: None, summary: None });
    }

    #[test]
    fn there_is_no_plan_where_nothing_becomes_smaller() {
        assert_eq!(plan_truncation(&[], 1_000), None);
        assert_eq!(plan_truncation(&Log::new().user(&long()).entries(), 10), None);
        assert_eq!(plan_truncation(&turns(2, "hi").entries(), 1), None);
    }
}
