//! The worlds of the seven events. All of them share the types and the log of the world of a tool.

use serde::de::DeserializeOwned;

use super::tool::bindings::youyou::plugin::types::{GuestError, HookOutcome};
use crate::{
    error, panic,
    plugin::{self, Answer, Event, HookHandler},
};

/// A module for an event: its world, and what its export calls. A field marked `json` comes as text.
macro_rules! events {
    ($($module:ident ($world:tt, $export:ident, $export_name:tt) $event:ident { $($field:ident $($json:ident)?),+ })+) => {
        $(
            pub mod $module {
                //! The world of one event.

                use super::{answer, json};
                use crate::plugin::{$event, HookHandler};

                pub use bindings::{
                    $export as export,
                    exports::youyou::plugin::$module::{Guest, GuestError, HookOutcome, Payload},
                };

                #[allow(
                    missing_docs,
                    unreachable_pub,
                    clippy::all,
                    clippy::undocumented_unsafe_blocks,
                    reason = "generated"
                )]
                pub mod bindings {
                    wit_bindgen::generate!({
                        path: "../../wit",
                        world: $world,
                        export_macro_name: $export_name,
                        pub_export_macro: true,
                        with: {
                            "youyou:plugin/types@1.0.0": crate::component::tool::bindings::youyou::plugin::types,
                            "youyou:plugin/log@1.0.0": crate::component::tool::bindings::youyou::plugin::log,
                        },
                    });
                }

                /// Answers one event with the author's function.
                pub fn handle(handler: impl HookHandler<$event>, payload: Payload) -> Result<HookOutcome, GuestError> {
                    answer(handler, || {
                        Ok($event {
                            $($field: events!(@field payload, $field $($json)?),)+
                            plugin_config: json("plugin_config", &payload.plugin_config)?,
                        })
                    })
                }
            }
        )+
    };
    (@field $payload:ident, $field:ident) => { $payload.$field };
    (@field $payload:ident, $field:ident json) => { json(stringify!($field), &$payload.$field)? };
}

events! {
    session_start ("session-start-plugin", export_session_start, "export_session_start") SessionStart { session_id }
    session_end ("session-end-plugin", export_session_end, "export_session_end") SessionEnd { session_id, message_count }
    turn_start ("turn-start-plugin", export_turn_start, "export_turn_start") TurnStart { session_id, turn_id, user_input json, dynamic_sections json }
    turn_end ("turn-end-plugin", export_turn_end, "export_turn_end") TurnEnd { session_id, turn_id, assistant_output }
    before_tool_use ("before-tool-use-plugin", export_before_tool_use, "export_before_tool_use") BeforeToolUse { session_id, turn_id, tool_name, arguments json }
    after_tool_use ("after-tool-use-plugin", export_after_tool_use, "export_after_tool_use") AfterToolUse { session_id, turn_id, tool_name, output, duration_ms, success }
    before_compact ("before-compact-plugin", export_before_compact, "export_before_compact") BeforeCompact { session_id, message_count, estimated_tokens, compact_prompt }
}

fn answer<E: Event>(
    handler: impl HookHandler<E>,
    payload: impl FnOnce() -> Result<E, error::GuestError>,
) -> Result<HookOutcome, GuestError> {
    panic::install_hook();
    payload().and_then(|payload| plugin::run(&handler, payload)).map(to_wit).map_err(error_to_wit)
}

/// A part of free form.
fn json<T: DeserializeOwned>(field: &str, text: &str) -> Result<T, error::GuestError> {
    serde_json::from_str(text).map_err(|error| error::GuestError {
        code: "INVALID_PAYLOAD".to_owned(),
        message: format!("the payload's `{field}` cannot be read: {error}; is the host of another version?"),
    })
}

fn to_wit(answer: Answer) -> HookOutcome {
    match answer {
        Answer::Proceed => HookOutcome::Continue,
        // Texts and values always serialise.
        Answer::ContinueWith(changes) => HookOutcome::ContinueWith(serde_json::to_string(&changes).unwrap_or_default()),
        Answer::Abort(reason) => HookOutcome::Abort(reason),
    }
}

fn error_to_wit(error: error::GuestError) -> GuestError {
    GuestError { code: error.code, message: error.message }
}
