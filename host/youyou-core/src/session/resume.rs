//! Going on with a session that was stored: what its last run left open is closed, what was lost is told.

use youyou_api::{
    Error, ErrorCode, SessionId, SessionLog, SessionStorage,
    storage::{OpenSession, Skipped},
};

use crate::{
    context::{Entry, History},
    journal::{Restored, restore},
};

/// Answers a call whose end nobody has seen (K-02).
const INTERRUPTED: &str = "[interrupted; whether this call had an effect is unknown]";

/// Follows a message that was cut off by anything but the user (D-26).
pub(crate) const BROKE_OFF: &str = "[此消息因异常中断]";

/// A stored session, taken and read.
pub(crate) struct Resumed {
    pub(crate) id: SessionId,
    pub(crate) log: Box<dyn SessionLog>,
    pub(crate) restored: Restored,
    skipped: Vec<Skipped>,
}

impl Resumed {
    /// Takes a session.
    ///
    /// # Errors
    /// Those of [`SessionStorage::open`].
    pub(crate) async fn open(storage: &dyn SessionStorage, id: &SessionId) -> Result<Self, Error> {
        let OpenSession { stored, log } = storage.open(id).await?;
        let restored = restore(stored.records);
        Ok(Self { id: stored.summary.session_id, log, restored, skipped: stored.skipped })
    }

    /// What the user should know of how it was stored (K-03, K-05).
    pub(crate) fn damage(&self) -> Vec<Error> {
        let damaged = |message: String| Error::new(ErrorCode::StorageError, message).with_kind("DAMAGED");
        let skipped = self.skipped.iter().map(|skipped| {
            damaged(format!("{} is skipped: {}", skipped.place, skipped.reason))
                .with_detail("place", skipped.place.as_str())
        });
        let strays = self.restored.strays.iter().map(|call| {
            damaged(format!("a result of the call {:?} is left out of requests: no such call is stored", call.as_str()))
        });
        let opaque = (self.restored.opaque > 0).then(|| {
            damaged(format!(
                "{} records are of a kind that this version does not know; they are kept",
                self.restored.opaque
            ))
        });
        skipped.chain(strays).chain(opaque).collect()
    }
}

/// The log of a session that goes on: every call that was left open is answered, and a turn that broke off is closed
/// with a notice (K-02, D-26). What is stored stays as it is; the answers are new.
pub(crate) fn take_up(entries: Vec<Entry>) -> History {
    let mut history = History::resumed(entries);
    let open = history.unanswered();
    let broke_off =
        !open.is_empty() || matches!(history.entries().last(), Some(Entry::User { .. } | Entry::DynamicSection(_)));
    for call in open {
        history.push(Entry::ToolResult {
            call_id: call.call_id,
            tool_name: call.tool_name,
            content: INTERRUPTED.into(),
            is_error: true,
            metadata: None,
        });
    }
    if broke_off {
        history.push(Entry::System { text: BROKE_OFF.into() });
    }
    history
}
