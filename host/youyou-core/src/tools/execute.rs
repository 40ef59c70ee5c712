//! Running one handler: bounded in time, and with its panics caught.

use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use youyou_api::{CallContext, Error, ErrorCode, ToolFailure, ToolHandler, ToolInput, ToolOutput, call::Deadline};

use super::scope::CallScope;
use crate::bounded::within;

/// What came of running a handler.
pub(super) struct Executed {
    pub(super) answer: Result<ToolOutput, ToolFailure>,
    pub(super) duration: Duration,
}

/// Runs the handler until it answers, or until its time is up: its own limit, else the one given here.
pub(super) async fn execute(
    handler: &Arc<dyn ToolHandler>,
    input: ToolInput,
    default_timeout: Duration,
    scope: &CallScope,
) -> Executed {
    let started = Instant::now();
    let limit = Limit::of(handler, default_timeout);
    let deadline = limit.deadline;
    let name = input.tool_name.clone();
    // Its own token: past the deadline this call is cancelled, and no other.
    let cancel = scope.cancel.child_token();
    let context = CallContext {
        cancel: cancel.clone(),
        deadline,
        session: scope.session.clone(),
        cwd: scope.cwd.clone(),
        stats: scope.stats.clone(),
    };
    // The handler is entered inside the future, so that a panic on the way in is caught as well.
    let call = AssertUnwindSafe(async { handler.call(input, context).await }).catch_unwind();
    let answer = match within(call, &cancel, deadline).await {
        Some(Ok(answer)) => answer,
        Some(Err(panic)) => Err(panicked(name.as_str(), &*panic).into()),
        None => Err(abandoned(name.as_str(), scope, limit).into()),
    };
    Executed {
        answer: answer.map_err(|failure| late(failure, name.as_str(), scope, limit)),
        duration: started.elapsed(),
    }
}

/// A handler that is told to stop past its deadline may report that it was cancelled; to the reader it timed out.
fn late(failure: ToolFailure, name: &str, scope: &CallScope, limit: Limit) -> ToolFailure {
    match failure {
        ToolFailure::ForModel(mut error)
            if error.code == ErrorCode::RequestCancelled && !scope.cancel.is_cancelled() =>
        {
            let timeout = timed_out(name, limit);
            error.code = timeout.code;
            error.message = timeout.message;
            error.retryable = timeout.retryable;
            error.details.extend(*timeout.details);
            error.into()
        }
        other @ (ToolFailure::ForModel(_) | ToolFailure::Fatal(_)) => other,
    }
}

fn abandoned(name: &str, scope: &CallScope, limit: Limit) -> Error {
    if scope.cancel.is_cancelled() {
        Error::new(
            ErrorCode::RequestCancelled,
            format!("tool {name:?} was cancelled while it ran and did not stop; what it has done is unknown"),
        )
    } else {
        timed_out(name, limit)
    }
}

/// How long a call may take, and who says so.
#[derive(Clone, Copy)]
struct Limit {
    deadline: Deadline,
    set_by: &'static str,
}

impl Limit {
    /// Begins now.
    fn of(handler: &Arc<dyn ToolHandler>, default_timeout: Duration) -> Self {
        let own = handler.timeout();
        let set_by = match (handler.backend(), own) {
            ("code", Some(_)) => "the `timeout()` of its handler sets it",
            ("code", None) => "`tool_timeout_ms` of config.yaml sets it for a handler without a `timeout()`",
            (_, Some(_)) => "`timeout_ms` below `execution` in its index.md sets it",
            (_, None) => {
                "`timeout_ms` below `execution` in its index.md sets it, and `tool_timeout_ms` of config.yaml where that \
                 is missing"
            }
        };
        Self { deadline: Deadline::after(own.unwrap_or(default_timeout)), set_by }
    }
}

fn timed_out(name: &str, Limit { deadline, set_by }: Limit) -> Error {
    let budget_ms = u64::try_from(deadline.budget().as_millis()).unwrap_or(u64::MAX);
    Error::new(
        ErrorCode::ToolTimeout,
        format!("tool {name:?} was stopped after {budget_ms} ms, its time limit; {set_by}"),
    )
    .with_kind("LIMIT_TIME")
    .with_detail("timeout_ms", budget_ms)
}

fn panicked(name: &str, panic: &(dyn std::any::Any + Send)) -> Error {
    let text = crate::panic::text(panic);
    Error::new(ErrorCode::ToolExecutionError, format!("tool {name:?} panicked: {text}")).with_kind("PANIC")
}
