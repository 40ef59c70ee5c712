//! Refusals, and answers that are none.

use std::time::Duration;

use tokio::net::TcpListener;
use youyou_api::{CancellationToken, ModelProvider as _, ProviderErrorKind};
use youyou_providers::{ApiKey, HttpProvider, HttpSettings};

use crate::{
    KEY, ask, provider, refusal, request,
    server::{Server, Then, reply},
    settings,
};

async fn told(answer: String) -> String {
    let server = Server::answering(answer, Then::Close).await;
    refusal(&provider(server.base_url.clone()), &server.base_url).await
}

/// D-33: the kind, the pause that the server asks for, and its own words.
#[tokio::test]
async fn a_refusal_has_its_kind_and_its_pause() {
    let json = "content-type: application/json\r\n";
    let error = |message: &str| format!(r#"{{"error":{{"message":"{message}"}}}}"#);
    insta::assert_snapshot!([
        told(reply("429 Too Many Requests", &format!("{json}retry-after: 2\r\n"), &error("slow down"))).await,
        told(reply("503 Service Unavailable", "retry-after-ms: 1500\r\n", "later")).await,
        told(reply("401 Unauthorized", json, &error(&format!("Incorrect API key: {KEY}")))).await,
        told(reply("400 Bad Request", json, &error("maximum context length is 5 tokens"))).await,
        told(reply("404 Not Found", "content-type: text/html\r\n", "<h1>Not\nFound</h1>")).await,
        told(reply("500 Internal Server Error", "", "")).await,
    ].join("\n"), @r#"
    rate_limit after 2000 ms: local: [server] answered 429: slow down
    overloaded after 1500 ms: local: [server] answered 503: later
    auth: local: [server] answered 401: Incorrect API key: [hidden]
    context_length: local: [server] answered 400: maximum context length is 5 tokens
    invalid_request: local: [server] answered 404: <h1>Not Found</h1>
    overloaded: local: [server] answered 500: no reason was given
    "#);
}

/// What is no event stream is no answer, even where the status says that all is well.
#[tokio::test]
async fn a_success_that_is_no_event_stream_is_an_error() {
    let json = "content-type: application/json\r\n";
    insta::assert_snapshot!([
        told(reply("200 OK", json, r#"{"error":{"message":"busy","code":503}}"#)).await,
        told(reply("200 OK", json, r#"{"choices":[{"message":{"content":"whole"}}]}"#)).await,
        told(reply("200 OK", "content-type: text/html; charset=utf-8\r\n", "<title>Log in</title>")).await,
        told(reply("302 Found", "location: https://elsewhere.example/\r\n", "")).await,
        told(reply("200 OK", "content-type: text/event-stream\r\n", "")).await,
        told("nonsense\r\n\r\n".to_owned()).await,
    ].join("\n"), @r#"
    overloaded: local: [server] answered: busy
    invalid_request: local: [server] answered with "application/json", expected an event stream: {"choices":[{"message":{"content":"whole"}}]}; is `base_url` right, and does the model stream?
    invalid_request: local: [server] answered with "text/html", expected an event stream: <title>Log in</title>; is `base_url` right, and does the model stream?
    invalid_request: local: [server] sends on to https://elsewhere.example/ (status 302), which is not followed; set `base_url` to where the API is
    network: local: the answer ended without saying that it is complete (no finish reason)
    network: local: the connection to [server] broke off: invalid HTTP version parsed
    "#);
}

/// A body without end is not read to its end.
#[tokio::test]
async fn only_the_start_of_a_refusal_is_read() {
    let head = "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 1000000000000\r\n\r\n";
    let server = Server::answering([head.as_bytes(), &vec![b'x'; 1 << 20]].concat(), Then::Wait).await;
    let told = refusal(&provider(server.base_url.clone()), &server.base_url).await;
    assert!(told.starts_with("overloaded: local: [server] answered 500: xxx") && told.len() < 1000, "{told}");
    server.gone.notified().await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_of() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base_url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    drop(listener);
    let told = refusal(&provider(base_url.clone()), &base_url).await;
    assert!(told.starts_with("network: local: cannot connect to [server]: "), "{told}");
    assert!(told.ends_with("; is the server running, and is `base_url` right?"), "{told}");
}

/// A stall: a server that says nothing, before its answer or in the middle of it.
#[tokio::test]
async fn a_server_that_keeps_silent_is_given_up() {
    for start in ["", "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {}\n\n"] {
        let server = Server::answering(start, Then::Wait).await;
        let stall_timeout = Duration::from_millis(200);
        let settings = HttpSettings { stall_timeout, ..settings(server.base_url.clone()) };
        let provider = HttpProvider::new(settings).expect("settings");
        let expected = "network: local: [server] sent no bytes for 200 ms; raise `stall_timeout_ms` if the model needs \
                        longer to begin";
        assert_eq!(refusal(&provider, &server.base_url).await, expected);
        server.gone.notified().await;
    }
}

/// Keys travel in their header and nowhere else; and without one, nothing is sent.
#[tokio::test]
async fn a_key_travels_in_its_header_and_nowhere_else() {
    let server = Server::answering(reply("500 No", "", ""), Then::Close).await;
    let headers = vec![("X-Team".to_owned(), "blue".to_owned())];
    let extra = |key: &str, value: u64| (key.to_owned(), value.into());
    let extra_body = [extra("top_k", 20), extra("stream", 1), extra("seed", 5)].into_iter().collect();
    let mut settings_with = HttpSettings { headers, extra_body, ..settings(server.base_url.clone()) };
    settings_with.models[0].extra_body = [extra("seed", 6)].into_iter().collect();
    let with = HttpProvider::new(settings_with).expect("settings");
    ask(&with).await;
    let heard = server.heard();
    let [sent] = &heard[..] else { panic!("{heard:?}") };
    assert!(sent.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{sent}");
    assert!(sent.contains(&format!("authorization: Bearer {KEY}\r\n")) && sent.contains("x-team: blue\r\n"), "{sent}");
    assert_eq!(sent.matches(KEY).count(), 1);
    assert!(sent.contains("\"top_k\":20") && sent.contains("\"stream\":1,"), "{sent}");
    assert!(sent.contains("\"seed\":6") && !sent.contains("\"seed\":5"), "a model's own goes before: {sent}");
    assert!(!format!("{with:?}").contains(KEY));

    let key = ApiKey::missing("the environment variable X is not set");
    let without = HttpProvider::new(HttpSettings { key, ..settings(server.base_url.clone()) }).expect("settings");
    assert_eq!(refusal(&without, "-").await, "auth: local: the environment variable X is not set");
    assert_eq!(server.heard().len(), 1);
}

#[tokio::test]
async fn a_model_of_somebody_else_is_refused_before_anything_is_sent() {
    use futures_util::StreamExt as _;
    let mut asked = request();
    asked.model = youyou_api::ModelId::new("other");
    let item = provider("http://127.0.0.1:1/v1".into()).chat(asked, CancellationToken::new()).next().await;
    let error = item.expect("an item").expect_err("refused");
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ProviderErrorKind::InvalidRequest, "local: there is no model \"other\" at this provider")
    );
}
