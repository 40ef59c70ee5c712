//! `cargo xtask demo`: builds what a user needs, then runs the example tools on real input, this repository's own files.
//!
//! Each command line is echoed before its output and can be pasted into a shell in the repository's root.

use std::{env::consts::EXE_SUFFIX, fs, path::Path, process::Command};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::{command::Run, guests, setup, workspace::Workspace};

/// One example tool at work.
struct Show {
    title: &'static str,
    tool: &'static str,
    arguments: Value,
}

/// Builds and runs everything.
///
/// # Errors
/// When something does not build, or a tool reports failure or answers nothing.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    setup::run(workspace, setup::Source::Auto)?;
    guests::run(workspace)?;
    workspace.cargo().args(["build", "--package", "youyou-cli"]).run()?;

    let readme = fs::read_to_string(workspace.root().join("README.md")).context("cannot read README.md")?;
    let shows = [
        Show { title: "a component", tool: "word-count", arguments: json!({ "text": readme }) },
        Show { title: "the same tool as a script", tool: "word-count-py", arguments: json!({ "text": readme }) },
        Show {
            title: "a component that may read this folder",
            tool: "grep-files",
            arguments: json!({ "pattern": "^(interface|world) ", "glob": "*.wit" }),
        },
        Show { title: "a script", tool: "line-stats", arguments: json!({ "text": readme }) },
    ];
    let documents = workspace.target().join("xtask/demo");
    fs::create_dir_all(&documents).with_context(|| format!("cannot make {}", documents.display()))?;
    for show in &shows {
        run_tool(workspace, &documents, show)?;
    }
    chat(workspace)?;
    println!("\ndemo: {} tools ran, and a conversation used two of them", shows.len());
    Ok(())
}

/// Plays a recorded conversation in which the model calls a component and a script in one answer.
fn chat(workspace: &Workspace) -> Result<()> {
    println!("\n== a conversation, recorded");
    let mut youyou = youyou(workspace);
    youyou.args(["chat", "--home", "examples", "--replay", "examples/chat/both-ways.yaml"]);
    youyou.arg("Count these words both ways");
    // What is said goes to stdout, the tool calls to stderr: together they are the transcript. A reply that is not the
    // script's next one would fail the turn, and with it this program.
    youyou.run()
}

/// The program, called from the repository's root.
fn youyou(workspace: &Workspace) -> Command {
    let program = workspace.target().join(format!("debug/youyou{EXE_SUFFIX}"));
    let mut youyou = Command::new(program.strip_prefix(workspace.root()).unwrap_or(&program));
    youyou.current_dir(workspace.root());
    youyou
}

/// Runs a tool exactly as the agent would. The arguments travel in a file: a whole document on the command line would
/// bury what is to be seen.
fn run_tool(workspace: &Workspace, documents: &Path, show: &Show) -> Result<()> {
    println!("\n== {}: {}", show.tool, show.title);
    let arguments = documents.join(format!("{}.json", show.tool));
    fs::write(&arguments, show.arguments.to_string())
        .with_context(|| format!("cannot write {}", arguments.display()))?;
    let here = |path: &Path| path.strip_prefix(workspace.root()).unwrap_or(path).to_owned();
    let mut youyou = youyou(workspace);
    youyou.arg("run-tool").arg(Path::new("examples/tools").join(show.tool));
    youyou.arg("--args").arg(format!("@{}", here(&arguments).display()));
    println!("$ {}", youyou.line());
    let answer = youyou.capture()?;
    print!("{answer}");
    if answer.trim().is_empty() {
        bail!("{} answered nothing", show.tool);
    }
    Ok(())
}
