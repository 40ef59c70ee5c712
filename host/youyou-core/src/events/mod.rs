//! Publishing what happens to whoever listens (Y7).

mod publisher;

pub(crate) use publisher::{EventClock, Publisher, now_ms};
pub use publisher::{SessionEvents, TurnEvents};
