//! A request as the Gemini API takes it.

use serde_json::{Map, Value, json};
use youyou_api::{AssistantPart, ChatRequest, ProviderError, ProviderErrorKind, ReasoningEffort, Sampling, ToolSpec};

use crate::{
    model::{Model, Reasoning},
    openai_chat::{effort_word, short},
    wire::{Api, Body, Content, Turn, arguments, signature, tool_name, turns},
};

/// Writes the request.
///
/// # Errors
/// `invalid_request` for a tool whose name the API does not take.
pub(crate) fn request(request: &ChatRequest, model: &Model) -> Result<Body, ProviderError> {
    let mut contents = Vec::new();
    for turn in turns(request, Api::Gemini) {
        match turn {
            Turn::User { results, contents: said } => {
                let results: Vec<_> = results
                    .iter()
                    .map(|result| {
                        let key = if result.is_error { "error" } else { "output" };
                        let name = tool_name(&result.tool_name);
                        json!({"functionResponse": {"name": name, "response": {key: result.content}}})
                    })
                    .collect();
                let said: Vec<_> = said.iter().map(content).collect();
                let sides = [results, said].into_iter().filter(|parts| !parts.is_empty());
                contents.extend(sides.map(|parts| json!({"role": "user", "parts": parts})));
            }
            Turn::Assistant(parts) => {
                let parts = model_parts(parts, model);
                if !parts.is_empty() {
                    contents.push(json!({"role": "model", "parts": parts}));
                }
            }
        }
    }
    let mut body = json!({"contents": contents});
    if !request.system.trim().is_empty() {
        body["systemInstruction"] = json!({"parts": [{"text": request.system}]});
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(tool).collect::<Result<Vec<_>, _>>()?;
        body["tools"] = json!([{"functionDeclarations": tools}]);
    }
    let generation = sample(request.sampling, model);
    if !generation.is_empty() {
        body["generationConfig"] = generation.into();
    }
    Ok(Body { path: format!("models/{}:streamGenerateContent?alt=sse", model.name), json: body })
}

fn content(content: &Content<'_>) -> Value {
    match content {
        Content::Text(text) => json!({"text": text}),
        Content::Image(image) => {
            json!({"inlineData": {"mimeType": image.format.media_type(), "data": &*image.data}})
        }
    }
}

/// The model's side, each signature on the part that it came with.
fn model_parts(parts: &[AssistantPart], model: &Model) -> Vec<Value> {
    let mut written = Vec::new();
    let mut waiting = None;
    for part in parts {
        match part {
            AssistantPart::Text { text } => written.push(json!({"text": text})),
            AssistantPart::Reasoning { signature, .. } => {
                let own = signature::own(signature.as_ref(), Api::Gemini, model);
                match own.map(|own| (own.get("call"), own.get("text"))) {
                    Some((Some(signature), _)) => waiting = Some(signature.clone()),
                    Some((None, Some(signature))) => written.push(json!({"text": "", "thoughtSignature": signature})),
                    Some((None, None)) | None => {}
                }
            }
            AssistantPart::ToolCall(call) => {
                let mut part = json!({"functionCall": {"name": tool_name(&call.tool_name), "args": arguments(call)}});
                if let Some(signature) = waiting.take() {
                    part["thoughtSignature"] = signature;
                }
                written.push(part);
            }
        }
    }
    written
}

fn tool(tool: &ToolSpec) -> Result<Value, ProviderError> {
    let ToolSpec { name, description, parameters, .. } = tool;
    if !name.as_str().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        let message = format!("Gemini takes only tools whose name begins with a letter or _; rename the tool {name}");
        return Err(ProviderError::new(ProviderErrorKind::InvalidRequest, message));
    }
    Ok(json!({"name": name, "description": description, "parametersJsonSchema": parameters}))
}

fn sample(sampling: Sampling, model: &Model) -> Map<String, Value> {
    let Sampling { temperature, max_tokens, reasoning_effort } = sampling;
    let mut generation = Map::new();
    if let Some(most) = max_tokens {
        generation.insert("maxOutputTokens".to_owned(), most.into());
    }
    if let Some(temperature) = temperature {
        generation.insert("temperature".to_owned(), short(temperature));
    }
    let mut thinking = match model.reasoning {
        Reasoning::None => return generation,
        Reasoning::Effort | Reasoning::Budget => json!({"includeThoughts": true}),
    };
    if let Some(effort) = reasoning_effort {
        match model.reasoning {
            Reasoning::None => {}
            Reasoning::Effort => thinking["thinkingLevel"] = effort_word(effort).into(),
            Reasoning::Budget => thinking["thinkingBudget"] = budget(effort).into(),
        }
    }
    generation.insert("thinkingConfig".to_owned(), thinking);
    generation
}

/// How many tokens a model may think.
fn budget(effort: ReasoningEffort) -> u32 {
    match effort {
        ReasoningEffort::Low => 1024,
        ReasoningEffort::Medium => 8192,
        ReasoningEffort::High => 24_576,
    }
}
