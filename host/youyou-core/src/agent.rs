//! The agent: the models it may ask, and the one session that may run (Y1-4, Y6).

mod models;
mod parts;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool};

use youyou_api::{
    Error, ErrorCode, MemoryStorage, ModelId, ModelInfo, ModelProvider, Namespace, NewSession, PluginId, SessionId,
    SessionStorage,
};

use self::models::{Models, Served};
pub use self::parts::{AgentConfig, AgentParts, Definitions, MissingTools, Snapshot};
use crate::{
    context::History,
    events::now_ms,
    hooks::Hooks,
    journal::Journal,
    memory::{MemoryManager, Progress},
    plugins::{self, CodePlugin, FilePlugin, Merged, PluginStatus, Switches, lifecycle},
    prompt::{self, PromptParts, SectionName, SourcedText, SystemPrompt},
    session::{
        Session, SessionOptions,
        handle::{Place, SessionParts, WeakSession},
        resume::{Resumed, take_up},
    },
    skills,
    tools::{Dispatcher, ToolCatalog},
    turn::{Compaction, TurnEnv},
};

/// Models, tools, skills and instructions, ready for a session. A clone is the same agent.
#[derive(Clone)]
pub struct Agent(Arc<Inner>);

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
        let models = Models::of(&parts.providers)?;
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
        self.0.models.iter()
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
                Some(Journal::new(storage.create(session).await?, &model.id, self.0.remembers()))
            }
            None => None,
        };
        let (history, progress) = (History::new(), Progress::default());
        let begin = Begin { id, model, provider, options, place, history, progress, journal };
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
        let journal = Some(Journal::resumed(log, &restored, &model.id, self.0.remembers()));
        let progress = restored.progress();
        let history = take_up(std::mem::take(&mut restored.entries));
        let begin = Begin { id, model, provider, options, place, history, progress, journal };
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
    /// How far that was read for memories.
    progress: Progress,
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
        let Begin { id, model, provider, options, place, history, progress, journal } = begin;
        let (_, snapshot) = scan(self.clone()).await?;
        let Merged { registry, plugins } = self.merge(&snapshot.plugins);
        let prompt = self.prompt(&snapshot, &plugins, &options, Some(&*provider));
        let hooks = Hooks::new(registry, id, self.parts.cwd.clone());
        hooks.prepare().await;
        let memory = self.memory(hooks.session(), &model, &provider, progress)?;
        let mut env = self.env(snapshot.tools, hooks, prompt, model, provider, &options)?;
        env.memory = memory;
        let attachments = self.parts.attachments.clone();
        Ok(Session::new(SessionParts { env, skills: snapshot.skills, attachments, place, history, journal }))
    }

    /// Whether sessions are read for memories.
    fn remembers(&self) -> bool {
        self.parts.memory_storage.is_some()
    }

    /// What remembers for a session (Y4.7).
    fn memory(
        &self,
        session: &SessionId,
        model: &ModelInfo,
        provider: &Arc<dyn ModelProvider>,
        progress: Progress,
    ) -> Result<Option<Arc<MemoryManager>>, Error> {
        let Some(storage) = &self.parts.memory_storage else { return Ok(None) };
        let config = &self.parts.config;
        let (model, provider) = match &config.memory_model {
            Some(id) => self.models.configured("memory_model", Some(id))?,
            None => (model.clone(), provider.clone()),
        };
        let namespace = Namespace::workspace(&self.parts.cwd);
        let (ids, source) = (self.parts.memory_ids.clone(), session.to_string());
        let memory = MemoryManager::new(storage.clone(), namespace, provider, model, config.memory, ids, source);
        Ok(Some(Arc::new(memory.resumed(progress))))
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

    /// The model of a session with these options: the one they name, the one that it used before, the default.
    fn chosen(&self, options: &SessionOptions, recorded: Option<&ModelId>) -> Result<Served, Error> {
        match options.model.as_ref().or(recorded) {
            Some(id) => self.models.get(Some(id)),
            None => self.models.configured("default_model", self.parts.config.default_model.as_ref()),
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
            Some(id) => self.models.configured("compact_model", Some(id))?,
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
