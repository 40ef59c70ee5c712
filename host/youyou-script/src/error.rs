//! How a run fails, and what the reader is told (Y10).

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use youyou_api::{Error, ErrorCode};

use crate::{
    command::{Guest, ScriptCommand},
    preflight::PreflightError,
    run::Captured,
};

/// What an error shows of the end of stdout.
const STDOUT_SHOWN_BYTES: usize = 4 * 1024;

/// Why a script has no result of its own.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// It was not started, and what is wrong could be told beforehand.
    #[error(transparent)]
    Preflight(#[from] PreflightError),
    /// The system refused to start it.
    #[error("{} could not be started: {}", program.display(), why_not(program, source).0)]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It ran past its deadline and was stopped, with everything in its process group.
    #[error("it was stopped after {} ms, its time limit", budget.as_millis())]
    TimedOut {
        /// What it was allowed.
        budget: Duration,
        /// What it had printed.
        captured: Captured,
    },
    /// The call was cancelled, and the script was stopped with everything in its process group.
    #[error("it was cancelled while it ran; what it had done by then is done")]
    Cancelled {
        /// What it had printed.
        captured: Captured,
    },
    /// The system would not say how it ended.
    #[error("it ran, but how it ended is unknown: {source}")]
    Lost {
        /// What the system said.
        source: io::Error,
        /// What it had printed.
        captured: Captured,
    },
}

impl ScriptError {
    /// The stable name, for `details.kind`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Preflight(problem) => problem.kind(),
            Self::Start { program, source } => why_not(program, source).1,
            Self::TimedOut { .. } => "LIMIT_TIME",
            Self::Cancelled { .. } => "CANCELLED",
            Self::Lost { .. } => "EXIT_UNKNOWN",
        }
    }

    /// The code: `TOOL_TIMEOUT`, `REQUEST_CANCELLED` or `TOOL_EXECUTION_ERROR` for a tool, `HOOK_FAILED` for a hook.
    pub fn code(&self, guest: Guest<'_>) -> ErrorCode {
        match (guest, self) {
            (Guest::Plugin(_), _) => ErrorCode::HookFailed,
            (Guest::Tool(_), Self::TimedOut { .. }) => ErrorCode::ToolTimeout,
            (Guest::Tool(_), Self::Cancelled { .. }) => ErrorCode::RequestCancelled,
            (Guest::Tool(_), Self::Preflight(_) | Self::Start { .. } | Self::Lost { .. }) => {
                ErrorCode::ToolExecutionError
            }
        }
    }

    /// The error that crosses borders. Its details hold the end of what was printed: at most 4 KiB of stdout and of
    /// stderr each.
    pub fn into_error(self, guest: Guest<'_>, command: &ScriptCommand) -> Error {
        let message = match &self {
            Self::TimedOut { .. } => format!("{guest}: {self}; {}", limit_hint(guest, command)),
            Self::Preflight(_) | Self::Start { .. } | Self::Cancelled { .. } | Self::Lost { .. } => {
                format!("{guest}: {self}")
            }
        };
        let error = Error::new(self.code(guest), message).with_kind(self.kind());
        match self {
            Self::Preflight(problem) => {
                let path = problem.path().map(shown);
                let error = error.with_cause(problem);
                path.into_iter().fold(error, |error, path| error.with_detail("path", path))
            }
            Self::Start { program, source } => error.with_detail("path", shown(&program)).with_cause(source),
            Self::TimedOut { budget, captured } => {
                let budget = u64::try_from(budget.as_millis()).unwrap_or(u64::MAX);
                with_output(error.with_detail("timeout_ms", budget), captured)
            }
            Self::Cancelled { captured } => with_output(error, captured),
            Self::Lost { source, captured } => with_output(error.with_cause(source), captured),
        }
    }
}

/// Which line sets the limit.
fn limit_hint(guest: Guest<'_>, command: &ScriptCommand) -> String {
    let index = command.dir.join("index.md");
    let below = match guest {
        Guest::Tool(_) => "`execution`",
        Guest::Plugin(_) => "the event or `execution`",
    };
    match command.timeout {
        Some(_) => format!("`timeout_ms` below {below} in {} sets it", index.display()),
        None => format!("a `timeout_ms` below {below} in {} would set one of its own", index.display()),
    }
}

/// What keeps the system from starting a program that passed the preflight, and the stable name of it.
fn why_not(program: &Path, source: &io::Error) -> (String, &'static str) {
    match source.kind() {
        io::ErrorKind::ExecutableFileBusy => {
            ("somebody keeps it open for writing; close it there and try again".into(), "TEXT_BUSY")
        }
        io::ErrorKind::ArgumentListTooLong => {
            ("its arguments and the environment are larger than the system allows".into(), "ARGUMENTS_TOO_LONG")
        }
        io::ErrorKind::NotFound => (
            "the file is there, but something that it needs to start is not: the loader it was linked for, or the \
             interpreter of its interpreter"
                .into(),
            "INTERPRETER_MISSING",
        ),
        io::ErrorKind::PermissionDenied => (
            format!("permission denied; look at the permissions of {} and of its working directory", program.display()),
            "PERMISSION_DENIED",
        ),
        io::ErrorKind::InvalidInput => (format!("{source}; look at `command` and `args` in index.md"), "SPAWN_FAILED"),
        _ if is_foreign_format(source) => (
            "the system does not know its format; it may be built for another system, and a script needs a first line \
             such as #!/bin/sh"
                .into(),
            "EXEC_FORMAT",
        ),
        _ => (source.to_string(), "SPAWN_FAILED"),
    }
}

/// Whether the system does not know what to do with a file.
#[cfg(unix)]
pub(crate) fn is_foreign_format(error: &io::Error) -> bool {
    error.raw_os_error() == Some(nix::errno::Errno::ENOEXEC as i32)
}

/// Whether the system does not know what to do with a file (`ERROR_BAD_EXE_FORMAT`).
#[cfg(windows)]
pub(crate) fn is_foreign_format(error: &io::Error) -> bool {
    error.raw_os_error() == Some(193)
}

/// Adds the end of what was printed to an error's details.
pub(crate) fn with_output(error: Error, captured: Captured) -> Error {
    let end = captured.stdout.len().saturating_sub(STDOUT_SHOWN_BYTES);
    let stdout = String::from_utf8_lossy(captured.stdout.get(end..).unwrap_or_default()).into_owned();
    error
        .with_detail("stdout", stdout)
        .with_detail("stdout_bytes", captured.stdout_bytes)
        .with_detail("stderr", captured.stderr_tail)
        .with_detail("stderr_bytes", captured.stderr_bytes)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
