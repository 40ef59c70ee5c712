//! The agent core: everything between a message of the user and the answer, and nothing that touches the outside.
//!
//! Read in this order: [`agent`] (the models, and the one session that may run), [`session`] (what a host holds),
//! [`turn`] (the loop: ask, run the tools, ask again), [`context`] (what a conversation holds and what of it is sent),
//! [`prompt`] and [`skills`] (what else is sent), [`memory`] (what is known from earlier sessions), [`tools`] (the path
//! of a tool call), [`plugins`] and [`hooks`] (who takes part, and how they are asked), [`events`] (what the host is
//! told).
//!
//! The core knows neither scripts nor components: a tool is a [`ToolHandler`](youyou_api::ToolHandler), a hook a
//! [`HookHandler`](youyou_api::HookHandler). It opens no file, starts no process and speaks to no network.

pub mod agent;
mod aside;
mod bounded;
pub mod context;
pub mod events;
pub mod hooks;
mod journal;
pub mod memory;
mod panic;
pub mod plugins;
pub mod prompt;
pub mod session;
pub mod skills;
mod tagged;
pub mod tools;
pub mod turn;

pub use agent::{Agent, AgentConfig, AgentParts, Definitions, MissingTools, Snapshot};
pub use events::{SessionEvents, TurnEvents};
pub use plugins::{FilePlugin, PluginStatus};
pub use session::{Session, SessionOptions};
