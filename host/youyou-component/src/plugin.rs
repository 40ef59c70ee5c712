//! A plugin that is a component: one handler for each event that it taps (C-1, Y4.6).

use std::{fmt, sync::Arc, time::Duration};

use youyou_api::{
    BoxFuture, CallContext, Error, HookEvent, HookHandler, HookOutcome, HookPayload, OnFailure, PluginId,
};

use crate::{
    check::Role,
    failure,
    hook::{HookCall, HookExport, HookExports},
    host::ComponentHost,
    kept::Kept,
    log::Speaker,
    run::{ComponentSpec, GuestComponent, named},
};

/// How long an instance of a plugin lives: `instance` in its index.md.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Instancing {
    /// Every event has a fresh one: nothing is remembered, and nothing can go wrong for the next event.
    #[default]
    PerCall,
    /// One serves all events, one after another, so that the plugin's own variables last. What one event broke is made
    /// anew for the next, and what it remembered is lost then (K-67).
    PerSession,
}

/// What an index.md says about one handler.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HookSettings {
    /// How long it may take; without it the [`timeout`](ComponentSpec::timeout) of the plugin's component holds.
    pub timeout: Option<Duration>,
    /// What its failure counts as (D-14).
    pub on_failure: OnFailure,
}

/// A plugin that is a component, for one session.
///
/// Making one reads nothing and compiles nothing. The first event, or a [`warm_up`](ComponentHook::warm_up), loads the
/// component; from then on it stays as it was, whatever happens to its file (K-66). Where an instance is kept, it is made
/// for the first event and gone when the plugin and its handlers are, so a new session takes a new plugin. A clone is
/// the same plugin.
#[derive(Clone)]
pub struct ComponentPlugin(Arc<Shared>);

struct Shared {
    id: PluginId,
    component: GuestComponent<HookExports>,
    /// None where every event has an instance of its own.
    kept: Option<Kept>,
}

/// The handler of one event in a [`ComponentPlugin`].
pub struct ComponentHook {
    plugin: Arc<Shared>,
    event: HookEvent,
    settings: HookSettings,
    label: String,
}

impl ComponentPlugin {
    /// The plugin `id`, which runs `component`.
    pub fn new(host: ComponentHost, id: PluginId, component: ComponentSpec, instancing: Instancing) -> Self {
        let speaker = Speaker::Plugin(id.as_str().into());
        let component = GuestComponent::new(host, component, speaker);
        let kept = match instancing {
            Instancing::PerCall => None,
            Instancing::PerSession => Some(Kept::default()),
        };
        Self(Arc::new(Shared { id, component, kept }))
    }

    /// Its handler of an event. Whether the component exports one shows at the first event; see
    /// [`check_taps`](crate::check_taps) for a word beforehand.
    pub fn handler(&self, event: HookEvent, settings: HookSettings) -> ComponentHook {
        let label = format!("hook {event} of plugin \"{}\"", self.0.id);
        ComponentHook { plugin: Arc::clone(&self.0), event, settings, label }
    }
}

impl ComponentHook {
    /// Loads the component ahead of the first event, compiling it if that was never done.
    ///
    /// Dropping the future does not stop it; what was begun is there for the event.
    ///
    /// # Errors
    /// `HOOK_FAILED` when the file cannot be used, or exports no handler of the event; `details.kind` says why (K-60).
    pub async fn warm_up(&self) -> Result<(), Error> {
        let ready = self.plugin.component.warm_up(&self.label, self.role()).await.map_err(failure::of_hook)?;
        self.export(&ready.exports).map(|_| ()).map_err(failure::of_hook)
    }

    fn export<'e>(&self, exports: &'e HookExports) -> Result<&'e HookExport, Error> {
        exports.get(self.event).map_err(|error| named(&self.label, error))
    }

    fn role(&self) -> Role {
        Role::Hook(self.event)
    }

    async fn run(&self, payload: &HookPayload, context: &CallContext) -> Result<HookOutcome, Error> {
        let Shared { id, component, kept } = &*self.plugin;
        let ready = component.ready(&self.label, self.role(), context).await?;
        let call = HookCall { export: self.export(&ready.exports)?, payload, plugin: id };
        match kept {
            Some(kept) => kept.call(component, ready, &self.label, &call, context).await,
            None => component.call_once(ready, &self.label, &call, context).await,
        }
    }
}

impl HookHandler for ComponentHook {
    /// Cancel safe: a guest whose call is dropped is never called again.
    fn handle<'a>(
        &'a self,
        payload: &'a HookPayload,
        context: CallContext,
    ) -> BoxFuture<'a, Result<HookOutcome, Error>> {
        Box::pin(async move { self.run(payload, &context).await.map_err(failure::of_hook) })
    }

    fn prepare(&self) -> BoxFuture<'_, ()> {
        // What is wrong is told when the handler is asked.
        Box::pin(async { drop(self.warm_up().await) })
    }

    fn timeout(&self) -> Option<Duration> {
        self.settings.timeout.or(self.plugin.component.spec().timeout)
    }

    fn on_failure(&self) -> OnFailure {
        self.settings.on_failure
    }

    fn backend(&self) -> &'static str {
        "component"
    }
}

impl fmt::Debug for ComponentPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ComponentPlugin({})", self.0.id)
    }
}

impl fmt::Debug for ComponentHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ComponentHook({})", self.label)
    }
}
