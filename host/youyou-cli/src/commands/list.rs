//! `youyou list`: what is registered, and where it comes from.

use serde_json::json;
use youyou::{Error, ToolListing};

use super::Places;
use crate::{
    args::{Kind, List},
    exit::Exit,
    print,
};

pub(crate) fn run(args: List, places: &Places) -> Result<Exit, Error> {
    let runtime = places.builder().open()?;
    for kind in &args.kinds {
        match kind {
            Kind::Tools if args.json => {
                print::document(&json!({ "tools": runtime.tools(), "problems": runtime.problems() }))?;
            }
            Kind::Tools if runtime.tools().is_empty() => {
                print::note(&format!(
                    "no tools in {} or {}; `youyou new tool NAME` makes one",
                    places.home.join("tools").display(),
                    places.workspace.join(".youyou").join("tools").display()
                ));
            }
            Kind::Tools => print::line(&table(runtime.tools())),
        }
    }
    if !args.json {
        print::problems(runtime.problems().iter().filter(|problem| problem.severity != youyou::Severity::Hint));
    }
    Ok(Exit::Ok)
}

fn table(tools: &[ToolListing]) -> String {
    let mut rows = vec![["NAME", "SOURCE", "RUN AS", "MAY CHANGE THINGS", "DESCRIPTION"].map(str::to_owned).to_vec()];
    for tool in tools {
        let source = match tool.shadowed_by {
            Some(by) => format!("{} (shadowed by {by})", tool.source),
            None => tool.source.to_string(),
        };
        let mutating = if tool.spec.mutating { "yes" } else { "no" };
        let description = shorten(&tool.spec.description);
        rows.push(vec![tool.spec.name.to_string(), source, tool.backend.to_owned(), mutating.to_owned(), description]);
    }
    print::table(&rows)
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
