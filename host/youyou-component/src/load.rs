//! From a component's file to something that can be instantiated: from memory, from the cache, or by compiling.
//!
//! Everything here blocks, for seconds where a large component is compiled; it belongs on a blocking thread.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, TryLockError, Weak},
    time::Instant,
};

use wasmtime::component::{Component, InstancePre};
use youyou_api::{Error, ErrorCode};

use crate::{
    cache::{Cache, CacheKey},
    check::{self, Role},
    engine::Runtime,
    file::ComponentFile,
    kind::Kind,
    state::GuestState,
};

/// Where the compiled code came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Another tool of this host already had it.
    Memory,
    /// The cache on disk.
    Cache,
    /// It was compiled just now.
    Compiled,
}

impl Origin {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cache => "cache",
            Self::Compiled => "compiled",
        }
    }
}

/// A component with its imports resolved.
pub(crate) struct Loaded {
    pub(crate) pre: InstancePre<GuestState>,
}

/// Loads components, each content once at a time, and knows those that are in use.
pub(crate) struct Loader {
    cache: Cache,
    slots: Mutex<HashMap<CacheKey, Arc<Slot>>>,
}

/// One content. Whoever holds the lock loads it; the others find it loaded.
type Slot = Mutex<Weak<Loaded>>;

impl Loader {
    pub(crate) fn new(cache: Cache) -> Self {
        Self { cache, slots: Mutex::default() }
    }

    pub(crate) fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Loads the content of `file`. Compiled code stays in memory for as long as somebody holds it.
    ///
    /// # Errors
    /// As [`check::check`], before anything is compiled; INVALID_WASM or WIT_MISMATCH for what only shows later.
    pub(crate) fn load(
        &self,
        runtime: &Runtime,
        file: &ComponentFile,
        role: Role,
    ) -> Result<(Arc<Loaded>, Origin), Error> {
        let key = CacheKey::new(&runtime.engine, blake3::hash(file.bytes()));
        let slot = self.slot(&key);
        let mut in_use = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = in_use.upgrade() {
            return Ok((loaded, Origin::Memory));
        }
        let (component, origin) = match self.cache.load(&runtime.engine, &key) {
            Some(component) => (component, Origin::Cache),
            None => (self.compile(runtime, file, role, &key)?, Origin::Compiled),
        };
        let pre = runtime.linker.instantiate_pre(&component).map_err(|error| mismatch(file, role, &error))?;
        let loaded = Arc::new(Loaded { pre });
        *in_use = Arc::downgrade(&loaded);
        Ok((loaded, origin))
    }

    fn compile(&self, runtime: &Runtime, file: &ComponentFile, role: Role, key: &CacheKey) -> Result<Component, Error> {
        check::check_file(file, role)?;
        let start = Instant::now();
        let component = Component::from_binary(&runtime.engine, file.bytes()).map_err(|error| invalid(file, &error))?;
        tracing::debug!("compiled {} in {} ms", file.path().display(), start.elapsed().as_millis());
        match component.serialize() {
            Ok(code) => self.cache.store(key, &code),
            Err(error) => tracing::warn!("the code of {} cannot be kept: {error:#}", file.path().display()),
        }
        Ok(component)
    }

    /// The slot of `key`, after forgetting those whose component nobody holds any more.
    fn slot(&self, key: &CacheKey) -> Arc<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.retain(|_, slot| Arc::strong_count(slot) > 1 || is_in_use(slot));
        Arc::clone(slots.entry(key.clone()).or_default())
    }
}

/// Whether somebody holds what was loaded; a slot that is being loaded is in use too.
fn is_in_use(slot: &Slot) -> bool {
    match slot.try_lock() {
        Ok(loaded) => loaded.strong_count() > 0,
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Poisoned(_)) => false,
    }
}

/// The compiler's own refusal, with its causes in one line.
fn invalid(file: &ComponentFile, error: &wasmtime::Error) -> Error {
    let message = format!(
        "`{}` is no valid component: {error:#}; build it again, with tools for WASI 0.2 and without proposals that \
         this host does not support (threads, garbage collection, component-model async)",
        file.path().display()
    );
    Error::new(ErrorCode::ToolExecutionError, message).with_kind(Kind::InvalidWasm.as_str())
}

/// The names fit and the types behind them do not, or a cached component is wanted in a role that was not checked yet.
pub(crate) fn mismatch(file: &ComponentFile, role: Role, error: &wasmtime::Error) -> Error {
    if let Err(error) = check::check_file(file, role) {
        return error;
    }
    let message = format!(
        "`{}` does not fit this host although its names do: {error:#}; build it against the wit/ of this version of \
         YouYou and WASI 0.2",
        file.path().display()
    );
    Error::new(ErrorCode::ToolExecutionError, message).with_kind(Kind::WitMismatch.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::HostConfig;

    fn load(text: &str, role: Role) -> Result<Origin, Error> {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("x.wasm");
        std::fs::write(&path, wat::parse_str(text).expect("well-formed")).expect("written");
        let runtime = Runtime::new(&HostConfig::default())?;
        let file = ComponentFile::read(&path)?;
        Loader::new(Cache::new(None, 0)).load(&runtime, &file, role).map(|(_, origin)| origin)
    }

    const EXPORT: &str = "(instance) (export \"youyou:plugin/tool@1.0.0\" (instance";

    /// K-60: the list of a check is what the linker really has, in every version of WASI 0.2.
    #[test]
    fn every_import_that_is_offered_is_linked() {
        for version in ["0.2.0", "0.2.12"] {
            let imports = check::offered_imports(version);
            let text: String = imports.iter().map(|import| format!("(import \"{import}\" (instance))\n")).collect();
            let origin = load(&format!("(component {text} {EXPORT} {})))", imports.len()), Role::Tool);
            assert_eq!(origin.expect("links"), Origin::Compiled);
        }
    }

    #[test]
    fn a_component_that_uses_what_is_not_supported_is_refused_by_name() {
        let error = load(&format!("(component (core module (memory 1 1 shared)) {EXPORT} 0)))"), Role::Tool);
        let error = error.expect_err("threads are off");
        assert_eq!(error.kind(), Some("INVALID_WASM"));
        assert!(error.message.contains("threads"), "{error}");
    }

    /// The names fit, the types do not.
    #[test]
    fn an_import_of_another_type_is_told() {
        let text = format!(
            "(component (import \"youyou:plugin/log@1.0.0\" (instance (export \"write\" (func (param \"x\" u8))))) {EXPORT} 1)))"
        );
        let error = load(&text, Role::Tool).expect_err("types differ");
        assert_eq!(error.kind(), Some("WIT_MISMATCH"));
        assert!(error.message.contains("write"), "{error}");
    }
}
