//! A request as Chat Completions takes it.

use serde_json::{Map, Value, json};
use youyou_api::{AssistantPart, ChatRequest, ImagePart, ReasoningEffort, Sampling, ToolSpec};

use super::call_ids::CallIds;
use crate::{
    model::{Model, Reasoning},
    wire::{Api, Body, Content, Turn, arguments, signature, tool_name, turns},
};

/// What stands at the top of a request, of one model or another.
pub(crate) const KEYS: &[&str] = &[
    "model",
    "messages",
    "stream",
    "stream_options",
    "tools",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "reasoning_effort",
];

/// Writes the request.
pub(crate) fn request(request: &ChatRequest, model: &Model) -> Body {
    let ids = CallIds::of(request, model.short_call_ids);
    let mut messages = Vec::new();
    if !request.system.trim().is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    for turn in turns(request, Api::OpenAiChat) {
        match turn {
            Turn::User { results, contents } => {
                messages.extend(results.iter().map(|result| {
                    let id = ids.of_call(&result.call_id);
                    json!({"role": "tool", "tool_call_id": id, "content": result.content})
                }));
                messages.extend(user(&contents));
            }
            Turn::Assistant(parts) => messages.push(assistant(parts, model, &ids)),
        }
    }
    let mut body = json!({
        "model": model.name,
        "messages": messages,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    sample(&mut body, request.sampling, model);
    Body { path: "chat/completions".to_owned(), json: body }
}

/// What the user's side says beside results; plain text where it is nothing else, since many servers know only that.
fn user(contents: &[Content<'_>]) -> Option<Value> {
    let texts: Vec<_> = contents
        .iter()
        .filter_map(|content| match content {
            Content::Text(text) => Some(&**text),
            Content::Image(_) => None,
        })
        .collect();
    if texts.len() == contents.len() {
        return (!texts.is_empty()).then(|| json!({"role": "user", "content": texts.join("\n\n")}));
    }
    let parts: Vec<_> = contents
        .iter()
        .map(|content| match content {
            Content::Text(text) => json!({"type": "text", "text": text}),
            Content::Image(image) => json!({"type": "image_url", "image_url": {"url": data_url(image)}}),
        })
        .collect();
    Some(json!({"role": "user", "content": parts}))
}

/// An image as an address that holds it.
pub(crate) fn data_url(image: &ImagePart) -> String {
    format!("data:{};base64,{}", image.format.media_type(), image.data)
}

fn assistant<'r>(parts: &'r [AssistantPart], model: &Model, ids: &CallIds<'r>) -> Value {
    let mut message = Map::from_iter([("role".to_owned(), Value::from("assistant"))]);
    let (mut text, mut calls) = (String::new(), Vec::new());
    for part in parts {
        match part {
            AssistantPart::Text { text: more } => text.push_str(more),
            AssistantPart::Reasoning { text, signature } => {
                let own = signature::own(signature.as_ref(), Api::OpenAiChat, model);
                if let Some(field) = own.and_then(|own| own.get("field")).and_then(Value::as_str) {
                    message.insert(field.to_owned(), (&**text).into());
                }
            }
            AssistantPart::ToolCall(call) => calls.push(json!({
                "id": ids.of_call(&call.call_id),
                "type": "function",
                // Some servers read the arguments, and fail where they are no object.
                "function": {
                    "name": tool_name(&call.tool_name),
                    "arguments": Value::Object(arguments(call)).to_string(),
                },
            })),
        }
    }
    let content = if text.is_empty() { Value::Null } else { text.into() };
    message.insert("content".to_owned(), content);
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.into());
    }
    message.into()
}

fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, parameters, .. } = tool;
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
}

fn sample(body: &mut Value, sampling: Sampling, model: &Model) {
    let Sampling { temperature, max_tokens, reasoning_effort } = sampling;
    // OpenAI's models that think take other keys than those that do not, and no temperature.
    let thinks = model.reasoning == Reasoning::Effort;
    if let Some(most) = max_tokens {
        body[if thinks { "max_completion_tokens" } else { "max_tokens" }] = most.into();
    }
    if let Some(temperature) = temperature.filter(|_| !thinks) {
        body["temperature"] = short(temperature);
    }
    if let Some(effort) = reasoning_effort.filter(|_| thinks) {
        body["reasoning_effort"] = effort_word(effort).into();
    }
}

/// How OpenAI, and others, call an effort.
pub(crate) fn effort_word(effort: ReasoningEffort) -> &'static str {
    match effort {
        ReasoningEffort::Low => "low",
        ReasoningEffort::Medium => "medium",
        ReasoningEffort::High => "high",
    }
}

/// A number with no more digits than it was written with: 0.7 and not 0.699999988.
pub(crate) fn short(number: f32) -> Value {
    number.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}
