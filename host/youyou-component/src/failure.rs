//! What an author sees when a guest breaks: its panic, the limit that it hit, its last words; never a bare backtrace.

use wasmtime::{Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;
use youyou_api::{CallContext, Error, ErrorCode, ToolOutput};

use crate::{
    engine::STACK_BYTES,
    grants,
    kind::Kind,
    log::excerpt,
    state::{GuestState, HANDOVER_BYTES},
};

/// What of a guest's own message goes into an error.
const MESSAGE_BYTES: usize = 16 * 1024;

/// The error of a guest that did not return.
///
/// `who` names it for the message; the state is that of its store, after it ended.
pub(crate) fn broken(who: &str, state: &GuestState, context: &CallContext, error: &wasmtime::Error) -> Error {
    let trap = error.downcast_ref::<Trap>();
    if trap == Some(&Trap::Interrupt) {
        return stopped(who, context);
    }
    if let Some(panic) = state.log.panic() {
        let place = format!("{}:{}:{}", panic.file, panic.line, panic.column);
        let message = format!(
            "{who} panicked at {}: {}{}",
            excerpt(&place, 1024),
            excerpt(&panic.message, MESSAGE_BYTES),
            memory_note(state)
        );
        return failed(Kind::Panic, message)
            .with_detail("file", panic.file)
            .with_detail("line", panic.line)
            .with_detail("column", panic.column);
    }
    if error.downcast_ref::<I32Exit>().is_some() {
        // WASI 0.2 passes on whether the code was zero, and not the code.
        let message = format!("{who} ended itself (an `exit`) instead of returning its output{}", last_words(state));
        return failed(Kind::Exit, message);
    }
    if state.memory.refusal().is_some() {
        return out_of_memory(who, state);
    }
    if let Some(full) = grants::explain_full_table(error) {
        return failed(Kind::LimitHandles, format!("{who} was stopped: {full}"));
    }
    let explained = match trap {
        Some(Trap::StackOverflow) => failed(
            Kind::LimitStack,
            format!(
                "{who} used up its stack of {}, most likely by a recursion without end{}",
                mebibytes(STACK_BYTES as u64),
                last_words(state)
            ),
        ),
        Some(Trap::MemoryOutOfBounds) if below_its_stack(error) => failed(
            Kind::LimitStack,
            format!(
                "{who} wrote below the start of its memory: most likely a recursion without end used up the stack that \
                 the guest keeps there{}",
                last_words(state)
            ),
        ),
        Some(trap) => failed(Kind::Trap, format!("{who} was stopped by a fault: {trap}{}", last_words(state))),
        None if error.to_string().starts_with(TOO_MUCH_DATA) => failed(
            Kind::LimitOutput,
            format!("{who} handed over more than the {} that one call may", mebibytes(HANDOVER_BYTES as u64)),
        ),
        None => failed(Kind::Trap, format!("{who} was stopped: {}{}", causes(error), last_words(state))),
    };
    with_functions(explained, error)
}

/// How wasmtime begins the error of a guest that hands over more than it may.
const TOO_MUCH_DATA: &str = "too much data is being copied";

/// The error of a guest that was stopped from outside: because the call was cancelled, or because its time was up.
pub(crate) fn stopped(who: &str, context: &CallContext) -> Error {
    // The deadline goes first: whoever watches it from outside may cancel as soon as it has passed.
    if context.cancel.is_cancelled() && !context.deadline.remaining().is_zero() {
        return Error::new(ErrorCode::RequestCancelled, format!("{who} was stopped: the call was cancelled"));
    }
    let budget_ms = u64::try_from(context.deadline.budget().as_millis()).unwrap_or(u64::MAX);
    let message = format!(
        "{who} was stopped after {budget_ms} ms, the time that a call may take; if it needs more, raise `timeout_ms`"
    );
    Error::new(ErrorCode::ToolTimeout, message).with_kind(Kind::LimitTime.as_str()).with_detail("timeout_ms", budget_ms)
}

/// The error of a guest that answered with one.
pub(crate) fn guest_error(who: &str, state: &GuestState, code: &str, message: &str) -> Error {
    let message = format!("{who} failed: {}{}", excerpt(message, MESSAGE_BYTES), memory_note(state));
    failed(Kind::GuestError, message).with_detail("guest_code", excerpt(code, 128))
}

/// The error of a guest whose answer breaks the contract.
pub(crate) fn bad_metadata(who: &str, error: &serde_json::Error) -> Error {
    let message = format!("{who} returned metadata that is not JSON: {error}; expected one JSON document, or none");
    failed(Kind::BadOutput, message)
}

/// The error of a handler whose data is no object (D-6).
pub(crate) fn bad_data(who: &str, found: &str) -> Error {
    let message = format!(
        "{who} answered `continue-with` with {found}; expected a JSON object whose keys are the payload fields to change"
    );
    failed(Kind::InvalidOutput, message)
}

/// The same failure as the answer of a hook handler, which fails in one way only and says in `details.kind` how.
pub(crate) fn of_hook(mut error: Error) -> Error {
    if error.code == ErrorCode::RequestCancelled {
        error = error.with_kind(Kind::Cancelled.as_str());
    }
    error.code = ErrorCode::HookFailed;
    error.retryable = ErrorCode::HookFailed.default_retryable();
    error.with_origin(ErrorCode::HookFailed.default_source())
}

/// The error of a guest that could not even start (K-65), or of what broke while it started.
pub(crate) fn not_started(who: &str, state: &GuestState, context: &CallContext, error: &wasmtime::Error) -> Error {
    match state.memory.refusal() {
        Some(refusal) if error.downcast_ref::<Trap>().is_none() => failed(
            Kind::LimitMemory,
            format!(
                "{who} needs {} of memory to start and may use {}; set `memory_mb: {}` or more",
                mebibytes(refusal.wanted),
                mebibytes(refusal.limit),
                refusal.wanted.div_ceil(1 << 20)
            ),
        )
        .with_detail("memory_mb", refusal.limit >> 20),
        _ => broken(who, state, context, error),
    }
}

fn out_of_memory(who: &str, state: &GuestState) -> Error {
    let limit = state.memory.refusal().map_or(0, |refusal| refusal.limit);
    let message = format!(
        "{who} ran out of memory: it may use {}; if it needs more, raise `memory_mb`{}",
        mebibytes(limit),
        last_words(state)
    );
    failed(Kind::LimitMemory, message).with_detail("memory_mb", limit >> 20)
}

/// A hint for a guest that failed in its own way after it was refused memory.
fn memory_note(state: &GuestState) -> String {
    let Some(refusal) = state.memory.refusal() else { return String::new() };
    format!(
        "\n(it asked for more memory than the {} that it may use; if it needs more, raise `memory_mb`)",
        mebibytes(refusal.limit)
    )
}

/// Adds what the guest tried and was not granted, which may well be why it failed.
///
/// The failure is then named after the first denial; what it was to itself stays in `details.failure`. A limit keeps
/// its name: nothing that could be granted would have helped.
pub(crate) fn with_denials(mut error: Error, state: &GuestState) -> Error {
    let denials = state.wasi.denials();
    let Some(first) = denials.first() else { return error };
    for denial in &denials {
        error.message.push_str("\n\n");
        error.message.push_str(&denial.text);
    }
    let own_kind = error.kind().unwrap_or_default().to_owned();
    if [Kind::GuestError, Kind::Panic, Kind::Exit, Kind::Trap].iter().any(|kind| kind.as_str() == own_kind) {
        error = error.with_kind(first.kind.as_str()).with_detail("failure", own_kind);
    }
    let denials = denials.iter().map(|denial| serde_json::to_value(denial).unwrap_or_default());
    error.with_detail("denials", denials.collect::<Vec<_>>())
}

/// A failure that the guest reports itself, with what the host knows about its cause.
pub(crate) fn explained(mut output: ToolOutput, state: &GuestState) -> ToolOutput {
    for denial in state.wasi.denials() {
        output.content.push_str("\n\n");
        output.content.push_str(&denial.text);
    }
    output.content.push_str(&memory_note(state));
    output
}

fn failed(kind: Kind, message: String) -> Error {
    Error::new(ErrorCode::ToolExecutionError, message).with_kind(kind.as_str())
}

/// What the guest wrote to stderr last, on lines of their own.
fn last_words(state: &GuestState) -> String {
    let tail = state.log.stderr_tail();
    if tail.is_empty() { String::new() } else { format!("; its last lines on stderr:\n{tail}") }
}

fn mebibytes(bytes: u64) -> String {
    if bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else {
        format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
    }
}

/// An error and what lies below it, in one line, without any backtrace.
fn causes(error: &wasmtime::Error) -> String {
    let mut texts: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        let first = text.lines().next().unwrap_or_default().to_owned();
        if !first.starts_with("error while executing at wasm backtrace") && !texts.contains(&first) {
            texts.push(first);
        }
    }
    texts.join(": ")
}

/// Whether a fault in memory looks like the end of a recursion: guests keep a stack of their own at the start of their
/// memory, growing down, so one that overflows reaches below address zero.
fn below_its_stack(error: &wasmtime::Error) -> bool {
    const LOWEST: u64 = 0xfff0_0000;
    const PREFIX: &str = "memory fault at wasm address 0x";
    let address_is_below_zero = error.chain().any(|cause| {
        let text = cause.to_string();
        let address = text.strip_prefix(PREFIX).and_then(|rest| rest.split(' ').next());
        address.and_then(|digits| u64::from_str_radix(digits, 16).ok()).is_some_and(|address| address >= LOWEST)
    });
    address_is_below_zero || error.downcast_ref::<WasmBacktrace>().is_some_and(recurses)
}

/// Whether one function makes up much of a backtrace that is as long as wasmtime records them. Faults of some
/// instructions carry no address; this tells them.
fn recurses(backtrace: &WasmBacktrace) -> bool {
    const RECORDED: usize = 20;
    let functions: Vec<u32> = backtrace.frames().iter().map(|frame| frame.func_index()).collect();
    let often = |function: &u32| functions.iter().filter(|other| *other == function).count() >= RECORDED / 4;
    functions.len() >= RECORDED && functions.iter().any(often)
}

/// Adds the names of the innermost functions to the details, where the component still has names.
fn with_functions(explained: Error, error: &wasmtime::Error) -> Error {
    const MOST: usize = 8;
    let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() else { return explained };
    let names: Vec<String> =
        backtrace.frames().iter().filter_map(|frame| frame.func_name()).take(MOST).map(str::to_owned).collect();
    if names.is_empty() { explained } else { explained.with_detail("functions", names) }
}
