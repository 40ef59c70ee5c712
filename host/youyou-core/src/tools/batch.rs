//! Many calls of one model response, and what of them may run at once (Y4.1-3, Y4.1-4).

use tokio::task::JoinSet;
use youyou_api::{Error, ToolCall};

use super::{
    dispatcher::{BrokenOff, Dispatcher, Ran, Ready, ToolResult},
    scope::CallScope,
};

/// What came of a batch.
#[derive(Debug, Default)]
pub struct Batch {
    /// The results, in the order of the calls: one for each that began (Y4.1-6). That is all of them, unless `fatal` is
    /// set.
    pub results: Vec<ToolResult>,
    /// What must end the turn: the first fatal failure. It also is a result, and those of other calls are kept: their
    /// effects are real.
    pub fatal: Option<Error>,
}

impl Dispatcher {
    /// Carries a batch of calls.
    ///
    /// If every tool is read-only, the chains before run in call order, then all calls at once, then the chains after
    /// in call order (Y4.1-3). If any tool is mutating, each call goes the whole way before the next one starts
    /// (Y4.1-4). A call to an unknown tool counts as read-only (D-39). One call's failure never touches its siblings.
    ///
    /// Dropping the future stops the calls that run.
    pub async fn dispatch_batch(&self, calls: Vec<ToolCall>, scope: &CallScope) -> Batch {
        if calls.len() > 1 && calls.iter().all(|call| self.is_read_only(&call.tool_name)) {
            return self.dispatch_at_once(calls, scope).await;
        }
        let mut batch = Batch::default();
        for call in calls {
            match self.carry(call, scope).await {
                Ok(result) => batch.results.push(result),
                Err(broken) => {
                    batch.results.push(broken.result);
                    batch.fatal = Some(broken.fatal);
                    break;
                }
            }
        }
        batch
    }

    fn is_read_only(&self, tool_name: &str) -> bool {
        self.catalog().get(tool_name).is_none_or(|entry| !entry.handler().spec().mutating)
    }

    async fn dispatch_at_once(&self, calls: Vec<ToolCall>, scope: &CallScope) -> Batch {
        let mut slots = Vec::with_capacity(calls.len());
        for call in calls {
            scope.tell_started(&call);
            slots.push(match self.enter(call, scope).await {
                Ok(ready) => Slot::Ready(ready),
                Err(result) => Slot::Done(result),
            });
        }
        let mut batch = Batch::default();
        for slot in self.run_all(slots, scope).await {
            let result = match slot {
                RanSlot::Ran(ran) => self.after(*ran, scope).await,
                RanSlot::Done(result) => *result,
                RanSlot::Broken(broken) => {
                    batch.fatal.get_or_insert(broken.fatal);
                    broken.result
                }
            };
            scope.tell_ended(&result).await;
            batch.results.push(result);
        }
        batch
    }

    /// Runs every call that is ready, each in a task of its own, so that they use as many threads as the runtime has.
    async fn run_all(&self, slots: Vec<Slot>, scope: &CallScope) -> Vec<RanSlot> {
        // Dropped with this future, the set aborts whatever still runs.
        let mut running = JoinSet::new();
        let mut ran: Vec<Option<RanSlot>> = Vec::with_capacity(slots.len());
        for (index, slot) in slots.into_iter().enumerate() {
            ran.push(match slot {
                Slot::Done(result) => Some(RanSlot::Done(result)),
                Slot::Ready(ready) => {
                    let (dispatcher, scope) = (self.clone(), scope.clone());
                    running.spawn(async move { (index, dispatcher.run(ready, &scope).await) });
                    None
                }
            });
        }
        while let Some(joined) = running.join_next().await {
            // A handler's panic is caught where it runs; a task that ends otherwise goes down with the whole runtime.
            let Ok((index, outcome)) = joined else { continue };
            ran[index] = Some(match outcome {
                Ok(done) => RanSlot::Ran(Box::new(done)),
                Err(broken) => RanSlot::Broken(broken),
            });
        }
        ran.into_iter().flatten().collect()
    }
}

/// A call of the batch before the tools run: one that will, or one that is already answered.
enum Slot {
    Ready(Ready),
    Done(Box<ToolResult>),
}

/// The same, after they ran.
enum RanSlot {
    Ran(Box<Ran>),
    Done(Box<ToolResult>),
    Broken(Box<BrokenOff>),
}
