//! How a tool fails: [`ToolError`] by its author's will, [`GuestError`] when the SDK could not even call it.
//!
//! A `ToolError` is an answer: the model reads its message and may try something else, exactly as it reads what a
//! failing script prints. A `GuestError` says that there is no answer; an author does not make one.

use std::{error::Error, fmt};

use serde::{Deserialize, Serialize};

use crate::document::ToolOutput;

/// A failure that a tool reports to the model.
///
/// `?` makes one from a text, from the errors of `std` and `serde_json`, and from a `Box<dyn Error>`. For any other
/// error let the function return `Result<_, Box<dyn Error>>`, or name what was tried:
///
/// ```
/// # use youyou_guest::ToolError;
/// fn read(path: &str) -> Result<String, ToolError> {
///     if path.is_empty() {
///         return Err("path is empty: name a file".into());
///     }
///     std::fs::read_to_string(path).map_err(|error| ToolError::new("UNREADABLE", format!("cannot read {path}: {error}")))
/// }
/// assert_eq!(read("").unwrap_err().message(), "path is empty: name a file");
/// assert_eq!(read("no/such").unwrap_err().code(), Some("UNREADABLE"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    code: Option<String>,
    message: String,
}

impl ToolError {
    /// A failure with a stable name for programs, in `SCREAMING_SNAKE_CASE`. The host finds it in the metadata, as
    /// `{"code":…}`; the model reads only the message.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: Some(code.into()), message: message.into() }
    }

    /// A failure without a name, as `"…".into()` makes it. It has no metadata, just like a script's.
    pub fn msg(message: impl Into<String>) -> Self {
        Self { code: None, message: message.into() }
    }

    /// The name, if it was given one.
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// What the model reads.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ToolError {}

/// The answer that the model gets.
impl From<ToolError> for ToolOutput {
    fn from(error: ToolError) -> Self {
        #[derive(Serialize)]
        struct Metadata {
            code: String,
        }
        let output = ToolOutput::error(error.message);
        match error.code {
            Some(code) => output.with_metadata(Metadata { code }),
            None => output,
        }
    }
}

impl From<String> for ToolError {
    fn from(message: String) -> Self {
        Self::msg(message)
    }
}

impl From<&str> for ToolError {
    fn from(message: &str) -> Self {
        Self::msg(message)
    }
}

/// A `ToolError` in the box comes out as it went in.
impl From<Box<dyn Error>> for ToolError {
    fn from(error: Box<dyn Error>) -> Self {
        match error.downcast::<Self>() {
            Ok(error) => *error,
            Err(error) => Self::msg(with_causes(&*error)),
        }
    }
}

/// A `ToolError` in the box comes out as it went in.
impl From<Box<dyn Error + Send + Sync>> for ToolError {
    fn from(error: Box<dyn Error + Send + Sync>) -> Self {
        Self::from(error as Box<dyn Error>)
    }
}

macro_rules! from_errors {
    ($($error:ty),+ $(,)?) => {
        $(
            impl From<$error> for ToolError {
                fn from(error: $error) -> Self {
                    Self::msg(with_causes(&error))
                }
            }
        )+
    };
}

from_errors! {
    std::io::Error,
    std::env::VarError,
    std::fmt::Error,
    std::num::ParseIntError,
    std::num::ParseFloatError,
    std::num::TryFromIntError,
    std::str::Utf8Error,
    std::string::FromUtf8Error,
    std::time::SystemTimeError,
    serde_json::Error,
}

/// The error and what caused it, each said once.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let addition = error.to_string();
        if !text.ends_with(&addition) {
            text.push_str(": ");
            text.push_str(&addition);
        }
        cause = error.source();
    }
    text
}

/// Why there is no answer: the arguments did not fit what the code reads, or a handler of a plugin failed.
///
/// The host checks a tool's arguments against the `index.md` before it calls, so this means that the `index.md` and the code
/// disagree; [`assert_index_md`](crate::testing) keeps them in step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestError {
    /// A stable name for programs: `INVALID_ARGUMENTS`, or the name of a [`HookError`](crate::plugin::HookError).
    pub code: String,
    /// For a person: what was expected, what was found, where.
    pub message: String,
}

impl GuestError {
    pub(crate) fn invalid_arguments(message: String) -> Self {
        Self { code: "INVALID_ARGUMENTS".to_owned(), message }
    }
}

impl fmt::Display for GuestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl Error for GuestError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Outer(std::num::ParseIntError);

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("no number in line 3")
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    fn boxed() -> Result<(), Box<dyn Error>> {
        Err(Outer("x".parse::<u8>().expect_err("no number")).into())
    }

    #[test]
    fn a_boxed_error_keeps_its_causes() {
        let error = ToolError::from(boxed().expect_err("fails"));
        assert_eq!(error.message(), "no number in line 3: invalid digit found in string");
        assert_eq!(error.code(), None);
    }

    #[test]
    fn a_tool_error_comes_out_of_a_box_with_its_code() {
        let error = ToolError::new("NOT_FOUND", "no such city");
        assert_eq!(ToolError::from(Box::<dyn Error>::from(error.clone())), error);
        assert_eq!(ToolError::from(Box::<dyn Error + Send + Sync>::from(error.clone())), error);
    }

    /// Y3.3-4: without a code the answer is what a failing script gives.
    #[test]
    fn a_failure_becomes_an_answer_for_the_model() {
        assert_eq!(ToolOutput::from(ToolError::from("no")), ToolOutput::error("no"));
        let output = ToolOutput::from(ToolError::new("NOT_FOUND", "no"));
        assert_eq!(output, ToolOutput::error("no").with_metadata(crate::json!({"code": "NOT_FOUND"})));
    }
}
