//! A component's call through the whole dispatcher against wasmtime alone, and what its first use costs.

use std::{
    fs,
    time::{Duration, Instant},
};

use wasmtime::component::Component;
use youyou::Runtime;

use crate::{
    Outcome,
    bare::{self, Bare},
    measure::{in_turn, median},
    report::{Reach, Report, shown},
    setting::{ANSWER, ARGUMENTS, Setting, WORD_COUNT, call, same, with_stats, word_count_wasm},
};

pub(crate) fn measure(report: &mut Report) -> Outcome {
    warm_call(report)?;
    first_use(report)
}

/// Everything that a call goes through, with a fresh store and instance on both sides.
fn warm_call(report: &mut Report) -> Outcome {
    let setting = Setting::new()?;
    setting.install_word_count()?;
    let (runtime, scope) = (setting.open()?, setting.scope());
    let bare = Bare::new(&Component::new(&bare::engine()?, fs::read(word_count_wasm()?)?)?)?;
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build()?;

    let through_the_dispatcher = || -> Outcome<Duration> {
        let call = call(WORD_COUNT, ARGUMENTS);
        let start = Instant::now();
        let result = executor.block_on(runtime.dispatcher().dispatch(call, &scope))?;
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
    let measured = in_turn(report.effort(25, 1000), through_the_dispatcher, alone)?;
    report.ratio(
        "warm call of a component through the dispatcher, to bare wasmtime",
        &measured,
        Reach::AtMost(1.3),
        ["warm call of a component through the dispatcher", "the same in bare wasmtime: instantiate and call"],
    );
    Ok(())
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
