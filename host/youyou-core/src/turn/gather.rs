//! From the pieces of a streamed answer to one message.

use youyou_api::{AssistantPart, CallId, ChatEvent, StopReason, ToolCall, Usage};

use crate::context::CallRecord;

/// Collects one answer. Text keeps its place among the parts; calls are taken in the order of their number (K-21).
#[derive(Debug, Default)]
pub(super) struct Gather {
    drafts: Vec<Draft>,
}

#[derive(Debug)]
enum Draft {
    Text(String),
    Reasoning { text: String, signature: Option<serde_json::Value> },
    Call(CallDraft),
}

#[derive(Debug)]
struct CallDraft {
    index: u32,
    provider_id: String,
    tool_name: String,
    arguments: String,
    whole: bool,
}

/// What a piece means for whoever listens.
#[derive(Debug, PartialEq)]
pub(super) enum Piece {
    /// More text.
    Text(String),
    /// More reasoning.
    Reasoning(String),
    /// Nothing to show yet.
    Silent,
    /// The answer is whole.
    Done(Usage, StopReason),
}

/// A gathered message.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Gathered {
    pub(super) parts: Vec<AssistantPart>,
    pub(super) renamed: Vec<CallRecord>,
}

impl Gathered {
    /// The calls among the parts, in order.
    pub(super) fn calls(&self) -> Vec<ToolCall> {
        self.parts
            .iter()
            .filter_map(|part| match part {
                AssistantPart::ToolCall(call) => Some(call.clone()),
                AssistantPart::Text { .. } | AssistantPart::Reasoning { .. } => None,
            })
            .collect()
    }
}

impl Gather {
    /// Takes the next event.
    pub(super) fn take(&mut self, event: ChatEvent) -> Piece {
        match event {
            ChatEvent::TextDelta { text } => {
                match self.drafts.last_mut() {
                    Some(Draft::Text(so_far)) => so_far.push_str(&text),
                    _ => self.drafts.push(Draft::Text(text.clone())),
                }
                Piece::Text(text)
            }
            ChatEvent::ReasoningDelta { text } => {
                match self.drafts.last_mut() {
                    Some(Draft::Reasoning { text: so_far, signature: None }) => so_far.push_str(&text),
                    _ => self.drafts.push(Draft::Reasoning { text: text.clone(), signature: None }),
                }
                Piece::Reasoning(text)
            }
            ChatEvent::ReasoningSignature { signature } => {
                match self.drafts.last_mut() {
                    Some(Draft::Reasoning { signature: slot @ None, .. }) => *slot = Some(signature),
                    _ => self.drafts.push(Draft::Reasoning { text: String::new(), signature: Some(signature) }),
                }
                Piece::Silent
            }
            ChatEvent::ToolCallDelta { index, call_id, tool_name, arguments } => {
                self.take_delta(index, call_id, tool_name, &arguments);
                Piece::Silent
            }
            ChatEvent::ToolCall(call) => {
                // Calls of one number keep the order in which they came.
                let index = self.calls_so_far().map(|call| call.index.saturating_add(1)).max().unwrap_or(0);
                let ToolCall { call_id, tool_name, arguments } = call;
                let provider_id = call_id.to_string();
                self.drafts.push(Draft::Call(CallDraft { index, provider_id, tool_name, arguments, whole: true }));
                Piece::Silent
            }
            ChatEvent::Done { usage, stop } => Piece::Done(usage, stop),
            _ => Piece::Silent,
        }
    }

    fn calls_so_far(&self) -> impl Iterator<Item = &CallDraft> {
        self.drafts.iter().filter_map(|draft| match draft {
            Draft::Call(call) => Some(call),
            Draft::Text(_) | Draft::Reasoning { .. } => None,
        })
    }

    fn take_delta(&mut self, index: u32, call_id: Option<String>, tool_name: Option<String>, arguments: &str) {
        let known = self.drafts.iter_mut().find_map(|draft| match draft {
            // A whole call has a number of our own making, which says nothing about the pieces of others.
            Draft::Call(call) if call.index == index && !call.whole => Some(call),
            Draft::Call(_) | Draft::Text(_) | Draft::Reasoning { .. } => None,
        });
        match known {
            Some(call) => {
                // Some APIs repeat id and name in every piece.
                if let Some(id) = call_id.filter(|_| call.provider_id.is_empty()) {
                    call.provider_id = id;
                }
                if let Some(name) = tool_name.filter(|_| call.tool_name.is_empty()) {
                    call.tool_name = name;
                }
                call.arguments.push_str(arguments);
            }
            None => self.drafts.push(Draft::Call(CallDraft {
                index,
                provider_id: call_id.unwrap_or_default(),
                tool_name: tool_name.unwrap_or_default(),
                arguments: arguments.to_owned(),
                whole: false,
            })),
        }
    }

    /// The message, its end having been reached.
    pub(super) fn complete(self, next_id: impl FnMut() -> CallId) -> Gathered {
        self.finish(next_id, |_| true)
    }

    /// The message as far as it came: a call is kept only if all of it was received (D-25).
    pub(super) fn incomplete(self, next_id: impl FnMut() -> CallId) -> Gathered {
        // The text of an object is valid JSON only with its last brace.
        self.finish(next_id, |call| {
            call.whole || serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&call.arguments).is_ok()
        })
    }

    fn finish(self, mut next_id: impl FnMut() -> CallId, keep: impl Fn(&CallDraft) -> bool) -> Gathered {
        let (mut calls, mut slots) = (Vec::new(), Vec::new());
        for draft in self.drafts {
            match draft {
                Draft::Call(call) if !keep(&call) => {}
                Draft::Call(call) => {
                    calls.push(call);
                    slots.push(None);
                }
                Draft::Text(text) => slots.push(Some(AssistantPart::Text { text: text.into() })),
                Draft::Reasoning { text, signature } => {
                    slots.push(Some(AssistantPart::Reasoning { text: text.into(), signature }));
                }
            }
        }
        calls.sort_by_key(|call| call.index);
        let mut gathered = Gathered { parts: Vec::with_capacity(slots.len()), renamed: Vec::new() };
        let mut calls = calls.into_iter();
        for slot in slots {
            let part = slot.or_else(|| calls.next().map(|call| named(call, next_id(), &mut gathered.renamed)));
            gathered.parts.extend(part);
        }
        gathered
    }
}

/// The call under an id of ours; the provider's may repeat (K-07) and is kept beside it.
fn named(call: CallDraft, call_id: CallId, renamed: &mut Vec<CallRecord>) -> AssistantPart {
    if !call.provider_id.is_empty() {
        renamed.push(CallRecord { call_id: call_id.clone(), provider_id: call.provider_id });
    }
    AssistantPart::ToolCall(ToolCall { call_id, tool_name: call.tool_name, arguments: call.arguments })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(index: u32, id: Option<&str>, name: Option<&str>, arguments: &str) -> ChatEvent {
        ChatEvent::ToolCallDelta {
            index,
            call_id: id.map(str::to_owned),
            tool_name: name.map(str::to_owned),
            arguments: arguments.to_owned(),
        }
    }

    fn gather(events: Vec<ChatEvent>) -> Gather {
        let mut gather = Gather::default();
        for event in events {
            gather.take(event);
        }
        gather
    }

    fn ids() -> impl FnMut() -> CallId {
        let mut count = 0;
        move || {
            count += 1;
            CallId::new(format!("call-{count}"))
        }
    }

    fn calls(gathered: &Gathered) -> Vec<(String, String, String)> {
        let all = gathered.calls().into_iter();
        all.map(|call| (call.call_id.to_string(), call.tool_name, call.arguments)).collect()
    }

    /// K-21: the order of the blocks, not of the pieces; every argument intact.
    #[test]
    fn interleaved_pieces_become_calls_in_block_order() {
        let gathered = gather(vec![
            delta(1, Some("y"), Some("write"), "{\"b\":"),
            delta(0, Some("x"), Some("read"), "{\"a\""),
            delta(1, None, None, "2}"),
            ChatEvent::TextDelta { text: "and".into() },
            delta(0, Some("x"), Some("read"), ":1}"),
        ])
        .complete(ids());
        assert_eq!(
            calls(&gathered),
            [
                ("call-1".into(), "read".into(), "{\"a\":1}".into()),
                ("call-2".into(), "write".into(), "{\"b\":2}".into())
            ]
        );
        assert_eq!(gathered.parts[2], AssistantPart::Text { text: "and".into() });
    }

    /// K-07: whatever ids the provider gives, ours are unique, and its own are kept.
    #[test]
    fn calls_of_one_id_become_calls_of_their_own() {
        let same = || {
            ChatEvent::ToolCall(ToolCall {
                call_id: CallId::new("same"),
                tool_name: "t".into(),
                arguments: "{}".into(),
            })
        };
        let gathered = gather(vec![same(), same()]).complete(ids());
        let ours: Vec<_> = calls(&gathered).into_iter().map(|call| call.0).collect();
        assert_eq!(ours, ["call-1", "call-2"]);
        assert!(gathered.renamed.iter().all(|record| record.provider_id == "same"));
    }

    /// A provider may number its pieces as it likes, and mix them with whole calls.
    #[test]
    fn pieces_never_run_into_a_whole_call_whatever_their_number() {
        let whole = |name: &str| {
            ChatEvent::ToolCall(ToolCall { call_id: CallId::new("w"), tool_name: name.into(), arguments: "{}".into() })
        };
        let gathered = gather(vec![
            whole("first"),
            delta(0, Some("x"), Some("second"), "{\"a\""),
            delta(u32::MAX, Some("y"), Some("third"), "{\"b\":2}"),
            whole("fourth"),
            delta(0, None, None, ":1}"),
        ])
        .complete(ids());
        let found: Vec<_> = calls(&gathered).into_iter().map(|(_, name, arguments)| (name, arguments)).collect();
        let expected = [("first", "{}"), ("second", "{\"a\":1}"), ("third", "{\"b\":2}"), ("fourth", "{}")];
        assert_eq!(found, expected.map(|(name, arguments)| (name.to_owned(), arguments.to_owned())));
    }

    /// D-25: whole calls stay, half ones go, text stays.
    #[test]
    fn a_cut_off_answer_keeps_only_whole_calls() {
        let events = || {
            vec![
                ChatEvent::TextDelta { text: "I ".into() },
                ChatEvent::TextDelta { text: "read".into() },
                delta(0, Some("x"), Some("read"), "{\"a\":1}"),
                delta(1, Some("y"), Some("write"), "{\"b\":"),
            ]
        };
        let gathered = gather(events()).incomplete(ids());
        assert_eq!(calls(&gathered), [("call-1".into(), "read".into(), "{\"a\":1}".into())]);
        assert_eq!(gathered.parts[0], AssistantPart::Text { text: "I read".into() });
        assert_eq!(calls(&gather(events()).complete(ids())).len(), 2);
    }

    #[test]
    fn a_signature_stays_with_its_reasoning() {
        let signature = serde_json::json!("s");
        let gathered = gather(vec![
            ChatEvent::ReasoningDelta { text: "h".into() },
            ChatEvent::ReasoningDelta { text: "m".into() },
            ChatEvent::ReasoningSignature { signature: signature.clone() },
            ChatEvent::ReasoningDelta { text: "next".into() },
        ])
        .complete(ids());
        assert_eq!(
            gathered.parts,
            [
                AssistantPart::Reasoning { text: "hm".into(), signature: Some(signature) },
                AssistantPart::Reasoning { text: "next".into(), signature: None },
            ]
        );
    }
}
