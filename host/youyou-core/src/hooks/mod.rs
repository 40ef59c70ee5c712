//! The hook chain: who is asked at which point, in which order, and what their answers do (Y3.6).
//!
//! Read in this order: [`registry`] (the taps of a session, in their fixed order), [`fire`](mod@fire) (asking one handler
//! after another), [`fold`](mod@fold) (what an answer changes, a pure function), `changes` (what is told of it), `call`
//! (the two events around a tool call). What each event allows is data: [`HookEvent::rules`](youyou_api::HookEvent::rules).
//!
//! The registry is filled from the taps that plugins make in their `apply`, and by nothing else (Y3.6-5).

mod call;
mod changes;
pub mod fire;
pub mod fold;
pub mod registry;

pub use call::PluginChain;
pub(crate) use fire::Asking;
pub use fire::{Aborted, Fired, Hooks, Reporter};
pub use fold::{Folded, fold};
pub use registry::{HookRegistry, PluginTaps};
