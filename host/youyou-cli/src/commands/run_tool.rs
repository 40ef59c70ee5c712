//! `youyou run-tool`: one tool, run as the agent would.

use serde::Serialize;
use serde_json::{Map, Value};
use youyou::{CallId, CallScope, CallStats, Error, ErrorCode, Runtime, Severity, ToolCall, ToolResult};

use super::{
    LEAVING, Places,
    trust::{self, Beforehand},
};
use crate::{args::RunTool, exit::Exit, input, print, signals::StopRequests};

pub(crate) fn run(args: RunTool, places: &Places) -> Result<Exit, Error> {
    let arguments = input::read(&args.args, "the arguments", ErrorCode::ToolArgumentsInvalid)?;
    let (runtime, tool_name) = open(&args, places)?;
    let mut scope = CallScope::new(&places.workspace);
    if args.stats {
        scope.stats = CallStats::on();
    }
    let call = ToolCall { call_id: CallId::new("run-tool"), tool_name, arguments };
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        Error::new(ErrorCode::ToolExecutionError, format!("cannot start the async runtime: {error}"))
    })?;
    let result = executor.block_on(async {
        let interrupt = scope.cancel.clone();
        // Before the tool starts, so that no signal comes too early.
        let stop = StopRequests::listen();
        let watch = tokio::spawn(async move {
            if let Ok(mut stop) = stop {
                stop.next().await;
                interrupt.cancel();
            }
        });
        let result = runtime.dispatcher().dispatch(call, &scope).await;
        watch.abort();
        result
    })?;
    let exit = report(&result, scope.stats.snapshot(), &args);
    if result.error.is_none() {
        // The process ends here, and the system takes back what these hold faster than they give it back. A tool that
        // has answered left nothing half-done; where none did, a compilation may still be running and is waited for, but
        // not for ever what a guest has opened and never answers.
        std::mem::forget((executor, runtime));
    } else {
        executor.shutdown_timeout(LEAVING);
    }
    exit
}

/// The runtime that holds the tool, and the tool's name in it.
fn open(RunTool { tool, trust, .. }: &RunTool, places: &Places) -> Result<(Runtime, String), Error> {
    let builder = places.builder().configured_timeout()?;
    let Some(dir) = input::as_folder(tool) else {
        trust::settle_named(places, "tools", tool, Beforehand::new(trust.trust_project))?;
        return Ok((builder.open()?, tool.clone()));
    };
    let runtime = builder.open_tool(&dir)?;
    print::problems(runtime.problems().iter().filter(|problem| problem.severity != Severity::Hint));
    let name = runtime.tools().first().map(|tool| tool.spec.name.to_string());
    Ok((runtime, name.unwrap_or_default()))
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    content: &'a str,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Value>,
    duration_ms: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Error>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    stats: Map<String, Value>,
}

fn report(result: &ToolResult, stats: Map<String, Value>, args: &RunTool) -> Result<Exit, Error> {
    if args.json {
        print::document(&Report {
            content: &result.output.content,
            is_error: result.output.is_error,
            metadata: result.output.metadata.as_ref(),
            duration_ms: result.duration.as_millis(),
            error: result.error.as_ref(),
            stats,
        })?;
    } else {
        match &result.error {
            Some(error) => print::failure(error, false),
            None => print::line(&result.output.content)?,
        }
        for (name, value) in stats {
            print::note(&format!("{name}: {value}"));
        }
    }
    Ok(match &result.error {
        Some(error) => Exit::of(error),
        None if result.success() => Exit::Ok,
        None => Exit::Reported,
    })
}
