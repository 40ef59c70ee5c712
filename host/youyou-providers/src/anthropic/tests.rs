//! The Messages API, from what its reference shows.

use serde_json::json;

use super::request;
use crate::{
    model::{Model, Reasoning},
    recorded::{self, named},
    wire::Api,
};

fn model() -> Model {
    Model { max_output: Some(64_000), ..Model::unknown("m", 200_000) }
}

fn heard(data: &[&str]) -> String {
    recorded::heard(Api::Anthropic, &model(), &named(data))
}

const START: &str = r#"{"type":"message_start","message":{"id":"msg","type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":5,"cache_read_input_tokens":70,"output_tokens":1}}}"#;

/// Y3.2-2, K-21: thoughts with their signature, hidden ones, text, two calls, one without arguments, and a block of the
/// server's own.
#[test]
fn an_answer_is_heard() {
    insta::assert_snapshot!(heard(&[
        START,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm 🐈"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"Emw"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Grüße"}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"server_tool_use","id":"s","name":"web","input":{}}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"{"type":"content_block_stop","index":3}"#,
        r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_a","name":"read","input":{}}}"#,
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"p\":"}}"#,
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"1}"}}"#,
        r#"{"type":"content_block_stop","index":4}"#,
        r#"{"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"toolu_b","name":"now","input":{}}}"#,
        r#"{"type":"content_block_stop","index":5}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}}"#,
        r#"{"type":"message_stop"}"#,
    ]), @r#"
    {"type":"reasoning_delta","text":"Hm 🐈"}
    {"type":"reasoning_signature","signature":{"api":"anthropic","model":"m","signature":"EqQB"}}
    {"type":"reasoning_signature","signature":{"api":"anthropic","model":"m","redacted":"Emw"}}
    {"type":"text_delta","text":"Grüße"}
    {"type":"tool_call_delta","index":4,"call_id":"toolu_a","tool_name":"read","arguments":""}
    {"type":"tool_call_delta","index":4,"arguments":"{\"p\":"}
    {"type":"tool_call_delta","index":4,"arguments":"1}"}
    {"type":"tool_call_delta","index":5,"call_id":"toolu_b","tool_name":"now","arguments":""}
    {"type":"tool_call_delta","index":5,"arguments":"{}"}
    {"type":"done","usage":{"input_tokens":100,"output_tokens":89},"stop":"end"}
    "#);
}

#[test]
fn each_end_is_told_apart() {
    let text = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"half"}}"#;
    let ends = |reason: &str| {
        let delta =
            format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}},"usage":{{"output_tokens":2}}}}"#);
        heard(&[START, &delta])
    };
    insta::assert_snapshot!([
        ends("end_turn"),
        ends("max_tokens"),
        ends("model_context_window_exceeded"),
        ends("refusal"),
        heard(&[START, text, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#]),
        heard(&[START, text]),
        heard(&[START, text, r#"{"type":"message_stop"}"#]),
        recorded::heard(Api::Anthropic, &model(), "event: content_block_delta\ndata: {\"type\": nonsense\n\n"),
    ].join("--\n"), @r#"
    {"type":"done","usage":{"input_tokens":100,"output_tokens":2},"stop":"end"}
    --
    {"type":"done","usage":{"input_tokens":100,"output_tokens":2},"stop":"max_tokens"}
    --
    {"type":"done","usage":{"input_tokens":100,"output_tokens":2},"stop":"max_tokens"}
    --
    {"type":"done","usage":{"input_tokens":100,"output_tokens":2},"stop":"refused"}
    --
    {"type":"text_delta","text":"half"}
    overloaded: Overloaded (overloaded_error)
    --
    {"type":"text_delta","text":"half"}
    network: the answer ended without saying that it is complete (no finish reason)
    --
    {"type":"text_delta","text":"half"}
    network: the answer ended without saying that it is complete (no finish reason)
    --
    network: a piece of the answer cannot be read (expected ident at line 1 column 11): {"type": nonsense
    "#);
}

/// Y8-1, D-26, K-15, K-23: results stand first in the user's message that follows the calls.
#[test]
fn a_request_has_the_form_that_the_api_takes() {
    let asked = recorded::request(json!({"api": "anthropic", "model": "m", "signature": "EqQB"}));
    let body = request(&asked, &model());
    assert_eq!(body.path, "messages");
    insta::assert_snapshot!(serde_json::to_string_pretty(&body.json).expect("json"), @r#"
    {
      "model": "m",
      "messages": [
        {
          "role": "user",
          "content": [
            {
              "type": "text",
              "text": "Look at these."
            },
            {
              "type": "image",
              "source": {
                "type": "base64",
                "media_type": "image/png",
                "data": "iVBO"
              }
            },
            {
              "type": "text",
              "text": "<file name=\"a.txt\">\none\n</file>"
            }
          ]
        },
        {
          "role": "assistant",
          "content": [
            {
              "type": "thinking",
              "thinking": "Hm.",
              "signature": "EqQB"
            },
            {
              "type": "text",
              "text": "I read."
            },
            {
              "type": "tool_use",
              "id": "call-1",
              "name": "read",
              "input": {
                "path": "a"
              }
            },
            {
              "type": "tool_use",
              "id": "call-2",
              "name": "unnamed",
              "input": {
                "invalid_arguments": "{\"path"
              }
            }
          ]
        },
        {
          "role": "user",
          "content": [
            {
              "type": "tool_result",
              "tool_use_id": "call-1",
              "content": "two",
              "is_error": false
            },
            {
              "type": "tool_result",
              "tool_use_id": "call-2",
              "content": "no such tool",
              "is_error": true
            },
            {
              "type": "text",
              "text": "[a notice]"
            },
            {
              "type": "text",
              "text": "Go on.",
              "cache_control": {
                "type": "ephemeral"
              }
            }
          ]
        }
      ],
      "stream": true,
      "system": [
        {
          "type": "text",
          "text": "Be brief.",
          "cache_control": {
            "type": "ephemeral"
          }
        }
      ],
      "tools": [
        {
          "name": "read",
          "description": "Reads.",
          "input_schema": {
            "type": "object",
            "properties": {
              "path": {
                "type": "string"
              }
            }
          }
        }
      ],
      "max_tokens": 4000,
      "temperature": 0.7
    }
    "#);
}

/// A model that thinks is asked for it in its own way, and takes no temperature.
#[test]
fn each_model_is_asked_to_think_in_its_own_way() {
    let mut asked = recorded::request(json!({"api": "anthropic", "model": "m", "redacted": "Emw"}));
    let block = |asked: &youyou_api::ChatRequest, model: &Model| {
        request(asked, model).json["messages"][1]["content"][0].clone()
    };
    assert_eq!(block(&asked, &model()), json!({"type": "redacted_thinking", "data": "Emw"}));
    let asks = |asked: &youyou_api::ChatRequest, reasoning| {
        let body = request(asked, &Model { reasoning, ..model() }).json;
        ["max_tokens", "thinking", "output_config", "temperature"].map(|key| body.get(key).cloned().unwrap_or_default())
    };
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    assert_eq!(asks(&asked, Reasoning::Effort), [json!(4000), adaptive, json!({"effort": "high"}), json!(null)]);
    let enabled = json!({"type": "enabled", "budget_tokens": 2976});
    assert_eq!(asks(&asked, Reasoning::Budget), [json!(4000), enabled, json!(null), json!(null)]);
    asked.sampling.max_tokens = Some(1000);
    assert_eq!(asks(&asked, Reasoning::Budget), [json!(1000), json!(null), json!(null), json!(0.7)]);
    asked.sampling = youyou_api::Sampling::default();
    assert_eq!(asks(&asked, Reasoning::Budget)[0], json!(64_000));
}
