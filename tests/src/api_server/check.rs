//! The rules that each API holds its requests to.

use std::collections::HashSet;

use serde_json::Value;
use youyou::Api;

type Checked = Result<(), String>;

/// Checks a request as its API would.
///
/// # Errors
/// The first rule that is broken.
pub(super) fn request(api: Api, head: &str, body: &Value) -> Checked {
    let path = match api {
        Api::OpenAiChat => "/v1/chat/completions",
        Api::OpenAiResponses => "/v1/responses",
        Api::Anthropic => "/v1/messages",
        Api::Gemini => "/v1beta/models/m:streamGenerateContent?alt=sse",
    };
    ensure(head.starts_with(&format!("POST {path} HTTP/1.1")), || format!("{path} is asked, not {head}"))?;
    ensure(head.to_lowercase().contains("content-type: application/json"), || "the body is not marked as JSON".into())?;
    ensure(body.is_object(), || "the body is no JSON object".into())?;
    ensure(api == Api::Gemini || body["stream"] == true, || "no stream is asked for".into())?;
    match api {
        Api::OpenAiChat => chat(&body["messages"]),
        Api::OpenAiResponses => responses(&body["input"]),
        Api::Anthropic => anthropic(head, body),
        Api::Gemini => gemini(&body["contents"]),
    }
    .map_err(|rule| format!("{}: {rule} in {body:#}", api.as_str()))
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Calls that wait for their results.
#[derive(Default)]
struct Waiting<'v> {
    ids: HashSet<&'v str>,
    open: Vec<&'v str>,
}

impl<'v> Waiting<'v> {
    fn ask(&mut self, id: &'v str) -> Checked {
        ensure(!id.is_empty() && self.ids.insert(id), || format!("the call id {id:?} is empty or repeats"))?;
        self.open.push(id);
        Ok(())
    }

    fn answer(&mut self, id: &str) -> Checked {
        let place = self.open.iter().position(|open| *open == id);
        self.open.remove(place.ok_or_else(|| format!("no call waits for the result of {id:?}"))?);
        Ok(())
    }

    fn none(&self) -> Checked {
        ensure(self.open.is_empty(), || format!("the calls {:?} have no result right behind them", self.open))
    }
}

fn named(name: &Value) -> Checked {
    let name = text(name);
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    ensure((1..=64).contains(&name.len()) && name.chars().all(legal), || format!("{name:?} is no name of a tool"))
}

fn arguments(arguments: &Value) -> Checked {
    let parsed: Result<Value, _> = serde_json::from_str(text(arguments));
    ensure(parsed.is_ok_and(|parsed| parsed.is_object()), || format!("{arguments} is no JSON object in a text"))
}

fn chat(messages: &Value) -> Checked {
    let mut waiting = Waiting::default();
    let mut before = "";
    for message in list(messages) {
        let role = text(&message["role"]);
        if role == "tool" {
            waiting.answer(text(&message["tool_call_id"]))?;
            ensure(message["content"].is_string(), || "a result is no text".into())?;
        } else {
            waiting.none()?;
            ensure(role != before, || format!("two messages of role {role} in a row"))?;
        }
        ensure(role != "system" || before.is_empty(), || "a system message that is not the first".into())?;
        for call in list(&message["tool_calls"]) {
            waiting.ask(text(&call["id"]))?;
            named(&call["function"]["name"])?;
            arguments(&call["function"]["arguments"])?;
        }
        let says = !text(&message["content"]).is_empty() || list(&message["content"]).next().is_some();
        ensure(says || role == "tool" || list(&message["tool_calls"]).next().is_some(), || "an empty message".into())?;
        before = role;
    }
    ensure(!before.is_empty() && before != "assistant", || "the last word is not the user's".into())?;
    waiting.none()
}

fn responses(input: &Value) -> Checked {
    let mut waiting = Waiting::default();
    let mut reasoned = false;
    for item in list(input) {
        match text(&item["type"]) {
            "function_call" => {
                waiting.ask(text(&item["call_id"]))?;
                named(&item["name"])?;
                arguments(&item["arguments"])?;
            }
            "function_call_output" => waiting.answer(text(&item["call_id"]))?,
            "reasoning" => {
                ensure(item["encrypted_content"] == "sealed", || "reasoning is not as it was sent".into())?;
                reasoned = true;
                continue;
            }
            "message" => {
                waiting.none()?;
                let kind = if item["role"] == "user" { "input_" } else { "output_text" };
                for part in list(&item["content"]) {
                    ensure(text(&part["type"]).starts_with(kind), || {
                        format!("{part} in a message of {}", item["role"])
                    })?;
                }
                ensure(!reasoned || item["role"] == "assistant", || "nothing follows the reasoning".into())?;
            }
            other => return Err(format!("an item of type {other:?}")),
        }
        reasoned = false;
    }
    waiting.none()
}

fn anthropic(head: &str, body: &Value) -> Checked {
    ensure(head.to_lowercase().contains("anthropic-version: 2023-06-01"), || "the version is not named".into())?;
    ensure(body["max_tokens"].as_u64().is_some_and(|most| most > 0), || "max_tokens is missing".into())?;
    let mut waiting = Waiting::default();
    let mut before = "assistant";
    for message in list(&body["messages"]) {
        let role = text(&message["role"]);
        ensure(role != before, || format!("two messages of role {role} in a row"))?;
        before = role;
        let mut others = 0;
        for (place, block) in list(&message["content"]).enumerate() {
            match (role, text(&block["type"])) {
                ("user", "tool_result") => {
                    ensure(others == 0, || "a result behind something else".into())?;
                    waiting.answer(text(&block["tool_use_id"]))?;
                }
                ("user", "text" | "image") => {
                    waiting.none()?;
                    others += 1;
                }
                ("assistant", "text") => {}
                ("assistant", "thinking") => {
                    ensure(block["signature"] == "sealed" && place == 0, || "a thought is not as it was sent".into())?;
                }
                ("assistant", "tool_use") => {
                    waiting.ask(text(&block["id"]))?;
                    named(&block["name"])?;
                    ensure(block["input"].is_object(), || "the input of a call is no object".into())?;
                }
                (_, other) => return Err(format!("a block {other:?} of role {role}")),
            }
            ensure(block["type"] != "text" || !text(&block["text"]).trim().is_empty(), || "an empty text".into())?;
        }
        ensure(list(&message["content"]).next().is_some(), || "an empty message".into())?;
    }
    ensure(before == "user", || "the last word is not the user's".into())?;
    waiting.none()
}

fn gemini(contents: &Value) -> Checked {
    let mut open: Vec<&str> = Vec::new();
    for (place, content) in list(contents).enumerate() {
        let role = text(&content["role"]);
        ensure(["user", "model"].contains(&role) && (place > 0 || role == "user"), || {
            format!("content {place} is of {role:?}")
        })?;
        let mut calls = Vec::new();
        for part in list(&content["parts"]) {
            if let Some(call) = part.get("functionCall") {
                named(&call["name"])?;
                ensure(call["args"].is_object(), || "the arguments of a call are no object".into())?;
                let signed = part["thoughtSignature"] == "sealed";
                ensure(signed == calls.is_empty(), || "the signature of a call is missing, or on another one".into())?;
                calls.push(text(&call["name"]));
            } else if let Some(response) = part.get("functionResponse") {
                let name = text(&response["name"]);
                ensure(response["response"].is_object(), || "a response is no object".into())?;
                let found = open.iter().position(|open| *open == name);
                open.remove(found.ok_or_else(|| format!("no call waits for the response of {name:?}"))?);
            } else {
                ensure(part.get("text").is_some() || part.get("inlineData").is_some(), || format!("a part {part}"))?;
                ensure(open.is_empty(), || "something stands before the responses".into())?;
            }
        }
        ensure(list(&content["parts"]).next().is_some(), || "an empty content".into())?;
        if role == "model" {
            ensure(open.is_empty(), || format!("the calls {open:?} have no response"))?;
            open = calls;
        }
    }
    ensure(open.is_empty(), || format!("the calls {open:?} have no response"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The checks themselves can fail.
    #[test]
    fn requests_that_break_a_rule_are_noticed() {
        let user = json!({"role": "user", "content": "hi"});
        let call = json!({"id": "a", "function": {"name": "t", "arguments": "{}"}});
        let asks = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        let result = json!({"role": "tool", "tool_call_id": "a", "content": "r"});
        assert_eq!(chat(&json!([user, asks, result])), Ok(()));
        for broken in
            [json!([]), json!([user, user]), json!([user, asks]), json!([user, result]), json!([user, asks, user])]
        {
            chat(&broken).expect_err(&broken.to_string());
        }
        let call = json!({"type": "function_call", "call_id": "a", "name": "t", "arguments": "{}"});
        let result = json!({"type": "function_call_output", "call_id": "a", "output": "r"});
        assert_eq!(responses(&json!([call, result])), Ok(()));
        for broken in [json!([call]), json!([result]), json!([call, result, result])] {
            responses(&broken).expect_err(&broken.to_string());
        }
        let block = |block: Value| json!([block]);
        let text = block(json!({"type": "text", "text": "hi"}));
        let uses = block(json!({"type": "tool_use", "id": "a", "name": "t", "input": {}}));
        let result = block(json!({"type": "tool_result", "tool_use_id": "a", "content": "r"}));
        let messages = |parts: &[&Value]| {
            let roles = ["user", "assistant"].into_iter().cycle();
            let messages: Vec<_> =
                roles.zip(parts).map(|(role, content)| json!({"role": role, "content": content})).collect();
            anthropic("anthropic-version: 2023-06-01", &json!({"max_tokens": 1, "messages": messages}))
        };
        assert_eq!(messages(&[&text, &uses, &result]), Ok(()));
        for broken in [&[&text, &uses][..], &[&text, &uses, &text], &[&result], &[&text, &text, &result]] {
            messages(broken).expect_err(&format!("{broken:?}"));
        }
        let user = json!({"role": "user", "parts": [{"text": "hi"}]});
        let calls = json!({"role": "model", "parts": [{"functionCall": {"name": "t", "args": {}}, "thoughtSignature": "sealed"}]});
        let response = json!({"role": "user", "parts": [{"functionResponse": {"name": "t", "response": {}}}]});
        assert_eq!(gemini(&json!([user, calls, response])), Ok(()));
        for broken in [json!([calls]), json!([user, calls]), json!([user, response]), json!([user, calls, user])] {
            gemini(&broken).expect_err(&broken.to_string());
        }
    }
}
