//! A server that answers every request with the same bytes, however odd they are.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Notify,
};

/// A server on this machine; it ends with the runtime.
pub(crate) struct Server {
    pub(crate) base_url: String,
    heard: Arc<Mutex<Vec<String>>>,
    /// Told when a client has gone away.
    pub(crate) gone: Arc<Notify>,
}

/// What follows the bytes.
#[derive(Clone, Copy)]
pub(crate) enum Then {
    /// The connection is closed.
    Close,
    /// Nothing, until the client goes away.
    Wait,
}

impl Server {
    /// Answers with these bytes.
    pub(crate) async fn answering(bytes: impl Into<Vec<u8>>, then: Then) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base_url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let (heard, gone) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<Notify>::default());
        let (bytes, log, left) = (Arc::new(bytes.into()), heard.clone(), gone.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (bytes, log, left) = (bytes.clone(), log.clone(), left.clone());
                tokio::spawn(async move {
                    answer(stream, &bytes, then, &log).await;
                    left.notify_one();
                });
            }
        });
        Self { base_url, heard, gone }
    }

    /// The requests that came, head and body.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn answer(mut stream: TcpStream, bytes: &[u8], then: Then, log: &Mutex<Vec<String>>) {
    let request = read_request(&mut stream).await;
    log.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    // A client may go away in the middle.
    let _sent = stream.write_all(bytes).await;
    match then {
        Then::Close => drop(stream.shutdown().await),
        Then::Wait => while matches!(stream.read(&mut [0; 64]).await, Ok(1..)) {},
    }
}

/// A request with a `content-length`, as the client sends them.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text.into_owned();
            }
        }
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return text.into_owned(),
            Ok(length) => read.extend_from_slice(&chunk[..length]),
        }
    }
}

/// An answer of this status and type.
pub(crate) fn reply(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}

/// The head of an event stream of unknown length, each piece of which is a chunk.
pub(crate) const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// One chunk.
pub(crate) fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}
