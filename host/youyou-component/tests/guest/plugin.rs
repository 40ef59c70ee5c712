//! Handlers that run the hostile guest, payloads for them, and what they answer.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::time::Duration;

use serde_json::{Map, Value};
use youyou_api::{
    CallContext, Error, HookEvent, HookHandler, HookOutcome, HookPayload, PluginId, SessionId, ToolName, TurnId,
    hook::{AfterToolUse, BeforeToolUse, HookEventPayload, PAYLOAD_VERSION, TurnEnd},
};
use youyou_component::{ComponentHook, ComponentHost, ComponentPlugin, ComponentSpec, HookSettings, Instancing};

use crate::guest::{Fixture, hostile};

/// A plugin that misbehaves as its configuration says.
pub(crate) fn plugin(
    host: &ComponentHost,
    id: &str,
    instancing: Instancing,
    change: impl FnOnce(&mut ComponentSpec),
) -> ComponentPlugin {
    let mut component = ComponentSpec { path: hostile(), ..ComponentSpec::default() };
    change(&mut component);
    ComponentPlugin::new(host.clone(), PluginId::new(id).expect("legal"), component, instancing)
}

/// Its handler of BeforeToolUse.
pub(crate) fn before(id: &str, instancing: Instancing) -> ComponentHook {
    plugin(&Fixture::shared().host, id, instancing, |_| {}).handler(HookEvent::BeforeToolUse, HookSettings::default())
}

/// A payload of BeforeToolUse whose plugin has this configuration.
pub(crate) fn about_to_run(config: Value) -> HookPayload {
    payload(
        HookEventPayload::BeforeToolUse(BeforeToolUse {
            session_id: SessionId::new("s"),
            turn_id: TurnId::new("t"),
            tool_name: ToolName::new("word-count").expect("legal"),
            arguments: Map::new(),
        }),
        config,
    )
}

/// A payload of AfterToolUse whose plugin has this configuration.
pub(crate) fn has_run(config: Value) -> HookPayload {
    payload(
        HookEventPayload::AfterToolUse(AfterToolUse {
            session_id: SessionId::new("s"),
            turn_id: TurnId::new("t"),
            tool_name: ToolName::new("word-count").expect("legal"),
            output: "2 words".to_owned(),
            duration_ms: 3,
            success: true,
        }),
        config,
    )
}

/// A payload of TurnEnd.
pub(crate) fn turn_ended() -> HookPayload {
    let event =
        TurnEnd { session_id: SessionId::new("s"), turn_id: TurnId::new("t"), assistant_output: "done".to_owned() };
    payload(HookEventPayload::TurnEnd(event), Value::Null)
}

fn payload(event: HookEventPayload, plugin_config: Value) -> HookPayload {
    HookPayload { payload_version: PAYLOAD_VERSION, event, plugin_config }
}

/// Asks with all the time that a test has.
pub(crate) async fn ask(hook: &ComponentHook, payload: &HookPayload) -> Result<HookOutcome, Error> {
    ask_within(hook, payload, Duration::from_secs(60)).await
}

/// Loads the component first, so that the time is the guest's alone.
pub(crate) async fn ask_within(
    hook: &ComponentHook,
    payload: &HookPayload,
    timeout: Duration,
) -> Result<HookOutcome, Error> {
    hook.warm_up().await.expect("loads");
    hook.handle(payload, context(timeout)).await
}

pub(crate) fn context(timeout: Duration) -> CallContext {
    Fixture::context(timeout)
}

/// What the guest said, which it does by aborting.
#[track_caller]
pub(crate) fn said(result: Result<HookOutcome, Error>) -> String {
    match result {
        Ok(HookOutcome::Abort { reason }) => reason,
        other => panic!("expected an abort, found {other:?}"),
    }
}
