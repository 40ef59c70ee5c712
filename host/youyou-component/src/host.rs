//! The host of components: its settings, and what all of its tools share.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use youyou_api::Error;

use crate::{cache::Cache, engine::Runtime, load::Loader};

/// Settings of a [`ComponentHost`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostConfig {
    /// Where compiled code is kept between processes; without it every process compiles anew. The default is
    /// `youyou/components` in the user's cache directory.
    pub cache_dir: Option<PathBuf>,
    /// What the compiled code may take on disk, in bytes; past it the least recently used goes first. 2 GiB by default.
    pub cache_limit_bytes: u64,
    /// How the memory of guests is set aside.
    pub allocation: Allocation,
}

/// How the memory of guests is set aside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Allocation {
    /// When a call begins; nothing is held while none runs.
    #[default]
    OnDemand,
    /// Ahead of need, for servers that run many calls at once: cheaper per call, but past `calls` at a time a call waits
    /// for its turn.
    Pooling {
        /// Calls at one time. An instance that a plugin keeps for a session counts as one for as long as it lives.
        calls: u32,
        /// What one memory may grow to, in bytes; a tool's `memory_mb` cannot exceed it.
        memory_bytes: u64,
    },
}

impl Default for HostConfig {
    fn default() -> Self {
        Self {
            cache_dir: dirs::cache_dir().map(|dir| dir.join("youyou").join("components")),
            cache_limit_bytes: 2 << 30,
            allocation: Allocation::default(),
        }
    }
}

/// Runs components. One per process is enough: it holds the engine, the compiled code and the cache that all tools and
/// hook handlers share. A clone is the same host.
///
/// It starts one thread of its own, which interrupts guests, and compiles on tokio's blocking threads. Calls need a
/// tokio runtime with time and I/O enabled.
#[derive(Clone)]
pub struct ComponentHost(Arc<Shared>);

struct Shared {
    config: HostConfig,
    runtime: OnceLock<Result<Runtime, Error>>,
    loader: Loader,
}

impl ComponentHost {
    /// A host that has done nothing yet: the engine is made when the first component is needed.
    ///
    /// # Errors
    /// None at present; kept for settings that cannot be met.
    pub fn new(config: HostConfig) -> Result<Self, Error> {
        let cache = Cache::new(config.cache_dir.clone(), config.cache_limit_bytes);
        Ok(Self(Arc::new(Shared { config, runtime: OnceLock::new(), loader: Loader::new(cache) })))
    }

    /// The compiled code on disk.
    pub fn cache(&self) -> &Cache {
        self.0.loader.cache()
    }

    pub(crate) fn loader(&self) -> &Loader {
        &self.0.loader
    }

    pub(crate) fn runtime(&self) -> Result<&Runtime, Error> {
        self.0.runtime.get_or_init(|| Runtime::new(&self.0.config)).as_ref().map_err(Error::clone)
    }
}
