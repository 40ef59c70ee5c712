//! Opening a database, and bringing its tables to the form of this version.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, TransactionBehavior};
use youyou_api::{Error, ErrorCode};

use crate::error::{io, sql};

/// How long a statement waits for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens the database, makes it if it is missing, and applies the steps that it has not seen yet. Each step is applied
/// once, whole or not at all; a released step never changes.
///
/// # Errors
/// `STORAGE_ERROR`, also when a newer version has been here.
pub(crate) fn open(path: &Path, steps: &[&str]) -> Result<Connection, Error> {
    make_private(path).map_err(|error| io("make", path, error))?;
    let connection = Connection::open(path).map_err(|error| sql("open the database", path, error))?;
    migrate(connection, path, steps)
}

/// The same in memory, gone with the connection.
pub(crate) fn in_memory(steps: &[&str]) -> Result<Connection, Error> {
    let path = Path::new(":memory:");
    migrate(Connection::open_in_memory().map_err(|error| sql("make a database", path, error))?, path, steps)
}

/// Makes the file, if it is missing, so that only its owner may read it; SQLite gives the files beside it the same rights.
fn make_private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

fn migrate(mut connection: Connection, path: &Path, steps: &[&str]) -> Result<Connection, Error> {
    let failed = |error| sql("set up the tables", path, error);
    connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
    connection.pragma_update(None, "journal_mode", "wal").map_err(failed)?;
    connection.pragma_update(None, "synchronous", "normal").map_err(failed)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    let known = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    let newer = || {
        Error::new(
            ErrorCode::StorageError,
            format!(
                "{} was written by a newer version: its tables have form {found}, this version knows {known}; update, or \
                 use another file",
                path.display()
            ),
        )
        .with_kind("NEWER_FORMAT")
    };
    let missing = usize::try_from(found).ok().and_then(|found| steps.get(found..)).ok_or_else(newer)?;
    for step in missing {
        transaction.execute_batch(step).map_err(failed)?;
    }
    if !missing.is_empty() {
        transaction.pragma_update(None, "user_version", known).map_err(failed)?;
    }
    transaction.commit().map_err(failed)?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_is_applied_once_and_a_newer_form_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.db");
        let steps = ["CREATE TABLE a (x)", "CREATE TABLE b (x)"];
        drop(open(&path, &steps[..1]).expect("opens"));
        drop(open(&path, &steps).expect("opens"));
        let connection = open(&path, &steps).expect("opens");
        connection.execute("INSERT INTO b VALUES (1)", []).expect("both tables are there");
        let error = open(&path, &steps[..1]).expect_err("it is newer");
        assert_eq!((error.code, error.kind()), (ErrorCode::StorageError, Some("NEWER_FORMAT")));
        let broken = open(&dir.path().join("b.db"), &["CREATE TABLE a (x)", "nonsense"]).expect_err("not SQL");
        assert_eq!(broken.code, ErrorCode::StorageError);
        drop(open(&dir.path().join("b.db"), &steps).expect("nothing of the failed attempt is there"));
    }
}
