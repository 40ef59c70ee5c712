//! The vocabulary of YouYou and the ports its parts meet at.
//!
//! Every other crate of the host speaks in these types; this one depends on none of them. It does no I/O, starts no
//! task and knows neither scripts nor components.
//!
//! Read in this order: [`ids`] (what things are called), [`tool`] (the documents of a tool call and the
//! [`ToolHandler`](tool::ToolHandler) port), [`call`] (what surrounds a call: cancel, deadline, session, stats),
//! [`hook`] (payloads and outcomes), [`source`] (where a definition comes from), [`error`] (the one error type that crosses every border).

pub mod call;
pub mod error;
pub mod hook;
pub mod ids;
pub mod source;
pub mod tool;

pub use call::{CallContext, CallStats};
pub use error::{Error, ErrorCode, ErrorSource};
pub use hook::{HookEvent, HookOutcome, HookPayload};
pub use ids::{CallId, PluginId, SessionId, ToolName, TurnId};
pub use source::SourceLabel;
pub use tool::{BoxFuture, ToolCall, ToolFailure, ToolHandler, ToolInput, ToolOutput, ToolSpec};
