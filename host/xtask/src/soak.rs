//! `cargo xtask soak`: the test of killed conversations (`host/youyou-cli/tests/cli/killed.rs`), often enough to find what is
//! rare.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;

use crate::{command::Run, workspace::Workspace};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Kills for each of the two stores
    #[arg(long, default_value_t = 300)]
    kills: u64,
    /// What the moments are drawn from; another one each time if it is not given
    #[arg(long)]
    seed: Option<u64>,
}

/// Runs it, and says the seed first.
///
/// # Errors
/// When something acknowledged is lost, half, unanswered or done twice.
pub(crate) fn run(workspace: &Workspace, Args { kills, seed }: Args) -> Result<()> {
    let seed = seed.unwrap_or_else(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        since.as_secs()
    });
    println!("the same moments again: cargo xtask soak --kills {kills} --seed {seed}");
    let mut tests = workspace.cargo();
    // As `cargo xtask test` selects them, so that nothing is compiled anew.
    tests.args(["test", "--workspace", "--test", "cli", "killed::", "--", "--nocapture"]);
    tests.env("YOUYOU_KILLS", kills.to_string()).env("YOUYOU_KILL_SEED", seed.to_string());
    tests.run()
}
