//! Providers against a third party's mock of these APIs, which breaks them on demand and judges its client.
//!
//! It is the Python package `llmock`; nothing leaves this machine. In a virtual environment of its own:
//! `python3 -m venv V && V/bin/pip install llmock`, then
//! `YOUYOU_LLMOCK_PYTHON=V/bin/python cargo suite chaos -- --ignored`.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::Duration,
};

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use youyou::{
    Api, ApiKey, CancellationToken, ChatEvent, ChatRequest, HttpProvider, HttpSettings, Model as ApiModel,
    ModelProvider as _, ProviderError,
};
use youyou_tests::{
    World,
    agent::{Model, Setup},
};

/// The mock, in a process of its own that ends with its stdin.
struct Mock {
    process: Child,
    port: u16,
}

impl Mock {
    fn start() -> Self {
        // Without a pause between pieces it has sent everything before it can notice that its client hung up.
        const PROGRAM: &str = "
import sys
from llmock.chaos import StreamChaos
from llmock.testing import LLMockServer
server = LLMockServer().start()
server.state.stream_chaos = StreamChaos(chunk_delay_ms=40)
print(server.port, flush=True)
sys.stdin.read()
";
        let python = std::env::var("YOUYOU_LLMOCK_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let started = Command::new(&python).args(["-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = started.unwrap_or_else(|error| panic!("{python} cannot be run: {error}"));
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let port = line.trim().parse().unwrap_or_else(|_| panic!("{python} has no llmock: `pip install llmock`"));
        Self { process, port }
    }

    fn provider(&self, api: Api) -> HttpProvider {
        let below = match api {
            Api::OpenAiResponses | Api::OpenAiChat => "v1",
            Api::Anthropic => "anthropic/v1",
            Api::Gemini => "gemini/v1beta",
        };
        let settings = HttpSettings {
            base_url: format!("http://127.0.0.1:{}/{below}", self.port),
            models: vec![ApiModel::unknown("m", 100_000)],
            stall_timeout: Duration::from_millis(1500),
            ..HttpSettings::new("mock", api, ApiKey::new("a-key-of-no-use"))
        };
        HttpProvider::new(settings).expect("settings")
    }

    /// Queues one fault, everything before forgotten.
    fn break_with(&self, fault: &Value) {
        self.ask("POST", "/_llmock/reset", "");
        let queued = self.ask("POST", "/_llmock/scenario", &json!({ "behaviors": [fault] }).to_string());
        assert!(queued.contains("\"queued\":1"), "{queued}");
    }

    /// What it thinks of its client.
    fn verdict(&self) -> String {
        self.ask("GET", "/_llmock/verdict?format=text", "")
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the mock listens");
        let length = body.len();
        let head =
            format!("{method} {path} HTTP/1.1\r\nhost: mock\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
        stream.write_all((head + body).as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It has read the end of its stdin by then, or never will.
        let _ended = self.process.wait();
    }
}

fn request() -> ChatRequest {
    let user = json!({"role": "user", "parts": [{"type": "text", "text": "Tell me something."}]});
    serde_json::from_value(json!({"model": "m", "system": "", "messages": [user], "tools": []})).expect("a request")
}

/// One answer: what was said before its end, and how it ended.
async fn listen(provider: &HttpProvider) -> (usize, Result<(), ProviderError>) {
    let mut stream = provider.chat(request(), CancellationToken::new());
    let mut pieces = 0;
    while let Some(item) = stream.next().await {
        match item {
            Ok(ChatEvent::Done { .. }) => return (pieces, Ok(())),
            Ok(_) => pieces += 1,
            Err(error) => return (pieces, Err(error)),
        }
    }
    panic!("the stream ended without an end")
}

/// D-33: what a server refuses is tried again by the agent where that can help, after the pause that was asked for.
#[tokio::test]
#[ignore = "needs the Python package llmock: set YOUYOU_LLMOCK_PYTHON to a Python that has it"]
async fn the_mock_finds_no_fault_with_how_refusals_are_handled() {
    let mock = Mock::start();
    for api in Api::ALL {
        for (fault, recovers) in [
            (json!({"type": "fail", "status": 429, "retry_after": 0.8, "times": 2}), true),
            (json!({"type": "fail", "status": 500}), true),
            (json!({"type": "fail", "status": 503, "times": 2}), true),
            (json!({"type": "fail", "status": 529}), true),
            (json!({"type": "fail", "status": 400, "times": null}), false),
            (json!({"type": "fail", "status": 401, "times": null}), false),
            (json!({"type": "fail", "status": 404, "times": null}), false),
        ] {
            mock.break_with(&fault);
            let (_host, chat) = Setup::of(World::new(""), Model::new(mock.provider(api))).chat().await;
            let turn = chat.run("Tell me something.").await;
            assert_eq!(turn.to_string().ends_with("turn completed\n"), recovers, "{} {fault}:\n{turn}", api.as_str());
            let verdict = mock.verdict();
            assert!(verdict.contains("PASS"), "{} {fault}:\n{turn}\n{verdict}", api.as_str());
        }
    }
}

/// A stream that breaks is an error, whichever way it breaks; a host that asks again on an error gets its answer.
#[tokio::test]
#[ignore = "needs the Python package llmock: set YOUYOU_LLMOCK_PYTHON to a Python that has it"]
async fn the_mock_finds_no_fault_with_how_broken_streams_are_handled() {
    let mock = Mock::start();
    for api in Api::ALL {
        let provider = mock.provider(api);
        for kind in ["disconnect", "truncate", "stall", "malformed"] {
            for after in [1, 4] {
                let fault = json!({"type": "stream_fault", "kind": kind, "after_chunks": after, "stall_seconds": 4});
                mock.break_with(&fault);
                let (_, broken) = listen(&provider).await;
                let error = broken.expect_err(&format!("{} {fault}", api.as_str()));
                assert!(error.kind.retryable(), "{} {fault}: {error:?}", api.as_str());
                // As a host would wait; the mock takes what comes sooner for another conversation.
                tokio::time::sleep(Duration::from_millis(400)).await;
                let (pieces, whole) = listen(&provider).await;
                assert!(whole.is_ok() && pieces > 0, "{} {fault}: {whole:?}", api.as_str());
                let verdict = mock.verdict();
                assert!(verdict.contains("PASS"), "{} {fault}: {error}\n{verdict}", api.as_str());
            }
        }
    }
}
