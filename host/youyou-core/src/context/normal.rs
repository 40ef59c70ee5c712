//! The one form of a message list that every API accepts.
//!
//! [`normalize`] is pure and idempotent. Whatever list it is given, a stored one of a crashed session included, in the
//! result: no text is empty; call ids are unique; every call of an assistant message has exactly one result right
//! after that message, in the order of the calls, and there are no other results (Y4.1-6); neighbours of one role are
//! one message; the first message is the user's.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    iter,
    mem::discriminant,
    sync::Arc,
};

use youyou_api::{AssistantPart, CallId, CallResult, Message, Part, ToolCall};

/// What a call is answered with whose own result was never recorded (K-02).
pub const NO_RESULT: &str = "[no result was recorded: the call was interrupted, and what it has done is unknown]";

/// Stands in for the user where a conversation does not begin with them.
const OPENING: &str = "[The beginning of this conversation is not available.]";

/// Brings messages into the form described above.
///
/// A list that has this form stays where it is: in a long conversation another copy of it is what memory goes to.
pub fn normalize(messages: Vec<Message>) -> Vec<Message> {
    let mut messages = without_empty_text(messages);
    if !is_paired(&messages) {
        messages = pair(messages);
    }
    if has_neighbours_of_one_role(&messages) {
        messages = merge(messages);
    }
    open_with_user(messages)
}

fn without_empty_text(messages: Vec<Message>) -> Vec<Message> {
    let strip = |message| match message {
        Message::User { parts } => {
            let parts = filtered(&parts, |part| !matches!(part, Part::Text { text } if text.trim().is_empty()));
            (!parts.is_empty()).then_some(Message::User { parts })
        }
        Message::Assistant { parts } => {
            let is_empty = |part: &_| matches!(part, AssistantPart::Text { text } if text.trim().is_empty());
            let parts = filtered(&parts, |part| !is_empty(part));
            // Reasoning alone is no message that an API takes.
            let spoken = parts.iter().any(|part| !matches!(part, AssistantPart::Reasoning { .. }));
            spoken.then_some(Message::Assistant { parts })
        }
        Message::System { text } => (!text.trim().is_empty()).then_some(Message::System { text }),
        result @ Message::ToolResult(_) => Some(result),
    };
    messages.into_iter().filter_map(strip).collect()
}

/// The parts that are to stay; the very same list where all are.
pub(super) fn filtered<T: Clone>(parts: &Arc<[T]>, stays: impl Fn(&T) -> bool) -> Arc<[T]> {
    if parts.iter().all(&stays) { parts.clone() } else { parts.iter().filter(|part| stays(part)).cloned().collect() }
}

/// Whether call ids are unique and each call's one result stands behind its message, in the order of the calls.
fn is_paired(messages: &[Message]) -> bool {
    let mut ids = HashSet::new();
    let mut open = VecDeque::new();
    let fits = messages.iter().all(|message| match message {
        Message::ToolResult(result) => open
            .pop_front()
            .is_some_and(|call: &ToolCall| (&call.call_id, &call.tool_name) == (&result.call_id, &result.tool_name)),
        Message::Assistant { parts } if open.is_empty() => parts.iter().all(|part| {
            let AssistantPart::ToolCall(call) = part else { return true };
            open.push_back(call);
            !call.call_id.as_str().is_empty() && ids.insert(&call.call_id)
        }),
        Message::Assistant { .. } | Message::User { .. } | Message::System { .. } => open.is_empty(),
    });
    fits && open.is_empty()
}

/// Puts each call's result right behind its message, invents those that are missing and drops those without a call.
fn pair(messages: Vec<Message>) -> Vec<Message> {
    let mut results = Results::of(&messages);
    let mut ids = UniqueIds::default();
    let mut paired = Vec::with_capacity(messages.len());
    for (position, message) in messages.into_iter().enumerate() {
        match message {
            Message::Assistant { mut parts } => {
                let mut answers = Vec::new();
                for (place, part) in parts.clone().iter().enumerate() {
                    let AssistantPart::ToolCall(call) = part else { continue };
                    let result = results.take(&call.call_id, position);
                    let call_id = ids.make(&call.call_id);
                    if call_id != call.call_id {
                        let renamed = ToolCall { call_id: call_id.clone(), ..call.clone() };
                        Arc::make_mut(&mut parts)[place] = AssistantPart::ToolCall(renamed);
                    }
                    answers.push(answer(call_id, call.tool_name.clone(), result));
                }
                paired.push(Message::Assistant { parts });
                paired.extend(answers);
            }
            // Each has gone to its call by now, or has none.
            Message::ToolResult(_) => {}
            other @ (Message::User { .. } | Message::System { .. }) => paired.push(other),
        }
    }
    paired
}

fn answer(call_id: CallId, tool_name: String, result: Option<(Arc<str>, bool)>) -> Message {
    let (content, is_error) = result.unwrap_or_else(|| (NO_RESULT.into(), true));
    Message::ToolResult(Arc::new(CallResult { call_id, tool_name, content, is_error }))
}

/// The results of a list by the call they answer, each with its place.
struct Results(HashMap<CallId, VecDeque<(usize, Arc<str>, bool)>>);

impl Results {
    fn of(messages: &[Message]) -> Self {
        let mut results: HashMap<CallId, VecDeque<(usize, Arc<str>, bool)>> = HashMap::new();
        for (position, message) in messages.iter().enumerate() {
            if let Message::ToolResult(result) = message {
                let waiting = results.entry(result.call_id.clone()).or_default();
                waiting.push_back((position, result.content.clone(), result.is_error));
            }
        }
        Self(results)
    }

    /// The first result for a call after the call's own place. Where an id repeats, the earlier call takes the earlier
    /// result (K-07).
    fn take(&mut self, call_id: &CallId, after: usize) -> Option<(Arc<str>, bool)> {
        let waiting = self.0.get_mut(call_id)?;
        while let Some((position, content, is_error)) = waiting.pop_front() {
            if position > after {
                return Some((content, is_error));
            }
        }
        None
    }
}

/// Makes ids unique, leaving alone those that are.
#[derive(Default)]
struct UniqueIds(HashSet<CallId>);

impl UniqueIds {
    fn make(&mut self, id: &CallId) -> CallId {
        let mut unique = id.clone();
        let mut copy = 1;
        while unique.as_str().is_empty() || !self.0.insert(unique.clone()) {
            copy += 1;
            unique = CallId::new(format!("{id}_{copy}"));
        }
        unique
    }
}

fn has_neighbours_of_one_role(messages: &[Message]) -> bool {
    let is_result = |message: &Message| matches!(message, Message::ToolResult(_));
    messages.windows(2).any(|pair| discriminant(&pair[0]) == discriminant(&pair[1]) && !is_result(&pair[0]))
}

fn merge(messages: Vec<Message>) -> Vec<Message> {
    let mut merged: Vec<Message> = Vec::with_capacity(messages.len());
    let mut messages = messages.into_iter().peekable();
    while let Some(message) = messages.next() {
        merged.push(match message {
            Message::User { parts } => {
                let of_user = |next| if let Message::User { parts } = next { Ok(parts) } else { Err(next) };
                Message::User { parts: joined(parts, iter::from_fn(|| messages.next_if_map(of_user))) }
            }
            Message::Assistant { parts } => {
                let of_model = |next| if let Message::Assistant { parts } = next { Ok(parts) } else { Err(next) };
                Message::Assistant { parts: joined(parts, iter::from_fn(|| messages.next_if_map(of_model))) }
            }
            Message::System { text } => {
                let of_notice = |next| if let Message::System { text } = next { Ok(text) } else { Err(next) };
                let texts = iter::once(text).chain(iter::from_fn(|| messages.next_if_map(of_notice)));
                Message::System { text: texts.collect::<Vec<_>>().join("\n").into() }
            }
            result @ Message::ToolResult(_) => result,
        });
    }
    merged
}

/// The parts of one message and of those that follow; the very same list where none does.
fn joined<T: Clone>(first: Arc<[T]>, more: impl Iterator<Item = Arc<[T]>>) -> Arc<[T]> {
    let more: Vec<_> = more.collect();
    if more.is_empty() {
        first
    } else {
        iter::once(&first).chain(&more).flat_map(|parts| parts.iter().cloned()).collect()
    }
}

fn open_with_user(mut messages: Vec<Message>) -> Vec<Message> {
    if !matches!(messages.first(), None | Some(Message::User { .. })) {
        messages.insert(0, Message::User { parts: [Part::text(OPENING)].into() });
    }
    messages
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    fn user(text: &str) -> Message {
        Message::User { parts: [Part::text(text)].into() }
    }

    fn said(text: &str) -> AssistantPart {
        AssistantPart::Text { text: text.into() }
    }

    fn calls(ids: &[&str]) -> Message {
        Message::Assistant {
            parts: ids
                .iter()
                .map(|id| {
                    AssistantPart::ToolCall(ToolCall {
                        call_id: CallId::new(*id),
                        tool_name: "t".into(),
                        arguments: "{}".into(),
                    })
                })
                .collect(),
        }
    }

    fn result(id: &str, content: &str) -> Message {
        let call_id = CallId::new(id);
        answer(call_id, "t".into(), Some((content.into(), content == NO_RESULT)))
    }

    /// K-02.
    #[test]
    fn a_call_without_a_result_is_answered_that_it_was_interrupted() {
        let crashed = vec![user("go"), calls(&["a", "b"]), result("a", "done"), user("again")];
        let expected = [user("go"), calls(&["a", "b"]), result("a", "done"), result("b", NO_RESULT), user("again")];
        assert_eq!(normalize(crashed), expected);
    }

    /// K-03.
    #[test]
    fn a_result_without_a_call_is_left_out() {
        let stray = vec![user("go"), result("x", "?"), calls(&["a"]), result("a", "1"), result("a", "2")];
        assert_eq!(normalize(stray), [user("go"), calls(&["a"]), result("a", "1")]);
    }

    /// K-07: one id for every call, also twice in one response; every result stays with its call.
    #[test]
    fn repeated_ids_become_unique_and_keep_their_results() {
        let repeated = vec![
            user("go"),
            calls(&["same", "same"]),
            result("same", "1"),
            result("same", "2"),
            calls(&["same"]),
            result("same", "3"),
        ];
        let expected = [
            user("go"),
            calls(&["same", "same_2"]),
            result("same", "1"),
            result("same_2", "2"),
            calls(&["same_3"]),
            result("same_3", "3"),
        ];
        assert_eq!(normalize(repeated), expected);
    }

    #[test]
    fn empty_text_and_lone_reasoning_are_left_out_and_neighbours_become_one() {
        let reasoning = AssistantPart::Reasoning { text: "hm".into(), signature: None };
        let untidy = vec![
            user(""),
            Message::Assistant { parts: [said(" ")].into() },
            user("a"),
            Message::Assistant { parts: [reasoning].into() },
            user("b"),
            Message::Assistant { parts: [said("x")].into() },
            Message::Assistant { parts: [said("y")].into() },
        ];
        assert_eq!(
            normalize(untidy),
            [
                Message::User { parts: [Part::text("a"), Part::text("b")].into() },
                Message::Assistant { parts: [said("x"), said("y")].into() },
            ]
        );
    }

    #[test]
    fn a_conversation_opens_with_the_user() {
        assert_eq!(normalize(vec![calls(&["a"])]), [user(OPENING), calls(&["a"]), result("a", NO_RESULT)]);
        assert_eq!(normalize(Vec::new()), []);
    }

    fn messages() -> impl Strategy<Value = Vec<Message>> {
        let id = prop_oneof![Just("a"), Just("b"), Just("a_2"), Just("")];
        let text = prop_oneof![Just(""), Just(" "), Just("hi")];
        let part = prop_oneof![
            text.clone().prop_map(said),
            Just(AssistantPart::Reasoning { text: "hm".into(), signature: None }),
            id.clone().prop_map(|id| AssistantPart::ToolCall(ToolCall {
                call_id: CallId::new(id),
                tool_name: "t".into(),
                arguments: "{".into()
            })),
        ];
        let message = prop_oneof![
            text.clone().prop_map(user),
            text.prop_map(|text| Message::System { text: text.into() }),
            prop::collection::vec(part, 0..4).prop_map(|parts| Message::Assistant { parts: parts.into() }),
            id.prop_map(|id| result(id, "r")),
        ];
        prop::collection::vec(message, 0..12)
    }

    /// What the doc comment of this module promises.
    pub(in crate::context) fn check(messages: &[Message]) -> Result<(), TestCaseError> {
        let opened = matches!(messages.first(), None | Some(Message::User { .. }));
        prop_assert!(opened, "the first message is not the user's");
        let mut ids = HashSet::new();
        let mut expected: VecDeque<CallId> = VecDeque::new();
        for message in messages {
            match message {
                Message::ToolResult(result) => prop_assert_eq!(Some(result.call_id.clone()), expected.pop_front()),
                _ => prop_assert!(expected.is_empty(), "a result is missing"),
            }
            if let Message::Assistant { parts } = message {
                prop_assert!(!parts.is_empty());
                for part in parts.iter() {
                    match part {
                        AssistantPart::ToolCall(call) => {
                            prop_assert!(ids.insert(call.call_id.clone()), "an id repeats");
                            expected.push_back(call.call_id.clone());
                        }
                        AssistantPart::Text { text } => prop_assert!(!text.trim().is_empty()),
                        AssistantPart::Reasoning { .. } => {}
                    }
                }
            }
        }
        prop_assert!(expected.is_empty(), "a result is missing at the end");
        for pair in messages.windows(2) {
            let same = discriminant(&pair[0]) == discriminant(&pair[1]);
            prop_assert!(!same || matches!(pair[0], Message::ToolResult(_)), "neighbours of one role");
        }
        Ok(())
    }

    proptest! {
        /// Y4.1-6: for any list at all.
        #[test]
        fn any_list_is_paired_and_normalizing_twice_changes_nothing(messages in messages()) {
            let once = normalize(messages);
            check(&once)?;
            prop_assert_eq!(normalize(once.clone()), once);
        }

        /// What is left alone because it is in order already is just what would have been made of it.
        #[test]
        fn what_is_left_alone_would_have_come_out_the_same(messages in messages()) {
            let spoken = without_empty_text(messages);
            let long_way = merge(pair(spoken.clone()));
            prop_assert_eq!(normalize(spoken), open_with_user(long_way.clone()));
            prop_assert!(is_paired(&long_way) && !has_neighbours_of_one_role(&long_way));
        }
    }
}
