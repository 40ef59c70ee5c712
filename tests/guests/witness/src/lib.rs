//! A plugin that logs the payload of every event, as its author's code sees it through the guest SDK.

use youyou_guest::{
    hook, log,
    plugin::{AfterToolUse, BeforeCompact, BeforeToolUse, SessionEnd, SessionStart, TurnEnd, TurnStart},
};

#[hook]
fn session_start(payload: SessionStart) {
    log::info!("{}", payload.to_json());
}

#[hook]
fn session_end(payload: SessionEnd) {
    log::info!("{}", payload.to_json());
}

#[hook]
fn turn_start(payload: TurnStart) {
    log::info!("{}", payload.to_json());
}

#[hook]
fn turn_end(payload: TurnEnd) {
    log::info!("{}", payload.to_json());
}

#[hook]
fn before_tool_use(payload: BeforeToolUse) {
    log::info!("{}", payload.to_json());
}

#[hook]
fn after_tool_use(payload: AfterToolUse) {
    log::info!("{}", payload.to_json());
}

#[hook]
fn before_compact(payload: BeforeCompact) {
    log::info!("{}", payload.to_json());
}
