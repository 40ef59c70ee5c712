//! Blocking work on the threads that tokio keeps for it.

use std::sync::Arc;

use tokio::sync::Mutex;
use youyou_api::{BoxFuture, Error, ErrorCode};

/// Does the work on a blocking thread. Once begun it comes to its end, also when the future is dropped.
pub(crate) fn blocking<'a, T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> BoxFuture<'a, Result<T, Error>> {
    Box::pin(async {
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
            Err(Error::new(ErrorCode::StorageError, "the storage's work was broken off").with_cause(error))
        })
    })
}

/// Something that is worked on by one at a time, in the order in which that was asked for.
pub(crate) struct InTurn<T>(Arc<Mutex<T>>);

impl<T: Send + 'static> InTurn<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Arc::new(Mutex::new(value)))
    }

    /// Does the work on a blocking thread when its turn has come. A future that is dropped while it waits does nothing;
    /// work once begun comes to its end, and what is asked for next waits for it.
    pub(crate) fn work<'a, R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut T) -> Result<R, Error> + Send + 'static,
    ) -> BoxFuture<'a, Result<R, Error>> {
        let value = self.0.clone();
        Box::pin(async move {
            let mut value = value.lock_owned().await;
            blocking(move || work(&mut value)).await
        })
    }
}
