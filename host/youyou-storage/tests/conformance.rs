//! The stores of this crate against the suite for all stores.

use std::sync::Arc;

use tempfile::TempDir;
use youyou_api::{BoxFuture, MemoryStorage, SessionStorage};
use youyou_storage::{
    JsonlSessions, SqliteStore,
    conformance::{self, MemoryPlace, SessionPlace},
};

struct Jsonl(TempDir);
struct Sqlite(TempDir);

impl SessionPlace for Jsonl {
    fn open(&self) -> BoxFuture<'_, Arc<dyn SessionStorage>> {
        let store: Arc<dyn SessionStorage> = Arc::new(JsonlSessions::new(self.0.path().join("sessions")));
        Box::pin(async { store })
    }
}

impl Sqlite {
    async fn store(&self) -> SqliteStore {
        SqliteStore::open(self.0.path().join("data/youyou.db")).await.expect("opens")
    }
}

impl SessionPlace for Sqlite {
    fn open(&self) -> BoxFuture<'_, Arc<dyn SessionStorage>> {
        Box::pin(async { Arc::new(self.store().await) as Arc<dyn SessionStorage> })
    }
}

impl MemoryPlace for Sqlite {
    fn open(&self) -> BoxFuture<'_, Arc<dyn MemoryStorage>> {
        Box::pin(async { Arc::new(self.store().await) as Arc<dyn MemoryStorage> })
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Y3.7.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jsonl_keeps_sessions_as_the_port_asks() {
    conformance::sessions(|| Jsonl(folder())).await;
}

/// Y3.7.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_keeps_sessions_as_the_port_asks() {
    conformance::sessions(|| Sqlite(folder())).await;
}

/// Y3.8.
#[tokio::test]
async fn sqlite_keeps_memories_as_the_port_asks() {
    conformance::memories(|| Sqlite(folder())).await;
}
