//! When this program is asked to end: by Ctrl-C, by the system, by a terminal that goes away.
//!
//! A script has a process group of its own, so it would live on if this program simply died.

use std::io;

/// How this program was asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopRequest {
    /// The user pressed Ctrl-C.
    Interrupt,
    /// The system, or another program, wants it to end.
    Terminate,
    /// Its terminal has gone away.
    HangUp,
}

/// Hears of every request to end from the moment that it is made; until then such a request ends the program.
pub(crate) struct StopRequests {
    #[cfg(unix)]
    signals: [tokio::signal::unix::Signal; 3],
}

impl StopRequests {
    /// Begins to listen. Needs a tokio runtime.
    #[cfg(unix)]
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let [interrupt, terminate, hangup] = kinds.map(signal);
        Ok(Self { signals: [interrupt?, terminate?, hangup?] })
    }

    /// Waits for the next one. Cancel-safe.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) -> StopRequest {
        let [interrupt, terminate, hangup] = &mut self.signals;
        tokio::select! {
            _ = interrupt.recv() => StopRequest::Interrupt,
            _ = terminate.recv() => StopRequest::Terminate,
            _ = hangup.recv() => StopRequest::HangUp,
        }
    }

    /// Begins to listen. Needs a tokio runtime.
    #[cfg(not(unix))]
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for the next one. Cancel-safe.
    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) -> StopRequest {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
        StopRequest::Interrupt
    }
}
