//! What a guest tried and was refused, kept for whoever has to explain the call.
//!
//! The guest sees an ordinary error ("permission denied"); the line of `index.md` that would have helped is for the
//! author and the user, so it travels beside the answer.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
};

use serde::{Serialize, Serializer};

/// One refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Denial {
    /// What kind of refusal it was.
    pub kind: DenialKind,
    /// For a person: what was tried, why it was refused and, where there is one, the line that would grant it.
    pub text: String,
    /// The line of `index.md` that would have granted it; none where no line could.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
}

/// What kind of refusal it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DenialKind {
    /// A directory that may not be read.
    Read,
    /// A directory that may not be written.
    Write,
    /// A host, an address or a way of using the network.
    Net,
    /// More HTTP requests in one call than the budget allows.
    HttpRequests,
    /// More bytes in HTTP bodies of one call than the budget allows.
    HttpBytes,
}

impl DenialKind {
    /// The stable name, as in `details.kind` of an error.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "DENIED_READ",
            Self::Write => "DENIED_WRITE",
            Self::Net => "DENIED_NET",
            Self::HttpRequests => "LIMIT_HTTP_REQUESTS",
            Self::HttpBytes => "LIMIT_HTTP_BYTES",
        }
    }
}

impl Serialize for DenialKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Denial {
    /// `tried` reads on from "the component tried", `reason` from there.
    pub(super) fn new(kind: DenialKind, tried: &str, reason: &str) -> Self {
        Self { kind, text: format!("the component tried {tried}, {reason}"), grant: None }
    }

    pub(super) fn with_grant(mut self, line: String) -> Self {
        self.text.push_str("; to grant it, write under `execution` in index.md: ");
        self.text.push_str(&line);
        self.grant = Some(line);
        self
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The refusals of one call: each once, and no more than a person would read.
#[derive(Debug, Default)]
pub(super) struct DenialLog(Mutex<Vec<Denial>>);

impl DenialLog {
    /// How many different refusals of one call are kept.
    const KEPT: usize = 32;

    pub(super) fn record(&self, denial: Denial) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if log.len() < Self::KEPT && !log.contains(&denial) {
            tracing::debug!(kind = denial.kind.as_str(), "{denial}");
            log.push(denial);
        }
    }

    /// Whether there is no use in working out another one.
    pub(super) fn is_full(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len() >= Self::KEPT
    }

    pub(super) fn snapshot(&self) -> Vec<Denial> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_names_what_was_tried_and_the_line_that_would_grant_it() {
        let denial = Denial::new(DenialKind::Read, "to read \"./a/b\"", "which no grant covers")
            .with_grant("permissions: { read: [\"./a\"] }".into());
        assert_eq!(
            serde_json::to_value(&denial).expect("json"),
            serde_json::json!({
                "kind": "DENIED_READ",
                "text": "the component tried to read \"./a/b\", which no grant covers; to grant it, write under \
                         `execution` in index.md: permissions: { read: [\"./a\"] }",
                "grant": "permissions: { read: [\"./a\"] }"
            })
        );
    }

    #[test]
    fn the_log_keeps_each_denial_once_and_ends() {
        let log = DenialLog::default();
        for n in 0..2 * DenialLog::KEPT {
            for _ in 0..2 {
                log.record(Denial::new(DenialKind::Net, &n.to_string(), ""));
            }
        }
        assert_eq!(log.snapshot().len(), DenialLog::KEPT);
        assert!(log.is_full());
        log.clear();
        assert!(log.snapshot().is_empty());
    }
}
