//! The crate that embedders depend on.
//!
//! It is the composition root: [`Runtime`] scans the folders, gives each tool its backend and hands out a
//! [`Dispatcher`] over all of them. The parts it joins know nothing of each other.
//!
//! ```no_run
//! # async fn example() -> Result<(), youyou::Error> {
//! use youyou::{CallId, CallScope, Runtime, ToolCall};
//!
//! let runtime = Runtime::open("/home/me/.youyou", "/home/me/project")?;
//! let call = ToolCall {
//!     call_id: CallId::new("call-1"),
//!     tool_name: "word-count".into(),
//!     arguments: r#"{"text":"one two three"}"#.into(),
//! };
//! let result = runtime.dispatcher().dispatch(call, &CallScope::new("/home/me/project")).await?;
//! println!("{}", result.output.content);
//! # Ok(())
//! # }
//! ```

mod agent;
mod assemble;
mod check;
mod listing;
mod plugins;
mod providers;
mod runtime;
mod stores;
mod trial;

pub use agent::{AgentBuilder, agent};
pub use check::{Checked, check_all, check_folders, check_settings};
pub use listing::{SkillListing, ToolListing, list_skills};
pub use plugins::{PluginListing, list_plugins};
pub use providers::{ConfiguredModel, ConfiguredProviders, configured_providers};
pub use runtime::{Runtime, RuntimeBuilder};
pub use stores::{ConfiguredStores, configured_stores};
pub use trial::{Change, HookTrial, Tried, TriedAnswer};
pub use youyou_api::*;
pub use youyou_component::{
    Cache, CacheInfo, ComponentHost, ComponentPlugin, ComponentSpec, Grants, HookSettings, HostConfig, Inspection,
    Instancing, inspect,
};
pub use youyou_core::tools::{
    Batch, Before, CallChain, CallObserver, CallScope, DEFAULT_TOOL_TIMEOUT, Dispatcher, ToolCatalog, ToolResult,
};
pub use youyou_core::{
    Agent, AgentConfig, FilePlugin, MissingTools, PluginStatus, Session, SessionEvents, SessionOptions, TurnEvents,
    context::{AssistantStatus, CallRecord, Entry},
    hooks::{Folded, HookRegistry, Hooks, PluginChain, PluginTaps, Reporter, fold},
    prompt::{Section, SectionName, SystemPrompt},
    skills::SkillCatalog,
};
pub use youyou_files::{
    Backend, ComponentBackend, FolderKind, HookDefinition, Instance, ListedPlugin, Permissions, PluginDefinition,
    Problem, ProjectContents, Roots, Severity, ToolDefinition, TrustStore, definition_invalid, folder_kind,
    load_plugin, load_tool, project_fingerprint,
};
pub use youyou_providers::{
    Api, ApiKey, HttpProvider, HttpSettings, Model, Reasoning, Recorder, ReplayProvider, Reply, Script, ScriptError,
    SettingsError, Step, When, check_request, known_model, known_models,
};
pub use youyou_storage::{JsonlSessions, SqliteStore};

/// How many scripts of agents this process runs in, one in another; 0 outside of any. From 1 on the hooks of plugin
/// folders are off (K-13).
pub fn nesting_depth() -> u32 {
    youyou_script::nesting_depth()
}
