//! One file a command.

mod cache;
mod chat;
mod check;
mod doctor;
mod inspect;
mod list;
mod memories;
mod models;
mod new;
mod prompt;
mod run_hook;
mod run_tool;
mod sessions;
mod trust;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use youyou::{Error, ErrorCode, Runtime, RuntimeBuilder};

use crate::{
    args::{Cli, Command, Common, New, Prompt},
    exit::Exit,
    terminal::Terminal,
};

/// Runs the command that was typed.
pub(crate) fn run(cli: Cli, terminal: Terminal) -> Result<Exit, Error> {
    let places = Places::new(cli.common)?;
    match cli.command {
        Command::RunTool(args) => run_tool::run(args, &places),
        Command::RunHook(args) => not_nested("run-hook").and_then(|()| run_hook::run(args, &places)),
        Command::List(args) => list::run(args, &places),
        Command::Check(args) => check::run(args, &places),
        Command::Inspect(args) => inspect::run(args),
        Command::New(New::Tool(args)) => new::tool(args, &places),
        Command::New(New::Plugin(args)) => new::plugin(args, &places),
        Command::Cache(args) => cache::run(args),
        Command::Doctor(args) => doctor::run(args, &places),
        Command::Models(args) => models::run(args, &places),
        Command::Chat(args) => not_nested("chat").and_then(|()| chat::run(args, &places, terminal)),
        Command::Sessions(args) => sessions::run(args, &places),
        Command::Memories(args) => memories::run(args, &places),
        Command::Prompt(Prompt::Show(args)) => prompt::show(args, &places),
    }
}

/// How long a program that has nothing more to do waits for what it left running: it is killed at the begin of it.
const LEAVING: Duration = Duration::from_secs(1);

/// The two folders that every command works with, absolute.
pub(crate) struct Places {
    pub(crate) home: PathBuf,
    pub(crate) workspace: PathBuf,
}

impl Places {
    fn new(common: Common) -> Result<Self, Error> {
        let home = match common.home {
            Some(home) => home,
            None => dirs::home_dir()
                .map(|dir| dir.join(".youyou"))
                .ok_or_else(|| usage("the user has no home folder; name one with --home or YOUYOU_HOME"))?,
        };
        let workspace = common.workspace.unwrap_or_else(|| PathBuf::from("."));
        let workspace = std::fs::canonicalize(&workspace)
            .ok()
            .filter(|path| path.is_dir())
            .ok_or_else(|| usage(format!("the workspace {} is not a folder", workspace.display())))?;
        Ok(Self { home: absolute(&home)?, workspace })
    }

    /// The workspace as sessions name it.
    fn project(&self) -> String {
        self.workspace.to_string_lossy().into_owned()
    }

    fn builder(&self) -> RuntimeBuilder {
        Runtime::builder(&self.home, &self.workspace)
    }
}

/// Refuses what could go on for ever: an agent whose scripts start an agent whose scripts start an agent (K-13).
fn not_nested(command: &str) -> Result<(), Error> {
    const MOST: u32 = 1;
    match youyou::nesting_depth() {
        depth if depth > MOST => Err(usage(format!(
            "`youyou {command}` is refused here: it would run inside {depth} scripts of agents, one in another \
             (YOUYOU_DEPTH={depth}, at most {MOST}); a hook or tool that starts an agent must not start itself"
        ))),
        _ => Ok(()),
    }
}

/// Waits for work on the stores.
fn wait_for<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let executor = executor
        .map_err(|error| Error::new(ErrorCode::InvalidInput, format!("cannot start the async runtime: {error}")))?;
    executor.block_on(work)
}

fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path).map_err(|error| usage(format!("cannot make {} absolute: {error}", path.display())))
}

/// The command was used in a way that cannot work.
fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::InvalidInput, message)
}
