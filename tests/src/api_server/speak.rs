//! Replies in the words of each API.

use std::borrow::Cow;

use serde_json::{Value, json};
use youyou::Api;

/// What a model says.
#[derive(Debug, Clone)]
pub enum Say {
    /// Reasoning, which is wanted back in the next request where the API does that.
    Reasoning(&'static str),
    /// Text, a piece for each word.
    Text(Cow<'static, str>),
    /// Calls whose arguments come in pieces that interleave, where the API does that: names and arguments.
    Calls(Vec<(&'static str, Value)>),
}

/// A whole answer as a body.
pub(super) fn stream(api: Api, reply: &[Say]) -> String {
    match api {
        Api::OpenAiChat => unnamed(chat(reply)) + "data: [DONE]\n\n",
        Api::OpenAiResponses => named(responses(reply)),
        Api::Anthropic => named(anthropic(reply)),
        Api::Gemini => unnamed(gemini(reply)),
    }
}

fn unnamed(events: Vec<Value>) -> String {
    events.iter().map(|event| format!("data: {event}\r\n\r\n")).collect()
}

fn named(events: Vec<Value>) -> String {
    let name = |event: &Value| event["type"].as_str().unwrap_or_default().to_owned();
    events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", name(event))).collect()
}

/// Each word with the blank behind it.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

/// Two halves, parted at a character.
fn halves(text: &str) -> [&str; 2] {
    let (one, other) = text.split_at(text.floor_char_boundary(text.len() / 2));
    [one, other]
}

fn chat(reply: &[Say]) -> Vec<Value> {
    let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
    let mut events = vec![delta(json!({"role": "assistant", "content": ""}))];
    for say in reply {
        match say {
            Say::Reasoning(text) => events.extend(words(text).map(|word| delta(json!({"reasoning_content": word})))),
            Say::Text(text) => events.extend(words(text).map(|word| delta(json!({"content": word})))),
            Say::Calls(calls) => {
                for (index, (name, _)) in calls.iter().enumerate() {
                    let function = json!({"name": name, "arguments": ""});
                    let call = json!({"index": index, "id": format!("call_{index}"), "type": "function", "function": function});
                    events.push(delta(json!({ "tool_calls": [call] })));
                }
                for half in 0..2 {
                    for (index, (_, arguments)) in calls.iter().enumerate() {
                        let arguments = arguments.to_string();
                        let function = json!({"arguments": halves(&arguments)[half]});
                        events.push(delta(json!({"tool_calls": [{"index": index, "function": function}]})));
                    }
                }
            }
        }
    }
    let reason = if asks(reply) { "tool_calls" } else { "stop" };
    events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}));
    events.push(json!({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7}}));
    events
}

fn asks(reply: &[Say]) -> bool {
    reply.iter().any(|say| matches!(say, Say::Calls(_)))
}

fn responses(reply: &[Say]) -> Vec<Value> {
    let mut events = vec![json!({"type": "response.created", "response": {"status": "in_progress"}})];
    let mut place = 0;
    for say in reply {
        match say {
            Say::Reasoning(text) => {
                let item = json!({"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "sealed"});
                events.push(json!({"type": "response.output_item.added", "output_index": place, "item": item}));
                events.extend(words(text).map(|word| {
                    json!({"type": "response.reasoning_summary_text.delta", "output_index": place, "delta": word})
                }));
                events.push(json!({"type": "response.output_item.done", "output_index": place, "item": item}));
                place += 1;
            }
            Say::Text(text) => {
                let item = json!({"type": "message", "role": "assistant", "content": []});
                events.push(json!({"type": "response.output_item.added", "output_index": place, "item": item}));
                events.extend(
                    words(text).map(
                        |word| json!({"type": "response.output_text.delta", "output_index": place, "delta": word}),
                    ),
                );
                events.push(json!({"type": "response.output_item.done", "output_index": place, "item": item}));
                place += 1;
            }
            Say::Calls(calls) => {
                let item = |index: usize, arguments: &str| json!({"type": "function_call", "call_id": format!("call_{index}"), "name": calls[index].0, "arguments": arguments});
                for index in 0..calls.len() {
                    events.push(json!({"type": "response.output_item.added", "output_index": place + index, "item": item(index, "")}));
                }
                for half in 0..2 {
                    for (index, (_, arguments)) in calls.iter().enumerate() {
                        let arguments = arguments.to_string();
                        events.push(json!({"type": "response.function_call_arguments.delta", "output_index": place + index, "delta": halves(&arguments)[half]}));
                    }
                }
                for (index, (_, arguments)) in calls.iter().enumerate() {
                    events.push(json!({"type": "response.output_item.done", "output_index": place + index, "item": item(index, &arguments.to_string())}));
                }
                place += calls.len();
            }
        }
    }
    let usage = json!({"input_tokens": 11, "output_tokens": 7});
    events.push(json!({"type": "response.completed", "response": {"status": "completed", "usage": usage}}));
    events
}

fn anthropic(reply: &[Say]) -> Vec<Value> {
    let message = json!({"role": "assistant", "content": [], "usage": {"input_tokens": 11, "output_tokens": 1}});
    let mut events = vec![json!({"type": "message_start", "message": message}), json!({"type": "ping"})];
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        let delta = |delta| json!({"type": "content_block_delta", "index": index, "delta": delta});
        events.extend(deltas.into_iter().map(delta));
        events.push(json!({"type": "content_block_stop", "index": index}));
        index += 1;
    };
    for say in reply {
        match say {
            Say::Reasoning(text) => {
                let thoughts = words(text).map(|word| json!({"type": "thinking_delta", "thinking": word}));
                let signature = json!({"type": "signature_delta", "signature": "sealed"});
                block(
                    json!({"type": "thinking", "thinking": "", "signature": ""}),
                    thoughts.chain([signature]).collect(),
                );
            }
            Say::Text(text) => {
                let words = words(text).map(|word| json!({"type": "text_delta", "text": word}));
                block(json!({"type": "text", "text": ""}), words.collect());
            }
            Say::Calls(calls) => {
                for (number, (name, arguments)) in calls.iter().enumerate() {
                    let arguments = arguments.to_string();
                    let pieces =
                        halves(&arguments).map(|half| json!({"type": "input_json_delta", "partial_json": half}));
                    let start = json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": name, "input": {}});
                    block(start, pieces.to_vec());
                }
            }
        }
    }
    let reason = if asks(reply) { "tool_use" } else { "end_turn" };
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 7}}));
    events.push(json!({"type": "message_stop"}));
    events
}

fn gemini(reply: &[Say]) -> Vec<Value> {
    let part = |part: Value| json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]});
    let mut events = Vec::new();
    for say in reply {
        match say {
            Say::Reasoning(text) => {
                events.extend(words(text).map(|word| part(json!({"text": word, "thought": true}))));
            }
            Say::Text(text) => events.extend(words(text).map(|word| part(json!({"text": word})))),
            Say::Calls(calls) => {
                for (number, (name, arguments)) in calls.iter().enumerate() {
                    let mut call = json!({"functionCall": {"name": name, "args": arguments}});
                    if number == 0 {
                        call["thoughtSignature"] = "sealed".into();
                    }
                    events.push(part(call));
                }
            }
        }
    }
    let usage = json!({"promptTokenCount": 11, "candidatesTokenCount": 5, "thoughtsTokenCount": 2});
    events.push(json!({"candidates": [{"finishReason": "STOP", "index": 0}], "usageMetadata": usage}));
    events
}
