//! `youyou list`: what is registered, and where it comes from.

use serde_json::{Map, json};
use youyou::{Error, HookEvent, PluginListing, Severity, SkillListing, SourceLabel, ToolListing};

use super::Places;
use crate::{
    args::{Kind, List},
    exit::Exit,
    print,
};

pub(crate) fn run(args: List, places: &Places) -> Result<Exit, Error> {
    let mut document = Map::new();
    let mut problems = Vec::new();
    for kind in &args.kinds {
        match kind {
            Kind::Tools => {
                let runtime = places.builder().open()?;
                problems.extend_from_slice(runtime.problems());
                document.insert("tools".to_owned(), json!(runtime.tools()));
                if !args.json {
                    show(places, "tools", tools(runtime.tools()))?;
                }
            }
            Kind::Skills => {
                let (skills, found) = youyou::list_skills(&places.home, &places.workspace);
                problems.extend(found);
                document.insert("skills".to_owned(), json!(skills));
                if !args.json {
                    show(places, "skills", self::skills(&skills))?;
                }
            }
            Kind::Plugins => {
                let (plugins, found) = youyou::list_plugins(&places.home, &places.workspace)?;
                problems.extend(found);
                document.insert("plugins".to_owned(), json!(plugins));
                if !args.json {
                    show(places, "plugins", self::plugins(&plugins))?;
                }
            }
        }
    }
    if args.json {
        document.insert("problems".to_owned(), json!(problems));
        print::document(&document)?;
    } else {
        print::problems(problems.iter().filter(|problem| problem.severity != Severity::Hint));
    }
    Ok(Exit::Ok)
}

/// Prints a table, or that there is nothing to put in it. Its first row is the heading.
fn show(places: &Places, what: &str, rows: Vec<Vec<String>>) -> Result<(), Error> {
    if rows.len() > 1 {
        return print::line(&print::table(&rows));
    }
    let new = match what {
        "tools" => "; `youyou new tool NAME` makes one",
        "plugins" => "; `youyou new plugin NAME` makes one",
        _ => "",
    };
    print::note(&format!(
        "no {what} in {} or {}{new}",
        places.home.join(what).display(),
        places.workspace.join(".youyou").join(what).display()
    ));
    Ok(())
}

fn skills(skills: &[SkillListing]) -> Vec<Vec<String>> {
    let mut rows = vec![["NAME", "SOURCE", "DESCRIPTION"].map(str::to_owned).to_vec()];
    for listed in skills {
        let name = format!("/{}", listed.skill.name);
        rows.push(vec![name, from(listed.source, listed.shadowed_by), shorten(&listed.skill.description)]);
    }
    rows
}

/// Those that take part come first, in the order in which they are asked.
fn plugins(plugins: &[PluginListing]) -> Vec<Vec<String>> {
    let mut rows = vec![["ORDER", "ID", "SOURCE", "HANDLES", "CONFIG", "DESCRIPTION"].map(str::to_owned).to_vec()];
    let mut order = 0;
    for PluginListing { status, overlays, .. } in plugins {
        let taken = status.enabled && !status.taps.is_empty();
        order += usize::from(taken);
        let place = match (taken, status.enabled) {
            (true, _) => order.to_string(),
            (false, true) => "-".to_owned(),
            (false, false) => "off".to_owned(),
        };
        let mut source = status.source.to_string();
        if !status.shadows.is_empty() {
            let shadows = status.shadows.iter().map(|level| level.to_string()).collect::<Vec<_>>();
            source.push_str(&format!(" (in place of {})", shadows.join(", ")));
        }
        if status.taps.is_empty() && !overlays.is_empty() {
            source.push_str(" (overlay of nothing)");
        } else if !overlays.is_empty() {
            source.push_str(" (overlaid)");
        }
        let config = if status.config.is_null() { "none" } else { status.config_from };
        let description = shorten(&status.info.description);
        let id = status.info.id.to_string();
        rows.push(vec![place, id, source, handles(&status.taps), config.to_owned(), description]);
    }
    rows
}

/// The events by how they are run: `BeforeToolUse, TurnEnd (script)`.
fn handles(taps: &[(HookEvent, &str)]) -> String {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for (event, backend) in taps {
        match groups.iter_mut().find(|(known, _)| known == backend) {
            Some((_, events)) => events.push(event.as_str()),
            None => groups.push((backend, vec![event.as_str()])),
        }
    }
    let groups = groups.iter().map(|(backend, events)| format!("{} ({backend})", events.join(", ")));
    let text = groups.collect::<Vec<_>>().join("; ");
    if text.is_empty() { "nothing".to_owned() } else { text }
}

fn from(source: SourceLabel, shadowed_by: Option<SourceLabel>) -> String {
    match shadowed_by {
        Some(by) => format!("{source} (shadowed by {by})"),
        None => source.to_string(),
    }
}

fn tools(tools: &[ToolListing]) -> Vec<Vec<String>> {
    let mut rows = vec![["NAME", "SOURCE", "RUN AS", "MAY CHANGE THINGS", "DESCRIPTION"].map(str::to_owned).to_vec()];
    for tool in tools {
        let source = from(tool.source, tool.shadowed_by);
        let mutating = if tool.spec.mutating { "yes" } else { "no" };
        let description = shorten(&tool.spec.description);
        rows.push(vec![tool.spec.name.to_string(), source, tool.backend.to_owned(), mutating.to_owned(), description]);
    }
    rows
}

/// The first line of a description, short enough for a row.
fn shorten(description: &str) -> String {
    print::shorten_to(60, description.lines().find(|line| !line.trim().is_empty()).unwrap_or_default())
}
