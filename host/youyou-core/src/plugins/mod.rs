//! Plugins: which there are, with which configuration, and which of them take part (Y3.5).
//!
//! [`merge`](mod@merge) decides by the rules of precedence, a pure function; `lifecycle` starts and stops the plugins in
//! code. What their taps do is the matter of [`hooks`](crate::hooks).

pub(crate) mod lifecycle;
pub mod merge;

pub use merge::{CodePlugin, FilePlugin, Merged, PluginStatus, Switches, merge};
