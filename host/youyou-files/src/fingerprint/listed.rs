//! What a project brings, one line for each thing, for a person to judge before anything of it is run (D-40).

use std::{
    fmt::Write,
    path::{Component, Path, PathBuf},
};

use serde_json::Value;
use youyou_api::{HookEvent, SourceLabel};

use crate::{
    entry::Folder,
    execution::{Backend, ComponentBackend, ScriptBackend},
    plugin::{self, PluginDefinition},
    scan::list_folders,
    tool,
};

/// One tool, for a person to judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// What a call runs, as it is written.
    pub backend: Backend,
    /// Its `index.md`.
    pub index: PathBuf,
    /// The folder of the user's own tool that it takes the place of.
    pub replaces: Option<PathBuf>,
}

impl Listed {
    /// What a call runs, on one line: `script ./run.py --fast`, or `component count.wasm, write ["."]`.
    ///
    /// Words with blanks or signs in them are quoted, and what a terminal would not show as it is, is escaped, so that
    /// nothing can hide in it.
    pub fn runs(&self) -> String {
        runs(&self.backend, parent(&self.index))
    }

    pub(super) fn names(&self, workspace: &Path) -> Vec<PathBuf> {
        named_outside(&self.backend, parent(&self.index), workspace)
    }
}

/// One plugin's folder, for a person to judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPlugin {
    /// The folder's name; what a terminal would not show as it is, is escaped.
    pub name: String,
    /// Its `index.md`.
    pub index: PathBuf,
    /// What its handlers run, as it is written, each with the events.
    pub handlers: Vec<(Vec<HookEvent>, Backend)>,
    /// The folder of the user's own plugin of this id, on which the rest has its effect.
    pub of_user: Option<PathBuf>,
    /// What it says beside that: whether the plugin is enabled, how it is configured, what it takes the place of.
    sets: Vec<String>,
}

impl ListedPlugin {
    /// `own` is where the user's plugins are.
    fn new(folder: &Folder, own: &Path) -> Self {
        let plugin = plugin::load(folder, SourceLabel::Project).into_parts().0;
        let of_user = Folder { dir: own.join(&folder.name), name: folder.name.clone() };
        let of_user = plugin::load(&of_user, SourceLabel::Global).into_parts().0.filter(|own| own.hooks.is_some());
        let mut handlers: Vec<(Vec<HookEvent>, Backend)> = Vec::new();
        let sets = match &plugin {
            Some(plugin) => sets(plugin, of_user.as_ref()),
            None => vec!["cannot be used as it is".to_owned()],
        };
        for hook in plugin.and_then(|plugin| plugin.hooks).into_iter().flatten() {
            match handlers.iter_mut().find(|(_, backend)| *backend == hook.execution.backend) {
                Some((events, _)) => events.push(hook.event),
                None => handlers.push((vec![hook.event], hook.execution.backend)),
            }
        }
        let index = folder.dir.join("index.md");
        let name = folder.name.escape_debug().to_string();
        Self { name, index, handlers, of_user: of_user.map(|own| own.dir), sets }
    }

    /// What its handlers run and what else it says, one thing a line, at least one:
    /// `BeforeToolUse, AfterToolUse: script ./guard.py`. Escaped like [`Listed::runs`].
    pub fn lines(&self) -> Vec<String> {
        let dir = parent(&self.index);
        let handlers = self.handlers.iter().map(|(events, backend)| {
            let events = events.iter().map(|event| event.as_str()).collect::<Vec<_>>().join(", ");
            format!("{events}: {}", runs(backend, dir))
        });
        handlers.chain(self.sets.iter().cloned()).collect()
    }

    pub(super) fn names(&self, workspace: &Path) -> Vec<PathBuf> {
        self.handlers.iter().flat_map(|(_, backend)| named_outside(backend, parent(&self.index), workspace)).collect()
    }
}

/// What a folder says beside its handlers. Where it has none, or the user has a plugin of this id, that is about another
/// one: a project may switch off what guards its user, or put something harmless in its place.
fn sets(plugin: &PluginDefinition, of_user: Option<&PluginDefinition>) -> Vec<String> {
    let own = of_user.map(|own| format!("your own in {}", own.dir.display()));
    let mut sets = Vec::new();
    match (plugin.enabled, &own) {
        (Some(false), Some(own)) => sets.push(format!("switches off {own}")),
        (Some(false), None) => sets.push("switched off".to_owned()),
        (Some(true), Some(own)) if of_user.is_some_and(|own| own.enabled == Some(false)) => {
            sets.push(format!("switches on {own}"));
        }
        (Some(true), _) => sets.push("enabled".to_owned()),
        (None, _) => {}
    }
    match (&plugin.hooks, &plugin.config) {
        (None, Some(config)) => {
            let what = own.map_or("configured".to_owned(), |own| format!("configures {own}"));
            sets.push(format!("{what} anew: {}", brief(config)));
        }
        (Some(_), _) if plugin.enabled != Some(false) => {
            sets.extend(own.map(|own| format!("takes the place of {own}")))
        }
        _ => {}
    }
    if plugin.hooks.as_ref().map_or(sets.is_empty(), Vec::is_empty) {
        sets.push("handles nothing".to_owned());
    }
    sets
}

/// A value as JSON on one line, cut where nobody would read on, and escaped like [`shown`].
fn brief(value: &Value) -> String {
    const MOST: usize = 200;
    let json = value.to_string();
    let end = json.floor_char_boundary(MOST);
    let hides = |c: char| !matches!(c, '"' | '\'' | '\\') && c.escape_debug().count() > 1;
    let mut line = String::with_capacity(end);
    for c in json[..end].chars() {
        if hides(c) { line.extend(c.escape_debug()) } else { line.push(c) }
    }
    if end < json.len() {
        line.push('…');
    }
    line
}

fn parent(index: &Path) -> &Path {
    index.parent().unwrap_or(index)
}

fn runs(backend: &Backend, dir: &Path) -> String {
    match backend {
        Backend::Script(ScriptBackend { command, args }) => {
            let words = std::iter::once(command).chain(args);
            words.fold("script".to_owned(), |line, word| line + " " + &shown(word))
        }
        Backend::Component(ComponentBackend { path, permissions, .. }) => {
            let file = path.strip_prefix(dir).unwrap_or(path);
            let mut line = format!("component {}", shown(&file.to_string_lossy()));
            let grants = [
                ("read", &permissions.read),
                ("write", &permissions.write),
                ("env", &permissions.env),
                ("net", &permissions.net),
            ];
            for (key, granted) in grants.into_iter().filter(|(_, granted)| !granted.is_empty()) {
                _ = write!(line, ", {key} {granted:?}");
            }
            line
        }
    }
}

/// The files outside of its folder that a definition names by a path, as far as that can be told (D-54, D-55). An argument
/// that is no path of the folder may be one of the working directory, as `sh scripts/check.sh` has it.
fn named_outside(backend: &Backend, dir: &Path, workspace: &Path) -> Vec<PathBuf> {
    let relative = |word: &str| ["./", "../", ".\\", "..\\"].iter().any(|start| word.starts_with(start));
    let leaves = |path: &PathBuf| {
        let ups = path.strip_prefix(dir).map(|inside| inside.components().any(|step| step == Component::ParentDir));
        ups.unwrap_or(true)
    };
    let mut paths = match backend {
        Backend::Script(ScriptBackend { command, args }) => {
            let command = Some(command).filter(|command| command.contains(['/', '\\']));
            let of_folder =
                command.into_iter().chain(args.iter().filter(|arg| relative(arg))).map(|word| dir.join(word));
            let of_workspace = args.iter().filter(|arg| !relative(arg)).map(|word| workspace.join(word));
            of_folder.chain(of_workspace.filter(|path| path.is_file())).collect()
        }
        Backend::Component(ComponentBackend { path, .. }) => vec![path.clone()],
    };
    paths.retain(leaves);
    paths
}

/// A word as it is where that is plain, else quoted and escaped.
fn shown(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("{word:?}") }
}

/// The usable tools of a project, by name; `own` is where the user's are.
pub(super) fn tools(dir: &Path, own: &Path) -> Vec<Listed> {
    let mut folders = Vec::new();
    list_folders(dir, SourceLabel::Project, &mut folders, &mut Vec::new());
    let mut tools = folders
        .iter()
        .filter_map(|(folder, source)| tool::load(folder, *source).into_parts().0)
        .map(|tool| {
            let name = String::from(tool.spec.name);
            let of_user = Folder { dir: own.join(&name), name: name.clone() };
            let replaces = tool::load(&of_user, SourceLabel::Global).into_parts().0.map(|own| own.dir);
            Listed { name, backend: tool.execution.backend, index: tool.index, replaces }
        })
        .collect::<Vec<_>>();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    tools
}

/// The plugin folders of a project, by name; `own` is where the user's are.
pub(super) fn plugins(dir: &Path, own: &Path) -> Vec<ListedPlugin> {
    let mut folders = Vec::new();
    list_folders(dir, SourceLabel::Project, &mut folders, &mut Vec::new());
    folders.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    folders.iter().map(|(folder, _)| ListedPlugin::new(folder, own)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{brief, shown};

    #[test]
    fn a_configuration_is_one_short_line_in_which_nothing_hides() {
        assert_eq!(brief(&json!({ "a b": "it's \"so\"" })), r#"{"a b":"it's \"so\""}"#);
        assert_eq!(brief(&json!("\u{1b}[2K\n\u{202e}\u{9b}")), r#""\u001b[2K\n\u{202e}\u{9b}""#);
        let long = brief(&json!("ä".repeat(1000)));
        assert!(long.ends_with("ää…") && long.len() < 250, "{long}");
    }

    #[test]
    fn only_a_plain_word_is_shown_as_it_is() {
        assert_eq!(shown("--fast=1"), "--fast=1");
        for (word, expected) in [
            ("", r#""""#),
            ("a b", r#""a b""#),
            ("x;rm -r /", r#""x;rm -r /""#),
            ("\u{1b}[2K", r#""\u{1b}[2K""#),
            ("a\nb", r#""a\nb""#),
            ("\u{202e}gpj", r#""\u{202e}gpj""#),
        ] {
            assert_eq!(shown(word), expected);
        }
    }
}
