//! What the exit status says.

use std::process::ExitCode;

use youyou::{Error, ErrorCode};

use crate::signals::StopRequest;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything went well.
    Ok = 0,
    /// The tool, or the check, reports failure.
    Reported = 1,
    /// The command was used wrongly, or its input is no good.
    Usage = 2,
    /// The thing could not be run: not found, timed out, trapped, over a limit; or what came of it could not be written.
    CouldNotRun = 3,
    /// The terminal went away; 128 and the signal's number, as shells have it.
    HungUp = 129,
    /// The user had enough.
    Interrupted = 130,
    /// The system, or another program, wanted it to end.
    Terminated = 143,
}

impl Exit {
    /// The status that goes with an error.
    pub(crate) fn of(error: &Error) -> Self {
        match error.code {
            ErrorCode::ToolArgumentsInvalid
            | ErrorCode::DefinitionInvalid
            | ErrorCode::ConfigParseError
            | ErrorCode::InvalidInput
            | ErrorCode::SessionAmbiguous => Self::Usage,
            _ => Self::CouldNotRun,
        }
    }
}

impl From<StopRequest> for Exit {
    fn from(request: StopRequest) -> Self {
        match request {
            StopRequest::Interrupt => Self::Interrupted,
            StopRequest::Terminate => Self::Terminated,
            StopRequest::HangUp => Self::HungUp,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
