//! `youyou list`: what is registered, and where it comes from.

use serde_json::{Map, json};
use youyou::{Error, Severity, SkillListing, SourceLabel, ToolListing};

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
                    show(places, "tools", tools(runtime.tools()));
                }
            }
            Kind::Skills => {
                let (skills, found) = youyou::list_skills(&places.home, &places.workspace);
                problems.extend(found);
                document.insert("skills".to_owned(), json!(skills));
                if !args.json {
                    show(places, "skills", self::skills(&skills));
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
fn show(places: &Places, what: &str, rows: Vec<Vec<String>>) {
    if rows.len() > 1 {
        return print::line(&print::table(&rows));
    }
    let new = if what == "tools" { "; `youyou new tool NAME` makes one" } else { "" };
    print::note(&format!(
        "no {what} in {} or {}{new}",
        places.home.join(what).display(),
        places.workspace.join(".youyou").join(what).display()
    ));
}

fn skills(skills: &[SkillListing]) -> Vec<Vec<String>> {
    let mut rows = vec![["NAME", "SOURCE", "DESCRIPTION"].map(str::to_owned).to_vec()];
    for listed in skills {
        let name = format!("/{}", listed.skill.name);
        rows.push(vec![name, from(listed.source, listed.shadowed_by), shorten(&listed.skill.description)]);
    }
    rows
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
    const SHOWN: usize = 60;
    let line = description.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    if line.chars().count() <= SHOWN {
        return line.to_owned();
    }
    line.chars().take(SHOWN - 1).chain(['…']).collect()
}
