//! `youyou inspect`: what a component imports and exports.

use std::path::{Path, PathBuf};

use serde::Serialize;
use youyou::{Backend, ComponentBackend, Error, ErrorCode, Grants, Inspection, SourceLabel};

use crate::{args::Inspect, exit::Exit, print};

pub(crate) fn run(args: Inspect) -> Result<Exit, Error> {
    let (path, granted) = if args.path.is_dir() { component_of(&args.path)? } else { (args.path, None) };
    let report = Report { component: youyou::inspect(&path)?, granted };
    if args.json {
        print::document(&report)?
    } else {
        print::line(&describe(&path, &report))
    }
    Ok(if report.component.problems.is_empty() { Exit::Ok } else { Exit::Reported })
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    component: Inspection,
    /// What the folder's index.md grants; nothing is known of it for a bare file.
    #[serde(skip_serializing_if = "Option::is_none")]
    granted: Option<Grants>,
}

/// The component file that a tool's folder names, and what the folder grants it.
fn component_of(dir: &Path) -> Result<(PathBuf, Option<Grants>), Error> {
    let loaded = youyou::load_tool(dir, SourceLabel::Project).into_result();
    let (definition, _) = loaded.map_err(|problems| youyou::definition_invalid(&problems))?;
    let ComponentBackend { path, permissions, .. } = match definition.execution.backend {
        Backend::Component(component) => component,
        Backend::Script(_) => {
            let message = format!("{} is a script; only components can be inspected", dir.display());
            return Err(Error::new(ErrorCode::InvalidInput, message));
        }
    };
    let granted = Grants::parse(&permissions.read, &permissions.write, &permissions.env, &permissions.net);
    // What is wrong with the permissions is `check`'s to say; such a tool is granted nothing.
    Ok((path, Some(granted.unwrap_or_default())))
}

fn describe(path: &Path, report: &Report) -> String {
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
        row("file", &path.display().to_string()),
        row("usable as", &or_nothing(&roles)),
        row("size", &format!("{} bytes", inspection.size_bytes)),
        row("memory at start", &format!("{} bytes", inspection.initial_memory_bytes)),
        row("sha256", &inspection.sha256),
        row("could use, if granted", &or_nothing(&asks)),
    ];
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
