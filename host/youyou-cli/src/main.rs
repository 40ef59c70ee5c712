//! The `youyou` command: tries tools and plugins out, lists, checks and inspects them, and makes new ones.
//!
//! It parses, calls the library and prints; everything it knows about them it learns from the `youyou` crate.

mod args;
mod commands;
mod exit;
mod input;
mod log;
mod print;
mod signals;
mod terminal;

use clap::Parser;

use crate::{args::Cli, exit::Exit, terminal::Terminal};

fn main() -> std::process::ExitCode {
    let cli = Cli::parse();
    let terminal = Terminal::new();
    log::install(cli.common.verbose, terminal.clone());
    let json = cli.command.wants_json();
    match commands::run(cli, terminal) {
        Ok(exit) => exit.into(),
        Err(error) => {
            print::failure(&error, json);
            Exit::of(&error).into()
        }
    }
}
