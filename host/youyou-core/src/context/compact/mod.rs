//! Making the context shorter (Y4.2): when it is due, what goes, and what is asked of the model that sums it up.
//!
//! Everything here is pure planning over the log; the loop of a turn asks the models and appends the entry. Read in
//! this order: `size` (how much there is, and whether that is too much), `cut` (where a log may be cut),
//! `summary`, `request` (the request for a summary), `truncation` (what is left to do without one), `breaker`.
//!
//! A round is: [`plan_summary`] → [`summary_request`] → [`SummaryPlan::compaction`]. Where one of them has nothing, or
//! the request fails: [`plan_truncation`] → [`TruncationPlan::compaction`]. Where that has nothing either, the context
//! cannot be made to fit (`COMPACT_ERROR`).

mod breaker;
mod cut;
mod request;
mod size;
mod summary;
#[cfg(test)]
mod tests;
mod truncation;

pub use breaker::Breaker;
pub use request::{DEFAULT_PROMPT, summary_request};
pub use size::{estimate_messages, estimate_request, is_due};
pub use summary::{SummaryPlan, plan_summary};
pub use truncation::{TruncationPlan, plan_truncation};
