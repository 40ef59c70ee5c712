//! The export: reads the mode and hands over to whatever misbehaves in that way.

use serde_json::Value;

use crate::{
    bindings::{
        self,
        exports::youyou::plugin::tool::{Guest, GuestError, ToolInput, ToolOutput},
        youyou::plugin::log::{self, Level},
    },
    burn, reach,
};

/// The component.
pub(crate) struct Hostile;

bindings::export!(Hostile with_types_in bindings);

/// The arguments of one call.
pub(crate) struct Arguments(Value);

impl Arguments {
    pub(crate) fn parse(text: &str) -> Result<Self, GuestError> {
        serde_json::from_str(text)
            .map(Self)
            .map_err(|error| GuestError { code: "BAD_ARGUMENTS".to_owned(), message: error.to_string() })
    }

    /// A text argument; empty when it is missing.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap_or_default()
    }

    /// A number argument; zero when it is missing.
    pub(crate) fn number(&self, name: &str) -> u64 {
        self.0[name].as_u64().unwrap_or_default()
    }
}

impl Guest for Hostile {
    fn run(input: ToolInput) -> Result<ToolOutput, GuestError> {
        let arguments = Arguments::parse(&input.arguments)?;
        match arguments.text("mode") {
            "panic" => {
                report_panics();
                panic!("{}", arguments.text("message"));
            }
            "panic-unreported" => panic!("{}", arguments.text("message")),
            "trap" => core::arch::wasm32::unreachable(),
            "exit" => std::process::exit(3),
            "loop" => burn::loop_for_ever(),
            "print-then-loop" => {
                println!("{}", arguments.text("message"));
                burn::loop_for_ever()
            }
            "recurse" => Ok(text(burn::recurse(arguments.number("from")).to_string())),
            "recurse-wide" => Ok(text(burn::recurse_wide(arguments.number("from")).to_string())),
            "allocate" => Ok(text(burn::allocate().to_string())),
            "allocate-politely" => Err(GuestError { code: "NO_ROOM".to_owned(), message: burn::allocate_politely() }),
            "print" => burn::print_for_ever(),
            "print-error" => burn::print_error_for_ever(),
            "log" => burn::log_for_ever(),
            "log-lines" => {
                (0..arguments.number("count")).for_each(|n| log::write(Level::Info, &format!("line {n}")));
                Ok(text("logged"))
            }
            "spin" => Ok(text(burn::spin(arguments.number("ms")).to_string())),
            "sleep" => {
                std::thread::sleep(std::time::Duration::from_millis(arguments.number("ms")));
                Ok(text("slept"))
            }
            "large-output" => Ok(text("x".repeat(arguments.number("bytes") as usize))),
            "guest-error" => {
                Err(GuestError { code: "NO_LUCK".to_owned(), message: arguments.text("message").to_owned() })
            }
            "is-error" => Ok(ToolOutput { is_error: true, ..text(arguments.text("message")) }),
            "metadata" => {
                Ok(ToolOutput { metadata: Some(arguments.text("metadata").to_owned()), ..text("with metadata") })
            }
            "stderr" => {
                eprintln!("{}", arguments.text("message"));
                core::arch::wasm32::unreachable()
            }
            "stdout" => {
                println!("{}", arguments.text("message"));
                Ok(text("printed"))
            }
            "count" => Ok(text(burn::count_calls().to_string())),
            "echo" => Ok(text(format!(
                r#"{{"call_id":{},"tool_name":{},"arguments":{}}}"#,
                Value::from(input.call_id),
                Value::from(input.tool_name),
                input.arguments
            ))),
            "read-then-panic" => {
                let read = std::fs::read_to_string(arguments.text("path"));
                panic!("cannot work without the file: {read:?}");
            }
            mode => reach::attempt(mode, &arguments)
                .map(|result| result.map_or_else(|error| ToolOutput { is_error: true, ..text(error) }, text))
                .ok_or_else(|| GuestError { code: "UNKNOWN_MODE".to_owned(), message: format!("no mode {mode:?}") }),
        }
    }
}

fn text(content: impl Into<String>) -> ToolOutput {
    ToolOutput { content: content.into(), is_error: false, metadata: None }
}

/// What the guest SDK does for every author.
fn report_panics() {
    std::panic::set_hook(Box::new(|info| {
        let message = info.payload_as_str().unwrap_or("no message");
        let (file, line, column) = info.location().map_or(("?", 0, 0), |l| (l.file(), l.line(), l.column()));
        log::report_panic(message, file, line, column);
    }));
}
