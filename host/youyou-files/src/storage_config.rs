//! The key `storage` of config.yaml: where sessions and memories are kept (Y3.7, Y3.8).

use crate::{
    fields::{Field, Keys, nearest},
    findings::Findings,
    yaml::quoted,
};

/// Where sessions and memories are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StorageConfig {
    /// Where sessions are kept.
    pub sessions: SessionsIn,
    /// Where memories are kept.
    pub memories: MemoriesIn,
}

/// Where sessions are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SessionsIn {
    /// In text files, one folder a session.
    #[default]
    Jsonl,
    /// In the database.
    Sqlite,
    /// Nowhere: a session ends with its process (Y3.7-4).
    Nowhere,
}

/// Where memories are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MemoriesIn {
    /// In the database.
    #[default]
    Sqlite,
    /// Nowhere: nothing is remembered from session to session.
    Nowhere,
}

const KEYS: Keys = Keys {
    of: "`storage`",
    allowed: &["sessions", "memories"],
    astray: &[("session", "did you mean `sessions`?"), ("memory", "did you mean `memories`?")],
};

const SESSIONS: &[(&str, SessionsIn)] =
    &[("jsonl", SessionsIn::Jsonl), ("sqlite", SessionsIn::Sqlite), ("none", SessionsIn::Nowhere)];

const MEMORIES: &[(&str, MemoriesIn)] = &[("sqlite", MemoriesIn::Sqlite), ("none", MemoriesIn::Nowhere)];

/// Reads the two keys. A value that does not fit is noted and left at its default.
pub(crate) fn read_storage(field: &Field<'_>, findings: &mut Findings<'_>) -> StorageConfig {
    let Some(section) = field.section(&KEYS, findings) else { return StorageConfig::default() };
    StorageConfig {
        sessions: section.get("sessions").and_then(|field| choice(&field, SESSIONS, findings)).unwrap_or_default(),
        memories: section.get("memories").and_then(|field| choice(&field, MEMORIES, findings)).unwrap_or_default(),
    }
}

/// One of a few words.
fn choice<T: Copy>(field: &Field<'_>, words: &[(&str, T)], findings: &mut Findings<'_>) -> Option<T> {
    let text = field.os_text(findings)?.trim();
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
        return Some(*value);
    }
    let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
    let message = format!("{} must be one of {}, found {}", field.name(), words.join(", "), quoted(text));
    let noted = findings.error(field.at(), message);
    if let Some(near) = nearest(text, &words) {
        noted.hint(format!("did you mean `{near}`?"));
    }
    None
}
