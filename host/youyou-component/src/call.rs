//! Waits for a guest, and no longer than it may take.
//!
//! A guest that computes is stopped by its epoch (see [`crate::state`]); one that waits for the host is stopped here.

use std::{future::poll_fn, pin::pin, task::Poll, time::Duration};

use tokio::time::{sleep, timeout_at};
use youyou_api::CallContext;

use crate::engine::TICK;

/// How a guest came to its end.
#[derive(Debug)]
pub(crate) enum Ending<T> {
    /// It returned, or trapped.
    Ended(T),
    /// It waited for the host past its time; its future is gone.
    Abandoned,
}

/// How long a guest that computes has to be stopped by its epoch, which ends it in a cleaner way than dropping its
/// future does.
const GRACE: Duration = TICK.saturating_mul(4);

/// Runs `guest` until it ends, or until it must stop and its epoch did not end it.
pub(crate) async fn watch<F: Future>(context: &CallContext, guest: F) -> Ending<F::Output> {
    let stop = async {
        must_stop(context).await;
        sleep(GRACE).await;
    };
    first(guest, stop).await.map_or(Ending::Abandoned, Ending::Ended)
}

/// Waits for something other than a guest, at most until the call must stop.
pub(crate) async fn before_stop<F: Future>(context: &CallContext, wait: F) -> Option<F::Output> {
    first(wait, must_stop(context)).await
}

/// Returns once the call was cancelled or its deadline has passed.
async fn must_stop(context: &CallContext) {
    // Which of the two it was is read from the context later.
    let _ = timeout_at(context.deadline.at().into(), context.cancel.cancelled()).await;
}

/// The output of `work`, unless `end` comes first. Most calls end at the first poll of `work`, and then cost no timer.
async fn first<W: Future>(work: W, end: impl Future<Output = ()>) -> Option<W::Output> {
    let (mut work, mut end) = (pin!(work), pin!(end));
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => end.as_mut().poll(cx).map(|()| None),
    })
    .await
}
