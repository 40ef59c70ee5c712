//! Whether read-only calls of one batch really run at once: two that keep a processor busy, on two threads.

use std::time::{Duration, Instant};

use crate::{
    Outcome,
    measure::in_turn,
    report::{Reach, Report},
    setting::{Setting, WORD_COUNT, call, call_and_compare, same},
};

/// Long enough to keep a guest busy for a while.
const LINES: usize = 40_000;
const LINE: &str = "one line of a text that is long enough to be work\n";

pub(crate) fn measure(report: &mut Report) -> Outcome {
    let setting = Setting::new()?;
    setting.install_word_count()?;
    let (runtime, scope) = (setting.open()?, setting.scope());
    let executor = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let arguments = serde_json::json!({ "text": LINE.repeat(LINES) }).to_string();
    let answer = format!("{} words, {} characters, {LINES} lines", LINES * LINE.split(' ').count(), LINES * LINE.len());
    let calls = || [call(WORD_COUNT, &arguments), call(WORD_COUNT, &arguments)];

    let as_a_batch = || -> Outcome<Duration> {
        let calls = calls().into();
        let start = Instant::now();
        let results = executor.block_on(runtime.dispatcher().dispatch_batch(calls, &scope)).results;
        let took = start.elapsed();
        results.iter().try_for_each(|result| same(&result.output.content, &answer))?;
        Ok(took)
    };
    let one_after_the_other = || -> Outcome<Duration> {
        let calls = calls();
        let start = Instant::now();
        executor.block_on(async {
            for call in calls {
                call_and_compare(&runtime, &scope, call, &answer).await?;
            }
            Ok::<_, Box<dyn std::error::Error>>(())
        })?;
        Ok(start.elapsed())
    };
    let measured = in_turn(report.effort(10, 5), as_a_batch, one_after_the_other)?;
    report.ratio(
        "two CPU-bound component calls as a batch on two threads, to one after the other",
        &measured,
        Reach::None,
        ["two CPU-bound component calls as a batch", "the same calls one after the other"],
    );
    Ok(())
}
