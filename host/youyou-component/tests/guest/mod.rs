//! What the tests of this folder share: the hostile guest, tools that run it, and calls of them.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Duration,
};

use serde_json::Value;
use youyou_api::{CallContext, CallId, Error, ToolFailure, ToolHandler, ToolInput, ToolName, ToolOutput, ToolSpec};
use youyou_component::{ComponentHost, ComponentSpec, ComponentTool, HostConfig};

/// A host with a cache of its own, removed with it.
pub(crate) struct Fixture {
    pub(crate) host: ComponentHost,
    pub(crate) dir: tempfile::TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let host = host_with(Some(dir.path().join("cache")));
        Self { host, dir }
    }

    /// One host for all tests of a file, as in a process of its own.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Fixture> = OnceLock::new();
        SHARED.get_or_init(Self::new)
    }

    pub(crate) fn tool(&self, name: &str) -> ComponentTool {
        self.tool_with(name, |_| {})
    }

    pub(crate) fn tool_with(&self, name: &str, change: impl FnOnce(&mut ComponentSpec)) -> ComponentTool {
        tool_of(&self.host, name, &hostile(), change)
    }

    pub(crate) fn context(timeout: Duration) -> CallContext {
        CallContext::new(std::env::temp_dir(), timeout)
    }
}

pub(crate) fn host_with(cache_dir: Option<PathBuf>) -> ComponentHost {
    let mut config = HostConfig::default();
    config.cache_dir = cache_dir;
    ComponentHost::new(config).expect("a host")
}

pub(crate) fn tool_of(
    host: &ComponentHost,
    name: &str,
    path: &Path,
    change: impl FnOnce(&mut ComponentSpec),
) -> ComponentTool {
    let mut component = ComponentSpec { path: path.to_owned(), ..ComponentSpec::default() };
    change(&mut component);
    let spec = ToolSpec {
        name: ToolName::new(name).expect("legal"),
        description: "misbehaves on request".to_owned(),
        parameters: serde_json::json!({"type": "object"}),
        mutating: false,
    };
    ComponentTool::new(host.clone(), spec, component)
}

/// The built guest of tests/guests/hostile.
pub(crate) fn hostile() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"));
    let path = target.join("wasm32-wasip2/guest/hostile.wasm");
    assert!(path.is_file(), "run `cargo xtask guests` first: there is no {}", path.display());
    path
}

pub(crate) fn input(arguments: Value) -> ToolInput {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    ToolInput { call_id: CallId::new("call-1"), tool_name: ToolName::new("hostile").expect("legal"), arguments }
}

pub(crate) async fn call(tool: &ComponentTool, arguments: Value) -> Result<ToolOutput, ToolFailure> {
    call_within(tool, arguments, Duration::from_secs(60)).await
}

/// Loads the tool first, so that the time is the guest's alone.
pub(crate) async fn call_within(
    tool: &ComponentTool,
    arguments: Value,
    timeout: Duration,
) -> Result<ToolOutput, ToolFailure> {
    tool.warm_up().await.expect("loads");
    tool.call(input(arguments), Fixture::context(timeout)).await
}

#[track_caller]
pub(crate) fn outcome(result: Result<ToolOutput, ToolFailure>) -> ToolOutput {
    result.unwrap_or_else(|failure| panic!("the call failed: {failure}"))
}

#[track_caller]
pub(crate) fn error_of(result: Result<ToolOutput, ToolFailure>) -> Error {
    match result {
        Err(ToolFailure::ForModel(error)) => error,
        other => panic!("expected a failure for the model, found {other:?}"),
    }
}
