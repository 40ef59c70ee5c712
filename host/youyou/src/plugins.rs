//! From plugin folders to handlers, and what a list of plugins shows.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Serialize;
use serde_json::Map;
use youyou_api::{Error, HookEvent, HookHandler, Tap, Taps};
use youyou_component::{ComponentHost, ComponentPlugin, HookSettings, HostConfig, Instancing};
use youyou_core::{
    FilePlugin, PluginStatus,
    plugins::{Merged, Switches, merge},
};
use youyou_files::{Backend, ComponentBackend, HookDefinition, Instance, PluginDefinition, PluginScan, Problem, Roots};
use youyou_script::ScriptHook;

use crate::assemble::{Backends, Owner, Runnable, runnable};

/// Whether the handlers of folders are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileHooks {
    On,
    /// Not inside a script that an agent runs: a hook that starts an agent would start itself without end (K-13).
    Off,
}

impl FileHooks {
    /// What holds at this nesting depth.
    pub(crate) fn at_depth(depth: u32) -> Self {
        if depth == 0 { Self::On } else { Self::Off }
    }
}

/// Gives each plugin of a scan its handlers. One that only its backends find wrong is left out.
pub(crate) fn assemble(backends: &Backends, scan: PluginScan, hooks: FileHooks) -> (Vec<FilePlugin>, Vec<Problem>) {
    let PluginScan { plugins: definitions, mut problems } = scan;
    let mut plugins = Vec::with_capacity(definitions.len());
    let mut silenced = 0_usize;
    for definition in definitions {
        let taps = match (&definition.hooks, hooks) {
            (None, _) => Ok(None),
            (Some(_), FileHooks::Off) => {
                silenced += 1;
                Ok(None)
            }
            (Some(handlers), FileHooks::On) => taps(backends, &definition, handlers).map(Some),
        };
        let PluginDefinition { info, source, enabled, config, .. } = definition;
        match taps {
            Ok(taps) => plugins.push(FilePlugin { info, source, enabled, config, taps }),
            Err(found) => problems.extend(found),
        }
    }
    if silenced > 0 {
        tracing::info!("the hooks of {silenced} plugin folders are off: this runs inside a script of another agent");
    }
    (plugins, problems)
}

/// The handlers of one plugin. Events that run the same component alike share it, and with `per_session` its instance.
pub(crate) fn taps(
    backends: &Backends,
    plugin: &PluginDefinition,
    handlers: &[HookDefinition],
) -> Result<Vec<Tap>, Vec<Problem>> {
    let mut taps = Taps::new();
    let mut components: Vec<(&ComponentBackend, &Option<String>, ComponentPlugin)> = Vec::new();
    for HookDefinition { event, execution, on_failure } in handlers {
        let id = &plugin.info.id;
        let handler: Arc<dyn HookHandler> =
            match (runnable(&Owner::from(plugin), execution.clone())?, &execution.backend) {
                (Runnable::Script(command), _) => {
                    let hook = ScriptHook::new(backends.scripts.clone(), id.clone(), command);
                    Arc::new(hook.with_on_failure(*on_failure))
                }
                (Runnable::Component(mut spec), backend) => {
                    let settings = HookSettings { timeout: spec.timeout.take(), on_failure: *on_failure };
                    let place = &execution.working_directory;
                    let known = components.iter().find(|(known, at, _)| {
                        matches!(backend, Backend::Component(own) if own == *known) && *at == place
                    });
                    let component = match known {
                        Some((.., component)) => component.clone(),
                        None => {
                            let instancing = match plugin.instance {
                                Instance::PerCall => Instancing::PerCall,
                                Instance::PerSession => Instancing::PerSession,
                            };
                            ComponentPlugin::new(backends.components.clone(), id.clone(), spec, instancing)
                        }
                    };
                    if let Backend::Component(own) = backend {
                        components.push((own, place, component.clone()));
                    }
                    Arc::new(component.handler(*event, settings))
                }
            };
        taps.tap(*event, handler);
    }
    Ok(taps.into_taps())
}

/// One plugin as `youyou list plugins` and a front end show it, in a session that started now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PluginListing {
    /// How it stands.
    #[serde(flatten)]
    pub status: PluginStatus,
    /// The folder that is in force; none for a plugin in code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<PathBuf>,
    /// Folders without hooks that say how it is to be: its configuration, whether it is enabled (D-3).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<PathBuf>,
}

/// Every plugin of the folders of a home and a workspace, those that take part first and in the order in which they are
/// asked, and everything wrong with them. Nothing is compiled or run.
///
/// # Errors
/// Those of making a component host.
pub fn list_plugins(home: &Path, workspace: &Path) -> Result<(Vec<PluginListing>, Vec<Problem>), Error> {
    let backends = Backends::new(home, ComponentHost::new(HostConfig::default())?);
    let Listed { listings, problems, .. } = Listed::new(&backends, home, workspace);
    Ok((listings, problems))
}

/// What the folders hold, merged.
pub(crate) struct Listed {
    pub(crate) listings: Vec<PluginListing>,
    pub(crate) plugins: Vec<FilePlugin>,
    pub(crate) problems: Vec<Problem>,
}

impl Listed {
    pub(crate) fn new(backends: &Backends, home: &Path, workspace: &Path) -> Self {
        let scan = youyou_files::scan_plugins(&Roots { home: home.to_owned(), workspace: workspace.to_owned() });
        let places: Vec<_> = scan
            .plugins
            .iter()
            .map(|plugin| (plugin.info.id.clone(), plugin.source, plugin.hooks.is_some(), plugin.dir.clone()))
            .collect();
        // Asked by hand, a list shows what the folders define, whatever runs around it.
        let (plugins, mut problems) = assemble(backends, scan, FileHooks::On);
        let (configs, found) = plugin_configs(home);
        problems.extend(found);
        let Merged { plugins: statuses, .. } = merge(&[], &plugins, &configs, &Switches::default());
        let listing = |status: PluginStatus| {
            let of_id = || places.iter().filter(|(id, ..)| *id == status.info.id);
            let dir = of_id().find(|(_, source, ..)| *source == status.source).map(|(.., dir)| dir.clone());
            let overlays = of_id().filter(|(.., has_hooks, _)| !has_hooks).map(|(.., dir)| dir.clone()).collect();
            PluginListing { status, dir, overlays }
        };
        Self { listings: statuses.into_iter().map(listing).collect(), plugins, problems }
    }
}

/// config.yaml's word on plugins; nothing where the file cannot be used, which is told.
pub(crate) fn plugin_configs(home: &Path) -> (Map<String, serde_json::Value>, Vec<Problem>) {
    match youyou_files::load_config(home) {
        Ok((config, _)) => (config.plugin_configs, Vec::new()),
        Err(_) => (Map::new(), youyou_files::check_config(home)),
    }
}

/// What keeps a plugin from being run as things are now, without running or compiling it.
pub(crate) fn check(backends: &Backends, plugin: &PluginDefinition, cwd: &Path) -> Vec<Problem> {
    let owner = Owner::from(plugin);
    let mut problems: Vec<Problem> = Vec::new();
    let mut components: Vec<(&ComponentBackend, Vec<HookEvent>)> = Vec::new();
    for HookDefinition { event, execution, .. } in plugin.hooks.iter().flatten() {
        let found = match runnable(&owner, execution.clone()) {
            Ok(Runnable::Script(command)) => {
                let found = youyou_script::problems(&command, &backends.scripts, cwd);
                found.iter().map(|found| owner.error(found.to_string())).collect()
            }
            Ok(Runnable::Component(_)) => Vec::new(),
            Err(found) => found,
        };
        // Several events may run one script.
        problems.extend(found.into_iter().filter(|problem| !problems.contains(problem)).collect::<Vec<_>>());
        if let Backend::Component(own) = &execution.backend {
            match components.iter_mut().find(|(known, _)| known.path == own.path) {
                Some((_, events)) => events.push(*event),
                None => components.push((own, vec![*event])),
            }
        }
    }
    for (component, events) in components {
        problems.extend(check_component(&owner, component, &events));
    }
    problems
}

/// A component's exports against the events that it is to handle, its imports against what it is granted.
fn check_component(owner: &Owner<'_>, component: &ComponentBackend, events: &[HookEvent]) -> Vec<Problem> {
    let path = &component.path;
    let taps = match youyou_component::check_taps(path, events) {
        Ok(taps) => taps,
        Err(error) => return vec![owner.error(error.message)],
    };
    let network = component.permissions.net.is_empty()
        && youyou_component::inspect(path).is_ok_and(|inspection| inspection.asks.network);
    let network = network.then(|| {
        owner
            .hint(format!("{} can use the network, and `permissions.net` grants it nothing", path.display()))
            .with_hint("list what it needs there, or leave it so if it needs nothing")
    });
    let problems = taps.problems.into_iter().map(|problem| owner.error(problem.message));
    let hints = taps.hints.into_iter().map(|problem| owner.hint(problem.message));
    problems.chain(hints).chain(network).collect()
}
