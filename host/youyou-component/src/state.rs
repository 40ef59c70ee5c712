//! What one guest's store holds: its WASI state, its limits, its log, and when it must stop.

use std::time::Instant;

use wasmtime::{Store, UpdateDeadline};
use youyou_api::CallContext;
use youyou_api::call::CancellationToken;

use crate::{
    bindings::youyou::plugin::{log, types},
    engine::Runtime,
    grants::{GuestWasi, HasGuestWasi},
    limits::MemoryLimit,
    log::{GuestLog, Panic},
};

/// What one call may hand over to the host in one piece: a line to log, or its output.
///
/// The dispatcher keeps far less of an output; this bounds what is copied before it can cut.
pub(crate) const HANDOVER_BYTES: usize = 32 << 20;

/// The data of a guest's store.
pub(crate) struct GuestState {
    pub(crate) wasi: GuestWasi,
    pub(crate) memory: MemoryLimit,
    pub(crate) log: GuestLog,
    deadline: Instant,
    cancel: CancellationToken,
}

impl GuestState {
    pub(crate) fn new(wasi: GuestWasi, memory: MemoryLimit, log: GuestLog, context: &CallContext) -> Self {
        Self { wasi, memory, log, deadline: context.deadline.at(), cancel: context.cancel.clone() }
    }

    /// A new call begins in a guest that lives on: its time and its budgets are those of this call.
    pub(crate) fn start_call(&mut self, context: &CallContext) {
        self.wasi.start_call();
        self.memory.start_call();
        self.log.start_call();
        self.deadline = context.deadline.at();
        self.cancel = context.cancel.clone();
    }

    fn must_stop(&self) -> bool {
        Instant::now() >= self.deadline || self.cancel.is_cancelled()
    }
}

/// A store for one guest. After a call that did not return it is never used again: that call may have left it half-way.
pub(crate) fn store(runtime: &Runtime, state: GuestState) -> Store<GuestState> {
    let mut store = Store::new(&runtime.engine, state);
    store.limiter(|state| &mut state.memory);
    store.set_hostcall_fuel(HANDOVER_BYTES);
    // At each tick a running guest is stopped, or else lets others go first: it never holds a thread longer than that.
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|context| {
        Ok(if context.data().must_stop() { UpdateDeadline::Interrupt } else { UpdateDeadline::Yield(1) })
    });
    store
}

impl HasGuestWasi for GuestState {
    fn guest_wasi(&mut self) -> &mut GuestWasi {
        &mut self.wasi
    }
}

impl types::Host for GuestState {}

impl log::Host for GuestState {
    fn write(&mut self, level: log::Level, message: String) {
        self.log.write(level, &message);
    }

    fn report_panic(&mut self, message: String, file: String, line: u32, column: u32) {
        self.log.report_panic(Panic { message, file, line, column });
    }
}
