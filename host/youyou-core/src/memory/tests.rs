//! The manager with a storage in memory and a model that says what it is told to; and logs for the tests of this module.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::stream;
use serde_json::json;
use tokio::sync::Notify;
use youyou_api::{
    AssistantPart, BoxFuture, CallId, CancellationToken, Capabilities, ChatEvent, ChatRequest, ChatStream, Error,
    ErrorCode, Memory, MemoryDraft, MemoryId, MemoryStorage, Message, ModelId, ModelInfo, ModelProvider, Namespace,
    Page, PageCursor, Part, ProviderError, ProviderErrorKind, ProviderId, StopReason, ToolCall, Upserted, Usage,
};

use super::{MemoryManager, MemorySettings};
use crate::context::{AssistantStatus, Entry};

pub(super) fn memory(id: &str, content: &str) -> Memory {
    Memory {
        id: MemoryId::new(id),
        namespace: Namespace::global(),
        content: content.to_owned(),
        source: None,
        tags: Vec::new(),
        created_at: 0,
        updated_at: 0,
    }
}

pub(super) fn model(context_window: u64) -> ModelInfo {
    let id = ModelId::new("small");
    ModelInfo { id, display_name: "Small".into(), context_window, capabilities: Capabilities::ALL }
}

pub(super) fn user(text: &str) -> Entry {
    Entry::User { parts: vec![Part::text(text)] }
}

pub(super) fn said(text: &str) -> Entry {
    said_with(&[], text, None)
}

pub(super) fn said_with(thoughts: &[&str], text: &str, call: Option<(&str, &str)>) -> Entry {
    let thoughts = thoughts.iter().map(|text| AssistantPart::Reasoning { text: (*text).into(), signature: None });
    let text = AssistantPart::Text { text: text.into() };
    let call = call.map(|(name, arguments)| {
        let (tool_name, arguments) = (name.to_owned(), arguments.to_owned());
        AssistantPart::ToolCall(ToolCall { call_id: CallId::new("call-1"), tool_name, arguments })
    });
    Entry::Assistant {
        parts: thoughts.chain([text]).chain(call).collect(),
        status: AssistantStatus::Complete,
        usage: Usage::default(),
        renamed: Vec::new(),
    }
}

pub(super) fn result(content: &str) -> Entry {
    Entry::ToolResult {
        call_id: CallId::new("call-1"),
        tool_name: "read".into(),
        content: content.into(),
        is_error: false,
        metadata: None,
    }
}

pub(super) fn withheld() -> Entry {
    Entry::Withheld { reason: "no".into() }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a storage or a model behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mood {
    Well,
    Fails,
    Panics,
    Hangs,
}

/// Memories in a list, the one last updated last.
struct Store {
    memories: Mutex<Vec<Memory>>,
    mood: Mutex<Mood>,
    stored: Notify,
}

impl Store {
    fn new(memories: impl IntoIterator<Item = Memory>) -> Arc<Self> {
        let memories = Mutex::new(memories.into_iter().collect());
        Arc::new(Self { memories, mood: Mutex::new(Mood::Well), stored: Notify::new() })
    }

    fn is(&self, mood: Mood) {
        *lock(&self.mood) = mood;
    }

    fn contents(&self) -> Vec<String> {
        lock(&self.memories).iter().map(|memory| memory.content.clone()).collect()
    }

    fn answer<T: Send + 'static>(
        &self,
        answer: impl FnOnce(&mut Vec<Memory>) -> T,
    ) -> BoxFuture<'static, Result<T, Error>> {
        let mood = *lock(&self.mood);
        let answer = (mood == Mood::Well).then(|| answer(&mut lock(&self.memories)));
        Box::pin(async move {
            match mood {
                Mood::Well => Ok(answer.expect("made above")),
                Mood::Fails => Err(Error::new(ErrorCode::StorageError, "the disk is full")),
                Mood::Panics => panic!("the storage has a mistake"),
                Mood::Hangs => std::future::pending().await,
            }
        })
    }
}

impl MemoryStorage for Store {
    fn load<'a>(&'a self, _: &'a Namespace, id: &'a MemoryId) -> BoxFuture<'a, Result<Option<Memory>, Error>> {
        self.answer(|memories| memories.iter().find(|memory| memory.id == *id).cloned())
    }

    fn list<'a>(
        &'a self,
        _: &'a Namespace,
        _: Option<PageCursor>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Page<Memory>, Error>> {
        self.answer(|memories| Page { items: memories.iter().rev().take(limit).cloned().collect(), next: None })
    }

    fn upsert(&self, drafts: Vec<MemoryDraft>, at: u64) -> BoxFuture<'_, Result<Vec<Upserted>, Error>> {
        self.answer(|memories| {
            let mut outcomes = Vec::new();
            for MemoryDraft { id, namespace, content, source, tags } in drafts {
                let old = memories.iter().position(|memory| memory.id == id).map(|place| memories.remove(place));
                outcomes.push(if old.is_some() { Upserted::Updated } else { Upserted::Inserted });
                let created_at = old.map_or(at, |old| old.created_at);
                memories.push(Memory { id, namespace, content, source, tags, created_at, updated_at: at });
            }
            self.stored.notify_one();
            outcomes
        })
    }

    fn delete<'a>(&'a self, _: &'a Namespace, id: &'a MemoryId) -> BoxFuture<'a, Result<bool, Error>> {
        self.answer(|memories| {
            let before = memories.len();
            memories.retain(|memory| memory.id != *id);
            memories.len() < before
        })
    }

    fn search<'a>(
        &'a self,
        _: &'a Namespace,
        query: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Memory>, Error>> {
        let related = |memory: &Memory| query.split_whitespace().any(|word| memory.content.contains(word));
        self.answer(|memories| memories.iter().rev().filter(|memory| related(memory)).take(limit).cloned().collect())
    }
}

/// How a model answers one request.
enum Reply {
    Stream(Vec<Result<ChatEvent, ProviderError>>),
    /// Once it is let.
    Late(Arc<Notify>, String),
    Panics,
    Hangs,
}

fn text(text: impl Into<String>) -> Result<ChatEvent, ProviderError> {
    Ok(ChatEvent::TextDelta { text: text.into() })
}

fn done(stop: StopReason) -> Result<ChatEvent, ProviderError> {
    Ok(ChatEvent::Done { usage: Usage::default(), stop })
}

fn says(answer: impl Into<String>) -> Reply {
    Reply::Stream(vec![text(answer), done(StopReason::End)])
}

/// An answer with these memories: their ids and contents.
fn finds(memories: &[(Option<&str>, &str)]) -> String {
    let one = |(id, content): &(Option<&str>, &str)| json!({ "id": id, "content": content, "tags": ["t"] });
    json!({ "memories": memories.iter().map(one).collect::<Vec<_>>() }).to_string()
}

/// A model with its replies in order.
struct Provider {
    id: ProviderId,
    replies: Mutex<VecDeque<Reply>>,
    requests: Mutex<Vec<(ChatRequest, CancellationToken)>>,
    asked: Notify,
}

impl Provider {
    fn new(replies: impl IntoIterator<Item = Reply>) -> Arc<Self> {
        Arc::new(Self {
            id: ProviderId::new("fake"),
            replies: Mutex::new(replies.into_iter().collect()),
            requests: Mutex::default(),
            asked: Notify::new(),
        })
    }

    fn count(&self) -> usize {
        lock(&self.requests).len()
    }

    /// The text of a request; the first is 0.
    fn heard(&self, number: usize) -> String {
        match lock(&self.requests)[number].0.messages.as_slice() {
            [Message::User { parts }] => match parts.as_slice() {
                [Part::Text { text }] => text.clone(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    fn token(&self, number: usize) -> CancellationToken {
        lock(&self.requests)[number].1.clone()
    }
}

impl ModelProvider for Provider {
    fn id(&self) -> &ProviderId {
        &self.id
    }

    fn models(&self) -> &[ModelInfo] {
        &[]
    }

    fn chat(&self, request: ChatRequest, cancel: CancellationToken) -> ChatStream {
        lock(&self.requests).push((request, cancel));
        self.asked.notify_one();
        match lock(&self.replies).pop_front().expect("no more replies") {
            Reply::Stream(events) => Box::pin(stream::iter(events)),
            Reply::Late(gate, answer) => Box::pin(stream::unfold(Some((gate, answer)), |state| async move {
                let (gate, answer) = state?;
                gate.notified().await;
                Some((text(answer), None))
            }))
            .chain_done(),
            Reply::Panics => panic!("the provider has a mistake"),
            Reply::Hangs => Box::pin(stream::pending()),
        }
    }
}

trait ChainDone {
    fn chain_done(self) -> ChatStream;
}

impl<S: futures_util::Stream<Item = Result<ChatEvent, ProviderError>> + Send + 'static> ChainDone for S {
    fn chain_done(self) -> ChatStream {
        Box::pin(futures_util::StreamExt::chain(self, stream::iter([done(StopReason::End)])))
    }
}

fn manager_with(store: &Arc<Store>, provider: &Arc<Provider>, settings: MemorySettings, window: u64) -> MemoryManager {
    let next = Mutex::new(0);
    let ids = move || {
        let mut next = lock(&next);
        *next += 1;
        MemoryId::new(format!("new-{next}"))
    };
    MemoryManager::new(
        store.clone(),
        Namespace::stored("/work"),
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

/// Y4.7-1, D-66: relevance first, then what is fresh, nothing twice; the first text decides for the whole session.
#[tokio::test]
async fn a_session_recalls_what_has_to_do_with_its_first_message() {
    let store =
        Store::new([memory("m-1", "tabs win"), memory("m-2", "Oslo"), memory("m-3", "tea"), memory("m-4", "cat")]);
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
    manager(&store, &provider).finish(&log).await;
    assert!(provider.heard(0).contains("- [m-1] Lives in Oslo."), "{}", provider.heard(0));
    let memories = lock(&store.memories).clone();
    let stored: Vec<_> = memories.iter().map(|memory| (memory.id.as_str(), memory.content.as_str())).collect();
    assert_eq!(stored, [("m-1", "Lives in Bergen."), ("new-1", "Uses tabs.")]);
    for memory in &memories {
        assert_eq!((memory.namespace.as_str(), memory.source.as_deref()), ("/work", Some("session-1")));
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
    manager.turn_ended(&log);
    log.extend([user("thanks"), said("welcome")]);
    assert_eq!(provider.count(), 0);
    manager.turn_ended(&log);
    store.stored.notified().await;
    assert_eq!((provider.count(), store.contents()), (1, vec!["Uses tabs.".to_owned()]));
    log.extend([user("my cat is hungry"), said("feed it")]);
    manager.turn_ended(&log);
    manager.finish(&log).await;
    assert_eq!(store.contents(), ["Uses tabs.", "Has a cat."]);
    let second = provider.heard(1);
    assert!(second.contains("my cat") && !second.contains("tabs please"), "{second}");
    assert!(second.contains("- [new-1] Uses tabs."), "{second}");
    manager.finish(&log).await;
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
    manager.turn_ended(&log);
    manager.turn_ended(&log);
    provider.asked.notified().await;
    for _ in 0..6 {
        manager.turn_ended(&log);
    }
    gate.notify_one();
    manager.finish(&log).await;
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
        manager.finish(&log).await;
        assert_eq!((provider.count(), store.contents()), (1, Vec::new()));
        manager.finish(&log).await;
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
        manager(&store, &provider).finish(&[user("tabs please")]).await;
        store.is(Mood::Well);
        assert_eq!((provider.count(), store.contents()), (0, Vec::new()), "{mood:?}");
    }
}

/// D-67: a checkpoint whose model failed leaves the conversation to the next one.
#[tokio::test]
async fn a_failed_checkpoint_leaves_its_part_to_the_end() {
    let store = Store::new([]);
    let provider = Provider::new([Reply::Panics, says(finds(&[(None, "Uses tabs.")]))]);
    let manager = manager(&store, &provider);
    let log = [user("tabs please"), said("yes")];
    manager.turn_ended(&log);
    manager.turn_ended(&log);
    provider.asked.notified().await;
    manager.finish(&log).await;
    assert!(provider.heard(1).contains("tabs please"));
    assert_eq!(store.contents(), ["Uses tabs."]);
}

#[tokio::test]
async fn a_conversation_without_a_word_of_the_user_asks_nobody() {
    let (store, provider) = (Store::new([]), Provider::new([]));
    let manager = manager(&store, &provider);
    for log in [vec![], vec![said("Hello!"), result("42")], vec![user("secret"), withheld()]] {
        manager.turn_ended(&log);
        manager.finish(&log).await;
    }
    assert_eq!(provider.count(), 0);
}

/// What was read for memories before a session was taken up again is not read again.
#[tokio::test]
async fn a_resumed_session_starts_where_it_stopped() {
    let (store, provider) = (Store::new([]), Provider::new([says(finds(&[]))]));
    let manager = manager(&store, &provider).resumed(2);
    let mut log = vec![user("tabs please"), said("yes")];
    manager.finish(&log).await;
    assert_eq!(provider.count(), 0);
    log.push(user("my cat"));
    manager.finish(&log).await;
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
            manager.turn_ended(&log);
            manager.turn_ended(&log);
            provider.asked.notified().await;
        }
        let before = tokio::time::Instant::now();
        manager.finish(&log).await;
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
    manager.turn_ended(&log);
    manager.turn_ended(&log);
    provider.asked.notified().await;
    // The clock stands still, and goes on only as far as the limit of the checkpoint.
    tokio::time::advance(Duration::from_secs(300)).await;
    manager.finish(&log).await;
    assert_eq!((provider.count(), store.contents()), (2, vec!["Uses tabs.".to_owned()]));
}

#[tokio::test]
async fn a_manager_that_is_dropped_stops_its_extraction() {
    let (store, provider) = (Store::new([]), Provider::new([Reply::Hangs]));
    let manager = manager(&store, &provider);
    let log = [user("tabs please"), said("yes")];
    manager.turn_ended(&log);
    manager.turn_ended(&log);
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
    manager.finish(&[user("moved to Bergen")]).await;
    let heard = provider.heard(0);
    assert!(heard.contains("[m-1]") && !heard.contains("[m-2]"), "{heard}");
    let ids: Vec<_> = lock(&store.memories).iter().map(|memory| memory.id.to_string()).collect();
    assert_eq!(ids, ["m-3", "m-4", "m-1", "new-1"]);
}

#[tokio::test]
async fn a_model_too_small_for_the_instructions_is_not_asked() {
    let (store, provider) = (Store::new([]), Provider::new([]));
    manager_with(&store, &provider, MemorySettings::default(), 500).finish(&[user("tabs")]).await;
    assert_eq!(provider.count(), 0);
}
