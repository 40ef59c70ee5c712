//! Tests of sending, against a real server on this machine: each answer is written out by hand.

use std::net::{IpAddr, Ipv4Addr};

use bytes::Bytes;
use http_body_util::{Empty, Full};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::*;
use crate::grants::{Grants, budget::HttpLimits, gate::Resolve};

/// Resolves every name to this machine.
struct Here;

impl Resolve for Here {
    fn resolve<'a>(&'a self, _: &'a str) -> Pin<Box<dyn Future<Output = std::io::Result<Vec<IpAddr>>> + Send + 'a>> {
        Box::pin(async { Ok(vec![Ipv4Addr::LOCALHOST.into()]) })
    }
}

/// Answers each connection with `answer` and hands out the head of each request.
async fn serve(answer: String) -> (u16, tokio::sync::mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (heads, received) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            let (answer, heads) = (answer.clone(), heads.clone());
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    match connection.read_u8().await {
                        Ok(byte) => head.push(byte),
                        Err(_) => return,
                    }
                }
                heads.send(String::from_utf8_lossy(&head).into_owned()).ok();
                connection.write_all(answer.as_bytes()).await.ok();
                // Whatever else comes is read, so that closing does not reset what was written.
                tokio::io::copy(&mut connection, &mut tokio::io::sink()).await.ok();
            });
        }
    });
    (port, received)
}

fn gate(net: &[String], limits: HttpLimits) -> Arc<Gate> {
    let grants = Grants::parse(&[], &[], &[], net).expect("grants");
    Arc::new(Gate::new(grants.with_resolver(Here).with_http_limits(limits)))
}

fn get(url: &str) -> Request<WasiBody> {
    let body = Empty::<Bytes>::new().map_err(|never| match never {}).boxed_unsync();
    let uri: Uri = url.parse().expect("a URL");
    let host = uri.authority().expect("a host").to_string();
    Request::builder().uri(uri).header("host", host).body(body).expect("a request")
}

async fn fetch(gate: &Arc<Gate>, request: Request<WasiBody>) -> Result<(u16, String)> {
    let (response, connection) = send(Arc::clone(gate), request, RequestOptions::default()).await?;
    let status = response.status().as_u16();
    let connection = tokio::spawn(Pin::from(connection));
    let body = response.into_body().collect().await?.to_bytes();
    connection.abort();
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}

fn kinds(gate: &Gate) -> Vec<&'static str> {
    gate.denials.snapshot().iter().map(|denial| denial.kind.as_str()).collect()
}

const HELLO: &str = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";

/// DESIGN §7: the address that was decided on is the one connected to; the name travels in the request only.
#[tokio::test]
async fn a_request_goes_to_the_address_that_the_name_was_resolved_to() {
    let (port, mut heads) = serve(HELLO.into()).await;
    let net = [format!("http://pinned.example:{port}"), format!("http://127.0.0.1:{port}")];
    let gate = gate(&net, HttpLimits::default());
    let answer = fetch(&gate, get(&format!("http://pinned.example:{port}/a?b=c"))).await.expect("an answer");
    assert_eq!(answer, (200, "hello".to_owned()));
    let head = heads.recv().await.expect("a request");
    assert_eq!(head, format!("GET /a?b=c HTTP/1.1\r\nhost: pinned.example:{port}\r\n\r\n"));
    assert!(kinds(&gate).is_empty());
}

#[tokio::test]
async fn a_name_that_resolves_to_this_machine_is_refused() {
    let (port, mut heads) = serve(HELLO.into()).await;
    let gate = gate(&[format!("http://rebound.example:{port}")], HttpLimits::default());
    let error = fetch(&gate, get(&format!("http://rebound.example:{port}/"))).await.expect_err("refused");
    assert!(matches!(error, Error::DestinationIpProhibited), "{error}");
    assert_eq!(kinds(&gate), ["DENIED_NET"]);
    assert!(heads.try_recv().is_err(), "nobody connected");
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_its_target_a_new_decision() {
    let (elsewhere, mut never) = serve(HELLO.into()).await;
    let location = format!("http://127.0.0.1:{elsewhere}/");
    let (port, _heads) =
        serve(format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")).await;
    let gate = gate(&[format!("http://localhost:{port}")], HttpLimits::default());
    let (status, _) = fetch(&gate, get(&format!("http://localhost:{port}/"))).await.expect("an answer");
    assert_eq!(status, 302);
    let error = fetch(&gate, get(&location)).await.expect_err("refused");
    assert!(matches!(error, Error::HttpRequestDenied), "{error}");
    assert_eq!(kinds(&gate), ["DENIED_NET"]);
    assert!(never.try_recv().is_err(), "the host followed the redirect");
}

#[tokio::test]
async fn requests_and_bytes_of_a_call_are_counted_both_ways() {
    let (port, mut heads) = serve(HELLO.into()).await;
    let gate = gate(&[format!("http://localhost:{port}")], HttpLimits { requests: 3, bytes: 12 });
    let url = format!("http://localhost:{port}/");
    fetch(&gate, get(&url)).await.expect("5 of 12 bytes");
    let body = Full::new(Bytes::from_static(b"12345678")).map_err(|never| match never {}).boxed_unsync();
    let post = Request::post(&url).body(body).expect("a request");
    let error = fetch(&gate, post).await.expect_err("8 bytes where 7 are left");
    assert!(matches!(error, Error::HttpRequestBodySize(Some(12))), "{error}");
    fetch(&gate, get(&url)).await.expect("10 of 12 bytes");
    let error = fetch(&gate, get(&url)).await.expect_err("a fourth request");
    assert!(matches!(error, Error::ConnectionLimitReached), "{error}");
    assert_eq!(kinds(&gate), ["LIMIT_HTTP_BYTES", "LIMIT_HTTP_REQUESTS"]);
    gate.start_call();
    fetch(&gate, get(&url)).await.expect("a new call");
    fetch(&gate, get(&url)).await.expect("10 of 12 bytes");
    let error = fetch(&gate, get(&url)).await.expect_err("15 of 12 bytes");
    assert!(matches!(error, Error::HttpResponseBodySize(Some(12))), "{error}");
    heads.close();
}

#[tokio::test]
async fn what_could_slip_past_a_grant_is_refused() {
    let (port, mut heads) = serve(HELLO.into()).await;
    let gate = gate(&[format!("http://localhost:{port}")], HttpLimits::default());
    let tunnel = Request::builder().method(Method::CONNECT);
    let body = || Empty::<Bytes>::new().map_err(|never| match never {}).boxed_unsync();
    let tunnel = tunnel.uri(format!("http://localhost:{port}/")).body(body()).expect("a request");
    assert!(matches!(fetch(&gate, tunnel).await, Err(Error::HttpRequestMethodInvalid)));
    let user = get(&format!("http://x@localhost:{port}/"));
    assert!(matches!(fetch(&gate, user).await, Err(Error::HttpRequestUriInvalid)));
    let tls = get(&format!("https://localhost:{port}/"));
    assert!(matches!(fetch(&gate, tls).await, Err(Error::HttpRequestDenied)));
    assert!(heads.try_recv().is_err());
}

#[tokio::test]
async fn a_server_that_is_silent_runs_into_the_guests_own_timeout() {
    let (port, _heads) = serve(String::new()).await;
    let gate = gate(&[format!("http://localhost:{port}")], HttpLimits::default());
    let options = RequestOptions { first_byte_timeout: Some(Duration::from_millis(20)), ..RequestOptions::default() };
    let Err(error) = send(gate, get(&format!("http://localhost:{port}/")), options).await else { panic!("an answer") };
    assert!(matches!(error, Error::ConnectionReadTimeout), "{error}");
}

#[tokio::test]
async fn https_speaks_tls_or_fails() {
    let (port, _heads) = serve(HELLO.into()).await;
    let gate = gate(&[format!("https://localhost:{port}")], HttpLimits::default());
    let options = RequestOptions { connect_timeout: Some(Duration::from_millis(200)), ..RequestOptions::default() };
    let request = get(&format!("https://localhost:{port}/"));
    let Err(error) = send(gate, request, options).await else { panic!("an answer without TLS") };
    assert!(matches!(error, Error::ConnectionTimeout | Error::Tls(_)), "{error}");
}
