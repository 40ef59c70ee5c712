//! K-60: every file that is not what it should be, and the one message that says so.

use std::path::Path;

use youyou_api::HookEvent;

use super::*;

/// A component with these imports and exports; the exports are instances of one function. It holds no names, so that
/// its last section is one that counts.
fn component(imports: &[&str], exports: &[&str]) -> Vec<u8> {
    let mut text = String::from("(component\n");
    for import in imports {
        text.push_str(&format!("  (import \"{import}\" (instance))\n"));
    }
    text.push_str("  (core module (func (export \"f\")) (memory 3))\n  (core instance (instantiate 0))\n");
    text.push_str("  (func (canon lift (core func 0 \"f\")))\n  (instance (export \"run\" (func 0)))\n");
    for export in exports {
        text.push_str(&format!("  (export \"{export}\" (instance {}))\n", imports.len()));
    }
    text.push(')');
    wat::parse_str(text).expect("the text is well-formed")
}

fn checked(bytes: &[u8], role: Role) -> Result<(), Error> {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("tool.wasm");
    std::fs::write(&path, bytes).expect("written");
    check(&path, role)
}

fn refused(bytes: &[u8]) -> (String, String) {
    let error = checked(bytes, Role::Tool).expect_err("is refused");
    (error.kind().expect("has a kind").to_owned(), error.message)
}

#[track_caller]
fn assert_refused(bytes: &[u8], kind: &str, parts: &[&str]) {
    let (found, message) = refused(bytes);
    assert_eq!(found, kind, "{message}");
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in: {message}");
    }
}

const TOOL: &str = "youyou:plugin/tool@1.0.0";

/// K-60.
#[test]
fn each_file_that_is_no_component_has_its_own_message() {
    assert_refused(b"", "EMPTY_FILE", &["an empty file", "tool.wasm", TOOL, "build it again"]);
    assert_refused(b"\0as", "TRUNCATED", &["3 bytes", "truncated"]);
    assert_refused(b"\0asm\x0d\0", "TRUNCATED", &["6 bytes"]);
    assert_refused(b"#!/bin/sh\necho hi\n", "TEXT", &["a text file", "`command:`"]);
    assert_refused(b";; hello\n  (component)\n", "TEXT", &["the text form of WebAssembly", "wasm-tools parse"]);
    assert_refused(b"PK\x03\x04\0\0\0\0", "NOT_WASM", &["[50, 4b, 03, 04]", "`\\0asm`"]);
    assert_refused(b"\0asm\x0d\0\x01\0\x63\x01\0", "INVALID_WASM", &["at byte"]);
}

/// K-60.
#[test]
fn a_core_module_is_told_from_one_for_wasi_preview_1() {
    let plain = wat::parse_str("(module (func (export \"run\")))").expect("well-formed");
    assert_refused(&plain, "CORE_MODULE", &["a core WebAssembly module;", "--target wasm32-wasip2"]);
    let wasip1 =
        wat::parse_str(r#"(module (import "wasi_snapshot_preview1" "fd_write" (func)))"#).expect("well-formed");
    assert_refused(&wasip1, "CORE_MODULE", &["WASI preview 1", "--adapt"]);
}

/// K-60.
#[test]
fn precompiled_code_is_refused() {
    let engine = wasmtime::Engine::default();
    let compiled = engine.precompile_component(&component(&[], &[TOOL])).expect("compiles");
    assert_refused(&compiled, "PRECOMPILED", &[".cwasm", "the .wasm file it was made from"]);
}

/// K-60: cut anywhere, a component is never taken for a whole one.
#[test]
fn a_truncated_component_is_refused_wherever_it_is_cut() {
    let whole = component(&["youyou:plugin/log@1.0.0"], &[TOOL]);
    checked(&whole, Role::Tool).expect("the whole one fits");
    for length in 1..whole.len() {
        let (kind, message) = refused(&whole[..length]);
        let between_sections = kind == "MISSING_EXPORT" && message.contains("(is the file truncated?)");
        assert!(kind == "TRUNCATED" || between_sections, "{length} of {}: {kind}: {message}", whole.len());
    }
}

/// K-60.
#[test]
fn a_component_without_our_export_is_told_what_it_has_and_what_it_needs() {
    let bytes = component(&["wasi:io/poll@0.2.6"], &["acme:other/thing@1.0.0", "youyou:plugin/turn-end@1.0.0"]);
    assert_refused(
        &bytes,
        "MISSING_EXPORT",
        &[
            "does not export `youyou:plugin/tool@1.0.0`",
            "exports found: acme:other/thing@1.0.0, youyou:plugin/turn-end@1.0.0",
            "imports found: wasi:io/poll@0.2.6",
            "world `tool-plugin`",
        ],
    );
}

/// K-60.
#[test]
fn an_export_of_another_version_is_named_with_the_one_that_is_served() {
    let bytes = component(&[], &["youyou:plugin/tool@2.0.0"]);
    assert_refused(&bytes, "WIT_VERSION", &["youyou:plugin/tool@2.0.0", TOOL, "fix: "]);
}

/// K-60: all of them at once, not only the first.
#[test]
fn every_unknown_import_is_listed() {
    let bytes = component(&["acme:store/kv@1.0.0", "youyou:plugin/log@1.0.0", "wasi:nn/graph@0.2.0"], &[TOOL]);
    let (kind, message) = refused(&bytes);
    assert_eq!(kind, "UNKNOWN_IMPORT");
    assert!(message.contains("- it imports `acme:store/kv@1.0.0`"), "{message}");
    assert!(message.contains("- it imports `wasi:nn/graph@0.2.0`"), "{message}");
    assert!(!message.contains("- it imports `youyou:plugin/log@1.0.0`"), "{message}");
    assert!(message.contains("imports offered: youyou:plugin/log@1.0.0"), "{message}");
}

#[test]
fn more_exports_than_expected_are_fine() {
    let bytes = component(&[], &["acme:other/thing@1.0.0", TOOL, "youyou:plugin/turn-end@1.0.0"]);
    checked(&bytes, Role::Tool).expect("fits as a tool");
    checked(&bytes, Role::Hook(HookEvent::TurnEnd)).expect("fits as a handler");
    let error = checked(&bytes, Role::Hook(HookEvent::TurnStart)).expect_err("does not fit");
    assert_eq!(error.origin, youyou_api::ErrorSource::Plugin);
    assert!(error.message.contains("a handler of TurnStart"), "{error}");
}

/// K-60, K-66: a missing file, a directory, a pipe in its place.
#[test]
fn a_path_without_a_file_is_told_what_is_there() {
    let dir = tempfile::tempdir().expect("a directory");
    let missing = check(&dir.path().join("none.wasm"), Role::Tool).expect_err("missing");
    assert_eq!(missing.kind(), Some("COMPONENT_MISSING"));
    assert!(missing.message.contains("there is no component at"), "{missing}");
    let directory = check(dir.path(), Role::Tool).expect_err("a directory");
    assert_eq!(directory.kind(), Some("COMPONENT_MISSING"));
    assert!(directory.message.contains("a directory"), "{directory}");
    check(Path::new("/dev/null"), Role::Tool).expect_err("no regular file");
}

#[test]
fn an_inspection_shows_the_outside_of_a_component() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("both.wasm");
    let bytes = component(
        &["wasi:sockets/tcp@0.2.0", "wasi:cli/environment@0.2.6"],
        &[TOOL, "youyou:plugin/before-tool-use@1.0.0"],
    );
    std::fs::write(&path, &bytes).expect("written");
    let found = inspect(&path).expect("a component");
    assert!(found.tool);
    assert_eq!(found.taps, [HookEvent::BeforeToolUse]);
    assert_eq!(found.asks, Asks { files: false, environment: true, network: true });
    assert_eq!((found.size_bytes, found.initial_memory_bytes), (bytes.len() as u64, 3 * 64 * 1024));
    assert_eq!(found.sha256, hex(&Sha256::digest(&bytes)));
    assert_eq!(found.problems, []);
}

#[test]
fn an_inspection_of_a_component_without_a_role_says_so() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("none.wasm");
    std::fs::write(&path, component(&["acme:store/kv@1.0.0"], &["acme:other/thing@1.0.0"])).expect("written");
    let kinds: Vec<_> = inspect(&path).expect("a component").problems.iter().map(|problem| problem.kind).collect();
    assert_eq!(kinds, ["MISSING_EXPORT", "UNKNOWN_IMPORT"]);
}

fn taps_of(exports: &[&str], declared: &[HookEvent]) -> TapCheck {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("plugin.wasm");
    std::fs::write(&path, component(&["wasi:io/poll@0.2.6"], exports)).expect("written");
    check_taps(&path, declared).expect("a component")
}

/// A component's exports are its taps (DESIGN §7).
#[test]
fn a_component_that_exports_what_is_declared_has_no_findings() {
    let found = taps_of(
        &["youyou:plugin/turn-end@1.0.0", "youyou:plugin/before-tool-use@1.0.0"],
        &[HookEvent::BeforeToolUse, HookEvent::TurnEnd],
    );
    assert_eq!(found.taps, [HookEvent::TurnEnd, HookEvent::BeforeToolUse]);
    assert_eq!((found.problems, found.hints), (vec![], vec![]));
}

#[test]
fn a_declared_event_without_a_handler_is_one_problem_and_a_handler_that_is_not_declared_a_hint() {
    let found = taps_of(
        &["youyou:plugin/turn-end@1.0.0", "youyou:plugin/turn-start@2.0.0"],
        &[HookEvent::SessionEnd, HookEvent::TurnStart],
    );
    let [missing, version] = &found.problems[..] else { panic!("{:?}", found.problems) };
    assert_eq!((missing.kind, version.kind), ("MISSING_EXPORT", "WIT_VERSION"));
    assert!(missing.message.contains("`youyou:plugin/session-end@1.0.0`"), "{missing:?}");
    assert!(missing.message.contains("take `SessionEnd` out there"), "{missing:?}");
    assert!(version.message.contains("this host serves `youyou:plugin/turn-start@1.0.0`"), "{version:?}");
    let [hint] = &found.hints[..] else { panic!("{:?}", found.hints) };
    assert_eq!(hint.kind, "UNDECLARED_TAP");
    assert!(hint.message.contains("write `TurnEnd: {}` under `hooks`"), "{hint:?}");
}

#[test]
fn taps_of_what_is_no_component_are_an_error_of_the_plugin() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("plugin.wasm");
    std::fs::write(&path, b"#!/bin/sh\n").expect("written");
    let error = check_taps(&path, &[]).expect_err("a script");
    assert_eq!((error.code, error.kind()), (youyou_api::ErrorCode::HookFailed, Some("TEXT")));
}
