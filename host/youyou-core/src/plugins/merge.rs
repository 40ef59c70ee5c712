//! Which plugins take part in a session, and with which configuration: the rules of precedence.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::Serialize;
use serde_json::{Map, Value};
use youyou_api::{HookEvent, PluginId, PluginInfo, SourceLabel, Tap};

use crate::hooks::{HookRegistry, PluginTaps};

/// A plugin in code, as it was registered.
#[derive(Debug, Clone)]
pub struct CodePlugin {
    /// What it tells about itself.
    pub info: PluginInfo,
    /// Its own configuration.
    pub default_config: Value,
    /// What it taps.
    pub taps: Vec<Tap>,
}

/// A folder that says something of a plugin.
#[derive(Debug, Clone)]
pub struct FilePlugin {
    /// What it tells about itself.
    pub info: PluginInfo,
    /// `Global` or `Project`.
    pub source: SourceLabel,
    /// Its `enabled`; none where it does not say.
    pub enabled: Option<bool>,
    /// Its `config`; none where it does not say.
    pub config: Option<Value>,
    /// What it taps; none for a folder without `hooks`, which only says how another plugin of its id is to be (D-3).
    pub taps: Option<Vec<Tap>>,
}

/// Plugins that were switched on or off while the agent runs (D-19).
pub type Switches = BTreeMap<PluginId, bool>;

/// What came of merging.
#[derive(Debug, Default)]
pub struct Merged {
    /// The taps of those that take part.
    pub registry: HookRegistry,
    /// Every plugin there is, those that take part in the order of their tiers, then the others.
    pub plugins: Vec<PluginStatus>,
}

/// How one plugin stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PluginStatus {
    /// What the definition tells that is in force.
    #[serde(flatten)]
    pub info: PluginInfo,
    /// Where that definition comes from.
    pub source: SourceLabel,
    /// Whether it takes part.
    pub enabled: bool,
    /// The configuration that it gets (Y3.5-2).
    pub config: Value,
    /// Where the configuration comes from, for people.
    pub config_from: &'static str,
    /// The events that it taps, and how each is run: `code`, `script` or `component`.
    pub taps: Vec<(HookEvent, &'static str)>,
    /// Lower levels that define the same plugin and are not in force.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shadows: Vec<SourceLabel>,
}

/// One id, with everything that defines it.
struct Candidates<'a> {
    code: Option<(usize, &'a CodePlugin)>,
    /// The highest level first.
    files: Vec<&'a FilePlugin>,
}

/// Merges plugins in code with folders, by id (D-3, Y3.5).
///
/// - A folder with `hooks` replaces the one below it, and code of its id; one without only overlays `config` and
///   `enabled`.
/// - `enabled` of folders: the switch, else the highest folder that says, else true (Y3.5-5). A folder that is disabled
///   is as if it were not there, so that code of its id stays: code is always enabled.
/// - The configuration: config.yaml, else the highest folder that says, else the code's own (Y3.5-2).
pub fn merge(code: &[CodePlugin], files: &[FilePlugin], configs: &Map<String, Value>, switches: &Switches) -> Merged {
    let ids: BTreeSet<&PluginId> = code.iter().map(|p| &p.info.id).chain(files.iter().map(|p| &p.info.id)).collect();
    let mut found: Vec<(Option<PluginTaps>, PluginStatus)> = ids
        .into_iter()
        .enumerate()
        .filter_map(|(place, id)| {
            let mut of_id: Vec<_> = files.iter().filter(|file| file.info.id == *id).collect();
            of_id.sort_by_key(|file| std::cmp::Reverse(file.source));
            let code = code.iter().enumerate().find(|(_, plugin)| plugin.info.id == *id);
            resolve(place, Candidates { code, files: of_id }, configs.get(id.as_str()), switches.get(id).copied())
        })
        .collect();
    found.sort_by_key(|(taps, status)| match taps {
        Some(taps) => (0, status.source, taps.index),
        None => (1, status.source, 0),
    });
    let (taps, plugins): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    Merged { registry: HookRegistry::new(taps.into_iter().flatten()), plugins }
}

/// Decides about one id. `place` is the byte order of the ids.
fn resolve(
    place: usize,
    candidates: Candidates<'_>,
    config: Option<&Value>,
    switch: Option<bool>,
) -> Option<(Option<PluginTaps>, PluginStatus)> {
    let Candidates { code, files } = candidates;
    let files_enabled = switch.or_else(|| files.iter().find_map(|file| file.enabled)).unwrap_or(true);
    let with_hooks = files.iter().find(|file| file.taps.is_some());
    let in_force = match (with_hooks, code) {
        (Some(file), None) => Definition::File(file),
        (Some(file), Some(_)) if files_enabled => Definition::File(file),
        (_, Some((index, plugin))) => Definition::Code(index, plugin),
        // Only overlays, of nothing: shown, so that their author sees why nothing happens.
        (None, None) => Definition::File(files.first()?),
    };
    let enabled = files_enabled || matches!(in_force, Definition::Code(..));
    // A folder with hooks that is disabled is ignored with all that it says; one without hooks speaks of the code.
    let speaking = files.iter().filter(|file| code.is_none() || files_enabled || file.taps.is_none());
    let (config, config_from) = final_config(config, speaking, code.map(|(_, plugin)| plugin));
    let (info, source, index, taps) = match in_force {
        Definition::Code(index, plugin) => (&plugin.info, SourceLabel::Programmatic, index, plugin.taps.as_slice()),
        Definition::File(file) => (&file.info, file.source, place, file.taps.as_deref().unwrap_or_default()),
    };
    let mut shadows: Vec<_> =
        files.iter().filter(|file| file.source < source && file.taps.is_some()).map(|file| file.source).collect();
    if code.is_some() && matches!(in_force, Definition::File(_)) {
        shadows.push(SourceLabel::Programmatic);
    }
    let status = PluginStatus {
        info: info.clone(),
        source,
        enabled,
        config: config.clone(),
        config_from,
        taps: taps.iter().map(|tap| (tap.event, tap.handler.backend())).collect(),
        shadows,
    };
    let taps = enabled.then(|| PluginTaps {
        id: info.id.clone(),
        source,
        index,
        config: Arc::new(config),
        taps: taps.to_vec(),
    });
    Some((taps, status))
}

/// Which definition of an id is in force.
enum Definition<'a> {
    Code(usize, &'a CodePlugin),
    File(&'a FilePlugin),
}

/// The first that there is (Y3.5-2, D-42).
fn final_config<'a>(
    configured: Option<&Value>,
    mut files: impl Iterator<Item = &'a &'a FilePlugin>,
    code: Option<&CodePlugin>,
) -> (Value, &'static str) {
    if let Some(config) = configured {
        return (config.clone(), "config.yaml");
    }
    let said = files.find_map(|file| file.config.as_ref().map(|config| (config, file.source)));
    match said {
        Some((config, SourceLabel::Project)) => (config.clone(), "the project's index.md"),
        Some((config, SourceLabel::Global | SourceLabel::Programmatic)) => (config.clone(), "the user's index.md"),
        None => (code.map(|code| code.default_config.clone()).unwrap_or_default(), "the plugin itself"),
    }
}

#[cfg(test)]
mod tests;
