//! Waiting for code that is not ours, a tool's or a hook's: bounded in time, however it behaves.

use std::time::Duration;

use youyou_api::call::{CancellationToken, Deadline};

/// How long a handler may take to end by itself once its deadline has passed or its call was cancelled: enough for a
/// script's own grace between its two signals. After that its future is dropped (D-60).
pub(crate) const GRACE: Duration = Duration::from_secs(3);

/// How long past its deadline a handler may take to end by itself before it is told to stop: whoever keeps the deadline
/// explains best what it stopped.
const HEAD_START: Duration = Duration::from_millis(100);

/// The future's value, or nothing when it neither ended in time nor within the grace after it. `cancel` is this call's
/// own token: it is fired when the time is up.
pub(crate) async fn within<F: Future>(call: F, cancel: &CancellationToken, deadline: Deadline) -> Option<F::Output> {
    let mut call = std::pin::pin!(call);
    tokio::select! {
        biased;
        answer = &mut call => return Some(answer),
        () = tokio::time::sleep_until((deadline.at() + HEAD_START).into()) => cancel.cancel(),
        () = cancel.cancelled() => {}
    }
    tokio::time::timeout(GRACE, call).await.ok()
}
