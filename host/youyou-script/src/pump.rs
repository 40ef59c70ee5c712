//! The three pipes of one run, served together: stdin is fed while stdout and stderr are read.
//!
//! It has no opinion on when a run is over; it moves what can be moved and says when all pipes are done.

use std::io;

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{ChildStderr, ChildStdin, ChildStdout},
};

use crate::{
    capture::{Head, Tail},
    guest_log::GuestLog,
    process::Pipes,
};

/// What one read of stdout can take: as much as a pipe holds.
const STDOUT_CHUNK_BYTES: usize = 64 * 1024;
/// What one read of stderr can take.
const STDERR_CHUNK_BYTES: usize = 8 * 1024;
/// What is kept of the end of stderr.
const STDERR_KEPT_BYTES: usize = 64 * 1024;

pub(crate) struct Pump<'a> {
    stdin: Option<Feed>,
    stdout: Option<Source<ChildStdout>>,
    stderr: Option<Source<ChildStderr>>,
    pub(crate) head: Head,
    pub(crate) tail: Tail,
    pub(crate) log: GuestLog<'a>,
}

/// What is still to be written, and where to.
struct Feed {
    pipe: ChildStdin,
    bytes: Vec<u8>,
    written: usize,
}

/// What is read from, and where to.
struct Source<P> {
    pipe: P,
    chunk: Vec<u8>,
}

impl<'a> Pump<'a> {
    /// Takes over the pipes of a run that is to read `input` and of whose stdout `keep` bytes matter.
    pub(crate) fn new(pipes: Pipes, input: Vec<u8>, keep: usize, log: GuestLog<'a>) -> Self {
        Self {
            // Nothing to write: the pipe closes right here.
            stdin: pipes.stdin.filter(|_| !input.is_empty()).map(|pipe| Feed { pipe, bytes: input, written: 0 }),
            stdout: pipes.stdout.map(|pipe| Source { pipe, chunk: Vec::with_capacity(STDOUT_CHUNK_BYTES) }),
            stderr: pipes.stderr.map(|pipe| Source { pipe, chunk: Vec::with_capacity(STDERR_CHUNK_BYTES) }),
            head: Head::new(keep),
            tail: Tail::new(STDERR_KEPT_BYTES),
            log,
        }
    }

    /// Whether a pipe is still open.
    pub(crate) fn is_open(&self) -> bool {
        self.stdin.is_some() || self.stdout.is_some() || self.stderr.is_some()
    }

    /// Writes no more; the child reads the end of its input.
    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Moves something through one pipe, or finds that one is done. Never answers when all are. Cancellation safe.
    pub(crate) async fn step(&mut self) {
        tokio::select! {
            read = next(&mut self.stdout) => match read {
                Some(chunk) => self.head.push(chunk),
                None => self.stdout = None,
            },
            read = next(&mut self.stderr) => match read {
                Some(chunk) => {
                    self.tail.push(chunk);
                    self.log.push(chunk);
                }
                None => self.stderr = None,
            },
            written = feed(&mut self.stdin) => match written {
                Fed::Some => {}
                Fed::All => self.stdin = None,
            },
        }
    }
}

/// The next bytes, or nothing at the end. Never answers without a pipe.
async fn next<P: AsyncRead + Unpin>(source: &mut Option<Source<P>>) -> Option<&[u8]> {
    let Some(source) = source else { return std::future::pending().await };
    source.chunk.clear();
    match source.pipe.read_buf(&mut source.chunk).await {
        Ok(0) => None,
        Ok(_) => Some(&source.chunk),
        Err(error) => {
            tracing::debug!(%error, "a script's output could not be read to its end");
            None
        }
    }
}

enum Fed {
    Some,
    All,
}

/// Writes what the pipe takes. Never answers without a pipe.
async fn feed(feed: &mut Option<Feed>) -> Fed {
    let Some(feed) = feed else { return std::future::pending().await };
    let rest = feed.bytes.get(feed.written..).unwrap_or_default();
    match feed.pipe.write(rest).await {
        Ok(0) => Fed::All,
        Ok(count) => {
            feed.written += count;
            if feed.written < feed.bytes.len() { Fed::Some } else { Fed::All }
        }
        // Not every script reads its input (K-08): that it stopped listening is its own affair.
        Err(error) => {
            if error.kind() != io::ErrorKind::BrokenPipe {
                tracing::debug!(%error, "a script's input could not be written to its end");
            }
            Fed::All
        }
    }
}
