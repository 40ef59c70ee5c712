//! A component's call through the whole dispatcher against wasmtime alone, and what its first use costs.

use std::{
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::Value;
use wasmtime::component::Component;
use youyou::{
    ComponentHost, ComponentPlugin, ComponentSpec, Dispatcher, Grants, HookEvent, HookRegistry, HookSettings, Hooks,
    Instancing, PluginChain, PluginTaps, Reporter, Runtime, SessionId, SourceLabel, Tap, TurnId,
};

use crate::{
    Outcome,
    bare::{self, Bare},
    measure::{Measured, in_turn, median},
    report::{Reach, Report, shown},
    setting::{ANSWER, ARGUMENTS, Setting, WORD_COUNT, call, plugin_wasm, same, with_stats, word_count_wasm},
};

pub(crate) fn measure(report: &mut Report) -> Outcome {
    warm_call(report)?;
    hooked_call(report)?;
    first_use(report)
}

/// Everything that a call goes through, with a fresh store and instance on both sides.
fn warm_call(report: &mut Report) -> Outcome {
    let measured = against_bare(report, |_, runtime| Ok(runtime.dispatcher().clone()))?;
    report.ratio(
        "warm call of a component through the dispatcher, to bare wasmtime",
        &measured,
        Reach::AtMost(1.3),
        ["warm call of a component through the dispatcher", "the same in bare wasmtime: instantiate and call"],
    );
    Ok(())
}

/// The same with the example plugins around it, one before and one after, each in an instance of its own.
fn hooked_call(report: &mut Report) -> Outcome {
    let measured = against_bare(report, hooked)?;
    report.ratio(
        "the same with a component's hook before and one after, to one call of bare wasmtime",
        &measured,
        Reach::AtMost(3.5),
        ["warm call with the plugins guard and redact around it", "one call in bare wasmtime"],
    );
    Ok(())
}

/// Calls of a component through the dispatcher that `of` makes, in turn with calls in bare wasmtime.
fn against_bare(report: &Report, of: impl FnOnce(&Setting, &Runtime) -> Outcome<Dispatcher>) -> Outcome<Measured> {
    let setting = Setting::new()?;
    setting.install_word_count()?;
    let (runtime, scope) = (setting.open()?, setting.scope());
    let dispatcher = of(&setting, &runtime)?;
    let bare = Bare::new(&Component::new(&bare::engine()?, fs::read(word_count_wasm()?)?)?)?;
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let through_the_dispatcher = || -> Outcome<Duration> {
        let call = call(WORD_COUNT, ARGUMENTS);
        let start = Instant::now();
        let result = executor.block_on(dispatcher.dispatch(call, &scope))?;
        let took = start.elapsed();
        same(&result.output.content, ANSWER)?;
        Ok(took)
    };
    let alone = || -> Outcome<Duration> {
        let start = Instant::now();
        let content = executor.block_on(bare.call(ARGUMENTS))?;
        let took = start.elapsed();
        same(&content, ANSWER)?;
        Ok(took)
    };
    in_turn(report.effort(25, 1000), through_the_dispatcher, alone)
}

/// The runtime's dispatcher, with guard and redact in its chain. Whatever they say of a call is kept from nobody: a
/// handler that failed would make the row meaningless.
fn hooked(setting: &Setting, runtime: &Runtime) -> Outcome<Dispatcher> {
    let host = runtime.components();
    let plugins = [("guard", HookEvent::BeforeToolUse), ("redact", HookEvent::AfterToolUse)];
    let taps = plugins.into_iter().enumerate().map(|(index, (id, event))| plugin(host, index, id, event));
    let registry = HookRegistry::new(taps.collect::<Outcome<Vec<_>>>()?);
    let hooks = Arc::new(Hooks::new(registry, SessionId::new("bench"), setting.workspace().into()));
    let report: Reporter = Arc::new(|run| assert!(run.warnings.is_empty(), "{run:?}"));
    let dispatcher = runtime.dispatcher();
    let chain = PluginChain::new(&hooks, dispatcher.shared_catalog(), &TurnId::new("turn-1"), &report);
    Ok(dispatcher.clone().with_chain(chain.ok_or("the plugins tap nothing")?))
}

fn plugin(host: &ComponentHost, index: usize, id: &str, event: HookEvent) -> Outcome<PluginTaps> {
    let (path, working_directory, memory_bytes, timeout) = (plugin_wasm(id)?, None, None, None);
    let spec = ComponentSpec { path, working_directory, memory_bytes, timeout, grants: Grants::default() };
    let component = ComponentPlugin::new(host.clone(), id.parse()?, spec, Instancing::PerCall);
    let handler = Arc::new(component.handler(event, HookSettings::default()));
    let taps = vec![Tap { event, stage: 0, handler }];
    Ok(PluginTaps { id: id.parse()?, source: SourceLabel::Global, index, config: Arc::new(Value::Null), taps })
}

/// Loading a component that nobody has used yet, and one that an earlier process has.
fn first_use(report: &mut Report) -> Outcome {
    let setting = Setting::new()?;
    setting.install_word_count()?;
    let (mut compiling, mut loading) = (Vec::new(), Vec::new());
    for _ in 0..report.count(9, 1) {
        compiling.push(load_time(&setting, &setting.open()?, "compiled")?);
        loading.push(load_time(&setting, &setting.open()?, "cache")?);
        setting.open()?.components().cache().clear()?;
    }
    report.information("first use of a component: check and compile", shown(median(&mut compiling)));
    report.information("first use in a later process: verify and map", shown(median(&mut loading)));
    Ok(())
}

/// What the first call in a runtime spends on loading.
fn load_time(setting: &Setting, runtime: &Runtime, expected: &str) -> Outcome<Duration> {
    let scope = with_stats(setting.scope());
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = executor.block_on(runtime.dispatcher().dispatch(call(WORD_COUNT, ARGUMENTS), &scope))?;
    same(&result.output.content, ANSWER)?;
    let stats = scope.stats.snapshot();
    same(stats.get("code").and_then(|origin| origin.as_str()).unwrap_or_default(), expected)?;
    let micros = stats.get("load_us").and_then(|time| time.as_u64()).ok_or("a first call has no `load_us`")?;
    Ok(Duration::from_micros(micros))
}
