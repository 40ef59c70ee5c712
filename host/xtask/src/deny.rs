//! The dependency policy of deny.toml, checked by cargo-deny: licences, bans and sources.
//!
//! Advisories need a download of their own and are left to the workflow in .github/.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use crate::{command::Run, workspace::Workspace};

/// Installed when the machine has no cargo-deny.
const VERSION: &str = "0.20.2";

/// Runs the check, with a cargo-deny that is built once per user where there is none.
///
/// # Errors
/// When a dependency breaks the policy, or cargo-deny cannot be built.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut deny = match Command::new("cargo-deny").arg("--version").capture() {
        Ok(_) => Command::new("cargo-deny"),
        Err(_) => Command::new(install(workspace)?),
    };
    deny.current_dir(workspace.root());
    deny.args(["check", "--hide-inclusion-graph", "bans", "licenses", "sources"]).run()
}

/// Builds cargo-deny, unoptimised: the build is what costs, not the check.
fn install(workspace: &Workspace) -> Result<PathBuf> {
    let cache = dirs::cache_dir().unwrap_or_else(|| workspace.target().to_owned());
    let root = cache.join("youyou-xtask").join(format!("cargo-deny-{VERSION}"));
    let program = root.join("bin").join(format!("cargo-deny{}", env::consts::EXE_SUFFIX));
    if works(&program) {
        return Ok(program);
    }
    println!("cargo-deny is not installed: building {VERSION} for this user, once (some minutes)");
    let mut cargo = workspace.cargo();
    cargo.args(["install", "cargo-deny", "--version", VERSION, "--locked", "--no-default-features", "--debug"]);
    cargo.arg("--root").arg(&root).arg("--force").arg("--quiet");
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "false").env_remove("CARGO_TARGET_DIR");
    cargo.run().context("install it by hand, or check with a cargo-deny that is on the PATH")?;
    Ok(program)
}

fn works(program: &Path) -> bool {
    program.is_file() && Command::new(program).arg("--version").capture().is_ok()
}
