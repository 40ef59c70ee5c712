//! The port to whatever keeps memories from session to session (Y3.8).

use std::{fmt, path::Path};

use serde::{Deserialize, Serialize};

use crate::{
    error::Error,
    ids::MemoryId,
    storage::{Page, PageCursor},
    tool::BoxFuture,
};

/// Whose memories: one workspace's, or everybody's (Y4.7-3). What is in one namespace cannot be seen from another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Namespace(String);

impl Namespace {
    /// Where there is no workspace.
    pub fn global() -> Self {
        Self("global".to_owned())
    }

    /// Of a workspace, by its canonical absolute path (D-68). On Windows the drive letter is in upper case and there is no
    /// `\\?\` before it.
    pub fn workspace(canonical: &Path) -> Self {
        let path = canonical.to_string_lossy();
        if !cfg!(windows) {
            return Self(path.into_owned());
        }
        Self(windows_form(&path))
    }

    /// As it was stored.
    pub fn stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The namespace as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn windows_form(path: &str) -> String {
    let path = path.strip_prefix(r"\\?\").filter(|rest| rest.as_bytes().get(1) == Some(&b':')).unwrap_or(path);
    match path.as_bytes() {
        [drive, b':', ..] if drive.is_ascii_alphabetic() => {
            format!("{}{}", drive.to_ascii_uppercase() as char, &path[1..])
        }
        _ => path.to_owned(),
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Something worth knowing in later sessions (Y3.8-1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Unique in its namespace.
    pub id: MemoryId,
    /// Whose it is.
    pub namespace: Namespace,
    /// What to know.
    pub content: String,
    /// Where it comes from: a session, a file, the user.
    pub source: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// When it was first stored, in milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
    /// When it was last stored, the same content included.
    pub updated_at: u64,
}

/// A memory that is to be stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryDraft {
    /// That of the memory it replaces, else a new one.
    pub id: MemoryId,
    /// Whose it is.
    pub namespace: Namespace,
    /// What to know.
    pub content: String,
    /// Where it comes from.
    pub source: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
}

/// What became of a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Upserted {
    /// There was none of this id in the namespace.
    Inserted,
    /// The content was another: content, source and tags are the draft's now.
    Updated,
    /// The content was the same: only `updated_at` is new.
    Touched,
}

/// Whatever keeps memories (Y3.8). An agent has at most one; without it, it remembers nothing.
///
/// Futures may be dropped at any time: what they had begun either happens whole or not at all. An implementation may need
/// the async runtime that its documentation names.
pub trait MemoryStorage: Send + Sync {
    /// One memory; none if the namespace has none of this id.
    ///
    /// # Errors
    /// `STORAGE_ERROR`.
    fn load<'a>(&'a self, namespace: &'a Namespace, id: &'a MemoryId) -> BoxFuture<'a, Result<Option<Memory>, Error>>;

    /// Every memory of a namespace, page by page, the one last updated first.
    ///
    /// # Errors
    /// `INVALID_INPUT` for a cursor that is not this store's; `STORAGE_ERROR`.
    fn list<'a>(
        &'a self,
        namespace: &'a Namespace,
        cursor: Option<PageCursor>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Page<Memory>, Error>>;

    /// Stores memories, each by its namespace and id: all of them, safe from a power cut, or none. Returns what became of
    /// each, in order.
    ///
    /// # Errors
    /// `STORAGE_ERROR`.
    fn upsert(&self, drafts: Vec<MemoryDraft>, at: u64) -> BoxFuture<'_, Result<Vec<Upserted>, Error>>;

    /// Deletes a memory, and says whether there was one.
    ///
    /// # Errors
    /// `STORAGE_ERROR`.
    fn delete<'a>(&'a self, namespace: &'a Namespace, id: &'a MemoryId) -> BoxFuture<'a, Result<bool, Error>>;

    /// The memories of a namespace that have something to do with a text, the most relevant first; of equal ones, the one
    /// last updated first. The text is what a person wrote, not a language for queries; one without words finds nothing.
    ///
    /// Whoever wants memories whatever the text fills up from [`list`](Self::list).
    ///
    /// # Errors
    /// `STORAGE_ERROR`.
    fn search<'a>(
        &'a self,
        namespace: &'a Namespace,
        query: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Memory>, Error>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D-68.
    #[test]
    fn a_workspace_has_one_namespace_however_its_drive_is_written() {
        for path in [r"c:\Users\a", r"C:\Users\a", r"\\?\c:\Users\a"] {
            assert_eq!(windows_form(path), r"C:\Users\a");
        }
        assert_eq!(windows_form(r"\\?\UNC\server\share"), r"\\?\UNC\server\share");
        assert_eq!(Namespace::global().as_str(), "global");
        #[cfg(unix)]
        assert_eq!(Namespace::workspace(Path::new("/home/a")).as_str(), "/home/a");
    }
}
