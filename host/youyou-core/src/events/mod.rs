//! Publishing what happens to whoever listens (Y7).

mod publisher;

pub use publisher::TurnEvents;
pub(crate) use publisher::{EventClock, Publisher};
