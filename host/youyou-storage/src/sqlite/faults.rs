//! Databases as crashes and other programs leave them.

use std::{fs, path::Path};

use tempfile::TempDir;
use youyou_api::{
    Durability, ErrorCode, NewRecord, NewSession, OpenSession, Part, SessionEvent, SessionId, SessionLog,
    SessionStorage,
};

use super::SqliteStore;

fn id() -> SessionId {
    SessionId::new("s")
}

fn text(at: u64) -> NewRecord {
    NewRecord { at, event: SessionEvent::user(vec![Part::text(format!("Message {at}"))]) }
}

async fn open(folder: &Path) -> SqliteStore {
    SqliteStore::open(folder.join("a.db")).await.expect("opens")
}

/// A session of so many messages, each an append of its own, still open.
async fn session_of(count: u64) -> (TempDir, SqliteStore, Box<dyn SessionLog>) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path()).await;
    let mut log = store.create(NewSession::new(id(), 1)).await.expect("a new session");
    for at in 0..count {
        log.append(vec![text(at)], Durability::Buffered).await.expect("appends");
    }
    (folder, store, log)
}

/// A power cut leaves a beginning of what was written; it is a beginning of the session, and the session goes on.
#[tokio::test]
async fn a_log_of_changes_cut_anywhere_holds_a_beginning_of_the_session() {
    let (folder, _store, _log) = session_of(8).await;
    let [database, wal] = ["a.db", "a.db-wal"].map(|name| fs::read(folder.path().join(name)).expect("reads"));
    assert!(wal.len() > 20_000, "the changes are not in the database yet: {}", wal.len());
    let mut longest = 0;
    for cut in (0..=wal.len()).step_by(997).chain([wal.len()]) {
        let copy = tempfile::tempdir().expect("a folder");
        fs::write(copy.path().join("a.db"), &database).expect("writes");
        fs::write(copy.path().join("a.db-wal"), &wal[..cut]).expect("writes");
        let store = open(copy.path()).await;
        let (there, mut log) = match store.open(&id()).await {
            Ok(OpenSession { stored, log }) => (stored.records.len() as u64, log),
            Err(error) if error.code == ErrorCode::SessionNotFound => {
                (0, store.create(NewSession::new(id(), 1)).await.expect("there is no such session"))
            }
            Err(error) => panic!("cut at {cut}: {error}"),
        };
        assert!(there >= longest, "cut at {cut}: {there} records, and {longest} with less of the file");
        longest = there;
        log.append(vec![text(there)], Durability::Buffered).await.expect("appends");
        let stored = store.load(&id()).await.expect("loads");
        let times: Vec<_> = stored.records.iter().map(|record| record.at).collect();
        assert_eq!((times, stored.skipped), ((0..=there).collect(), Vec::new()), "cut at {cut}");
    }
    assert_eq!(longest, 8, "the whole file holds everything");
}

/// K-05, for rows: the others load, and the record is named.
#[tokio::test]
async fn a_damaged_row_is_skipped_and_named() {
    let (folder, store, log) = session_of(5).await;
    drop(log);
    for (seq, damage) in [(1, "payload = '{\"a\":'"), (3, "payload = x'ff00'")] {
        let damage = format!("UPDATE records SET {damage} WHERE seq = {seq}");
        store.0.read("damage it", |connection| connection.execute(&damage, [])).expect("damages");
    }
    let OpenSession { stored, mut log } = open(folder.path()).await.open(&id()).await.expect("opens");
    let numbers: Vec<_> = stored.records.iter().map(|record| record.seq).collect();
    assert_eq!(numbers, [0, 2, 4]);
    let places: Vec<_> = stored.skipped.iter().map(|skipped| skipped.place.as_str()).collect();
    assert!(places[0].ends_with("a.db: record 1 of session s") && places.len() == 2, "{places:?}");
    assert_eq!(log.append(vec![text(5)], Durability::Synced).await.expect("appends"), 5);
}

/// Sessions hold what people say; nobody else on the machine may read them, whatever the folder allows.
#[cfg(unix)]
#[tokio::test]
async fn the_database_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, _store, _log) = session_of(1).await;
    for name in ["a.db", "a.db-wal"] {
        let mode = fs::metadata(folder.path().join(name)).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}");
    }
}

#[tokio::test]
async fn what_is_no_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.db");
    let text = "a letter to somebody, and no database at all\n".repeat(99);
    fs::write(&path, &text).expect("writes");
    let Err(error) = SqliteStore::open(&path).await else { panic!("it opens") };
    assert_eq!((error.code, error.kind()), (ErrorCode::StorageError, Some("DAMAGED")));
    assert_eq!(fs::read_to_string(&path).expect("reads"), text);
}
