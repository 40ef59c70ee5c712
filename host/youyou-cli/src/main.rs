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

use std::{io::ErrorKind, process::ExitCode};

use clap::Parser;

use crate::{args::Cli, exit::Exit, terminal::Terminal};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(told) => return tell(&told),
    };
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

/// Prints what clap has to say: help on stdout, what was typed wrongly on stderr.
fn tell(told: &clap::Error) -> ExitCode {
    match told.print() {
        Err(error) if !told.use_stderr() && error.kind() != ErrorKind::BrokenPipe => {
            let error = print::unwritten(&error);
            print::failure(&error, false);
            Exit::of(&error).into()
        }
        _ if told.use_stderr() => Exit::Usage.into(),
        _ => Exit::Ok.into(),
    }
}
