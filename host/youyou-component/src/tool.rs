//! A tool that is a component: loaded at its first call, with a fresh instance for every call (C-1, Y3.3-4).

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use wasmtime::Store;
use youyou_api::{BoxFuture, CallContext, Error, ErrorCode, ToolFailure, ToolHandler, ToolInput, ToolOutput, ToolSpec};

use crate::{
    bindings::ToolPluginPre,
    call::{Ending, must_stop, watch},
    check::Role,
    convert::{input_to_wit, output_from_wit},
    failure,
    file::ComponentFile,
    grants::{EnvSnapshot, Grants, GuestWasi},
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
    env: EnvSnapshot,
    label: Arc<str>,
    ready: Arc<OnceLock<Ready>>,
}

/// What is there once the component was loaded.
struct Ready {
    pre: ToolPluginPre<GuestState>,
    /// Keeps the code known to other tools of the same content.
    _loaded: Arc<crate::load::Loaded>,
}

impl ComponentTool {
    /// A tool that runs `component`. The granted environment variables are those of this moment.
    pub fn new(host: ComponentHost, spec: ToolSpec, component: ComponentSpec) -> Self {
        let env = component.grants.env_snapshot();
        let label = format!("tool \"{}\"", spec.name).into();
        Self { host, spec, component, env, label, ready: Arc::default() }
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
        let log = GuestLog::new(self.spec.name.as_str().into());
        let state = self.guest_state(&log, context)?;
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

    fn guest_state(&self, log: &GuestLog, context: &CallContext) -> Result<GuestState, Error> {
        let joined;
        let working_dir: &Path = match &self.component.working_directory {
            Some(relative) => {
                joined = context.cwd.join(relative);
                &joined
            }
            None => &context.cwd,
        };
        let wasi = GuestWasi::new(&self.component.grants, working_dir, &self.env, GuestStdio::new(log))
            .map_err(|error| named(&self.label, error))?;
        let memory = MemoryLimit::new(self.component.memory_bytes.unwrap_or(DEFAULT_MEMORY_BYTES));
        Ok(GuestState::new(wasi, memory, log.clone(), context))
    }

    /// Loads the component within the time of a call. When that is not enough, loading goes on for the next call.
    async fn first_use(&self, context: &CallContext) -> Result<&Ready, Error> {
        let started = Instant::now();
        let loading = async { Some(self.load().await) };
        let stopped = async {
            must_stop(context).await;
            None
        };
        let origin = match first(loading, stopped).await {
            Some(loaded) => loaded?,
            None => return Err(still_loading(&self.label, context)),
        };
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
                Ok(output) if output.is_error => return Ok(explained(output, state)),
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
        Err(with_denials(error, state))
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

/// The output of the one that is ready first; `one` where both are.
async fn first<T>(one: impl Future<Output = T>, other: impl Future<Output = T>) -> T {
    let (mut one, mut other) = (std::pin::pin!(one), std::pin::pin!(other));
    std::future::poll_fn(|cx| match one.as_mut().poll(cx) {
        std::task::Poll::Pending => other.as_mut().poll(cx),
        ready => ready,
    })
    .await
}

/// A failure that the guest reports itself, with what the host knows about its cause.
fn explained(mut output: ToolOutput, state: &GuestState) -> ToolOutput {
    for denial in state.wasi.denials() {
        output.content.push_str("\n\n");
        output.content.push_str(&denial.text);
    }
    output.content.push_str(&failure::memory_note(state));
    output
}

fn with_denials(mut error: Error, state: &GuestState) -> Error {
    for denial in state.wasi.denials() {
        error.message.push_str("\n\n");
        error.message.push_str(&denial.text);
    }
    error
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
