//! An answer as the Messages API streams it.

use std::collections::{HashMap, VecDeque};

use serde::Deserialize;
use serde_json::Value;
use youyou_api::{ChatEvent, ProviderError, StopReason, Usage};

use crate::{
    model::Model,
    wire::{Api, Decoder, Progress, broke_off, complaint, parse, signature},
};

/// Reads one answer.
pub(crate) struct Stream {
    model: Model,
    blocks: HashMap<u32, Block>,
    usage: Usage,
    stop: Option<StopReason>,
}

/// A block that is being received.
enum Block {
    Text,
    Thinking {
        signature: String,
    },
    ToolUse {
        begun: bool,
        input: Value,
    },
    /// One of the server's own, which means nothing here.
    Other,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    index: Option<u32>,
    message: Option<Message>,
    content_block: Option<ContentBlock>,
    delta: Option<Delta>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Message {
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct ContentBlock {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    data: Option<Value>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Value>,
}

#[derive(Deserialize)]
struct Delta {
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    partial_json: Option<String>,
    stop_reason: Option<String>,
}

impl Stream {
    pub(crate) fn new(model: &Model) -> Self {
        Self { model: model.clone(), blocks: HashMap::new(), usage: Usage::default(), stop: None }
    }

    fn start(&mut self, index: u32, block: ContentBlock, out: &mut VecDeque<ChatEvent>) {
        let ContentBlock { kind, text, thinking, signature, data, id, name, input } = block;
        let block = match kind.as_deref() {
            Some("text") => {
                out.extend(text.filter(|text| !text.is_empty()).map(|text| ChatEvent::TextDelta { text }));
                Block::Text
            }
            Some("thinking") => {
                out.extend(thinking.filter(|text| !text.is_empty()).map(|text| ChatEvent::ReasoningDelta { text }));
                Block::Thinking { signature: signature.unwrap_or_default() }
            }
            Some("redacted_thinking") => {
                let signature = signature::of(Api::Anthropic, &self.model, "redacted", data.unwrap_or_default());
                out.push_back(ChatEvent::ReasoningSignature { signature });
                Block::Other
            }
            Some("tool_use") => {
                let arguments = String::new();
                out.push_back(ChatEvent::ToolCallDelta { index, call_id: id, tool_name: name, arguments });
                Block::ToolUse { begun: false, input: input.unwrap_or_default() }
            }
            _ => Block::Other,
        };
        self.blocks.insert(index, block);
    }

    fn delta(&mut self, index: u32, delta: Delta, out: &mut VecDeque<ChatEvent>) {
        let Delta { text, thinking, signature, partial_json, stop_reason: _ } = delta;
        match (self.blocks.get_mut(&index), text, thinking, partial_json.filter(|json| !json.is_empty())) {
            (Some(Block::Text), Some(text), ..) if !text.is_empty() => out.push_back(ChatEvent::TextDelta { text }),
            (Some(Block::Thinking { signature: so_far }), _, thinking, _) => {
                so_far.extend(signature);
                out.extend(thinking.filter(|text| !text.is_empty()).map(|text| ChatEvent::ReasoningDelta { text }));
            }
            (Some(Block::ToolUse { begun, .. }), _, _, Some(arguments)) => {
                *begun = true;
                out.push_back(ChatEvent::ToolCallDelta { index, call_id: None, tool_name: None, arguments });
            }
            _ => {}
        }
    }

    fn stop(&mut self, index: u32, out: &mut VecDeque<ChatEvent>) {
        match self.blocks.remove(&index) {
            Some(Block::Thinking { signature }) if !signature.is_empty() => {
                let signature = signature::of(Api::Anthropic, &self.model, "signature", signature.into());
                out.push_back(ChatEvent::ReasoningSignature { signature });
            }
            // A call without parameters sends no arguments at all.
            Some(Block::ToolUse { begun: false, input }) => {
                let arguments = if input.is_object() { input.to_string() } else { "{}".to_owned() };
                out.push_back(ChatEvent::ToolCallDelta { index, call_id: None, tool_name: None, arguments });
            }
            Some(Block::Text | Block::Thinking { .. } | Block::ToolUse { .. } | Block::Other) | None => {}
        }
    }

    fn count(&mut self, tokens: Option<Tokens>) {
        let Some(tokens) = tokens else { return };
        let Tokens { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = tokens;
        let read = [input_tokens, cache_creation_input_tokens, cache_read_input_tokens];
        let read = read.into_iter().flatten().fold(0, u64::saturating_add);
        // The figures at the end are totals, and may leave out what the beginning said.
        self.usage.input_tokens = self.usage.input_tokens.max(read);
        self.usage.output_tokens = output_tokens.unwrap_or(self.usage.output_tokens);
    }
}

impl Decoder for Stream {
    fn take(
        &mut self,
        event: Option<&str>,
        data: &str,
        out: &mut VecDeque<ChatEvent>,
    ) -> Result<Progress, ProviderError> {
        let Event { kind, index, message, content_block, delta, usage } = parse(data)?;
        let index = index.unwrap_or(0);
        match (kind.as_deref().or(event), content_block, delta) {
            (Some("message_start"), ..) => self.count(message.and_then(|message| message.usage)),
            (Some("content_block_start"), Some(block), _) => self.start(index, block, out),
            (Some("content_block_delta"), _, Some(delta)) => self.delta(index, delta, out),
            (Some("content_block_stop"), ..) => self.stop(index, out),
            (Some("message_delta"), _, delta) => {
                self.count(usage);
                match delta.and_then(|delta| delta.stop_reason).as_deref() {
                    None => {}
                    Some("max_tokens" | "model_context_window_exceeded") => self.stop = Some(StopReason::MaxTokens),
                    Some("refusal") => self.stop = Some(StopReason::Refused),
                    Some(_) => self.stop = Some(StopReason::End),
                }
            }
            (Some("message_stop"), ..) => return Ok(Progress::Over),
            (Some("error"), ..) => return Err(complaint::of_body(None, data)),
            _ => {}
        }
        Ok(Progress::More)
    }

    fn end(&mut self, out: &mut VecDeque<ChatEvent>) -> Result<(), ProviderError> {
        let stop = self.stop.ok_or_else(broke_off)?;
        out.push_back(ChatEvent::Done { usage: self.usage, stop });
        Ok(())
    }
}
