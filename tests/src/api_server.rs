//! A model API on this machine: it says a script's replies in the words of one of the four APIs, and checks each request
//! as that API would.
//!
//! `speak` knows the answers' side of the wire and `check` the requests'. Neither shares a line with the providers
//! that are tested against them.

mod check;
mod speak;

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use serde_json::Value;
use youyou::Api;

pub use self::speak::Say;

/// A server; it ends with the process.
pub struct ApiServer {
    api: Api,
    port: u16,
    state: Arc<Mutex<State>>,
}

/// What is said to a request, if anything.
type Replies = Box<dyn FnMut(&Value) -> Option<Vec<Say>> + Send>;

struct State {
    replies: Replies,
    requests: Vec<Value>,
    broken: Vec<String>,
}

impl ApiServer {
    /// Speaks as this API, one reply for each request.
    ///
    /// # Panics
    /// When this machine lets nobody listen.
    pub fn speaking(api: Api, replies: Vec<Vec<Say>>) -> Self {
        let mut replies = replies.into_iter();
        Self::answering(api, move |_| replies.next())
    }

    /// Speaks as this API; what it says depends on the request's body.
    ///
    /// # Panics
    /// When this machine lets nobody listen.
    pub fn answering(api: Api, replies: impl FnMut(&Value) -> Option<Vec<Say>> + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let state = State { replies: Box::new(replies), requests: Vec::new(), broken: Vec::new() };
        let state = Arc::new(Mutex::new(state));
        let shared = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = shared.clone();
                // A client that goes away half-way is no matter of the server.
                thread::spawn(move || answer(&stream, api, &state).ok());
            }
        });
        Self { api, port, state }
    }

    /// Where it is, as config.yaml names it.
    pub fn base_url(&self) -> String {
        let version = if self.api == Api::Gemini { "v1beta" } else { "v1" };
        format!("http://127.0.0.1:{}/{version}", self.port)
    }

    /// The bodies that were sent, in order.
    pub fn requests(&self) -> Vec<Value> {
        lock(&self.state).requests.clone()
    }

    /// The rules of the API that requests broke.
    pub fn broken_rules(&self) -> Vec<String> {
        lock(&self.state).broken.clone()
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(mut stream: &TcpStream, api: Api, state: &Mutex<State>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while reader.read_line(&mut head)? > 2 {}
    if !head.ends_with("\r\n\r\n") {
        // The client was killed before it had asked for anything.
        return Ok(());
    }
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let reply = {
        let mut state = lock(state);
        state.broken.extend(check::request(api, &head, &body).err());
        let reply = (state.replies)(&body);
        state.requests.push(body);
        reply
    };
    let Some(reply) = reply else {
        return stream.write_all(b"HTTP/1.1 500 No reply is left\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    };
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    // In pieces that end in the middle of characters and lines.
    speak::stream(api, &reply).as_bytes().chunks(97).try_for_each(|piece| {
        stream.write_all(piece)?;
        stream.flush()
    })
}
