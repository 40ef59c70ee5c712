//! The Responses API, from what its reference shows.

use serde_json::json;

use super::request;
use crate::{
    model::{Model, Reasoning},
    recorded::{self, named},
    wire::Api,
};

fn model() -> Model {
    Model { reasoning: Reasoning::Effort, ..Model::unknown("m", 100_000) }
}

fn heard(data: &[&str]) -> String {
    recorded::heard(Api::OpenAiResponses, &model(), &named(data))
}

const COMPLETED: &str = r#"{"type":"response.completed","response":{"status":"completed","output":[],"incomplete_details":null,"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":8}}}}"#;

/// Y3.2-2: reasoning with what is wanted back, text, and an event that is not known.
#[test]
fn an_answer_is_heard() {
    insta::assert_snapshot!(heard(&[
        r#"{"type":"response.created","response":{"id":"r","status":"in_progress","error":null,"usage":null}}"#,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[]}}"#,
        r#"{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"Hm"}"#,
        r#"{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":1,"part":{"type":"summary_text","text":""}}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"Yes"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"Hm"}],"encrypted_content":"gAAA"}}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"message","role":"assistant","content":[]}}"#,
        r#"{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"Grüße","logprobs":[]}"#,
        r#"{"type":"response.output_text.done","output_index":1,"content_index":0,"text":"Grüße"}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"Grüße"}]}}"#,
        r#"{"type":"response.something.new","delta":7.5e0}"#.replace(",\"delta\":7.5e0", "").as_str(),
        COMPLETED,
    ]), @r#"
    {"type":"reasoning_delta","text":"Hm"}
    {"type":"reasoning_delta","text":"\n\n"}
    {"type":"reasoning_delta","text":"Yes"}
    {"type":"reasoning_signature","signature":{"api":"openai","model":"m","item":{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm"}],"encrypted_content":"gAAA"}}}
    {"type":"text_delta","text":"Grüße"}
    {"type":"done","usage":{"input_tokens":10,"output_tokens":20},"stop":"end"}
    "#);
}

/// K-21: the pieces of two calls interleave; a third has no arguments, a fourth comes whole.
#[test]
fn calls_are_heard() {
    insta::assert_snapshot!(heard(&[
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_a","call_id":"a","name":"read","arguments":""}}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_b","call_id":"b","name":"now","arguments":""}}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"fc_a","delta":"{\"p\""}"#,
        r#"{"type":"response.function_call_arguments.done","output_index":1,"item_id":"fc_b","arguments":""}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"fc_a","delta":":1}"}"#,
        r#"{"type":"response.function_call_arguments.done","output_index":0,"item_id":"fc_a","arguments":"{\"p\":1}"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"a","name":"read","arguments":"{\"p\":1}"}}"#,
        r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"d","name":"grep","arguments":"{\"x\":2}"}}"#,
        COMPLETED,
    ]), @r#"
    {"type":"tool_call_delta","index":0,"call_id":"a","tool_name":"read","arguments":""}
    {"type":"tool_call_delta","index":1,"call_id":"b","tool_name":"now","arguments":""}
    {"type":"tool_call_delta","index":0,"arguments":"{\"p\""}
    {"type":"tool_call_delta","index":1,"arguments":"{}"}
    {"type":"tool_call_delta","index":0,"arguments":":1}"}
    {"type":"tool_call_delta","index":2,"call_id":"d","tool_name":"grep","arguments":"{\"x\":2}"}
    {"type":"done","usage":{"input_tokens":10,"output_tokens":20},"stop":"end"}
    "#);
}

#[test]
fn each_end_is_told_apart() {
    insta::assert_snapshot!([
        heard(&[r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}"#]),
        heard(&[r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}"#]),
        heard(&[r#"{"type":"response.refusal.delta","output_index":0,"delta":"No."}"#, COMPLETED]),
        heard(&[r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"whole"}]}}"#, COMPLETED]),
        heard(&[r#"{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"Slow down"}}}"#]),
        heard(&[r#"{"type":"response.failed","response":{"error":null}}"#]),
        heard(&[r#"{"type":"error","code":"server_error","message":"Sorry","param":null,"sequence_number":1}"#]),
        heard(&[r#"{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"too long"}}"#]),
        heard(&[r#"{"type":"response.output_text.delta","output_index":0,"delta":"half"}"#]),
        recorded::heard(Api::OpenAiResponses, &model(), "data: {\"type\":\n\n"),
    ].join("--\n"), @r#"
    {"type":"done","usage":{"input_tokens":0,"output_tokens":0},"stop":"max_tokens"}
    --
    {"type":"done","usage":{"input_tokens":0,"output_tokens":0},"stop":"refused"}
    --
    {"type":"text_delta","text":"No."}
    {"type":"done","usage":{"input_tokens":10,"output_tokens":20},"stop":"refused"}
    --
    {"type":"text_delta","text":"whole"}
    {"type":"done","usage":{"input_tokens":10,"output_tokens":20},"stop":"end"}
    --
    rate_limit: Slow down (rate_limit_exceeded)
    --
    other: the answer failed, and no reason was given
    --
    overloaded: Sorry (server_error)
    --
    context_length: too long (context_length_exceeded)
    --
    {"type":"text_delta","text":"half"}
    network: the answer ended without saying that it is complete (no finish reason)
    --
    network: a piece of the answer cannot be read (EOF while parsing a value at line 1 column 8): {"type":
    "#);
}

/// Y8-1, D-26, K-15, K-23.
#[test]
fn a_request_has_the_form_that_the_api_takes() {
    let item = json!({"type": "reasoning", "summary": [], "encrypted_content": "gAAA"});
    let asked = recorded::request(json!({"api": "openai", "model": "m", "item": item}));
    let body = request(&asked, &model());
    assert_eq!(body.path, "responses");
    insta::assert_snapshot!(serde_json::to_string_pretty(&body.json).expect("json"), @r#"
    {
      "model": "m",
      "input": [
        {
          "type": "message",
          "role": "user",
          "content": [
            {
              "type": "input_text",
              "text": "Look at these."
            },
            {
              "type": "input_image",
              "image_url": "data:image/png;base64,iVBO"
            },
            {
              "type": "input_text",
              "text": "<file name=\"a.txt\">\none\n</file>"
            }
          ]
        },
        {
          "type": "reasoning",
          "summary": [],
          "encrypted_content": "gAAA"
        },
        {
          "type": "message",
          "role": "assistant",
          "content": [
            {
              "type": "output_text",
              "text": "I read."
            }
          ]
        },
        {
          "type": "function_call",
          "call_id": "call-1",
          "name": "read",
          "arguments": "{\"path\":\"a\"}"
        },
        {
          "type": "function_call",
          "call_id": "call-2",
          "name": "unnamed",
          "arguments": "{\"invalid_arguments\":\"{\\\"path\"}"
        },
        {
          "type": "function_call_output",
          "call_id": "call-1",
          "output": "two"
        },
        {
          "type": "function_call_output",
          "call_id": "call-2",
          "output": "no such tool"
        },
        {
          "type": "message",
          "role": "user",
          "content": [
            {
              "type": "input_text",
              "text": "[a notice]"
            },
            {
              "type": "input_text",
              "text": "Go on."
            }
          ]
        }
      ],
      "stream": true,
      "store": false,
      "instructions": "Be brief.",
      "tools": [
        {
          "type": "function",
          "name": "read",
          "description": "Reads.",
          "parameters": {
            "type": "object",
            "properties": {
              "path": {
                "type": "string"
              }
            }
          },
          "strict": false
        }
      ],
      "max_output_tokens": 4000,
      "include": [
        "reasoning.encrypted_content"
      ],
      "reasoning": {
        "effort": "high",
        "summary": "auto"
      }
    }
    "#);
    let plain = request(&asked, &Model::unknown("m", 1000)).json;
    assert_eq!(plain["temperature"], json!(0.7));
    assert!(plain.get("reasoning").is_none() && plain.get("include").is_none());
}
