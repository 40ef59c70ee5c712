//! From the document of a call to the author's function and back: the one path that the component and the tests share.

use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::de::StrRead;

use crate::{answer::Answer, document::ToolInput, document::ToolOutput, error::GuestError};

/// What a function with [`tool`](macro@crate::tool) can take as its arguments: what has `Deserialize` and `JsonSchema`.
#[diagnostic::on_unimplemented(
    message = "a tool cannot take `{Self}` as its arguments",
    label = "put `#[args]` on this type",
    note = "`#[youyou_guest::args]` derives `Deserialize` and `JsonSchema`"
)]
pub trait Arguments: DeserializeOwned + JsonSchema {}

impl<A: DeserializeOwned + JsonSchema> Arguments for A {}

/// The arguments of a function that takes none.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub struct NoArgs {}

/// A function that can be a tool. `Signature` is its shape as a function pointer, found by the compiler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool",
    note = "a tool is `fn() -> R`, `fn(Args) -> R` or `fn(Args, &ToolInput) -> R`, where `Args` has `#[args]` and `R` is \
            an `Answer`"
)]
pub trait Handler<Signature> {
    /// The arguments that it reads.
    type Args: DeserializeOwned + JsonSchema;

    /// Answers one call.
    fn handle(&self, args: Self::Args, input: &ToolInput) -> ToolOutput;
}

impl<F: Fn() -> R, R: Answer> Handler<fn() -> R> for F {
    type Args = NoArgs;

    fn handle(&self, _: NoArgs, _: &ToolInput) -> ToolOutput {
        self().into_output()
    }
}

impl<F: Fn(A) -> R, A: Arguments, R: Answer> Handler<fn(A) -> R> for F {
    type Args = A;

    fn handle(&self, args: A, _: &ToolInput) -> ToolOutput {
        self(args).into_output()
    }
}

impl<F: Fn(A, &ToolInput) -> R, A: Arguments, R: Answer> Handler<fn(A, &ToolInput) -> R> for F {
    type Args = A;

    fn handle(&self, args: A, input: &ToolInput) -> ToolOutput {
        self(args, input).into_output()
    }
}

/// Reads the arguments and calls the function.
///
/// # Errors
/// `INVALID_ARGUMENTS` when the function cannot read them; the message names the field.
pub(crate) fn run<S, H: Handler<S>>(handler: &H, input: &ToolInput) -> Result<ToolOutput, GuestError> {
    Ok(handler.handle(read(input.arguments.get())?, input))
}

fn read<A: DeserializeOwned>(arguments: &str) -> Result<A, GuestError> {
    let mut json = serde_json::Deserializer::<StrRead<'_>>::from_str(arguments);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let cause = without_position(&error.into_inner());
        GuestError::invalid_arguments(if path == "." {
            format!("the arguments do not fit: {cause}")
        } else {
            format!("argument `{path}` does not fit: {cause}")
        })
    })
}

/// The arguments are one line that no person wrote, so a column in it helps nobody.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Args {
        text: String,
        #[serde(default)]
        ranges: Vec<Range>,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Range {
        start: u8,
    }

    fn tool(args: Args, input: &ToolInput) -> String {
        let starts: Vec<u8> = args.ranges.iter().map(|range| range.start).collect();
        format!("{} {} {} {starts:?}", input.call_id, input.tool_name, args.text)
    }

    fn message(arguments: &str) -> String {
        let answer = testing::call(tool, arguments);
        let error = answer.guest_error().expect("no answer");
        assert_eq!(error.code, "INVALID_ARGUMENTS");
        error.message.clone()
    }

    #[test]
    fn the_arguments_reach_the_function() {
        let answer = testing::call(tool, r#"{"ranges":[{"start":1},{"start":2}],"text":"a","extra":null}"#);
        assert_eq!(answer.content(), "call-1 tool a [1, 2]");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        assert_eq!(message("{}"), "the arguments do not fit: missing field `text`");
        assert_eq!(
            message(r#"{"text":5}"#),
            "argument `text` does not fit: invalid type: integer `5`, expected a string"
        );
        assert_eq!(
            message(r#"{"text":"a","ranges":[{"start":1},{"start":300}]}"#),
            "argument `ranges[1].start` does not fit: invalid value: integer `300`, expected u8"
        );
    }

    /// K-23: a struct of serde reads an array too; a tool does not.
    #[test]
    fn an_array_in_place_of_the_object_is_refused() {
        assert_eq!(message(r#"["a"]"#), "the arguments are an array; expected a JSON object");
    }

    #[test]
    fn a_function_without_arguments_is_a_tool_as_well() {
        assert_eq!(testing::call(|| "now", "{}").content(), "now");
    }
}
