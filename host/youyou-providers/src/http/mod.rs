//! What every HTTP API has in common: one client, keys that stay hidden, event streams, and what can go wrong on the way.
//!
//! Nothing here knows what is said over the wire; see [`wire`](crate::wire).

mod client;
mod events;
mod failure;
mod key;
mod retry_after;

pub(crate) use client::{Client, Outgoing};
pub(crate) use events::Events;
pub use key::ApiKey;
pub(crate) use key::Secrets;
pub(crate) use retry_after::{retry_after, seconds};
