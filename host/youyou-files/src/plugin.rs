//! A plugin's folder: front matter and description, read into a [`PluginDefinition`] (Y5.5-1).
//!
//! What a folder says and what it leaves open is kept apart, because a folder of the same id on another level, or a plugin
//! in code, may say it instead (Y3.5-2, D-3).

use std::path::{Path, PathBuf};

use serde_json::Value;
use youyou_api::{HookEvent, OnFailure, PluginId, PluginInfo, SourceLabel};

use crate::{
    entry::{self, Entry, Folder},
    execution::{self, Backend, Execution},
    fields::{Field, Keys, Section, nearest},
    findings::{At, Findings},
    problem::Loaded,
    yaml::{Node, quoted},
};

const BELOW_EXECUTION: &str = "it belongs under `execution:`, or below an event in `hooks:`";

const KEYS: Keys = Keys {
    of: "a plugin",
    allowed: &["version", "id", "display_name", "enabled", "instance", "config", "execution", "hooks"],
    astray: &[
        ("name", "did you mean `id`?"),
        ("title", "did you mean `display_name`?"),
        ("description", "a plugin's description is the text below the second `---`"),
        ("disabled", "write `enabled: false`"),
        ("events", "did you mean `hooks`?"),
        ("hook", "did you mean `hooks`?"),
        ("settings", "did you mean `config`?"),
        ("command", BELOW_EXECUTION),
        ("args", BELOW_EXECUTION),
        ("component", BELOW_EXECUTION),
        ("timeout_ms", BELOW_EXECUTION),
        ("working_directory", BELOW_EXECUTION),
        ("memory_mb", BELOW_EXECUTION),
        ("permissions", BELOW_EXECUTION),
        ("on_failure", "it belongs below an event in `hooks:`"),
        ("mutating", "only tools have it"),
        ("parameters", "only tools have them; a plugin has `config`"),
        ("<<", "merge keys are not supported: write the keys out"),
    ],
};

/// A plugin as its folder defines it.
#[derive(Debug, Clone, PartialEq)]
pub struct PluginDefinition {
    /// What it tells about itself.
    pub info: PluginInfo,
    /// The level that it comes from.
    pub source: SourceLabel,
    /// Its folder, absolute. Links on the way are not resolved.
    pub dir: PathBuf,
    /// Its `index.md`.
    pub index: PathBuf,
    /// Whether it takes part; none where the folder does not say, which is not the same as true (Y3.5-5).
    pub enabled: Option<bool>,
    /// Its configuration; none where the folder does not say, which is not the same as null (Y3.5-2).
    pub config: Option<Value>,
    /// How long an instance of its components lives.
    pub instance: Instance,
    /// Its handlers, at most one for each event, in the order of a session's life. None for a folder that only says how
    /// the plugin of this id is to be, which is defined elsewhere (D-3).
    pub hooks: Option<Vec<HookDefinition>>,
}

/// How long an instance of a component lives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Instance {
    /// Every event has a fresh one.
    #[default]
    PerCall,
    /// One serves a whole session, so that what it remembers lasts (Y3.5-4).
    PerSession,
}

/// The handler of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookDefinition {
    /// The event.
    pub event: HookEvent,
    /// How it is run: the event's own keys over the plugin's.
    pub execution: Execution,
    /// What its failure counts as (D-14).
    pub on_failure: OnFailure,
}

/// Reads the plugin in one folder, which may be anywhere.
///
/// The result holds everything there is to say at once. Nothing is run, compiled or looked for besides `index.md`.
///
/// ```no_run
/// use youyou_api::SourceLabel;
/// match youyou_files::load_plugin("plugins/guard".as_ref(), SourceLabel::Project).into_result() {
///     Ok((plugin, remarks)) => println!("{} ({} remarks)", plugin.info.id, remarks.len()),
///     Err(problems) => problems.iter().for_each(|problem| eprintln!("{problem}")),
/// }
/// ```
pub fn load_plugin(dir: &Path, source: SourceLabel) -> Loaded<PluginDefinition> {
    match Folder::at(dir) {
        Ok(folder) => load(&folder, source),
        Err(problem) => Loaded::refused(*problem),
    }
}

/// Reads the plugin in a folder that is known already.
pub(crate) fn load(folder: &Folder, source: SourceLabel) -> Loaded<PluginDefinition> {
    entry::load(folder, &KEYS, |entry, findings| read(entry, source, findings))
}

fn read(entry: &Entry<'_>, source: SourceLabel, findings: &mut Findings<'_>) -> Option<PluginDefinition> {
    let top = &entry.top;
    let id = entry.name("id", findings).and_then(|id| legal_id(entry, id, findings));
    let display_name = match top.get("display_name") {
        Some(field) => field.one_line(findings),
        None => id.as_ref().map(|id| id.as_str().to_owned()),
    };
    let enabled = top.get("enabled").and_then(|field| field.boolean(findings));
    let config = top.even_null("config").and_then(|field| read_config(&field, findings));
    let instance = top.get("instance").and_then(|field| read_instance(&field, findings)).unwrap_or_default();
    let hooks = match top.get("hooks") {
        Some(field) => Some(read_hooks(entry, &field, findings)?),
        None => {
            without_hooks(top, findings);
            None
        }
    };
    if let Some(hooks) = &hooks {
        remark(entry, hooks, instance, findings);
    }
    Some(PluginDefinition {
        info: PluginInfo { id: id?, display_name: display_name?, description: entry.body.clone().into_owned() },
        source,
        dir: entry.dir.to_owned(),
        index: entry.index.to_owned(),
        enabled,
        config,
        instance,
        hooks,
    })
}

/// The id, which equals the folder's name (D-50).
fn legal_id(entry: &Entry<'_>, id: &str, findings: &mut Findings<'_>) -> Option<PluginId> {
    match PluginId::new(id) {
        Ok(id) => Some(id),
        Err(error) => {
            let field = entry.top.get("id");
            let at = field.as_ref().map_or(At::Start, |field| field.at());
            findings.error(at, error.to_string()).hint("rename the folder too");
            None
        }
    }
}

fn read_config(field: &Field<'_>, findings: &mut Findings<'_>) -> Option<Value> {
    let config = field.node.to_json();
    if config.is_none() {
        findings.error(field.at_key(), format!("{} holds a number that JSON cannot hold", field.name()));
    }
    config
}

fn read_instance(field: &Field<'_>, findings: &mut Findings<'_>) -> Option<Instance> {
    one_of(field, &[("per_call", Instance::PerCall), ("per_session", Instance::PerSession)], findings)
}

/// The value that one of these words stands for.
fn one_of<T: Copy>(field: &Field<'_>, words: &[(&str, T)], findings: &mut Findings<'_>) -> Option<T> {
    let found = field.text(findings)?;
    let known = words.iter().find(|(word, _)| *word == found).map(|(_, value)| *value);
    if known.is_none() {
        let words = words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
        findings.error(field.at(), format!("{} must be {words}, found {}", field.name(), quoted(found)));
    }
    known
}

fn read_hooks(entry: &Entry<'_>, field: &Field<'_>, findings: &mut Findings<'_>) -> Option<Vec<HookDefinition>> {
    let Some(events) = field.unchecked_section() else {
        let found = field.node.described();
        findings
            .error(field.at(), format!("{} must be a mapping, found {found}", field.name()))
            .hint("write `hooks: { BeforeToolUse: { command: ./hook.sh } }`");
        return None;
    };
    let execution = entry.top.get("execution");
    let defaults = execution.as_ref().and_then(|field| execution::read_defaults(field, findings));
    let mut hooks = Vec::new();
    for (name, hook) in events.fields() {
        let Some(event) = known_event(name, &hook, findings) else { continue };
        let Some((execution, own)) = execution::read_hook(&hook, defaults, entry.dir, findings) else { continue };
        let on_failure = read_on_failure(event, &own, findings);
        hooks.push(HookDefinition { event, execution, on_failure });
    }
    hooks.sort_by_key(|hook| hook.event);
    Some(hooks)
}

fn known_event(name: &str, hook: &Field<'_>, findings: &mut Findings<'_>) -> Option<HookEvent> {
    let event = HookEvent::ALL.iter().copied().find(|event| event.as_str() == name);
    if event.is_none() {
        let names = HookEvent::ALL.iter().map(|event| event.as_str()).collect::<Vec<_>>();
        let all = format!("the events are {}", names.join(", "));
        let hint = match nearest_event(name, &names) {
            Some(near) => format!("did you mean `{near}`? {all}"),
            None => all,
        };
        findings.error(hook.at_key(), format!("{} is not an event", quoted(name))).hint(hint);
    }
    event
}

/// The event that was most likely meant, also where it was written in another case or under a name from elsewhere.
fn nearest_event<'n>(name: &str, names: &[&'n str]) -> Option<&'n str> {
    const ELSEWHERE: &[(&str, HookEvent)] = &[
        ("pretooluse", HookEvent::BeforeToolUse),
        ("posttooluse", HookEvent::AfterToolUse),
        ("userpromptsubmit", HookEvent::TurnStart),
        ("stop", HookEvent::TurnEnd),
        ("precompact", HookEvent::BeforeCompact),
    ];
    let plain = |name: &str| name.to_lowercase().replace(['-', '_', ' '], "");
    let found = plain(name);
    if let Some((_, event)) = ELSEWHERE.iter().find(|(elsewhere, _)| *elsewhere == found) {
        return Some(event.as_str());
    }
    let plain_names = names.iter().map(|name| plain(name)).collect::<Vec<_>>();
    let near = nearest(&found, &plain_names.iter().map(String::as_str).collect::<Vec<_>>())?;
    plain_names.iter().position(|name| name == near).and_then(|place| names.get(place).copied())
}

fn read_on_failure(event: HookEvent, own: &Section<'_>, findings: &mut Findings<'_>) -> OnFailure {
    let Some(field) = own.get("on_failure") else { return OnFailure::Continue };
    let words = [("continue", OnFailure::Continue), ("abort", OnFailure::Abort)];
    let on_failure = one_of(&field, &words, findings).unwrap_or_default();
    if on_failure == OnFailure::Abort && !event.rules().may_abort_on_failure {
        let may = HookEvent::ALL.iter().filter(|event| event.rules().may_abort_on_failure);
        let may = may.map(|event| format!("`{event}`")).collect::<Vec<_>>().join(", ");
        findings
            .error(field.at(), format!("a failing handler of {event} cannot abort"))
            .hint(format!("remove it; `on_failure: abort` is for {may}"));
    }
    on_failure
}

/// Keys that mean nothing without handlers.
fn without_hooks(top: &Section<'_>, findings: &mut Findings<'_>) {
    for key in ["execution", "instance"] {
        if let Some(field) = top.get(key) {
            findings
                .warning(field.at_key(), format!("`{key}` has no effect: the folder has no `hooks`"))
                .hint("add `hooks: { … }` with the events to handle, or remove it");
        }
    }
    if ["enabled", "config"].iter().all(|key| top.even_null(key).is_none()) {
        findings
            .warning(At::Start, "the folder has no `hooks`, no `config` and no `enabled`, so it says nothing")
            .hint("add `hooks: { BeforeToolUse: { command: ./hook.sh } }`");
    }
}

/// What is used, but perhaps not as it was meant.
fn remark(entry: &Entry<'_>, hooks: &[HookDefinition], instance: Instance, findings: &mut Findings<'_>) {
    let top = &entry.top;
    if let Some(field) = top.get("hooks").filter(|field| matches!(field.node, Node::Map(events) if events.is_empty())) {
        findings
            .warning(field.at_key(), "`hooks` is empty, so the plugin handles nothing")
            .hint("add an event, or remove `hooks` to only set `config` or `enabled` of a plugin defined elsewhere");
    }
    let scripts_only = hooks.iter().all(|hook| matches!(hook.execution.backend, Backend::Script(_)));
    let in_vain = instance == Instance::PerSession && scripts_only && !hooks.is_empty();
    if let Some(field) = top.get("instance").filter(|_| in_vain) {
        findings
            .warning(field.at_key(), "`instance` has no effect on a script: every event starts it anew")
            .hint("remove it; a script that must remember something writes it to a file");
    }
    if entry.body.is_empty() {
        findings
            .hint(At::Start, "the plugin has no description")
            .hint("say below the second `---` what it does: the model reads it among the active plugins");
    }
}
