//! What an agent is made of, and what it is told.

use std::{path::Path, sync::Arc, time::Duration};

use serde_json::{Map, Value};
use youyou_api::{Error, MemoryId, MemoryStorage, ModelId, ModelProvider, Plugin, SessionId, SessionStorage};

use crate::{
    memory::MemorySettings,
    plugins::FilePlugin,
    prompt::{Environment, SourcedText},
    session::AttachmentReader,
    skills::SkillCatalog,
    tools::{DEFAULT_TOOL_TIMEOUT, ToolCatalog},
};

/// What an agent is told once, when it is built.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentConfig {
    /// The first section of the system prompt (Y4.3-1).
    pub base_instructions: String,
    /// The model of a session that names none (D-44).
    pub default_model: Option<ModelId>,
    /// How long a tool call may take when the tool does not say.
    pub tool_timeout: Duration,
    /// Tool calls in one turn (Y4.1-5).
    pub max_tool_calls_per_turn: u32,
    /// Part of the model's window past which the context is made shorter, in (0, 1].
    pub compact_threshold: f64,
    /// Who writes summaries; the session's model without it.
    pub compact_model: Option<ModelId>,
    /// What to tell them; the usual without it.
    pub compact_prompt: Option<String>,
    /// Who extracts memories; the session's model without it (Y4.7-2).
    pub memory_model: Option<ModelId>,
    /// How much is remembered, and how often.
    pub memory: MemorySettings,
    /// Configurations of plugins by their ids; each goes before what the plugin or its folder says (Y3.5-2).
    pub plugin_configs: Map<String, Value>,
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self {
            base_instructions: "You are a helpful agent. Use the tools you are given where they help, and say plainly \
                                what you did and what you could not do."
                .to_owned(),
            default_model: None,
            tool_timeout: DEFAULT_TOOL_TIMEOUT,
            max_tool_calls_per_turn: 50,
            compact_threshold: 0.8,
            compact_model: None,
            compact_prompt: None,
            memory_model: None,
            memory: MemorySettings::default(),
            plugin_configs: Map::new(),
        }
    }
}

/// What the folders and the code hold at one moment.
#[derive(Default)]
pub struct Snapshot {
    /// The tools of every level, merged.
    pub tools: ToolCatalog,
    /// The skills of every level, merged.
    pub skills: SkillCatalog,
    /// The folders that say something of a plugin, those of every level; merged with the code's when a session begins.
    pub plugins: Vec<FilePlugin>,
    /// The user's instructions for every project.
    pub global_instructions: Option<SourcedText>,
    /// The project's own.
    pub project_instructions: Option<SourcedText>,
    /// Who the agent is to be.
    pub personality: Option<SourcedText>,
}

/// Reads the folders anew: once at build, and again for every session (Y2-1, D-45).
pub trait Definitions: Send + Sync {
    /// What they hold now; it may block.
    ///
    /// # Errors
    /// `NAME_CONFLICT`, and whatever keeps the folders from being used as a whole.
    fn scan(&self) -> Result<Snapshot, Error>;
}

/// What to do about a skill whose tool is missing (D-46).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MissingTools {
    /// Fail.
    #[default]
    Refuse,
    /// Go on without the skill, with a warning.
    DropSkill,
}

/// What an agent is made of.
pub struct AgentParts {
    /// At least one.
    pub providers: Vec<Arc<dyn ModelProvider>>,
    /// Plugins in code, in the order in which they are initialized (Y3.5-3).
    pub plugins: Vec<Arc<dyn Plugin>>,
    /// Where tools, skills and instructions come from.
    pub definitions: Arc<dyn Definitions>,
    /// Where sessions are kept; without it they live in memory (Y3.7-4).
    pub session_storage: Option<Arc<dyn SessionStorage>>,
    /// Where memories are kept; without it nothing is remembered (Y3.8).
    pub memory_storage: Option<Arc<dyn MemoryStorage>>,
    /// Names memories; unique over all time and machines.
    pub memory_ids: Arc<dyn Fn() -> MemoryId + Send + Sync>,
    /// Reads what the user attaches; without it, nothing can be attached.
    pub attachments: Option<Arc<dyn AttachmentReader>>,
    /// What to do about skills whose tools are missing.
    pub missing_tools: MissingTools,
    /// The rest.
    pub config: AgentConfig,
    /// Where tools work, absolute.
    pub cwd: Arc<Path>,
    /// Names sessions; unique over all time and machines.
    pub session_ids: Arc<dyn Fn() -> SessionId + Send + Sync>,
    /// What the system prompt says of the surroundings, at the begin of a session (D-65).
    pub environment: Arc<dyn Fn() -> Environment + Send + Sync>,
}
