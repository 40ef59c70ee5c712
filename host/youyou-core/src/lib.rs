//! The agent core: [`context`] (what a conversation holds and what of it is sent) and [`tools`] (the path of a tool call
//! from the model's request to its result).
//!
//! The core knows neither scripts nor components: a tool is a [`ToolHandler`](youyou_api::ToolHandler). It opens no
//! file, starts no process and speaks to no network.

pub mod context;
mod panic;
mod tagged;
pub mod tools;
