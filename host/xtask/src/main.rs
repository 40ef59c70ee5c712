//! The automation of this repository: `cargo xtask <COMMAND>`.
//!
//! One file for each subcommand. Nothing here is part of the product, and the product never depends on it.

mod bench;
mod checks;
mod command;
mod demo;
mod deny;
mod guests;
mod hooks_page;
mod real_model;
mod schema;
mod setup;
mod soak;
mod steps;
mod test;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Builds, checks and shows YouYou", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Makes the target wasm32-wasip2 available for the toolchain in use
    Setup(setup::Args),
    /// Builds every guest, and puts each example's component beside its index.md
    Guests,
    /// Builds everything that a user needs and runs the example tools on real input
    Demo,
    /// Format, lints, schemas and dependency policy; all findings at once, nothing is run
    Check,
    /// Everything: setup, guests, the checks, documentation, then all tests
    Test,
    /// Measures the ratios that speed and size are held against, in release, and writes docs/performance.md
    Bench,
    /// Talks to a small model that runs on this machine: once a server for it is compiled, which takes some minutes
    RealModel,
    /// Kills conversations at random moments, some hundred times, and looks at what is left of them each time
    Soak(soak::Args),
    /// Writes the JSON Schemas of the documents to docs/schema/, and docs/hooks.md
    Schema(schema::Args),
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without the backtrace that `RUST_BACKTRACE` would add: the message is for whoever works on the product.
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    let workspace = Workspace::load()?;
    match command {
        Command::Setup(args) => setup::run(&workspace, args.from),
        Command::Guests => guests::run(&workspace),
        Command::Demo => demo::run(&workspace),
        Command::Check => checks::run(&workspace),
        Command::Test => test::run(&workspace),
        Command::Bench => bench::run(&workspace),
        Command::RealModel => real_model::run(&workspace),
        Command::Soak(args) => soak::run(&workspace, args),
        Command::Schema(args) => schema::run(&workspace, args.mode()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
