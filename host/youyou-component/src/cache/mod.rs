//! Compiled code on disk, so that a component is compiled once per machine and not once per process (K-64).
//!
//! wasmtime trusts compiled code blindly, so nothing is mapped that is not, bit by bit, what this cache wrote: each
//! entry carries a strong hash of itself, and the very file that was hashed is the one that is mapped. An entry is
//! written to a temporary file, then linked into place, and never changed after that. Whatever fails here costs time
//! and never a call.

mod entry;
mod space;

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use serde::Serialize;
use wasmtime::{Engine, component::Component};

pub(crate) use self::entry::CacheKey;

/// Compiled code on disk.
#[derive(Debug)]
pub struct Cache {
    dir: Option<PathBuf>,
    limit_bytes: u64,
    /// Whether the directory is there and ours; found out at the first use.
    ready: OnceLock<bool>,
    warned: AtomicBool,
}

/// What `youyou cache info` shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CacheInfo {
    /// Where the entries are; none when there is no cache.
    pub dir: Option<PathBuf>,
    /// How many there are.
    pub entries: u64,
    /// What they take, in bytes.
    pub bytes: u64,
    /// What they may take, in bytes.
    pub limit_bytes: u64,
}

impl Cache {
    pub(crate) fn new(dir: Option<PathBuf>, limit_bytes: u64) -> Self {
        Self { dir, limit_bytes, ready: OnceLock::new(), warned: AtomicBool::new(false) }
    }

    /// Counts the entries.
    ///
    /// # Errors
    /// When the directory is there and cannot be read.
    pub fn info(&self) -> io::Result<CacheInfo> {
        let entries = self.dir.as_deref().map_or(Ok(Vec::new()), space::entries)?;
        Ok(CacheInfo {
            dir: self.dir.clone(),
            entries: entries.len() as u64,
            bytes: entries.iter().map(|entry| entry.bytes).sum(),
            limit_bytes: self.limit_bytes,
        })
    }

    /// Removes every entry, and what was left of unfinished ones, and returns what was there. Components that are in
    /// use stay usable.
    ///
    /// # Errors
    /// When the directory cannot be read or an entry cannot be removed.
    pub fn clear(&self) -> io::Result<CacheInfo> {
        let info = self.info()?;
        if let Some(dir) = &self.dir {
            space::clear(dir)?;
        }
        Ok(info)
    }

    /// The compiled code for `key`, if there is any and it is whole. An entry that is not is removed.
    pub(crate) fn load(&self, engine: &Engine, key: &CacheKey) -> Option<Component> {
        let path = self.dir()?.join(key.file_name());
        match entry::load(engine, &path, key) {
            Ok(component) => component,
            Err(problem) => {
                tracing::warn!("compiled code in {} is {problem}; it is compiled again", path.display());
                self.try_to(|| match fs::remove_file(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                    _ => Ok(()),
                });
                None
            }
        }
    }

    /// Keeps compiled code under `key`, unless another process was faster; makes room when that is too much.
    pub(crate) fn store(&self, key: &CacheKey, code: &[u8]) {
        let Some(dir) = self.dir() else { return };
        if code.len() as u64 > self.limit_bytes {
            return;
        }
        self.try_to(|| {
            entry::store(dir, key, code)?;
            space::make_room(dir, self.limit_bytes, &key.file_name())
        });
    }

    /// The directory, made at the first use. None when there is no cache.
    fn dir(&self) -> Option<&Path> {
        let dir = self.dir.as_deref()?;
        self.ready.get_or_init(|| self.try_to(|| entry::prepare_dir(dir))).then_some(dir)
    }

    /// Does something that may fail, at the cost of one warning in all (K-64).
    fn try_to(&self, act: impl FnOnce() -> io::Result<()>) -> bool {
        let Err(error) = act() else { return true };
        if !self.warned.swap(true, Ordering::Relaxed) {
            let dir = self.dir.as_deref().unwrap_or(Path::new("")).display();
            tracing::warn!(
                "compiled components cannot be kept in {dir}: {error}; they work, but every process compiles them anew. \
                 Make that directory writable for you alone, or choose another cache directory"
            );
        }
        false
    }
}

#[cfg(test)]
mod tests;
