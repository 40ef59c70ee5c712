//! Calls a component as directly as wasmtime allows: what the runtime is compared with.
//!
//! The engine has the settings of the component host, and the store the same interruption by epoch. There is nothing
//! else: no grants, no limits, no log, no deadline.

use std::path::Path;

use wasmtime::{
    Config, Engine, Store,
    component::{Component, HasSelf, Linker, ResourceTable},
};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

mod bindings {
    #![allow(missing_docs, unreachable_pub, clippy::pedantic, reason = "generated")]

    wasmtime::component::bindgen!({
        path: "../wit",
        world: "youyou:plugin/tool-plugin",
        exports: { default: async },
    });
}

use bindings::{
    ToolPluginPre,
    exports::youyou::plugin::tool::ToolInput,
    youyou::plugin::{log, types},
};

/// A component that is ready to be called.
pub(crate) struct Bare {
    pre: ToolPluginPre<State>,
}

struct State {
    ctx: WasiCtx,
    table: ResourceTable,
}

/// An engine with the settings of the component host. That they are the same shows where code that the host compiled is
/// loaded into this one.
pub(crate) fn engine() -> wasmtime::Result<Engine> {
    let mut settings = Config::new();
    settings.epoch_interruption(true).max_wasm_stack(1 << 20).async_stack_size(2 << 20).generate_address_map(false);
    #[cfg(not(windows))]
    settings.native_unwind_info(false);
    Engine::new(&settings)
}

/// Maps compiled code.
///
/// # Safety
/// The file must hold what a wasmtime of this version serialised, and stay as it is.
#[allow(dead_code, reason = "this file is shared with a program that compiles nothing")]
pub(crate) unsafe fn load(engine: &Engine, path: &Path) -> wasmtime::Result<Component> {
    // SAFETY: the caller's promise.
    unsafe { Component::deserialize_file(engine, path) }
}

impl Bare {
    /// Resolves the component's imports.
    pub(crate) fn new(component: &Component) -> wasmtime::Result<Self> {
        let mut linker = Linker::new(component.engine());
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        log::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
        Ok(Self { pre: ToolPluginPre::new(linker.instantiate_pre(component)?)? })
    }

    /// One call in a store of its own: the content of the answer.
    pub(crate) async fn call(&self, arguments: &str) -> wasmtime::Result<String> {
        let state = State { ctx: WasiCtx::builder().build(), table: ResourceTable::new() };
        let mut store = Store::new(self.pre.engine(), state);
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
        let guest = self.pre.instantiate_async(&mut store).await?;
        let input =
            ToolInput { call_id: "call-1".into(), tool_name: "word-count".into(), arguments: arguments.to_owned() };
        let answer = guest.youyou_plugin_tool().call_run(&mut store, &input).await?;
        answer.map(|output| output.content).map_err(|error| wasmtime::format_err!("{}", error.message))
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.ctx, table: &mut self.table }
    }
}

impl types::Host for State {}

impl log::Host for State {
    fn write(&mut self, _: log::Level, _: String) {}

    fn report_panic(&mut self, _: String, _: String, _: u32, _: u32) {}
}
