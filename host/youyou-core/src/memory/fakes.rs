//! For the tests of this module: entries of a log, a storage in memory, and a model that says what it is told to.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio::sync::Notify;
use youyou_api::{
    AssistantPart, BoxFuture, CallId, CancellationToken, Capabilities, ChatEvent, ChatRequest, ChatStream, Error,
    ErrorCode, Memory, MemoryDraft, MemoryId, MemoryStorage, ModelId, ModelInfo, ModelProvider, Namespace, Page,
    PageCursor, Part, ProviderError, ProviderId, StopReason, ToolCall, Upserted, Usage,
};

use super::{Progress, ProgressLog};
use crate::{
    aside,
    context::{AssistantStatus, Entry},
};

/// Whose the memories of these tests are.
pub(super) const WORKSPACE: &str = "/work";

pub(super) fn memory(id: &str, content: &str) -> Memory {
    Memory {
        id: MemoryId::new(id),
        namespace: Namespace::stored(WORKSPACE),
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
    Entry::User { parts: [Part::text(text)].into() }
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

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a storage or a model behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    Well,
    Fails,
    Panics,
    Hangs,
}

/// Memories in a list, the one last updated last.
pub(super) struct Store {
    pub(super) memories: Mutex<Vec<Memory>>,
    mood: Mutex<Mood>,
    /// Told after each upsert.
    pub(super) stored: Notify,
}

impl Store {
    pub(super) fn new(memories: impl IntoIterator<Item = Memory>) -> Arc<Self> {
        let memories = Mutex::new(memories.into_iter().collect());
        Arc::new(Self { memories, mood: Mutex::new(Mood::Well), stored: Notify::new() })
    }

    pub(super) fn is(&self, mood: Mood) {
        *lock(&self.mood) = mood;
    }

    pub(super) fn contents(&self) -> Vec<String> {
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

fn of<'a>(memories: &'a [Memory], namespace: &'a Namespace) -> impl DoubleEndedIterator<Item = &'a Memory> {
    memories.iter().filter(move |memory| memory.namespace == *namespace)
}

impl MemoryStorage for Store {
    fn load<'a>(&'a self, namespace: &'a Namespace, id: &'a MemoryId) -> BoxFuture<'a, Result<Option<Memory>, Error>> {
        self.answer(|memories| of(memories, namespace).find(|memory| memory.id == *id).cloned())
    }

    fn list<'a>(
        &'a self,
        namespace: &'a Namespace,
        _: Option<PageCursor>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Page<Memory>, Error>> {
        self.answer(|memories| Page { items: of(memories, namespace).rev().take(limit).cloned().collect(), next: None })
    }

    fn upsert(&self, drafts: Vec<MemoryDraft>, at: u64) -> BoxFuture<'_, Result<Vec<Upserted>, Error>> {
        self.answer(|memories| {
            let mut outcomes = Vec::new();
            for MemoryDraft { id, namespace, content, source, tags } in drafts {
                let same = |memory: &Memory| memory.namespace == namespace && memory.id == id;
                let old = memories.iter().position(same).map(|place| memories.remove(place));
                outcomes.push(if old.is_some() { Upserted::Updated } else { Upserted::Inserted });
                let created_at = old.map_or(at, |old| old.created_at);
                memories.push(Memory { id, namespace, content, source, tags, created_at, updated_at: at });
            }
            self.stored.notify_one();
            outcomes
        })
    }

    fn delete<'a>(&'a self, namespace: &'a Namespace, id: &'a MemoryId) -> BoxFuture<'a, Result<bool, Error>> {
        self.answer(|memories| {
            let before = memories.len();
            memories.retain(|memory| memory.namespace != *namespace || memory.id != *id);
            memories.len() < before
        })
    }

    fn search<'a>(
        &'a self,
        namespace: &'a Namespace,
        query: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Memory>, Error>> {
        let related = |memory: &Memory| query.split_whitespace().any(|word| memory.content.contains(word));
        self.answer(|memories| {
            of(memories, namespace).rev().filter(|memory| related(memory)).take(limit).cloned().collect()
        })
    }
}

/// Progress that was written down, and how many memories were stored at that time.
pub(super) struct Notes {
    store: Arc<Store>,
    taken: Mutex<Vec<(Progress, usize)>>,
}

impl Notes {
    pub(super) fn of(store: &Arc<Store>) -> Self {
        Self { store: store.clone(), taken: Mutex::default() }
    }

    pub(super) fn progress(&self) -> Vec<Progress> {
        lock(&self.taken).iter().map(|(progress, _)| progress.clone()).collect()
    }

    pub(super) fn taken(&self) -> Vec<String> {
        let shown = |(Progress { entries, pending }, stored): &(Progress, usize)| {
            let pending: String = pending.iter().map(|draft| format!(" {} pending,", draft.id)).collect();
            format!("{entries} read,{pending} {stored} stored")
        };
        lock(&self.taken).iter().map(shown).collect()
    }
}

impl ProgressLog for Notes {
    fn note<'a>(&'a self, progress: &'a Progress) -> BoxFuture<'a, Result<(), Error>> {
        lock(&self.taken).push((progress.clone(), lock(&self.store.memories).len()));
        Box::pin(async { Ok(()) })
    }
}

/// How a model answers one request.
pub(super) enum Reply {
    Stream(Vec<Result<ChatEvent, ProviderError>>),
    /// Once it is let.
    Late(Arc<Notify>, String),
    Panics,
    Hangs,
}

pub(super) fn text(text: impl Into<String>) -> Result<ChatEvent, ProviderError> {
    Ok(ChatEvent::TextDelta { text: text.into() })
}

pub(super) fn done(stop: StopReason) -> Result<ChatEvent, ProviderError> {
    Ok(ChatEvent::Done { usage: Usage::default(), stop })
}

pub(super) fn says(answer: impl Into<String>) -> Reply {
    Reply::Stream(vec![text(answer), done(StopReason::End)])
}

/// An answer with these memories: their ids and contents.
pub(super) fn finds(memories: &[(Option<&str>, &str)]) -> String {
    let one = |(id, content): &(Option<&str>, &str)| json!({ "id": id, "content": content, "tags": ["t"] });
    json!({ "memories": memories.iter().map(one).collect::<Vec<_>>() }).to_string()
}

/// A model with its replies in order.
pub(super) struct Provider {
    id: ProviderId,
    replies: Mutex<VecDeque<Reply>>,
    requests: Mutex<Vec<(ChatRequest, CancellationToken)>>,
    /// Told of each request.
    pub(super) asked: Notify,
}

impl Provider {
    pub(super) fn new(replies: impl IntoIterator<Item = Reply>) -> Arc<Self> {
        Arc::new(Self {
            id: ProviderId::new("fake"),
            replies: Mutex::new(replies.into_iter().collect()),
            requests: Mutex::default(),
            asked: Notify::new(),
        })
    }

    pub(super) fn count(&self) -> usize {
        lock(&self.requests).len()
    }

    /// The text of a request; the first is 0.
    pub(super) fn heard(&self, number: usize) -> String {
        aside::text(&lock(&self.requests)[number].0).to_owned()
    }

    pub(super) fn token(&self, number: usize) -> CancellationToken {
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
            Reply::Late(gate, answer) => {
                let answer = stream::once(async move {
                    gate.notified().await;
                    text(answer)
                });
                Box::pin(answer.chain(stream::iter([done(StopReason::End)])))
            }
            Reply::Panics => panic!("the provider has a mistake"),
            Reply::Hangs => Box::pin(stream::pending()),
        }
    }
}
