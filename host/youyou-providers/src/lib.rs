//! Model providers: implementations of the port in `youyou-api` (Y3.2). Nothing here knows of turns, tools or files of an
//! agent.
//!
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

mod recorder;
mod replay;
mod strict;

pub use recorder::Recorder;
pub use replay::{ReplayProvider, Reply, Script, ScriptError, Step, When};
pub use strict::check_request;
