//! What the stores say when something fails.

use std::{fmt::Display, io, path::Path};

use serde_json::json;
use youyou_api::{Error, ErrorCode, SessionId, SessionSummary};

/// A file or folder could not be used. `action` is what was tried: "write to", "create".
pub(crate) fn io(action: &str, path: &Path, error: io::Error) -> Error {
    let (kind, remedy) = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ("DISK_FULL", "; make room on the disk"),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ("PERMISSION_DENIED", "; check whose it is and who may write there")
        }
        _ => ("IO", ""),
    };
    Error::new(ErrorCode::StorageError, format!("could not {action} {}: {error}{remedy}", path.display()))
        .with_kind(kind)
        .with_cause(error)
}

/// The database could not be used.
pub(crate) fn sql(action: &str, path: &Path, error: rusqlite::Error) -> Error {
    use rusqlite::ErrorCode as Sqlite;
    let (kind, remedy) = match error.sqlite_error_code() {
        Some(Sqlite::DiskFull) => ("DISK_FULL", "; make room on the disk"),
        Some(Sqlite::PermissionDenied | Sqlite::ReadOnly | Sqlite::CannotOpen) => {
            ("PERMISSION_DENIED", "; check that the file and its folder can be written")
        }
        Some(Sqlite::DatabaseBusy | Sqlite::DatabaseLocked) => ("LOCKED", "; another process holds it, try again"),
        Some(Sqlite::DatabaseCorrupt | Sqlite::NotADatabase) => ("DAMAGED", "; restore it from a backup"),
        _ => ("SQLITE", ""),
    };
    Error::new(ErrorCode::StorageError, format!("could not {action} in {}: {error}{remedy}", path.display()))
        .with_kind(kind)
        .with_cause(error)
}

pub(crate) fn not_found(text: impl Display) -> Error {
    Error::new(
        ErrorCode::SessionNotFound,
        format!(
            "no session has the id {text}, an id that begins so, or this title; list the sessions to see which there are"
        ),
    )
}

pub(crate) fn busy(id: &SessionId) -> Error {
    Error::new(
        ErrorCode::SessionBusy,
        format!("the session {id} is open elsewhere, here or in another process; close it there, or only read it"),
    )
}

pub(crate) fn exists(id: &SessionId) -> Error {
    Error::new(ErrorCode::InvalidInput, format!("there is already a session {id}; open it, or choose another id"))
}

pub(crate) fn ambiguous(text: &str, candidates: &[SessionSummary], more: bool) -> Error {
    let shown: Vec<_> = candidates
        .iter()
        .map(|one| format!("{} ({})", one.session_id, one.title.as_deref().unwrap_or("no title")))
        .collect();
    let more = if more { " and more" } else { "" };
    let list: Vec<_> = candidates.iter().map(|one| json!({"session_id": one.session_id, "title": one.title})).collect();
    Error::new(
        ErrorCode::SessionAmbiguous,
        format!("{text:?} fits several sessions: {}{more}; give more of the id", shown.join(", ")),
    )
    .with_detail("candidates", list)
}

pub(crate) fn bad_cursor(cursor: &str) -> Error {
    Error::new(
        ErrorCode::InvalidInput,
        format!("{cursor:?} is no place in this listing; take the cursor from the page before, or begin without one"),
    )
}
