//! What every implementation of the two ports must do, as checks to be run by its tests.
//!
//! A check gets a fresh place for each run, and opens it as often as it likes: each opening stands for another process
//! over the same data. A check that is not met panics and says what it saw.
//!
//! ```ignore
//! struct Redis(Server);
//!
//! impl conformance::SessionPlace for Redis {
//!     fn open(&self) -> BoxFuture<'_, Arc<dyn SessionStorage>> {
//!         Box::pin(async { Arc::new(RedisSessions::connect(&self.0).await) as Arc<dyn SessionStorage> })
//!     }
//! }
//!
//! #[tokio::test]
//! async fn redis_keeps_the_promises_of_a_session_store() {
//!     conformance::sessions(|| Redis(Server::start())).await;
//! }
//! ```
//!
//! It is a feature of this crate and not of the tests' kit, so that a store elsewhere needs nothing but this crate,
//! without its stores (`default-features = false`), and so that this crate's own tests can use it.

mod memories;
mod sessions;

use std::sync::Arc;

use youyou_api::{BoxFuture, Error, ErrorCode, MemoryStorage, SessionStorage};

pub use self::{memories::memories, sessions::sessions};

/// Where a session store keeps its data in a test; at first there is none.
pub trait SessionPlace {
    /// Opens a store over it, as another process would.
    fn open(&self) -> BoxFuture<'_, Arc<dyn SessionStorage>>;
}

/// Where a memory store keeps its data in a test; at first there is none.
pub trait MemoryPlace {
    /// Opens a store over it, as another process would.
    fn open(&self) -> BoxFuture<'_, Arc<dyn MemoryStorage>>;
}

/// The code of the failure that is expected.
#[track_caller]
fn code<T>(outcome: Result<T, Error>, of: &str) -> ErrorCode {
    match outcome {
        Ok(_) => panic!("{of} succeeded; it should have failed"),
        Err(error) => error.code,
    }
}
