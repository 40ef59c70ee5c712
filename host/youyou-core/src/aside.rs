//! A question to a model beside the conversation: for a summary, or for what is worth remembering.

use futures_util::StreamExt;
use youyou_api::{
    CancellationToken, ChatEvent, ChatRequest, ModelProvider, ProviderError, ProviderErrorKind, StopReason,
};

/// What an answer may weigh, in bytes: several times what anybody asks for here.
const ANSWER_BYTES: usize = 128 * 1024;

/// All that the model says; its reasoning is not part of it.
///
/// Cancellation safety: dropping the future ends the answer, as `stop` does.
///
/// # Errors
/// Those of the provider; that it refused, that the answer was cut off, or that it is far too long.
pub(crate) async fn ask(
    provider: &dyn ModelProvider,
    request: ChatRequest,
    stop: CancellationToken,
) -> Result<String, ProviderError> {
    let fail = |message: String| Err(ProviderError::new(ProviderErrorKind::Other, message));
    let mut stream = provider.chat(request, stop);
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        match event? {
            ChatEvent::TextDelta { text: piece } => text.push_str(&piece),
            ChatEvent::Done { stop: StopReason::End | StopReason::MaxTokens, .. } => return Ok(text),
            ChatEvent::Done { stop: StopReason::Refused, .. } => {
                return fail("the provider refused to answer".to_owned());
            }
            _ => {}
        }
        if text.len() > ANSWER_BYTES {
            return fail(format!("the model's answer is longer than the {ANSWER_BYTES} bytes that are read of it"));
        }
        tokio::task::consume_budget().await;
    }
    Err(broke_off())
}

/// An answer without an end.
pub(crate) fn broke_off() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Network, "the model's answer ended without saying that it was complete")
}

/// The one text that such a question consists of.
#[cfg(test)]
pub(crate) fn text(request: &ChatRequest) -> &str {
    use youyou_api::{Message, Part};

    match request.messages.as_slice() {
        [Message::User { parts }] => match &**parts {
            [Part::Text { text }] => text,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}
