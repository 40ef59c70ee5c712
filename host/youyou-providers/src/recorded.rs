//! Plays the bytes of a recorded answer, cut in every way in which a network can cut them.

use bytes::Bytes;
use futures_util::{FutureExt as _, stream};
use youyou_api::{ChatEvent, ProviderError, ProviderErrorKind};

use crate::{answer::Answer, http::Events, model::Model, wire::Api};

type Item = Result<ChatEvent, ProviderError>;

/// What is heard of an answer, a line each.
///
/// # Panics
/// When it depends on where the bytes are cut, how lines end or whether there are comments; or when an answer that ends
/// too early passes for a whole one.
pub(crate) fn heard(api: Api, model: &Model, body: &str) -> String {
    let play = |chunks: &[&[u8]]| play(api, model, chunks);
    let whole = play(&[body.as_bytes()]);
    let bytes = body.as_bytes();
    for cut in 0..bytes.len() {
        let (before, after) = bytes.split_at(cut);
        assert_eq!(play(&[before, after]), whole, "cut at byte {cut}");
        check_broken_off(&play(&[before]), &whole, cut);
    }
    assert_eq!(play(&bytes.chunks(1).collect::<Vec<_>>()), whole, "byte by byte");
    assert_eq!(play(&[body.replace('\n', "\r\n").as_bytes()]), whole, "with CRLF");
    assert_eq!(play(&[body.replace("\n\n", "\n\n: keep-alive\n\n").as_bytes()]), whole, "with comments");
    whole.iter().map(line).collect()
}

fn play(api: Api, model: &Model, chunks: &[&[u8]]) -> Vec<Item> {
    let chunks: Vec<_> = chunks.iter().map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
    let mut answer = Answer::new(Events::over(stream::iter(chunks)), api.decoder(model));
    let mut items = Vec::new();
    while let Some(item) = answer.next().now_or_never().expect("nothing is waited for") {
        let last = item.is_err() || matches!(item, Ok(ChatEvent::Done { .. }));
        items.push(item);
        if last {
            assert_eq!(answer.next().now_or_never(), Some(None), "something follows the end");
            break;
        }
    }
    items
}

/// The start of an answer says what the whole one says, and then that it broke off; or the answer was whole by then.
fn check_broken_off(start: &[Item], whole: &[Item], cut: usize) {
    let (last, said) = start.split_last().expect("at least an error");
    match last {
        Ok(ChatEvent::Done { .. }) => {
            assert_eq!(said, &whole[..whole.len() - 1], "complete at byte {cut}");
        }
        Ok(other) => panic!("cut at byte {cut}, the answer ends with {other:?}"),
        Err(error) => {
            assert!(whole.starts_with(said), "cut at byte {cut}: {said:?}");
            let broken = ProviderErrorKind::Network;
            assert!(error.kind == broken || Some(last) == whole.last(), "cut at byte {cut}: {error:?}");
        }
    }
}

fn line(item: &Item) -> String {
    match item {
        Ok(event) => serde_json::to_string(event).expect("json") + "\n",
        Err(error) => format!("{}: {}\n", error.kind.as_str(), error.message),
    }
}

/// The data of events without names, as Chat Completions and Gemini send them.
pub(crate) fn unnamed(data: &[&str]) -> String {
    data.iter().map(|data| format!("data: {data}\n\n")).collect()
}

/// The data of events that are named after their `type`, as Anthropic and the Responses API send them.
pub(crate) fn named(data: &[&str]) -> String {
    let name = |data: &str| {
        let value: serde_json::Value = serde_json::from_str(data).expect("JSON");
        value["type"].as_str().expect("a type").to_owned()
    };
    data.iter().map(|data| format!("event: {}\ndata: {data}\n\n", name(data))).collect()
}

/// A request with everything that a conversation can hold; `signature` is of the model's reasoning.
pub(crate) fn request(signature: serde_json::Value) -> youyou_api::ChatRequest {
    let request = serde_json::json!({
        "model": "m",
        "system": "Be brief.",
        "messages": [
            {"role": "user", "parts": [
                {"type": "text", "text": "Look at these."},
                {"type": "image", "name": "cat.png", "format": "image/png", "data": "iVBO", "size": 3},
                {"type": "file", "name": "a.txt", "text": "one\n", "size": 4},
            ]},
            {"role": "assistant", "parts": [
                {"type": "reasoning", "text": "Hm.", "signature": signature},
                {"type": "reasoning", "text": "Of another model.", "signature": {"api": "x", "model": "y"}},
                {"type": "text", "text": "I read."},
                {"type": "tool_call", "call_id": "call-1", "tool_name": "read", "arguments": "{\"path\":\"a\"}"},
                {"type": "tool_call", "call_id": "call-2", "tool_name": "", "arguments": "{\"path"},
            ]},
            {"role": "tool_result", "call_id": "call-1", "tool_name": "read", "content": "two", "is_error": false},
            {"role": "tool_result", "call_id": "call-2", "tool_name": "", "content": "no such tool", "is_error": true},
            {"role": "system", "text": "[a notice]"},
            {"role": "user", "parts": [{"type": "text", "text": "Go on."}]},
        ],
        "tools": [{
            "name": "read",
            "description": "Reads.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
        }],
        "temperature": 0.7,
        "max_tokens": 4000,
        "reasoning_effort": "high",
    });
    serde_json::from_value(request).expect("a request")
}
