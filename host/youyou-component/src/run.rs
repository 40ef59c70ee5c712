//! Runs a function that a component exports: loads the component at its first use, gives it a store, watches it until it
//! ends, and explains how it ended.
//!
//! What a function is called with, and what its answer means, is said by [`crate::tool`] and `hook`; a store
//! that outlives a call is the matter of `kept`.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use tokio::sync::OwnedSemaphorePermit;
use wasmtime::{
    Store,
    component::{Instance, InstancePre},
};
use youyou_api::{CallContext, Error, ErrorCode};

use crate::{
    bindings::youyou::plugin::types::GuestError,
    call::{Ending, before_stop, watch},
    check::Role,
    engine::Runtime,
    failure,
    file::ComponentFile,
    grants::{Grants, GuestWasi},
    host::ComponentHost,
    kind::Kind,
    limits::MemoryLimit,
    load::{Loaded, Origin},
    log::{GuestLog, Speaker},
    state::{GuestState, store},
    stdio::GuestStdio,
};

/// What a call may use without a `memory_mb` of its own: 256 MiB, enough for guests that carry a JavaScript or Python
/// interpreter.
pub const DEFAULT_MEMORY_BYTES: u64 = 256 << 20;

/// How a component is run, from the `execution` block of its index.md.
#[derive(Debug, Clone, Default)]
pub struct ComponentSpec {
    /// The .wasm file, absolute.
    pub path: PathBuf,
    /// Relative to the session's working directory ([`CallContext::cwd`]), which it is without one (D-56).
    pub working_directory: Option<String>,
    /// What all memories and tables of one instance may take together; [`DEFAULT_MEMORY_BYTES`] without it.
    pub memory_bytes: Option<u64>,
    /// How long one call may take; without it the agent's own figure holds (Y4.4-2).
    pub timeout: Option<Duration>,
    /// What it may reach.
    pub grants: Grants,
}

/// The functions of the contract that a component exports, looked up once.
pub(crate) trait Exports: Sized + Send + Sync + 'static {
    /// # Errors
    /// When what is needed is not there.
    fn find(pre: &InstancePre<GuestState>, file: &ComponentFile) -> Result<Self, Error>;
}

/// One call of an exported function.
pub(crate) trait Call: Send + Sync {
    /// What the function returns when it succeeds.
    type Answer: Send;
    /// What the answer means to the host.
    type Output;

    /// Calls the function.
    fn run(
        &self,
        store: &mut Store<GuestState>,
        instance: &Instance,
    ) -> impl Future<Output = wasmtime::Result<Result<Self::Answer, GuestError>>> + Send;

    /// Reads the answer. `who` names the guest for a message.
    ///
    /// # Errors
    /// When it breaks the contract.
    fn read(&self, who: &str, answer: Self::Answer, state: &GuestState) -> Result<Self::Output, Error>;
}

/// A component that is run for a tool or for a plugin's handlers.
///
/// Making one reads nothing and compiles nothing. From its first use on it stays as it was, whatever happens to its file
/// (K-66).
pub(crate) struct GuestComponent<E> {
    host: ComponentHost,
    spec: ComponentSpec,
    speaker: Speaker,
    ready: Arc<OnceLock<Ready<E>>>,
}

/// What is there once a component was loaded.
pub(crate) struct Ready<E> {
    pub(crate) exports: E,
    loaded: Arc<Loaded>,
}

impl<E: Exports> GuestComponent<E> {
    pub(crate) fn new(host: ComponentHost, spec: ComponentSpec, speaker: Speaker) -> Self {
        Self { host, spec, speaker, ready: Arc::default() }
    }

    pub(crate) fn host(&self) -> &ComponentHost {
        &self.host
    }

    pub(crate) fn spec(&self) -> &ComponentSpec {
        &self.spec
    }

    /// Loads the component ahead of its first call.
    pub(crate) async fn warm_up(&self, who: &str, role: Role) -> Result<&Ready<E>, Error> {
        match self.ready.get() {
            Some(ready) => Ok(ready),
            None => {
                self.load(who, role).await?;
                self.loaded()
            }
        }
    }

    /// The loaded component; loads it within the time of a call. When that is not enough, loading goes on for the next.
    pub(crate) async fn ready(&self, who: &str, role: Role, context: &CallContext) -> Result<&Ready<E>, Error> {
        if let Some(ready) = self.ready.get() {
            return Ok(ready);
        }
        let started = Instant::now();
        let loading = before_stop(context, self.load(who, role)).await;
        let origin = loading.ok_or_else(|| still_loading(who, context))??;
        context.stats.set("load_us", micros(started.elapsed()));
        context.stats.set("code", origin.as_str());
        self.loaded()
    }

    fn loaded(&self) -> Result<&Ready<E>, Error> {
        self.ready.get().ok_or_else(|| {
            // Loading sets it before it answers.
            Error::new(ErrorCode::ToolExecutionError, "the component is not there").with_kind(Kind::Host.as_str())
        })
    }

    /// Loads on a blocking thread, which goes on even when nobody waits for it any more.
    async fn load(&self, who: &str, role: Role) -> Result<Origin, Error> {
        let (host, path, ready) = (self.host.clone(), self.spec.path.clone(), Arc::clone(&self.ready));
        let loading = tokio::task::spawn_blocking(move || {
            let file = ComponentFile::read(&path)?;
            let runtime = host.runtime()?;
            let (loaded, origin) = host.loader().load(runtime, &file, role)?;
            let exports = E::find(&loaded.pre, &file)?;
            ready.get_or_init(|| Ready { exports, loaded });
            Ok(origin)
        });
        let loaded = loading.await.unwrap_or_else(|panic| {
            let message = format!("`{}` could not be loaded: {panic}", self.spec.path.display());
            Err(Error::new(ErrorCode::ToolExecutionError, message).with_kind(Kind::Host.as_str()))
        });
        loaded.map_err(|error| named(who, error))
    }

    /// One call in a store of its own.
    pub(crate) async fn call_once<C: Call>(
        &self,
        ready: &Ready<E>,
        who: &str,
        call: &C,
        context: &CallContext,
    ) -> Result<C::Output, Error> {
        let runtime = self.host.runtime()?;
        let mut guest = self.open(runtime, who, context).await?;
        let ending = run(runtime, ready, &mut guest, call, context).await;
        conclude(who, call, ending, guest.store.data(), context)
    }

    /// A guest that has done nothing yet, once there is room for it.
    pub(crate) async fn open(&self, runtime: &Runtime, who: &str, context: &CallContext) -> Result<Guest, Error> {
        let turn = turn(runtime, who, context).await?;
        let state = self.guest_state(runtime, who, context)?;
        Ok(Guest { store: store(runtime, state), instance: None, _turn: turn })
    }

    fn guest_state(&self, runtime: &Runtime, who: &str, context: &CallContext) -> Result<GuestState, Error> {
        let joined;
        let working_dir: &Path = match &self.spec.working_directory {
            Some(relative) => {
                joined = context.cwd.join(relative);
                &joined
            }
            None => &context.cwd,
        };
        let log = GuestLog::new(self.speaker.clone());
        let grants = &self.spec.grants;
        let wasi = GuestWasi::new(grants, working_dir, &grants.env_snapshot(), GuestStdio::new(&log))
            .map_err(|error| named(who, error))?;
        let limit = self.spec.memory_bytes.unwrap_or(DEFAULT_MEMORY_BYTES);
        let memory = MemoryLimit::new(limit.min(runtime.largest_memory));
        Ok(GuestState::new(wasi, memory, log, context))
    }
}

/// Calls the function in this guest, and no longer than it may take.
pub(crate) async fn run<E, C: Call>(
    runtime: &Runtime,
    ready: &Ready<E>,
    guest: &mut Guest,
    call: &C,
    context: &CallContext,
) -> Ending<Outcome<C::Answer>> {
    let started = Instant::now();
    let ticking = runtime.ticker.keep_ticking();
    let ending = watch(context, guest.run(&ready.loaded.pre, call)).await;
    drop(ticking);
    let state = guest.store.data();
    state.log.finish();
    if context.stats.wanted() {
        context.stats.set("run_us", micros(started.elapsed()));
        context.stats.set("memory_peak_bytes", state.memory.used());
    }
    ending
}

/// A store, and the one instance in it.
pub(crate) struct Guest {
    pub(crate) store: Store<GuestState>,
    instance: Option<Instance>,
    /// Given back after the store is gone, which stands above it.
    _turn: Option<OwnedSemaphorePermit>,
}

/// How far a guest came.
pub(crate) enum Outcome<A> {
    /// It could not be instantiated.
    NotStarted(wasmtime::Error),
    /// It trapped.
    Broken(wasmtime::Error),
    /// It returned.
    Answered(Result<A, GuestError>),
}

impl Guest {
    /// Makes a guest that has answered before ready for another call.
    pub(crate) fn start_call(&mut self, context: &CallContext) {
        self.store.data_mut().start_call(context);
        // The epoch went on in between; without this the call would begin with a pause.
        self.store.set_epoch_deadline(1);
    }

    async fn run<C: Call>(&mut self, pre: &InstancePre<GuestState>, call: &C) -> Outcome<C::Answer> {
        let instance = match self.instance {
            Some(instance) => instance,
            None => match pre.instantiate_async(&mut self.store).await {
                Ok(instance) => *self.instance.insert(instance),
                Err(error) => return Outcome::NotStarted(error),
            },
        };
        match call.run(&mut self.store, &instance).await {
            Ok(answer) => Outcome::Answered(answer),
            Err(error) => Outcome::Broken(error),
        }
    }
}

/// What came of a call: its output, or why there is none.
pub(crate) fn conclude<C: Call>(
    who: &str,
    call: &C,
    ending: Ending<Outcome<C::Answer>>,
    state: &GuestState,
    context: &CallContext,
) -> Result<C::Output, Error> {
    let result = match ending {
        Ending::Ended(Outcome::Answered(Ok(answer))) => call.read(who, answer, state),
        Ending::Ended(Outcome::Answered(Err(error))) => {
            Err(failure::guest_error(who, state, &error.code, &error.message))
        }
        Ending::Ended(Outcome::NotStarted(error)) => Err(failure::not_started(who, state, context, &error)),
        Ending::Ended(Outcome::Broken(error)) => Err(failure::broken(who, state, context, &error)),
        Ending::Abandoned => Err(failure::stopped(who, context)),
    };
    result.map_err(|error| failure::with_denials(error, state))
}

/// A call's turn, where there is a pool that has room for so many only.
async fn turn(runtime: &Runtime, who: &str, context: &CallContext) -> Result<Option<OwnedSemaphorePermit>, Error> {
    let Some(turns) = &runtime.turns else { return Ok(None) };
    match before_stop(context, Arc::clone(turns).acquire_owned()).await {
        Some(Ok(turn)) => Ok(Some(turn)),
        Some(Err(_)) | None => Err(failure::stopped(who, context)),
    }
}

/// An error of the file, said of who needs it.
pub(crate) fn named(who: &str, mut error: Error) -> Error {
    error.message = format!("{who} cannot be run: {}", error.message);
    error
}

fn still_loading(who: &str, context: &CallContext) -> Error {
    let mut error = failure::stopped(who, context);
    error
        .message
        .push_str(". It was still being compiled, which goes on in the background: the next call finds it done");
    error
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
