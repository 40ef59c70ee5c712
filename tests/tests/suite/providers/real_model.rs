//! A real model behind a real server: llama.cpp with a model of 270 million parameters, whose wit is not judged.
//!
//! `cargo xtask real-model` prepares both and runs this.

use std::{
    io::{BufRead, BufReader},
    net::{Ipv4Addr, TcpListener},
    process::{Child, Command, Stdio},
    time::Duration,
};

use futures_util::StreamExt as _;
use serde_json::{Map, Value, json};
use youyou::{
    Api, ApiKey, CancellationToken, ChatEvent, ChatRequest, HttpProvider, HttpSettings, Model as ApiModel,
    ModelProvider as _, Sampling, SessionOptions,
};
use youyou_tests::{
    World,
    agent::{Model, Setup},
};

/// The server; it ends with this value.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    fn start() -> Self {
        let place =
            |name| std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run `cargo xtask real-model`"));
        let (python, model) = (place("YOUYOU_REAL_MODEL_PYTHON"), place("YOUYOU_REAL_MODEL"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let mut process = Command::new(python)
            .args(["-m", "llama_cpp.server", "--model", &model, "--host", "127.0.0.1", "--port", &port.to_string()])
            .args(["--n_ctx", "4096", "--chat_format", "chatml-function-calling"])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut lines = BufReader::new(process.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
        let ready = lines.any(|line| line.contains("Uvicorn running on"));
        assert!(ready, "the server ended before it listened");
        // Whatever else it says must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, port }
    }

    fn provider(&self, extra_body: Value) -> HttpProvider {
        let Value::Object(extra_body) = extra_body else { panic!("an object") };
        self.provider_with(extra_body)
    }

    fn provider_with(&self, extra_body: Map<String, Value>) -> HttpProvider {
        let settings = HttpSettings {
            base_url: format!("http://127.0.0.1:{}/v1", self.port),
            models: vec![ApiModel::unknown("gemma", 4096)],
            extra_body,
            stall_timeout: Duration::from_secs(120),
            ..HttpSettings::new("local", Api::OpenAiChat, ApiKey::none())
        };
        HttpProvider::new(settings).expect("settings")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _killed = self.process.kill();
        let _ended = self.process.wait();
    }
}

fn request(text: &str, tools: Value) -> ChatRequest {
    let user = json!({"role": "user", "parts": [{"type": "text", "text": text}]});
    let request = json!({"model": "gemma", "system": "", "messages": [user], "tools": tools, "max_tokens": 200});
    serde_json::from_value(request).expect("a request")
}

/// Two turns, a call that the server is made to ask for, and a cancel in the middle of an answer.
#[tokio::test]
#[ignore = "needs a llama.cpp server and a model: run `cargo xtask real-model`"]
async fn a_real_model_converses_calls_a_tool_and_can_be_cancelled() {
    let server = Server::start();

    let model = Model::new(server.provider(json!({})));
    let host = Setup::of(World::new(""), model).with(|builder| builder.base_instructions("Be brief.")).build().await;
    let sampling = Sampling { max_tokens: Some(24), temperature: Some(0.0), ..Sampling::default() };
    let chat = host.chat_with(SessionOptions { sampling, ..SessionOptions::default() }).await;
    for text in ["Say hello.", "And once more."] {
        let turn = chat.run(text).await;
        assert!(turn.to_string().ends_with("turn completed\n"), "{turn}");
    }

    let count = json!([{
        "name": "count",
        "description": "Counts to a number.",
        "parameters": {"type": "object", "properties": {"to": {"type": "integer"}}, "required": ["to"]},
    }]);
    let forced = server.provider(json!({"tool_choice": {"type": "function", "function": {"name": "count"}}}));
    let events: Vec<_> = forced.chat(request("Count to 3.", count), CancellationToken::new()).collect().await;
    let (mut name, mut arguments) = (String::new(), String::new());
    for event in &events {
        if let Ok(ChatEvent::ToolCallDelta { index, tool_name, arguments: more, .. }) = event {
            assert_eq!(*index, 0, "one call: {events:?}");
            if name.is_empty() {
                name.extend(tool_name.as_deref());
            }
            arguments.push_str(more);
        }
    }
    assert_eq!(name, "count", "{events:?}");
    assert!(serde_json::from_str::<Map<String, Value>>(&arguments).is_ok(), "{events:?}");
    assert!(matches!(events.last(), Some(Ok(ChatEvent::Done { .. }))), "{events:?}");

    let provider = server.provider(json!({}));
    let cancel = CancellationToken::new();
    let mut answer = provider.chat(request("Tell a long story.", json!([])), cancel.clone());
    assert!(matches!(answer.next().await, Some(Ok(_))));
    cancel.cancel();
    assert_eq!(answer.next().await, None);
    drop(answer);
    let events: Vec<_> = provider.chat(request("Say hello.", json!([])), CancellationToken::new()).collect().await;
    assert!(matches!(events.last(), Some(Ok(ChatEvent::Done { .. }))), "{events:?}");
}
