//! What surrounds a tool call: how it is cancelled, when it must end, which session it belongs to.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde_json::{Map, Value};
pub use tokio_util::sync::CancellationToken;

use crate::ids::SessionId;

/// Handed to every handler beside its input. Cheap to clone.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// Fires when the user wants the call stopped; a handler that cannot stop half-way may ignore it.
    pub cancel: CancellationToken,
    /// When the call must have ended, and the budget that this came from (ms in messages). The caller enforces it too.
    pub deadline: Deadline,
    /// The session that the call belongs to; none for `youyou run-tool`.
    pub session: Option<SessionId>,
    /// The session's working directory, absolute; relative working directories start here (D-56).
    pub cwd: Arc<Path>,
    /// Where a handler may report how it did its work.
    pub stats: CallStats,
}

impl CallContext {
    /// A context without a session whose call may take `timeout`, counted from now.
    pub fn new(cwd: impl Into<PathBuf>, timeout: Duration) -> Self {
        Self {
            cancel: CancellationToken::new(),
            deadline: Deadline::after(timeout),
            session: None,
            cwd: cwd.into().into(),
            stats: CallStats::off(),
        }
    }
}

/// A point in time together with the budget that led to it, so that a message can name the figure the user set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    at: Instant,
    budget: Duration,
}

impl Deadline {
    /// `budget` from now. A budget too large for the clock counts as thirty years.
    pub fn after(budget: Duration) -> Self {
        const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3600);
        let budget = budget.min(FAR);
        Self { at: Instant::now() + budget, budget }
    }

    /// The point in time.
    pub fn at(&self) -> Instant {
        self.at
    }

    /// What was allowed in all.
    pub fn budget(&self) -> Duration {
        self.budget
    }

    /// What is left; zero once it has passed.
    pub fn remaining(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }
}

/// Figures that a handler reports about one call (`youyou run-tool --stats`): how long compiling took, peak memory, …
///
/// Off unless the caller asks; then [`set`](Self::set) costs nothing.
#[derive(Debug, Clone, Default)]
pub struct CallStats(Option<Arc<Mutex<Map<String, Value>>>>);

impl CallStats {
    /// Records nothing.
    pub fn off() -> Self {
        Self(None)
    }

    /// Records what is [`set`](Self::set).
    pub fn on() -> Self {
        Self(Some(Arc::default()))
    }

    /// Whether figures are wanted; ask before computing a costly one.
    pub fn wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Records one figure; the name carries its unit (`compile_us`, `memory_peak_bytes`).
    pub fn set(&self, name: &str, value: impl Into<Value>) {
        if let Some(stats) = &self.0 {
            stats.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), value.into());
        }
    }

    /// What was recorded so far, in the order of recording.
    pub fn snapshot(&self) -> Map<String, Value> {
        self.0.as_ref().map(|s| s.lock().unwrap_or_else(PoisonError::into_inner).clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_of_any_length_can_be_made() {
        assert!(Deadline::after(Duration::MAX).remaining() > Duration::from_secs(3600));
        assert_eq!(Deadline::after(Duration::ZERO).remaining(), Duration::ZERO);
    }

    #[test]
    fn stats_are_kept_only_when_wanted() {
        let (on, off) = (CallStats::on(), CallStats::off());
        on.clone().set("compile_us", 7);
        off.set("compile_us", 7);
        assert_eq!(on.snapshot()["compile_us"], 7);
        assert!(off.snapshot().is_empty());
    }
}
