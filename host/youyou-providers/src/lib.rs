//! Model providers: implementations of the port in `youyou-api` (Y3.2). Nothing here knows of turns, tools or files of an
//! agent.
//!
//! - [`HttpProvider`] speaks with an HTTP API: OpenAI's two, Anthropic's, Gemini's, and servers that imitate one.
//! - [`ReplayProvider`] plays a [`Script`] instead of asking a model, for tests and for the demonstration.
//! - [`Recorder`] writes such a script from what another provider says.
//! - [`check_request`] holds a request against the rules that model APIs share.
//!
//! ```
//! use youyou_providers::{ReplayProvider, Script};
//! let script = Script::from_yaml(
//!     "hello.yaml",
//!     r#"
//! replies:
//!   - when: { user: { contains: hello } }
//!     say: [{ text: "Good " }, { text: day. }]
//! "#,
//! )?;
//! let provider = ReplayProvider::new(script).strict();
//! # Ok::<(), youyou_providers::ScriptError>(())
//! ```
#![doc = ""]
#![doc = include_str!("../../../docs/replay.md")]

mod answer;
mod anthropic;
mod catalogue;
mod gemini;
mod http;
mod model;
mod openai_chat;
mod openai_responses;
mod provider;
#[cfg(test)]
mod recorded;
mod recorder;
mod replay;
mod strict;
mod wire;

pub use catalogue::{known_model, known_models};
pub use http::ApiKey;
pub use model::{Model, Reasoning};
pub use provider::{HttpProvider, HttpSettings, SettingsError};
pub use recorder::Recorder;
pub use replay::{ReplayProvider, Reply, Script, ScriptError, Step, When};
pub use strict::check_request;
pub use wire::Api;
