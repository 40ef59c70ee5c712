//! Ids of tool calls for servers that take only those of nine letters and digits, as Mistral's do.

use std::{borrow::Cow, collections::HashMap};

use youyou_api::{AssistantPart, CallId, ChatRequest, Message};

/// What the calls of one request are called on the wire.
pub(super) enum CallIds<'r> {
    /// As the runtime calls them.
    AsTheyAre,
    /// By their place in the request, which is the same whenever the same conversation is sent.
    Short(HashMap<&'r CallId, usize>),
}

impl<'r> CallIds<'r> {
    pub(super) fn of(request: &'r ChatRequest, short: bool) -> Self {
        if !short {
            return Self::AsTheyAre;
        }
        let mut places = HashMap::new();
        for message in &request.messages {
            let Message::Assistant { parts } = message else { continue };
            for part in parts.iter() {
                if let AssistantPart::ToolCall(call) = part {
                    let next = places.len();
                    places.entry(&call.call_id).or_insert(next);
                }
            }
        }
        Self::Short(places)
    }

    /// The id on the wire. A result without its call, of which there is none in a request, keeps its own.
    pub(super) fn of_call(&self, id: &'r CallId) -> Cow<'r, str> {
        match self {
            Self::AsTheyAre => id.as_str().into(),
            Self::Short(places) => {
                places.get(id).map_or_else(|| id.as_str().into(), |place| format!("call{place:05}").into())
            }
        }
    }
}
