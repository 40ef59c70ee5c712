//! What the stores are held against: listing many sessions to listing few, appending to a long session to appending to a
//! short one. How fast a long one is read is told for information.
//!
//! `cargo bench -p youyou-storage` measures. Run as a test, without `--bench`, everything is done once, so that a bench
//! which has come to fail is noticed; no time is judged then.

#[path = "../../../tests/benches/ratios/measure.rs"]
mod measure;
#[path = "../../../tests/benches/ratios/report.rs"]
#[allow(dead_code, reason = "the ratios of the whole product need more of it")]
mod report;

use std::{path::Path, sync::Arc, time::Duration};

use tokio::runtime::Runtime;
use youyou_api::{
    AssistantPart, AssistantRecord, Durability, MessageStatus, NewRecord, NewSession, Part, SessionEvent, SessionId,
    SessionLog, SessionQuery, SessionStorage, Usage,
};
use youyou_storage::{JsonlSessions, SqliteStore};

use crate::{
    measure::{Pace, in_turn, timed},
    report::{Reach, Report, shown},
};

/// What a part of this bench returns; where something fails, the bench says so and ends.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// How many sessions a page shows.
const PAGE: usize = 20;

/// Appends that are timed together.
const APPENDS: usize = 50;

fn main() -> Outcome {
    let words: Vec<_> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--list") {
        return Ok(());
    }
    let pace = if words.iter().any(|word| word == "--bench") { Pace::Full } else { Pace::Smoke };
    let mut report = Report::new(pace);
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    for kind in ["JSONL", "SQLite"] {
        listing(&mut report, &runtime, kind)?;
        appending(&mut report, &runtime, kind)?;
        resuming(&mut report, &runtime, kind)?;
    }
    report.finish()
}

fn store(runtime: &Runtime, kind: &str, folder: &Path) -> Outcome<Arc<dyn SessionStorage>> {
    Ok(match kind {
        "JSONL" => Arc::new(JsonlSessions::new(folder)),
        _ => Arc::new(runtime.block_on(SqliteStore::open(folder.join("youyou.db")))?),
    })
}

/// Two records of a conversation: some 250 bytes each.
fn exchange(at: u64) -> Vec<NewRecord> {
    let text = format!("Message {at}: {}", "some words of a conversation ".repeat(6));
    let answer = AssistantRecord {
        parts: [AssistantPart::Text { text: text.as_str().into() }].into(),
        status: MessageStatus::Complete,
        usage: Usage { input_tokens: 1_000, output_tokens: 50 },
        renamed: Vec::new(),
    };
    let events = [SessionEvent::user(vec![Part::text(text)]), SessionEvent::AssistantMessage(answer)];
    events.into_iter().map(|event| NewRecord { at, event }).collect()
}

/// A store with so many sessions, whose ids begin as those of sessions made at different times do.
fn filled(runtime: &Runtime, kind: &str, folder: &Path, sessions: u64) -> Outcome<Arc<dyn SessionStorage>> {
    let store = store(runtime, kind, folder)?;
    runtime.block_on(async {
        for n in 0..sessions {
            let session = NewSession::new(session_id(n), n).in_project("/home/me/project");
            let mut log = store.create(session).await?;
            log.append(exchange(n), Durability::Buffered).await?;
            log.close().await?;
        }
        Ok::<_, youyou_api::Error>(())
    })?;
    Ok(store)
}

fn session_id(n: u64) -> SessionId {
    // As if shuffled: neighbours in time are none in the alphabet.
    SessionId::new(format!("{:08x}-{n}", (n * 0x9e37_79b1) & 0xffff_ffff))
}

fn listing(report: &mut Report, runtime: &Runtime, kind: &str) -> Outcome {
    let counts = [report.count(10_000, 40) as u64, report.count(100, 30) as u64];
    let folders = [tempfile::tempdir()?, tempfile::tempdir()?];
    let [many, few] = [0, 1].map(|i| filled(runtime, kind, folders[i].path(), counts[i]));
    let (many, few) = (many?, few?);

    let list = |store: &Arc<dyn SessionStorage>| -> Outcome<Duration> {
        let (took, page) = timed(|| runtime.block_on(store.list(SessionQuery::first(PAGE))))?;
        if page.items.len() != PAGE { Err(format!("{} on a page", page.items.len()).into()) } else { Ok(took) }
    };
    let measured = in_turn(report.effort(15, 40), || list(&many), || list(&few))?;
    report.ratio(
        &format!("{kind}: first page of 10,000 sessions, to that of 100"),
        &measured,
        Reach::AtMost(3.0),
        [&format!("{kind}: first page of 10,000 sessions"), &format!("{kind}: first page of 100 sessions")],
    );

    let find = |store: &Arc<dyn SessionStorage>| -> Outcome<Duration> {
        let wanted = session_id(7);
        let (took, found) = timed(|| runtime.block_on(store.find(&wanted.as_str()[..9])))?;
        if found.session_id == wanted { Ok(took) } else { Err(format!("found {}", found.session_id).into()) }
    };
    let measured = in_turn(report.effort(15, 40), || find(&many), || find(&few))?;
    report.ratio(
        &format!("{kind}: finding one of 10,000 sessions by a prefix, to one of 100"),
        &measured,
        Reach::AtMost(3.0),
        [&format!("{kind}: finding one of 10,000 sessions"), &format!("{kind}: finding one of 100 sessions")],
    );
    Ok(())
}

fn appending(report: &mut Report, runtime: &Runtime, kind: &str) -> Outcome {
    let folder = tempfile::tempdir()?;
    let store = store(runtime, kind, folder.path())?;
    let exchanges = report.count(25_000, 20) as u64;
    let log_of = |id: &str, exchanges: u64| -> Outcome<Box<dyn SessionLog>> {
        Ok(runtime.block_on(async {
            let mut log = store.create(NewSession::new(SessionId::new(id), 0)).await?;
            for first in (0..exchanges).step_by(500) {
                let batch = (first..exchanges.min(first + 500)).flat_map(exchange).collect();
                log.append(batch, Durability::Buffered).await?;
            }
            Ok::<_, youyou_api::Error>(log)
        })?)
    };
    let (mut long, mut short) = (log_of("long", exchanges)?, log_of("short", 1)?);
    let append = |log: &mut Box<dyn SessionLog>| -> Outcome<Duration> {
        let (took, ()) = timed(|| {
            runtime.block_on(async {
                for at in 0..APPENDS {
                    log.append(exchange(at as u64), Durability::Buffered).await?;
                }
                Ok::<_, youyou_api::Error>(())
            })
        })?;
        Ok(took)
    };
    // Few samples, since each makes the short one longer.
    let measured = in_turn(report.effort(9, 5), || append(&mut long), || append(&mut short))?;
    let name = |what: &str| format!("{kind}: {APPENDS} appends of two records to a session of {what}");
    report.ratio(
        &format!("{kind}: appending to a session of 50,000 records, to a short one"),
        &measured,
        Reach::AtMost(1.5),
        [&name("50,000 records"), &name("few")],
    );
    Ok(())
}

fn resuming(report: &mut Report, runtime: &Runtime, kind: &str) -> Outcome {
    let folder = tempfile::tempdir()?;
    let store = store(runtime, kind, folder.path())?;
    let exchanges = report.count(25_000, 20) as u64;
    let id = SessionId::new("s");
    runtime.block_on(async {
        let mut log = store.create(NewSession::new(id.clone(), 0)).await?;
        log.append((0..exchanges).flat_map(exchange).collect(), Durability::Buffered).await?;
        log.close().await
    })?;
    let mut times = Vec::new();
    for _ in 0..report.count(9, 1) {
        let (took, open) = timed(|| runtime.block_on(store.open(&id)))?;
        if open.stored.records.len() as u64 != 2 * exchanges {
            return Err(format!("{} records were read", open.stored.records.len()).into());
        }
        times.push(took);
    }
    let took = measure::median(&mut times);
    let rate = 2.0 * exchanges as f64 / took.as_secs_f64();
    report.information(
        &format!("{kind}: resuming a session of 50,000 records"),
        format!("{}, {rate:.0} records/s", shown(took)),
    );
    Ok(())
}
