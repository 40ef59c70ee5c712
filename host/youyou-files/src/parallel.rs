//! Runs one function over many items on several threads, results in the order of the items.
//!
//! Parsing YAML takes longer than reading it from disk, so a large registry would be slow on one thread. The threads end
//! before the call returns.

use std::{
    panic,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Items that one thread takes at a time.
const BATCH: usize = 16;
/// Below this many items a thread would cost more than it saves.
const WORTH_A_THREAD: usize = 64;
const MOST_THREADS: usize = 8;

/// `work` of each item. A panic in it goes on in the caller.
pub(crate) fn map<I: Sync, O: Send>(items: &[I], work: impl Fn(&I) -> O + Sync) -> Vec<O> {
    let threads = (items.len() / WORTH_A_THREAD).min(MOST_THREADS);
    let helpers = if threads < 2 { 0 } else { thread::available_parallelism().map_or(1, usize::from).min(threads) - 1 };
    if helpers == 0 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let take_batches = || {
        let mut done = Vec::new();
        loop {
            let start = next.fetch_add(BATCH, Ordering::Relaxed);
            let Some(rest) = items.get(start..).filter(|rest| !rest.is_empty()) else { return done };
            done.push((start, rest.iter().take(BATCH).map(&work).collect::<Vec<_>>()));
        }
    };
    let mut batches = thread::scope(|scope| {
        // Where no thread can be had, this one does the work alone.
        let helpers = (0..helpers).filter_map(|_| thread::Builder::new().spawn_scoped(scope, take_batches).ok());
        let helpers = helpers.collect::<Vec<_>>();
        let mut batches = take_batches();
        for helper in helpers {
            batches.extend(helper.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked)));
        }
        batches
    });
    batches.sort_unstable_by_key(|(start, _)| *start);
    batches.into_iter().flat_map(|(_, done)| done).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for count in [0, 1, BATCH, WORTH_A_THREAD * 2, 1000] {
            let items = (0..count).collect::<Vec<_>>();
            assert_eq!(map(&items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    #[should_panic(expected = "item 700")]
    fn a_panic_reaches_the_caller() {
        map(&(0..1000).collect::<Vec<_>>(), |item| assert!(*item != 700, "item 700"));
    }
}
