//! The rules for a request that every model API holds to, checked. What one API asks beyond them is its adapter's affair.

use std::collections::{HashSet, VecDeque};

use youyou_api::{AssistantPart, CallId, ChatRequest, Message, ModelInfo, Part, ToolCall};

/// Checks a request against the rules that model APIs share: the first message is the user's; every call of an assistant
/// message has exactly one result right after that message, in the order of the calls, and there are no other results
/// (Y4.1-6); call ids are unique; neighbours have different roles, tool results aside; no text is empty; tools have
/// unique names; images go to a model with vision only.
///
/// # Errors
/// Names the first rule that is broken, and where; messages are counted from 1.
pub fn check_request(request: &ChatRequest, model: &ModelInfo) -> Result<(), String> {
    let mut names = HashSet::new();
    if let Some(tool) = request.tools.iter().find(|tool| !names.insert(&tool.name)) {
        return Err(format!("two tools are called {}; expected unique names", tool.name));
    }
    match request.messages.first() {
        None => return Err("the request has no message; expected one of the user".to_owned()),
        Some(Message::User { .. }) => {}
        Some(other) => return Err(format!("message 1 is of role {}; expected the user's", role(other))),
    }
    let mut calls = Calls::default();
    let mut before = None;
    for (at, message) in (1..).zip(&request.messages) {
        let role = role(message);
        if let Message::ToolResult(result) = message {
            calls.answer(at, &result.call_id, &result.tool_name)?;
        } else {
            calls.all_answered(at, || format!("a message of role {role}"))?;
            if before == Some(role) {
                return Err(format!("messages {} and {at} are both of role {role}; expected one message", at - 1));
            }
            check_content(message, model).map_err(|broken| format!("message {at} {broken}"))?;
            calls.ask(at, message)?;
        }
        before = Some(role);
    }
    calls.all_answered(request.messages.len() + 1, || "the end of the request".to_owned())
}

/// The calls of a request: every id so far, and those that still wait for their results.
#[derive(Default)]
struct Calls<'a> {
    ids: HashSet<&'a CallId>,
    waiting: VecDeque<&'a ToolCall>,
}

impl<'a> Calls<'a> {
    fn ask(&mut self, at: usize, message: &'a Message) -> Result<(), String> {
        let Message::Assistant { parts } = message else { return Ok(()) };
        for part in parts.iter() {
            let AssistantPart::ToolCall(call) = part else { continue };
            if call.call_id.as_str().is_empty() || !self.ids.insert(&call.call_id) {
                return Err(format!(
                    "message {at} calls {:?} with the id {:?}; expected one that no call before it has, and not empty",
                    call.tool_name,
                    call.call_id.as_str()
                ));
            }
            self.waiting.push_back(call);
        }
        Ok(())
    }

    fn answer(&mut self, at: usize, call_id: &CallId, tool_name: &str) -> Result<(), String> {
        match self.waiting.front() {
            None => return Err(format!("message {at} is a result for {call_id}, and no call before it waits for one")),
            Some(call) if call.call_id != *call_id => self.all_answered(at, || format!("a result for {call_id}"))?,
            // Some APIs join the two by the tool's name.
            Some(call) if call.tool_name != tool_name => {
                let called = &call.tool_name;
                return Err(format!(
                    "message {at} is a result of {tool_name:?}, and its call {call_id} is of {called:?}"
                ));
            }
            Some(_) => {}
        }
        self.waiting.pop_front();
        Ok(())
    }

    fn all_answered(&self, at: usize, found: impl FnOnce() -> String) -> Result<(), String> {
        self.waiting.front().map_or(Ok(()), |ToolCall { call_id, tool_name, arguments: _ }| {
            Err(format!("expected the result of call {call_id} ({tool_name:?}) as message {at}, found {}", found()))
        })
    }
}

/// Whether a message holds what an API takes.
fn check_content(message: &Message, model: &ModelInfo) -> Result<(), String> {
    let text = |text: &str| match text.trim() {
        "" => Err("has an empty or blank text; expected it to be left out".to_owned()),
        _ => Ok(true),
    };
    let user = |part: &Part| match part {
        Part::Text { text: words } => text(words),
        Part::Image(image) if !model.capabilities.vision => {
            Err(format!("has the image {:?}, and the model {} cannot look at images", image.name, model.id))
        }
        Part::Image(_) | Part::File(_) => Ok(true),
    };
    let assistant = |part: &AssistantPart| match part {
        AssistantPart::Text { text: words } => text(words),
        AssistantPart::Reasoning { .. } => Ok(false),
        AssistantPart::ToolCall(_) => Ok(true),
    };
    let says = match message {
        Message::User { parts } => parts.iter().map(user).collect::<Result<Vec<_>, _>>()?,
        Message::Assistant { parts } => parts.iter().map(assistant).collect::<Result<Vec<_>, _>>()?,
        Message::System { text: words } => vec![text(words)?],
        Message::ToolResult(_) => return Ok(()),
    };
    if says.contains(&true) { Ok(()) } else { Err("holds no text, no call and no attachment".to_owned()) }
}

fn role(message: &Message) -> &'static str {
    match message {
        Message::User { .. } => "user",
        Message::Assistant { .. } => "assistant",
        Message::ToolResult(_) => "tool_result",
        Message::System { .. } => "system",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use youyou_api::{Capabilities, ModelId, Sampling};

    use super::*;

    fn user(text: &str) -> Value {
        json!({"role": "user", "parts": [{"type": "text", "text": text}]})
    }

    fn system(text: &str) -> Value {
        json!({"role": "system", "text": text})
    }

    fn says(text: &str) -> Value {
        json!({"role": "assistant", "parts": [{"type": "text", "text": text}]})
    }

    fn calls(ids: &[&str]) -> Value {
        let call = |id: &&str| json!({"type": "tool_call", "call_id": id, "tool_name": "t", "arguments": "{}"});
        json!({"role": "assistant", "parts": ids.iter().map(call).collect::<Vec<_>>()})
    }

    fn result(id: &str) -> Value {
        json!({"role": "tool_result", "call_id": id, "tool_name": "t", "content": "", "is_error": false})
    }

    fn check(messages: Vec<Value>, tools: &[&str]) -> Result<(), String> {
        let tool = |name: &&str| json!({"name": name, "description": "", "parameters": {}});
        let request = ChatRequest {
            model: ModelId::new("m"),
            system: String::new(),
            messages: serde_json::from_value(messages.into()).expect("messages"),
            tools: serde_json::from_value(tools.iter().map(tool).collect()).expect("tools"),
            sampling: Sampling::default(),
        };
        let model = ModelInfo {
            id: ModelId::new("m"),
            display_name: "M".into(),
            context_window: 1,
            capabilities: Capabilities { vision: false, ..Capabilities::ALL },
        };
        check_request(&request, &model)
    }

    /// Y4.1-6.
    #[test]
    fn a_request_that_keeps_the_rules_passes() {
        let signed = json!({"type": "reasoning", "text": "", "signature": 1});
        let thinking = json!({"role": "assistant", "parts": [signed, {"type": "text", "text": "b"}]});
        let whole = vec![
            user("a"),
            calls(&["1", "2"]),
            result("1"),
            result("2"),
            calls(&["3"]),
            result("3"),
            system("notice"),
            user("b"),
            thinking,
            user("c"),
        ];
        assert_eq!(check(whole, &["t", "u"]), Ok(()));
    }

    /// Y4.1-6, Y8-1: one request for every rule.
    #[test]
    fn each_broken_rule_is_named_with_its_place() {
        let image = json!({"type": "image", "name": "cat.png", "format": "image/png", "data": "", "size": 0});
        let reasoning = json!({"type": "reasoning", "text": "hm"});
        let cases = [
            (vec![], "the request has no message; expected one of the user"),
            (vec![says("a")], "message 1 is of role assistant; expected the user's"),
            (vec![system("a"), user("b")], "message 1 is of role system; expected the user's"),
            (vec![user("a"), user("b")], "messages 1 and 2 are both of role user; expected one message"),
            (
                vec![user("a"), says("b"), says("c")],
                "messages 2 and 3 are both of role assistant; expected one message",
            ),
            (vec![json!({"role": "user", "parts": []})], "message 1 holds no text, no call and no attachment"),
            (
                vec![user("a"), json!({"role": "assistant", "parts": [reasoning]})],
                "message 2 holds no text, no call and no attachment",
            ),
            (vec![user("")], "message 1 has an empty or blank text; expected it to be left out"),
            (vec![user("a"), says(" \n")], "message 2 has an empty or blank text; expected it to be left out"),
            (vec![user("a"), system("")], "message 2 has an empty or blank text; expected it to be left out"),
            (
                vec![user("a"), calls(&[""]), result("")],
                "message 2 calls \"t\" with the id \"\"; expected one that no call before it has, and not empty",
            ),
            (
                vec![user("a"), calls(&["1"]), result("1"), calls(&["1"]), result("1")],
                "message 4 calls \"t\" with the id \"1\"; expected one that no call before it has, and not empty",
            ),
            (
                vec![user("a"), calls(&["1"])],
                "expected the result of call 1 (\"t\") as message 3, found the end of the request",
            ),
            (
                vec![user("a"), calls(&["1"]), system("b"), result("1")],
                "expected the result of call 1 (\"t\") as message 3, found a message of role system",
            ),
            (
                vec![user("a"), calls(&["1", "2"]), result("2"), result("1")],
                "expected the result of call 1 (\"t\") as message 3, found a result for 2",
            ),
            (vec![user("a"), result("1")], "message 2 is a result for 1, and no call before it waits for one"),
            (
                vec![user("a"), calls(&["1"]), result("1"), result("1")],
                "message 4 is a result for 1, and no call before it waits for one",
            ),
            (
                vec![
                    user("a"),
                    calls(&["1"]),
                    json!({"role": "tool_result", "call_id": "1", "tool_name": "u", "content": "", "is_error": false}),
                ],
                "message 3 is a result of \"u\", and its call 1 is of \"t\"",
            ),
            (
                vec![json!({"role": "user", "parts": [image]})],
                "message 1 has the image \"cat.png\", and the model m cannot look at images",
            ),
        ];
        for (messages, expected) in cases {
            assert_eq!(check(messages, &[]), Err(expected.to_owned()));
        }
        assert_eq!(check(vec![user("a")], &["t", "t"]), Err("two tools are called t; expected unique names".into()));
    }
}
