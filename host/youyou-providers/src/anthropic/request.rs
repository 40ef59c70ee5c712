//! A request as the Messages API takes it.

use serde_json::{Value, json};
use youyou_api::{AssistantPart, ChatRequest, ReasoningEffort, Sampling, ToolSpec};

use crate::{
    model::{Model, Reasoning},
    openai_chat::{effort_word, short},
    wire::{Api, Body, Content, Turn, arguments, signature, tool_name, turns},
};

/// The API wants to know how long an answer may be, in tokens; this is for models of which nobody said.
const MOST_OUTPUT: u32 = 8192;

/// The fewest tokens that the API lets a model think.
const LEAST_BUDGET: u32 = 1024;

/// Writes the request.
pub(crate) fn request(request: &ChatRequest, model: &Model) -> Body {
    let mut messages: Vec<_> = turns(request, Api::Anthropic)
        .iter()
        .filter_map(|turn| {
            let (role, blocks) = match turn {
                Turn::User { results, contents } => {
                    let results = results.iter().map(|result| {
                        json!({
                            "type": "tool_result",
                            "tool_use_id": result.call_id,
                            "content": result.content,
                            "is_error": result.is_error,
                        })
                    });
                    ("user", results.chain(contents.iter().map(content)).collect::<Vec<_>>())
                }
                Turn::Assistant(parts) => ("assistant", parts.iter().filter_map(|part| block(part, model)).collect()),
            };
            (!blocks.is_empty()).then(|| json!({"role": role, "content": blocks}))
        })
        .collect();
    // What stays the same from step to step is read from the provider's cache: everything up to here.
    if let Some(last) = messages.last_mut().and_then(|message| message["content"].as_array_mut()?.last_mut()) {
        last["cache_control"] = json!({"type": "ephemeral"});
    }
    let mut body = json!({"model": model.name, "messages": messages, "stream": true});
    if !request.system.trim().is_empty() {
        let system = json!({"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}});
        body["system"] = json!([system]);
    }
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    sample(&mut body, request.sampling, model);
    Body { path: "messages".to_owned(), json: body }
}

fn content(content: &Content<'_>) -> Value {
    match content {
        Content::Text(text) => json!({"type": "text", "text": text}),
        Content::Image(image) => json!({
            "type": "image",
            "source": {"type": "base64", "media_type": image.format.media_type(), "data": &*image.data},
        }),
    }
}

/// A piece of the model's side; thoughts only where they are the model's own, word for word.
fn block(part: &AssistantPart, model: &Model) -> Option<Value> {
    match part {
        AssistantPart::Text { text } => Some(json!({"type": "text", "text": text})),
        AssistantPart::Reasoning { text, signature } => {
            let own = signature::own(signature.as_ref(), Api::Anthropic, model)?;
            match (own.get("signature"), own.get("redacted")) {
                (Some(signature), _) => Some(json!({"type": "thinking", "thinking": text, "signature": signature})),
                (None, Some(data)) => Some(json!({"type": "redacted_thinking", "data": data})),
                (None, None) => None,
            }
        }
        AssistantPart::ToolCall(call) => Some(json!({
            "type": "tool_use",
            "id": call.call_id,
            "name": tool_name(&call.tool_name),
            "input": arguments(call),
        })),
    }
}

fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, parameters, .. } = tool;
    json!({"name": name, "description": description, "input_schema": parameters})
}

fn sample(body: &mut Value, sampling: Sampling, model: &Model) {
    let Sampling { temperature, max_tokens, reasoning_effort } = sampling;
    let most = max_tokens.or(model.max_output).unwrap_or(MOST_OUTPUT);
    body["max_tokens"] = most.into();
    let budget = match (model.reasoning, reasoning_effort) {
        (Reasoning::Budget, Some(effort)) => budget(effort, most),
        (Reasoning::Budget, None) | (Reasoning::None | Reasoning::Effort, _) => None,
    };
    match model.reasoning {
        Reasoning::Effort => {
            body["thinking"] = json!({"type": "adaptive", "display": "summarized"});
            if let Some(effort) = reasoning_effort {
                body["output_config"] = json!({"effort": effort_word(effort)});
            }
        }
        Reasoning::Budget | Reasoning::None => {
            if let Some(budget) = budget {
                body["thinking"] = json!({"type": "enabled", "budget_tokens": budget});
            } else if let Some(temperature) = temperature {
                // A model that thinks takes none.
                body["temperature"] = short(temperature);
            }
        }
    }
}

/// How many of an answer's tokens may be thoughts; none where there is no room for both.
fn budget(effort: ReasoningEffort, most: u32) -> Option<u32> {
    let wish = match effort {
        ReasoningEffort::Low => 2048,
        ReasoningEffort::Medium => 8192,
        ReasoningEffort::High => 24_576,
    };
    let room = most.saturating_sub(LEAST_BUDGET);
    let budget = wish.min(room.max(most / 2)).min(most.saturating_sub(1));
    (budget >= LEAST_BUDGET).then_some(budget)
}
