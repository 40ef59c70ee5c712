//! A request as the Responses API takes it.

use serde_json::{Value, json};
use youyou_api::{AssistantPart, ChatRequest, Sampling, ToolSpec};

use crate::{
    model::{Model, Reasoning},
    openai_chat::{data_url, effort_word, short},
    wire::{Api, Body, Content, Turn, arguments, signature, tool_name, turns},
};

/// Writes the request.
pub(crate) fn request(request: &ChatRequest, model: &Model) -> Body {
    let mut input = Vec::new();
    for turn in turns(request, Api::OpenAiResponses) {
        match turn {
            Turn::User { results, contents } => {
                input.extend(results.iter().map(|result| {
                    json!({"type": "function_call_output", "call_id": result.call_id, "output": result.content})
                }));
                if !contents.is_empty() {
                    let contents: Vec<_> = contents.iter().map(content).collect();
                    input.push(json!({"type": "message", "role": "user", "content": contents}));
                }
            }
            Turn::Assistant(parts) => input.extend(parts.iter().filter_map(|part| item(part, model))),
        }
    }
    let mut body = json!({"model": model.name, "input": input, "stream": true, "store": false});
    if !request.system.trim().is_empty() {
        body["instructions"] = request.system.as_str().into();
    }
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    sample(&mut body, request.sampling, model);
    Body { path: "responses".to_owned(), json: body }
}

fn content(content: &Content<'_>) -> Value {
    match content {
        Content::Text(text) => json!({"type": "input_text", "text": text}),
        Content::Image(image) => json!({"type": "input_image", "image_url": data_url(image)}),
    }
}

/// A piece of the model's side; reasoning only where it is the model's own.
fn item(part: &AssistantPart, model: &Model) -> Option<Value> {
    match part {
        AssistantPart::Text { text } => Some(json!({
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": text}],
        })),
        AssistantPart::Reasoning { signature, .. } => {
            signature::own(signature.as_ref(), Api::OpenAiResponses, model)?.get("item").cloned()
        }
        AssistantPart::ToolCall(call) => Some(json!({
            "type": "function_call",
            "call_id": call.call_id,
            "name": tool_name(&call.tool_name),
            "arguments": Value::Object(arguments(call)).to_string(),
        })),
    }
}

fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, parameters, .. } = tool;
    // Strict mode wants every parameter required, which ours need not be.
    json!({"type": "function", "name": name, "description": description, "parameters": parameters, "strict": false})
}

fn sample(body: &mut Value, sampling: Sampling, model: &Model) {
    let Sampling { temperature, max_tokens, reasoning_effort } = sampling;
    if let Some(most) = max_tokens {
        // The API takes no less.
        body["max_output_tokens"] = most.max(16).into();
    }
    match model.reasoning {
        Reasoning::None | Reasoning::Budget => {
            if let Some(temperature) = temperature {
                body["temperature"] = short(temperature);
            }
        }
        Reasoning::Effort => {
            body["include"] = json!(["reasoning.encrypted_content"]);
            if let Some(effort) = reasoning_effort {
                body["reasoning"] = json!({"effort": effort_word(effort), "summary": "auto"});
            }
        }
    }
}
