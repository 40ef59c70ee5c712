//! The kit that tests of behaviour are made with: a world of files, the tools in it, and what can be watched.
//!
//! Read in this order: [`world`] (a home and a workspace from one string), [`session`] (a runtime opened on them, and
//! its calls), [`agent`] (an agent on them, and its conversations), [`tool`] (folders that many tests need), [`guests`]
//! (where built components are), [`compiled`] (what is compiled before a test begins), [`mod@transcript`] (results as
//! text), [`log`] (what was logged), [`lifeline`] (who is alive, and who met whom), [`server`] (a web server on this
//! machine), [`readme`] (commands that a page shows), [`own_process`] (a test that needs a process to itself).
//!
//! It knows the `youyou` crate, and no part below it. It is for Unix-like systems.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

pub mod agent;
pub mod api_server;
pub mod compiled;
pub mod guests;
pub mod lifeline;
pub mod log;
pub mod own_process;
pub mod readme;
pub mod server;
pub mod session;
pub mod tool;
pub mod transcript;
pub mod world;

use std::time::Duration;

pub use api_server::{ApiServer, Say};
pub use compiled::compile_cache;
pub use guests::{example, guest, repository};
pub use lifeline::{Lifeline, pipe};
pub use log::{Log, recorded};
pub use server::Server;
pub use session::Session;
pub use transcript::transcript;
pub use world::World;

/// Long enough for every machine; a test that gets here has failed.
pub const FOR_EVER: Duration = Duration::from_secs(120);
