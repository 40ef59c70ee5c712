//! Between our documents and the records of the WIT contract.

pub(crate) mod hook;

use serde_json::Value;
use youyou_api::{ToolInput, ToolOutput};

use crate::bindings::exports::youyou::plugin::tool as wit;

/// The input as a component receives it; as JSON it is the document that a script reads (C-2).
pub(crate) fn input_to_wit(input: &ToolInput) -> wit::ToolInput {
    wit::ToolInput {
        call_id: input.call_id.as_str().to_owned(),
        tool_name: input.tool_name.as_str().to_owned(),
        // A map with text keys and finite numbers always serialises.
        arguments: serde_json::to_string(&input.arguments).unwrap_or_default(),
    }
}

/// The output, once its metadata has been read.
///
/// # Errors
/// What is wrong with the metadata.
pub(crate) fn output_from_wit(output: wit::ToolOutput) -> Result<ToolOutput, serde_json::Error> {
    let metadata = output.metadata.as_deref().map(serde_json::from_str::<Value>).transpose()?;
    Ok(ToolOutput { content: output.content, is_error: output.is_error, metadata })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C-2: the same values in the same order as in the document of a script.
    #[test]
    fn an_input_keeps_its_document() {
        let json = r#"{"call_id":"c1","tool_name":"t","arguments":{"z":1.50,"a":[null,"ä"]}}"#;
        let input: ToolInput = serde_json::from_str(json).expect("parses");
        let document = input.to_json();
        let wit = input_to_wit(&input);
        let again =
            format!(r#"{{"call_id":"{}","tool_name":"{}","arguments":{}}}"#, wit.call_id, wit.tool_name, wit.arguments);
        assert_eq!(again, document);
    }

    /// Y3.3-4: a component returns the full output.
    #[test]
    fn an_output_keeps_its_metadata() {
        let wit = |metadata: Option<&str>| wit::ToolOutput {
            content: "c".into(),
            is_error: true,
            metadata: metadata.map(str::to_owned),
        };
        assert_eq!(output_from_wit(wit(None)).expect("fits"), ToolOutput::error("c"));
        let expected = ToolOutput::error("c").with_metadata(serde_json::json!({"n": [1]}));
        assert_eq!(output_from_wit(wit(Some(r#"{"n":[1]}"#))).expect("fits"), expected);
        output_from_wit(wit(Some("{"))).expect_err("is no JSON");
    }
}
