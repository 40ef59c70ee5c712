//! The file registry: what stands in `~/.youyou/` and `{project}/.youyou/`, read into typed definitions (Y5).
//!
//! This crate reads files and nothing else: it starts no process, opens no connection, compiles no component and knows
//! neither sessions nor models. What it finds wrong it returns as [`Problem`]s; it logs nothing and never fails as a
//! whole, so that one broken folder leaves the others alone.
//!
//! Read in this order:
//! - [`problem`]: what can be said about a file, and [`Loaded`]; `regular_file`: bytes from disk, without waiting;
//! - `index_file`, `front_matter`, `document`, `yaml`: the text of an `index.md`, and its YAML with places;
//! - `fields`, `findings`: reading keys, noting what is wrong with them;
//! - `entry`: what holds for every kind of folder; [`execution`], `parameters` and [`tool`]: tools; [`skill`]: skills; [`plugin`]:
//!   plugins; [`kind`]: which of them a folder is meant to be;
//! - [`scan`]: all folders of both levels, and which of two of one name wins;
//! - [`config`], [`instructions`]: config.yaml, AGENT.md and SOUL.md; `stray`: files that look like them and are not read;
//! - [`attachments`]: what a user attaches to a message;
//! - [`fingerprint`], [`trust`]: what a project would run, and whether the user has agreed to it.
//!
//! Only `parameters` and `tool` know what a tool is, only `skill` what a skill is, only `plugin` what a plugin is.

pub mod attachments;
pub mod config;
mod document;
mod entry;
pub mod execution;
mod fields;
mod findings;
pub mod fingerprint;
mod front_matter;
mod index_file;
pub mod instructions;
pub mod kind;
mod parameters;
pub mod plugin;
pub mod problem;
mod provider_config;
mod regular_file;
pub mod scan;
pub mod skill;
mod storage_config;
mod stray;
pub mod tool;
pub mod trust;
mod yaml;

pub use attachments::AttachmentReader;
pub use config::{Config, check_config, load_config};
pub use execution::{Backend, ComponentBackend, Execution, Permissions, ScriptBackend};
pub use fingerprint::{Listed, ListedPlugin, ProjectContents, project_fingerprint};
pub use instructions::{Instruction, Instructions, load_instructions};
pub use kind::{FolderKind, folder_kind};
pub use plugin::{HookDefinition, Instance, PluginDefinition, load_plugin};
pub use problem::{Loaded, Problem, Severity, config_invalid, definition_invalid};
pub use provider_config::{KeySource, ModelConfig, Placed, ProviderConfig};
pub use scan::{PluginScan, Roots, SkillEntry, SkillScan, ToolEntry, ToolScan, scan_plugins, scan_skills, scan_tools};
pub use skill::{SkillDefinition, load_skill};
pub use storage_config::{MemoriesIn, SessionsIn, StorageConfig};
pub use stray::stray_project_files;
pub use tool::{ToolDefinition, load_tool};
pub use trust::TrustStore;
