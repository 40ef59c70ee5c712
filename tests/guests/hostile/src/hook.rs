//! The hook handlers: the mode stands in the plugin's configuration, and what a tool would have answered is the reason of
//! an abort, where a test can read it.

use crate::{
    bindings::exports::youyou::plugin::{
        after_tool_use,
        before_tool_use::{self, GuestError, HookOutcome},
        tool,
    },
    run::{Arguments, Hostile},
};

impl before_tool_use::Guest for Hostile {
    fn handle(payload: before_tool_use::Payload) -> Result<HookOutcome, GuestError> {
        handle(payload.tool_name, payload.plugin_config)
    }
}

impl after_tool_use::Guest for Hostile {
    fn handle(payload: after_tool_use::Payload) -> Result<HookOutcome, GuestError> {
        handle(payload.tool_name, payload.plugin_config)
    }
}

fn handle(tool_name: String, config: String) -> Result<HookOutcome, GuestError> {
    let arguments = Arguments::parse(&config)?;
    match arguments.text("mode") {
        "continue" => Ok(HookOutcome::Continue),
        "data" => Ok(HookOutcome::ContinueWith(arguments.text("data").to_owned())),
        "abort" => Ok(HookOutcome::Abort(arguments.text("message").to_owned())),
        _ => {
            let input = tool::ToolInput { call_id: "hook".to_owned(), tool_name, arguments: config };
            <Hostile as tool::Guest>::run(input).map(|output| HookOutcome::Abort(output.content))
        }
    }
}
