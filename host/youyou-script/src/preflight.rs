//! Everything that can be told wrong about a command before anything runs (K-30).
//!
//! The system answers most of these with the same "no such file or directory", so they are told apart here, at the cost
//! of a dozen system calls. Nothing is started, and nothing is repaired: above all, a file that the system would refuse
//! is never handed to a shell instead.

use std::{
    ffi::OsString,
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use crate::{
    command::{ScriptCommand, ScriptHost},
    resolve::{self, Program},
};

/// A command that is ready to start: every path absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The program.
    pub program: PathBuf,
    /// Its arguments, those that are paths resolved.
    pub args: Vec<OsString>,
    /// Where it will run.
    pub working_directory: PathBuf,
}

/// Why a command cannot start, with the fix. [`kind`](Self::kind) is the stable name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PreflightError {
    /// There is no such program.
    #[error("command {command:?} was not found: {reason}. {fix}")]
    CommandMissing {
        /// As written.
        command: String,
        /// Where it was looked for.
        reason: String,
        /// What to do.
        fix: String,
    },
    /// The command names a folder.
    #[error(
        "{} is a folder, and only a file can be run. Name the file inside it in `command`, for example \"./{}/run.sh\"",
        path.display(),
        path.file_name().unwrap_or_default().display()
    )]
    IsDirectory {
        /// The folder.
        path: PathBuf,
    },
    /// The file holds nothing.
    #[error("{} is empty (0 bytes). Write the script into it, starting with a line such as #!/bin/sh", path.display())]
    EmptyFile {
        /// The file.
        path: PathBuf,
    },
    /// The file may not be executed.
    #[error("{} cannot be executed: {reason}. {fix}", path.display())]
    NotExecutable {
        /// The file.
        path: PathBuf,
        /// What stands in the way.
        reason: String,
        /// What to do.
        fix: String,
    },
    /// A text file that does not say what runs it.
    #[error(
        "{} has no shebang, so nothing says which program runs it: its first line is {found:?}. \
         Put {suggestion} above it, as the very first bytes of the file",
        path.display()
    )]
    NoShebang {
        /// The file.
        path: PathBuf,
        /// Its first line.
        found: String,
        /// A line that fits the file's name.
        suggestion: &'static str,
    },
    /// The shebang ends in CRLF, so the system would look for an interpreter with a carriage return in its name.
    #[error(
        "the first line of {} ({line:?}) ends in CR LF, as on Windows, and the system takes the CR for a part of the \
         interpreter's name. Save the file with LF line ends: sed -i 's/\\r$//' {}",
        path.display(),
        shell_word(path)
    )]
    CrlfShebang {
        /// The file.
        path: PathBuf,
        /// The line without its end.
        line: String,
    },
    /// The program that the shebang names is not there.
    #[error("{} starts with \"#!{line}\", but {reason}. {fix}", path.display())]
    InterpreterMissing {
        /// The script.
        path: PathBuf,
        /// Its shebang, without `#!`.
        line: String,
        /// What is wrong with the interpreter.
        reason: String,
        /// What to do.
        fix: String,
    },
    /// The working directory is not there.
    #[error(
        "the working directory {} {reason}. Create it, or correct `working_directory`, which is relative to the \
         session's directory and not to the tool's folder",
        path.display()
    )]
    WorkingDirectoryMissing {
        /// The directory.
        path: PathBuf,
        /// `does not exist` or the like.
        reason: String,
    },
}

impl PreflightError {
    /// The stable name, for `details.kind`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::CommandMissing { .. } => "COMMAND_MISSING",
            Self::IsDirectory { .. } => "IS_DIRECTORY",
            Self::EmptyFile { .. } => "EMPTY_FILE",
            Self::NotExecutable { .. } => "NOT_EXECUTABLE",
            Self::NoShebang { .. } => "NO_SHEBANG",
            Self::CrlfShebang { .. } => "CRLF_SHEBANG",
            Self::InterpreterMissing { .. } => "INTERPRETER_MISSING",
            Self::WorkingDirectoryMissing { .. } => "WORKING_DIRECTORY_MISSING",
        }
    }

    /// The file or directory in question, where there is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::CommandMissing { .. } => None,
            Self::IsDirectory { path }
            | Self::EmptyFile { path }
            | Self::NotExecutable { path, .. }
            | Self::NoShebang { path, .. }
            | Self::CrlfShebang { path, .. }
            | Self::InterpreterMissing { path, .. }
            | Self::WorkingDirectoryMissing { path, .. } => Some(path),
        }
    }

    /// Whether the file changed a moment ago, so that somebody may still be writing it: an editor empties a file before
    /// it fills it, and makes it executable last.
    pub(crate) fn may_settle(&self) -> bool {
        match self {
            Self::EmptyFile { path }
            | Self::NotExecutable { path, .. }
            | Self::NoShebang { path, .. }
            | Self::CrlfShebang { path, .. } => changed_just_now(path),
            Self::CommandMissing { .. }
            | Self::IsDirectory { .. }
            | Self::InterpreterMissing { .. }
            | Self::WorkingDirectoryMissing { .. } => false,
        }
    }
}

/// Resolves a command and checks that it can start, without starting it. `cwd` is the session's working directory.
///
/// # Errors
/// The first of [`problems`].
pub fn preflight(command: &ScriptCommand, host: &ScriptHost, cwd: &Path) -> Result<Resolved, PreflightError> {
    let working_directory = resolve::working_directory(command.working_directory.as_deref(), cwd);
    let program = check_program(command, host, &working_directory)?;
    check_working_directory(&working_directory)?;
    let args = command.args.iter().map(|arg| resolve::argument(arg, &command.dir)).collect();
    Ok(Resolved { program, args, working_directory })
}

/// Everything that keeps a command from starting, for `youyou check`: at most one finding on the program and one on
/// the working directory.
pub fn problems(command: &ScriptCommand, host: &ScriptHost, cwd: &Path) -> Vec<PreflightError> {
    let working_directory = resolve::working_directory(command.working_directory.as_deref(), cwd);
    [check_program(command, host, &working_directory).err(), check_working_directory(&working_directory).err()]
        .into_iter()
        .flatten()
        .collect()
}

fn check_program(
    command: &ScriptCommand,
    host: &ScriptHost,
    #[cfg_attr(windows, expect(unused_variables, reason = "Windows knows no interpreter lines"))]
    working_directory: &Path,
) -> Result<PathBuf, PreflightError> {
    let program = match resolve::program(&command.command, &command.dir, host.search()) {
        Program::At(program) => program,
        Program::Nowhere => return Err(not_on_path(command, host)),
    };
    let metadata = fs::metadata(&program).map_err(|error| missing(command, &program, &error))?;
    if metadata.is_dir() {
        return Err(PreflightError::IsDirectory { path: program });
    }
    // Opening a pipe or a device could block or have effects.
    if !metadata.is_file() {
        return Err(PreflightError::NotExecutable {
            path: program,
            reason: "it is not a regular file".into(),
            fix: "Name a script or a program in `command`".into(),
        });
    }
    if metadata.len() == 0 {
        return Err(PreflightError::EmptyFile { path: program });
    }
    if !resolve::is_executable(&program) {
        return Err(not_executable(program, &metadata));
    }
    #[cfg(unix)]
    crate::interpreter::check(&program, host, working_directory)?;
    Ok(program)
}

fn check_working_directory(path: &Path) -> Result<(), PreflightError> {
    let reason = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => "is a file, not a directory".into(),
        Err(error) => in_words(&error),
    };
    Err(PreflightError::WorkingDirectoryMissing { path: path.to_owned(), reason })
}

fn not_on_path(command: &ScriptCommand, host: &ScriptHost) -> PreflightError {
    if command.command.is_empty() {
        return PreflightError::CommandMissing {
            command: String::new(),
            reason: "it is empty".into(),
            fix: "Name the script in `command`, for example \"./run.sh\"".into(),
        };
    }
    PreflightError::CommandMissing {
        command: command.command.clone(),
        reason: format!(
            "it is neither a file in {} nor a program in one of the {} folders of PATH",
            command.dir.display(),
            host.search().len()
        ),
        fix: "Put the file there, install the program, or correct `command` in index.md".into(),
    }
}

fn missing(command: &ScriptCommand, program: &Path, error: &io::Error) -> PreflightError {
    let reason = match fs::read_link(program) {
        Ok(target) => {
            format!("{} is a symbolic link to {}, which {}", program.display(), target.display(), in_words(error))
        }
        Err(_) => format!("{} {}", program.display(), in_words(error)),
    };
    let fix = "Create the file, or correct `command` in index.md".into();
    PreflightError::CommandMissing { command: command.command.clone(), reason, fix }
}

fn not_executable(path: PathBuf, metadata: &Metadata) -> PreflightError {
    let (reason, fix) = match execute_bits(metadata) {
        Some(0) | None => ("it has no execute permission".into(), format!("Run: chmod +x {}", shell_word(&path))),
        Some(_) => (
            "its permissions do not let this user execute it, or its file system is mounted without execution".into(),
            format!("Look at: ls -l {}", shell_word(&path)),
        ),
    };
    PreflightError::NotExecutable { path, reason, fix }
}

#[cfg(unix)]
fn execute_bits(metadata: &Metadata) -> Option<u32> {
    Some(std::os::unix::fs::MetadataExt::mode(metadata) & 0o111)
}

#[cfg(windows)]
fn execute_bits(_: &Metadata) -> Option<u32> {
    None
}

fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "does not exist".into(),
        io::ErrorKind::NotADirectory => "leads through something that is not a directory".into(),
        _ => format!("cannot be looked at: {error}"),
    }
}

/// A path as a word of a shell command that the reader can paste.
fn shell_word(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if text.chars().all(plain) { text.into_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Whether a file's content or permissions changed within the last half second.
pub(crate) fn changed_just_now(path: &Path) -> bool {
    const JUST_NOW: Duration = Duration::from_millis(500);
    let Ok(metadata) = fs::metadata(path) else { return false };
    // A change a little in the future is one on a file system whose clock runs ahead.
    changed(&metadata).is_some_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age < JUST_NOW))
}

/// The time of the last change to content or permissions.
#[cfg(unix)]
fn changed(metadata: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let (seconds, nanos) = (u64::try_from(metadata.ctime()).ok()?, u32::try_from(metadata.ctime_nsec()).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanos))
}

#[cfg(windows)]
fn changed(metadata: &Metadata) -> Option<SystemTime> {
    metadata.modified().ok()
}
