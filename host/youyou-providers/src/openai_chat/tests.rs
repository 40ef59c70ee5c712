//! Chat Completions, from what its reference and its imitators show.

use serde_json::json;

use super::request;
use crate::{
    model::{Model, Reasoning},
    recorded::{self, unnamed},
    wire::Api,
};

fn model() -> Model {
    Model::unknown("m", 100_000)
}

fn heard(data: &[&str]) -> String {
    recorded::heard(Api::OpenAiChat, &model(), &unnamed(data))
}

/// Y3.2-2, K-21: text, then two calls whose pieces interleave, then usage in a chunk of its own.
#[test]
fn an_answer_of_openai_is_heard() {
    insta::assert_snapshot!(heard(&[
        r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"Grüße 🐈"},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"read","arguments":""}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"grep","arguments":"{\"x\""}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"p\":1}"}},{"index":1,"function":{"arguments":":2}"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}"#,
        "[DONE]",
    ]), @r#"
    {"type":"text_delta","text":"Grüße 🐈"}
    {"type":"tool_call_delta","index":0,"call_id":"call_a","tool_name":"read","arguments":""}
    {"type":"tool_call_delta","index":1,"call_id":"call_b","tool_name":"grep","arguments":"{\"x\""}
    {"type":"tool_call_delta","index":0,"arguments":"{\"p\":1}"}
    {"type":"tool_call_delta","index":1,"arguments":":2}"}
    {"type":"done","usage":{"input_tokens":9,"output_tokens":12},"stop":"end"}
    "#);
}

/// A server of one's own: nulls, an older form beside the newer one, id and name in every piece, no usage, no `[DONE]`.
#[test]
fn an_answer_of_a_local_server_is_heard() {
    insta::assert_snapshot!(heard(&[
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"function_call":null,"tool_calls":null},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"role":null,"content":null,"function_call":{"name":"read","arguments":"{"},"tool_calls":[{"index":0,"id":"call_0_read","type":"function","function":{"name":"read","arguments":"{"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"role":null,"content":null,"function_call":{"name":"read","arguments":"}"},"tool_calls":[{"index":0,"id":"call_0_read","type":"function","function":{"name":"read","arguments":"}"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"role":null,"content":null,"function_call":null,"tool_calls":null},"finish_reason":"tool_calls"}]}"#,
    ]), @r#"
    {"type":"tool_call_delta","index":0,"call_id":"call_0_read","tool_name":"read","arguments":"{"}
    {"type":"tool_call_delta","index":0,"call_id":"call_0_read","tool_name":"read","arguments":"}"}
    {"type":"done","usage":{"input_tokens":0,"output_tokens":0},"stop":"end"}
    "#);
}

/// Old servers know the older form only.
#[test]
fn a_call_in_the_older_form_is_a_call() {
    insta::assert_snapshot!(heard(&[
        r#"{"choices":[{"delta":{"function_call":{"name":"read","arguments":""}}}]}"#,
        r#"{"choices":[{"delta":{"function_call":{"arguments":"{\"p\":1}"}}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"function_call"}]}"#,
        "[DONE]",
    ]), @r#"
    {"type":"tool_call_delta","index":0,"tool_name":"read","arguments":""}
    {"type":"tool_call_delta","index":0,"arguments":"{\"p\":1}"}
    {"type":"done","usage":{"input_tokens":0,"output_tokens":0},"stop":"end"}
    "#);
}

/// Calls in the chunk with the finish reason: all with the number 0, or without one; arguments that are empty, or an
/// object; and a second answer that nobody asked for.
#[test]
fn calls_are_told_apart_whatever_their_numbers() {
    insta::assert_snapshot!(heard(&[
        r#"{"choices":[{"index":1,"delta":{"content":"other"}},{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":{"p":1}}},{"index":0,"id":"b","function":{"name":"now","arguments":""}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}"#,
        "[DONE]",
    ]), @r#"
    {"type":"tool_call_delta","index":0,"call_id":"a","tool_name":"read","arguments":"{\"p\":1}"}
    {"type":"tool_call_delta","index":1,"call_id":"b","tool_name":"now","arguments":""}
    {"type":"tool_call_delta","index":1,"arguments":"{}"}
    {"type":"done","usage":{"input_tokens":3,"output_tokens":0},"stop":"end"}
    "#);
    insta::assert_snapshot!(heard(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"read","arguments":"{"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}},{"function":{"name":"now"}}]},"finish_reason":"length"}]}"#,
    ]), @r#"
    {"type":"tool_call_delta","index":0,"tool_name":"read","arguments":"{"}
    {"type":"tool_call_delta","index":0,"arguments":"}"}
    {"type":"tool_call_delta","index":1,"tool_name":"now","arguments":""}
    {"type":"done","usage":{"input_tokens":0,"output_tokens":0},"stop":"max_tokens"}
    "#);
}

#[test]
fn reasoning_comes_under_several_names() {
    let data = [
        r#"{"choices":[{"delta":{"reasoning_content":"Hm"}}]}"#,
        r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"."}]},{"type":"text","text":"No"}]}}]}"#,
        r#"{"choices":[{"delta":{"reasoning":"Or?","content":""}}]}"#,
        r#"{"choices":[{"delta":{"refusal":"Sorry."},"finish_reason":"stop"}]}"#,
    ];
    insta::assert_snapshot!(heard(&data), @r#"
    {"type":"reasoning_delta","text":"Hm"}
    {"type":"reasoning_delta","text":"."}
    {"type":"text_delta","text":"No"}
    {"type":"reasoning_delta","text":"Or?"}
    {"type":"text_delta","text":"Sorry."}
    {"type":"done","usage":{"input_tokens":0,"output_tokens":0},"stop":"refused"}
    "#);
    let model = Model { return_reasoning: true, ..model() };
    insta::assert_snapshot!(recorded::heard(Api::OpenAiChat, &model, &unnamed(&data)), @r#"
    {"type":"reasoning_delta","text":"Hm"}
    {"type":"reasoning_delta","text":"."}
    {"type":"reasoning_signature","signature":{"api":"openai-chat","model":"m","field":"reasoning_content"}}
    {"type":"text_delta","text":"No"}
    {"type":"reasoning_delta","text":"Or?"}
    {"type":"reasoning_signature","signature":{"api":"openai-chat","model":"m","field":"reasoning"}}
    {"type":"text_delta","text":"Sorry."}
    {"type":"done","usage":{"input_tokens":0,"output_tokens":0},"stop":"refused"}
    "#);
}

/// No answer that is not whole passes for one.
#[test]
fn an_answer_that_goes_wrong_is_an_error() {
    let half = r#"{"choices":[{"delta":{"content":"half"}}]}"#;
    insta::assert_snapshot!([
        heard(&[half]),
        heard(&[half, "[DONE]"]),
        heard(&[half, r#"{"choices":[{"delta""#]),
        heard(&[half, r#"{"error":{"message":"Rate limit reached","code":429}}"#]),
        heard(&[half, r#"{"choices":[{"delta":{},"finish_reason":"error"}]}"#]),
        heard(&[""]),
    ].join("--\n"), @r#"
    {"type":"text_delta","text":"half"}
    network: the answer ended without saying that it is complete (no finish reason)
    --
    {"type":"text_delta","text":"half"}
    network: the answer ended without saying that it is complete (no finish reason)
    --
    {"type":"text_delta","text":"half"}
    network: a piece of the answer cannot be read (EOF while parsing an object at line 1 column 20): {"choices":[{"delta"
    --
    {"type":"text_delta","text":"half"}
    rate_limit: Rate limit reached
    --
    {"type":"text_delta","text":"half"}
    overloaded: the server broke the answer off (finish reason "error")
    --
    network: the answer ended without saying that it is complete (no finish reason)
    "#);
    let refused = "event: error\ndata: {\"message\":\"Overloaded\",\"type\":\"overloaded_error\"}\n\n";
    let refused = recorded::heard(Api::OpenAiChat, &model(), refused);
    assert_eq!(refused, "overloaded: Overloaded (overloaded_error)\n");
}

/// What is said to be written for each request is all that is, whatever the model.
#[test]
fn the_keys_of_a_request_are_known() {
    let asked = recorded::request(json!({"api": "openai-chat", "model": "m", "field": "reasoning"}));
    let mut written = Vec::new();
    for reasoning in [Reasoning::None, Reasoning::Effort] {
        let body = request(&asked, &Model { reasoning, ..model() }).json;
        written.extend(body.as_object().expect("an object").keys().cloned());
    }
    let known = Api::OpenAiChat.keys().expect("known");
    assert!(written.iter().all(|key| known.contains(&key.as_str())), "{written:?}");
    assert!(known.iter().all(|key| written.iter().any(|written| written == key)), "{written:?}");
}

/// Mistral's servers refuse any other id of a call than nine letters and digits; a call and its result have the same one,
/// and the same conversation has the same ones whenever it is sent.
#[test]
fn ids_of_calls_can_be_nine_letters_and_digits() {
    let asked = recorded::request(json!(null));
    let body = request(&asked, &Model { short_call_ids: true, ..model() }).json;
    let messages = body["messages"].as_array().expect("messages");
    let of = |key: &str| messages.iter().filter_map(|message| message.get(key)).cloned().collect::<Vec<_>>();
    let called = of("tool_calls").iter().flat_map(|calls| calls.as_array().expect("calls").clone()).collect::<Vec<_>>();
    let called: Vec<_> = called.iter().map(|call| call["id"].as_str().expect("an id").to_owned()).collect();
    assert_eq!(called, ["call00000", "call00001"]);
    assert_eq!(of("tool_call_id"), called);
    assert!(called.iter().all(|id| id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric())));
    assert_eq!(request(&asked, &Model { short_call_ids: true, ..model() }).json, body);
}

/// Y8-1, D-26: images, files, results, notices, and calls that made no sense (K-15, K-23).
#[test]
fn a_request_has_the_form_that_the_api_takes() {
    let asked = recorded::request(json!({"api": "openai-chat", "model": "m", "field": "reasoning_content"}));
    let body = request(&asked, &model());
    assert_eq!(body.path, "chat/completions");
    insta::assert_snapshot!(serde_json::to_string_pretty(&body.json).expect("json"), @r#"
    {
      "model": "m",
      "messages": [
        {
          "role": "system",
          "content": "Be brief."
        },
        {
          "role": "user",
          "content": [
            {
              "type": "text",
              "text": "Look at these."
            },
            {
              "type": "image_url",
              "image_url": {
                "url": "data:image/png;base64,iVBO"
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
          "reasoning_content": "Hm.",
          "content": "I read.",
          "tool_calls": [
            {
              "id": "call-1",
              "type": "function",
              "function": {
                "name": "read",
                "arguments": "{\"path\":\"a\"}"
              }
            },
            {
              "id": "call-2",
              "type": "function",
              "function": {
                "name": "unnamed",
                "arguments": "{\"invalid_arguments\":\"{\\\"path\"}"
              }
            }
          ]
        },
        {
          "role": "tool",
          "tool_call_id": "call-1",
          "content": "two"
        },
        {
          "role": "tool",
          "tool_call_id": "call-2",
          "content": "no such tool"
        },
        {
          "role": "user",
          "content": "[a notice]\n\nGo on."
        }
      ],
      "stream": true,
      "stream_options": {
        "include_usage": true
      },
      "tools": [
        {
          "type": "function",
          "function": {
            "name": "read",
            "description": "Reads.",
            "parameters": {
              "type": "object",
              "properties": {
                "path": {
                  "type": "string"
                }
              }
            }
          }
        }
      ],
      "max_tokens": 4000,
      "temperature": 0.7
    }
    "#);
    let thinks = Model { reasoning: Reasoning::Effort, ..model() };
    let body = request(&asked, &thinks).json;
    assert_eq!((&body["max_completion_tokens"], &body["reasoning_effort"]), (&json!(4000), &json!("high")));
    assert!(body.get("max_tokens").is_none() && body.get("temperature").is_none());
}
