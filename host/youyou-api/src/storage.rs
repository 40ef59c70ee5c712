//! The port to whatever keeps sessions (Y3.7).
//!
//! A [`SessionStorage`] knows many sessions; a [`SessionLog`] is the one that is being written to, and its owner is the
//! only one who may. A session's life:
//!
//! ```
//! # use youyou_api::*;
//! # async fn life(storage: &dyn SessionStorage) -> Result<(), Error> {
//! let mut log = storage.create(NewSession::new(SessionId::new("s-1"), 1_000)).await?;
//! let hello = NewRecord { at: 1_001, event: SessionEvent::user(vec![Part::text("hello")]) };
//! let seq = log.append(vec![hello], Durability::Synced).await?;
//! assert_eq!(seq, 0);
//! log.close().await?;
//!
//! let found = storage.find("s-1").await?;
//! let OpenSession { stored, log } = storage.open(&found.session_id).await?;
//! assert_eq!(stored.records.len(), 1);
//! # drop(log);
//! # Ok(())
//! # }
//! ```
//!
//! Every implementation passes the same suite: the feature `conformance` of youyou-storage.

use serde::{Deserialize, Serialize};

use crate::{
    error::Error,
    ids::SessionId,
    message::Part,
    record::{Metadata, NewRecord, SessionEvent, SessionRecord},
    tool::BoxFuture,
};

/// How safe a record is once [`append`](SessionLog::append) has returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It survives the end of this process, however sudden. A power cut may take it.
    Buffered,
    /// It and everything before it survives a power cut. For the ends of turns, and before a mutating tool runs.
    Synced,
}

/// What a session starts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// Its id; a store may refuse one that cannot be the name of a file.
    pub id: SessionId,
    /// When it was made, in milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
    /// The workspace that it belongs to, as an absolute path; none without a workspace (D-68).
    pub project: Option<String>,
    /// The session it goes on from, if it was forked from one (P-6).
    pub forked_from: Option<Fork>,
}

impl NewSession {
    /// A session of no project that was forked from none.
    pub fn new(id: SessionId, created_at: u64) -> Self {
        Self { id, created_at, project: None, forked_from: None }
    }

    /// The same in a workspace.
    #[must_use]
    pub fn in_project(mut self, project: impl Into<String>) -> Self {
        self.project = Some(project.into());
        self
    }
}

/// Where a session was forked from (P-6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fork {
    /// The other session.
    pub session_id: SessionId,
    /// The [number](SessionRecord::seq) of the last of its records that both have.
    pub seq: u64,
}

/// What listings show of a session (Y3.7-2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// Its id.
    pub session_id: SessionId,
    /// What it was last renamed to, else the first line of what the user first said (D-69).
    pub title: Option<String>,
    /// The workspace it belongs to.
    pub project: Option<String>,
    /// When it was made, in milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
    /// When its last record was made.
    pub updated_at: u64,
    /// Messages that a person would count: the user's and the model's.
    pub message_count: u64,
}

impl SessionSummary {
    /// Of a session without records.
    pub fn new(session: &NewSession) -> Self {
        Self {
            session_id: session.id.clone(),
            title: None,
            project: session.project.clone(),
            created_at: session.created_at,
            updated_at: session.created_at,
            message_count: 0,
        }
    }

    /// Takes one more record into account. Every store counts this way.
    pub fn observe(&mut self, at: u64, event: &SessionEvent) {
        self.updated_at = self.updated_at.max(at);
        match event {
            SessionEvent::UserMessage(user) => {
                self.message_count += 1;
                if self.title.is_none() {
                    self.title = title_of(&user.parts);
                }
            }
            SessionEvent::AssistantMessage(_) => self.message_count += 1,
            SessionEvent::Metadata(metadata) => {
                if let Some(title) = metadata.as_title().map(str::trim).filter(|title| !title.is_empty()) {
                    self.title = Some(title.to_owned());
                }
            }
            SessionEvent::ToolCall(_)
            | SessionEvent::ToolResult(_)
            | SessionEvent::SystemMessage(_)
            | SessionEvent::Opaque(_) => {}
        }
    }
}

/// The longest title that is made from a message, in characters (D-69).
pub const TITLE_LENGTH: usize = 60;

/// The title of a session that begins with this message: the first line that the user wrote, or the skill that was called
/// (D-69).
fn title_of(parts: &[Part]) -> Option<String> {
    const SKILL: &str = "<skill name=\"";
    let texts = || {
        parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(&**text),
            Part::Image(_) | Part::File(_) => None,
        })
    };
    let written = texts().filter(|text| !text.starts_with(SKILL)).flat_map(str::lines);
    let line = written.map(str::trim).find(|line| !line.is_empty()).map(str::to_owned);
    let skill = || texts().find_map(|text| text.strip_prefix(SKILL)?.split('"').next()).map(|name| format!("/{name}"));
    line.or_else(skill).map(|line| line.chars().take(TITLE_LENGTH).collect())
}

/// A session as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSession {
    /// What listings show of it.
    pub summary: SessionSummary,
    /// Where it was forked from.
    pub forked_from: Option<Fork>,
    /// Everything that could be read, oldest first.
    pub records: Vec<SessionRecord>,
    /// What could not be read, in order; the user is told of each (K-05).
    pub skipped: Vec<Skipped>,
}

/// A damaged place of a stored session. Nothing is done about it; the rest is read as if it were not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Where, for a person: `FILE:LINE` or as the store has it.
    pub place: String,
    /// Why.
    pub reason: String,
}

/// A session and the right to write to it.
pub struct OpenSession {
    /// What it holds.
    pub stored: StoredSession,
    /// Where more is appended.
    pub log: Box<dyn SessionLog>,
}

/// Which sessions to list (Y3.7-2), the one last updated first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionQuery {
    /// Only those of this workspace.
    pub project: Option<String>,
    /// Only those whose title holds this text; case does not count.
    pub text: Option<String>,
    /// Where the page before ended.
    pub cursor: Option<PageCursor>,
    /// At most so many; at least 1 is taken.
    pub limit: usize,
}

impl SessionQuery {
    /// The first page of all sessions.
    pub fn first(limit: usize) -> Self {
        Self { project: None, text: None, cursor: None, limit }
    }
}

/// Where a page ended; it means something only to the store that made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PageCursor(String);

impl PageCursor {
    /// Wraps what a store can go on from.
    pub fn new(cursor: impl Into<String>) -> Self {
        Self(cursor.into())
    }

    /// As the store made it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One page of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<T> {
    /// In order.
    pub items: Vec<T>,
    /// Where the next page begins; none when there is nothing more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<PageCursor>,
}

/// Whatever keeps sessions (Y3.7). An agent has at most one; without it, a session lives in memory (Y3.7-4).
///
/// Futures may be dropped at any time: what they had begun either happens whole or not at all. An implementation may need
/// the async runtime that its documentation names.
pub trait SessionStorage: Send + Sync {
    /// Makes a session and takes it. Nothing need be stored before the first record is.
    ///
    /// # Errors
    /// `INVALID_INPUT` when there is such a session, or its id cannot be used; `SESSION_BUSY` when somebody else is about
    /// to make it; `STORAGE_ERROR`. A store that stores nothing yet may say so at the first
    /// [`append`](SessionLog::append).
    fn create(&self, session: NewSession) -> BoxFuture<'_, Result<Box<dyn SessionLog>, Error>>;

    /// Takes a session and reads it. Reading changes nothing that is stored, damaged or not (K-02).
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND`; `SESSION_BUSY` while anybody has it open, in this process or another; `STORAGE_ERROR`.
    fn open<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<OpenSession, Error>>;

    /// Reads a session without taking it, also while somebody writes to it; what is being written may be missing.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND`, `STORAGE_ERROR`.
    fn load<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<StoredSession, Error>>;

    /// Lists sessions page by page, the one last updated first. Whatever is stored from the first page to the last is on
    /// exactly one of them, unless it is updated meanwhile.
    ///
    /// # Errors
    /// `INVALID_INPUT` for a cursor that is not this store's; `STORAGE_ERROR`.
    fn list(&self, query: SessionQuery) -> BoxFuture<'_, Result<Page<SessionSummary>, Error>>;

    /// The one session with this id; else the one whose id begins so or that has this title, case aside.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND`; `SESSION_AMBIGUOUS` with the first candidates in `details.candidates`, each with
    /// `session_id` and `title` (D-69); `STORAGE_ERROR`.
    fn find<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<SessionSummary, Error>>;

    /// Deletes a session with everything in it.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND`; `SESSION_BUSY` while anybody has it open; `STORAGE_ERROR`.
    fn delete<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<(), Error>>;

    /// Gives a session that nobody has open another title (D-69). Whoever has it open appends [`Metadata::title`].
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND`; `SESSION_BUSY` while anybody has it open; `STORAGE_ERROR`.
    fn rename<'a>(&'a self, id: &'a SessionId, title: &'a str, at: u64) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let mut log = self.open(id).await?.log;
            let title = NewRecord { at, event: SessionEvent::Metadata(Metadata::title(title)) };
            log.append(vec![title], Durability::Synced).await?;
            log.close().await
        })
    }

    /// Makes a session that begins as another one does, up to and including the record `last`, and takes it (P-6). The
    /// other one is only read. Records keep their numbers.
    ///
    /// # Errors
    /// Those of [`load`](Self::load) and [`create`](Self::create); `INVALID_INPUT` when there is no record up to `last`.
    fn fork<'a>(
        &'a self,
        source: &'a SessionId,
        last: u64,
        session: NewSession,
    ) -> BoxFuture<'a, Result<OpenSession, Error>>;
}

/// The right to append to one session. It ends when this is closed or dropped, and with the process.
pub trait SessionLog: Send + Sync {
    /// The session.
    fn id(&self) -> &SessionId;

    /// The number that the next record gets.
    fn next_seq(&self) -> u64;

    /// Appends records, and returns the number of the first; the others follow without gaps. Without records it only
    /// makes what was appended as safe as asked for.
    ///
    /// Once it has returned, the records survive as [`Durability`] says. When it fails, none of them is there after the
    /// next append that succeeds, so that the same records can be appended again (D-71); if the process ends before that,
    /// the first few of them may be there.
    ///
    /// Cancel safety: a dropped future appends all of the records or none.
    ///
    /// # Errors
    /// `STORAGE_ERROR`, with `details.kind` `DISK_FULL` or `PERMISSION_DENIED` where that is why; `INVALID_INPUT` when a
    /// store that makes a session late finds one of this id.
    fn append(&mut self, records: Vec<NewRecord>, durability: Durability) -> BoxFuture<'_, Result<u64, Error>>;

    /// Ends the ownership, as dropping it does, and says whether everything appended is in order.
    ///
    /// # Errors
    /// `STORAGE_ERROR`; the ownership has ended all the same.
    fn close(self: Box<Self>) -> BoxFuture<'static, Result<(), Error>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titled(texts: &[&str]) -> Option<String> {
        title_of(&texts.iter().map(|text| Part::text(*text)).collect::<Vec<_>>())
    }

    /// D-69.
    #[test]
    fn a_title_is_the_first_line_that_the_user_wrote() {
        assert_eq!(titled(&["\n  Plan a trip \nto Oslo"]).as_deref(), Some("Plan a trip"));
        assert_eq!(titled(&[&"語".repeat(61)]), Some("語".repeat(60)));
        assert_eq!(
            titled(&["<skill name=\"commit\" dir=\"/x\">\nDo.\n</skill>", "the tests"]).as_deref(),
            Some("the tests")
        );
        assert_eq!(titled(&["<skill name=\"commit\">\nDo.\n</skill>"]).as_deref(), Some("/commit"));
        assert_eq!(titled(&[" \n"]), None);
    }

    /// Y3.7-2, D-69.
    #[test]
    fn a_summary_follows_the_records() {
        let mut summary = SessionSummary::new(&NewSession::new(SessionId::new("s"), 10));
        summary.observe(11, &SessionEvent::user(vec![Part::text("first")]));
        summary.observe(12, &SessionEvent::user(vec![Part::text("second")]));
        summary.observe(9, &SessionEvent::system("a clock may go back"));
        assert_eq!((summary.title.as_deref(), summary.message_count, summary.updated_at), (Some("first"), 2, 12));
        summary.observe(13, &SessionEvent::Metadata(Metadata::title("renamed")));
        summary.observe(14, &SessionEvent::Metadata(Metadata::title(" ")));
        assert_eq!((summary.title.as_deref(), summary.updated_at), (Some("renamed"), 14));
    }
}
