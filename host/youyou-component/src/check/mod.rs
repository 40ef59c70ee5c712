//! Looks at a component's file before anything is compiled: what it is, what it imports and exports, and whether that
//! fits (K-60).
//!
//! It reads names, not types, and does not validate the code inside; that is the compiler's work.

mod contract;
mod report;
mod scan;

use std::path::Path;

use serde::Serialize;
use sha2::{Digest, Sha256};
use youyou_api::{Error, HookEvent};

pub use self::contract::Role;
use self::{
    contract::{Standing, export_standing, import_standing, package},
    scan::{Outline, Scan},
};
use crate::{failure, file::ComponentFile, kind::Kind};

/// What the outside of a component shows, for `youyou inspect`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inspection {
    /// Whether it can be used as a tool.
    pub tool: bool,
    /// The events it can handle.
    pub taps: Vec<HookEvent>,
    /// What it imports, in the order of the binary.
    pub imports: Vec<String>,
    /// What it exports, in the order of the binary; more than what is expected is fine.
    pub exports: Vec<String>,
    /// What it could make use of if it were granted.
    pub asks: Asks,
    /// Size of the file.
    pub size_bytes: u64,
    /// How much memory an instance starts with; `memory_mb` must allow it.
    pub initial_memory_bytes: u64,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// Why it cannot be used, whatever the role; empty when it can.
    pub problems: Vec<Problem>,
}

/// What a component's imports could make use of, each only as far as `permissions` grants it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Asks {
    /// Files and directories: `permissions.read` and `permissions.write`.
    pub files: bool,
    /// Environment variables: `permissions.env`.
    pub environment: bool,
    /// Sockets or HTTP requests: `permissions.net`.
    pub network: bool,
}

/// One reason why a component cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// A stable name: `MISSING_EXPORT`, `WIT_VERSION` or `UNKNOWN_IMPORT`.
    pub kind: &'static str,
    /// What was found and what was expected.
    pub message: String,
}

/// Reads what a file shows to the outside, without compiling it.
///
/// # Errors
/// `TOOL_EXECUTION_ERROR` whose `details.kind` is COMPONENT_MISSING, EMPTY_FILE, TRUNCATED, TEXT, NOT_WASM,
/// PRECOMPILED or CORE_MODULE when the file is no component. A component that does not fit is no error here; see
/// [`Inspection::problems`].
pub fn inspect(path: &Path) -> Result<Inspection, Error> {
    let file = ComponentFile::read(path)?;
    let outline = outline(&file, None)?;
    let mut problems = import_problems(&outline);
    let (tool, taps) = (exports(&outline, Role::Tool), taps(&outline));
    if !tool && taps.is_empty() {
        problems.insert(0, report::no_role(&outline));
    }
    Ok(Inspection {
        tool,
        taps,
        asks: asks(&outline),
        size_bytes: file.bytes().len() as u64,
        initial_memory_bytes: outline.initial_memory_bytes,
        sha256: hex(&Sha256::digest(file.bytes())),
        problems,
        imports: outline.imports,
        exports: outline.exports,
    })
}

/// Says whether a file can be used in a role, as far as its outside shows.
///
/// # Errors
/// `TOOL_EXECUTION_ERROR`, or `HOOK_FAILED` for a handler, with one message that lists everything found, everything expected and the fix. Its
/// `details.kind` is one of those of [`inspect`], or MISSING_EXPORT, WIT_VERSION or UNKNOWN_IMPORT.
pub fn check(path: &Path, role: Role) -> Result<(), Error> {
    check_file(&ComponentFile::read(path)?, role)
}

/// How the handlers that a component exports stand to the events that an index.md declares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TapCheck {
    /// The events it can handle, whether declared or not.
    pub taps: Vec<HookEvent>,
    /// Why it cannot serve what is declared: MISSING_EXPORT or WIT_VERSION for an event, UNKNOWN_IMPORT or WIT_VERSION
    /// for an import. Empty when it can.
    pub problems: Vec<Problem>,
    /// UNDECLARED_TAP for each handler that is there and is never asked.
    pub hints: Vec<Problem>,
}

/// Compares the handlers that a component exports with the events that an index.md declares, without compiling it.
///
/// # Errors
/// `HOOK_FAILED` when the file is no component; its `details.kind` is one of those of [`inspect`].
pub fn check_taps(path: &Path, declared: &[HookEvent]) -> Result<TapCheck, Error> {
    let file = ComponentFile::read(path).map_err(failure::of_hook)?;
    let outline = outline(&file, None).map_err(failure::of_hook)?;
    let taps = taps(&outline);
    let missing = declared.iter().filter(|event| !taps.contains(event));
    let undeclared = taps.iter().filter(|event| !declared.contains(event));
    Ok(TapCheck {
        problems: missing.map(|event| report::missing_tap(&outline, *event)).chain(import_problems(&outline)).collect(),
        hints: undeclared.map(|event| report::undeclared_tap(*event)).collect(),
        taps,
    })
}

pub(crate) fn check_file(file: &ComponentFile, role: Role) -> Result<(), Error> {
    let outline = outline(file, Some(role))?;
    let mut problems = import_problems(&outline);
    if !exports(&outline, role) {
        problems.insert(0, report::missing_export(&outline, role));
    }
    if problems.is_empty() { Ok(()) } else { Err(report::unfit(file, role, &outline, &problems)) }
}

/// The outline of a component, or why the file is none.
fn outline(file: &ComponentFile, role: Option<Role>) -> Result<Outline, Error> {
    match scan::scan(file.bytes()) {
        Ok(Scan::Component(outline)) => Ok(outline),
        Ok(Scan::CoreModule { imports_wasip1 }) => Err(report::core_module(file, role, imports_wasip1)),
        Err(reason) => Err(report::no_component(file, role, &reason)),
    }
}

fn exports(outline: &Outline, role: Role) -> bool {
    outline.exports.iter().any(|export| export_standing(export, role) == Standing::Fits)
}

/// The events whose handlers are exported.
fn taps(outline: &Outline) -> Vec<HookEvent> {
    HookEvent::ALL.iter().copied().filter(|event| exports(outline, Role::Hook(*event))).collect()
}

fn import_problems(outline: &Outline) -> Vec<Problem> {
    let problem = |import: &String| match import_standing(import) {
        Standing::Fits => None,
        Standing::OtherVersion => Some(Problem {
            kind: Kind::WitVersion.as_str(),
            message: format!("it imports `{import}`, a version that this host does not offer"),
        }),
        Standing::Unrelated => Some(Problem {
            kind: Kind::UnknownImport.as_str(),
            message: format!("it imports `{import}`, which this host does not offer"),
        }),
    };
    outline.imports.iter().filter_map(problem).collect()
}

fn asks(outline: &Outline) -> Asks {
    let imports = |wanted: &[&str]| outline.imports.iter().any(|i| wanted.iter().any(|w| package(i) == Some(w)));
    Asks {
        files: imports(&["wasi:filesystem"]),
        environment: outline.imports.iter().any(|import| import.starts_with("wasi:cli/environment@")),
        network: imports(&["wasi:sockets", "wasi:http"]),
    }
}

/// The full names of all interfaces that a component may import, WASI's in `version`.
#[cfg(test)]
pub(crate) fn offered_imports(version: &str) -> Vec<String> {
    let wasi = contract::WASI.iter().flat_map(|(package, interfaces)| {
        interfaces.iter().map(move |interface| format!("{package}/{interface}@{version}"))
    });
    let own = ["log", "types"].map(|interface| format!("youyou:plugin/{interface}@1.0.0"));
    own.into_iter().chain(wasi).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
