//! Where sessions and memories are kept: implementations of the ports in [`youyou_api::storage`] and
//! [`youyou_api::memory`].
//!
//! [`JsonlSessions`] keeps each session as text files that only grow, under a folder that a person can read, back up and
//! search. [`SqliteStore`] keeps sessions and memories in one database. Both hold the same promises, and pass the same
//! suite (`conformance`, with the feature of that name), which is open to other stores. docs/sessions.md describes the
//! formats and the promises.
//!
//! Files and databases are used on the blocking threads of tokio; every method needs a tokio runtime around it.
//!
//! Read in this order: `error`, `owner` (who may write), `catalog` (the table that listings come from), [`jsonl`],
//! [`sqlite`].

#[cfg(feature = "stores")]
mod blocking;
#[cfg(feature = "stores")]
mod catalog;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
#[cfg(feature = "stores")]
mod error;
#[cfg(feature = "stores")]
pub mod jsonl;
#[cfg(feature = "stores")]
mod owner;
#[cfg(feature = "stores")]
mod schema;
#[cfg(feature = "stores")]
pub mod sqlite;

#[cfg(feature = "stores")]
pub use crate::{jsonl::JsonlSessions, sqlite::SqliteStore};
