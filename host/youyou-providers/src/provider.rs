//! The provider of an HTTP API.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use futures_util::{StreamExt as _, stream};
use reqwest::{
    Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use serde_json::{Map, Value};
use youyou_api::{
    CancellationToken, ChatEvent, ChatRequest, ChatStream, ModelId, ModelInfo, ModelProvider, Part, ProviderError,
    ProviderErrorKind, ProviderId,
};

use crate::{
    answer::Answer,
    http::{ApiKey, Client, Outgoing, Secrets},
    model::Model,
    wire::Api,
};

/// What an [`HttpProvider`] is made of.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// Its unique id.
    pub id: ProviderId,
    /// Which API it speaks.
    pub api: Api,
    /// Where the API is, up to and without the part that names what is asked for: `https://api.openai.com/v1`.
    pub base_url: String,
    /// The key, if the API wants one.
    pub key: ApiKey,
    /// What every request carries beside that, as names and values; a value is treated like a key.
    pub headers: Vec<(String, String)>,
    /// What the body of every request holds beside that, at its top; it goes before what the request says itself. For
    /// what one server knows and no other: `{"top_k": 20}`.
    pub extra_body: Map<String, Value>,
    /// What it serves.
    pub models: Vec<Model>,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long the server may send no byte, before its answer begins too.
    pub stall_timeout: Duration,
    /// Whether the tools are described in the system prompt too (D-64).
    pub tools_in_prompt: bool,
}

impl HttpSettings {
    /// How long connecting may take, unless somebody says otherwise.
    pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
    /// How long a server may send no byte, unless somebody says otherwise: a model on one's own machine takes long to
    /// read a long prompt.
    pub const STALL_TIMEOUT: Duration = Duration::from_secs(300);

    /// An API at its maker's address, without models.
    pub fn new(id: impl Into<String>, api: Api, key: ApiKey) -> Self {
        Self {
            id: ProviderId::new(id.into()),
            api,
            base_url: api.base_url().to_owned(),
            key,
            headers: Vec::new(),
            extra_body: Map::new(),
            models: Vec::new(),
            connect_timeout: Self::CONNECT_TIMEOUT,
            stall_timeout: Self::STALL_TIMEOUT,
            tools_in_prompt: true,
        }
    }
}

/// Why a provider cannot be made of its settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The base address is none, or of another scheme.
    #[error("the base URL {found:?} cannot be used: {why}; write for example http://127.0.0.1:8080/v1")]
    BaseUrl {
        /// What was written, without what may be a password.
        found: String,
        /// What is wrong.
        why: String,
    },
    /// A header whose name or value no request can carry. The value is not shown.
    #[error("the header {name:?} cannot be sent: its name must be a word, its value visible characters")]
    Header {
        /// Its name.
        name: String,
    },
}

/// Speaks with one HTTP API (Y3.2).
///
/// A stream starts its request when it is first polled, and ends it when it is dropped or its token fires (Y3.2-3).
/// Nothing is tried again here; the errors say whether that can help (D-33). No key is in an error or a log.
///
/// It needs tokio's runtime with I/O and time.
#[derive(Debug)]
pub struct HttpProvider {
    inner: Arc<Inner>,
    infos: Vec<ModelInfo>,
}

#[derive(Debug)]
struct Inner {
    id: ProviderId,
    api: Api,
    key: ApiKey,
    secrets: Secrets,
    extra_body: Map<String, Value>,
    models: Vec<Model>,
    client: Client,
    tools_in_prompt: bool,
}

impl HttpProvider {
    /// A provider with these settings. Nothing is sent yet.
    ///
    /// # Errors
    /// [`SettingsError`] for an address or a header that cannot be used.
    pub fn new(settings: HttpSettings) -> Result<Self, SettingsError> {
        let HttpSettings {
            id,
            api,
            base_url,
            key,
            headers,
            extra_body,
            models,
            connect_timeout,
            stall_timeout,
            tools_in_prompt,
        } = settings;
        let base = base_url_of(&base_url)?;
        let secrets = Secrets::new(&key, headers.iter().map(|(_, value)| value.as_str()));
        let client = Client::new(base, header_map(&headers)?, connect_timeout, stall_timeout);
        let infos = models.iter().map(|model| model.info.clone()).collect();
        Ok(Self {
            inner: Arc::new(Inner { id, api, key, secrets, extra_body, models, client, tools_in_prompt }),
            infos,
        })
    }
}

fn base_url_of(text: &str) -> Result<Url, SettingsError> {
    let refused = |why: String| {
        // What stands before an @ may be a password.
        let found = text.rsplit('@').next().unwrap_or_default().split(['?', '#']).next().unwrap_or_default();
        Err(SettingsError::BaseUrl { found: found.to_owned(), why })
    };
    match text.trim().parse::<Url>() {
        Err(error) => refused(error.to_string()),
        Ok(url) if !matches!(url.scheme(), "http" | "https") => {
            refused(format!("its scheme is {:?}, expected http or https", url.scheme()))
        }
        Ok(url) if url.query().is_some() || url.fragment().is_some() => {
            refused("it has a query or a fragment, and the path of each request comes after it".to_owned())
        }
        Ok(url) => Ok(url),
    }
}

fn header_map(headers: &[(String, String)]) -> Result<HeaderMap, SettingsError> {
    headers
        .iter()
        .map(|(name, value)| {
            let refused = || SettingsError::Header { name: name.clone() };
            let mut value = HeaderValue::from_str(value).map_err(|_| refused())?;
            value.set_sensitive(true);
            Ok((name.parse::<HeaderName>().map_err(|_| refused())?, value))
        })
        .collect()
}

impl ModelProvider for HttpProvider {
    fn id(&self) -> &ProviderId {
        &self.inner.id
    }

    fn models(&self) -> &[ModelInfo] {
        &self.infos
    }

    fn accepts(&self, _model: &ModelId, part: &Part) -> Result<(), ProviderError> {
        match part {
            Part::Image(image) => self.inner.api.accepts(image),
            Part::Text { .. } | Part::File(_) => Ok(()),
        }
    }

    fn tools_in_prompt(&self) -> bool {
        self.inner.tools_in_prompt
    }

    fn chat(&self, request: ChatRequest, cancel: CancellationToken) -> ChatStream {
        let cancelled = Box::pin(async move { cancel.cancelled().await });
        let chat = Chat { provider: self.inner.clone(), cancelled, state: State::Asked(Box::new(request)) };
        let items = stream::unfold(chat, |mut chat| async move { chat.next().await.map(|item| (item, chat)) });
        Box::pin(items.fuse())
    }
}

/// One stream.
struct Chat {
    provider: Arc<Inner>,
    /// Waits for the token all the while: to begin anew for each piece would cost more than the piece.
    cancelled: Pin<Box<dyn Future<Output = ()> + Send>>,
    state: State,
}

enum State {
    Asked(Box<ChatRequest>),
    Answered(Box<Answer>),
    Over,
}

impl Chat {
    async fn next(&mut self) -> Option<Result<ChatEvent, ProviderError>> {
        let Self { provider, cancelled, state } = self;
        if matches!(state, State::Over) {
            return None;
        }
        let item = {
            let mut next = pin!(async {
                loop {
                    match &mut *state {
                        State::Over => return None,
                        State::Answered(answer) => return answer.next().await,
                        State::Asked(request) => match provider.ask(request).await {
                            Ok(answer) => *state = State::Answered(Box::new(answer)),
                            Err(error) => return Some(Err(error)),
                        },
                    }
                }
            });
            poll_fn(|context| match cancelled.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(None),
                Poll::Pending => next.as_mut().poll(context),
            })
            .await
        };
        if !matches!(item, Some(Ok(_))) {
            // The connection is given up here and now, not when somebody drops the stream.
            *state = State::Over;
        }
        item.map(|item| item.map_err(|error| provider.tell(error)))
    }
}

impl Inner {
    async fn ask(&self, request: &ChatRequest) -> Result<Answer, ProviderError> {
        let model = self.models.iter().find(|model| model.info.id == request.model).ok_or_else(|| {
            let message = format!("there is no model {:?} at this provider", request.model.as_str());
            ProviderError::new(ProviderErrorKind::InvalidRequest, message)
        })?;
        let mut body = self.api.request(request, model)?;
        for (key, value) in self.extra_body.iter().chain(&model.extra_body) {
            body.json[key] = value.clone();
        }
        let headers = self.api.headers(self.key.reveal()?)?;
        let outgoing = Outgoing { path: body.path, headers, body: body.json.to_string().into_bytes() };
        Ok(Answer::new(self.client.open(outgoing).await?, self.api.decoder(model)))
    }

    /// An error as it may be seen: with the provider's name, and without secrets.
    fn tell(&self, error: ProviderError) -> ProviderError {
        let message = self.secrets.blot(format!("{}: {}", self.id, error.message));
        ProviderError { message, ..error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(base_url: &str) -> HttpSettings {
        let settings = HttpSettings::new("p", Api::OpenAiChat, ApiKey::none());
        HttpSettings { base_url: base_url.to_owned(), ..settings }
    }

    #[test]
    fn settings_that_cannot_be_used_are_refused() {
        HttpProvider::new(settings("http://127.0.0.1:1/v1/")).expect("fine");
        for (url, said) in [
            ("127.0.0.1:8080/v1", "the base URL \"127.0.0.1:8080/v1\" cannot be used"),
            ("", "the base URL \"\" cannot be used"),
            (
                "ftp://user:secret@a/b",
                "the base URL \"a/b\" cannot be used: its scheme is \"ftp\", expected http or https",
            ),
            ("https://a/v1?key=secret", "the base URL \"https://a/v1\" cannot be used: it has a query"),
        ] {
            let error = HttpProvider::new(settings(url)).expect_err(url).to_string();
            assert!(error.starts_with(said) && !error.contains("secret"), "{error}");
        }
        for (name, value) in [("a b", "x"), ("X-Key", "sec\nret")] {
            let headers = vec![(name.to_owned(), value.to_owned())];
            let error = HttpProvider::new(HttpSettings { headers, ..settings("http://a") }).expect_err(name);
            assert_eq!(error, SettingsError::Header { name: name.to_owned() });
        }
    }
}
