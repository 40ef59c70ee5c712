//! The border of the component: what is generated from `wit/`, and the conversions at it. Only on `wasm32`.
//!
//! Each world has a module of its own, whose export macro puts it into a component; a component exports only the
//! worlds whose macro was used. The macros in `youyou-guest-macros` call these modules.

use std::fmt;

use crate::{log::Level, panic::PanicReport};

pub mod hook;

pub mod tool {
    //! The world of a tool.

    use crate::{call, document, error, panic};

    pub use bindings::{
        export_tool,
        exports::youyou::plugin::tool::{Guest, GuestError, ToolInput, ToolOutput},
    };

    #[allow(missing_docs, unreachable_pub, clippy::all, clippy::undocumented_unsafe_blocks, reason = "generated")]
    pub mod bindings {
        wit_bindgen::generate!({
            path: "../../wit",
            world: "tool-plugin",
            export_macro_name: "export_tool",
            pub_export_macro: true,
        });
    }

    /// Answers one call with the author's function.
    pub fn run<S, H: call::Handler<S>>(handler: H, input: ToolInput) -> Result<ToolOutput, GuestError> {
        panic::install_hook();
        document::ToolInput::new(input.call_id, input.tool_name, input.arguments)
            .and_then(|input| call::run(&handler, &input))
            .map(to_wit)
            .map_err(error_to_wit)
    }

    fn to_wit(output: document::ToolOutput) -> ToolOutput {
        let metadata = output.metadata.map(|text| String::from(Box::<str>::from(text)));
        ToolOutput { content: output.content, is_error: output.is_error, metadata }
    }

    fn error_to_wit(error: error::GuestError) -> GuestError {
        GuestError { code: error.code, message: error.message }
    }
}

use tool::bindings::youyou::plugin::log as host;

pub(crate) fn write_log(level: Level, message: fmt::Arguments<'_>) {
    let level = match level {
        Level::Trace => host::Level::Trace,
        Level::Debug => host::Level::Debug,
        Level::Info => host::Level::Info,
        Level::Warn => host::Level::Warn,
        Level::Error => host::Level::Error,
    };
    host::write(level, &message.to_string());
}

pub(crate) fn report_panic(report: &PanicReport) {
    host::report_panic(&report.message, &report.file, report.line, report.column);
}
