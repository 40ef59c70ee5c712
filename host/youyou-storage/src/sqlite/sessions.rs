//! Sessions in the database: a row for each session, a row for each record.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use youyou_api::{
    BoxFuture, Durability, Error, ErrorCode, Fork, NewRecord, NewSession, OpenSession, Page, SessionEvent, SessionId,
    SessionLog, SessionQuery, SessionRecord, SessionStorage, SessionSummary, Skipped, StoredSession,
};

use super::{Database, SqliteStore, make_folder};
use crate::{
    blocking::InTurn,
    catalog::{self, from_sql, to_sql},
    error::{busy, exists, io, not_found},
    owner::Owner,
};

/// The step that makes the table. The records of a session lie together, in order.
pub(super) const TABLE: &str = "
    ALTER TABLE sessions ADD COLUMN next_seq INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE sessions ADD COLUMN forked_from TEXT;
    ALTER TABLE sessions ADD COLUMN forked_at INTEGER;
    CREATE TABLE records (
        session INTEGER NOT NULL REFERENCES sessions (key),
        seq INTEGER NOT NULL,
        at INTEGER NOT NULL,
        type TEXT NOT NULL,
        payload TEXT NOT NULL,
        PRIMARY KEY (session, seq)
    ) WITHOUT ROWID;
";

impl SessionStorage for SqliteStore {
    fn create(&self, session: NewSession) -> BoxFuture<'_, Result<Box<dyn SessionLog>, Error>> {
        self.with(move |database| {
            let log: Box<dyn SessionLog> = Box::new(SqliteLog::new(State::begin(database, session)?));
            Ok(log)
        })
    }

    fn open<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<OpenSession, Error>> {
        let id = id.clone();
        self.with(move |database| {
            // Asked first, so that one that is not there leaves no lock behind.
            database
                .read("read a session", |connection| catalog::get(connection, id.as_str()))?
                .ok_or_else(|| not_found(&id))?;
            let owner = database.take(&id)?;
            let (stored, next_seq, forked) = database.load(&id)?;
            let session = NewSession {
                id: id.clone(),
                created_at: stored.summary.created_at,
                project: stored.summary.project.clone(),
                forked_from: forked,
            };
            let summary = stored.summary.clone();
            let state = State { database: database.clone(), session, summary, next_seq, owner: Some(owner) };
            Ok(OpenSession { stored, log: Box::new(SqliteLog::new(state)) })
        })
    }

    fn load<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<StoredSession, Error>> {
        let id = id.clone();
        self.with(move |database| Ok(database.load(&id)?.0))
    }

    fn list(&self, query: SessionQuery) -> BoxFuture<'_, Result<Page<SessionSummary>, Error>> {
        self.with(move |database| database.ask(|connection, path| catalog::list(connection, path, &query)))
    }

    fn find<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<SessionSummary, Error>> {
        let text = text.to_owned();
        self.with(move |database| database.ask(|connection, path| catalog::find(connection, path, &text)))
    }

    fn delete<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<(), Error>> {
        let id = id.clone();
        self.with(move |database| {
            database
                .read("read a session", |connection| catalog::get(connection, id.as_str()))?
                .ok_or_else(|| not_found(&id))?;
            let _owner = database.take(&id)?;
            let removed = database.write("delete a session", Durability::Synced, |transaction| {
                let records = "DELETE FROM records WHERE session = (SELECT key FROM sessions WHERE id = ?1)";
                transaction.execute(records, [id.as_str()])?;
                catalog::remove(transaction, id.as_str())
            })?;
            if removed { Ok(()) } else { Err(not_found(&id)) }
        })
    }

    fn fork<'a>(
        &'a self,
        source: &'a SessionId,
        last: u64,
        mut session: NewSession,
    ) -> BoxFuture<'a, Result<OpenSession, Error>> {
        let source = source.clone();
        self.with(move |database| {
            let (mut stored, ..) = database.load(&source)?;
            stored.records.retain(|record| record.seq <= last);
            let Some(record) = stored.records.last() else {
                return Err(Error::new(
                    ErrorCode::InvalidInput,
                    format!("the session {source} has no record up to number {last}; there is nothing to fork"),
                ));
            };
            session.forked_from = Some(Fork { session_id: source, seq: record.seq });
            let id = session.id.clone();
            let mut state = State::begin(database, session)?;
            state.append(&stored.records, Durability::Synced)?;
            Ok(OpenSession { stored: database.load(&id)?.0, log: Box::new(SqliteLog::new(state)) })
        })
    }
}

impl Database {
    /// The session's ownership: a lock file beside the database, which is there as long as it is held.
    fn take(&self, id: &SessionId) -> Result<Owner, Error> {
        let folder = self.locks();
        make_folder(&folder).map_err(|error| io("make", &folder, error))?;
        // Any text may be an id here, but not the name of a file.
        let lock = folder.join(format!("{}.lock", &blake3::hash(id.as_str().as_bytes()).to_hex()[..32]));
        Owner::take(&lock).map_err(|error| io("lock", &lock, error))?.ok_or_else(|| busy(id))
    }

    fn locks(&self) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push("-locks");
        self.path.with_file_name(name)
    }

    /// A session, the number of its next record, and where it was forked from.
    fn load(&self, id: &SessionId) -> Result<(StoredSession, u64, Option<Fork>), Error> {
        let found = self.read("read a session", |connection| load(connection, id))?;
        let (mut stored, next_seq, unread) = found.ok_or_else(|| not_found(id))?;
        let place = |seq: u64| format!("{}: record {seq} of session {id}", self.path.display());
        stored.skipped = unread.into_iter().map(|(seq, reason)| Skipped { place: place(seq), reason }).collect();
        let forked = stored.forked_from.clone();
        Ok((stored, next_seq, forked))
    }
}

/// A session, the number of its next record, and which records cannot be read, with the reason.
type Loaded = (StoredSession, u64, Vec<(u64, String)>);

fn load(connection: &Connection, id: &SessionId) -> rusqlite::Result<Option<Loaded>> {
    // One look at the database, while others write to it.
    let transaction = connection.unchecked_transaction()?;
    let Some(summary) = catalog::get(&transaction, id.as_str())? else { return Ok(None) };
    let (key, next_seq, forked_from) = transaction
        .prepare_cached("SELECT key, next_seq, forked_from, forked_at FROM sessions WHERE id = ?1")?
        .query_row([id.as_str()], |row| {
            let at: Option<i64> = row.get(3)?;
            let from: Option<String> = row.get(2)?;
            let fork = from.zip(at).map(|(id, at)| Fork { session_id: SessionId::new(id), seq: from_sql(at) });
            Ok((row.get::<_, i64>(0)?, from_sql(row.get(1)?), fork))
        })?;
    let mut statement =
        transaction.prepare_cached("SELECT seq, at, type, payload FROM records WHERE session = ?1 ORDER BY seq")?;
    let mut rows = statement.query([key])?;
    let (mut records, mut unread) = (Vec::new(), Vec::new());
    while let Some(row) = rows.next()? {
        let (seq, at) = (from_sql(row.get(0)?), from_sql(row.get(1)?));
        let text = |column| row.get_ref(column).map(|value| value.as_str().map_err(|error| error.to_string()));
        let event = match (text(2)?, text(3)?) {
            (Ok(kind), Ok(payload)) => {
                SessionEvent::from_parts(kind, payload).map_err(|error| format!("it is not a record: {error}"))
            }
            (Err(error), _) | (_, Err(error)) => Err(format!("it is not a record: {error}")),
        };
        match event {
            Ok(event) => records.push(SessionRecord { seq, at, event }),
            Err(reason) => unread.push((seq, reason)),
        }
    }
    drop(rows);
    drop(statement);
    Ok(Some((StoredSession { summary, forked_from, records, skipped: Vec::new() }, next_seq, unread)))
}

/// A session that is being written to.
struct SqliteLog {
    id: SessionId,
    /// Shared with the append that runs, which may outlive its future.
    next_seq: Arc<AtomicU64>,
    state: InTurn<State>,
}

struct State {
    database: Arc<Database>,
    session: NewSession,
    summary: SessionSummary,
    next_seq: u64,
    /// Nothing before the first record is stored.
    owner: Option<Owner>,
}

impl SqliteLog {
    fn new(state: State) -> Self {
        let next_seq = Arc::new(AtomicU64::new(state.next_seq));
        Self { id: state.session.id.clone(), next_seq, state: InTurn::new(state) }
    }
}

impl SessionLog for SqliteLog {
    fn id(&self) -> &SessionId {
        &self.id
    }

    fn next_seq(&self) -> u64 {
        self.next_seq.load(Ordering::Acquire)
    }

    fn append(&mut self, records: Vec<NewRecord>, durability: Durability) -> BoxFuture<'_, Result<u64, Error>> {
        let next_seq = self.next_seq.clone();
        self.state.work(move |state| {
            let first = state.next_seq;
            let numbered = records.into_iter().zip(first..);
            let records: Vec<_> =
                numbered.map(|(NewRecord { at, event }, seq)| SessionRecord { seq, at, event }).collect();
            state.append(&records, durability)?;
            next_seq.store(state.next_seq, Ordering::Release);
            Ok(first)
        })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, Result<(), Error>> {
        self.state.work(|state| {
            state.owner = None;
            Ok(())
        })
    }
}

impl State {
    /// Of a session of which nothing is stored yet.
    fn begin(database: &Arc<Database>, session: NewSession) -> Result<Self, Error> {
        let found = database.read("look for a session", |connection| catalog::get(connection, session.id.as_str()))?;
        if found.is_some() {
            return Err(exists(&session.id));
        }
        let summary = SessionSummary::new(&session);
        Ok(Self { database: database.clone(), session, summary, next_seq: 0, owner: None })
    }

    fn append(&mut self, records: &[SessionRecord], durability: Durability) -> Result<(), Error> {
        if records.is_empty() && (durability == Durability::Buffered || self.owner.is_none()) {
            return Ok(());
        }
        let fresh = self.owner.is_none();
        if fresh {
            self.owner = Some(self.database.take(&self.session.id)?);
        }
        let mut summary = self.summary.clone();
        records.iter().for_each(|record| summary.observe(record.at, &record.event));
        let next_seq = records.last().map_or(self.next_seq, |record| record.seq.saturating_add(1));
        let made = self.database.write("append to a session", durability, |transaction| {
            // A session is made by its first record; nobody else may have made it meanwhile.
            if fresh && catalog::get(transaction, self.session.id.as_str())?.is_some() {
                return Ok(false);
            }
            append(transaction, &self.session, &summary, next_seq, records)?;
            Ok(true)
        });
        match made {
            Ok(true) => {
                self.summary = summary;
                self.next_seq = next_seq;
                Ok(())
            }
            Ok(false) => {
                self.owner = None;
                Err(exists(&self.session.id))
            }
            Err(error) => {
                if fresh {
                    self.owner = None;
                }
                Err(error)
            }
        }
    }
}

fn append(
    transaction: &Transaction<'_>,
    session: &NewSession,
    summary: &SessionSummary,
    next_seq: u64,
    records: &[SessionRecord],
) -> rusqlite::Result<()> {
    catalog::put(transaction, summary)?;
    let (from, at) = match &session.forked_from {
        Some(fork) => (Some(fork.session_id.as_str()), Some(to_sql(fork.seq))),
        None => (None, None),
    };
    let key: Option<i64> = transaction
        .prepare_cached(
            "UPDATE sessions SET next_seq = ?2, forked_from = ?3, forked_at = ?4 WHERE id = ?1 RETURNING key",
        )?
        .query_row(params![session.id.as_str(), to_sql(next_seq), from, at], |row| row.get(0))
        .optional()?;
    let mut statement = transaction.prepare_cached("INSERT INTO records VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for SessionRecord { seq, at, event } in records {
        let payload = serde_json::to_string(&event.payload())
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        statement.execute(params![key, to_sql(*seq), to_sql(*at), event.kind(), payload])?;
    }
    Ok(())
}
