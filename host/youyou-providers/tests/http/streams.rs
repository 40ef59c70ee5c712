//! Answers that are cut off, given up, or whole.

use futures_util::StreamExt as _;
use youyou_api::{CancellationToken, ChatEvent, ModelProvider as _, ProviderErrorKind};

use crate::{
    ask, provider, request,
    server::{STREAM, Server, Then, chunk},
};

const TEXT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Grüße\"}}]}\n\n";
const CALL: &str = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"t\",\"arguments\":\"{\\\"x\\\":1}\"}}]}}]}\n\n";
const END: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";

/// An answer whose bytes end anywhere: what came is heard, then an error or, once it was whole, its end. Never a call
/// that runs by mistake: nothing but `Done` makes an answer whole.
#[tokio::test]
async fn a_stream_cut_at_any_byte_is_an_error_unless_it_was_whole() {
    let chunks = [chunk(TEXT), chunk(CALL), chunk(END), "0\r\n\r\n".to_owned()].concat();
    let whole = {
        let server = Server::answering([STREAM, &chunks].concat(), Then::Close).await;
        ask(&provider(server.base_url.clone())).await
    };
    assert!(matches!(
        &whole[..],
        [Ok(ChatEvent::TextDelta { .. }), Ok(ChatEvent::ToolCallDelta { .. }), Ok(ChatEvent::Done { .. })]
    ));
    let complete =
        STREAM.len() + chunks.find("\"tool_calls\"}]}\n\n").expect("the end") + "\"tool_calls\"}]}\n\n".len();
    let bytes = [STREAM, &chunks].concat().into_bytes();
    for cut in (0..bytes.len()).step_by(3) {
        let server = Server::answering(&bytes[..cut], Then::Close).await;
        let heard = ask(&provider(server.base_url.clone())).await;
        let (last, said) = heard.split_last().expect("something");
        assert!(whole.starts_with(said), "cut at {cut}: {heard:?}");
        match last {
            Err(error) => {
                assert!(cut < complete, "cut at {cut}: {error}");
                assert_eq!(error.kind, ProviderErrorKind::Network, "cut at {cut}: {error}");
            }
            Ok(last) => assert!(cut >= complete && matches!(last, ChatEvent::Done { .. }), "cut at {cut}: {heard:?}"),
        }
    }
}

/// Y3.2-3: a cancelled or dropped stream ends, and the request with it.
#[tokio::test]
async fn a_cancelled_stream_gives_up_its_connection() {
    let start = [STREAM, &chunk(TEXT)].concat();
    let server = Server::answering(start, Then::Wait).await;
    let provider = provider(server.base_url.clone());

    let cancel = CancellationToken::new();
    let mut stream = provider.chat(request(), cancel.clone());
    assert_eq!(stream.next().await, Some(Ok(ChatEvent::TextDelta { text: "Grüße".into() })));
    let (next, ()) = tokio::join!(stream.next(), async { cancel.cancel() });
    assert_eq!(next, None);
    server.gone.notified().await;
    assert_eq!(stream.next().await, None);

    let mut stream = provider.chat(request(), CancellationToken::new());
    stream.next().await;
    drop(stream);
    server.gone.notified().await;

    drop(provider.chat(request(), CancellationToken::new()));
    assert_eq!(provider.chat(request(), cancel).next().await, None);
    assert_eq!(server.heard().len(), 2, "a stream that nobody polls sends nothing");
}

/// Y3.2-3: also while the server has not answered yet.
#[tokio::test]
async fn a_request_can_be_cancelled_before_its_answer_begins() {
    let server = Server::answering("", Then::Wait).await;
    let provider = provider(server.base_url.clone());
    let cancel = CancellationToken::new();
    let mut stream = provider.chat(request(), cancel.clone());
    let asked = async {
        while server.heard().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    assert_eq!(tokio::join!(stream.next(), asked).0, None);
    server.gone.notified().await;
}
