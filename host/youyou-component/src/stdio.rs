//! The stdout and stderr of a guest: what it prints goes to its [`GuestLog`], line by line.
//!
//! Writing never waits and never fails, so a guest that prints without end is held by its time alone.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::AsyncWrite;
use wasmtime_wasi::{
    async_trait,
    cli::{IsTerminal, StdoutStream},
    p2::{OutputStream, Pollable, StreamResult},
};

use crate::log::{GuestLog, Stream};

/// The printed streams of one store.
pub(crate) struct GuestStdio {
    pub(crate) stdout: GuestStream,
    pub(crate) stderr: GuestStream,
}

impl GuestStdio {
    pub(crate) fn new(log: &GuestLog) -> Self {
        Self {
            stdout: GuestStream { log: log.clone(), stream: Stream::Stdout },
            stderr: GuestStream { log: log.clone(), stream: Stream::Stderr },
        }
    }
}

/// One printed stream of a guest.
#[derive(Clone)]
pub(crate) struct GuestStream {
    log: GuestLog,
    stream: Stream,
}

/// What a guest may hand over in one write; the host allocates as much for a write of zeroes.
const WRITE_BYTES: usize = 64 * 1024;

impl IsTerminal for GuestStream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for GuestStream {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for GuestStream {
    fn write(&mut self, bytes: bytes::Bytes) -> StreamResult<()> {
        self.log.print(self.stream, &bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_BYTES)
    }
}

#[async_trait]
impl Pollable for GuestStream {
    async fn ready(&mut self) {}
}

impl AsyncWrite for GuestStream {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.log.print(self.stream, bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
