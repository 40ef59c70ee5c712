//! What an agent remembers from one session to the next (Y4.7).
//!
//! Read in this order: `manager` (when: recall at a session's first message, extraction now and then and at its end),
//! `recall` (which memories, and how they stand in the prompt), `extract` (one extraction, from the log to the storage),
//! `progress` (how far the log was read, over the life of the process), `transcript` (what of the log a model reads for it), `request` (what it is told), `answer` (what of its answer is
//! kept).
//!
//! Remembering helps a session and never stands in its way: nothing here returns an error. What fails is logged, and what
//! was not extracted is tried again (Y4.7-4). What tools say is not read for memories: a page on the web must not write
//! into what every later session starts with.

mod answer;
mod extract;
#[cfg(test)]
mod fakes;
mod manager;
mod progress;
mod recall;
mod request;
#[cfg(test)]
mod tests;
mod transcript;

pub use manager::{MemoryManager, MemorySettings};
pub use progress::{Progress, ProgressLog};
