//! Writing a tool call down before it runs, so that after a crash it is known what may have had an effect (D-71).

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use tokio::sync::Mutex;
use youyou_api::{
    AgentEventKind, BoxFuture, Durability, Error, ErrorCode, SessionEvent, ToolInput, record::ToolResultRecord,
};

use super::writer::{Journal, Saved};
use crate::{
    events::Publisher,
    tools::{CallJournal, ToolResult},
};

/// Writes the calls of one turn.
pub(crate) struct WriteAhead {
    journal: Arc<Mutex<Journal>>,
    events: Arc<Publisher>,
    /// Why a call was not allowed to run.
    refused: OnceLock<Error>,
}

impl WriteAhead {
    pub(crate) fn new(journal: Arc<Mutex<Journal>>, events: Arc<Publisher>) -> Self {
        Self { journal, events, refused: OnceLock::new() }
    }

    /// Why a call was not allowed to run, if one was not: the turn cannot go on.
    pub(crate) fn refused(&self) -> Option<&Error> {
        self.refused.get()
    }
}

impl fmt::Debug for WriteAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WriteAhead")
    }
}

impl CallJournal for WriteAhead {
    fn before<'a>(&'a self, input: &'a ToolInput, mutating: bool) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let mut journal = self.journal.lock().await;
            journal.push(SessionEvent::ToolCall(input.clone()));
            // What only reads may run again after a crash; what it did need not survive a power cut.
            let durability = if mutating { Durability::Synced } else { Durability::Buffered };
            match (journal.save(durability).await, mutating) {
                (Saved::Yes, _) => Ok(()),
                (Saved::No(error) | Saved::StillNo(error), true) => {
                    let message =
                        format!("the call was not started, because it could not be written down: {}", error.message);
                    let refusal = Error::new(ErrorCode::StorageError, message).with_cause(error);
                    Err(self.refused.get_or_init(|| refusal).clone())
                }
                (Saved::No(error), false) => {
                    self.events.publish(AgentEventKind::Error { error, fatal: false });
                    Ok(())
                }
                (Saved::StillNo(_), false) => Ok(()),
            }
        })
    }

    fn answered<'a>(&'a self, result: &'a ToolResult) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let mut journal = self.journal.lock().await;
            let record = ToolResultRecord {
                call_id: result.call_id.clone(),
                tool_name: result.tool_name.clone(),
                content: result.output.content.as_str().into(),
                is_error: result.output.is_error,
                metadata: result.output.metadata.clone(),
            };
            journal.push_ahead(result.call_id.clone(), SessionEvent::ToolResult(record));
            if let Saved::No(error) = journal.save(Durability::Buffered).await {
                self.events.publish(AgentEventKind::Error { error, fatal: false });
            }
        })
    }
}
