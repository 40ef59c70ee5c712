//! How a tool or a hook is run, as its front matter says it: a script or a component, and within which limits (Y5.3-1,
//! Y5.5-1, §8).
//!
//! Paths stay as they are written; who starts the script resolves them (Y5.6-5, D-54 … D-56). Grants stay texts too: the
//! component host knows their grammar. Whether the files exist is not looked at here.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    fields::{Field, Keys, Section},
    findings::Findings,
};

/// The longest time that one call may be given: a day.
pub const MOST_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);
/// The most memory that a component may be given, in MiB: all that 32-bit addresses reach.
pub const MOST_MEMORY_MB: u64 = 4096;

const KEYS: Keys = Keys {
    of: "`execution`",
    allowed: &["command", "args", "component", "timeout_ms", "working_directory", "memory_mb", "permissions"],
    astray: &[
        ("read", "it belongs under `permissions:`"),
        ("write", "it belongs under `permissions:`"),
        ("net", "it belongs under `permissions:`"),
        ("env", "a component is granted variables by `permissions: { env: [NAME] }`; a script inherits all of them"),
        ("cwd", "did you mean `working_directory`?"),
        ("cmd", "did you mean `command`?"),
        ("instance", "only plugins have `instance`; every call of a tool has an instance of its own"),
    ],
};

/// A plugin's own `execution`: what holds for all of its hooks.
const DEFAULT_KEYS: Keys = Keys {
    of: "`execution`",
    allowed: KEYS.allowed,
    astray: &[
        KEYS.astray[0],
        KEYS.astray[1],
        KEYS.astray[2],
        KEYS.astray[3],
        KEYS.astray[4],
        KEYS.astray[5],
        ("instance", "it belongs at the top, beside `execution:`"),
        ("on_failure", "it belongs below an event in `hooks:`"),
    ],
};

/// One event below a plugin's `hooks`.
const HOOK_KEYS: Keys = Keys {
    of: "a hook",
    allowed: &[
        "command",
        "args",
        "component",
        "timeout_ms",
        "working_directory",
        "memory_mb",
        "permissions",
        "on_failure",
    ],
    astray: &[
        KEYS.astray[0],
        KEYS.astray[1],
        KEYS.astray[2],
        KEYS.astray[3],
        KEYS.astray[4],
        KEYS.astray[5],
        ("timeout", "did you mean `timeout_ms`?"),
        ("instance", "it belongs at the top of the front matter"),
        ("execution", "write its keys right below the event"),
        ("config", "it belongs at the top of the front matter; all events share it"),
        ("matcher", "a handler is asked about every tool; it decides by the payload's `tool_name`"),
    ],
};

/// Keys that only a component has.
const OF_COMPONENTS: [&str; 2] = ["permissions", "memory_mb"];

const PERMISSION_KEYS: Keys = Keys {
    of: "`permissions`",
    allowed: &["read", "write", "env", "net"],
    astray: &[("network", "did you mean `net`?")],
};

/// An `execution` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// What is run.
    pub backend: Backend,
    /// How long one call may take; without it the agent's own figure holds (Y4.4-2). At most [`MOST_TIMEOUT`].
    pub timeout: Option<Duration>,
    /// As written; relative to the session's directory, which is also the default (D-56).
    pub working_directory: Option<String>,
}

/// What is run: one of two, never both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backend {
    /// A subprocess.
    Script(ScriptBackend),
    /// A WebAssembly component.
    Component(ComponentBackend),
}

impl Backend {
    /// The name for listings: `script` or `component`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Script(_) => "script",
            Self::Component(_) => "component",
        }
    }
}

/// A program with fixed arguments, both as written (Y5.6-1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptBackend {
    /// The program; D-54 says how it is found.
    pub command: String,
    /// Its arguments; those that begin with `./` or `../` are relative to the folder (D-55).
    pub args: Vec<String>,
}

/// A component file with what it may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentBackend {
    /// The file, joined with the folder; absolute.
    pub path: PathBuf,
    /// The most memory of one instance, in bytes; without it the host's own figure holds.
    pub memory_bytes: Option<u64>,
    /// What it may reach. Nothing is granted unless it is listed.
    pub permissions: Permissions,
}

/// Grants as they are written, none of them empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Directories that may be read.
    pub read: Vec<String>,
    /// Directories that may be read and written.
    pub write: Vec<String>,
    /// Environment variables that are passed on.
    pub env: Vec<String>,
    /// Hosts that may be reached.
    pub net: Vec<String>,
}

/// The keys of one block, each with a default from another one.
struct Lookup<'p> {
    own: Section<'p>,
    defaults: Option<Section<'p>>,
}

impl<'p> Lookup<'p> {
    /// The block's own value, else the default. A block that names its own program or component takes over nothing that
    /// belongs to the other kind.
    fn get(&self, key: &str) -> Option<Field<'p>> {
        self.own.get(key).or_else(|| {
            let own = |key| self.own.get(key).is_some();
            let foreign = match key {
                "command" | "args" => own("component"),
                "component" | "permissions" | "memory_mb" => own("command"),
                _ => false,
            };
            self.defaults.filter(|_| !foreign)?.get(key)
        })
    }
}

/// Reads an `execution` block of a definition in `dir`.
pub(crate) fn read(field: &Field<'_>, dir: &Path, findings: &mut Findings<'_>) -> Option<Execution> {
    let own = field.section(&KEYS, findings)?;
    resolve(&Lookup { own, defaults: None }, field, dir, findings)
}

/// The keys that hold for all hooks of a plugin, each checked for itself: a hook may override any of them.
pub(crate) fn read_defaults<'p>(field: &'p Field<'_>, findings: &mut Findings<'_>) -> Option<Section<'p>> {
    let section = field.section(&DEFAULT_KEYS, findings)?;
    read_limits(&Lookup { own: section, defaults: None }, findings);
    for key in ["command", "component"] {
        section.get(key).and_then(|field| field.os_text(findings));
    }
    section.get("args").and_then(|field| read_args(&field, findings));
    section.get("memory_mb").and_then(|field| read_memory(&field, findings));
    section.get("permissions").and_then(|field| read_permissions(&field, findings));
    Some(section)
}

/// Reads what stands below one event, over the plugin's defaults; gives its own keys too.
pub(crate) fn read_hook<'p>(
    field: &'p Field<'_>,
    defaults: Option<Section<'p>>,
    dir: &Path,
    findings: &mut Findings<'_>,
) -> Option<(Execution, Section<'p>)> {
    let own = match field.empty_section() {
        Some(nothing) => nothing,
        None => field.section(&HOOK_KEYS, findings)?,
    };
    Some((resolve(&Lookup { own, defaults }, field, dir, findings)?, own))
}

fn read_limits(section: &Lookup<'_>, findings: &mut Findings<'_>) -> (Option<Duration>, Option<String>) {
    let timeout = section.get("timeout_ms").and_then(|field| {
        let most = u64::try_from(MOST_TIMEOUT.as_millis()).unwrap_or(u64::MAX);
        field.whole(1..=most, "milliseconds", findings).map(Duration::from_millis)
    });
    let working_directory =
        section.get("working_directory").and_then(|field| field.os_text(findings)).map(str::to_owned);
    (timeout, working_directory)
}

fn resolve(section: &Lookup<'_>, field: &Field<'_>, dir: &Path, findings: &mut Findings<'_>) -> Option<Execution> {
    let (timeout, working_directory) = read_limits(section, findings);
    let backend = match (section.get("command"), section.get("component")) {
        (Some(command), None) => Backend::Script(read_script(section, &command, dir, findings)?),
        (None, Some(component)) => Backend::Component(read_component(section, &component, dir, findings)?),
        (Some(_), Some(component)) => {
            findings
                .error(component.at_key(), "`command` and `component` are both given")
                .hint("keep `command` for a script, or `component` for a WebAssembly component");
            return None;
        }
        (None, None) => {
            findings
                .error(field.at_key(), format!("{} has neither `command` nor `component`", field.name()))
                .hint("add `command: ./script` for a script, or `component: file.wasm` for a WebAssembly component");
            return None;
        }
    };
    Some(Execution { backend, timeout, working_directory })
}

fn read_script(
    section: &Lookup<'_>,
    command: &Field<'_>,
    dir: &Path,
    findings: &mut Findings<'_>,
) -> Option<ScriptBackend> {
    for key in OF_COMPONENTS {
        if let Some(field) = section.get(key) {
            findings
                .warning(field.at_key(), format!("`{key}` has no effect on a script"))
                .hint("a script runs with all of the user's rights; only a component can be limited");
        }
    }
    let args = match section.get("args") {
        Some(args) => read_args(&args, findings)?,
        None => Vec::new(),
    };
    let text = command.os_text(findings)?;
    if text.contains(char::is_whitespace) && !dir.join(text).exists() {
        findings
            .warning(command.at(), format!("{} holds blanks, but no shell parts it into words", command.name()))
            .hint("name the program alone and put each argument into `args`");
    }
    Some(ScriptBackend { command: text.to_owned(), args })
}

fn read_component(
    section: &Lookup<'_>,
    component: &Field<'_>,
    dir: &Path,
    findings: &mut Findings<'_>,
) -> Option<ComponentBackend> {
    if let Some(args) = section.get("args") {
        findings.error(args.at_key(), "`args` is for a script; a component takes no command line").hint("remove it");
    }
    let memory_bytes = section.get("memory_mb").and_then(|field| read_memory(&field, findings));
    let permissions = match section.get("permissions") {
        Some(field) => read_permissions(&field, findings).unwrap_or_default(),
        None => Permissions::default(),
    };
    let path = dir.join(component.os_text(findings)?);
    Some(ComponentBackend { path, memory_bytes, permissions })
}

fn read_args(field: &Field<'_>, findings: &mut Findings<'_>) -> Option<Vec<String>> {
    Some(field.items(findings)?.filter_map(|item| item.argument(findings)).map(str::to_owned).collect())
}

fn read_memory(field: &Field<'_>, findings: &mut Findings<'_>) -> Option<u64> {
    Some(field.whole(1..=MOST_MEMORY_MB, "MiB", findings)? * 1024 * 1024)
}

fn read_permissions(field: &Field<'_>, findings: &mut Findings<'_>) -> Option<Permissions> {
    let section = field.section(&PERMISSION_KEYS, findings)?;
    let mut texts = |key| section.get(key).and_then(|field| field.os_texts(findings)).unwrap_or_default();
    Some(Permissions { read: texts("read"), write: texts("write"), env: texts("env"), net: texts("net") })
}
