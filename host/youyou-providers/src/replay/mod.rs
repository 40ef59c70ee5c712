//! Replay scripts: what they hold, when a reply fits, how they are read, and the provider that plays them.

mod fill;
mod mismatch;
mod provider;
mod read;
mod script;
mod when;

pub use provider::ReplayProvider;
pub use read::ScriptError;
pub(crate) use script::ScriptFile;
pub use script::{Reply, Script, Step};
pub use when::When;
