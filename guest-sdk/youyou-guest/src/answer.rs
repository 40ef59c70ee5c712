//! [`Answer`]: what a tool's function may return.

use crate::{document::ToolOutput, error::ToolError};

/// What a tool's function may return: a text, a [`ToolOutput`], or a `Result` of one of these with an error that
/// converts into [`ToolError`].
#[diagnostic::on_unimplemented(
    message = "a tool cannot answer with `{Self}`",
    label = "not an answer",
    note = "a tool answers with `String`, `&'static str` or `ToolOutput`, or with a `Result` of one of these whose error \
            is `ToolError`, `String`, `&'static str`, `std::io::Error`, `serde_json::Error` or `Box<dyn Error>`"
)]
pub trait Answer {
    /// The answer as the host gets it. A failure is an answer too, see [`ToolError`].
    fn into_output(self) -> ToolOutput;
}

impl<T: Into<ToolOutput>> Answer for T {
    fn into_output(self) -> ToolOutput {
        self.into()
    }
}

impl<T: Into<ToolOutput>, E: Into<ToolError>> Answer for Result<T, E> {
    fn into_output(self) -> ToolOutput {
        match self {
            Ok(output) => output.into(),
            Err(error) => error.into().into(),
        }
    }
}
