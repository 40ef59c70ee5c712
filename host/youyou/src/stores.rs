//! Where a home keeps sessions and memories, as its config.yaml says.
//!
//! Sessions are files below `sessions`, or rows of `youyou.db`; memories are rows of `youyou.db`. Both may be in the one
//! database.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use youyou_api::{Error, MemoryStorage, SessionStorage};
use youyou_files::{MemoriesIn, SessionsIn, StorageConfig, load_config};
use youyou_storage::{JsonlSessions, SqliteStore};

/// The folder of sessions in files, below the home.
const SESSIONS: &str = "sessions";

/// The database, below the home.
const DATABASE: &str = "youyou.db";

/// What a home's config.yaml says about sessions and memories. Nothing is opened or made before it is asked for.
#[derive(Debug, Clone)]
pub struct ConfiguredStores {
    home: PathBuf,
    config: StorageConfig,
}

/// Reads which stores a home's config.yaml names; without the file, sessions are JSONL files, and memories in SQLite.
///
/// # Errors
/// `CONFIG_PARSE_ERROR`.
pub fn configured_stores(home: &Path) -> Result<ConfiguredStores, Error> {
    // What is only to be warned of is told by whoever builds an agent.
    let (config, _) = load_config(home)?;
    Ok(ConfiguredStores { home: home.to_owned(), config: config.storage })
}

impl ConfiguredStores {
    /// The store of sessions; none where they are kept nowhere. It needs a tokio runtime.
    ///
    /// # Errors
    /// `STORAGE_ERROR` when the database cannot be opened.
    pub async fn sessions(&self) -> Result<Option<Arc<dyn SessionStorage>>, Error> {
        Ok(match self.config.sessions {
            SessionsIn::Jsonl => Some(Arc::new(JsonlSessions::new(self.home.join(SESSIONS)))),
            SessionsIn::Sqlite => Some(Arc::new(self.database().await?)),
            SessionsIn::Nowhere => None,
        })
    }

    /// The store of memories; none where they are kept nowhere. It needs a tokio runtime.
    ///
    /// # Errors
    /// `STORAGE_ERROR` when the database cannot be opened.
    pub async fn memories(&self) -> Result<Option<Arc<dyn MemoryStorage>>, Error> {
        Ok(match self.config.memories {
            MemoriesIn::Sqlite => Some(Arc::new(self.database().await?)),
            MemoriesIn::Nowhere => None,
        })
    }

    async fn database(&self) -> Result<SqliteStore, Error> {
        SqliteStore::open(self.home.join(DATABASE)).await
    }
}
