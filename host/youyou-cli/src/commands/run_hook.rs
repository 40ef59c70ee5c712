//! `youyou run-hook`: one handler of a plugin, asked as the agent would.

use serde_json::{Map, Value};
use youyou::{CancellationToken, Change, Error, ErrorCode, HookEvent, HookTrial, Severity, Tried, TriedAnswer};

use super::{
    LEAVING, Places,
    trust::{self, Beforehand},
    usage,
};
use crate::{args::RunHook, exit::Exit, input, print, signals::StopRequests};

pub(crate) fn run(args: RunHook, places: &Places) -> Result<Exit, Error> {
    let event = event(&args.event)?;
    let given = args.payload.as_deref().map(read_payload).transpose()?;
    let trial = match input::as_folder(&args.plugin) {
        Some(dir) => HookTrial::of_folder(&places.home, &places.workspace, &dir, event)?,
        None => {
            trust::settle_named(places, "plugins", &args.plugin, Beforehand::new(args.trust.trust_project))?;
            HookTrial::of_plugin(&places.home, &places.workspace, &args.plugin, event)?
        }
    };
    print::problems(trial.problems().iter().filter(|problem| problem.severity != Severity::Hint));
    if let Some(why) = trial.asleep() {
        print::note(&format!("note: {why}"));
    }
    let sampled = given.is_none();
    let payload = trial.payload(given.unwrap_or_default())?;
    if sampled {
        let shown = serde_json::to_string(&payload).unwrap_or_default();
        print::note(&format!("no --payload given, so this sample is used: {shown}"));
    }
    let executor = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::new(ErrorCode::HookFailed, format!("cannot start the async runtime: {error}")))?;
    let cancel = CancellationToken::new();
    let tried = executor.block_on(async {
        let interrupt = cancel.clone();
        // Before the handler starts, so that no signal comes too early.
        let stop = StopRequests::listen();
        let watch = tokio::spawn(async move {
            if let Ok(mut stop) = stop {
                stop.next().await;
                interrupt.cancel();
            }
        });
        let tried = trial.run(payload, &places.workspace, cancel).await;
        watch.abort();
        tried
    });
    // A guest may have opened something that never answers: that is not waited for.
    executor.shutdown_timeout(LEAVING);
    if args.json {
        print::document(&tried)?;
    } else {
        let Tried { plugin, event, backend, duration_ms, .. } = &tried;
        print::note(&format!("{plugin}, {event}, {backend}, {duration_ms} ms"));
        print::line(&describe(&tried))?;
        for warning in &tried.warnings {
            print::note(&format!("warning: {warning}"));
        }
    }
    Ok(exit(&tried))
}

fn event(name: &str) -> Result<HookEvent, Error> {
    let named = |event: &&HookEvent| event.as_str().eq_ignore_ascii_case(name);
    HookEvent::ALL.iter().find(named).copied().ok_or_else(|| {
        let all = HookEvent::ALL.iter().map(|event| event.as_str()).collect::<Vec<_>>().join(", ");
        usage(format!("{name:?} is not an event; the events are {all}"))
    })
}

fn read_payload(typed: &str) -> Result<Map<String, Value>, Error> {
    let text = input::read(typed, "the payload", ErrorCode::InvalidInput)?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(payload)) => Ok(payload),
        Ok(_) => Err(usage("the payload must be a JSON object, such as {\"arguments\":{\"path\":\"a.txt\"}}")),
        Err(error) => Err(usage(format!("the payload is no JSON: {error}"))),
    }
}

fn describe(tried: &Tried) -> String {
    let Tried { answer, blocks, meaning, changes, .. } = tried;
    let mut text = String::new();
    match answer {
        TriedAnswer::Continued => text.push_str("continue\n"),
        TriedAnswer::Changed => text.push_str("continue, with changes\n"),
        TriedAnswer::Aborted { reason } => text.push_str(&format!("abort: {reason}\n")),
        TriedAnswer::Failed { error } => text.push_str(&format!("failed: {}\n", error.message)),
    }
    for Change { field, before, after } in changes {
        text.push_str(&format!("  {field}: {} -> {}\n", shown(before), shown(after)));
    }
    let stops = matches!(answer, TriedAnswer::Aborted { .. } | TriedAnswer::Failed { .. });
    let verdict = match (stops, blocks) {
        (true, true) => "This blocks. ",
        (true, false) => "This does NOT block. ",
        (false, _) => "",
    };
    text.push_str(&format!("{verdict}{meaning}\n"));
    text
}

fn shown(value: &Value) -> String {
    if value.is_null() { "(none)".to_owned() } else { value.to_string() }
}

/// 0: the operation goes on because the handler says so; 1: it is stopped, or the handler reports failure; 3: the handler
/// could not be run.
fn exit(tried: &Tried) -> Exit {
    const REPORTED: [&str; 4] = ["EXIT", "INVALID_OUTPUT", "ABORT_IGNORED", "GUEST_ERROR"];
    match &tried.answer {
        TriedAnswer::Continued | TriedAnswer::Changed => Exit::Ok,
        TriedAnswer::Aborted { .. } => Exit::Reported,
        TriedAnswer::Failed { error } if error.kind().is_some_and(|kind| REPORTED.contains(&kind)) => Exit::Reported,
        TriedAnswer::Failed { .. } => Exit::CouldNotRun,
    }
}
