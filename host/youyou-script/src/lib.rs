//! The script protocol (Y5.6): run a program, feed it a JSON document on stdin, take its answer from stdout.
//!
//! This crate starts processes; no other crate of the host does. It knows what a command is and how to run it within
//! bounds. It does not read `index.md`, does not validate arguments, decides on no hook and never starts a shell.
//!
//! Read in this order:
//! - `command`: what to run ([`ScriptCommand`]), and where it runs ([`ScriptHost`]);
//! - `resolve`: which words of it are paths, and where they lead (D-54, D-55, D-56); pure but for looking at the disk;
//! - `shebang`, `interpreter`: what the first line of a script says, and whether it leads anywhere;
//! - `preflight`: everything that can be told wrong before anything runs (K-30), also for `youyou check`;
//! - `process`: one child and its group, which die with the value that owns them;
//! - `capture`, `guest_log`, `pump`: what goes through the three pipes, in bounded memory;
//! - `run`: the runner, from bytes on stdin to a [`ScriptOutput`]; tools and hooks share it;
//! - `tool`: the [`ToolHandler`](youyou_api::ToolHandler) on top;
//! - `hook`: the [`HookHandler`](youyou_api::HookHandler) on top, and what a hook's output and exit code mean;
//! - `error`: how a run fails, and what the reader is told.
//!
//! ```no_run
//! # async fn example() -> Result<(), youyou_api::ToolFailure> {
//! use std::time::Duration;
//! use youyou_api::{CallContext, CallId, ToolHandler, ToolInput, ToolSpec};
//! use youyou_script::{ScriptCommand, ScriptHost, ScriptTool};
//!
//! let command = ScriptCommand {
//!     command: "./run.py".into(),
//!     args: vec!["--fast".into()],
//!     dir: "/home/me/.youyou/tools/word-count".into(),
//!     working_directory: None,
//!     timeout: Some(Duration::from_secs(5)),
//! };
//! # let spec: ToolSpec = unimplemented!();
//! let tool = ScriptTool::new(ScriptHost::new("/home/me/.youyou"), spec, command);
//! let input = ToolInput {
//!     call_id: CallId::new("call-1"),
//!     tool_name: tool.spec().name.clone(),
//!     arguments: Default::default(),
//! };
//! let output = tool.call(input, CallContext::new("/home/me/project", Duration::from_secs(5))).await?;
//! # Ok(()) }
//! ```

mod capture;
mod command;
mod error;
mod guest_log;
mod hook;
#[cfg(unix)]
mod interpreter;
mod preflight;
mod process;
mod pump;
mod resolve;
mod run;
#[cfg(unix)]
mod shebang;
mod tool;

pub use command::{
    ENV_COMPONENT_DIR, ENV_DEPTH, ENV_HOME, ENV_NO_PYTHON_CACHE, ENV_SESSION_ID, Guest, ScriptCommand, ScriptHost,
    nesting_depth,
};
pub use error::ScriptError;
pub use guest_log::LOG_TARGET;
pub use hook::{ANSWER_LIMIT_BYTES, ScriptHook, outcome};
pub use preflight::{PreflightError, Resolved, preflight, problems};
pub use run::{Captured, STDOUT_KEPT_BYTES, ScriptExit, ScriptOutput, ScriptRun, run};
pub use tool::{CONTENT_LIMIT_BYTES, ScriptTool};
