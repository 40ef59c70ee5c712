//! The agent: the models it may ask, and the one session that may run (Y1-4, Y6).

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use serde_json::{Map, Value};
use youyou_api::{
    Error, ErrorCode, MemoryId, MemoryStorage, ModelId, ModelInfo, ModelProvider, Namespace, NewSession, Plugin,
    PluginId, SessionId, SessionStorage,
};

use crate::{
    context::History,
    events::now_ms,
    hooks::Hooks,
    journal::Journal,
    memory::{MemoryManager, MemorySettings},
    plugins::{self, CodePlugin, FilePlugin, Merged, PluginStatus, Switches, lifecycle},
    prompt::{self, Environment, PromptParts, SectionName, SourcedText, SystemPrompt},
    session::{
        AttachmentReader, Session, SessionOptions,
        handle::{Place, SessionParts, WeakSession},
        resume::{Resumed, take_up},
    },
    skills::{self, SkillCatalog},
    tools::{DEFAULT_TOOL_TIMEOUT, Dispatcher, ToolCatalog},
    turn::{Compaction, TurnEnv},
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

/// Models, tools, skills and instructions, ready for a session. A clone is the same agent.
#[derive(Clone)]
pub struct Agent(Arc<Inner>);

/// Every model, with who serves it.
type Models = HashMap<ModelId, (ModelInfo, Arc<dyn ModelProvider>)>;

struct Inner {
    parts: AgentParts,
    models: Models,
    /// The plugins in code, and what they tap.
    code_plugins: Vec<CodePlugin>,
    /// Plugins of folders that were switched on or off (D-19).
    switches: Mutex<Switches>,
    /// Whether the one place for a session is taken.
    taken: Arc<AtomicBool>,
    current: Mutex<Current>,
}

/// The session that runs, if any; or the end of the agent.
enum Current {
    Session(WeakSession),
    None,
    ShutDown,
}

impl Current {
    fn is_alive(&self) -> Result<(), Error> {
        match self {
            Self::Session(_) | Self::None => Ok(()),
            Self::ShutDown => {
                Err(Error::new(ErrorCode::InvalidInput, "the agent has been shut down; build another one"))
            }
        }
    }
}

impl Agent {
    /// Checks the parts against each other, and starts the plugins in code (Y6.1-1).
    ///
    /// # Errors
    /// `NO_MODEL_PROVIDER`; `NAME_CONFLICT` for a provider, model or plugin id that comes twice (D-47);
    /// `SKILL_DEPENDENCY_NOT_MET`; `PLUGIN_INIT_FAILED`; those of [`Definitions::scan`].
    pub async fn new(parts: AgentParts) -> Result<Self, Error> {
        let models = models(&parts.providers)?;
        let code_plugins = lifecycle::describe(&parts.plugins)?;
        let switches = Mutex::default();
        let current = Mutex::new(Current::None);
        let inner = Arc::new(Inner { parts, models, code_plugins, switches, taken: Arc::default(), current });
        let (mut inner, snapshot) = scan(inner).await?;
        // Nobody else has it yet.
        if let Some(Inner { parts, code_plugins, .. }) = Arc::get_mut(&mut inner) {
            lifecycle::start(&parts.plugins, code_plugins, &snapshot.plugins, &parts.config.plugin_configs).await?;
        }
        Ok(Self(inner))
    }

    /// Every model, in the order of registration.
    pub fn models(&self) -> impl Iterator<Item = &ModelInfo> {
        self.0.parts.providers.iter().flat_map(|provider| provider.models())
    }

    /// Where memories are kept, if anywhere.
    pub fn memory_storage(&self) -> Option<&Arc<dyn MemoryStorage>> {
        self.0.parts.memory_storage.as_ref()
    }

    /// Where sessions are kept, if anywhere.
    pub fn session_storage(&self) -> Option<&Arc<dyn SessionStorage>> {
        self.0.parts.session_storage.as_ref()
    }

    /// Starts a session over what the folders hold now.
    ///
    /// # Errors
    /// `SESSION_BUSY` while another one runs; `MODEL_NOT_SUPPORTED` (D-44); `SKILL_DEPENDENCY_NOT_MET` and those of
    /// [`Definitions::scan`]; `HOOK_ABORTED` when a plugin refuses the session (D-11); `STORAGE_ERROR`. After each of
    /// them the agent is as before (D-45). `INVALID_INPUT` after [`shutdown`](Self::shutdown).
    pub async fn new_session(&self, options: SessionOptions) -> Result<Session, Error> {
        let place = self.0.place()?;
        let (model, provider) = self.0.chosen(&options, None)?;
        let id = (self.0.parts.session_ids)();
        let journal = match &self.0.parts.session_storage {
            Some(storage) => {
                let project = self.0.parts.cwd.to_string_lossy();
                let session = NewSession::new(id.clone(), now_ms()).in_project(project);
                Some(Journal::new(storage.create(session).await?, &model.id))
            }
            None => None,
        };
        let begin = Begin { id, model, provider, options, place, history: History::new(), journal };
        let session = self.0.begin(begin).await?;
        session.tell_of_start().await?;
        self.0.run(session)
    }

    /// Goes on with a stored session, over what the folders hold now (Y6.2-2). Its model is the one it used last, unless
    /// the options name another (D-70). Calls that its last run left open are answered as interrupted (K-02).
    ///
    /// What of it could not be read is told in [`Session::take_events`] (K-05). Plugins are not told (D-20).
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND`; `SESSION_BUSY` while another session runs here, or anybody else has this one open;
    /// `MODEL_NOT_SUPPORTED`; those of [`new_session`](Self::new_session) but `HOOK_ABORTED`.
    pub async fn resume_session(&self, id: &SessionId, options: SessionOptions) -> Result<Session, Error> {
        let place = self.0.place()?;
        let storage = self.0.parts.session_storage.as_ref().ok_or_else(|| {
            Error::new(ErrorCode::SessionNotFound, format!("there is no session {id}: this agent keeps none"))
        })?;
        let resumed = Resumed::open(storage.as_ref(), id).await?;
        let damage = resumed.damage();
        let Resumed { id, log, mut restored, .. } = resumed;
        let (model, provider) = self.0.chosen(&options, restored.model.as_ref())?;
        let journal = Some(Journal::resumed(log, &restored, &model.id));
        let history = take_up(std::mem::take(&mut restored.entries));
        let begin = Begin { id, model, provider, options, place, history, journal };
        let session = self.0.begin(begin).await?;
        session.tell_of_damage(damage);
        self.0.run(session)
    }

    /// Closes the session that runs, if any, shuts the plugins in code down, the last one first, and accepts no further
    /// session (Y6.3-1). Twice is fine.
    pub async fn shutdown(&self) {
        let last = std::mem::replace(&mut *self.0.current(), Current::ShutDown);
        if let Current::Session(session) = &last
            && let Some(session) = session.upgrade()
        {
            session.close().await;
        }
        if !matches!(last, Current::ShutDown) {
            lifecycle::stop(&self.0.parts.plugins).await;
        }
    }

    /// Every plugin, how it stands and in which order it would be asked, in a session that started now.
    ///
    /// # Errors
    /// Those of [`Definitions::scan`].
    pub fn plugins(&self) -> Result<Vec<PluginStatus>, Error> {
        Ok(self.0.merge(&self.0.snapshot()?.plugins).plugins)
    }

    /// Switches a plugin of a folder on or off, whatever its folder says; with none, the folder decides again. It holds
    /// from the next session on, for as long as the agent lives (Y3.5-5, D-19). A plugin in code is always on.
    pub fn switch_plugin(&self, id: &PluginId, on: Option<bool>) {
        let mut switches = self.0.switches.lock().unwrap_or_else(PoisonError::into_inner);
        match on {
            Some(on) => switches.insert(id.clone(), on),
            None => switches.remove(id),
        };
    }

    /// The system prompt that a session started now would have.
    ///
    /// # Errors
    /// Those of [`Definitions::scan`].
    pub fn prompt(&self, options: &SessionOptions) -> Result<SystemPrompt, Error> {
        // Without a model to go by, the prompt is shown whole.
        let provider = self.0.chosen(options, None).ok().map(|(_, provider)| provider);
        let snapshot = self.0.snapshot()?;
        let plugins = self.0.merge(&snapshot.plugins).plugins;
        Ok(self.0.prompt(&snapshot, &plugins, options, provider.as_deref()))
    }
}

/// A session that begins.
struct Begin {
    id: SessionId,
    model: ModelInfo,
    provider: Arc<dyn ModelProvider>,
    options: SessionOptions,
    place: Place,
    history: History,
    journal: Option<Journal>,
}

impl Inner {
    /// The one place for a session.
    fn place(&self) -> Result<Place, Error> {
        self.current().is_alive()?;
        Place::take(&self.taken).ok_or_else(|| {
            Error::new(
                ErrorCode::SessionBusy,
                "this agent's session is still running; close it before starting another",
            )
        })
    }

    /// Makes a session over what the folders hold now.
    async fn begin(self: &Arc<Self>, begin: Begin) -> Result<Session, Error> {
        let Begin { id, model, provider, options, place, history, journal } = begin;
        let (_, snapshot) = scan(self.clone()).await?;
        let Merged { registry, plugins } = self.merge(&snapshot.plugins);
        let prompt = self.prompt(&snapshot, &plugins, &options, Some(&*provider));
        let hooks = Hooks::new(registry, id, self.parts.cwd.clone());
        hooks.prepare().await;
        let memory = self.memory(hooks.session(), &model, &provider, &history)?;
        let mut env = self.env(snapshot.tools, hooks, prompt, model, provider, &options)?;
        env.memory = memory;
        let attachments = self.parts.attachments.clone();
        Ok(Session::new(SessionParts { env, skills: snapshot.skills, attachments, place, history, journal }))
    }

    /// What remembers for a session (Y4.7); of one that goes on, what is there was read before.
    fn memory(
        &self,
        session: &SessionId,
        model: &ModelInfo,
        provider: &Arc<dyn ModelProvider>,
        history: &History,
    ) -> Result<Option<Arc<MemoryManager>>, Error> {
        let Some(storage) = &self.parts.memory_storage else { return Ok(None) };
        let config = &self.parts.config;
        let (model, provider) = match &config.memory_model {
            Some(id) => self.configured("memory_model", Some(id))?,
            None => (model.clone(), provider.clone()),
        };
        let namespace = Namespace::workspace(&self.parts.cwd);
        let (ids, source) = (self.parts.memory_ids.clone(), session.to_string());
        let memory = MemoryManager::new(storage.clone(), namespace, provider, model, config.memory, ids, source);
        Ok(Some(Arc::new(memory.resumed(history.entries().len()))))
    }

    /// Remembers the session that runs now, so that a shutdown ends it.
    fn run(&self, session: Session) -> Result<Session, Error> {
        let mut current = self.current();
        // The agent may have been shut down meanwhile.
        current.is_alive()?;
        *current = Current::Session(session.downgrade());
        drop(current);
        Ok(session)
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the folders, and checks the skills against the tools.
    fn snapshot(&self) -> Result<Snapshot, Error> {
        let mut snapshot = self.parts.definitions.scan()?;
        let missing = snapshot.skills.check_dependencies(&snapshot.tools);
        match self.parts.missing_tools {
            MissingTools::Refuse if !missing.is_empty() => return Err(skills::dependency_error(&missing)),
            MissingTools::Refuse => {}
            MissingTools::DropSkill => {
                for missing in &missing {
                    tracing::warn!("the skill /{} is left out: {}", missing.skill, missing.why.message);
                }
                snapshot.skills.skip_unmet(&missing);
            }
        }
        Ok(snapshot)
    }

    /// The model of that id; without one, the only model there is (D-44).
    fn model(&self, wanted: Option<&ModelId>) -> Result<(ModelInfo, Arc<dyn ModelProvider>), Error> {
        let unsupported = |message: String| Error::new(ErrorCode::ModelNotSupported, message);
        let known = || {
            let ids = self.parts.providers.iter().flat_map(|provider| provider.models());
            ids.map(|model| model.id.as_str()).collect::<Vec<_>>().join(", ")
        };
        match wanted {
            Some(id) => self.models.get(id).cloned().ok_or_else(|| {
                unsupported(format!("no provider serves the model {:?}; there are: {}", id.as_str(), known()))
            }),
            None if self.models.len() == 1 => {
                let only = self.models.values().next().cloned();
                only.ok_or_else(|| unsupported("no provider serves any model".to_owned()))
            }
            None => {
                Err(unsupported(format!("no model was named, and there is no `default_model`; there are: {}", known())))
            }
        }
    }

    /// The same for a model that the configuration names, if it does.
    fn configured(&self, key: &str, id: Option<&ModelId>) -> Result<(ModelInfo, Arc<dyn ModelProvider>), Error> {
        self.model(id).map_err(|mut error| {
            if id.is_some() {
                error.message = format!("`{key}` of config.yaml: {}", error.message);
            }
            error
        })
    }

    /// The model of a session with these options: the one they name, the one that it used before, the default.
    fn chosen(
        &self,
        options: &SessionOptions,
        recorded: Option<&ModelId>,
    ) -> Result<(ModelInfo, Arc<dyn ModelProvider>), Error> {
        match options.model.as_ref().or(recorded) {
            Some(id) => self.model(Some(id)),
            None => self.configured("default_model", self.parts.config.default_model.as_ref()),
        }
    }

    fn merge(&self, files: &[FilePlugin]) -> Merged {
        let switches = self.switches.lock().unwrap_or_else(PoisonError::into_inner);
        plugins::merge(&self.code_plugins, files, &self.parts.config.plugin_configs, &switches)
    }

    fn prompt(
        &self,
        snapshot: &Snapshot,
        plugins: &[PluginStatus],
        options: &SessionOptions,
        provider: Option<&dyn ModelProvider>,
    ) -> SystemPrompt {
        let built_in =
            || SourcedText { text: self.parts.config.base_instructions.clone(), source: "configured".into() };
        let chosen = |text: &str| SourcedText { text: text.to_owned(), source: "chosen for this session".into() };
        let prompt = prompt::build(PromptParts {
            base: Some(options.base_instructions.as_deref().map_or_else(built_in, chosen)),
            global: snapshot.global_instructions.clone(),
            project: snapshot.project_instructions.clone(),
            soul: snapshot.personality.clone(),
            tools: &snapshot.tools,
            skills: &snapshot.skills,
            plugins,
            environment: &(self.parts.environment)(),
        });
        let tools_twice = provider.is_none_or(ModelProvider::tools_in_prompt);
        if tools_twice { prompt } else { prompt.without(SectionName::Tools) }
    }

    fn env(
        &self,
        tools: ToolCatalog,
        hooks: Hooks,
        prompt: SystemPrompt,
        model: ModelInfo,
        provider: Arc<dyn ModelProvider>,
        options: &SessionOptions,
    ) -> Result<TurnEnv, Error> {
        let config = &self.parts.config;
        let (summary_model, summary_provider) = match &config.compact_model {
            Some(id) => self.configured("compact_model", Some(id))?,
            None => (model.clone(), provider.clone()),
        };
        let specs = tools.iter().map(|(_, entry)| entry.handler().spec().clone()).collect();
        Ok(TurnEnv {
            session_id: hooks.session().clone(),
            hooks: Arc::new(hooks),
            cwd: self.parts.cwd.clone(),
            provider,
            model,
            system: prompt.render(),
            prompt,
            memory: None,
            tools: specs,
            dispatcher: Dispatcher::new(Arc::new(tools)).with_timeout(config.tool_timeout),
            sampling: options.sampling,
            max_tool_calls: config.max_tool_calls_per_turn,
            compaction: Compaction {
                threshold: config.compact_threshold,
                provider: summary_provider,
                model: summary_model,
                prompt: config.compact_prompt.clone(),
            },
        })
    }
}

/// Reads the folders, off the threads that serve the runtime.
async fn scan(inner: Arc<Inner>) -> Result<(Arc<Inner>, Snapshot), Error> {
    let scanning = tokio::task::spawn_blocking(move || inner.snapshot().map(|snapshot| (inner, snapshot)));
    scanning.await.unwrap_or_else(|error| {
        Err(Error::new(ErrorCode::DefinitionInvalid, format!("the folders could not be read: {error}")))
    })
}

/// Every model by its id, each served by one provider (Y3.1-3).
fn models(providers: &[Arc<dyn ModelProvider>]) -> Result<Models, Error> {
    if providers.is_empty() {
        let message = "no model provider is registered; an agent needs at least one";
        return Err(Error::new(ErrorCode::NoModelProvider, message));
    }
    let conflict = |message: String| Error::new(ErrorCode::NameConflict, message);
    let mut models = HashMap::new();
    for (index, provider) in providers.iter().enumerate() {
        let id = provider.id();
        if providers[..index].iter().any(|earlier| earlier.id() == id) {
            return Err(conflict(format!("two model providers have the id {:?}", id.as_str())));
        }
        for model in provider.models() {
            if models.insert(model.id.clone(), (model.clone(), provider.clone())).is_some() {
                return Err(conflict(format!(
                    "the model {:?} is declared twice, the second time by the provider {:?}",
                    model.id.as_str(),
                    id.as_str()
                )));
            }
        }
    }
    Ok(models)
}
