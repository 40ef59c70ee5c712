//! The documents of a tool call, [`ToolInput`] and [`ToolOutput`].
//!
//! As JSON they are the same documents, byte for byte, that a script reads and that the host logs. Parts of free form
//! stay JSON text, so nothing is reordered or rounded on the way, and a small tool does not carry a tree of values.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::GuestError;

/// What a tool receives.
///
/// ```
/// # use youyou_guest::ToolInput;
/// let input = ToolInput::new("call-1", "word-count", r#"{"text":"one two"}"#)?;
/// assert_eq!(
///     input.to_json(),
///     r#"{"call_id":"call-1","tool_name":"word-count","arguments":{"text":"one two"}}"#
/// );
/// # Ok::<(), youyou_guest::GuestError>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolInput {
    /// Joins the call to its result.
    pub call_id: String,
    /// The tool that is called: the name of its folder.
    pub tool_name: String,
    /// The arguments, a JSON object as text; [`RawValue::get`] gives the text.
    pub arguments: Box<RawValue>,
}

impl ToolInput {
    /// The document of one call.
    ///
    /// # Errors
    /// `INVALID_ARGUMENTS` when `arguments` is not a JSON object.
    pub fn new(
        call_id: impl Into<String>,
        tool_name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Result<Self, GuestError> {
        let arguments = RawValue::from_string(arguments.into())
            .map_err(|error| GuestError::invalid_arguments(format!("the arguments are not JSON: {error}")))?;
        let found = match arguments.get().as_bytes().first() {
            Some(b'{') => return Ok(Self { call_id: call_id.into(), tool_name: tool_name.into(), arguments }),
            Some(b'[') => "an array",
            Some(b'"') => "a string",
            Some(b'n') => "null",
            Some(b't' | b'f') => "a boolean",
            _ => "a number",
        };
        Err(GuestError::invalid_arguments(format!("the arguments are {found}; expected a JSON object")))
    }

    /// The document as one line of JSON, as a script would read it on stdin.
    pub fn to_json(&self) -> String {
        // Text and JSON text always serialise.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What a tool answers.
///
/// ```
/// use youyou_guest::{ToolOutput, json};
/// let output = ToolOutput::text("2 words").with_metadata(json!({"words": 2}));
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ToolOutput {
    /// Text for the model.
    pub content: String,
    /// Whether the tool reports failure; the model reads the content either way.
    #[serde(default)]
    pub is_error: bool,
    /// Structured facts for the host, as JSON text; the model does not see them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Box<RawValue>>,
}

impl ToolOutput {
    /// A successful answer.
    pub fn text(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// An answer that reports failure to the model. A function that returns a `Result` gets the same with `Err`.
    pub fn error(content: impl Into<String>) -> Self {
        Self { content: content.into(), is_error: true, metadata: None }
    }

    /// The same answer with metadata, for which any serde type will do.
    ///
    /// # Panics
    /// When the value has no JSON form, which is so for a map whose keys are not text.
    #[must_use]
    #[track_caller]
    pub fn with_metadata(mut self, metadata: impl Serialize) -> Self {
        match serde_json::value::to_raw_value(&metadata) {
            Ok(text) => self.metadata = Some(text),
            Err(error) => panic!("the metadata cannot be written as JSON: {error}"),
        }
        self
    }
}

impl From<String> for ToolOutput {
    fn from(content: String) -> Self {
        Self::text(content)
    }
}

impl From<&str> for ToolOutput {
    fn from(content: &str) -> Self {
        Self::text(content)
    }
}

/// Equal when their JSON is.
impl PartialEq for ToolOutput {
    fn eq(&self, other: &Self) -> bool {
        let metadata = |output: &Self| output.metadata.as_ref().map(|text| text.get().to_owned());
        (&self.content, self.is_error, metadata(self)) == (&other.content, other.is_error, metadata(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    const ARGUMENTS: &str = r#"{"z":1,"a":{"y":[2.50,1e3,18446744073709551616],"b":"ä\u0000\"\\"}}"#;

    /// C-2: what the host sends and what the SDK writes are one document.
    #[test]
    fn the_input_document_is_the_hosts_byte_for_byte() {
        for arguments in ["{}", r#"{"text":"one two"}"#, r#"{"z":1,"a":{"y":2,"b":[null,true,-1.5,"ä\n"]},"é":""}"#] {
            let host = youyou_api::ToolInput {
                call_id: youyou_api::CallId::new("call \"1\""),
                tool_name: youyou_api::ToolName::new("word-count").expect("a name"),
                arguments: serde_json::from_str(arguments).expect("an object"),
            };
            let sent = serde_json::to_string(&host.arguments).expect("json");
            let guest = ToolInput::new("call \"1\"", "word-count", sent).expect("an object");
            assert_eq!(guest.to_json(), host.to_json());
        }
    }

    #[test]
    fn the_arguments_are_passed_through_as_they_were_written() {
        let input = ToolInput::new("c", "t", ARGUMENTS).expect("an object");
        let json = format!(r#"{{"call_id":"c","tool_name":"t","arguments":{ARGUMENTS}}}"#);
        assert_eq!(input.to_json(), json);
        assert_eq!(serde_json::from_str::<ToolInput>(&json).expect("parses").to_json(), json);
    }

    /// C-2: so is the output.
    #[test]
    fn the_output_document_is_the_hosts_byte_for_byte() {
        let host = youyou_api::ToolOutput::text("hi").with_metadata(json!({"n": 1, "a": "b"}));
        let guest = ToolOutput::text("hi").with_metadata(json!({"n": 1, "a": "b"}));
        assert_eq!(serde_json::to_string(&guest).expect("json"), serde_json::to_string(&host).expect("json"));
        assert_eq!(
            serde_json::to_string(&ToolOutput::error("no")).expect("json"),
            serde_json::to_string(&youyou_api::ToolOutput::error("no")).expect("json")
        );
    }

    /// K-23: each kind of document that is not an object is told apart.
    #[test]
    fn arguments_that_are_no_object_are_refused_by_name() {
        for (arguments, found) in [
            ("null", "null"),
            ("\"x\"", "a string"),
            (" [1]", "an array"),
            ("true", "a boolean"),
            ("-7", "a number"),
            ("{\"a\":", "not JSON"),
            ("", "not JSON"),
        ] {
            let error = ToolInput::new("c", "t", arguments).expect_err(arguments);
            assert_eq!(error.code, "INVALID_ARGUMENTS");
            assert!(error.message.contains(found), "{arguments}: {}", error.message);
        }
    }

    #[test]
    #[should_panic(expected = "the metadata cannot be written as JSON")]
    fn metadata_without_a_json_form_is_the_authors_mistake() {
        let _ = ToolOutput::text("").with_metadata(std::collections::BTreeMap::from([(vec![1], 1)]));
    }
}
