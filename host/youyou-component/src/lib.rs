//! The component host: runs tools and hook handlers that are WebAssembly components (C-1, DESIGN §7).
//!
//! It starts no processes and knows nothing of folders, agents or models: it is given a .wasm file and what it may use,
//! and answers the same ports as every other tool and plugin. Only this crate names wasmtime.
//!
//! Read in this order: [`host`] (what all components share), [`mod@check`] (what a file is, before anything is compiled),
//! `load` with [`mod@cache`] and `engine` (from a file to code), [`run`] (one call of whatever is exported), [`tool`] and
//! [`plugin`] with `hook` (what is called), `kept` (an instance that outlives a call), `state`, `limits` and `call` (what
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
mod hook;
pub mod host;
mod kept;
mod kind;
mod limits;
mod load;
pub mod log;
pub mod plugin;
pub mod run;
mod state;
mod stdio;
pub mod tool;

pub use cache::{Cache, CacheInfo};
pub use check::{Inspection, Problem, Role, TapCheck, check, check_taps, inspect};
pub use grants::Grants;
pub use host::{Allocation, ComponentHost, HostConfig};
pub use plugin::{ComponentHook, ComponentPlugin, HookSettings, Instancing};
pub use run::ComponentSpec;
pub use tool::ComponentTool;
