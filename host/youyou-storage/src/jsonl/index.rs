//! The index beside the segments: what listings and searches are answered from.
//!
//! It holds nothing that the segments do not say, and is made anew when it is missing or damaged. Three things keep it
//! true whatever happens to a process: the time at which each project folder last changed shows sessions that came or
//! went without it; sessions that somebody has open are on a list and looked at each time; and of every session that is
//! about to be shown, the length of its last segment is compared.
//!
//! Nothing here can fail an append: whoever writes only says what it does, and a failure is logged.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::UNIX_EPOCH,
};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use youyou_api::{Error, ErrorCode, NewSession, Page, SessionId, SessionQuery, SessionSummary};

use super::{
    disk, place,
    read::{self, End, Outline},
};
use crate::{
    catalog::{self, from_sql, to_sql},
    error::{io, sql},
    schema,
};

/// The form of the tables is in the name: an older version makes an index of its own.
const FILE: &str = "index-1.db";

const STEPS: &[&str] = &[
    catalog::TABLE,
    "
    CREATE TABLE places (
        id TEXT PRIMARY KEY,
        folder TEXT NOT NULL,
        segment INTEGER NOT NULL,
        good INTEGER NOT NULL,
        next_seq INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX places_by_folder ON places (folder);
    CREATE TABLE live (id TEXT PRIMARY KEY, folder TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE folders (name TEXT PRIMARY KEY, changed INTEGER) WITHOUT ROWID;
    ",
];

/// How often a listing starts over because something on its page had changed.
const ATTEMPTS: usize = 3;

pub(crate) struct Index {
    root: PathBuf,
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
}

impl Index {
    /// Touches nothing yet.
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), path: root.join(FILE), connection: Mutex::default() }
    }

    /// An index that is gone with this value.
    #[cfg(test)]
    pub(crate) fn in_memory(root: &Path) -> Self {
        let index = Self::new(root);
        *index.connection.lock().unwrap_or_else(PoisonError::into_inner) = schema::in_memory(STEPS).ok();
        index
    }

    /// One page of the listing.
    pub(crate) fn list(&self, query: &SessionQuery) -> Result<Page<SessionSummary>, Error> {
        if !self.root.is_dir() {
            return Ok(Page { items: Vec::new(), next: None });
        }
        self.with(|connection| {
            self.refresh(connection)?;
            for attempt in 1.. {
                let page = catalog::list(connection, &self.path, query)?;
                let mut changed = false;
                for session in &page.items {
                    changed |= self.bring_up_to_date(connection, &session.session_id)?;
                }
                if !changed || attempt == ATTEMPTS {
                    return Ok(page);
                }
            }
            unreachable!("the last attempt returns")
        })
    }

    /// The one session that a text means.
    pub(crate) fn find(&self, text: &str) -> Result<SessionSummary, Error> {
        if !self.root.is_dir() {
            return Err(crate::error::not_found(format!("{text:?}")));
        }
        self.with(|connection| {
            self.refresh(connection)?;
            let found = catalog::find(connection, &self.path, text)?;
            match self.bring_up_to_date(connection, &found.session_id)? {
                true => catalog::find(connection, &self.path, text),
                false => Ok(found),
            }
        })
    }

    /// Makes or removes something in a project folder, and says to the index what that means.
    pub(crate) fn changing<T>(
        &self,
        folder: &str,
        change: impl FnOnce() -> Result<T, Error>,
        meaning: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<T, Error> {
        let mut change = Some(change);
        let mut outcome = None;
        let mut meaning = Some(meaning);
        let noted = self.with(|connection| {
            let failed = |error| sql("note a change", &self.path, error);
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
            let known = changed_as_known(&transaction, folder).map_err(failed)?;
            let before = self.changed(folder);
            let (Some(change), Some(meaning)) = (change.take(), meaning.take()) else { return Ok(()) };
            let done = change();
            let successful = done.is_ok();
            outcome = Some(done);
            if !successful {
                return Ok(());
            }
            meaning(&transaction).map_err(failed)?;
            // Had the folder changed unseen before, it still has to be read.
            if known == before {
                remember_changed(&transaction, folder, self.changed(folder)).map_err(failed)?;
            }
            transaction.commit().map_err(failed)
        });
        if let Err(error) = noted {
            tracing::warn!("the index of the sessions is behind and will catch up: {error}");
        }
        match (outcome, change) {
            (Some(outcome), _) => outcome,
            (None, Some(change)) => change(),
            // Taken and not done: only a panic leads here, and that has passed us by.
            (None, None) => Err(Error::new(ErrorCode::StorageError, "the change was not made")),
        }
    }

    /// Somebody has the session open from now on.
    pub(crate) fn opened(&self, folder: &str, id: &SessionId) {
        self.note(|transaction| is_live(transaction, folder, id.as_str()));
    }

    /// Nobody has it open any more, and this is what it has come to.
    pub(crate) fn closed(&self, folder: &str, summary: &SessionSummary, end: End) {
        self.note(|transaction| {
            put(transaction, folder, summary, end)?;
            is_settled(transaction, summary.session_id.as_str())
        });
    }

    fn note(&self, change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>) {
        let mut change = Some(change);
        let noted = self.with(|connection| {
            let Some(change) = change.take() else { return Ok(()) };
            let noted = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .and_then(|transaction| change(&transaction).and_then(|()| transaction.commit()));
            noted.map_err(|error| sql("note a change", &self.path, error))
        });
        if let Err(error) = noted {
            tracing::warn!("the index of the sessions is behind and will catch up: {error}");
        }
    }

    /// Works on the database; one that turns out to be damaged is thrown away and made anew, once.
    fn with<T>(&self, mut work: impl FnMut(&mut Connection) -> Result<T, Error>) -> Result<T, Error> {
        let mut slot = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let mut connection = match slot.take() {
            Some(connection) => connection,
            None => self.open()?,
        };
        let mut outcome = work(&mut connection);
        if matches!(&outcome, Err(error) if error.kind() == Some("DAMAGED")) {
            drop(connection);
            self.throw_away();
            connection = self.open()?;
            outcome = work(&mut connection);
        }
        *slot = Some(connection);
        outcome
    }

    fn open(&self) -> Result<Connection, Error> {
        disk::make_folder(&self.root).map_err(|error| io("make", &self.root, error))?;
        schema::open(&self.path, STEPS).or_else(|error| {
            if error.kind() == Some("DAMAGED") {
                self.throw_away();
                if let Ok(connection) = schema::open(&self.path, STEPS) {
                    return Ok(connection);
                }
            }
            tracing::warn!("the sessions are listed without an index on disk, which takes longer: {error}");
            schema::in_memory(STEPS)
        })
    }

    fn throw_away(&self) {
        tracing::warn!("{} is damaged and is made anew from the sessions", self.path.display());
        for end in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(self.root.join(format!("{FILE}{end}")));
        }
    }

    /// Notices what came, went or went on without the index.
    fn refresh(&self, connection: &mut Connection) -> Result<(), Error> {
        let failed = |error| sql("read the index", &self.path, error);
        let present = place::folders(&self.root).map_err(|error| io("read", &self.root, error))?;
        let known = rows(connection, "SELECT name, changed FROM folders", []).map_err(failed)?;
        for (name, _) in known.iter().filter(|(name, _)| !present.contains(name)) {
            self.read_folder(connection, name)?;
        }
        for name in &present {
            let changed = self.changed(name);
            if changed.is_none() || known.iter().find(|(known, _)| known == name).map(|(_, at)| *at) != Some(changed) {
                self.read_folder(connection, name)?;
            }
        }
        let live = rows::<String>(connection, "SELECT id, folder FROM live", []).map_err(failed)?;
        for (id, folder) in live {
            let session = self.root.join(&folder).join(&id);
            if place::holds_session(&session) {
                self.bring_up_to_date_in(connection, &folder, &SessionId::new(id.as_str()))?;
            }
            if !place::lock(&session).exists() {
                is_settled(connection, &id).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Compares the sessions in a project folder with what is known of them.
    fn read_folder(&self, connection: &mut Connection, name: &str) -> Result<(), Error> {
        let failed = |error| sql("bring the index up to date", &self.path, error);
        let path = self.root.join(name);
        let changed = self.changed(name);
        let present = place::folders(&path).map_err(|error| io("read", &path, error))?;
        let present: std::collections::HashSet<_> = present.into_iter().collect();
        let known: std::collections::HashSet<_> =
            rows::<String>(connection, "SELECT id, folder FROM places WHERE folder = ?1", [name])
                .map_err(failed)?
                .into_iter()
                .map(|(id, _)| id)
                .collect();
        let mut outlines = Vec::new();
        let mut unfinished = Vec::new();
        for id in present.difference(&known) {
            match read::outline(&path.join(id), &SessionId::new(id.as_str())) {
                Ok(outline) => outlines.push(outline),
                // Somebody may be about to write its first record.
                Err(error) if error.code == ErrorCode::SessionNotFound => unfinished.push(id),
                Err(error) => tracing::warn!("the session {id} is not listed: {error}"),
            }
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let write = || -> rusqlite::Result<()> {
            for id in known.difference(&present) {
                forget(&transaction, id)?;
            }
            for outline in &outlines {
                put(&transaction, name, &outline.summary, outline.end)?;
            }
            for id in unfinished {
                is_live(&transaction, name, id)?;
            }
            remember_changed(&transaction, name, changed)
        };
        write().map_err(failed)?;
        transaction.commit().map_err(failed)
    }

    /// Reads on in a session if it has grown, and says whether that changed anything.
    fn bring_up_to_date(&self, connection: &Connection, id: &SessionId) -> Result<bool, Error> {
        let folder = connection
            .prepare_cached("SELECT folder FROM places WHERE id = ?1")
            .and_then(|mut statement| statement.query_row([id.as_str()], |row| row.get::<_, String>(0)).optional())
            .map_err(|error| sql("read the index", &self.path, error))?;
        match folder {
            Some(folder) => self.bring_up_to_date_in(connection, &folder, id),
            None => Ok(false),
        }
    }

    fn bring_up_to_date_in(&self, connection: &Connection, folder: &str, id: &SessionId) -> Result<bool, Error> {
        let failed = |error| sql("bring the index up to date", &self.path, error);
        let path = self.root.join(folder).join(id.as_str());
        let known = known(connection, id).map_err(failed)?;
        let was = known.as_ref().map(|(summary, _)| summary.clone());
        let outline = match known {
            Some((_, end)) if is_current(&path, end) => return Ok(false),
            Some((summary, end)) if is_longer(&path, end) => {
                let mut outline = Outline { session: NewSession::new(id.clone(), 0), summary, end };
                read::catch_up(&path, &mut outline).map(|()| outline)
            }
            Some(_) | None => read::outline(&path, id),
        };
        match outline {
            Ok(outline) => {
                put(connection, folder, &outline.summary, outline.end).map_err(failed)?;
                Ok(was.as_ref() != Some(&outline.summary))
            }
            Err(error) => {
                if error.code != ErrorCode::SessionNotFound {
                    tracing::warn!("the session {id} is not listed: {error}");
                }
                forget(connection, id.as_str()).map_err(failed)?;
                Ok(true)
            }
        }
    }

    /// When a project folder last changed; nothing if it is not there.
    fn changed(&self, folder: &str) -> Option<i64> {
        let changed = fs::metadata(self.root.join(folder)).and_then(|metadata| metadata.modified()).ok()?;
        let since = changed.duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(since.as_nanos()).ok()
    }
}

/// Whether the last segment ends where the index says.
fn is_current(folder: &Path, end: End) -> bool {
    let length = fs::metadata(place::segment(folder, end.segment)).map(|metadata| metadata.len());
    length.is_ok_and(|length| length == end.good) && !place::segment(folder, end.segment + 1).exists()
}

/// Whether what the index knows of may still be there.
fn is_longer(folder: &Path, end: End) -> bool {
    match fs::metadata(place::segment(folder, end.segment)) {
        Ok(metadata) => metadata.len() >= end.good,
        Err(error) => error.kind() != ErrorKind::NotFound,
    }
}

fn known(connection: &Connection, id: &SessionId) -> rusqlite::Result<Option<(SessionSummary, End)>> {
    let Some(summary) = catalog::get(connection, id.as_str())? else { return Ok(None) };
    let end = connection
        .prepare_cached("SELECT segment, good, next_seq FROM places WHERE id = ?1")?
        .query_row([id.as_str()], |row| {
            let end = End::start();
            Ok(End { segment: row.get(0)?, good: from_sql(row.get(1)?), next_seq: from_sql(row.get(2)?), ..end })
        })
        .optional()?;
    Ok(end.map(|end| (summary, end)))
}

fn put(connection: &Connection, folder: &str, summary: &SessionSummary, end: End) -> rusqlite::Result<()> {
    catalog::put(connection, summary)?;
    connection.prepare_cached("INSERT OR REPLACE INTO places VALUES (?1, ?2, ?3, ?4, ?5)")?.execute(params![
        summary.session_id.as_str(),
        folder,
        end.segment,
        to_sql(end.good),
        to_sql(end.next_seq)
    ])?;
    Ok(())
}

/// Nothing is left of the session.
pub(crate) fn forget(connection: &Connection, id: &str) -> rusqlite::Result<()> {
    catalog::remove(connection, id)?;
    connection.prepare_cached("DELETE FROM places WHERE id = ?1")?.execute([id])?;
    is_settled(connection, id)
}

/// Somebody has the session open, or is about to make it.
pub(crate) fn is_live(connection: &Connection, folder: &str, id: &str) -> rusqlite::Result<()> {
    connection.prepare_cached("INSERT OR REPLACE INTO live VALUES (?1, ?2)")?.execute([id, folder])?;
    Ok(())
}

fn is_settled(connection: &Connection, id: &str) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM live WHERE id = ?1")?.execute([id])?;
    Ok(())
}

fn changed_as_known(connection: &Connection, folder: &str) -> rusqlite::Result<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT changed FROM folders WHERE name = ?1")?;
    Ok(statement.query_row([folder], |row| row.get(0)).optional()?.flatten())
}

fn remember_changed(connection: &Connection, folder: &str, changed: Option<i64>) -> rusqlite::Result<()> {
    match changed {
        Some(changed) => connection
            .prepare_cached("INSERT OR REPLACE INTO folders VALUES (?1, ?2)")?
            .execute(params![folder, changed])?,
        None => connection.prepare_cached("DELETE FROM folders WHERE name = ?1")?.execute([folder])?,
    };
    Ok(())
}

/// All rows of two columns, the first a text.
fn rows<T: rusqlite::types::FromSql>(
    connection: &Connection,
    statement: &str,
    values: impl rusqlite::Params,
) -> rusqlite::Result<Vec<(String, T)>> {
    connection.prepare_cached(statement)?.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}
