//! `youyou inspect`: what a component imports and exports.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;
use youyou::{
    Backend, ComponentBackend, Error, ErrorCode, FolderKind, Grants, HookEvent, Inspection, Permissions, SourceLabel,
};

use crate::{args::Inspect, exit::Exit, print};

pub(crate) fn run(args: Inspect) -> Result<Exit, Error> {
    if args.path.is_dir() && youyou::folder_kind(&args.path) == FolderKind::Plugin {
        return plugin(&args);
    }
    let report = if args.path.is_dir() { tool_in(&args.path)? } else { Report::of(args.path, None, None)? };
    if args.json {
        print::document(&report)?
    } else {
        print::line(&describe(&report))?
    }
    Ok(report.exit())
}

/// Every component that a plugin's events run.
fn plugin(args: &Inspect) -> Result<Exit, Error> {
    let loaded = youyou::load_plugin(&args.path, SourceLabel::Project).into_result();
    let (plugin, _) = loaded.map_err(|problems| youyou::definition_invalid(&problems))?;
    let mut components: Vec<(ComponentBackend, Vec<HookEvent>)> = Vec::new();
    for hook in plugin.hooks.into_iter().flatten() {
        let Backend::Component(component) = hook.execution.backend else { continue };
        match components.iter_mut().find(|(known, _)| *known == component) {
            Some((_, events)) => events.push(hook.event),
            None => components.push((component, vec![hook.event])),
        }
    }
    if components.is_empty() {
        return Err(only_components(&args.path, "a plugin without components"));
    }
    let report = |(component, events): (ComponentBackend, _)| {
        let granted = grants(&component.permissions);
        Report::of(component.path, Some(granted), Some(events))
    };
    let reports = components.into_iter().map(report).collect::<Result<Vec<_>, _>>()?;
    if args.json {
        print::document(&json!({ "plugin": plugin.info.id, "components": reports }))?;
    } else {
        print::line(&reports.iter().map(describe).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(if reports.iter().all(|report| report.exit() == Exit::Ok) { Exit::Ok } else { Exit::Reported })
}

/// What `--json` prints of one component.
#[derive(Serialize)]
struct Report {
    #[serde(skip)]
    path: PathBuf,
    #[serde(flatten)]
    component: Inspection,
    /// What the folder's index.md grants; nothing is known of it for a bare file.
    #[serde(skip_serializing_if = "Option::is_none")]
    granted: Option<Grants>,
    /// The events that a plugin's index.md gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    declared: Option<Vec<HookEvent>>,
}

impl Report {
    fn of(path: PathBuf, granted: Option<Grants>, declared: Option<Vec<HookEvent>>) -> Result<Self, Error> {
        let component = youyou::inspect(&path)?;
        Ok(Self { path, component, granted, declared })
    }

    /// Declared events that it has no handler of.
    fn missing(&self) -> impl Iterator<Item = &HookEvent> {
        self.declared.iter().flatten().filter(|event| !self.component.taps.contains(event))
    }

    fn exit(&self) -> Exit {
        if self.component.problems.is_empty() && self.missing().next().is_none() { Exit::Ok } else { Exit::Reported }
    }
}

/// The component that a tool's folder names, and what the folder grants it.
fn tool_in(dir: &Path) -> Result<Report, Error> {
    let loaded = youyou::load_tool(dir, SourceLabel::Project).into_result();
    let (definition, _) = loaded.map_err(|problems| youyou::definition_invalid(&problems))?;
    match definition.execution.backend {
        Backend::Component(component) => Report::of(component.path, Some(grants(&component.permissions)), None),
        Backend::Script(_) => Err(only_components(dir, "a script")),
    }
}

fn only_components(dir: &Path, what: &str) -> Error {
    let message = format!("{} is {what}; only components can be inspected", dir.display());
    Error::new(ErrorCode::InvalidInput, message)
}

/// What is wrong with the permissions is `check`'s to say; who has such is granted nothing.
fn grants(asked: &Permissions) -> Grants {
    Grants::parse(&asked.read, &asked.write, &asked.env, &asked.net).unwrap_or_default()
}

fn describe(report: &Report) -> String {
    let inspection = &report.component;
    let roles = inspection.taps.iter().map(|event| format!("a handler of {event}"));
    let roles: Vec<_> = inspection.tool.then(|| "a tool".to_owned()).into_iter().chain(roles).collect();
    let asks = [
        (inspection.asks.files, "files (read, write)"),
        (inspection.asks.environment, "environment variables (env)"),
        (inspection.asks.network, "the network (net)"),
    ];
    let asks: Vec<_> = asks.iter().filter(|(asked, _)| *asked).map(|(_, what)| (*what).to_owned()).collect();
    let mut rows = vec![
        row("file", &report.path.display().to_string()),
        row("usable as", &or_nothing(&roles)),
        row("size", &format!("{} bytes", inspection.size_bytes)),
        row("memory at start", &format!("{} bytes", inspection.initial_memory_bytes)),
        row("sha256", &inspection.sha256),
        row("could use, if granted", &or_nothing(&asks)),
    ];
    if let Some(declared) = &report.declared {
        let events: Vec<_> = declared.iter().map(|event| event.as_str().to_owned()).collect();
        rows.extend(listed("index.md gives it", &events));
    }
    if let Some(granted) = &report.granted {
        let mut lines = granted.describe();
        if lines.is_empty() {
            lines.push("nothing".to_owned());
        }
        rows.extend(listed("granted", &lines));
    }
    rows.extend(listed("exports", &inspection.exports));
    rows.extend(listed("imports", &inspection.imports));
    rows.extend(inspection.problems.iter().map(|problem| row("problem", &problem.message)));
    rows.extend(report.missing().map(|event| row("problem", &format!("it exports no handler of {event}"))));
    print::table(&rows)
}

fn row(name: &str, value: &str) -> Vec<String> {
    vec![name.to_owned(), value.to_owned()]
}

fn or_nothing(items: &[String]) -> String {
    if items.is_empty() { "nothing".to_owned() } else { items.join(", ") }
}

/// One row for each item, the name only before the first.
fn listed(name: &str, items: &[String]) -> Vec<Vec<String>> {
    let name = |index| if index == 0 { name } else { "" };
    items.iter().enumerate().map(|(index, item)| row(name(index), item)).collect()
}
