//! The rules for a request that every model API holds to, checked. What one API asks beyond them is its adapter's affair.

use std::collections::{HashSet, VecDeque};

use youyou_api::{AssistantPart, CallId, ChatRequest, Message, ModelInfo, Part, ToolCall, ToolName};

/// How a request breaks the rules. Messages are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// There is no message.
    #[error("the request has no message; expected one of the user")]
    NoMessage,
    /// It does not begin with the user.
    #[error("message 1 is of role {found}; expected the user's")]
    NotUserFirst {
        /// The first message's role.
        found: &'static str,
    },
    /// Two neighbours have one role; only tool results may.
    #[error("messages {} and {at} are both of role {role}; expected them to be one message", at - 1)]
    SameRole {
        /// The second of them.
        at: usize,
        /// Their role.
        role: &'static str,
    },
    /// A message holds nothing that an API takes: no part at all, or only reasoning.
    #[error("message {at} holds no text, no call and no attachment")]
    NothingSaid {
        /// Which.
        at: usize,
    },
    /// A text is empty or blank.
    #[error("message {at} has an empty or blank text; expected it to be left out")]
    EmptyText {
        /// The message that holds it.
        at: usize,
    },
    /// A call's id is empty.
    #[error("message {at} has a call of {tool_name:?} without an id")]
    NoCallId {
        /// The message that calls.
        at: usize,
        /// The tool called.
        tool_name: String,
    },
    /// Two calls have one id.
    #[error("message {at} calls with the id {call_id}, which an earlier call has; expected unique ids")]
    CallIdTwice {
        /// The message of the second call.
        at: usize,
        /// The id.
        call_id: CallId,
    },
    /// A call is not answered where its turn is.
    #[error("expected the result of call {call_id} ({tool_name:?}) as message {at}, found {found}")]
    CallWithoutResult {
        /// Where the result is missing.
        at: usize,
        /// The call.
        call_id: CallId,
        /// The tool called.
        tool_name: String,
        /// What is there instead.
        found: String,
    },
    /// A result answers no call of the assistant message before it, or one that has its result.
    #[error("message {at} is a result for {call_id}, and no call before it waits for one")]
    ResultWithoutCall {
        /// The result.
        at: usize,
        /// The id that it names.
        call_id: CallId,
    },
    /// A result names another tool than its call. Some APIs join the two by that name.
    #[error("message {at} is a result of {found:?}, and its call {call_id} is of {expected:?}")]
    ResultOfAnotherTool {
        /// The result.
        at: usize,
        /// The call.
        call_id: CallId,
        /// The tool called.
        expected: String,
        /// The tool that the result names.
        found: String,
    },
    /// Two tools have one name.
    #[error("two tools are called {name}; expected unique names")]
    ToolTwice {
        /// The name.
        name: ToolName,
    },
    /// An image for a model without vision.
    #[error("message {at} has the image {name:?}, and the model {model} cannot look at images")]
    ImageUnseen {
        /// The message that holds it.
        at: usize,
        /// The image's name.
        name: String,
        /// The model.
        model: String,
    },
}

/// Checks a request against the rules that model APIs share: the first message is the user's; every call of an assistant
/// message has exactly one result right after that message, in the order of the calls, and there are no other results
/// (Y4.1-6); call ids are unique; neighbours have different roles, tool results aside; no text is empty; tools have
/// unique names; images go to a model with vision only.
///
/// # Errors
/// The first [`Violation`], in the order of the messages.
pub fn check_request(request: &ChatRequest, model: &ModelInfo) -> Result<(), Violation> {
    let mut names = HashSet::new();
    if let Some(tool) = request.tools.iter().find(|tool| !names.insert(&tool.name)) {
        return Err(Violation::ToolTwice { name: tool.name.clone() });
    }
    match request.messages.first() {
        None => return Err(Violation::NoMessage),
        Some(Message::User { .. }) => {}
        Some(other) => return Err(Violation::NotUserFirst { found: role(other) }),
    }
    let mut calls = Calls::default();
    let mut before = None;
    for (at, message) in (1..).zip(&request.messages) {
        if let Message::ToolResult { call_id, tool_name, .. } = message {
            calls.answer(at, call_id, tool_name)?;
        } else {
            calls.all_answered(at, || format!("a message of role {}", role(message)))?;
            if before == Some(role(message)) {
                return Err(Violation::SameRole { at, role: role(message) });
            }
            check_content(at, message, model)?;
            calls.ask(at, message)?;
        }
        before = Some(role(message));
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
    fn ask(&mut self, at: usize, message: &'a Message) -> Result<(), Violation> {
        let Message::Assistant { parts } = message else { return Ok(()) };
        for part in parts {
            let AssistantPart::ToolCall(call) = part else { continue };
            if call.call_id.as_str().is_empty() {
                return Err(Violation::NoCallId { at, tool_name: call.tool_name.clone() });
            }
            if !self.ids.insert(&call.call_id) {
                return Err(Violation::CallIdTwice { at, call_id: call.call_id.clone() });
            }
            self.waiting.push_back(call);
        }
        Ok(())
    }

    fn answer(&mut self, at: usize, call_id: &CallId, tool_name: &str) -> Result<(), Violation> {
        match self.waiting.front() {
            None => return Err(Violation::ResultWithoutCall { at, call_id: call_id.clone() }),
            Some(call) if call.call_id != *call_id => self.all_answered(at, || format!("a result for {call_id}"))?,
            Some(call) if call.tool_name != tool_name => {
                return Err(Violation::ResultOfAnotherTool {
                    at,
                    call_id: call_id.clone(),
                    expected: call.tool_name.clone(),
                    found: tool_name.to_owned(),
                });
            }
            Some(_) => {}
        }
        self.waiting.pop_front();
        Ok(())
    }

    fn all_answered(&self, at: usize, found: impl FnOnce() -> String) -> Result<(), Violation> {
        self.waiting.front().map_or(Ok(()), |call| {
            let ToolCall { call_id, tool_name, arguments: _ } = (*call).clone();
            Err(Violation::CallWithoutResult { at, call_id, tool_name, found: found() })
        })
    }
}

fn check_content(at: usize, message: &Message, model: &ModelInfo) -> Result<(), Violation> {
    let text = |text: &str| if text.trim().is_empty() { Err(Violation::EmptyText { at }) } else { Ok(()) };
    let mut says = false;
    match message {
        Message::User { parts } => {
            for part in parts {
                says = true;
                match part {
                    Part::Text { text: words } => text(words)?,
                    Part::Image(image) if !model.capabilities.vision => {
                        let (name, model) = (image.name.clone(), model.id.to_string());
                        return Err(Violation::ImageUnseen { at, name, model });
                    }
                    Part::Image(_) | Part::File(_) => {}
                }
            }
        }
        Message::Assistant { parts } => {
            for part in parts {
                match part {
                    AssistantPart::Text { text: words } => text(words)?,
                    AssistantPart::Reasoning { .. } => continue,
                    AssistantPart::ToolCall(_) => {}
                }
                says = true;
            }
        }
        Message::System { text: words } => return text(words),
        Message::ToolResult { .. } => return Ok(()),
    }
    if says { Ok(()) } else { Err(Violation::NothingSaid { at }) }
}

fn role(message: &Message) -> &'static str {
    match message {
        Message::User { .. } => "user",
        Message::Assistant { .. } => "assistant",
        Message::ToolResult { .. } => "tool_result",
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
        check_request(&request, &model).map_err(|violation| violation.to_string())
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
            (vec![user("a"), user("b")], "messages 1 and 2 are both of role user; expected them to be one message"),
            (
                vec![user("a"), says("b"), says("c")],
                "messages 2 and 3 are both of role assistant; expected them to be one message",
            ),
            (vec![json!({"role": "user", "parts": []})], "message 1 holds no text, no call and no attachment"),
            (
                vec![user("a"), json!({"role": "assistant", "parts": [reasoning]})],
                "message 2 holds no text, no call and no attachment",
            ),
            (vec![user("")], "message 1 has an empty or blank text; expected it to be left out"),
            (vec![user("a"), says(" \n")], "message 2 has an empty or blank text; expected it to be left out"),
            (vec![user("a"), system("")], "message 2 has an empty or blank text; expected it to be left out"),
            (vec![user("a"), calls(&[""]), result("")], "message 2 has a call of \"t\" without an id"),
            (
                vec![user("a"), calls(&["1"]), result("1"), calls(&["1"]), result("1")],
                "message 4 calls with the id 1, which an earlier call has; expected unique ids",
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
