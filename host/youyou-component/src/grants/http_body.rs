//! HTTP bodies that count against the budget of a call.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Interval, interval};
use wasmtime_wasi_http::Error;

use super::{
    denial::{Denial, DenialKind},
    gate::Gate,
};

/// Which way a body goes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Direction {
    Request,
    Response,
}

/// A body whose data is taken from the budget before it is passed on.
pub(super) struct Counted<B> {
    inner: B,
    gate: Arc<Gate>,
    direction: Direction,
}

impl<B> Counted<B> {
    pub(super) fn new(inner: B, gate: Arc<Gate>, direction: Direction) -> Self {
        Self { inner, gate, direction }
    }

    fn over_budget(&self) -> Error {
        let limit = self.gate.budget.limits().bytes;
        let reason = format!(
            "but the HTTP bodies of one call may hold {} MiB together, sent and received; ask for less at a time",
            limit >> 20
        );
        self.gate.denials.record(Denial::new(DenialKind::HttpBytes, "to move more data over HTTP", &reason));
        match self.direction {
            Direction::Request => Error::HttpRequestBodySize(Some(limit)),
            Direction::Response => Error::HttpResponseBodySize(Some(limit)),
        }
    }
}

impl<B: Body<Data = Bytes, Error = Error> + Unpin> Body for Counted<B> {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(cx));
        let size = match &frame {
            Some(Ok(frame)) => frame.data_ref().map_or(0, |data| data.len() as u64),
            Some(Err(_)) | None => 0,
        };
        if self.gate.budget.take_bytes(size) { Poll::Ready(frame) } else { Poll::Ready(Some(Err(self.over_budget()))) }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// What arrives from a server, with a limit on how long it may say nothing.
pub(super) struct Timed {
    inner: hyper::body::Incoming,
    silence: Interval,
}

impl Timed {
    /// Starts counting now. A `silence` of zero counts as the shortest there is.
    pub(super) fn new(inner: hyper::body::Incoming, silence: Duration) -> Self {
        let mut silence = interval(silence.max(Duration::from_nanos(1)));
        silence.reset();
        Self { inner, silence }
    }
}

impl Body for Timed {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        match Pin::new(&mut self.inner).poll_frame(cx) {
            Poll::Ready(frame) => {
                self.silence.reset();
                Poll::Ready(frame.map(|frame| frame.map_err(Error::from)))
            }
            Poll::Pending => {
                ready!(self.silence.poll_tick(cx));
                Poll::Ready(Some(Err(Error::ConnectionReadTimeout)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
