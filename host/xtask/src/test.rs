//! `cargo xtask test`: everything that must hold before a change lands.
//!
//! The tests come last, so that the test runner's own summary ends the output.

use anyhow::Result;

use crate::{checks, command::Run, guests, setup, steps::Steps, workspace::Workspace};

/// Runs it all.
///
/// # Errors
/// When the toolchain cannot be completed, a guest does not build, a check fails, or a test fails.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut steps = Steps::default();
    steps.required("setup", || setup::run(workspace, setup::Source::Auto))?;
    steps.required("guests", || guests::run(workspace))?;
    checks::all(workspace, &mut steps);
    steps.check("documentation", || {
        let mut doc = workspace.cargo();
        doc.args(["doc", "--quiet", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
        doc.run()
    });
    steps.finish()?;
    println!("== tests");
    workspace.cargo().args(["test", "--workspace", "--no-fail-fast"]).run()
}
