//! Building an agent over the folders of a home and a workspace (Y6.1).

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use youyou_api::{
    AttachmentSource, Error, ErrorCode, MemoryId, MemoryStorage, ModelId, ModelProvider, Part, Plugin, SessionId,
    SessionStorage, Skill, SourceLabel, ToolHandler,
};
use youyou_component::{ComponentHost, HostConfig};
use youyou_core::{
    Agent, AgentConfig, AgentParts, Definitions, MissingTools, Snapshot,
    memory::MemorySettings,
    prompt::{Environment, SourcedText},
    session::AttachmentReader,
    skills::SkillCatalog,
};
use youyou_files::{Config, Instruction, Problem, Roots, Severity};

use crate::{
    assemble::{Assembled, Backends, assemble, skipped},
    plugins::{self, FileHooks},
    providers,
};

/// Collects what an agent is made of.
///
/// ```no_run
/// # async fn example(provider: impl youyou::ModelProvider + 'static) -> Result<(), youyou::Error> {
/// let agent = youyou::agent().workspace("/home/me/project").provider(provider).build().await?;
/// let session = agent.new_session(Default::default()).await?;
/// let mut events = session.send("Count the words in README.md").await?;
/// while let Some(event) = events.next().await {
///     println!("{event:?}");
/// }
/// session.close().await;
/// agent.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct AgentBuilder {
    home: Option<PathBuf>,
    workspace: Option<PathBuf>,
    providers: Vec<Arc<dyn ModelProvider>>,
    tools: Vec<Arc<dyn ToolHandler>>,
    skills: Vec<Skill>,
    plugins: Vec<Arc<dyn Plugin>>,
    session_storage: Option<Arc<dyn SessionStorage>>,
    memory_storage: Option<Arc<dyn MemoryStorage>>,
    components: Option<ComponentHost>,
    base_instructions: Option<String>,
    missing_tools: MissingTools,
    of_config: OfConfig,
}

/// What becomes of the providers that config.yaml names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum OfConfig {
    #[default]
    LeftOut,
    Registered,
}

/// Starts an agent.
pub fn agent() -> AgentBuilder {
    AgentBuilder::default()
}

impl AgentBuilder {
    /// Where the user's own tools, skills and configuration are; `~/.youyou` without it.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// The project folder; the current directory without it.
    #[must_use]
    pub fn workspace(mut self, workspace: impl Into<PathBuf>) -> Self {
        self.workspace = Some(workspace.into());
        self
    }

    /// Registers a model provider; at least one is needed (Y3.2).
    #[must_use]
    pub fn provider(mut self, provider: impl ModelProvider + 'static) -> Self {
        self.providers.push(Arc::new(provider));
        self
    }

    /// The same of a provider that others hold too.
    #[must_use]
    pub fn shared_provider(mut self, provider: Arc<dyn ModelProvider>) -> Self {
        self.providers.push(provider);
        self
    }

    /// Registers the providers that config.yaml names too, behind those registered in code.
    #[must_use]
    pub fn configured_providers(mut self) -> Self {
        self.of_config = OfConfig::Registered;
        self
    }

    /// Registers a tool in code; a folder of the same name replaces it (Y3.1-1).
    #[must_use]
    pub fn tool(mut self, tool: impl ToolHandler + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Registers a skill in code; a folder of the same name replaces it (Y3.1-1).
    #[must_use]
    pub fn skill(mut self, skill: Skill) -> Self {
        self.skills.push(skill);
        self
    }

    /// Registers a plugin in code; plugins are initialized in this order (Y3.5-3). A folder of the same id with hooks
    /// replaces its hooks (D-3).
    #[must_use]
    pub fn plugin(mut self, plugin: impl Plugin + 'static) -> Self {
        self.plugins.push(Arc::new(plugin));
        self
    }

    /// Registers where sessions are kept; without it they live in memory (Y3.7-4).
    ///
    /// # Errors
    /// `STORAGE_DUPLICATE` for a second one (Y3.1-2, D-48).
    pub fn session_storage(mut self, storage: Arc<dyn SessionStorage>) -> Result<Self, Error> {
        if self.session_storage.replace(storage).is_some() {
            let message = "a session storage is registered already; an agent has at most one";
            return Err(Error::new(ErrorCode::StorageDuplicate, message));
        }
        Ok(self)
    }

    /// Registers where memories are kept; without it nothing is remembered from session to session (Y3.8).
    ///
    /// # Errors
    /// `STORAGE_DUPLICATE` for a second one (Y3.1-2, D-48).
    pub fn memory_storage(mut self, storage: Arc<dyn MemoryStorage>) -> Result<Self, Error> {
        if self.memory_storage.replace(storage).is_some() {
            let message = "a memory storage is registered already; an agent has at most one";
            return Err(Error::new(ErrorCode::StorageDuplicate, message));
        }
        Ok(self)
    }

    /// Shares a component host, and with it the compiled components, with others.
    #[must_use]
    pub fn components(mut self, host: ComponentHost) -> Self {
        self.components = Some(host);
        self
    }

    /// Sets the first section of the system prompt.
    #[must_use]
    pub fn base_instructions(mut self, text: impl Into<String>) -> Self {
        self.base_instructions = Some(text.into());
        self
    }

    /// Leaves out skills whose tools are missing, with a warning, where the build would fail otherwise (D-46).
    #[must_use]
    pub fn lenient(mut self) -> Self {
        self.missing_tools = MissingTools::DropSkill;
        self
    }

    /// Reads the folders and the configuration, merges them with what was registered, and checks it all (Y6.1-1).
    ///
    /// Nothing is compiled, and of plugins only those in code are started. Folders that cannot be used are skipped with
    /// a warning.
    ///
    /// # Errors
    /// `NO_MODEL_PROVIDER`, `NAME_CONFLICT`, `SKILL_DEPENDENCY_NOT_MET`, `CONFIG_PARSE_ERROR`, `PLUGIN_INIT_FAILED`;
    /// `INVALID_INPUT` for a workspace that is no folder.
    pub async fn build(self) -> Result<Agent, Error> {
        let roots = self.roots()?;
        let (config, problems) = youyou_files::load_config(&roots.home)?;
        warn(&problems);
        let mut providers = self.providers;
        if self.of_config == OfConfig::Registered {
            let configured = providers::make(&config, &roots.home)?;
            warn(&configured.problems);
            providers.extend(configured.into_shared());
        }
        let components = match self.components {
            Some(host) => host,
            None => ComponentHost::new(HostConfig::default())?,
        };
        let workspace: Arc<Path> = roots.workspace.clone().into();
        let cwd = workspace.clone();
        let parts = AgentParts {
            providers,
            plugins: self.plugins,
            session_storage: self.session_storage,
            memory_storage: self.memory_storage,
            memory_ids: Arc::new(memory_id),
            attachments: Some(Arc::new(Attachments(youyou_files::AttachmentReader::new(
                &roots.home,
                &roots.workspace,
            )))),
            missing_tools: self.missing_tools,
            config: agent_config(config, self.base_instructions),
            cwd,
            session_ids: Arc::new(session_id),
            environment: Arc::new(move || environment(&workspace)),
            definitions: Arc::new(Folders {
                backends: Backends::new(&roots.home, components),
                roots,
                tools: self.tools,
                skills: self.skills,
                told: Mutex::default(),
            }),
        };
        Agent::new(parts).await
    }

    fn roots(&self) -> Result<Roots, Error> {
        let invalid = |message: String| Error::new(ErrorCode::InvalidInput, message);
        let home = self.home.clone().or_else(|| dirs::home_dir().map(|dir| dir.join(".youyou")));
        let home = home.ok_or_else(|| invalid("the user has no home folder; name one for YouYou".to_owned()))?;
        let workspace = self.workspace.clone().unwrap_or_else(|| PathBuf::from("."));
        let workspace = std::fs::canonicalize(&workspace)
            .ok()
            .filter(|path| path.is_dir())
            .ok_or_else(|| invalid(format!("the workspace {} is not a folder", workspace.display())))?;
        let home = std::path::absolute(&home)
            .map_err(|error| invalid(format!("cannot make {} absolute: {error}", home.display())))?;
        Ok(Roots { home, workspace })
    }
}

/// The folders of a home and a workspace, together with what was registered in code.
struct Folders {
    roots: Roots,
    backends: Backends,
    tools: Vec<Arc<dyn ToolHandler>>,
    skills: Vec<Skill>,
    /// What was warned of last, so that every session does not repeat it.
    told: Mutex<Vec<Problem>>,
}

impl Definitions for Folders {
    fn scan(&self) -> Result<Snapshot, Error> {
        let scan = youyou_files::scan_tools(&self.roots);
        let Assembled { catalog, mut problems, .. } = assemble(&self.backends, &self.tools, scan)?;
        let scan = youyou_files::scan_skills(&self.roots);
        let mut skills = SkillCatalog::new();
        for skill in &self.skills {
            skills.add(SourceLabel::Programmatic, skill.clone())?;
        }
        for entry in scan.skills.into_iter().filter(|entry| entry.shadowed_by.is_none()) {
            skills.add(entry.definition.source, entry.definition.skill)?;
        }
        for (name, why) in skipped(&scan.problems) {
            skills.add_skipped(name, why);
        }
        problems.extend(scan.problems);
        let hooks = FileHooks::at_depth(self.backends.scripts.depth());
        let (plugins, found) = plugins::assemble(&self.backends, youyou_files::scan_plugins(&self.roots), hooks);
        problems.extend(found);
        let (instructions, found) = youyou_files::load_instructions(&self.roots);
        problems.extend(found);
        problems.extend(youyou_files::stray_project_files(&self.roots));
        self.tell(problems);
        Ok(Snapshot {
            tools: catalog,
            skills,
            plugins,
            global_instructions: instructions.global.map(sourced),
            project_instructions: instructions.project.map(sourced),
            personality: instructions.soul.map(sourced),
        })
    }
}

impl Folders {
    /// Warns of what is new since the last scan.
    fn tell(&self, problems: Vec<Problem>) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh: Vec<_> = problems.iter().filter(|problem| !told.contains(problem)).cloned().collect();
        warn(&fresh);
        *told = problems;
    }
}

fn warn(problems: &[Problem]) {
    for problem in problems {
        match problem.severity {
            Severity::Hint => tracing::debug!("{problem}"),
            Severity::Warning | Severity::Error => tracing::warn!("{problem}"),
        }
    }
}

fn sourced(text: Instruction) -> SourcedText {
    SourcedText { text: text.text, source: text.path.display().to_string() }
}

/// Reads attachments below the home and the workspace.
struct Attachments(youyou_files::AttachmentReader);

impl AttachmentReader for Attachments {
    fn read(&self, source: &AttachmentSource) -> Result<Part, Error> {
        self.0.read(source)
    }
}

fn agent_config(config: Config, base_instructions: Option<String>) -> AgentConfig {
    let default = AgentConfig::default();
    AgentConfig {
        base_instructions: base_instructions.unwrap_or(default.base_instructions),
        default_model: config.default_model.map(ModelId::new),
        tool_timeout: config.tool_timeout,
        max_tool_calls_per_turn: config.max_tool_calls_per_turn,
        compact_threshold: config.compact_threshold,
        compact_model: config.compact_model.map(ModelId::new),
        compact_prompt: config.compact_prompt,
        memory_model: config.memory_model.map(ModelId::new),
        memory: MemorySettings {
            max_items: config.memory_max_items as usize,
            checkpoint_interval: config.memory_checkpoint_interval,
            ..default.memory
        },
        plugin_configs: config.plugin_configs,
    }
}

fn memory_id() -> MemoryId {
    MemoryId::new(uuid::Uuid::now_v7().to_string())
}

/// Unique over all time and machines, and ordered by the time it was made.
fn session_id() -> SessionId {
    SessionId::new(uuid::Uuid::now_v7().to_string())
}

/// What the system prompt says of the surroundings: the date, not the time, so that it stays the same for a day (D-65).
fn environment(workspace: &Path) -> Environment {
    Environment {
        os: std::env::consts::OS.to_owned(),
        cwd: workspace.to_owned(),
        date: jiff::Zoned::now().date().to_string(),
    }
}
