//! The manager, with a storage in memory and a model that says what it is told to.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::sync::Notify;
use youyou_api::{ChatEvent, Memory, MemoryId, Namespace, ProviderError, ProviderErrorKind, StopReason};

use super::{
    MemoryManager, MemorySettings, Progress,
    fakes::{
        Mood, Notes, Provider, Reply, Store, WORKSPACE, done, finds, lock, memory, model, result, said, says, text,
        user, withheld,
    },
};

fn manager_with(store: &Arc<Store>, provider: &Arc<Provider>, settings: MemorySettings, window: u64) -> MemoryManager {
    let next = Mutex::new(0);
    let ids = move || {
        let mut next = lock(&next);
        *next += 1;
        MemoryId::new(format!("new-{next}"))
    };
    MemoryManager::new(
        store.clone(),
        Namespace::stored(WORKSPACE),
        provider.clone(),
        model(window),
        settings,
        Arc::new(ids),
        "session-1".to_owned(),
    )
}

fn manager(store: &Arc<Store>, provider: &Arc<Provider>) -> MemoryManager {
    manager_with(store, provider, MemorySettings { checkpoint_interval: 2, ..MemorySettings::default() }, 100_000)
}

/// Y4.7-1, Y4.7-3, D-66: of this workspace alone; relevance first, then what is fresh, nothing twice; the first text decides for the whole session.
#[tokio::test]
async fn a_session_recalls_what_has_to_do_with_its_first_message() {
    let store =
        Store::new([memory("m-1", "tabs win"), memory("m-2", "Oslo"), memory("m-3", "tea"), memory("m-4", "cat")]);
    let elsewhere = Memory { namespace: Namespace::global(), ..memory("m-5", "tabs elsewhere") };
    lock(&store.memories).push(elsewhere);
    let settings = MemorySettings { max_items: 3, ..MemorySettings::default() };
    let manager = manager_with(&store, &Provider::new([]), settings, 100_000);
    let section = manager.recall("spaces or tabs ?").await.expect("memories");
    let lines: Vec<_> = section.text.lines().skip(1).collect();
    assert_eq!(lines, ["- [m-1] tabs win", "- [m-4] cat", "- [m-3] tea"]);
    lock(&store.memories).clear();
    assert_eq!(manager.recall("Oslo").await, Some(section));
}

/// Y4.7-4: whatever is wrong with the storage, the session begins.
#[tokio::test(start_paused = true)]
async fn a_storage_that_does_not_answer_means_no_memories() {
    for mood in [Mood::Fails, Mood::Panics, Mood::Hangs] {
        let store = Store::new([memory("m-1", "tabs")]);
        store.is(mood);
        assert_eq!(manager(&store, &Provider::new([])).recall("tabs").await, None, "{mood:?}");
    }
    assert_eq!(manager(&Store::new([]), &Provider::new([])).recall("tabs").await, None);
}

/// Y4.7-2, Y4.7-3, Y3.8-1: new ones and better ones in one batch; reasoning is no answer.
#[tokio::test]
async fn the_end_of_a_session_stores_what_is_worth_it() {
    let store = Store::new([memory("m-1", "Lives in Oslo.")]);
    let thought = Ok(ChatEvent::ReasoningDelta { text: finds(&[(None, "A thought.")]) });
    let answer = finds(&[(Some("m-1"), "Lives in Bergen."), (None, "Uses tabs."), (None, "<one fact>")]);
    let (start, end) = answer.split_at(20);
    let reply = Reply::Stream(vec![thought, text(start), text(end), done(StopReason::End)]);
    let provider = Provider::new([reply]);
    let log = [user("I moved to Bergen and use tabs"), said("Noted.")];
    manager(&store, &provider).finish(&log, None).await;
    assert!(provider.heard(0).contains("- [m-1] Lives in Oslo."), "{}", provider.heard(0));
    let memories = lock(&store.memories).clone();
    let stored: Vec<_> = memories.iter().map(|memory| (memory.id.as_str(), memory.content.as_str())).collect();
    assert_eq!(stored, [("m-1", "Lives in Bergen."), ("new-1", "Uses tabs.")]);
    for memory in &memories {
        assert_eq!((memory.namespace.as_str(), memory.source.as_deref()), (WORKSPACE, Some("session-1")));
        assert!(memory.updated_at > 0 && memory.tags == ["t"]);
    }
}

/// D-67: in the background every so many turns, and at the end only what came since.
#[tokio::test]
async fn a_checkpoint_is_not_extracted_again() {
    let store = Store::new([]);
    let provider = Provider::new([says(finds(&[(None, "Uses tabs.")])), says(finds(&[(None, "Has a cat.")]))]);
    let manager = manager(&store, &provider);
    let mut log = vec![user("tabs please"), said("yes")];
    manager.turn_ended(&log, None);
    log.extend([user("thanks"), said("welcome")]);
    assert_eq!(provider.count(), 0);
    manager.turn_ended(&log, None);
    store.stored.notified().await;
    assert_eq!((provider.count(), store.contents()), (1, vec!["Uses tabs.".to_owned()]));
    log.extend([user("my cat is hungry"), said("feed it")]);
    manager.turn_ended(&log, None);
    manager.finish(&log, None).await;
    assert_eq!(store.contents(), ["Uses tabs.", "Has a cat."]);
    let second = provider.heard(1);
    assert!(second.contains("my cat") && !second.contains("tabs please"), "{second}");
    assert!(second.contains("- [new-1] Uses tabs."), "{second}");
    manager.finish(&log, None).await;
    assert_eq!(provider.count(), 2);
}

/// D-67: single flight; the end waits for the one that runs.
#[tokio::test]
async fn one_extraction_runs_at_a_time() {
    let store = Store::new([]);
    let gate = Arc::new(Notify::new());
    let late = Reply::Late(gate.clone(), finds(&[(None, "Uses tabs.")]));
    let provider = Provider::new([late]);
    let manager = manager(&store, &provider);
    let log = [user("tabs please"), said("yes")];
    manager.turn_ended(&log, None);
    manager.turn_ended(&log, None);
    provider.asked.notified().await;
    for _ in 0..6 {
        manager.turn_ended(&log, None);
    }
    gate.notify_one();
    manager.finish(&log, None).await;
    assert_eq!((provider.count(), store.contents()), (1, vec!["Uses tabs.".to_owned()]));
}

/// Y4.7-4: nothing of a failed extraction is stored, nobody is bothered, and the same part is tried again.
#[tokio::test(start_paused = true)]
async fn a_failed_extraction_is_tried_again() {
    let whole = || text(finds(&[(None, "Not to be stored.")]));
    let failure = || Err(ProviderError::new(ProviderErrorKind::Overloaded, "later"));
    let failures = [
        Reply::Stream(vec![whole(), failure()]),
        Reply::Stream(vec![whole()]),
        Reply::Stream(vec![whole(), done(StopReason::Refused)]),
        Reply::Stream((0..10_000).map(|_| text("far too much text")).collect()),
        says("I see nothing."),
        says("{\"memories\":[{\"content\":\"cut o"),
        Reply::Panics,
    ];
    for reply in failures {
        let store = Store::new([]);
        let provider = Provider::new([reply, says(finds(&[(None, "Uses tabs.")]))]);
        let manager = manager(&store, &provider);
        let log = [user("tabs please"), said("yes")];
        manager.finish(&log, None).await;
        assert_eq!((provider.count(), store.contents()), (1, Vec::new()));
        manager.finish(&log, None).await;
        assert_eq!((provider.count(), store.contents()), (2, vec!["Uses tabs.".to_owned()]));
    }
}

/// Y4.7-4, of the storage.
#[tokio::test(start_paused = true)]
async fn a_storage_that_fails_does_not_block_the_end() {
    for mood in [Mood::Fails, Mood::Panics, Mood::Hangs] {
        let store = Store::new([]);
        store.is(mood);
        let provider = Provider::new([]);
        manager(&store, &provider).finish(&[user("tabs please")], None).await;
        store.is(Mood::Well);
        assert_eq!((provider.count(), store.contents()), (0, Vec::new()), "{mood:?}");
    }
}

/// Y4.7-4: what the model found but the storage refused is stored later; nobody is asked for it again.
#[tokio::test]
async fn what_the_storage_refuses_is_stored_later() {
    let store = Store::new([]);
    let gate = Arc::new(Notify::new());
    let answer = finds(&[(None, "Uses tabs.")]);
    let provider = Provider::new([Reply::Late(gate.clone(), answer)]);
    let manager = manager(&store, &provider);
    let log = [user("tabs please"), said("yes")];
    manager.turn_ended(&log, None);
    manager.turn_ended(&log, None);
    provider.asked.notified().await;
    store.is(Mood::Fails);
    gate.notify_one();
    manager.finish(&log, None).await;
    assert_eq!((provider.count(), store.contents()), (1, Vec::new()));
    store.is(Mood::Well);
    manager.finish(&log, None).await;
    assert_eq!((provider.count(), store.contents()), (1, vec!["Uses tabs.".to_owned()]));
}

/// D-67: what was found is written down before it is stored, and that it is stored after it.
#[tokio::test]
async fn progress_is_written_down_around_the_upsert() {
    let store = Store::new([]);
    let provider = Provider::new([says(finds(&[(None, "Uses tabs.")])), says(finds(&[]))]);
    let manager = manager(&store, &provider);
    let notes = Notes::of(&store);
    let mut log = vec![user("tabs please"), said("yes")];
    manager.finish(&log, Some(&notes)).await;
    log.push(user("bye"));
    manager.finish(&log, Some(&notes)).await;
    manager.finish(&log, Some(&notes)).await;
    assert_eq!(notes.taken(), ["2 read, new-1 pending, 0 stored", "2 read, 1 stored", "3 read, 1 stored"]);
}

/// D-67: what a crash left pending is stored by the same id when the session goes on, and what was read is not read again.
#[tokio::test]
async fn what_a_crash_left_pending_is_stored() {
    let (crashed, provider) = (Store::new([]), Provider::new([says(finds(&[(None, "Uses tabs.")]))]));
    let first = manager(&crashed, &provider);
    let notes = Notes::of(&crashed);
    let log = [user("tabs please"), said("yes")];
    first.finish(&log, Some(&notes)).await;
    // As it was after the first note, and after the second.
    for (progress, before) in notes.progress().into_iter().zip([vec![], vec![memory("new-1", "Uses tabs.")]]) {
        let (store, provider) = (Store::new(before), Provider::new([]));
        manager(&store, &provider).resumed(progress).finish(&log, None).await;
        assert_eq!((provider.count(), store.contents()), (0, vec!["Uses tabs.".to_owned()]));
        assert_eq!(lock(&store.memories)[0].id, MemoryId::new("new-1"));
    }
}

/// D-67: a checkpoint whose model failed leaves the conversation to the next one.
#[tokio::test]
async fn a_failed_checkpoint_leaves_its_part_to_the_end() {
    let store = Store::new([]);
    let provider = Provider::new([Reply::Panics, says(finds(&[(None, "Uses tabs.")]))]);
    let manager = manager(&store, &provider);
    let log = [user("tabs please"), said("yes")];
    manager.turn_ended(&log, None);
    manager.turn_ended(&log, None);
    provider.asked.notified().await;
    manager.finish(&log, None).await;
    assert!(provider.heard(1).contains("tabs please"));
    assert_eq!(store.contents(), ["Uses tabs."]);
}

#[tokio::test]
async fn a_conversation_without_a_word_of_the_user_asks_nobody() {
    let (store, provider) = (Store::new([]), Provider::new([]));
    let manager = manager(&store, &provider);
    for log in [vec![], vec![said("Hello!"), result("42")], vec![user("secret"), withheld()]] {
        manager.turn_ended(&log, None);
        manager.finish(&log, None).await;
    }
    assert_eq!(provider.count(), 0);
}

/// What was read for memories before a session was taken up again is not read again.
#[tokio::test]
async fn a_resumed_session_starts_where_it_stopped() {
    let (store, provider) = (Store::new([]), Provider::new([says(finds(&[]))]));
    let manager = manager(&store, &provider).resumed(Progress { entries: 2, pending: Vec::new() });
    let mut log = vec![user("tabs please"), said("yes")];
    manager.finish(&log, None).await;
    assert_eq!(provider.count(), 0);
    log.push(user("my cat"));
    manager.finish(&log, None).await;
    assert!(provider.heard(0).contains("my cat") && !provider.heard(0).contains("tabs"));
}

/// D-67: the end of a session waits 30 seconds, no longer, and leaves nothing running.
#[tokio::test(start_paused = true)]
async fn a_model_that_hangs_delays_the_end_by_its_limit() {
    let log = [user("tabs please"), said("yes")];
    for in_background in [false, true] {
        let (store, provider) = (Store::new([]), Provider::new([Reply::Hangs]));
        let manager = manager(&store, &provider);
        if in_background {
            manager.turn_ended(&log, None);
            manager.turn_ended(&log, None);
            provider.asked.notified().await;
        }
        let before = tokio::time::Instant::now();
        manager.finish(&log, None).await;
        assert_eq!(before.elapsed().as_secs(), 30);
        assert!(provider.token(0).is_cancelled());
        assert_eq!((provider.count(), store.contents()), (1, Vec::new()));
    }
}

/// A checkpoint that hangs does not end all remembering.
#[tokio::test(start_paused = true)]
async fn a_checkpoint_that_hangs_makes_way_for_the_next() {
    let (store, provider) = (Store::new([]), Provider::new([Reply::Hangs, says(finds(&[(None, "Uses tabs.")]))]));
    let manager = manager(&store, &provider);
    let log = [user("tabs please"), said("yes")];
    manager.turn_ended(&log, None);
    manager.turn_ended(&log, None);
    provider.asked.notified().await;
    // The clock stands still, and goes on only as far as the limit of the checkpoint.
    tokio::time::advance(Duration::from_secs(300)).await;
    manager.finish(&log, None).await;
    assert_eq!((provider.count(), store.contents()), (2, vec!["Uses tabs.".to_owned()]));
}

#[tokio::test]
async fn a_manager_that_is_dropped_stops_its_extraction() {
    let (store, provider) = (Store::new([]), Provider::new([Reply::Hangs]));
    let manager = manager(&store, &provider);
    let log = [user("tabs please"), said("yes")];
    manager.turn_ended(&log, None);
    manager.turn_ended(&log, None);
    provider.asked.notified().await;
    drop(manager);
    provider.token(0).cancelled().await;
    assert_eq!(store.contents(), Vec::<String>::new());
}

/// Y4.7-3: what the session began with can be corrected, however little the correction resembles it; what was deleted
/// meanwhile does not come back.
#[tokio::test]
async fn what_was_recalled_stays_known() {
    let store = Store::new([memory("m-1", "Lives in Oslo."), memory("m-2", "Has a dog."), memory("m-3", "tea")]);
    let provider = Provider::new([says(finds(&[(Some("m-1"), "Lives in Bergen."), (Some("m-2"), "Has a cat.")]))]);
    let settings = MemorySettings { max_items: 2, ..MemorySettings::default() };
    let manager = manager_with(&store, &provider, settings, 100_000);
    let section = manager.recall("Oslo dog").await.expect("memories");
    assert!(section.text.contains("m-1") && section.text.contains("m-2"));
    lock(&store.memories).retain(|memory| memory.id.as_str() != "m-2");
    lock(&store.memories).push(memory("m-4", "coffee"));
    manager.finish(&[user("moved to Bergen")], None).await;
    let heard = provider.heard(0);
    assert!(heard.contains("[m-1]") && !heard.contains("[m-2]"), "{heard}");
    let ids: Vec<_> = lock(&store.memories).iter().map(|memory| memory.id.to_string()).collect();
    assert_eq!(ids, ["m-3", "m-4", "m-1", "new-1"]);
}

#[tokio::test]
async fn a_model_too_small_for_the_instructions_is_not_asked() {
    let (store, provider) = (Store::new([]), Provider::new([]));
    manager_with(&store, &provider, MemorySettings::default(), 500).finish(&[user("tabs")], None).await;
    assert_eq!(provider.count(), 0);
}
