//! The network, against servers on this machine.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::*;

/// A server on a port of its own, and how many connections it has seen. It lives as long as the process.
struct Server {
    port: u16,
    seen: Arc<AtomicUsize>,
}

impl Server {
    fn start(answer: impl Fn(TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&seen);
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                count.fetch_add(1, Ordering::SeqCst);
                answer(connection);
            }
        });
        Self { port, seen }
    }

    /// One that answers every request with this.
    fn http(response: String) -> Self {
        Self::start(move |connection| {
            let mut reader = BufReader::new(&connection);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
                line.clear();
            }
            (&connection).write_all(response.as_bytes()).ok();
        })
    }

    fn hello() -> Self {
        Self::http("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello".into())
    }

    fn seen(&self) -> usize {
        self.seen.load(Ordering::SeqCst)
    }

    fn url(&self, scheme: &str, host: &str) -> String {
        format!("{scheme}://{host}:{}", self.port)
    }
}

fn net(entries: &[&str]) -> Grants {
    grants(&[], &[], &[], entries)
}

async fn get(granted: &Grants, url: &str) -> String {
    World::new().attempt(granted, json!({"mode": "http-get", "url": url})).await
}

/// DESIGN §7: a granted host is reached, any other is not, and the line names it.
#[tokio::test]
async fn http_reaches_the_granted_host_and_no_other() {
    let (granted, other) = (Server::hello(), Server::hello());
    let allowed = net(&[&granted.url("http", "127.0.0.1")]);
    assert_eq!(get(&allowed, &granted.url("http", "127.0.0.1")).await, "200\nhello");
    let refused = get(&allowed, &other.url("http", "127.0.0.1")).await;
    let ports =
        |text: &str| text.replace(&granted.port.to_string(), "GRANTED").replace(&other.port.to_string(), "OTHER");
    insta::assert_snapshot!(ports(&refused), @r#"
    error: ErrorCode::HttpRequestDenied

    the component tried to reach http://127.0.0.1:OTHER, which no grant covers; to grant it, write under `execution` in index.md: permissions: { net: ["http://127.0.0.1:GRANTED", "http://127.0.0.1:OTHER"] }
    "#);
    insta::assert_snapshot!(ports(&get(&none(), &other.url("http", "127.0.0.1")).await), @r#"
    error: ErrorCode::HttpRequestDenied

    the component tried to reach http://127.0.0.1:OTHER, which no grant covers; to grant it, write under `execution` in index.md: permissions: { net: ["http://127.0.0.1:OTHER"] }
    "#);
    insta::assert_snapshot!(get(&none(), "https://api.example.com/v1").await, @r#"
    error: ErrorCode::HttpRequestDenied

    the component tried to reach https://api.example.com, which no grant covers; to grant it, write under `execution` in index.md: permissions: { net: ["https://api.example.com"] }
    "#);
    assert_eq!((granted.seen(), other.seen()), (1, 0));
}

/// DESIGN §7: loopback only when it is listed as an address or as `localhost`.
#[tokio::test]
async fn localhost_is_reached_when_it_is_listed_by_that_name() {
    let server = Server::hello();
    let allowed = net(&[&server.url("http", "localhost")]);
    assert_eq!(get(&allowed, &server.url("http", "localhost")).await, "200\nhello");
    let refused = get(&allowed, &server.url("http", "127.0.0.1")).await;
    assert!(refused.starts_with("error: ErrorCode::HttpRequestDenied"), "{refused}");
    assert_eq!(server.seen(), 1);
}

/// DESIGN §7: redirects are checked again, since the host follows none.
#[tokio::test]
async fn a_redirect_leads_nowhere_that_is_not_granted() {
    let target = Server::hello();
    let location = target.url("http", "127.0.0.1");
    let first = Server::http(format!("HTTP/1.1 302 Found\r\nlocation: {location}/\r\ncontent-length: 0\r\n\r\n"));
    let allowed = net(&[&first.url("http", "127.0.0.1")]);
    let answer = get(&allowed, &first.url("http", "127.0.0.1")).await;
    assert_eq!(answer, format!("302\nlocation: {location}/\n"));
    let hop = get(&allowed, &location).await;
    assert!(hop.starts_with("error: ErrorCode::HttpRequestDenied") && hop.contains(&location), "{hop}");
    assert_eq!(target.seen(), 0);
}

/// DESIGN §7: budgets on HTTP.
#[tokio::test]
async fn the_requests_of_a_call_are_limited() {
    let server = Server::hello();
    let allowed = net(&[&server.url("http", "127.0.0.1")]);
    let often = json!({"mode": "http-get-often", "url": server.url("http", "127.0.0.1"), "count": 300});
    insta::assert_snapshot!(World::new().attempt(&allowed, often).await, @r#"
    error: request 256: ErrorCode::ConnectionLimitReached

    the component tried to send more HTTP requests, but one call may send 256
    "#);
    assert_eq!(server.seen(), 256);
}

/// DESIGN §7: `wasi:sockets` connects to what is granted, and says what is missing.
#[tokio::test]
async fn a_socket_reaches_the_granted_address_and_no_other() {
    let echo = Server::start(|mut connection| {
        let mut text = String::new();
        connection.read_to_string(&mut text).ok();
        connection.write_all(text.to_uppercase().as_bytes()).ok();
    });
    let world = World::new();
    let connect = |host: &str| json!({"mode": "connect", "address": format!("{host}:{}", echo.port), "send": "ping"});
    let port = |text: String| text.replace(&echo.port.to_string(), "PORT");
    for host in ["127.0.0.1", "localhost"] {
        let allowed = net(&[&echo.url("tcp", host)]);
        assert_eq!(world.attempt(&allowed, connect(host)).await, "PING", "{host}");
    }
    assert_eq!(echo.seen(), 2);
    insta::assert_snapshot!(port(world.attempt(&none(), connect("127.0.0.1")).await), @r#"
    error: Permission denied (os error 2)

    the component tried to reach tcp://127.0.0.1:PORT, which no grant covers; to grant it, write under `execution` in index.md: permissions: { net: ["tcp://127.0.0.1:PORT"] }
    "#);
    insta::assert_snapshot!(port(world.attempt(&none(), connect("localhost")).await), @r#"
    error: Permission denied (os error 2)

    the component tried to look up the address of localhost, which no tcp or udp grant covers (443 below stands for the port you need); to grant it, write under `execution` in index.md: permissions: { net: ["tcp://localhost:443"] }
    "#);
    let http_only = net(&[&echo.url("http", "127.0.0.1")]);
    insta::assert_snapshot!(port(world.attempt(&http_only, connect("127.0.0.1")).await), @r#"
    error: Permission denied (os error 2)

    the component tried to reach tcp://127.0.0.1:PORT, which no grant covers; to grant it, write under `execution` in index.md: permissions: { net: ["http://127.0.0.1:PORT", "tcp://127.0.0.1:PORT"] }
    "#);
    let listen = json!({"mode": "listen", "address": "127.0.0.1:0"});
    insta::assert_snapshot!(port(world.attempt(&none(), listen).await), @r#"
    error: Permission denied (os error 2)

    the component tried to bind to 127.0.0.1:0, but a component only connects to others
    "#);
    assert_eq!(echo.seen(), 2);
}

#[tokio::test]
async fn a_datagram_is_sent_to_the_granted_address_and_no_other() {
    let receiver = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let address = receiver.local_addr().expect("an address").to_string();
    let world = World::new();
    let send = json!({"mode": "send-datagram", "address": address.clone()});
    assert_eq!(world.attempt(&net(&[&format!("udp://{address}")]), send.clone()).await, "sent");
    let mut buffer = [0; 16];
    let (count, _) = receiver.recv_from(&mut buffer).expect("a datagram");
    assert_eq!(buffer.get(..count), Some(&b"ping"[..]));
    let refused = world.attempt(&net(&[&format!("tcp://{address}")]), send).await;
    insta::assert_snapshot!(refused.replace(&address, "ADDRESS"), @r#"
    error: Permission denied (os error 2)

    the component tried to reach udp://ADDRESS, which no grant covers; to grant it, write under `execution` in index.md: permissions: { net: ["tcp://ADDRESS", "udp://ADDRESS"] }
    "#);
}
