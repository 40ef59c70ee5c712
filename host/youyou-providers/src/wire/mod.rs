//! What the four APIs have in common in what they say: pure functions from a request to JSON and from events to
//! [`ChatEvent`]s, without a connection.
//!
//! Each API has a folder with two modules, `request` and `stream`; [`Api`] chooses among them.

pub(crate) mod complaint;
mod conversation;
pub(crate) mod signature;

use std::{borrow::Cow, collections::VecDeque};

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use youyou_api::{ChatEvent, ChatRequest, ImageFormat, ImagePart, ProviderError, ProviderErrorKind, ToolCall, Usage};

pub(crate) use self::conversation::{Content, Turn, turns};
use crate::{anthropic, gemini, model::Model, openai_chat, openai_responses};

/// A family of HTTP APIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Api {
    /// OpenAI's Responses API.
    #[serde(rename = "openai")]
    OpenAiResponses,
    /// OpenAI's Chat Completions, which many servers speak: Ollama, llama.cpp, vLLM, LM Studio and others.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// Anthropic's Messages API.
    Anthropic,
    /// Google's Gemini API.
    Gemini,
}

/// A request for one API, ready but for the address and the key.
#[derive(Debug, PartialEq)]
pub(crate) struct Body {
    /// Below the base address.
    pub(crate) path: String,
    /// JSON.
    pub(crate) json: Value,
}

/// Reads the events of one answer.
pub(crate) trait Decoder: Send {
    /// Takes one server-sent event that has data and adds what it means.
    ///
    /// # Errors
    /// What the API reports, or that the event is not of its language.
    fn take(
        &mut self,
        event: Option<&str>,
        data: &str,
        out: &mut VecDeque<ChatEvent>,
    ) -> Result<Progress, ProviderError>;

    /// Takes the end of the stream and adds [`ChatEvent::Done`].
    ///
    /// # Errors
    /// When the answer has not said that it is whole.
    fn end(&mut self, out: &mut VecDeque<ChatEvent>) -> Result<(), ProviderError>;
}

/// Whether an answer goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// More may come.
    More,
    /// Nothing more comes that matters.
    Over,
}

impl Api {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::OpenAiResponses, Self::OpenAiChat, Self::Anthropic, Self::Gemini];

    /// Its name in config.yaml.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiResponses => "openai",
            Self::OpenAiChat => "openai-chat",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// The API of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.as_str() == name)
    }

    /// Where its maker serves it.
    pub fn base_url(self) -> &'static str {
        match self {
            Self::OpenAiResponses | Self::OpenAiChat => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta",
        }
    }

    /// The keys at the top of a request that are written for each; none where no other keys may be
    /// [added](crate::Model::extra_body) for a model.
    pub fn keys(self) -> Option<&'static [&'static str]> {
        match self {
            Self::OpenAiChat => Some(openai_chat::KEYS),
            Self::OpenAiResponses | Self::Anthropic | Self::Gemini => None,
        }
    }

    /// The request in its language.
    pub(crate) fn request(self, request: &ChatRequest, model: &Model) -> Result<Body, ProviderError> {
        match self {
            Self::OpenAiResponses => Ok(openai_responses::request(request, model)),
            Self::OpenAiChat => Ok(openai_chat::request(request, model)),
            Self::Anthropic => Ok(anthropic::request(request, model)),
            Self::Gemini => gemini::request(request, model),
        }
    }

    /// What reads an answer of this model.
    pub(crate) fn decoder(self, model: &Model) -> Box<dyn Decoder> {
        match self {
            Self::OpenAiResponses => Box::new(openai_responses::Stream::new(model)),
            Self::OpenAiChat => Box::new(openai_chat::Stream::new(model)),
            Self::Anthropic => Box::new(anthropic::Stream::new(model)),
            Self::Gemini => Box::new(gemini::Stream::new(model)),
        }
    }

    /// The headers that a request carries beside those of the settings.
    ///
    /// # Errors
    /// When the key holds what no header can.
    pub(crate) fn headers(self, key: Option<&str>) -> Result<Vec<(HeaderName, HeaderValue)>, ProviderError> {
        let mut headers = Vec::new();
        if self == Self::Anthropic {
            headers.push((HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01")));
        }
        let Some(key) = key else { return Ok(headers) };
        let (name, value) = match self {
            Self::OpenAiResponses | Self::OpenAiChat => (AUTHORIZATION, Cow::from(format!("Bearer {key}"))),
            Self::Anthropic => (HeaderName::from_static("x-api-key"), Cow::from(key)),
            Self::Gemini => (HeaderName::from_static("x-goog-api-key"), Cow::from(key)),
        };
        let mut value = HeaderValue::from_str(&value).map_err(|_| {
            let message = "the API key holds a line break or another character that no header can carry; is it whole?";
            ProviderError::new(ProviderErrorKind::Auth, message)
        })?;
        value.set_sensitive(true);
        headers.push((name, value));
        Ok(headers)
    }

    /// Whether it takes an image.
    ///
    /// # Errors
    /// `unsupported_content`, with what to do.
    pub(crate) fn accepts(self, image: &ImagePart) -> Result<(), ProviderError> {
        const MIB: u64 = 1024 * 1024;
        let refused = |why: String| {
            let message = format!("{:?} cannot be sent: {why}", image.name);
            Err(ProviderError::new(ProviderErrorKind::UnsupportedContent, message))
        };
        match (self, image.format) {
            (Self::Gemini, ImageFormat::Gif) => {
                refused("Gemini takes no GIF images; convert it to PNG, JPEG or WebP".to_owned())
            }
            (Self::Anthropic, _) if image.size > 5 * MIB => refused(format!(
                "Anthropic takes images up to 5 MiB, this one has {} bytes; make it smaller",
                image.size
            )),
            _ => Ok(()),
        }
    }
}

/// The arguments of a call as a JSON object. A model may have written something else; the call was then answered with an
/// error, and APIs want an object all the same (K-23).
pub(crate) fn arguments(call: &ToolCall) -> Map<String, Value> {
    serde_json::from_str(&call.arguments).unwrap_or_else(|_| {
        let Value::Object(map) = json!({ "invalid_arguments": call.arguments }) else {
            unreachable!("it is an object")
        };
        map
    })
}

/// The name of a called tool, in letters that APIs take. A model may have made one up; the call was then answered with
/// an error (K-15).
pub(crate) fn tool_name(name: &str) -> Cow<'_, str> {
    const LONGEST: usize = 64;
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() {
        return Cow::Borrowed("unnamed");
    }
    if name.len() <= LONGEST && name.chars().all(legal) {
        return Cow::Borrowed(name);
    }
    name.chars().map(|c| if legal(c) { c } else { '_' }).take(LONGEST).collect()
}

/// One event's data as JSON.
///
/// # Errors
/// When it is something else; the message shows its beginning.
pub(crate) fn parse<T: DeserializeOwned>(data: &str) -> Result<T, ProviderError> {
    serde_json::from_str(data).map_err(|error| {
        // Something between the two garbled it; the same request may well be answered whole.
        let message = format!("a piece of the answer cannot be read ({error}): {}", complaint::excerpt(data));
        ProviderError::new(ProviderErrorKind::Network, message)
    })
}

/// The stream ended too early (a finish reason tells that it is whole).
pub(crate) fn broke_off() -> ProviderError {
    let message = "the answer ended without saying that it is complete (no finish reason)";
    ProviderError::new(ProviderErrorKind::Network, message)
}

/// Tokens, where an API leaves out what it does not know.
pub(crate) fn usage(input: Option<u64>, output: Option<u64>) -> Usage {
    Usage { input_tokens: input.unwrap_or(0), output_tokens: output.unwrap_or(0) }
}

#[cfg(test)]
mod tests {
    use youyou_api::CallId;

    use super::*;

    #[test]
    fn each_api_is_known_by_its_name() {
        for api in Api::ALL {
            assert_eq!(Api::named(api.as_str()), Some(api));
            assert_eq!(serde_json::to_value(api).expect("json"), api.as_str());
            assert!(api.base_url().starts_with("https://"));
        }
        assert_eq!(Api::named("cohere"), None);
    }

    /// Keys stand in no log.
    #[test]
    fn a_key_travels_in_a_header_that_shows_nothing() {
        for api in Api::ALL {
            let headers = api.headers(Some("sk-secret")).expect("headers");
            assert!(!format!("{headers:?}").contains("sk-secret"), "{headers:?}");
            assert!(headers.iter().any(|(_, value)| value.as_bytes().ends_with(b"sk-secret")));
            assert_eq!(api.headers(Some("a\nb")).expect_err("no header").kind, ProviderErrorKind::Auth);
            assert!(api.headers(None).expect("headers").iter().all(|(name, _)| name == "anthropic-version"));
        }
    }

    /// K-23, K-15.
    #[test]
    fn a_call_that_made_no_sense_can_still_be_sent() {
        let call = |arguments: &str| {
            let call =
                ToolCall { call_id: CallId::new("c"), tool_name: String::new(), arguments: arguments.to_owned() };
            Value::Object(super::arguments(&call)).to_string()
        };
        assert_eq!(call(r#"{"z":1,"a":2}"#), r#"{"z":1,"a":2}"#);
        assert_eq!(call(r#"{"z":"#), r#"{"invalid_arguments":"{\"z\":"}"#);
        assert_eq!(call("[]"), r#"{"invalid_arguments":"[]"}"#);
        assert_eq!(call(""), r#"{"invalid_arguments":""}"#);
        assert_eq!(tool_name(""), "unnamed");
        assert_eq!(tool_name("word-count"), "word-count");
        assert_eq!(tool_name("größe ändern"), "gr__e__ndern");
        assert_eq!(tool_name(&"x".repeat(80)).len(), 64);
    }

    /// Y8-1.
    #[test]
    fn an_image_that_an_api_does_not_take_is_refused_with_its_name() {
        let image = |format, size| ImagePart { name: "cat".into(), format, data: "".into(), size };
        let refused = |api: Api, image: &ImagePart| api.accepts(image).expect_err("refused");
        let gif = refused(Api::Gemini, &image(ImageFormat::Gif, 1));
        assert_eq!(gif.kind, ProviderErrorKind::UnsupportedContent);
        assert!(gif.message.contains("\"cat\"") && gif.message.contains("PNG"), "{gif}");
        assert!(refused(Api::Anthropic, &image(ImageFormat::Png, 6 << 20)).message.contains("5 MiB"));
        assert_eq!(Api::Anthropic.accepts(&image(ImageFormat::Gif, 5 << 20)), Ok(()));
    }
}
