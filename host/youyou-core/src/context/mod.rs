//! What a conversation holds, and what of it is sent.
//!
//! [`history`] is the truth: it only grows. A request is made from it anew each time: [`projection`] picks what the
//! model should see, [`normal`] brings any list of messages into the one form that every API accepts, [`estimate`]
//! guesses its size, [`compact`] plans how it becomes shorter.

pub mod compact;
pub mod estimate;
pub mod history;
pub mod normal;
pub mod projection;
pub(crate) mod shorten;

pub(crate) use history::calls;
pub use history::{AssistantStatus, CallRecord, Entry, History};
