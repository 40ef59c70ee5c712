//! A tool that is a component: loaded at its first call, with a fresh instance for every call (C-1, Y3.3-4).

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use tokio::sync::SemaphorePermit;
use wasmtime::Store;
use youyou_api::{BoxFuture, CallContext, Error, ErrorCode, ToolFailure, ToolHandler, ToolInput, ToolOutput, ToolSpec};

use crate::{
    bindings::ToolPluginPre,
    call::{Ending, before_stop, watch},
    check::Role,
    convert::{input_to_wit, output_from_wit},
    engine::Runtime,
    failure,
    file::ComponentFile,
    grants::{Grants, GuestWasi},
    host::ComponentHost,
    kind::Kind,
    limits::MemoryLimit,
    load::{Origin, mismatch},
    log::GuestLog,
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
    /// What all memories and tables of one call may take together; [`DEFAULT_MEMORY_BYTES`] without it.
    pub memory_bytes: Option<u64>,
    /// How long one call may take; without it the agent's own figure holds (Y4.4-2).
    pub timeout: Option<Duration>,
    /// What it may reach.
    pub grants: Grants,
}

/// A tool that is a component.
///
/// Making one reads nothing and compiles nothing. The first call, or [`warm_up`](Self::warm_up), loads the component;
/// from then on it stays as it was, whatever happens to its file.
pub struct ComponentTool {
    host: ComponentHost,
    spec: ToolSpec,
    component: ComponentSpec,
    name: Arc<str>,
    label: String,
    ready: Arc<OnceLock<Ready>>,
}

/// What is there once the component was loaded.
struct Ready {
    pre: ToolPluginPre<GuestState>,
    /// Keeps the code known to other tools of the same content.
    _loaded: Arc<crate::load::Loaded>,
}

impl ComponentTool {
    /// A tool that runs `component`.
    pub fn new(host: ComponentHost, spec: ToolSpec, component: ComponentSpec) -> Self {
        let name = spec.name.as_str().into();
        let label = format!("tool \"{}\"", spec.name);
        Self { host, spec, component, name, label, ready: Arc::default() }
    }

    /// Loads the component ahead of its first call, compiling it if that was never done.
    ///
    /// Dropping the future does not stop it; what was begun is there for the next call.
    ///
    /// # Errors
    /// `TOOL_EXECUTION_ERROR` when the file cannot be used; `details.kind` says why (K-60).
    pub async fn warm_up(&self) -> Result<(), Error> {
        match self.ready.get() {
            Some(_) => Ok(()),
            None => self.load().await.map(|_| ()),
        }
    }

    /// Loads on a blocking thread, which goes on even when nobody waits for it any more.
    async fn load(&self) -> Result<Origin, Error> {
        let (host, path, ready) = (self.host.clone(), self.component.path.clone(), Arc::clone(&self.ready));
        let loading = tokio::task::spawn_blocking(move || {
            let file = ComponentFile::read(&path)?;
            let runtime = host.runtime()?;
            let (loaded, origin) = host.loader().load(runtime, &file, Role::Tool)?;
            let pre = ToolPluginPre::new(loaded.pre.clone()).map_err(|error| mismatch(&file, Role::Tool, &error))?;
            ready.get_or_init(|| Ready { pre, _loaded: loaded });
            Ok(origin)
        });
        let loaded = loading.await.unwrap_or_else(|panic| {
            let message = format!("`{}` could not be loaded: {panic}", self.component.path.display());
            Err(Error::new(ErrorCode::ToolExecutionError, message).with_kind(Kind::Host.as_str()))
        });
        loaded.map_err(|error| named(&self.label, error))
    }

    async fn run(&self, input: ToolInput, context: &CallContext) -> Result<ToolOutput, Error> {
        let ready = match self.ready.get() {
            Some(ready) => ready,
            None => self.first_use(context).await?,
        };
        let runtime = self.host.runtime()?;
        let _turn = self.turn(runtime, context).await?;
        let log = GuestLog::new(Arc::clone(&self.name));
        let state = self.guest_state(runtime, &log, context)?;
        let mut store = store(runtime, state);
        let started = Instant::now();
        let ticking = runtime.ticker.keep_ticking();
        let ending = watch(context, run_guest(ready, &mut store, input)).await;
        drop(ticking);
        log.finish();
        if context.stats.wanted() {
            context.stats.set("run_us", micros(started.elapsed()));
            context.stats.set("memory_peak_bytes", store.data().memory.used());
        }
        self.conclude(ending, store.data(), context)
    }

    /// A call's turn, where there is a pool that has room for so many only.
    async fn turn<'r>(
        &self,
        runtime: &'r Runtime,
        context: &CallContext,
    ) -> Result<Option<SemaphorePermit<'r>>, Error> {
        let Some(turns) = &runtime.turns else { return Ok(None) };
        match before_stop(context, turns.acquire()).await {
            Some(Ok(turn)) => Ok(Some(turn)),
            Some(Err(_)) | None => Err(failure::stopped(&self.label, context)),
        }
    }

    fn guest_state(&self, runtime: &Runtime, log: &GuestLog, context: &CallContext) -> Result<GuestState, Error> {
        let joined;
        let working_dir: &Path = match &self.component.working_directory {
            Some(relative) => {
                joined = context.cwd.join(relative);
                &joined
            }
            None => &context.cwd,
        };
        let grants = &self.component.grants;
        let wasi = GuestWasi::new(grants, working_dir, &grants.env_snapshot(), GuestStdio::new(log))
            .map_err(|error| named(&self.label, error))?;
        let limit = self.component.memory_bytes.unwrap_or(DEFAULT_MEMORY_BYTES);
        let memory = MemoryLimit::new(limit.min(runtime.largest_memory));
        Ok(GuestState::new(wasi, memory, log.clone(), context))
    }

    /// Loads the component within the time of a call. When that is not enough, loading goes on for the next call.
    async fn first_use(&self, context: &CallContext) -> Result<&Ready, Error> {
        let started = Instant::now();
        let loading = before_stop(context, self.load()).await;
        let origin = loading.ok_or_else(|| still_loading(&self.label, context))??;
        context.stats.set("load_us", micros(started.elapsed()));
        context.stats.set("code", origin.as_str());
        self.ready.get().ok_or_else(|| {
            // Loading sets it before it answers.
            Error::new(ErrorCode::ToolExecutionError, "the component is not there").with_kind(Kind::Host.as_str())
        })
    }

    fn conclude(
        &self,
        ending: Ending<Outcome>,
        state: &GuestState,
        context: &CallContext,
    ) -> Result<ToolOutput, Error> {
        let error = match ending {
            Ending::Ended(Outcome::Answered(Ok(output))) => match output_from_wit(output) {
                Ok(output) if output.is_error => return Ok(failure::explained(output, state)),
                Ok(output) => return Ok(output),
                Err(error) => failure::bad_metadata(&self.label, &error),
            },
            Ending::Ended(Outcome::Answered(Err(error))) => {
                failure::guest_error(&self.label, state, &error.code, &error.message)
            }
            Ending::Ended(Outcome::NotStarted(error)) => failure::not_started(&self.label, state, context, &error),
            Ending::Ended(Outcome::Broken(error)) => failure::broken(&self.label, state, context, &error),
            Ending::Abandoned => failure::stopped(&self.label, context),
        };
        Err(failure::with_denials(error, state))
    }
}

impl ToolHandler for ComponentTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, input: ToolInput, context: CallContext) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move { self.run(input, &context).await.map_err(ToolFailure::ForModel) })
    }

    fn timeout(&self) -> Option<Duration> {
        self.component.timeout
    }

    fn backend(&self) -> &'static str {
        "component"
    }
}

type Answer = Result<
    crate::bindings::exports::youyou::plugin::tool::ToolOutput,
    crate::bindings::exports::youyou::plugin::tool::GuestError,
>;

/// How far a guest came.
enum Outcome {
    NotStarted(wasmtime::Error),
    Broken(wasmtime::Error),
    Answered(Answer),
}

async fn run_guest(ready: &Ready, store: &mut Store<GuestState>, input: ToolInput) -> Outcome {
    let guest = match ready.pre.instantiate_async(&mut *store).await {
        Ok(guest) => guest,
        Err(error) => return Outcome::NotStarted(error),
    };
    match guest.youyou_plugin_tool().call_run(store, &input_to_wit(input)).await {
        Ok(answer) => Outcome::Answered(answer),
        Err(error) => Outcome::Broken(error),
    }
}

/// An error of the file, said of the tool.
fn named(label: &str, mut error: Error) -> Error {
    error.message = format!("{label} cannot be run: {}", error.message);
    error
}

fn still_loading(label: &str, context: &CallContext) -> Error {
    let mut error = failure::stopped(label, context);
    error
        .message
        .push_str(". It was still being compiled, which goes on in the background: the next call finds it done");
    error
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
