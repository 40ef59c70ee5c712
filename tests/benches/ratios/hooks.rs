//! What plugins around a call cost by themselves: ten against one, and one that taps something else against none.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use youyou::{
    BoxFuture, CallContext, CallScope, Dispatcher, HookEvent, HookOutcome, HookRegistry, Hooks, PluginChain,
    PluginTaps, Reporter, SessionId, SourceLabel, Tap, ToolCatalog, ToolFailure, ToolHandler, ToolInput, ToolOutput,
    ToolSpec, TurnId, plugin::hook_fn,
};

use crate::{
    Outcome,
    measure::in_turn,
    report::{Reach, Report},
    setting::{Setting, call, same},
};

const ANSWER: &str = "a cat";

/// A tool in code that does nothing, so that what is around it shows.
struct Look(ToolSpec);

impl ToolHandler for Look {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(&'a self, _: ToolInput, _: CallContext) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
        Box::pin(async { Ok(ToolOutput::text(ANSWER)) })
    }
}

pub(crate) fn measure(report: &mut Report) -> Outcome {
    let setting = Setting::new()?;
    let scope = setting.scope();
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let run = |dispatcher: &Dispatcher| timed(&executor, dispatcher, &scope);

    let tool_use = &[HookEvent::BeforeToolUse, HookEvent::AfterToolUse];
    let (one, ten) = (dispatcher(&setting, 1, tool_use)?, dispatcher(&setting, 10, tool_use)?);
    let measured = in_turn(report.effort(25, 400), || run(&ten), || run(&one))?;
    report.ratio(
        "a call with ten plugins in code around it, to one with one",
        &measured,
        Reach::AtMost(10.0),
        ["a hundred calls with ten plugins in code around each", "the same with one plugin"],
    );
    let (elsewhere, none) = (dispatcher(&setting, 10, &[HookEvent::TurnStart])?, dispatcher(&setting, 0, &[])?);
    let measured = in_turn(report.effort(25, 400), || run(&elsewhere), || run(&none))?;
    report.ratio(
        "a call among ten plugins that tap something else, to one without plugins",
        &measured,
        Reach::AtMost(1.1),
        ["a hundred calls among ten plugins that tap something else", "the same without plugins"],
    );
    Ok(())
}

/// A hundred calls: one alone is too short to be timed.
fn timed(executor: &tokio::runtime::Runtime, dispatcher: &Dispatcher, scope: &CallScope) -> Outcome<Duration> {
    let start = Instant::now();
    for _ in 0..100 {
        let result = executor.block_on(dispatcher.dispatch(call("look", r#"{"path":"a"}"#), scope))?;
        same(&result.output.content, ANSWER)?;
    }
    Ok(start.elapsed())
}

/// A dispatcher over the tool, with so many plugins that tap these events and change nothing.
fn dispatcher(setting: &Setting, plugins: usize, events: &[HookEvent]) -> Outcome<Dispatcher> {
    let spec = ToolSpec {
        name: "look".parse()?,
        description: "Looks.".into(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        mutating: false,
    };
    let mut catalog = ToolCatalog::new();
    catalog.add(SourceLabel::Programmatic, Arc::new(Look(spec)))?;
    let dispatcher = Dispatcher::new(Arc::new(catalog));
    let mut taps = Vec::new();
    for index in 0..plugins {
        let tap = |event: &HookEvent| Tap {
            event: *event,
            stage: 0,
            handler: hook_fn(|_, _| async { Ok(HookOutcome::Continue) }),
        };
        let id = format!("p{index}").parse()?;
        let taps_of_it = events.iter().map(tap).collect();
        let config = Arc::new(Value::Null);
        taps.push(PluginTaps { id, source: SourceLabel::Programmatic, index, config, taps: taps_of_it });
    }
    let hooks = Arc::new(Hooks::new(HookRegistry::new(taps), SessionId::new("bench"), setting.workspace().into()));
    let report: Reporter = Arc::new(|run| assert!(run.warnings.is_empty(), "{run:?}"));
    Ok(match PluginChain::new(&hooks, dispatcher.shared_catalog(), &TurnId::new("turn-1"), &report) {
        Some(chain) => dispatcher.with_chain(chain),
        None => dispatcher,
    })
}
