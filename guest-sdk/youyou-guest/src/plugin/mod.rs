//! Plugins: functions that take part at seven points of a session, see [`hook`](macro@crate::hook).
//!
//! ```
//! use youyou_guest::{hook, plugin::{BeforeToolUse, HookError, HookOutcome}, serde::Deserialize};
//!
//! #[derive(Default, Deserialize)]
//! #[serde(crate = "youyou_guest::serde", default)]
//! struct Config {
//!     forbidden: Vec<String>,
//! }
//!
//! /// Refuses calls of some tools.
//! #[hook]
//! fn refuse(payload: BeforeToolUse) -> Result<HookOutcome<BeforeToolUse>, HookError> {
//!     let config: Config = payload.config()?;
//!     if config.forbidden.contains(&payload.tool_name) {
//!         return Ok(HookOutcome::abort(format!("{} is off limits here", payload.tool_name)));
//!     }
//!     Ok(HookOutcome::proceed())
//! }
//! # fn main() {
//! # use youyou_guest::{json, testing};
//! # let payload = BeforeToolUse { tool_name: "rm".into(), plugin_config: json!({"forbidden": ["rm"]}), ..Default::default() };
//! # assert_eq!(testing::ask(refuse, payload).abort_reason(), Some("rm is off limits here"));
//! # }
//! ```
//!
//! Each event has its payload ([`SessionStart`] to [`BeforeCompact`]), and an outcome that offers what the event allows and
//! nothing else. What came before in the chain is already in the payload; what this handler answers is in the payload of
//! those after it.
//!
//! **What lasts.** Every event has a fresh instance, unless the `index.md` says `instance: per_session`. Then one instance
//! serves all events of a session, one after another, and a `thread_local!` or a `static` keeps what it holds:
//!
//! ```
//! use std::cell::Cell;
//! use youyou_guest::{hook, log, plugin::{AfterToolUse, SessionEnd}};
//!
//! thread_local! {
//!     static CALLS: Cell<u32> = const { Cell::new(0) };
//! }
//!
//! #[hook]
//! fn count(_: AfterToolUse) {
//!     CALLS.set(CALLS.get() + 1);
//! }
//!
//! #[hook]
//! fn report(_: SessionEnd) {
//!     log::info!("{} calls", CALLS.get());
//! }
//! # fn main() {}
//! ```
//!
//! A panic, a limit or a time-out ends the instance; the next event has a new one that remembers nothing, and the host
//! logs the loss. What must survive that belongs into a file.

mod handler;
mod outcome;
mod payload;

pub(crate) use handler::run;
pub use handler::{HookAnswer, HookHandler};
pub(crate) use outcome::Answer;
pub use outcome::{HookError, HookOutcome};
pub use payload::{
    AfterToolUse, Attachment, BeforeCompact, BeforeToolUse, Event, MayAbort, MayChange, Section, SessionEnd,
    SessionStart, TurnEnd, TurnStart, UserInput,
};
