//! The checks of a session store (Y3.7).

use futures_util::{FutureExt, future::join_all};
use serde_json::{Map, json};
use youyou_api::{
    AssistantPart, AssistantRecord, CallId, Compaction, CompactionMethod, Durability, ErrorCode, Fork, MessageStatus,
    Metadata, NewRecord, NewSession, OpaqueRecord, OpenSession, PageCursor, Part, RenamedCall, SessionEvent, SessionId,
    SessionLog, SessionQuery, SessionStorage, SessionSummary, StoredSession, ToolCall, ToolInput, ToolName,
    ToolResultRecord, Usage,
};

use super::{SessionPlace, code};

/// Runs every check, each on a place of its own.
///
/// # Panics
/// When the store does not do what the port says.
pub async fn sessions<P: SessionPlace>(place: impl Fn() -> P) {
    every_record_comes_back(place()).await;
    a_session_without_records_is_not_stored(place()).await;
    listings_are_ordered_and_paged(place()).await;
    a_session_is_found_by_id_prefix_and_title(place()).await;
    a_session_is_called_as_it_was_last_named(place()).await;
    one_owner_at_a_time(place()).await;
    of_many_who_open_at_once_one_succeeds(place()).await;
    a_deleted_session_is_gone(place()).await;
    an_id_is_given_once(place()).await;
    a_compaction_hides_nothing(place()).await;
    a_fork_begins_as_its_source(place()).await;
    a_dropped_append_happens_whole_or_not_at_all(place()).await;
}

fn id(id: &str) -> SessionId {
    SessionId::new(id)
}

fn said(at: u64, text: &str) -> NewRecord {
    NewRecord { at, event: SessionEvent::user(vec![Part::text(text)]) }
}

/// A session with one message, closed again.
async fn stored(store: &dyn SessionStorage, session: NewSession, text: &str) {
    let at = session.created_at;
    let mut log = store.create(session).await.expect("a new session");
    log.append(vec![said(at, text)], Durability::Buffered).await.expect("appends");
    log.close().await.expect("closes");
}

async fn loaded(store: &dyn SessionStorage, session: &str) -> StoredSession {
    store.load(&id(session)).await.expect("loads")
}

fn ids(sessions: &[SessionSummary]) -> Vec<&str> {
    sessions.iter().map(|session| session.session_id.as_str()).collect()
}

fn compaction(first_kept: u64) -> SessionEvent {
    SessionEvent::Metadata(Metadata::compaction(&Compaction {
        summary: Some("so far".into()),
        first_kept,
        result_limit: None,
        tokens_before: 1000,
        method: CompactionMethod::Summary,
    }))
}

/// One of each kind, with what is easily lost: empty texts, nulls, line breaks, odd characters, cut-off arguments.
fn one_of_each() -> Vec<SessionEvent> {
    let call_id = CallId::new("call-1");
    let call = ToolCall { call_id: call_id.clone(), tool_name: String::new(), arguments: "{\"a\":".into() };
    vec![
        SessionEvent::user(vec![Part::text("a\r\nb\u{2028}\u{0}\u{85}\"\\ 東京 🦀"), Part::text("")]),
        SessionEvent::AssistantMessage(AssistantRecord {
            parts: [
                AssistantPart::Reasoning { text: "hm".into(), signature: Some(json!({"s": [1, null]})) },
                AssistantPart::ToolCall(call),
                AssistantPart::Text { text: "".into() },
            ]
            .into(),
            status: MessageStatus::Incomplete,
            usage: Usage { input_tokens: u64::MAX, output_tokens: 1 },
            renamed: vec![RenamedCall { call_id: call_id.clone(), provider_id: "same".into() }],
        }),
        SessionEvent::ToolCall(ToolInput {
            call_id: call_id.clone(),
            tool_name: ToolName::new("t").expect("legal"),
            arguments: Map::from_iter([("z".to_owned(), json!(1)), ("a".to_owned(), json!({"y": 1.5, "b": null}))]),
        }),
        SessionEvent::ToolResult(ToolResultRecord {
            call_id,
            tool_name: "t".into(),
            content: "line\n".repeat(200_000).into(),
            is_error: true,
            metadata: Some(json!(null)),
        }),
        SessionEvent::system("[cancelled]"),
        SessionEvent::Metadata(Metadata::new("of a host", Map::from_iter([("deep".to_owned(), json!([{"a": []}]))]))),
        SessionEvent::Opaque(OpaqueRecord { kind: "of a later version".into(), payload: json!("as it came") }),
    ]
}

/// Y3.7-1: what was appended is loaded, in order, numbered without gaps, by another process, over several openings.
async fn every_record_comes_back(place: impl SessionPlace) {
    let store = place.open().await;
    let mut log = store.create(NewSession::new(id("s"), 100).in_project("/work")).await.expect("a new session");
    let first: Vec<_> = (101..).zip(one_of_each()).map(|(at, event)| NewRecord { at, event }).collect();
    let count = first.len() as u64;
    assert_eq!(log.next_seq(), 0);
    assert_eq!(log.append(first.clone(), Durability::Buffered).await.expect("appends"), 0);
    assert_eq!(log.append(Vec::new(), Durability::Synced).await.expect("syncs"), count);
    assert_eq!(log.next_seq(), count, "an append without records gives no number");
    drop(log);

    let other = place.open().await;
    let OpenSession { stored, mut log } = other.open(&id("s")).await.expect("opens");
    assert_eq!(log.id(), &id("s"));
    assert_eq!(stored, loaded(&*store, "s").await, "opened and loaded differ");
    assert_eq!(log.append(vec![said(200, "more")], Durability::Synced).await.expect("appends"), count);
    log.close().await.expect("closes");

    let stored = loaded(&*place.open().await, "s").await;
    let numbers: Vec<_> = stored.records.iter().map(|record| record.seq).collect();
    assert_eq!(numbers, (0..=count).collect::<Vec<_>>());
    let found = stored.records.into_iter().map(|record| NewRecord { at: record.at, event: record.event });
    let expected = first.into_iter().chain([said(200, "more")]);
    assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    assert_eq!((stored.skipped, stored.forked_from), (Vec::new(), None));
    assert_eq!(
        stored.summary,
        SessionSummary {
            session_id: id("s"),
            title: Some("a".into()),
            project: Some("/work".into()),
            created_at: 100,
            updated_at: 200,
            message_count: 3,
        }
    );
    assert_eq!(store.list(SessionQuery::first(9)).await.expect("lists").items, [stored.summary], "the list differs");
}

async fn a_session_without_records_is_not_stored(place: impl SessionPlace) {
    let store = place.open().await;
    let mut log = store.create(NewSession::new(id("s"), 1)).await.expect("a new session");
    assert_eq!(log.append(Vec::new(), Durability::Synced).await.expect("nothing to do"), 0);
    log.close().await.expect("closes");
    assert_eq!(code(store.load(&id("s")).await, "loading"), ErrorCode::SessionNotFound);
    assert_eq!(code(store.open(&id("s")).await, "opening"), ErrorCode::SessionNotFound);
    assert_eq!(code(store.find("s").await, "finding"), ErrorCode::SessionNotFound);
    assert_eq!(store.list(SessionQuery::first(9)).await.expect("lists").items, []);
}

/// Y3.7-2: the last updated first, each on exactly one page, by workspace and by text.
async fn listings_are_ordered_and_paged(place: impl SessionPlace) {
    let store = place.open().await;
    let mut expected = Vec::new();
    for n in 0..25_u64 {
        // Several of one time, and none in the order of their ids.
        let (name, at) = (format!("s-{:02}", n * 7 % 25), 1_000 + n / 3);
        let project = if n % 2 == 0 { "/even" } else { "/odd" };
        let text = format!("Über {n}");
        stored(&*store, NewSession::new(id(&name), at).in_project(project), &text).await;
        expected.push((at, name, project));
    }
    expected.sort();
    expected.reverse();
    let other = place.open().await;
    let mut query = SessionQuery::first(10);
    let (mut found, mut sizes) = (Vec::new(), Vec::new());
    loop {
        let page = other.list(query.clone()).await.expect("lists");
        sizes.push(page.items.len());
        found.extend(ids(&page.items).into_iter().map(str::to_owned));
        query.cursor = match page.next {
            Some(next) => Some(next),
            None => break,
        };
    }
    assert_eq!(found, expected.iter().map(|(_, name, _)| name.clone()).collect::<Vec<_>>());
    assert_eq!(sizes, [10, 10, 5]);

    let odd = SessionQuery { project: Some("/odd".into()), ..SessionQuery::first(100) };
    let odd = other.list(odd).await.expect("lists");
    let of_odd: Vec<_> =
        expected.iter().filter(|(.., project)| *project == "/odd").map(|(_, n, _)| n.as_str()).collect();
    assert_eq!((ids(&odd.items), odd.next), (of_odd, None));
    let named = SessionQuery { text: Some("üBER 2".into()), ..SessionQuery::first(100) };
    let named = other.list(named).await.expect("lists");
    assert_eq!(named.items.len(), 6, "titles that hold the text, case aside: {:?}", named.items);
    assert_eq!(other.list(SessionQuery::first(0)).await.expect("lists").items.len(), 1, "a page has at least one");
    let lost = SessionQuery { cursor: Some(PageCursor::new("not a place")), ..SessionQuery::first(1) };
    assert_eq!(code(other.list(lost).await, "a foreign cursor"), ErrorCode::InvalidInput);
}

/// Y3.7-2, D-69.
async fn a_session_is_found_by_id_prefix_and_title(place: impl SessionPlace) {
    let store = place.open().await;
    for (name, title) in [("abc-1", "Trip to Oslo"), ("abc-12", "Été"), ("abd-2", "Twice"), ("x_%", "twice")] {
        let name = name.replace('%', "y");
        stored(&*store, NewSession::new(id(&name), 1), title).await;
    }
    for (text, expected) in [
        ("abc-1", "abc-1"), // the whole id, though it begins another
        ("abc-12", "abc-12"),
        ("abd", "abd-2"),
        (" trip TO oslo ", "abc-1"),
        ("éTÉ", "abc-12"),
        ("x_", "x_y"),
    ] {
        let found = store.find(text).await.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(found.session_id, id(expected), "{text}");
    }
    for text in ["nothing", "%", "_", "*", "", " ", "bc-1", "trip"] {
        assert_eq!(code(store.find(text).await, text), ErrorCode::SessionNotFound, "{text}");
    }
    for (text, expected) in [("abc", ["abc-1", "abc-12"]), ("Twice", ["abd-2", "x_y"])] {
        let error = store.find(text).await.expect_err("it fits several");
        assert_eq!(error.code, ErrorCode::SessionAmbiguous, "{text}");
        let candidates = error.details["candidates"].as_array().expect("a list");
        let mut found: Vec<_> = candidates.iter().filter_map(|one| one["session_id"].as_str()).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{text}");
    }
}

/// D-69.
async fn a_session_is_called_as_it_was_last_named(place: impl SessionPlace) {
    let store = place.open().await;
    stored(&*store, NewSession::new(id("s"), 1), "What was first said").await;
    store.rename(&id("s"), "Another name", 50).await.expect("renames");
    let other = place.open().await;
    let found = other.find("another name").await.expect("finds");
    assert_eq!((found.title.as_deref(), found.updated_at, found.message_count), (Some("Another name"), 50, 1));
    assert_eq!(code(other.find("What was first said").await, "the old name"), ErrorCode::SessionNotFound);
    assert_eq!(found, loaded(&*other, "s").await.summary);
    assert_eq!(code(store.rename(&id("t"), "x", 1).await, "renaming nothing"), ErrorCode::SessionNotFound);
}

/// Two at once are told apart, in listings too; reading is always possible.
async fn one_owner_at_a_time(place: impl SessionPlace) {
    let (store, other) = (place.open().await, place.open().await);
    let mut log = store.create(NewSession::new(id("s"), 1)).await.expect("a new session");
    log.append(vec![said(2, "one")], Durability::Buffered).await.expect("appends");
    for taker in [&store, &other] {
        assert_eq!(code(taker.open(&id("s")).await, "opening"), ErrorCode::SessionBusy);
        assert_eq!(code(taker.delete(&id("s")).await, "deleting"), ErrorCode::SessionBusy);
        assert_eq!(code(taker.rename(&id("s"), "x", 3).await, "renaming"), ErrorCode::SessionBusy);
    }
    log.append(vec![said(3, "two")], Durability::Buffered).await.expect("appends");
    assert_eq!(loaded(&*other, "s").await.records.len(), 2);
    let listed = other.list(SessionQuery::first(1)).await.expect("lists").items;
    assert_eq!(listed[0].message_count, 2, "a session is listed as it is, open or not");
    log.close().await.expect("closes");

    let OpenSession { log, .. } = other.open(&id("s")).await.expect("it is free");
    assert_eq!(code(store.open(&id("s")).await, "opening"), ErrorCode::SessionBusy);
    drop(log);
    let OpenSession { stored, log } = store.open(&id("s")).await.expect("it is free once dropped");
    assert_eq!((stored.records.len(), log.next_seq()), (2, 2));
}

async fn of_many_who_open_at_once_one_succeeds(place: impl SessionPlace) {
    let store = place.open().await;
    stored(&*store, NewSession::new(id("s"), 1), "hi").await;
    let stores = join_all((0..4).map(|_| place.open())).await;
    for _ in 0..10 {
        let session = id("s");
        let opened = join_all(stores.iter().cycle().take(8).map(|store| store.open(&session))).await;
        let (open, refused): (Vec<_>, Vec<_>) = opened.into_iter().partition(Result::is_ok);
        assert_eq!((open.len(), refused.len()), (1, 7));
        for refused in refused {
            assert_eq!(code(refused, "opening"), ErrorCode::SessionBusy);
        }
    }
}

/// Y3.7-2.
async fn a_deleted_session_is_gone(place: impl SessionPlace) {
    let store = place.open().await;
    for name in ["s-1", "s-2"] {
        stored(&*store, NewSession::new(id(name), 1), name).await;
    }
    let other = place.open().await;
    other.list(SessionQuery::first(9)).await.expect("lists");
    store.delete(&id("s-1")).await.expect("deletes");
    for store in [&store, &other] {
        assert_eq!(ids(&store.list(SessionQuery::first(9)).await.expect("lists").items), ["s-2"]);
        assert_eq!(code(store.load(&id("s-1")).await, "loading"), ErrorCode::SessionNotFound);
        assert_eq!(code(store.delete(&id("s-1")).await, "deleting again"), ErrorCode::SessionNotFound);
        assert_eq!(store.find("s-").await.expect("finds").session_id, id("s-2"));
    }
    stored(&*other, NewSession::new(id("s-1"), 5), "again").await;
    assert_eq!(loaded(&*store, "s-1").await.records.len(), 1, "nothing of the deleted one comes back");
}

async fn an_id_is_given_once(place: impl SessionPlace) {
    let (store, other) = (place.open().await, place.open().await);
    // Two make it, and neither has stored anything yet.
    let mut first = store.create(NewSession::new(id("s"), 1)).await.expect("a new session");
    let second = other.create(NewSession::new(id("s"), 1)).await;
    first.append(vec![said(1, "first")], Durability::Buffered).await.expect("appends");
    let late = match second {
        Ok(mut log) => log.append(vec![said(1, "second")], Durability::Buffered).await,
        Err(error) => Err(error),
    };
    let late = code(late, "the second");
    assert!([ErrorCode::InvalidInput, ErrorCode::SessionBusy].contains(&late), "{late}");
    first.close().await.expect("closes");
    assert_eq!(code(other.create(NewSession::new(id("s"), 1)).await, "creating"), ErrorCode::InvalidInput);
    assert_eq!(loaded(&*other, "s").await.records.len(), 1);
}

/// D-36, P-6: a compaction is one record among the others.
async fn a_compaction_hides_nothing(place: impl SessionPlace) {
    let store = place.open().await;
    let mut log = store.create(NewSession::new(id("s"), 1)).await.expect("a new session");
    for (n, durability) in [(0, Durability::Buffered), (1, Durability::Synced), (2, Durability::Buffered)] {
        let batch = vec![said(2, "before"), NewRecord { at: 3, event: compaction(n) }, said(4, "after")];
        assert_eq!(log.append(batch, durability).await.expect("appends"), n * 4);
        assert_eq!(log.append(vec![said(5, "later")], Durability::Buffered).await.expect("appends"), n * 4 + 3);
    }
    log.close().await.expect("closes");
    let OpenSession { stored, log } = place.open().await.open(&id("s")).await.expect("opens");
    assert_eq!((stored.records.len(), log.next_seq(), stored.skipped), (12, 12, Vec::new()));
    assert_eq!(stored.records[5].event, compaction(1));
    let numbers: Vec<_> = stored.records.iter().map(|record| record.seq).collect();
    assert_eq!(numbers, (0..12).collect::<Vec<_>>());
}

/// P-6.
async fn a_fork_begins_as_its_source(place: impl SessionPlace) {
    let store = place.open().await;
    let mut source = store.create(NewSession::new(id("s"), 1)).await.expect("a new session");
    let records = vec![said(1, "a"), said(2, "b"), NewRecord { at: 3, event: compaction(1) }, said(4, "c")];
    source.append(records, Durability::Buffered).await.expect("appends");
    // While the source is open.
    let fork = store.fork(&id("s"), 2, NewSession::new(id("f"), 9).in_project("/f")).await.expect("forks");
    let OpenSession { stored, mut log } = fork;
    assert_eq!(stored.forked_from, Some(Fork { session_id: id("s"), seq: 2 }));
    assert_eq!((stored.records.len(), log.next_seq()), (3, 3));
    log.append(vec![said(10, "d")], Durability::Buffered).await.expect("appends");
    log.close().await.expect("closes");
    source.append(vec![said(11, "e")], Durability::Buffered).await.expect("appends");
    source.close().await.expect("closes");

    let other = place.open().await;
    let (of_source, of_fork) = (loaded(&*other, "s").await, loaded(&*other, "f").await);
    assert_eq!(of_source.records[..3], of_fork.records[..3]);
    assert_eq!((of_source.records.len(), of_fork.records.len()), (5, 4));
    assert_eq!((of_fork.forked_from, of_fork.summary.project.as_deref()), (stored.forked_from, Some("/f")));
    store.delete(&id("s")).await.expect("deletes");
    assert_eq!(loaded(&*other, "f").await.records.len(), 4, "a fork does not need its source");
    let none = store.fork(&id("s"), 2, NewSession::new(id("g"), 9)).await;
    assert_eq!(code(none, "forking nothing"), ErrorCode::SessionNotFound);
    let taken = store.fork(&id("f"), 2, NewSession::new(id("f"), 9)).await;
    assert_eq!(code(taken, "forking onto itself"), ErrorCode::InvalidInput);
}

/// The futures may be dropped at any time.
async fn a_dropped_append_happens_whole_or_not_at_all(place: impl SessionPlace) {
    let store = place.open().await;
    let mut log: Box<dyn SessionLog> = store.create(NewSession::new(id("s"), 1)).await.expect("a new session");
    let mut expected = 0;
    for n in 0..20 {
        let batch = vec![said(n, "x"), said(n, "y"), said(n, "z")];
        // Polled once, then dropped; it may have begun, or have come to its end.
        let _ = log.append(batch, Durability::Buffered).now_or_never();
        let first = log.append(vec![said(n, "end")], Durability::Buffered).await.expect("appends");
        assert!(first == expected || first == expected + 3, "a part of the batch: {first} after {expected}");
        expected = first + 1;
    }
    drop(log);
    let stored = loaded(&*place.open().await, "s").await;
    assert_eq!(stored.records.len() as u64, expected);
    assert!((0..).zip(&stored.records).all(|(seq, record)| record.seq == seq), "numbers without gaps");
}
