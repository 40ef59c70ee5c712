//! An agent in a world of its own, its conversations, and what its model was sent.
//!
//! A [`Setup`] becomes a [`Host`], a host's [`Chat`] runs turns, and a [`Turn`] reads as a transcript. Two things are
//! checked whatever a test looks at itself: every request, against the rules that model APIs share, and every turn's
//! events, against those of Y7. A test that breaks one fails.
//!
//! [`model`] is what answers, [`code`] makes tools, [`plugin`] plugins, [`show`] makes text of it all.

pub mod chat;
mod check;
pub mod code;
pub mod model;
pub mod plugin;
pub mod show;

use std::{sync::OnceLock, time::Duration};

use youyou::{
    Agent, AgentBuilder, ComponentHost, Error, Plugin, Script, SessionId, SessionOptions, Skill, ToolHandler,
};

pub use self::{
    chat::{Chat, Running, Turn},
    code::{CodeTool, Gate},
    model::Model,
    plugin::CodePlugin,
};
use crate::{World, compile_cache, world::components};

/// How long anything may take, by tokio's clock. More than any time limit or pause inside of the runtime, so that a
/// paused clock does not get here before it.
pub const PATIENCE: Duration = Duration::from_secs(150);

/// What an agent is to be built from.
pub struct Setup {
    world: World,
    models: Vec<Model>,
    builder: AgentBuilder,
}

impl Setup {
    /// An empty world, and a model that says these replies (docs/replay.md).
    ///
    /// # Panics
    /// When the text is no replay script.
    #[track_caller]
    pub fn new(replies: &str) -> Self {
        Self::of(World::new(""), Model::replay(replies))
    }

    /// The same in a world with files.
    ///
    /// # Panics
    /// When the text is no replay script, or the tree no tree.
    #[track_caller]
    pub fn over(tree: &str, replies: &str) -> Self {
        Self::of(World::new(tree), Model::replay(replies))
    }

    /// An empty world, and a model that says this script.
    pub fn playing(script: Script) -> Self {
        Self::of(World::new(""), Model::new(youyou::ReplayProvider::new(script).strict()))
    }

    /// This world, and this model.
    pub fn of(world: World, model: Model) -> Self {
        // Making an engine is not what the tests are about.
        static COMPONENTS: OnceLock<ComponentHost> = OnceLock::new();
        let host = COMPONENTS.get_or_init(|| components(&compile_cache())).clone();
        let builder = youyou::agent().home(world.home()).workspace(world.work()).components(host);
        Self { world, models: Vec::new(), builder }.model(model)
    }

    /// One provider more.
    #[must_use]
    pub fn model(mut self, model: Model) -> Self {
        self.builder = self.builder.provider(model.clone());
        self.models.push(model);
        self
    }

    /// A tool in code.
    #[must_use]
    pub fn tool(self, tool: impl ToolHandler + 'static) -> Self {
        self.with(|builder| builder.tool(tool))
    }

    /// A skill in code.
    #[must_use]
    pub fn skill(self, skill: Skill) -> Self {
        self.with(|builder| builder.skill(skill))
    }

    /// A plugin in code.
    #[must_use]
    pub fn plugin(self, plugin: impl Plugin + 'static) -> Self {
        self.with(|builder| builder.plugin(plugin))
    }

    /// Whatever else.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(AgentBuilder) -> AgentBuilder) -> Self {
        self.builder = change(self.builder);
        self
    }

    /// Where its files are.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Builds the agent.
    ///
    /// # Panics
    /// When it cannot be built.
    pub async fn build(self) -> Host {
        let Self { world, models, builder } = self;
        let agent = builder.build().await.unwrap_or_else(|error| panic!("the agent is built: {error}"));
        Host { world, models, agent }
    }

    /// Why the agent cannot be built; paths of this machine are left out of the message.
    ///
    /// # Panics
    /// When it can.
    pub async fn refused(self) -> Error {
        let Self { world, builder, .. } = self;
        let mut error = builder.build().await.err().expect("the agent cannot be built");
        error.message = world.shown(&error.message);
        error
    }

    /// Builds the agent and starts its session.
    ///
    /// # Panics
    /// When one of the two cannot be done.
    pub async fn chat(self) -> (Host, Chat) {
        let host = self.build().await;
        let chat = host.chat().await;
        (host, chat)
    }
}

/// An agent, and what surrounds it.
pub struct Host {
    /// Its files.
    pub world: World,
    /// The agent.
    pub agent: Agent,
    models: Vec<Model>,
}

impl Host {
    /// The model that was there first.
    pub fn model(&self) -> &Model {
        &self.models[0]
    }

    /// A session with nothing chosen.
    ///
    /// # Panics
    /// When it cannot be started.
    pub async fn chat(&self) -> Chat {
        self.chat_with(SessionOptions::default()).await
    }

    /// A session.
    ///
    /// # Panics
    /// When it cannot be started.
    pub async fn chat_with(&self, options: SessionOptions) -> Chat {
        let session = self.agent.new_session(options).await;
        Chat::new(session.unwrap_or_else(|error| panic!("the session is started: {error}")), self.models.clone())
    }

    /// A stored session that goes on.
    ///
    /// # Panics
    /// When it cannot.
    pub async fn resumed(&self, id: &SessionId) -> Chat {
        let session = self.agent.resume_session(id, SessionOptions::default()).await;
        Chat::new(session.unwrap_or_else(|error| panic!("the session goes on: {error}")), self.models.clone())
    }

    /// Shuts the agent down; what is left is its files.
    pub async fn end(self) -> World {
        self.agent.shutdown().await;
        self.world
    }

    /// Why no session can be started.
    ///
    /// # Panics
    /// When one can.
    pub async fn no_chat(&self, options: SessionOptions) -> Error {
        let mut error = self.agent.new_session(options).await.err().expect("no session can be started");
        error.message = self.world.shown(&error.message);
        error
    }
}
