//! What surrounds the calls of one batch: whose they are, how they are stopped, and who hears of them.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use youyou_api::{BoxFuture, CallStats, Error, SessionId, ToolCall, ToolInput, call::CancellationToken};

use super::dispatcher::ToolResult;

/// What the calls of one batch have in common.
#[derive(Debug, Clone)]
pub struct CallScope {
    /// The session, if there is one.
    pub session: Option<SessionId>,
    /// The session's working directory, absolute.
    pub cwd: Arc<Path>,
    /// Once it fires, no further call is started; those that run are waited for (Y6.2-4).
    pub stop: CancellationToken,
    /// Stops calls that are running; see [`CallContext::cancel`](youyou_api::CallContext).
    pub cancel: CancellationToken,
    /// Where handlers report their figures.
    pub stats: CallStats,
    /// Who is told as calls begin and end.
    pub observer: Option<Arc<dyn CallObserver>>,
    /// Who writes calls down, if anybody does.
    pub journal: Option<Arc<dyn CallJournal>>,
}

/// Writes calls down: each before it runs, and its result before anybody hears of it (D-71).
pub trait CallJournal: Send + Sync + fmt::Debug {
    /// Called when nothing but this stands between a call and its tool.
    ///
    /// # Errors
    /// When the call must not run, because it could not be written down.
    fn before<'a>(&'a self, input: &'a ToolInput, mutating: bool) -> BoxFuture<'a, Result<(), Error>>;

    /// A call has its result.
    fn answered<'a>(&'a self, result: &'a ToolResult) -> BoxFuture<'a, ()>;
}

/// Is told of each call of a scope, once at its begin and once at its end, in the order of the calls (Y7-3).
pub trait CallObserver: Send + Sync + fmt::Debug {
    /// A call begins; nothing is known yet of whether it can run.
    fn started(&self, call: &ToolCall);
    /// A call has its result.
    fn ended(&self, result: &ToolResult);
}

impl CallScope {
    /// A scope without a session in which nothing is cancelled.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Self {
            session: None,
            cwd: cwd.into().into(),
            stop: CancellationToken::new(),
            cancel: CancellationToken::new(),
            stats: CallStats::off(),
            observer: None,
            journal: None,
        }
    }

    pub(super) fn tell_started(&self, call: &ToolCall) {
        if let Some(observer) = &self.observer {
            observer.started(call);
        }
    }

    pub(super) async fn tell_ended(&self, result: &ToolResult) {
        if let Some(journal) = &self.journal {
            journal.answered(result).await;
        }
        if let Some(observer) = &self.observer {
            observer.ended(result);
        }
    }
}
