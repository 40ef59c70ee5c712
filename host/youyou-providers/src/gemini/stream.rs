//! An answer as the Gemini API streams it.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::{Map, Value};
use youyou_api::{CallId, ChatEvent, ProviderError, ProviderErrorKind, StopReason, ToolCall, Usage};

use crate::{
    model::Model,
    wire::{Api, Decoder, Progress, broke_off, complaint, parse, signature},
};

/// Reads one answer.
pub(crate) struct Stream {
    model: Model,
    usage: Usage,
    stop: Option<StopReason>,
    calls: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    candidates: Option<Vec<Candidate>>,
    usage_metadata: Option<Tokens>,
    prompt_feedback: Option<Feedback>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    prompt_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    index: Option<u32>,
    content: Option<Content>,
    finish_reason: Option<String>,
    finish_message: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    parts: Option<Vec<Part>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    text: Option<String>,
    thought: Option<bool>,
    thought_signature: Option<Value>,
    function_call: Option<FunctionCall>,
}

#[derive(Deserialize)]
struct FunctionCall {
    id: Option<String>,
    name: Option<String>,
    args: Option<Map<String, Value>>,
}

impl Stream {
    pub(crate) fn new(model: &Model) -> Self {
        Self { model: model.clone(), usage: Usage::default(), stop: None, calls: 0 }
    }

    fn part(&mut self, part: Part, out: &mut VecDeque<ChatEvent>) {
        let Part { text, thought, thought_signature, function_call } = part;
        let sign = |key| {
            let signature = thought_signature.as_ref()?;
            Some(ChatEvent::ReasoningSignature {
                signature: signature::of(Api::Gemini, &self.model, key, signature.clone()),
            })
        };
        if let Some(FunctionCall { id, name, args }) = function_call {
            out.extend(sign("call"));
            self.calls += 1;
            let call_id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("call-{}", self.calls));
            out.push_back(ChatEvent::ToolCall(ToolCall {
                call_id: CallId::new(call_id),
                tool_name: name.unwrap_or_default(),
                arguments: Value::Object(args.unwrap_or_default()).to_string(),
            }));
            return;
        }
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            out.push_back(match thought {
                Some(true) => ChatEvent::ReasoningDelta { text },
                Some(false) | None => ChatEvent::TextDelta { text },
            });
        }
        out.extend(sign("text"));
    }

    /// Takes the finish reason; one that is no end of an answer is an error.
    fn finish(&mut self, reason: &str, message: Option<String>) -> Result<(), ProviderError> {
        self.stop = Some(match reason {
            "STOP" | "FINISH_REASON_UNSPECIFIED" => StopReason::End,
            "MAX_TOKENS" => StopReason::MaxTokens,
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION" => StopReason::Refused,
            // The model wrote a call that the server could not read, or something else went wrong over there.
            other => {
                let more = message.map(|message| format!(": {}", complaint::excerpt(&message))).unwrap_or_default();
                let message = format!("the model's answer ended with {}{more}", complaint::excerpt(other));
                return Err(ProviderError::new(ProviderErrorKind::Other, message));
            }
        });
        Ok(())
    }
}

impl Decoder for Stream {
    fn take(
        &mut self,
        _event: Option<&str>,
        data: &str,
        out: &mut VecDeque<ChatEvent>,
    ) -> Result<Progress, ProviderError> {
        let Chunk { candidates, usage_metadata, prompt_feedback, error } = parse(data)?;
        if error.is_some_and(|error| !error.is_null()) {
            return Err(complaint::of_body(None, data));
        }
        if let Some(tokens) = usage_metadata {
            let Tokens { prompt_token_count, candidates_token_count, thoughts_token_count } = tokens;
            let written = candidates_token_count.unwrap_or(0).saturating_add(thoughts_token_count.unwrap_or(0));
            self.usage = Usage { input_tokens: prompt_token_count.unwrap_or(0), output_tokens: written };
        }
        if prompt_feedback.and_then(|feedback| feedback.block_reason).is_some() {
            self.stop = Some(StopReason::Refused);
        }
        for candidate in candidates.into_iter().flatten().filter(|candidate| candidate.index.unwrap_or(0) == 0) {
            let Candidate { content, finish_reason, finish_message, .. } = candidate;
            for part in content.and_then(|content| content.parts).into_iter().flatten() {
                self.part(part, out);
            }
            if let Some(reason) = finish_reason {
                self.finish(&reason, finish_message)?;
            }
        }
        Ok(Progress::More)
    }

    fn end(&mut self, out: &mut VecDeque<ChatEvent>) -> Result<(), ProviderError> {
        let stop = self.stop.ok_or_else(broke_off)?;
        out.push_back(ChatEvent::Done { usage: self.usage, stop });
        Ok(())
    }
}
