//! A session: one conversation, its log and its turns (Y6.2).
//!
//! [`handle`] is what a host holds; [`accept`] is what happens to a message before anything of it is kept; `resume` goes
//! on with one that was stored.

pub mod accept;
pub mod handle;
pub(crate) mod resume;

pub use accept::AttachmentReader;
pub use handle::{Session, SessionOptions};
