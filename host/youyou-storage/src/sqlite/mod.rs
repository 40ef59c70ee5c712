//! Sessions and memories in one SQLite database.
//!
//! Read in this order: this file (the database and its tables), `sessions`, `terms` (how text is cut into what can be
//! searched), `memories`.

mod memories;
mod sessions;
mod terms;

#[cfg(test)]
mod faults;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use youyou_api::{BoxFuture, Durability, Error};

use crate::{
    blocking::blocking,
    catalog,
    error::{io, sql},
    schema,
};

/// The steps from an empty database to the tables of this version; see [`schema::open`].
const STEPS: &[&str] = &[catalog::TABLE, sessions::TABLE, memories::TABLES];

/// Sessions and memories in one database.
///
/// Several may be open on one file, in one process or several; each session has one owner all the same. It needs a tokio
/// runtime. Clones share one connection.
#[derive(Clone)]
pub struct SqliteStore(Arc<Database>);

struct Database {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl SqliteStore {
    /// Opens the database, and makes it and its folder if they are missing.
    ///
    /// # Errors
    /// `STORAGE_ERROR`: with `details.kind` `NEWER_FORMAT` when a newer version has written it, `DAMAGED` when it is no
    /// database, `PERMISSION_DENIED` when it cannot be written.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        blocking(move || {
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                make_folder(folder).map_err(|error| io("make", folder, error))?;
            }
            let connection = schema::open(&path, STEPS)?;
            Ok(Self(Arc::new(Database { path, connection: Mutex::new(connection) })))
        })
        .await
    }

    fn with<'a, T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<Database>) -> Result<T, Error> + Send + 'static,
    ) -> BoxFuture<'a, Result<T, Error>> {
        let database = self.0.clone();
        blocking(move || work(&database))
    }
}

impl Database {
    /// Works on the connection; `action` is what is being done, for errors.
    fn read<T>(&self, action: &str, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        work(&connection).map_err(|error| sql(action, &self.path, error))
    }

    /// The same, where the work makes its own errors.
    fn ask<T>(&self, work: impl FnOnce(&Connection, &Path) -> Result<T, Error>) -> Result<T, Error> {
        work(&self.connection.lock().unwrap_or_else(PoisonError::into_inner), &self.path)
    }

    /// Changes the database: all of it or nothing.
    fn write<T>(
        &self,
        action: &str,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let change = || {
            let synchronous = match durability {
                Durability::Buffered => "normal",
                Durability::Synced => "full",
            };
            connection.pragma_update(None, "synchronous", synchronous)?;
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        change().map_err(|error| sql(action, &self.path, error))
    }
}

fn make_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
