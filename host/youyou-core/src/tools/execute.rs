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

/// Runs the handler until it answers, or until its time is up.
pub(super) async fn execute(
    handler: &Arc<dyn ToolHandler>,
    input: ToolInput,
    timeout: Duration,
    scope: &CallScope,
) -> Executed {
    let started = Instant::now();
    let deadline = Deadline::after(timeout);
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
        None => Err(abandoned(name.as_str(), scope, deadline).into()),
    };
    Executed {
        answer: answer.map_err(|failure| late(failure, name.as_str(), scope, deadline)),
        duration: started.elapsed(),
    }
}

/// A handler that is told to stop past its deadline may report that it was cancelled; to the reader it timed out.
fn late(failure: ToolFailure, name: &str, scope: &CallScope, deadline: Deadline) -> ToolFailure {
    match failure {
        ToolFailure::ForModel(mut error)
            if error.code == ErrorCode::RequestCancelled && !scope.cancel.is_cancelled() =>
        {
            let timeout = timed_out(name, deadline);
            error.code = timeout.code;
            error.message = timeout.message;
            error.retryable = timeout.retryable;
            error.details.extend(*timeout.details);
            error.into()
        }
        other @ (ToolFailure::ForModel(_) | ToolFailure::Fatal(_)) => other,
    }
}

fn abandoned(name: &str, scope: &CallScope, deadline: Deadline) -> Error {
    if scope.cancel.is_cancelled() {
        Error::new(
            ErrorCode::RequestCancelled,
            format!("tool {name:?} was cancelled while it ran and did not stop; what it has done is unknown"),
        )
    } else {
        timed_out(name, deadline)
    }
}

fn timed_out(name: &str, deadline: Deadline) -> Error {
    let budget_ms = u64::try_from(deadline.budget().as_millis()).unwrap_or(u64::MAX);
    Error::new(
        ErrorCode::ToolTimeout,
        format!(
            "tool {name:?} was stopped after {budget_ms} ms, its time limit; \
             `timeout_ms` below `execution` in its index.md sets it"
        ),
    )
    .with_kind("LIMIT_TIME")
    .with_detail("timeout_ms", budget_ms)
}

fn panicked(name: &str, panic: &(dyn std::any::Any + Send)) -> Error {
    let text = crate::panic::text(panic);
    Error::new(ErrorCode::ToolExecutionError, format!("tool {name:?} panicked: {text}")).with_kind("PANIC")
}
