//! Processes that are killed while they write: what was acknowledged is there, whole and once (P-6).
//!
//! The process that is killed is this test itself, started again for one ignored test with its task in the environment.
#![cfg(unix)]

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
};

use youyou_api::{
    CallId, Compaction, CompactionMethod, Durability, ErrorCode, Metadata, NewRecord, NewSession, OpenSession, Part,
    SessionEvent, SessionId, SessionQuery, SessionStorage, ToolInput, ToolName, ToolResultRecord,
};
use youyou_storage::{JsonlSessions, SqliteStore};

/// Runs for each store; with those of both, at least 500.
const RUNS: u64 = 260;

/// After so many runs comes a session of its own.
const RUNS_PER_SESSION: u64 = 10;

const STORE: &str = "KILLED_STORE";
const FOLDER: &str = "KILLED_FOLDER";
const SESSION: &str = "KILLED_SESSION";
const SIGKILL: i32 = 9;

async fn store(kind: &str, folder: &Path) -> Arc<dyn SessionStorage> {
    match kind {
        "jsonl" => Arc::new(JsonlSessions::new(folder)),
        "sqlite" => Arc::new(SqliteStore::open(folder.join("youyou.db")).await.expect("opens")),
        other => panic!("no store {other}"),
    }
}

/// Numbers that look random and are the same in each run (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// The record of this number: a conversation with tools and compactions, of records long and short.
fn record(seq: u64) -> NewRecord {
    let call_id = CallId::new(format!("call-{seq}"));
    let event = match seq % 7 {
        0 => SessionEvent::user(vec![Part::text(format!("Ask {seq}"))]),
        1 => SessionEvent::ToolCall(ToolInput {
            call_id,
            tool_name: ToolName::new("write").expect("legal"),
            arguments: serde_json::Map::new(),
        }),
        2 => SessionEvent::ToolResult(ToolResultRecord {
            call_id,
            tool_name: "write".into(),
            content: "é\n".repeat(usize::try_from(seq * 37 % 2_000).expect("it fits")).into(),
            is_error: false,
            metadata: None,
        }),
        3 if seq % 21 == 3 => SessionEvent::Metadata(Metadata::compaction(&Compaction {
            summary: Some("so far".into()),
            first_kept: seq,
            result_limit: None,
            tokens_before: seq,
            method: CompactionMethod::Summary,
        })),
        _ => SessionEvent::system(format!("Note {seq}")),
    };
    NewRecord { at: seq, event }
}

/// Appends without end, and says on stdout after each append how many records there are now.
#[tokio::test]
#[ignore = "it is started by the test below, and killed"]
async fn writes_until_it_is_killed() {
    let task = |name: &str| std::env::var(name).expect("started by the other test");
    let session = SessionId::new(task(SESSION));
    let store = store(&task(STORE), Path::new(&task(FOLDER))).await;
    let mut log = match store.open(&session).await {
        Ok(OpenSession { log, .. }) => log,
        Err(error) if error.code == ErrorCode::SessionNotFound => {
            store.create(NewSession::new(session, 0)).await.expect("a new session")
        }
        Err(error) => panic!("{error}"),
    };
    let mut dice = Dice(log.next_seq() + 77);
    loop {
        let first = log.next_seq();
        let batch = (first..=first + dice.below(4)).map(record).collect();
        let durability = if dice.below(16) == 0 { Durability::Synced } else { Durability::Buffered };
        log.append(batch, durability).await.expect("appends");
        // Past the harness, which keeps what is printed.
        writeln!(std::io::stderr(), "stored {}", log.next_seq()).expect("the other test listens");
    }
}

fn start(kind: &str, folder: &Path, session: &SessionId) -> Child {
    Command::new(std::env::current_exe().expect("this program has a path"))
        .args(["writes_until_it_is_killed", "--exact", "--ignored", "--nocapture"])
        .env(STORE, kind)
        .env(FOLDER, folder)
        .env(SESSION, session.as_str())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// Lets it append so many times, kills it, and returns how many records it has acknowledged.
async fn killed_after(mut child: Child, appends: u64, store: &dyn SessionStorage, session: &SessionId) -> u64 {
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let mut said = Vec::new();
    let mut acknowledged = 0;
    let mut next = |said: &mut Vec<String>| {
        let line = lines.next()?.expect("reads");
        let count = line.strip_prefix("stored ").and_then(|count| count.parse().ok());
        said.push(line);
        Some(count)
    };
    let mut seen = 0;
    while seen < appends {
        match next(&mut said) {
            Some(Some(count)) => (acknowledged, seen) = (count, seen + 1),
            Some(None) => {}
            None => panic!("it ended by itself:\n{}", said.join("\n")),
        }
        if seen == 1 && appends.is_multiple_of(5) {
            let Err(error) = store.open(session).await else { panic!("two have the session") };
            assert_eq!(error.code, ErrorCode::SessionBusy);
        }
    }
    child.kill().expect("kills");
    // What it acknowledged before it died counts too.
    while let Some(line) = next(&mut said) {
        acknowledged = line.unwrap_or(acknowledged);
    }
    let status = child.wait().expect("it has ended");
    assert_eq!(status.signal(), Some(SIGKILL), "{}", said.join("\n"));
    acknowledged
}

async fn survives(kind: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store(kind, folder.path()).await;
    let mut dice = Dice(0x5eed);
    for run in 0..RUNS {
        let session = SessionId::new(format!("s-{}", run / RUNS_PER_SESSION));
        let child = start(kind, folder.path(), &session);
        let acknowledged = killed_after(child, 1 + dice.below(12), &*store, &session).await;

        let OpenSession { stored, log } = store.open(&session).await.expect("it is free, and opens");
        let count = stored.records.len() as u64;
        assert!(count >= acknowledged, "run {run}: {acknowledged} were acknowledged, {count} are there");
        assert_eq!(log.next_seq(), count, "run {run}");
        for (seq, found) in (0..).zip(&stored.records) {
            let expected = record(seq);
            assert_eq!((found.seq, found.at), (seq, expected.at), "run {run}");
            assert!(found.event == expected.event, "run {run}: record {seq} is {found:?}");
        }
        // At most the torn end is told.
        assert!(stored.skipped.len() <= 1, "run {run}: {:?}", stored.skipped);
        drop(log);
        let listed = store.list(SessionQuery::first(1)).await.expect("lists").items;
        assert_eq!(listed, store.load(&listed[0].session_id).await.map(|one| vec![one.summary]).expect("loads"));
    }
}

#[tokio::test]
async fn a_killed_process_loses_nothing_that_jsonl_acknowledged() {
    survives("jsonl").await;
}

#[tokio::test]
async fn a_killed_process_loses_nothing_that_sqlite_acknowledged() {
    survives("sqlite").await;
}
