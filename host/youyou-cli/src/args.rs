//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Runs, checks and makes the tools of a YouYou agent.
#[derive(Debug, Parser)]
#[command(name = "youyou", version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Understood by every command.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// The folder of the user's own tools, skills and plugins [default: ~/.youyou]
    #[arg(long, env = "YOUYOU_HOME", value_name = "DIR", global = true)]
    pub(crate) home: Option<PathBuf>,
    /// The project folder; tools work there [default: the current directory]
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) workspace: Option<PathBuf>,
    /// Say more on stderr; twice for everything
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one tool exactly as the agent would
    ///
    /// Exit status: 0 the tool succeeded, 1 it reported failure, 2 bad arguments or definition, 3 it could not be run.
    RunTool(RunTool),
    /// Ask one handler of a plugin exactly as the agent would, and say what its answer leads to
    ///
    /// Exit status: 0 all would go on, 1 it aborts or reports failure, 2 bad payload or definition, 3 it could not be run.
    RunHook(RunHook),
    /// List what is registered, from every level
    List(List),
    /// Check definitions without running anything
    ///
    /// Exit status: 0 nothing wrong, 1 at least one error.
    Check(Check),
    /// Show what a component imports, exports and may do
    Inspect(Inspect),
    /// Start something new from a working example
    #[command(subcommand)]
    New(New),
    /// The store of compiled components
    Cache(Cache),
    /// Say what is found around this program, and what is wrong there
    ///
    /// Exit status: 0 nothing wrong, 1 at least one error.
    Doctor(Doctor),
    /// List the models that config.yaml offers, and what keeps one from being asked
    Models(Models),
    /// Talk to an agent
    ///
    /// The models of config.yaml answer (docs/providers.md); without any, a recorded demonstration does.
    /// Ctrl-C cancels a turn and waits for the tools that run; once more leaves at once.
    ///
    /// Exit status of a single message: 0 the turn completed, 1 it was cancelled, 2 the input was refused, 3 the turn
    /// failed or could not begin; 130, 143 or 129 when a second Ctrl-C, SIGTERM or the end of the terminal made the
    /// program leave.
    Chat(Chat),
    /// The conversations that are kept (docs/sessions.md)
    ///
    /// A SESSION is an id, the begin of one, or a title.
    #[command(subcommand)]
    Sessions(Sessions),
    /// What is remembered from session to session
    #[command(subcommand)]
    Memories(Memories),
    /// The system prompt
    #[command(subcommand)]
    Prompt(Prompt),
}

impl Command {
    /// Whether an error should be printed as JSON too.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Self::RunTool(RunTool { json, .. })
            | Self::RunHook(RunHook { json, .. })
            | Self::List(List { json, .. })
            | Self::Check(Check { json, .. })
            | Self::Inspect(Inspect { json, .. })
            | Self::Cache(Cache { json, .. })
            | Self::Doctor(Doctor { json })
            | Self::Models(Models { json })
            | Self::Chat(Chat { json, .. })
            | Self::Prompt(Prompt::Show(PromptShow { json }))
            | Self::Sessions(
                Sessions::List(SessionsList { json, .. })
                | Sessions::Search(SessionsSearch { list: SessionsList { json, .. }, .. })
                | Sessions::Show(SessionsShow { json, .. }),
            )
            | Self::Memories(
                Memories::List(MemoriesList { json, .. })
                | Memories::Search(MemoriesSearch { list: MemoriesList { json, .. }, .. }),
            ) => *json,
            Self::New(_) | Self::Sessions(_) | Self::Memories(Memories::Delete(_)) => false,
        }
    }
}

/// Of the commands that may run what a project brings (D-40).
#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// Trust the tools and plugins that the project brings, without being asked
    ///
    /// It is remembered as an answer to the question is: in trusted-projects.json of the home, until any of them changes.
    #[arg(long)]
    pub(crate) trust_project: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunTool {
    /// A tool's name, or the path of its folder
    #[arg(value_name = "NAME or DIR")]
    pub(crate) tool: String,
    /// The arguments: a JSON object, @FILE to read it from a file, or - to read it from stdin
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) args: String,
    /// Print one JSON document instead of the content
    #[arg(long)]
    pub(crate) json: bool,
    /// Also report how the work was done: times, sizes, cache
    #[arg(long)]
    pub(crate) stats: bool,
    #[command(flatten)]
    pub(crate) trust: Trust,
}

#[derive(Debug, Args)]
pub(crate) struct RunHook {
    /// A plugin's id, or the path of its folder
    #[arg(value_name = "ID or DIR")]
    pub(crate) plugin: String,
    /// The event: SessionStart, SessionEnd, TurnStart, TurnEnd, BeforeToolUse, AfterToolUse or BeforeCompact
    pub(crate) event: String,
    /// Fields of the payload, over a sample of the event: a JSON object, @FILE to read it from a file, or - for stdin
    #[arg(long, value_name = "JSON")]
    pub(crate) payload: Option<String>,
    /// Print one JSON document instead of lines
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) trust: Trust,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// What to list
    #[arg(value_enum, default_values_t = [Kind::Tools])]
    pub(crate) kinds: Vec<Kind>,
    /// Print one JSON document instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// What the model may call
    Tools,
    /// What the user may call by /name
    Skills,
    /// What takes part in a session's events
    Plugins,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Folders to check [default: everything in the home and in the workspace]
    #[arg(value_name = "DIR")]
    pub(crate) dirs: Vec<PathBuf>,
    /// Print one JSON document instead of lines
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// A tool's or a plugin's folder, or a component file
    #[arg(value_name = "DIR or .wasm")]
    pub(crate) path: PathBuf,
    /// Print one JSON document instead of lines
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum New {
    /// A tool: a folder with an index.md and a first version that works
    Tool(NewTool),
    /// A plugin: a folder with an index.md and a first handler that works
    Plugin(NewPlugin),
}

#[derive(Debug, Args)]
pub(crate) struct NewTool {
    /// Its name, which is also the folder's
    pub(crate) name: String,
    /// What to write it in
    #[arg(long, value_enum, default_value_t = Language::Rust)]
    pub(crate) lang: Language,
    /// Where to make the folder [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
}

/// What a new tool or plugin can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// A sandboxed component
    Rust,
    /// A POSIX shell script
    Sh,
    /// A Python script
    Python,
}

#[derive(Debug, Args)]
pub(crate) struct NewPlugin {
    /// Its id, which is also the folder's name
    pub(crate) id: String,
    /// What to write it in
    #[arg(long, value_enum, default_value_t = Language::Rust)]
    pub(crate) lang: Language,
    /// Where to make the folder [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Cache {
    /// What to do
    #[arg(value_enum, default_value_t = CacheAction::Info)]
    pub(crate) action: CacheAction,
    /// Print one JSON document instead of lines
    #[arg(long)]
    pub(crate) json: bool,
}

/// What can be done with the compiled components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheAction {
    /// Say where they are and how much room they take
    Info,
    /// Delete them; they are compiled again when needed
    Clear,
}

#[derive(Debug, Args)]
pub(crate) struct Chat {
    /// A single message, or - to read it from stdin; without it a conversation, or stdin where that is no terminal
    pub(crate) prompt: Option<String>,
    /// The model to ask
    #[arg(long, value_name = "ID")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) trust: Trust,
    /// Go on with the last session of this workspace
    #[arg(long, conflicts_with = "session")]
    pub(crate) resume: bool,
    /// Go on with this session: an id, the begin of one, or a title
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Play this script in place of a model; a session that begins so is not kept
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
    /// Write what the model says to this new file, a script for --replay; prompts and tool output are left out
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Print one JSON document for each event
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Sessions {
    /// List them, the one last used first
    List(SessionsList),
    /// List those whose title holds a text
    Search(SessionsSearch),
    /// Print a conversation
    Show(SessionsShow),
    /// Give one another title
    Rename(SessionsRename),
    /// Delete one with everything in it
    Delete(SessionsDelete),
    /// Print a conversation as a document, whole
    Export(SessionsExport),
}

#[derive(Debug, Args)]
pub(crate) struct SessionsList {
    /// Those of every workspace
    #[arg(long)]
    pub(crate) all: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Print one JSON document instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsSearch {
    /// What the title holds; case does not count
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) list: SessionsList,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsShow {
    /// Which one
    pub(crate) session: String,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsRename {
    /// Which one
    pub(crate) session: String,
    /// What it is called from now on
    pub(crate) title: String,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsDelete {
    /// Which one
    pub(crate) session: String,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsExport {
    /// Which one
    pub(crate) session: String,
    /// As what
    #[arg(long, value_enum, default_value_t = ExportFormat::Markdown)]
    pub(crate) format: ExportFormat,
}

/// The forms of an exported conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// To be read
    Markdown,
    /// Every record as it is stored
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Memories {
    /// List them, the one last stored first
    List(MemoriesList),
    /// Find those that have to do with a text, the most relevant first
    Search(MemoriesSearch),
    /// Forget one
    Delete(MemoriesDelete),
}

#[derive(Debug, Args)]
pub(crate) struct MemoriesList {
    /// Those of no workspace
    #[arg(long)]
    pub(crate) global: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Print one JSON document instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MemoriesSearch {
    /// What to find
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) list: MemoriesList,
}

#[derive(Debug, Args)]
pub(crate) struct MemoriesDelete {
    /// Its whole id
    pub(crate) id: String,
    /// It is one of no workspace
    #[arg(long)]
    pub(crate) global: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Prompt {
    /// Print the system prompt that a session would have, and where each part comes from
    Show(PromptShow),
}

#[derive(Debug, Args)]
pub(crate) struct PromptShow {
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Models {
    /// Print one JSON document instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Print one JSON document instead of lines
    #[arg(long)]
    pub(crate) json: bool,
}
