//! The Gemini API, from what its reference shows.

use serde_json::json;

use super::request;
use crate::{
    model::{Model, Reasoning},
    recorded::{self, unnamed},
    wire::Api,
};

fn model() -> Model {
    Model::unknown("m", 1_000_000)
}

fn heard(data: &[&str]) -> String {
    recorded::heard(Api::Gemini, &model(), &unnamed(data))
}

/// Y3.2-2, K-21: thoughts, text, two calls, of which the first carries what is wanted back, and a signature at the end.
#[test]
fn an_answer_is_heard() {
    insta::assert_snapshot!(heard(&[
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hm","thought":true}]},"index":0}],"usageMetadata":{"promptTokenCount":8},"modelVersion":"m"}"#,
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Grüße 🐈"}]},"index":0}]}"#,
        r#"{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"read","args":{"z":1,"a":2}},"thoughtSignature":"Cikx"},{"functionCall":{"id":"own","name":"now"}}]},"index":0}]}"#,
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"","thoughtSignature":"CiQx"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":20,"thoughtsTokenCount":30,"totalTokenCount":58}}"#,
    ]), @r#"
    {"type":"reasoning_delta","text":"Hm"}
    {"type":"text_delta","text":"Grüße 🐈"}
    {"type":"reasoning_signature","signature":{"api":"gemini","model":"m","call":"Cikx"}}
    {"type":"tool_call","call_id":"call-1","tool_name":"read","arguments":"{\"z\":1,\"a\":2}"}
    {"type":"tool_call","call_id":"own","tool_name":"now","arguments":"{}"}
    {"type":"reasoning_signature","signature":{"api":"gemini","model":"m","text":"CiQx"}}
    {"type":"done","usage":{"input_tokens":8,"output_tokens":50},"stop":"end"}
    "#);
}

#[test]
fn each_end_is_told_apart() {
    let half = r#"{"candidates":[{"content":{"parts":[{"text":"half"}]}}]}"#;
    let ends = |reason: &str| {
        heard(&[&format!(r#"{{"candidates":[{{"finishReason":"{reason}","finishMessage":"because","index":0}}]}}"#)])
    };
    insta::assert_snapshot!([
        ends("STOP"),
        ends("MAX_TOKENS"),
        ends("SAFETY"),
        ends("MALFORMED_FUNCTION_CALL"),
        heard(&[r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":8}}"#]),
        heard(&[half, r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#]),
        heard(&[half]),
        heard(&[half, "{\"candidates\":[{"]),
    ].join("--\n"), @r#"
    {"type":"done","usage":{"input_tokens":0,"output_tokens":0},"stop":"end"}
    --
    {"type":"done","usage":{"input_tokens":0,"output_tokens":0},"stop":"max_tokens"}
    --
    {"type":"done","usage":{"input_tokens":0,"output_tokens":0},"stop":"refused"}
    --
    other: the model's answer ended with MALFORMED_FUNCTION_CALL: because
    --
    {"type":"done","usage":{"input_tokens":8,"output_tokens":0},"stop":"refused"}
    --
    {"type":"text_delta","text":"half"}
    overloaded: The model is overloaded. (UNAVAILABLE)
    --
    {"type":"text_delta","text":"half"}
    network: the answer ended without saying that it is complete (no finish reason)
    --
    {"type":"text_delta","text":"half"}
    network: a piece of the answer cannot be read (EOF while parsing an object at line 1 column 16): {"candidates":[{
    "#);
}

/// Y8-1, D-26, K-15, K-23.
#[test]
fn a_request_has_the_form_that_the_api_takes() {
    let asked = recorded::request(json!({"api": "gemini", "model": "m", "call": "Cikx"}));
    let body = request(&asked, &model()).expect("a request");
    assert_eq!(body.path, "models/m:streamGenerateContent?alt=sse");
    insta::assert_snapshot!(serde_json::to_string_pretty(&body.json).expect("json"), @r#"
    {
      "contents": [
        {
          "role": "user",
          "parts": [
            {
              "text": "Look at these."
            },
            {
              "inlineData": {
                "mimeType": "image/png",
                "data": "iVBO"
              }
            },
            {
              "text": "<file name=\"a.txt\">\none\n</file>"
            }
          ]
        },
        {
          "role": "model",
          "parts": [
            {
              "text": "I read."
            },
            {
              "functionCall": {
                "name": "read",
                "args": {
                  "path": "a"
                }
              },
              "thoughtSignature": "Cikx"
            },
            {
              "functionCall": {
                "name": "unnamed",
                "args": {
                  "invalid_arguments": "{\"path"
                }
              }
            }
          ]
        },
        {
          "role": "user",
          "parts": [
            {
              "functionResponse": {
                "name": "read",
                "response": {
                  "output": "two"
                }
              }
            },
            {
              "functionResponse": {
                "name": "unnamed",
                "response": {
                  "error": "no such tool"
                }
              }
            }
          ]
        },
        {
          "role": "user",
          "parts": [
            {
              "text": "[a notice]"
            },
            {
              "text": "Go on."
            }
          ]
        }
      ],
      "systemInstruction": {
        "parts": [
          {
            "text": "Be brief."
          }
        ]
      },
      "tools": [
        {
          "functionDeclarations": [
            {
              "name": "read",
              "description": "Reads.",
              "parametersJsonSchema": {
                "type": "object",
                "properties": {
                  "path": {
                    "type": "string"
                  }
                }
              }
            }
          ]
        }
      ],
      "generationConfig": {
        "maxOutputTokens": 4000,
        "temperature": 0.7
      }
    }
    "#);
    let asked = recorded::request(json!({"api": "gemini", "model": "m", "text": "CiQx"}));
    let body = request(&asked, &model()).expect("a request").json;
    assert_eq!(body["contents"][1]["parts"][0], json!({"text": "", "thoughtSignature": "CiQx"}));
    assert!(body["contents"][1]["parts"][2].get("thoughtSignature").is_none());
}

#[test]
fn each_model_is_asked_to_think_in_its_own_way() {
    let asked = recorded::request(json!(null));
    let thinking = |reasoning| {
        let body = request(&asked, &Model { reasoning, ..model() }).expect("a request").json;
        body["generationConfig"]["thinkingConfig"].clone()
    };
    assert_eq!(thinking(Reasoning::None), json!(null));
    assert_eq!(thinking(Reasoning::Effort), json!({"includeThoughts": true, "thinkingLevel": "high"}));
    assert_eq!(thinking(Reasoning::Budget), json!({"includeThoughts": true, "thinkingBudget": 24576}));
}

#[test]
fn a_tool_with_a_name_that_gemini_refuses_is_told_of_before_anything_is_sent() {
    let mut asked = recorded::request(json!(null));
    asked.tools[0].name = youyou_api::ToolName::new("7zip").expect("a name");
    let error = request(&asked, &model()).expect_err("refused");
    assert_eq!(error.message, "Gemini takes only tools whose name begins with a letter or _; rename the tool 7zip");
}
