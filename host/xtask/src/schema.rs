//! `cargo xtask schema`: the JSON Schemas of the documents that cross the border to scripts, components and front ends.
//!
//! They are generated from the types of youyou-api; docs/schema/ holds the result so that a change to a document shows
//! in review. From the same types comes docs/hooks.md.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};
use schemars::{Schema, schema_for};
use serde_json::Value;

use crate::{hooks_page, workspace::Workspace};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only say whether the files are up to date
    #[arg(long)]
    check: bool,
}

impl Args {
    pub(crate) fn mode(&self) -> Mode {
        if self.check { Mode::Check } else { Mode::Write }
    }
}

/// What to do with a file that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Report it as an error.
    Check,
    /// Replace it.
    Write,
}

/// Writes or checks every schema.
///
/// # Errors
/// In [`Mode::Check`], when a file is missing, differs, or belongs to no document.
pub(crate) fn run(workspace: &Workspace, mode: Mode) -> Result<()> {
    let docs = workspace.root().join("docs");
    let pages = sync(&docs.join("schema"), mode);
    let hooks = sync_hooks(&docs.join("hooks.md"), mode);
    pages.and(hooks)
}

/// The page about hooks, which is made from the same types.
fn sync_hooks(path: &Path, mode: Mode) -> Result<()> {
    let documents = documents();
    let payload = documents.iter().find(|(name, _)| *name == "hook-payload").map(|(_, schema)| schema);
    let page = hooks_page::page(payload.unwrap_or(&Value::Null));
    if fs::read_to_string(path).is_ok_and(|old| old == page) {
        return Ok(());
    }
    match mode {
        Mode::Check => bail!("docs/hooks.md does not match the types of youyou-api; run `cargo xtask schema`"),
        Mode::Write => fs::write(path, page).with_context(|| format!("cannot write {}", path.display())),
    }
}

fn documents() -> [(&'static str, Value); 7] {
    let schemas: [(&str, Schema); 7] = [
        ("agent-event", schema_for!(youyou_api::AgentEvent)),
        ("chat-event", schema_for!(youyou_api::ChatEvent)),
        ("error", schema_for!(youyou_api::Error)),
        ("hook-payload", schema_for!(youyou_api::HookPayload)),
        ("tool-input", schema_for!(youyou_api::ToolInput)),
        ("tool-output", schema_for!(youyou_api::ToolOutput)),
        ("tool-spec", schema_for!(youyou_api::ToolSpec)),
    ];
    schemas.map(|(name, schema)| {
        // As serialised: identity and title first, definitions last.
        let mut schema = serde_json::to_value(schema).expect("a schema is JSON");
        rewrite_descriptions(&mut schema);
        (name, schema)
    })
}

/// Descriptions are the types' doc comments, written for readers of the Rust code; others need neither its links and
/// examples nor its line breaks.
fn rewrite_descriptions(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(description)) = fields.get_mut("description") {
                *description = for_other_readers(description);
            }
            fields.values_mut().for_each(rewrite_descriptions);
        }
        Value::Array(items) => items.iter_mut().for_each(rewrite_descriptions),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn for_other_readers(doc: &str) -> String {
    let prose = doc.split("```").step_by(2).collect::<String>();
    prose.split_whitespace().collect::<Vec<_>>().join(" ").replace("[`", "`").replace("`]", "`")
}

fn sync(folder: &Path, mode: Mode) -> Result<()> {
    let mut drift = Vec::new();
    let documents = documents();
    for (name, schema) in &documents {
        let path = folder.join(format!("{name}.json"));
        let text = format!("{}\n", serde_json::to_string_pretty(schema)?);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        match mode {
            Mode::Check => drift.push(format!("{name}.json")),
            Mode::Write => {
                fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
                fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
                println!("schema: wrote {name}.json");
            }
        }
    }
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let file = entry?.file_name().to_string_lossy().into_owned();
        if file.strip_suffix(".json").is_some_and(|stem| documents.iter().all(|(name, _)| *name != stem)) {
            drift.push(format!("{file} (no such document: delete it)"));
        }
    }
    if !drift.is_empty() {
        bail!(
            "docs/schema/ does not match the types of youyou-api: {}; run `cargo xtask schema` and look at the diff: \
             a script or a front end may rely on the old form",
            drift.join(", ")
        );
    }
    println!("schema: {} documents are up to date", documents.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_reported_by_name_and_mended_by_writing() {
        let folder = tempfile::tempdir().expect("dir");
        sync(folder.path(), Mode::Write).expect("writes");
        sync(folder.path(), Mode::Check).expect("as written");

        fs::write(folder.path().join("tool-input.json"), "{}").expect("write");
        let error = sync(folder.path(), Mode::Check).expect_err("drift").to_string();
        assert!(error.contains("tool-input.json") && !error.contains("tool-output.json"), "{error}");

        sync(folder.path(), Mode::Write).expect("writes");
        fs::write(folder.path().join("gone.json"), "{}").expect("write");
        let error = sync(folder.path(), Mode::Check).expect_err("stray").to_string();
        assert!(error.contains("gone.json (no such document"), "{error}");
    }

    #[test]
    fn a_description_is_prose_without_rust() {
        let doc = "What it is, see [`PAYLOAD_VERSION`]\n(one line).\n\nMore.\n\n```\nlet x = 1;\n```";
        assert_eq!(for_other_readers(doc), "What it is, see `PAYLOAD_VERSION` (one line). More.");
    }

    /// C-2: a change of these documents is seen in review.
    #[test]
    fn the_schema_of_a_payload_names_every_event() {
        let (_, schema) = documents().into_iter().find(|(name, _)| *name == "hook-payload").expect("there");
        let text = serde_json::to_string(&schema).expect("json");
        for event in youyou_api::HookEvent::ALL {
            assert!(text.contains(event.as_str()), "{event} is missing");
        }
    }
}
