//! A body read as server-sent events.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_core::Stream;
use futures_util::StreamExt as _;
use reqwest::Response;
use sse_stream::{Sse, SseByteStream};
use tokio::time::Sleep;
use youyou_api::{ProviderError, ProviderErrorKind};

/// The most that one event may take, in bytes. A server that never ends one must not fill the memory.
const MOST_EVENT: usize = 32 * 1024 * 1024;

/// The events of an answer, in order. An event that is cut off by the end of the body is no event.
pub(crate) struct Events {
    events: SseByteStream<Body>,
    unfinished: Arc<AtomicUsize>,
}

impl Events {
    /// The events of a response, which may keep silent for `stall`; `failed` puts a failure of the transport into words.
    pub(crate) fn new(
        response: Response,
        stall: Duration,
        stalled: ProviderError,
        failed: impl Fn(&reqwest::Error) -> ProviderError + Send + Sync + 'static,
    ) -> Self {
        let bytes = response.bytes_stream().map(move |chunk| chunk.map_err(|error| failed(&error)));
        Self::of(Box::pin(bytes), Some(Silence { stall, stalled, since: None }))
    }

    /// The events of a stream of bytes.
    #[cfg(test)]
    pub(crate) fn over(bytes: impl Stream<Item = Result<Bytes, ProviderError>> + Send + 'static) -> Self {
        Self::of(Box::pin(bytes), None)
    }

    fn of(bytes: ByteStream, silence: Option<Silence>) -> Self {
        let unfinished = Arc::<AtomicUsize>::default();
        let body = Body { bytes, silence, unfinished: unfinished.clone() };
        Self { events: SseByteStream::new(body), unfinished }
    }

    /// The next event that carries data; none at the end of the body.
    ///
    /// Cancel safe.
    ///
    /// # Errors
    /// A failure of the transport, a text that is not UTF-8, an event without end.
    pub(crate) async fn next(&mut self) -> Option<Result<(Option<String>, String), ProviderError>> {
        loop {
            let next = self.events.next().await?;
            self.unfinished.store(0, Ordering::Relaxed);
            match next {
                Ok(Sse { event, data: Some(data), .. }) => return Some(Ok((event, data))),
                Ok(Sse { data: None, .. }) => {}
                Err(error) => return Some(Err(said(error))),
            }
        }
    }
}

fn said(error: sse_stream::Error) -> ProviderError {
    let other = |error: &dyn std::error::Error| {
        ProviderError::new(ProviderErrorKind::Other, format!("the event stream cannot be read: {error}"))
    };
    match error {
        sse_stream::Error::Body(error) => match error.downcast::<ProviderError>() {
            Ok(error) => *error,
            Err(error) => other(&*error),
        },
        error => other(&error),
    }
}

type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, ProviderError>> + Send>>;

/// The bytes, counted and timed.
struct Body {
    bytes: ByteStream,
    silence: Option<Silence>,
    /// How many came since the last event.
    unfinished: Arc<AtomicUsize>,
}

/// Watches over a silence. The clock is only asked once there is one, which a fast answer never has.
struct Silence {
    stall: Duration,
    stalled: ProviderError,
    /// Runs out when the silence that goes on has become too long.
    since: Option<Pin<Box<Sleep>>>,
}

impl Silence {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<ProviderError> {
        let stall = self.stall;
        let since = self.since.get_or_insert_with(|| Box::pin(tokio::time::sleep(stall)));
        since.as_mut().poll(context).map(|()| self.stalled.clone())
    }
}

impl Stream for Body {
    type Item = Result<Bytes, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.bytes.as_mut().poll_next(context);
        if let Some(silence) = &mut self.silence {
            match polled {
                Poll::Ready(_) => silence.since = None,
                Poll::Pending => return silence.poll(context).map(|error| Some(Err(error))),
            }
        }
        if let Poll::Ready(Some(Ok(chunk))) = &polled {
            let before = self.unfinished.fetch_add(chunk.len(), Ordering::Relaxed);
            if before > MOST_EVENT {
                let message = format!("one event of the answer is longer than {MOST_EVENT} bytes");
                return Poll::Ready(Some(Err(ProviderError::new(ProviderErrorKind::Other, message))));
            }
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    async fn read(chunks: Vec<&[u8]>) -> Vec<Result<(Option<String>, String), ProviderError>> {
        let chunks: Vec<_> = chunks.into_iter().map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
        let mut events = Events::over(stream::iter(chunks));
        let mut read = Vec::new();
        while let Some(event) = events.next().await {
            read.push(event);
        }
        read
    }

    /// Every line ending, comments, fields that mean nothing here, and every place where a chunk can end, in the middle
    /// of a character too.
    #[tokio::test]
    async fn events_are_the_same_wherever_the_chunks_end() {
        let texts = [
            "\u{feff}event: a\ndata: grün\n\n: ping\n\nid: 1\ndata: one\ndata: two\n\nretry: 5\n\ndata:\n\ndata: cut",
            "\u{feff}event: a\r\ndata: grün\r\n\r\n: ping\r\n\r\ndata: one\r\ndata: two\r\n\r\ndata:\r\n\r\ndata: cut",
            "\u{feff}event: a\rdata: grün\r\r: ping\r\rdata: one\rdata: two\r\rdata:\r\rdata: cut",
        ];
        let expected = [
            Ok((Some("a".to_owned()), "grün".to_owned())),
            Ok((None, "one\ntwo".to_owned())),
            Ok((None, String::new())),
        ];
        for bytes in texts.map(str::as_bytes) {
            for cut in 0..bytes.len() {
                assert_eq!(read(vec![&bytes[..cut], &bytes[cut..]]).await, expected, "cut at {cut}");
            }
            assert_eq!(read(bytes.chunks(1).collect()).await, expected);
        }
    }

    #[tokio::test]
    async fn what_is_not_utf8_is_an_error_and_the_end() {
        let read = read(vec![b"data: a\n\ndata: \xff\n\ndata: b\n\n"]).await;
        assert_eq!(read.len(), 2);
        assert_eq!(read[1].as_ref().expect_err("not UTF-8").kind, ProviderErrorKind::Other);
    }

    #[tokio::test]
    async fn an_event_without_end_is_given_up() {
        let endless = stream::repeat_with(|| Ok(Bytes::from(vec![b'x'; 1024 * 1024])));
        let start = stream::iter([Ok(Bytes::from_static(b"data: "))]);
        let mut events = Events::over(start.chain(endless));
        let error = events.next().await.expect("an item").expect_err("too long");
        assert!(error.message.contains("longer than"), "{error}");
        assert!(events.next().await.is_none());
    }
}
