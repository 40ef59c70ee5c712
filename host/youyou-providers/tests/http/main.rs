//! Providers over real sockets: what goes wrong between two machines, and what is said of it.

mod failures;
mod server;
mod streams;
mod tls;

use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::json;
use youyou_api::{CancellationToken, ChatEvent, ChatRequest, ModelProvider as _, ProviderError};
use youyou_providers::{Api, ApiKey, HttpProvider, HttpSettings, Model};

type Item = Result<ChatEvent, ProviderError>;

/// The key of every request, which nobody may repeat.
const KEY: &str = "sk-very-secret-key";

fn settings(base_url: String) -> HttpSettings {
    let models = vec![Model::unknown("m", 1000)];
    HttpSettings { base_url, models, ..HttpSettings::new("local", Api::OpenAiChat, ApiKey::new(KEY)) }
}

fn provider(base_url: String) -> HttpProvider {
    HttpProvider::new(settings(base_url)).expect("settings that can be used")
}

fn request() -> ChatRequest {
    let user = json!({"role": "user", "parts": [{"type": "text", "text": "hi"}]});
    serde_json::from_value(json!({"model": "m", "system": "", "messages": [user], "tools": []})).expect("a request")
}

/// Everything that is heard; no error in it holds the key.
async fn ask(provider: &HttpProvider) -> Vec<Item> {
    let heard = tokio::time::timeout(Duration::from_secs(60), async {
        provider.chat(request(), CancellationToken::new()).collect::<Vec<_>>().await
    });
    let heard = heard.await.expect("the answer ends");
    assert!(!format!("{heard:?}").contains(KEY), "{heard:?}");
    heard
}

/// The one error that is heard, with the address left out.
async fn refusal(provider: &HttpProvider, base_url: &str) -> String {
    let heard = ask(provider).await;
    let [Err(error)] = &heard[..] else { panic!("expected one error, found {heard:?}") };
    let pause = error.retry_after.map(|pause| format!(" after {} ms", pause.as_millis())).unwrap_or_default();
    let origin = base_url.trim_end_matches("/v1");
    format!("{}{pause}: {}", error.kind.as_str(), error.message.replace(origin, "[server]"))
}
