//! A disk that fails or tears a write at every byte (D-71), and files as crashes and people leave them.

use std::{
    io,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use tempfile::TempDir;
use youyou_api::{
    Compaction, CompactionMethod, Durability, ErrorCode, Metadata, NewRecord, NewSession, OpenSession, Part,
    SessionEvent, SessionId, SessionQuery, SessionStorage, StoredSession,
};

use super::{
    JsonlSessions,
    disk::{Disk, DiskFile, RealDisk},
    index::Index,
    place,
};

/// What happens once the disk has taken so many steps; a byte that is written is a step, and so is every other action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Nothing works from then on, as if the process had been killed.
    Crash,
    /// One action fails, having done what it could; then all is well.
    Hiccup,
}

struct Faulty {
    left: Arc<Mutex<u64>>,
    fault: Fault,
    struck: Arc<AtomicBool>,
}

/// How many steps may still be taken of those asked for.
#[derive(Clone)]
struct Meter {
    left: Arc<Mutex<u64>>,
    fault: Fault,
    struck: Arc<AtomicBool>,
}

impl Meter {
    fn take(&self, steps: u64) -> Result<(), u64> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let struck = self.struck.load(Ordering::SeqCst);
        if struck && self.fault == Fault::Hiccup {
            return Ok(());
        }
        if steps <= *left {
            *left -= steps;
            return Ok(());
        }
        self.struck.store(true, Ordering::SeqCst);
        Err(std::mem::take(&mut *left))
    }

    fn step(&self) -> io::Result<()> {
        self.take(1).map_err(|_| io::Error::from(io::ErrorKind::StorageFull))
    }
}

impl Faulty {
    fn new(left: u64, fault: Fault) -> Self {
        Self { left: Arc::new(Mutex::new(left)), fault, struck: Arc::default() }
    }

    fn meter(&self) -> Meter {
        Meter { left: self.left.clone(), fault: self.fault, struck: self.struck.clone() }
    }
}

struct FaultyFile {
    file: Box<dyn DiskFile>,
    meter: Meter,
}

impl Disk for Faulty {
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.meter().step()?;
        Ok(Box::new(FaultyFile { file: RealDisk.open(path)?, meter: self.meter() }))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.meter().step()?;
        RealDisk.remove(path)
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        self.meter().step()
    }
}

impl DiskFile for FaultyFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match self.meter.take(bytes.len() as u64) {
            Ok(()) => self.file.write_at(offset, bytes),
            Err(written) => {
                self.file.write_at(offset, &bytes[..usize::try_from(written).expect("less than there are")])?;
                Err(io::ErrorKind::StorageFull.into())
            }
        }
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.meter.step()?;
        self.file.cut(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.meter.step()
    }
}

/// A store on such a disk. Neither it nor its index waits for the real one.
fn store_on(root: &Path, disk: Faulty) -> JsonlSessions {
    JsonlSessions::on(root.to_owned(), Arc::new(disk), Index::in_memory(root))
}

fn text(at: u64) -> NewRecord {
    NewRecord { at, event: SessionEvent::user(vec![Part::text(format!("é{at}"))]) }
}

fn compaction(at: u64) -> NewRecord {
    let compaction = Compaction {
        summary: None,
        first_kept: 1,
        result_limit: None,
        tokens_before: 1,
        method: CompactionMethod::Truncation,
    };
    NewRecord { at, event: SessionEvent::Metadata(Metadata::compaction(&compaction)) }
}

/// What is appended, each batch with how safe it should be.
fn script() -> Vec<(Vec<NewRecord>, Durability)> {
    vec![
        (vec![text(1)], Durability::Buffered),
        (vec![text(2), text(3)], Durability::Synced),
        (vec![compaction(4), text(5)], Durability::Synced),
        (vec![text(6)], Durability::Buffered),
        (vec![compaction(7)], Durability::Buffered),
        (vec![text(8)], Durability::Synced),
    ]
}

fn id() -> SessionId {
    SessionId::new("s")
}

fn times(stored: &StoredSession) -> Vec<u64> {
    stored.records.iter().map(|record| record.at).collect()
}

/// Every line of every segment is whole.
fn assert_no_half_line(root: &Path) {
    let folder = place::session_folder(root, &id()).expect("reads").expect("it is there");
    for number in 1.. {
        let path = place::segment(&folder, number);
        let Ok(content) = std::fs::read(&path) else { return };
        let text = String::from_utf8(content).expect("UTF-8");
        assert!(text.ends_with('\n'), "{}: {text}", path.display());
        for line in text.lines() {
            serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }
}

/// Runs the script on a disk that fails after so many steps; the records' times that were acknowledged, and whether it
/// failed at all.
async fn run(root: &Path, steps: u64, fault: Fault) -> (Vec<u64>, bool) {
    let disk = Faulty::new(steps, fault);
    let struck = disk.struck.clone();
    let store = store_on(root, disk);
    let mut acknowledged = Vec::new();
    let mut log = store.create(NewSession::new(id(), 1)).await.expect("nothing is written yet");
    for (batch, durability) in script() {
        let times = batch.iter().map(|record| record.at);
        match log.append(batch.clone(), durability).await {
            Ok(first) => {
                assert_eq!(first, acknowledged.len() as u64);
                acknowledged.extend(times);
            }
            Err(error) => {
                assert_eq!((error.code, error.kind()), (ErrorCode::StorageError, Some("DISK_FULL")));
                assert!(error.retryable);
                if fault == Fault::Crash {
                    break;
                }
                // D-71: the same records again.
                log.append(batch.clone(), durability).await.expect("all is well again");
                acknowledged.extend(times);
            }
        }
    }
    drop(log);
    (acknowledged, struck.load(Ordering::SeqCst))
}

/// How many steps the whole script takes.
async fn steps() -> u64 {
    let root = tempfile::tempdir().expect("a folder");
    let disk = Faulty::new(u64::MAX, Fault::Crash);
    let left = disk.left.clone();
    let store = store_on(root.path(), disk);
    let mut log = store.create(NewSession::new(id(), 1)).await.expect("a new session");
    for (batch, durability) in script() {
        log.append(batch, durability).await.expect("appends");
    }
    u64::MAX - *left.lock().expect("nobody panicked")
}

/// D-71: a write that failed at any byte, and was made again, leaves everything exactly once.
#[tokio::test]
async fn a_disk_that_fails_once_at_any_byte_loses_and_doubles_nothing() {
    let steps = steps().await;
    assert!(steps > 800, "the script writes: {steps}");
    for at in 0..steps {
        let root = tempfile::tempdir().expect("a folder");
        let (acknowledged, struck) = run(root.path(), at, Fault::Hiccup).await;
        assert!(struck, "step {at}");
        let stored = store_on(root.path(), Faulty::new(0, Fault::Crash)).load(&id()).await.expect("loads");
        assert_eq!(times(&stored), acknowledged, "step {at}");
        assert_eq!((times(&stored), stored.skipped), ((1..=8).collect(), Vec::new()), "step {at}");
        assert_no_half_line(root.path());
    }
}

/// A process that ends at any byte loses nothing that was acknowledged; the session opens and goes on.
#[tokio::test]
async fn a_crash_at_any_byte_loses_nothing_that_was_acknowledged() {
    let steps = steps().await;
    for at in 0..steps {
        let root = tempfile::tempdir().expect("a folder");
        let (acknowledged, struck) = run(root.path(), at, Fault::Crash).await;
        assert!(struck, "step {at}");
        let store = store_on(root.path(), Faulty::new(u64::MAX, Fault::Crash));
        let (stored, mut log) = match store.open(&id()).await {
            Ok(OpenSession { stored, log }) => (Some(stored), log),
            Err(error) if error.code == ErrorCode::SessionNotFound => {
                assert!(acknowledged.is_empty(), "step {at}");
                (None, store.create(NewSession::new(id(), 1)).await.expect("there is no such session"))
            }
            Err(error) => panic!("step {at}: {error}"),
        };
        let there = stored.as_ref().map(times).unwrap_or_default();
        assert!(there.starts_with(&acknowledged), "step {at}: {acknowledged:?} were acknowledged, {there:?} are there");
        assert_eq!(there, (1..=there.len() as u64).collect::<Vec<_>>(), "step {at}: a beginning of what was appended");
        log.append(vec![text(100)], Durability::Synced).await.expect("appends");
        log.close().await.expect("closes");
        assert_no_half_line(root.path());
        let after = store.load(&id()).await.expect("loads");
        assert_eq!(times(&after), [there, vec![100]].concat(), "step {at}");
        assert_eq!(after.skipped, [], "step {at}");
    }
}

/// A session of so many messages, and the path of its first segment.
async fn session_of(count: u64) -> (TempDir, std::path::PathBuf) {
    let root = tempfile::tempdir().expect("a folder");
    let store = JsonlSessions::new(root.path());
    let mut log = store.create(NewSession::new(id(), 1)).await.expect("a new session");
    log.append((1..=count).map(text).collect(), Durability::Buffered).await.expect("appends");
    log.close().await.expect("closes");
    let folder = place::session_folder(root.path(), &id()).expect("reads").expect("it is there");
    (root, place::segment(&folder, 1))
}

fn replace_line(path: &Path, line: usize, new: &[u8]) {
    let content = std::fs::read(path).expect("reads");
    let mut lines: Vec<_> = content.split_inclusive(|byte| *byte == b'\n').collect();
    lines[line - 1] = new;
    std::fs::write(path, lines.concat()).expect("writes");
}

/// K-05: five of six load, the line is named, and the file stays as it is.
#[tokio::test]
async fn a_damaged_line_is_skipped_and_named() {
    for damage in [b"{\"a\":\n".as_slice(), b"\xff\xfe\n", b"[1]\n", b"null\n", b"\0\0\0\n", b"{\"type\":1}\n"] {
        // The first line is the segment's own.
        let (root, path) = session_of(5).await;
        replace_line(&path, 3, damage);
        let before = std::fs::read(&path).expect("reads");
        let store = JsonlSessions::new(root.path());
        let OpenSession { stored, mut log } = store.open(&id()).await.expect("opens");
        assert_eq!(times(&stored), [1, 3, 4, 5]);
        let [skipped] = stored.skipped.as_slice() else { panic!("one line: {:?}", stored.skipped) };
        assert!(skipped.place.ends_with("000001.jsonl:3"), "{skipped:?}");
        assert_eq!(std::fs::read(&path).expect("reads"), before, "reading changes nothing");
        log.append(vec![text(6)], Durability::Synced).await.expect("appends");
        let after = std::fs::read(&path).expect("reads");
        assert!(after.starts_with(&before), "nothing is rewritten");
        let numbers: Vec<_> = store.load(&id()).await.expect("loads").records.iter().map(|one| one.seq).collect();
        assert_eq!(numbers, [0, 2, 3, 4, 5], "records keep their numbers");
    }
}

/// K-05, as it stands: a log without our first line, of six lines, the third of them cut off.
#[tokio::test]
async fn a_log_that_somebody_else_wrote_loads() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("by-hand/s");
    std::fs::create_dir_all(&folder).expect("makes");
    let line = r#"{"type":"system_message","payload":{"text":"x"}}"#;
    std::fs::write(place::segment(&folder, 1), [line, line, "{\"a\":", line, line, line].join("\r\n")).expect("writes");
    let store = JsonlSessions::new(root.path());
    let OpenSession { stored, mut log } = store.open(&id()).await.expect("opens");
    assert_eq!((stored.records.len(), stored.skipped.len()), (5, 1));
    // The last line has no line break; it is whole all the same, and stays.
    log.append(vec![text(7)], Durability::Buffered).await.expect("appends");
    assert_eq!(store.load(&id()).await.expect("loads").records.len(), 6);
}

/// What is torn is told to whoever goes on with the session, and is cut off by the next append only.
#[tokio::test]
async fn a_torn_end_is_left_alone_until_the_next_append() {
    let (root, path) = session_of(2).await;
    let whole = std::fs::read(&path).expect("reads");
    std::fs::write(&path, [&whole[..], b"{\"seq\":2,\"at\":3,\"ty"].concat()).expect("writes");
    let torn = std::fs::read(&path).expect("reads");
    let store = JsonlSessions::new(root.path());
    assert_eq!(store.load(&id()).await.expect("loads").skipped, [], "somebody may be writing it right now");
    let OpenSession { stored, mut log } = store.open(&id()).await.expect("opens");
    assert_eq!((times(&stored), stored.skipped.len()), (vec![1, 2], 1));
    assert_eq!(std::fs::read(&path).expect("reads"), torn);
    log.append(vec![text(3)], Durability::Buffered).await.expect("appends");
    assert!(std::fs::read(&path).expect("reads").starts_with(&whole));
    assert_no_half_line(root.path());
}

/// The index may vanish, be damaged or be behind; listings say what the files say.
#[tokio::test]
async fn the_index_is_made_anew_and_caught_up() {
    let (root, path) = session_of(2).await;
    let listed = async |why: &str| {
        let page = JsonlSessions::new(root.path()).list(SessionQuery::first(9)).await;
        page.unwrap_or_else(|error| panic!("{why}: {error}")).items
    };
    let index = root.path().join("index-1.db");
    let expected = listed("as it is").await;
    assert_eq!((expected.len(), expected[0].message_count), (1, 2));

    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(root.path().join(format!("index-1.db{end}")));
    }
    assert_eq!(listed("missing").await, expected);
    std::fs::write(&index, "this is no database, and long enough to be looked at closely".repeat(99)).expect("writes");
    assert_eq!(listed("damaged").await, expected);

    // A line that came without the index: from a process that was killed, or a backup.
    let mut content = std::fs::read(&path).expect("reads");
    content.extend_from_slice(b"{\"at\":900,\"type\":\"user_message\",\"payload\":{\"parts\":[]}}\n");
    std::fs::write(&path, &content).expect("writes");
    let grown = listed("grown").await;
    assert_eq!((grown[0].message_count, grown[0].updated_at), (3, 900));
    let folder = path.parent().expect("a folder").to_owned();
    std::fs::rename(&folder, folder.with_file_name("t")).expect("moves");
    let moved = listed("moved").await;
    assert_eq!(moved.iter().map(|one| one.session_id.as_str()).collect::<Vec<_>>(), ["t"]);
    std::fs::remove_dir_all(folder.parent().expect("a folder")).expect("removes");
    assert_eq!(listed("removed").await, []);
}

/// Sessions hold what people say; nobody else on the machine may read them.
#[cfg(unix)]
#[tokio::test]
async fn sessions_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (_root, path) = session_of(1).await;
    let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().expect("a folder"))), (0o600, 0o700));
}

#[tokio::test]
async fn a_newer_format_is_refused_and_left_alone() {
    let (root, path) = session_of(1).await;
    let start = r#"{"type":"segment_start","payload":{"format":2,"session_id":"s","segment":1,"created_at":1}}"#;
    replace_line(&path, 1, format!("{start}\n").as_bytes());
    let Err(error) = JsonlSessions::new(root.path()).open(&id()).await else { panic!("it opens") };
    assert_eq!((error.code, error.kind()), (ErrorCode::StorageError, Some("NEWER_FORMAT")));
}
