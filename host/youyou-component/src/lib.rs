//! The component host: runs tools that are WebAssembly components (C-1, DESIGN §7).
//!
//! It starts no processes and knows nothing of folders, agents or models: it is given a .wasm file and what it may use,
//! and answers the same port as every other tool. Only this crate names wasmtime.
//!
//! Read in this order: [`host`] (what all components share), [`mod@check`] (what a file is, before anything is compiled),
//! `load` with [`mod@cache`] and `engine` (from a file to code), [`tool`] (one call), `state`, `limits` and `call` (what
//! holds a guest), [`log`] and `stdio` (what it says), [`grants`] (what it may reach), `failure` (what an author sees).

mod bindings;
pub mod cache;
mod call;
pub mod check;
mod convert;
mod engine;
mod failure;
mod file;
pub mod grants;
pub mod host;
mod kind;
mod limits;
mod load;
pub mod log;
mod state;
mod stdio;
pub mod tool;

pub use cache::{Cache, CacheInfo};
pub use check::{Inspection, Problem, Role, check, inspect};
pub use grants::Grants;
pub use host::{Allocation, ComponentHost, HostConfig};
pub use tool::{ComponentSpec, ComponentTool};
