//! An answer as Chat Completions streams it.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::Value;
use youyou_api::{ChatEvent, ProviderError, ProviderErrorKind, StopReason, Usage};

use crate::{
    model::Model,
    wire::{Api, Decoder, Progress, broke_off, complaint, parse, signature, usage},
};

/// Reads one answer.
pub(crate) struct Stream {
    calls: Vec<Call>,
    /// Whether a call came in the older form; the newer one repeats it then.
    legacy: bool,
    usage: Usage,
    finish: Option<StopReason>,
    /// The model, where its reasoning is wanted back.
    returning: Option<Model>,
    /// The field that the reasoning since the last other piece came in.
    reasoning: Option<&'static str>,
}

/// One call that is being received.
struct Call {
    number: Option<u32>,
    id: String,
    /// Whether there is anything of its arguments.
    begun: bool,
}

#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Tokens>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Tokens {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Choice {
    index: Option<u32>,
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Delta {
    content: Option<Content>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<ToolCall>>,
    function_call: Option<Function>,
}

/// Text; or a list of pieces, as Mistral's models that think send it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Pieces(Vec<Piece>),
}

#[derive(Deserialize)]
struct Piece {
    text: Option<String>,
    thinking: Option<Box<Content>>,
}

#[derive(Deserialize)]
struct ToolCall {
    index: Option<u32>,
    id: Option<String>,
    function: Option<Function>,
}

#[derive(Deserialize)]
struct Function {
    name: Option<String>,
    arguments: Option<Arguments>,
}

/// A piece of text; or the whole object, from servers that do not stream it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Arguments {
    Text(String),
    Object(serde_json::Map<String, Value>),
}

impl Stream {
    pub(crate) fn new(model: &Model) -> Self {
        Self {
            calls: Vec::new(),
            legacy: false,
            usage: Usage::default(),
            finish: None,
            returning: model.return_reasoning.then(|| model.clone()),
            reasoning: None,
        }
    }

    fn delta(&mut self, delta: Delta, out: &mut VecDeque<ChatEvent>) {
        self.reason("reasoning_content", delta.reasoning_content, out);
        self.reason("reasoning", delta.reasoning, out);
        if let Some(content) = delta.content {
            self.content(content, out);
        }
        if let Some(text) = filled(delta.refusal) {
            self.finish = Some(StopReason::Refused);
            self.say(text, out);
        }
        match (delta.tool_calls.filter(|calls| !calls.is_empty()), delta.function_call) {
            (Some(calls), _) if !self.legacy => {
                for call in calls {
                    self.call(call, out);
                }
            }
            (_, Some(function)) if self.legacy || self.calls.is_empty() => {
                self.legacy = true;
                self.call(ToolCall { index: Some(0), id: None, function: Some(function) }, out);
            }
            _ => {}
        }
    }

    fn reason(&mut self, field: &'static str, text: Option<String>, out: &mut VecDeque<ChatEvent>) {
        if let Some(text) = filled(text) {
            self.reasoning = Some(field);
            out.push_back(ChatEvent::ReasoningDelta { text });
        }
    }

    fn content(&mut self, content: Content, out: &mut VecDeque<ChatEvent>) {
        match content {
            Content::Text(text) if text.is_empty() => {}
            Content::Text(text) => self.say(text, out),
            Content::Pieces(pieces) => {
                for Piece { text, thinking } in pieces {
                    if let Some(thinking) = thinking {
                        self.reason("reasoning_content", Some(thinking.text()), out);
                    }
                    if let Some(text) = filled(text) {
                        self.say(text, out);
                    }
                }
            }
        }
    }

    fn say(&mut self, text: String, out: &mut VecDeque<ChatEvent>) {
        self.sign(out);
        out.push_back(ChatEvent::TextDelta { text });
    }

    /// Marks the reasoning that has ended as wanted back.
    fn sign(&mut self, out: &mut VecDeque<ChatEvent>) {
        if let (Some(field), Some(model)) = (self.reasoning.take(), &self.returning) {
            let signature = signature::of(Api::OpenAiChat, model, "field", field.into());
            out.push_back(ChatEvent::ReasoningSignature { signature });
        }
    }

    fn call(&mut self, call: ToolCall, out: &mut VecDeque<ChatEvent>) {
        self.sign(out);
        let ToolCall { index, id, function } = call;
        let id = filled(id);
        let (name, arguments) = function.map_or((None, None), |function| (filled(function.name), function.arguments));
        let place = self.place(index, id.as_deref(), name.is_some());
        let arguments = match arguments {
            Some(Arguments::Text(text)) => text,
            Some(Arguments::Object(object)) => Value::Object(object).to_string(),
            None => String::new(),
        };
        let call = &mut self.calls[place];
        call.begun |= !arguments.trim().is_empty();
        if call.id.is_empty() {
            call.id.extend(id.as_deref());
        }
        let index = u32::try_from(place).unwrap_or(u32::MAX);
        out.push_back(ChatEvent::ToolCallDelta { index, call_id: id, tool_name: name, arguments });
    }

    /// Which call a piece belongs to. Numbers come first; but some servers give each call the number 0 and an id of its
    /// own, and some give no number at all.
    fn place(&mut self, number: Option<u32>, id: Option<&str>, named: bool) -> usize {
        let known = match (number, id) {
            (Some(number), Some(id)) => self
                .calls
                .iter()
                .rposition(|call| call.number == Some(number) && (call.id.is_empty() || call.id == id || !named)),
            (Some(number), None) => self.calls.iter().rposition(|call| call.number == Some(number)),
            (None, Some(id)) => self.calls.iter().rposition(|call| call.id == id),
            (None, None) if named => None,
            (None, None) => self.calls.len().checked_sub(1),
        };
        known.unwrap_or_else(|| {
            self.calls.push(Call { number, id: id.unwrap_or_default().to_owned(), begun: false });
            self.calls.len() - 1
        })
    }
}

impl Decoder for Stream {
    fn take(
        &mut self,
        event: Option<&str>,
        data: &str,
        out: &mut VecDeque<ChatEvent>,
    ) -> Result<Progress, ProviderError> {
        if event == Some("error") {
            return Err(complaint::of_body(None, data));
        }
        let chunk: Chunk = parse(data)?;
        if chunk.error.is_some_and(|error| !error.is_null()) {
            return Err(complaint::of_body(None, data));
        }
        if let Some(Tokens { prompt_tokens, completion_tokens }) = chunk.usage {
            self.usage = usage(prompt_tokens, completion_tokens);
        }
        for choice in chunk.choices.into_iter().flatten().filter(|choice| choice.index.unwrap_or(0) == 0) {
            self.delta(choice.delta.unwrap_or_default(), out);
            match choice.finish_reason.as_deref() {
                None | Some("") => {}
                Some("length") => self.finish = Some(StopReason::MaxTokens),
                Some("content_filter") => self.finish = Some(StopReason::Refused),
                Some("error") => {
                    let message = "the server broke the answer off (finish reason \"error\")";
                    return Err(ProviderError::new(ProviderErrorKind::Overloaded, message));
                }
                Some(_) => _ = self.finish.get_or_insert(StopReason::End),
            }
        }
        Ok(Progress::More)
    }

    fn end(&mut self, out: &mut VecDeque<ChatEvent>) -> Result<(), ProviderError> {
        let stop = self.finish.ok_or_else(broke_off)?;
        self.sign(out);
        // A call without parameters has no arguments; one that was cut off has none yet.
        for (index, _) in (0..).zip(&self.calls).filter(|(_, call)| !call.begun && stop == StopReason::End) {
            let arguments = "{}".to_owned();
            out.push_back(ChatEvent::ToolCallDelta { index, call_id: None, tool_name: None, arguments });
        }
        out.push_back(ChatEvent::Done { usage: self.usage, stop });
        Ok(())
    }
}

impl Content {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Pieces(pieces) => pieces.into_iter().filter_map(|piece| piece.text).collect(),
        }
    }
}

fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}
