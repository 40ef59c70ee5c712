//! Writing a session down as it goes, and taking it up again (Y3.7).
//!
//! [`records`] is the border to what is stored: an entry of the log becomes a record and comes back. `writer` appends
//! what has happened, and keeps what could not be stored until it can (D-71). `ahead` writes a tool call down before the
//! call runs, `remembered` how far the session was read for memories.

pub(crate) mod ahead;
pub(crate) mod records;
pub(crate) mod remembered;
pub(crate) mod writer;

pub(crate) use ahead::WriteAhead;
pub(crate) use records::{Restored, restore};
pub(crate) use remembered::ProgressJournal;
pub(crate) use writer::{Journal, Saved};
