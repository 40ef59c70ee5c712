//! The messages of a check: what was found, what was expected, and the fix, all in one (K-60).

use youyou_api::{Error, ErrorCode, HookEvent};

use super::{
    Problem, Role,
    contract::{Standing, export_standing, offered},
    scan::{NoScan, Outline},
};
use crate::{file::ComponentFile, kind::Kind};

/// Why the file is no component at all.
pub(super) fn no_component(file: &ComponentFile, role: Option<Role>, reason: &NoScan) -> Error {
    let size = file.bytes().len();
    let (kind, found, fix) = match reason {
        NoScan::Empty => (Kind::EmptyFile, "an empty file".to_owned(), "build it again, or copy it again"),
        NoScan::Cut { offset } => (
            Kind::Truncated,
            format!("WebAssembly that ends too early: {size} bytes, and what starts before byte {offset} goes on"),
            "the file is truncated: build it again, or copy it again",
        ),
        NoScan::Text { looks_like_wat: true } => (
            Kind::Text,
            "the text form of WebAssembly".to_owned(),
            "translate it with `wasm-tools parse FILE -o FILE.wasm`",
        ),
        NoScan::Text { looks_like_wat: false } => (
            Kind::Text,
            "a text file".to_owned(),
            "name the .wasm file that the build made; a script belongs under `command:`, not `component:`",
        ),
        NoScan::Precompiled => (
            Kind::Precompiled,
            "machine code that was compiled ahead of time (.cwasm)".to_owned(),
            "name the .wasm file it was made from: compiled code is trusted blindly, so it is only taken from the \
             host's own cache",
        ),
        NoScan::Other { first_bytes } => (
            Kind::NotWasm,
            format!("a file that starts with the bytes {first_bytes:02x?}, not with `\\0asm`"),
            "name the .wasm file that the build made",
        ),
        NoScan::Malformed { offset, message } => (
            Kind::InvalidWasm,
            format!("WebAssembly that cannot be read, at byte {offset}: {message}"),
            "build it again, with tools for WASI 0.2",
        ),
    };
    error(role, kind, format!("{}, found {found}; {fix}", expected(file, role)))
}

/// A core module in place of a component.
pub(super) fn core_module(file: &ComponentFile, role: Option<Role>, imports_wasip1: bool) -> Error {
    let (found, fix) = if imports_wasip1 {
        (
            "a core WebAssembly module made for WASI preview 1",
            "build it with `--target wasm32-wasip2`, or wrap it with `wasm-tools component new FILE --adapt \
             wasi_snapshot_preview1.reactor.wasm`",
        )
    } else {
        (
            "a core WebAssembly module",
            "build it with `--target wasm32-wasip2`, or wrap it with `wasm-tools component new FILE`",
        )
    };
    error(role, Kind::CoreModule, format!("{}, found {found}; {fix}", expected(file, role)))
}

/// The problem that the export of `role` is not there, or in another version.
pub(super) fn missing_export(outline: &Outline, role: Role) -> Problem {
    let other = outline.exports.iter().find(|export| export_standing(export, role) == Standing::OtherVersion);
    match other {
        Some(other) => Problem {
            kind: Kind::WitVersion.as_str(),
            message: format!("it exports `{other}`; this host serves `{}`", role.export()),
        },
        None => {
            Problem { kind: Kind::MissingExport.as_str(), message: format!("it does not export `{}`", role.export()) }
        }
    }
}

/// The problem that a component fits no role.
pub(super) fn no_role(outline: &Outline) -> Problem {
    let other = Role::all().map(|role| missing_export(outline, role)).find(|p| p.kind == Kind::WitVersion.as_str());
    other.unwrap_or_else(|| {
        let known: Vec<_> = Role::all().map(|role| format!("`{}`", role.export())).collect();
        Problem {
            kind: Kind::MissingExport.as_str(),
            message: format!("it exports none of {}{}", known.join(", "), truncated_hint(outline)),
        }
    })
}

/// The hint that an exported handler is never asked.
pub(super) fn undeclared_tap(event: HookEvent) -> Problem {
    let export = Role::Hook(event).export();
    Problem {
        kind: Kind::UndeclaredTap.as_str(),
        message: format!(
            "it exports `{export}`, which is never called: to tap the event, write `{event}: {{}}` under `hooks` in \
             index.md"
        ),
    }
}

/// The problem that a component does not export the handler of a declared event.
pub(super) fn missing_tap(outline: &Outline, event: HookEvent) -> Problem {
    let mut problem = missing_export(outline, Role::Hook(event));
    problem.message.push_str(&format!(
        ", so nothing can handle {event}, which index.md declares under `hooks`; take `{event}` out there, or build a \
         handler of it into the component"
    ));
    problem.message.push_str(truncated_hint(outline));
    problem
}

/// A component that cannot be used in `role`, with everything that is wrong with it.
pub(super) fn unfit(file: &ComponentFile, role: Role, outline: &Outline, problems: &[Problem]) -> Error {
    let kind = |kind: Kind| problems.iter().any(|problem| problem.kind == kind.as_str()).then_some(kind);
    let first = kind(Kind::WitVersion).or(kind(Kind::MissingExport)).or(kind(Kind::UnknownImport));
    let mut message = format!("`{}` cannot be used as {}:", file.path().display(), name(role));
    for problem in problems {
        message.push_str(&format!("\n- {}", problem.message));
    }
    message.push_str(&format!("\nexports found: {}{}", list(&outline.exports), truncated_hint(outline)));
    message.push_str(&format!("\nexport expected: {}", role.export()));
    message.push_str(&format!("\nimports found: {}", list(&outline.imports)));
    if problems.iter().any(|problem| problem.message.starts_with("it imports")) {
        message.push_str(&format!("\nimports offered: {}", offered()));
    }
    message.push_str(&format!("\nfix: {}", fix(role, first)));
    let problems: Vec<_> =
        problems.iter().map(|problem| serde_json::json!({"kind": problem.kind, "message": problem.message})).collect();
    error(Some(role), first.unwrap_or(Kind::MissingExport), message).with_detail("problems", problems)
}

fn fix(role: Role, kind: Option<Kind>) -> String {
    let world = role.world();
    match kind {
        Some(Kind::WitVersion) => {
            format!(
                "build it against the wit/ of this version of YouYou (world `{world}`), or use a YouYou that serves its version"
            )
        }
        Some(Kind::UnknownImport) => {
            format!(
                "build it for the world `{world}`, which imports `log` and WASI 0.2 only; leave out what needs more"
            )
        }
        _ => format!("build it for the world `{world}` of wit/, with the guest SDK or with wit-bindgen"),
    }
}

/// A file that is cut between two sections reads as a component that exports nothing.
fn truncated_hint(outline: &Outline) -> &'static str {
    if outline.exports.is_empty() { " (is the file truncated?)" } else { "" }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn name(role: Role) -> String {
    match role {
        Role::Tool => "a tool".to_owned(),
        Role::Hook(event) => format!("a handler of {event}"),
    }
}

fn expected(file: &ComponentFile, role: Option<Role>) -> String {
    let path = file.path().display();
    match role {
        Some(role) => format!("expected a component that exports `{}` in `{path}`", role.export()),
        None => format!("expected a component in `{path}`"),
    }
}

fn error(role: Option<Role>, kind: Kind, message: String) -> Error {
    let code = match role {
        Some(Role::Hook(_)) => ErrorCode::HookFailed,
        Some(Role::Tool) | None => ErrorCode::ToolExecutionError,
    };
    Error::new(code, message).with_kind(kind.as_str())
}
