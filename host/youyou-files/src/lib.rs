//! The file registry: what stands in `~/.youyou/` and `{project}/.youyou/`, read into typed definitions (Y5).
//!
//! This crate reads files and nothing else: it starts no process, opens no connection, compiles no component and knows
//! neither sessions nor models. What it finds wrong it returns as [`Problem`]s; it logs nothing and never fails as a
//! whole, so that one broken folder leaves the others alone.
//!
//! Read in this order: [`problem`] (what can be said about a file, and [`Loaded`]), `entry` (one folder with its
//! `index.md`), `front_matter` and `yaml` (the text of that file), `fields` and `findings` (reading keys, noting what
//! is wrong with them), [`execution`], `parameters` and [`tool`] (a tool's front matter), [`scan`] (all folders of both
//! levels, and which of two of one name wins).
//!
//! Only `parameters` and `tool` know what a tool is; the rest serves every kind of folder.

mod entry;
pub mod execution;
mod fields;
mod findings;
mod front_matter;
mod index_file;
mod parameters;
pub mod problem;
pub mod scan;
pub mod tool;
mod yaml;

pub use execution::{Backend, ComponentBackend, Execution, Permissions, ScriptBackend};
pub use problem::{Loaded, Problem, Severity, definition_invalid};
pub use scan::{Roots, ToolEntry, ToolScan, scan_tools};
pub use tool::{ToolDefinition, load_tool};
