//! An answer as the Responses API streams it.

use std::collections::{HashMap, VecDeque};

use serde::Deserialize;
use serde_json::{Value, json};
use youyou_api::{ChatEvent, ProviderError, ProviderErrorKind, StopReason, Usage};

use crate::{
    model::Model,
    wire::{Api, Decoder, Progress, broke_off, complaint, parse, signature, usage},
};

/// Reads one answer.
pub(crate) struct Stream {
    model: Model,
    /// The calls by their place in the output, and whether there is anything of their arguments.
    calls: HashMap<u32, bool>,
    /// The places in the output whose text came in pieces.
    streamed: Vec<u32>,
    /// Whether the summary of the reasoning has begun; its paragraphs come apart.
    summarized: bool,
    refused: bool,
    done: Option<(Usage, StopReason)>,
}

/// The fields that matter, of all events.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    output_index: Option<u32>,
    delta: Option<String>,
    arguments: Option<String>,
    item: Option<Value>,
    response: Option<Response>,
}

#[derive(Deserialize)]
struct Response {
    usage: Option<Tokens>,
    incomplete_details: Option<Incomplete>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

impl Stream {
    pub(crate) fn new(model: &Model) -> Self {
        Self {
            model: model.clone(),
            calls: HashMap::new(),
            streamed: Vec::new(),
            summarized: false,
            refused: false,
            done: None,
        }
    }

    fn added(&mut self, place: u32, item: &Value, out: &mut VecDeque<ChatEvent>) {
        if text(item, "type") == Some("function_call") {
            let arguments = text(item, "arguments").unwrap_or_default().to_owned();
            self.calls.insert(place, !arguments.is_empty());
            out.push_back(ChatEvent::ToolCallDelta {
                index: place,
                call_id: text(item, "call_id").or_else(|| text(item, "id")).map(str::to_owned),
                tool_name: text(item, "name").map(str::to_owned),
                arguments,
            });
        }
    }

    fn arguments(&mut self, place: u32, arguments: String, out: &mut VecDeque<ChatEvent>) {
        *self.calls.entry(place).or_default() |= !arguments.is_empty();
        out.push_back(ChatEvent::ToolCallDelta { index: place, call_id: None, tool_name: None, arguments });
    }

    /// An item is whole. What it holds has come in pieces before, unless the server does not send any.
    fn item(&mut self, place: u32, item: Value, out: &mut VecDeque<ChatEvent>) {
        match text(&item, "type") {
            Some("function_call") => {
                if !self.calls.contains_key(&place) {
                    self.added(place, &item, out);
                } else if self.calls.get(&place) == Some(&false) {
                    let arguments = text(&item, "arguments").filter(|text| !text.is_empty()).unwrap_or("{}");
                    self.arguments(place, arguments.to_owned(), out);
                }
            }
            Some("message") if !self.streamed.contains(&place) => {
                let pieces = item.get("content").and_then(Value::as_array).into_iter().flatten();
                out.extend(
                    pieces
                        .filter_map(|piece| text(piece, "text"))
                        .filter(|text| !text.is_empty())
                        .map(|text| ChatEvent::TextDelta { text: text.to_owned() }),
                );
            }
            Some("reasoning") => {
                self.summarized = false;
                // Without its encrypted content an item means nothing to a server that stores nothing.
                if item.get("encrypted_content").is_some_and(Value::is_string) {
                    let kept = json!({
                        "type": "reasoning",
                        "summary": item.get("summary").cloned().unwrap_or_else(|| json!([])),
                        "encrypted_content": item["encrypted_content"],
                    });
                    let signature = signature::of(Api::OpenAiResponses, &self.model, "item", kept);
                    out.push_back(ChatEvent::ReasoningSignature { signature });
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, response: Option<Response>) {
        let (tokens, incomplete) =
            response.map_or((None, None), |response| (response.usage, response.incomplete_details));
        let usage = tokens.map(|tokens| usage(tokens.input_tokens, tokens.output_tokens)).unwrap_or_default();
        let stop = match incomplete.and_then(|incomplete| incomplete.reason).as_deref() {
            Some("content_filter") => StopReason::Refused,
            Some(_) => StopReason::MaxTokens,
            None if self.refused => StopReason::Refused,
            None => StopReason::End,
        };
        self.done = Some((usage, stop));
    }
}

impl Decoder for Stream {
    fn take(
        &mut self,
        event: Option<&str>,
        data: &str,
        out: &mut VecDeque<ChatEvent>,
    ) -> Result<Progress, ProviderError> {
        let Event { kind, output_index, delta, arguments, item, response } = parse(data)?;
        let place = output_index.unwrap_or(0);
        match (kind.as_deref().or(event).unwrap_or_default(), delta.filter(|delta| !delta.is_empty())) {
            ("response.output_text.delta", Some(text)) => {
                self.streamed.push(place);
                self.streamed.dedup();
                out.push_back(ChatEvent::TextDelta { text });
            }
            ("response.refusal.delta", Some(text)) => {
                self.refused = true;
                self.streamed.push(place);
                out.push_back(ChatEvent::TextDelta { text });
            }
            ("response.reasoning_summary_text.delta" | "response.reasoning_text.delta", Some(text)) => {
                self.summarized = true;
                out.push_back(ChatEvent::ReasoningDelta { text });
            }
            ("response.reasoning_summary_part.added", _) if self.summarized => {
                out.push_back(ChatEvent::ReasoningDelta { text: "\n\n".to_owned() });
            }
            ("response.function_call_arguments.delta", Some(arguments)) => self.arguments(place, arguments, out),
            ("response.function_call_arguments.done", _) if self.calls.get(&place) == Some(&false) => {
                self.arguments(place, arguments.filter(|text| !text.is_empty()).unwrap_or_else(|| "{}".into()), out);
            }
            ("response.output_item.added", _) => self.added(place, &item.unwrap_or_default(), out),
            ("response.output_item.done", _) => self.item(place, item.unwrap_or_default(), out),
            ("response.completed" | "response.incomplete", _) => {
                self.finish(response);
                return Ok(Progress::Over);
            }
            ("response.failed", _) => {
                return Err(match response.and_then(|response| response.error).filter(|error| !error.is_null()) {
                    Some(error) => complaint::of_json(None, &json!({ "error": error })),
                    None => ProviderError::new(ProviderErrorKind::Other, "the answer failed, and no reason was given"),
                });
            }
            ("error", _) => return Err(complaint::of_body(None, data)),
            _ => {}
        }
        Ok(Progress::More)
    }

    fn end(&mut self, out: &mut VecDeque<ChatEvent>) -> Result<(), ProviderError> {
        let (usage, stop) = self.done.ok_or_else(broke_off)?;
        out.push_back(ChatEvent::Done { usage, stop });
        Ok(())
    }
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}
