//! The wasmtime engine of a host, the imports it links, and the clock that interrupts its guests.
//!
//! It compiles nothing and keeps no components; see [`crate::load`].

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use tokio::sync::Semaphore;
use wasmtime::{
    Config, Engine, EngineWeak,
    component::{HasSelf, Linker},
};
use youyou_api::{Error, ErrorCode};

use crate::{
    bindings::youyou::plugin::log,
    grants,
    host::{Allocation, HostConfig},
    kind::Kind,
    state::GuestState,
};

/// How often a busy guest is asked whether it must stop, and gives way to others.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// What the WebAssembly stack of one call may grow to.
pub(crate) const STACK_BYTES: usize = 1 << 20;

/// The stack of one call in all: the guest's part, and what host functions need on top.
const ASYNC_STACK_BYTES: usize = 2 << 20;

/// What all calls of one host share.
pub(crate) struct Runtime {
    pub(crate) engine: Engine,
    pub(crate) linker: Linker<GuestState>,
    pub(crate) ticker: Ticker,
    /// One for each call that the pool has room for; none without a pool.
    pub(crate) turns: Option<Arc<Semaphore>>,
    /// What a call's memory can be at most, whatever a tool asks for.
    pub(crate) largest_memory: u64,
}

impl Runtime {
    /// # Errors
    /// `TOOL_EXECUTION_ERROR`, kind HOST, when this machine cannot give what the settings ask for.
    pub(crate) fn new(config: &HostConfig) -> Result<Self, Error> {
        Self::build(config).map_err(|error| {
            let message = format!("WebAssembly cannot be started on this machine: {error:#}");
            Error::new(ErrorCode::ToolExecutionError, message).with_kind(Kind::Host.as_str())
        })
    }

    fn build(config: &HostConfig) -> wasmtime::Result<Self> {
        let engine = Engine::new(&settings(config)?)?;
        let mut linker = Linker::new(&engine);
        grants::add_to_linker(&mut linker)?;
        log::add_to_linker::<_, HasSelf<GuestState>>(&mut linker, |state| state)?;
        let ticker = Ticker::start(engine.weak())?;
        let (turns, largest_memory) = match config.allocation {
            Allocation::OnDemand => (None, u64::MAX),
            Allocation::Pooling { calls, memory_bytes } => {
                (Some(Arc::new(Semaphore::new(calls as usize))), memory_bytes)
            }
        };
        Ok(Self { engine, linker, ticker, turns, largest_memory })
    }
}

fn settings(config: &HostConfig) -> wasmtime::Result<Config> {
    let mut settings = Config::new();
    settings
        .epoch_interruption(true)
        .max_wasm_stack(STACK_BYTES)
        .async_stack_size(ASYNC_STACK_BYTES)
        // Traps are explained without source positions, and leaving them out makes the code a third smaller to load.
        .generate_address_map(false);
    // Nothing unwinds through a guest; only Windows cannot do without.
    #[cfg(not(windows))]
    settings.native_unwind_info(false);
    match config.allocation {
        Allocation::OnDemand => {}
        Allocation::Pooling { calls, memory_bytes } => {
            settings.allocation_strategy(pool(calls, memory_bytes));
        }
    }
    Ok(settings)
}

/// Room for `calls` components at once, each made of a handful of modules.
fn pool(calls: u32, memory_bytes: u64) -> wasmtime::PoolingAllocationConfig {
    const MODULES_PER_COMPONENT: u32 = 8;
    const MEMORIES_PER_COMPONENT: u32 = 2;
    let mut pool = wasmtime::PoolingAllocationConfig::default();
    pool.total_component_instances(calls)
        .total_stacks(calls)
        .total_core_instances(calls.saturating_mul(MODULES_PER_COMPONENT))
        .total_memories(calls.saturating_mul(MEMORIES_PER_COMPONENT))
        .total_tables(calls.saturating_mul(MODULES_PER_COMPONENT))
        .max_memory_size(usize::try_from(memory_bytes).unwrap_or(usize::MAX));
    pool
}

/// A thread that advances the engine's epoch while calls are running, and sleeps when none has run for a while.
///
/// It ends when the ticker is dropped or the engine is gone.
pub(crate) struct Ticker {
    shared: Arc<TickerState>,
    thread: thread::Thread,
}

#[derive(Default)]
struct TickerState {
    running_calls: AtomicUsize,
    asleep: AtomicBool,
    stop: AtomicBool,
}

/// Keeps the ticker awake as long as it lives.
pub(crate) struct Ticking<'a>(&'a Ticker);

impl Ticker {
    fn start(engine: EngineWeak) -> std::io::Result<Self> {
        let shared = Arc::<TickerState>::default();
        let state = Arc::clone(&shared);
        let handle = thread::Builder::new().name("youyou-epoch".to_owned()).spawn(move || state.run(&engine))?;
        Ok(Self { shared, thread: handle.thread().clone() })
    }

    /// To be held while a guest runs.
    pub(crate) fn keep_ticking(&self) -> Ticking<'_> {
        // Both sides write their own flag before they read the other's, so one of them sees that the other is there.
        self.shared.running_calls.fetch_add(1, Ordering::SeqCst);
        if self.shared.asleep.load(Ordering::SeqCst) {
            self.thread.unpark();
        }
        Ticking(self)
    }
}

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        self.0.shared.running_calls.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.thread.unpark();
    }
}

impl TickerState {
    /// Ticks without a running call before the thread goes to sleep; waking it costs a call some microseconds.
    const IDLE_TICKS: u32 = 200;

    fn run(&self, engine: &EngineWeak) {
        let mut idle_ticks = 0;
        while !self.stop.load(Ordering::SeqCst) {
            thread::sleep(TICK);
            let Some(engine) = engine.upgrade() else { return };
            engine.increment_epoch();
            drop(engine);
            idle_ticks = if self.running_calls.load(Ordering::SeqCst) == 0 { idle_ticks + 1 } else { 0 };
            if idle_ticks > Self::IDLE_TICKS {
                self.sleep();
                idle_ticks = 0;
            }
        }
    }

    fn sleep(&self) {
        self.asleep.store(true, Ordering::SeqCst);
        while self.running_calls.load(Ordering::SeqCst) == 0 && !self.stop.load(Ordering::SeqCst) {
            thread::park();
        }
        self.asleep.store(false, Ordering::SeqCst);
    }
}
