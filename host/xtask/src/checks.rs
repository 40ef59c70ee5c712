//! `cargo xtask check`: what can be said without running anything; all findings at once.

use anyhow::Result;

use crate::{
    command::Run,
    deny,
    schema::{self, Mode},
    steps::Steps,
    workspace::Workspace,
};

/// Runs all checks.
///
/// # Errors
/// When one of them failed; the error names each that did.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut steps = Steps::default();
    all(workspace, &mut steps);
    steps.finish()
}

/// The checks, as steps of a longer run.
pub(crate) fn all(workspace: &Workspace, steps: &mut Steps) {
    steps.check("format", || workspace.cargo().args(["fmt", "--all", "--check"]).run());
    steps.check("schemas", || schema::run(workspace, Mode::Check));
    steps.check("dependency policy", || deny::run(workspace));
    steps.check("lints", || {
        let mut clippy = workspace.cargo();
        clippy.args(["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]);
        clippy.run()
    });
}
