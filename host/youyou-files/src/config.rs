//! `~/.youyou/config.yaml`, read into a [`Config`] (Y5.7-1, D-43).
//!
//! Only the home's is read: a project's could send the conversation to another model (D-41). Whether a model or a plugin
//! of a given name exists is not known here.

use std::{path::Path, time::Duration};

use serde_json::{Map, Value};
use youyou_api::{Error, ErrorCode, PluginId};

use crate::{
    document::{self, Kind},
    execution::MOST_TIMEOUT,
    fields::{Field, Keys, Section},
    findings::{At, Findings},
    front_matter::FrontMatter,
    problem::{Problem, Severity, refused},
    provider_config::{ProviderConfig, read_providers},
    regular_file,
    storage_config::{StorageConfig, read_storage},
    yaml::{Node, quoted},
};

/// The file's name below the home.
pub const CONFIG_FILE: &str = "config.yaml";

const DOCUMENT: Kind =
    Kind { name: CONFIG_FILE, too_long: "keep long texts out of it; a plugin can read files of its own" };

const KEYS: Keys = Keys {
    of: CONFIG_FILE,
    allowed: &[
        "default_model",
        "tool_timeout_ms",
        "compact_threshold",
        "compact_model",
        "compact_prompt",
        "max_tool_calls_per_turn",
        "memory_model",
        "memory_checkpoint_interval",
        "memory_max_items",
        "plugin_configs",
        "providers",
        "storage",
    ],
    astray: &[
        ("model", "did you mean `default_model`?"),
        ("timeout_ms", "did you mean `tool_timeout_ms`?"),
        ("timeout", "did you mean `tool_timeout_ms`?"),
        ("plugins", "did you mean `plugin_configs`?"),
        ("api_key", "a key belongs to a provider: see `providers`, `api_key_env` and `api_key_file`"),
        ("provider", "did you mean `providers`?"),
        ("sessions", "did you mean `storage: { sessions: … }`?"),
        ("memories", "did you mean `storage: { memories: … }`?"),
        ("version", "config.yaml has no version"),
        ("<<", "merge keys are not supported: write the keys out"),
    ],
};

/// What config.yaml says; what it does not say has the documented default.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The model of a session that names none (D-44).
    pub default_model: Option<String>,
    /// How long a tool call may take whose tool says nothing else (Y4.4-2). At least 1 ms, at most a day.
    pub tool_timeout: Duration,
    /// The share of the model's window from which on the context is compacted: above 0, at most 1.
    pub compact_threshold: f64,
    /// The model that writes summaries; without it the session's.
    pub compact_model: Option<String>,
    /// The prompt for summaries; without it the agent's own.
    pub compact_prompt: Option<String>,
    /// Tool calls in one turn; at least 1.
    pub max_tool_calls_per_turn: u32,
    /// The model that extracts memories; without it the session's.
    pub memory_model: Option<String>,
    /// Turns between two extractions; at least 1.
    pub memory_checkpoint_interval: u32,
    /// Memories in one system prompt; at least 1.
    pub memory_max_items: u32,
    /// A plugin's configuration by its id, in the order of the file. It replaces the plugin's own whole (Y3.5-2).
    pub plugin_configs: Map<String, Value>,
    /// The model APIs that the host may use (Y3.2).
    pub providers: Vec<ProviderConfig>,
    /// Where sessions and memories are kept (Y3.7, Y3.8).
    pub storage: StorageConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            default_model: None,
            tool_timeout: Duration::from_millis(120_000),
            compact_threshold: 0.8,
            compact_model: None,
            compact_prompt: None,
            max_tool_calls_per_turn: 50,
            memory_model: None,
            memory_checkpoint_interval: 10,
            memory_max_items: 20,
            plugin_configs: Map::new(),
            providers: Vec::new(),
            storage: StorageConfig::default(),
        }
    }
}

/// Reads `config.yaml` of a home, with what is to say about it. Without a file everything has its default.
///
/// Keys that are not known are warned of and have no effect.
///
/// # Errors
/// `CONFIG_PARSE_ERROR` when the file cannot be read, is no YAML, or holds a value that is not of its type or out of its
/// range. The message names the first such place as `path:line:column`, `details.problems` all of them.
pub fn load_config(home: &Path) -> Result<(Config, Vec<Problem>), Error> {
    match read_config(home) {
        (Some(config), problems) => Ok((config, problems)),
        (None, problems) => Err(refused(ErrorCode::ConfigParseError, &problems)),
    }
}

/// Everything there is to say about `config.yaml` of a home; an error among it means that no agent can be built.
pub fn check_config(home: &Path) -> Vec<Problem> {
    read_config(home).1
}

/// The configuration, unless a problem is an error.
fn read_config(home: &Path) -> (Option<Config>, Vec<Problem>) {
    let path = home.join(CONFIG_FILE);
    let text = match read_text(&path) {
        Ok(Some(text)) => text,
        Ok(None) => return (Some(Config::default()), Vec::new()),
        Err(problem) => return (None, vec![*problem]),
    };
    let whole = FrontMatter::whole(&text);
    let mut findings = Findings::new(&path, None, whole);
    let config = read(whole.yaml, &mut findings);
    let problems = findings.into_problems();
    (config.filter(|_| !problems.iter().any(Problem::is_error)), problems)
}

/// The file's text; none where there is no file.
fn read_text(path: &Path) -> Result<Option<String>, Box<Problem>> {
    /// Enough that a document which is too long is told of as such.
    const MOST_BYTES: u64 = 1024 * 1024;
    match regular_file::read(path, MOST_BYTES) {
        Ok(bytes) => regular_file::text(path, bytes).map(Some),
        Err(unread) if unread.is_missing(path) => Ok(None),
        Err(unread) => Err(unread.problem(path).into()),
    }
}

fn read(yaml: &str, findings: &mut Findings<'_>) -> Option<Config> {
    let composed = document::read(yaml, &DOCUMENT, findings)?;
    document::note_remarks(&composed.remarks, yaml, findings);
    match &composed.root {
        Node::Map(_) => {}
        // Nothing but comments, as in a file whose every line has been commented out.
        Node::Null => return Some(Config::default()),
        other => {
            let found = other.described();
            findings
                .error(At::Offset(Some(0)), format!("{CONFIG_FILE} must be `key: value` lines, found {found}"))
                .hint("write for example `default_model: …`");
            return None;
        }
    }
    let whole = Field::top(&composed.root);
    let top = whole.section_where(&KEYS, Severity::Warning, findings)?;
    Some(read_keys(&top, findings))
}

/// A value that does not fit is noted and left at its default, so that one reading finds everything.
fn read_keys(top: &Section<'_>, findings: &mut Findings<'_>) -> Config {
    let defaults = Config::default();
    let most_timeout = u64::try_from(MOST_TIMEOUT.as_millis()).unwrap_or(u64::MAX);
    let mut name = |key| top.get(key).and_then(|field| field.os_text(findings)).map(|text| text.trim().to_owned());
    let (default_model, compact_model, memory_model) =
        (name("default_model"), name("compact_model"), name("memory_model"));
    let compact_prompt = top.get("compact_prompt").and_then(|field| field.os_text(findings)).map(str::to_owned);
    let tool_timeout =
        top.get("tool_timeout_ms").and_then(|field| field.whole(1..=most_timeout, "milliseconds", findings));
    let compact_threshold = top.get("compact_threshold").and_then(|field| read_share(&field, findings));
    let mut count = |key, unit| {
        let field = top.get(key)?;
        u32::try_from(field.whole(1..=u64::from(u32::MAX), unit, findings)?).ok()
    };
    let max_tool_calls_per_turn = count("max_tool_calls_per_turn", "calls");
    let memory_checkpoint_interval = count("memory_checkpoint_interval", "turns");
    let memory_max_items = count("memory_max_items", "memories");
    let plugin_configs = top.get("plugin_configs").and_then(|field| read_plugin_configs(&field, findings));
    let providers = top.get("providers").map(|field| read_providers(&field, findings)).unwrap_or_default();
    let storage = top.get("storage").map(|field| read_storage(&field, findings)).unwrap_or_default();
    Config {
        default_model,
        tool_timeout: tool_timeout.map_or(defaults.tool_timeout, Duration::from_millis),
        compact_threshold: compact_threshold.unwrap_or(defaults.compact_threshold),
        compact_model,
        compact_prompt,
        max_tool_calls_per_turn: max_tool_calls_per_turn.unwrap_or(defaults.max_tool_calls_per_turn),
        memory_model,
        memory_checkpoint_interval: memory_checkpoint_interval.unwrap_or(defaults.memory_checkpoint_interval),
        memory_max_items: memory_max_items.unwrap_or(defaults.memory_max_items),
        plugin_configs: plugin_configs.unwrap_or_default(),
        providers,
        storage,
    }
}

/// A share of a whole: above 0, at most 1.
fn read_share(field: &Field<'_>, findings: &mut Findings<'_>) -> Option<f64> {
    let share = match field.node {
        Node::Number(number) => number.as_f64().filter(|share| *share > 0.0 && *share <= 1.0),
        _ => None,
    };
    if share.is_none() {
        let found = field.node.described();
        findings
            .error(field.at(), format!("{} must be a number above 0 and at most 1, found {found}", field.name()))
            .hint("write 0.8 for 80 %");
    }
    share
}

/// Any mapping of ids to any values: what is below an id is the plugin's own matter.
fn read_plugin_configs(field: &Field<'_>, findings: &mut Findings<'_>) -> Option<Map<String, Value>> {
    let Some(plugins) = field.unchecked_section() else {
        let found = field.node.described();
        findings
            .error(field.at(), format!("{} must be a mapping, found {found}", field.name()))
            .hint("write a plugin's id and a colon, and its configuration indented below");
        return None;
    };
    let mut configs = Map::new();
    for (id, config) in plugins.fields() {
        if PluginId::new(id).is_err() {
            findings
                .warning(config.at_key(), format!("no plugin can have the id {}", quoted(id)))
                .hint("use 1 to 64 of A-Z a-z 0-9 _ - .");
        }
        if matches!(config.node, Node::Null) {
            findings
                .warning(
                    config.at_key(),
                    format!("{} is empty, so the plugin's own configuration holds", config.name()),
                )
                .hint("write `{}` for a configuration without keys, or remove the line");
            continue;
        }
        match config.node.to_json() {
            Some(value) => _ = configs.insert(id.to_owned(), value),
            None => {
                findings.error(config.at_key(), format!("{} holds a number that JSON cannot hold", config.name()));
            }
        }
    }
    Some(configs)
}
