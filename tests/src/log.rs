//! What is logged while a test runs, and by nobody else's test.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use tracing::{Dispatch, Level, dispatcher};

/// Lines as `LEVEL target: message field=value`. A clone is the same log.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Everything so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    /// The lines of a level.
    pub fn lines(&self, level: Level) -> Vec<String> {
        let start = format!("{level} ");
        self.text().lines().filter_map(|line| line.trim_start().strip_prefix(&start)).map(str::to_owned).collect()
    }

    fn dispatch(&self, most: Level) -> Dispatch {
        let writer = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(most)
            .with_ansi(false)
            .without_time()
            .with_writer(move || writer.clone())
            .finish();
        Dispatch::new(subscriber)
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a test on one thread of its own executor, and records what is logged there and on the threads for blocking work.
pub fn recorded<T>(test: impl AsyncFnOnce(&Log) -> T) -> (T, Log) {
    let log = Log::default();
    let dispatch = log.dispatch(Level::INFO);
    let for_threads = dispatch.clone();
    let executor = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        // The thread ends with the executor, and the guard with the thread.
        .on_thread_start(move || std::mem::forget(dispatcher::set_default(&for_threads)))
        .build()
        .expect("an executor");
    let value = dispatcher::with_default(&dispatch, || executor.block_on(test(&log)));
    (value, log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_threads_are_heard() {
        let ((), log) = recorded(async |_| {
            tracing::info!("here");
            tokio::task::spawn_blocking(|| tracing::warn!("there")).await.expect("no panic");
            tracing::debug!("too quiet");
        });
        assert_eq!(log.lines(Level::INFO), ["youyou_tests::log::tests: here"]);
        assert_eq!(log.lines(Level::WARN), ["youyou_tests::log::tests: there"]);
    }
}
