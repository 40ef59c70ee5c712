//! Sessions as text files that only grow.
//!
//! A session is a folder of segments; a segment is a file of lines, each a record as JSON; a record is written once, with
//! its line break, in one write, and never again. A compaction begins a new segment (P-6). docs/sessions.md shows all of
//! it by example.
//!
//! Read in this order: `place` (where things lie), `line` (what a line says), `read`, `disk` and `writer` (how lines come
//! to be), `index` (what listings are answered from), then this file, which puts them behind the port.

mod disk;
mod index;
mod line;
mod place;
mod read;
mod writer;

#[cfg(test)]
mod faults;

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use youyou_api::{
    BoxFuture, Durability, Error, ErrorCode, NewRecord, NewSession, OpenSession, Page, SessionId, SessionLog,
    SessionQuery, SessionStorage, SessionSummary, Skipped, StoredSession,
};

use self::{
    disk::{Disk, RealDisk},
    index::Index,
    writer::Writer,
};
use crate::{
    blocking::{InTurn, blocking},
    error::{busy, exists, io, not_found},
    owner::Owner,
};

/// Sessions as JSONL files below one folder.
///
/// Several may be open on one folder, in one process or several; each session has one owner all the same. It needs a tokio
/// runtime.
#[derive(Clone)]
pub struct JsonlSessions(Arc<Store>);

struct Store {
    root: PathBuf,
    disk: Arc<dyn Disk>,
    index: Index,
}

impl JsonlSessions {
    /// Sessions below this folder, which is made when the first is stored. Nothing is read or made yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let index = Index::new(&root);
        Self::on(root, Arc::new(RealDisk), index)
    }

    fn on(root: PathBuf, disk: Arc<dyn Disk>, index: Index) -> Self {
        Self(Arc::new(Store { root, disk, index }))
    }

    fn with<'a, T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<Store>) -> Result<T, Error> + Send + 'static,
    ) -> BoxFuture<'a, Result<T, Error>> {
        let store = self.0.clone();
        blocking(move || work(&store))
    }
}

impl SessionStorage for JsonlSessions {
    fn create(&self, session: NewSession) -> BoxFuture<'_, Result<Box<dyn SessionLog>, Error>> {
        self.with(move |store| {
            let log: Box<dyn SessionLog> = Box::new(JsonlLog::new(session.id.clone(), store.begin(session)?));
            Ok(log)
        })
    }

    fn open<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<OpenSession, Error>> {
        let id = id.clone();
        self.with(move |store| store.open(&id))
    }

    fn load<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<StoredSession, Error>> {
        let id = id.clone();
        self.with(move |store| store.load(&id))
    }

    fn list(&self, query: SessionQuery) -> BoxFuture<'_, Result<Page<SessionSummary>, Error>> {
        self.with(move |store| store.index.list(&query))
    }

    fn find<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<SessionSummary, Error>> {
        let text = text.to_owned();
        self.with(move |store| store.index.find(&text))
    }

    fn delete<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<(), Error>> {
        let id = id.clone();
        self.with(move |store| store.delete(&id))
    }

    fn fork<'a>(
        &'a self,
        source: &'a SessionId,
        last: u64,
        session: NewSession,
    ) -> BoxFuture<'a, Result<OpenSession, Error>> {
        let source = source.clone();
        self.with(move |store| store.fork(&source, last, session))
    }
}

impl Store {
    fn folder(&self, id: &SessionId) -> Result<PathBuf, Error> {
        let found = place::session_folder(&self.root, id).map_err(|error| io("read", &self.root, error))?;
        found.ok_or_else(|| not_found(id))
    }

    /// A session of which nothing is stored yet.
    fn begin(self: &Arc<Self>, session: NewSession) -> Result<State, Error> {
        place::check_id(&session.id)?;
        match self.folder(&session.id).and_then(|folder| read::outline(&folder, &session.id)) {
            Ok(_) => return Err(exists(&session.id)),
            Err(error) if error.code == ErrorCode::SessionNotFound => {}
            Err(error) => return Err(error),
        }
        let project = place::project_folder(session.project.as_deref());
        let folder = self.root.join(&project).join(session.id.as_str());
        let writer = Writer::begin(self.disk.clone(), folder, session);
        Ok(State { store: self.clone(), project, writer, owner: None })
    }

    fn open(self: &Arc<Self>, id: &SessionId) -> Result<OpenSession, Error> {
        let folder = self.folder(id)?;
        let owner = take(&folder, id)?;
        let (mut stored, outline) = read::session(&folder, id)?;
        if outline.end.torn {
            let place = place::segment(&folder, outline.end.segment).display().to_string();
            let reason =
                "the end of the file was cut off while it was being written; it was never confirmed".to_owned();
            stored.skipped.push(Skipped { place, reason });
        }
        let project = name(folder.parent());
        self.index.opened(&project, id);
        let writer = Writer::new(self.disk.clone(), folder, outline);
        let state = State { store: self.clone(), project, writer, owner: Some(owner) };
        Ok(OpenSession { stored, log: Box::new(JsonlLog::new(id.clone(), state)) })
    }

    fn load(&self, id: &SessionId) -> Result<StoredSession, Error> {
        Ok(read::session(&self.folder(id)?, id)?.0)
    }

    fn delete(&self, id: &SessionId) -> Result<(), Error> {
        let folder = self.folder(id)?;
        let owner = take(&folder, id)?;
        if !place::holds_session(&folder) {
            return Err(not_found(id));
        }
        let remove = || {
            for number in 1.. {
                let path = place::segment(&folder, number);
                match fs::remove_file(&path) {
                    Err(error) if error.kind() == ErrorKind::NotFound => break,
                    outcome => outcome.map_err(|error| io("remove", &path, error))?,
                }
            }
            drop(owner);
            if cfg!(not(unix)) {
                let _ = fs::remove_file(place::lock(&folder));
            }
            // Whoever asks for the session at this moment may have its lock in there, and finds no session.
            let _ = fs::remove_dir(&folder);
            Ok(())
        };
        self.index.changing(&name(folder.parent()), remove, |transaction| index::forget(transaction, id.as_str()))
    }

    fn fork(self: &Arc<Self>, source: &SessionId, last: u64, mut session: NewSession) -> Result<OpenSession, Error> {
        let mut stored = self.load(source)?;
        stored.records.retain(|record| record.seq <= last);
        let Some(record) = stored.records.last() else {
            return Err(Error::new(
                ErrorCode::InvalidInput,
                format!("the session {source} has no record up to number {last}; there is nothing to fork"),
            ));
        };
        session.forked_from = Some(youyou_api::Fork { session_id: source.clone(), seq: record.seq });
        let id = session.id.clone();
        let mut state = self.begin(session)?;
        state.take_new()?;
        state.writer.append_numbered(&stored.records, Durability::Synced)?;
        Ok(OpenSession { stored: self.load(&id)?, log: Box::new(JsonlLog::new(id, state)) })
    }
}

/// The session's ownership.
fn take(folder: &Path, id: &SessionId) -> Result<Owner, Error> {
    let lock = place::lock(folder);
    match Owner::take(&lock) {
        Ok(Some(owner)) => Ok(owner),
        Ok(None) => Err(busy(id)),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(not_found(id)),
        Err(error) => Err(io("lock", &lock, error)),
    }
}

fn name(folder: Option<&Path>) -> String {
    folder.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A session that is being written to.
struct JsonlLog {
    id: SessionId,
    /// Shared with the append that runs, which may outlive its future.
    next_seq: Arc<AtomicU64>,
    state: InTurn<State>,
}

struct State {
    store: Arc<Store>,
    /// The name of the project folder.
    project: String,
    writer: Writer,
    /// Nothing before the first record is stored.
    owner: Option<Owner>,
}

impl JsonlLog {
    fn new(id: SessionId, state: State) -> Self {
        let next_seq = Arc::new(AtomicU64::new(state.writer.end().next_seq));
        Self { id, next_seq, state: InTurn::new(state) }
    }
}

impl SessionLog for JsonlLog {
    fn id(&self) -> &SessionId {
        &self.id
    }

    fn next_seq(&self) -> u64 {
        self.next_seq.load(Ordering::Acquire)
    }

    fn append(&mut self, records: Vec<NewRecord>, durability: Durability) -> BoxFuture<'_, Result<u64, Error>> {
        let next_seq = self.next_seq.clone();
        self.state.work(move |state| {
            if state.owner.is_none() && records.is_empty() {
                return Ok(state.writer.end().next_seq);
            }
            state.take_new()?;
            let first = state.writer.append(records, durability)?;
            next_seq.store(state.writer.end().next_seq, Ordering::Release);
            Ok(first)
        })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, Result<(), Error>> {
        self.state.work(|state| {
            if state.writer.is_stored() {
                state.store.index.closed(&state.project, state.writer.summary(), state.writer.end());
            }
            state.owner = None;
            state.writer.finish()
        })
    }
}

impl State {
    /// Takes a session that is about to be stored for the first time.
    fn take_new(&mut self) -> Result<(), Error> {
        if self.owner.is_some() {
            return Ok(());
        }
        let folder = self.writer.folder();
        let session = self.writer.summary().session_id.clone();
        let make = || {
            disk::make_folder(folder).map_err(|error| io("make", folder, error))?;
            take(folder, &session)
        };
        let live =
            |transaction: &rusqlite::Transaction<'_>| index::is_live(transaction, &self.project, session.as_str());
        let owner = self.store.index.changing(&self.project, make, live)?;
        match read::outline(folder, &session) {
            Ok(_) => return Err(exists(&session)),
            Err(error) if error.code == ErrorCode::SessionNotFound => {}
            Err(error) => return Err(error),
        }
        self.owner = Some(owner);
        Ok(())
    }
}
