//! What an API says when it refuses, in the runtime's kinds (D-33).
//!
//! Every API has its own shape, and servers that imitate one have more. The facts are the same: a status, a code or two,
//! a message, sometimes a wish to wait. A code tells more than a status, a status more than a message.

use std::time::Duration;

use serde_json::Value;
use youyou_api::{ProviderError, ProviderErrorKind as Kind};

use crate::http;

/// What is shown of a text that somebody else wrote, in characters.
const SHOWN: usize = 500;

/// The refusal that an error's body tells of.
pub(crate) fn of_body(status: Option<u16>, body: &str) -> ProviderError {
    match serde_json::from_str::<Value>(body) {
        Ok(body) => of_json(status, &body),
        Err(_) => error(status, &[], &excerpt(body), None),
    }
}

/// The error in a body whose status is a success, if there is one.
pub(crate) fn in_success(body: &str) -> Option<ProviderError> {
    let body: Value = serde_json::from_str(body).ok()?;
    let stated = body.get("error").or_else(|| body.get(0)?.get("error")).is_some_and(|error| !error.is_null());
    stated.then(|| of_json(None, &body))
}

/// The refusal in an error document, of whichever API.
pub(crate) fn of_json(status: Option<u16>, body: &Value) -> ProviderError {
    // Gemini answers with a list of one where no event stream was begun.
    let body = body.get(0).unwrap_or(body);
    let stated = match body.get("error") {
        Some(error @ (Value::Object(_) | Value::String(_))) => error,
        _ => body,
    };
    let text = |value: &Value| match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let message = text(stated)
        .or_else(|| ["message", "detail", "error_description"].iter().find_map(|key| text(stated.get(key)?)))
        .unwrap_or_else(|| body.to_string());
    let mut codes: Vec<_> = ["code", "type", "status"].iter().filter_map(|key| text(stated.get(key)?)).collect();
    let details = stated.get("details").and_then(Value::as_array).into_iter().flatten();
    let mut wish = None;
    for detail in details {
        codes.extend(detail.get("reason").and_then(text));
        let delay = detail.get("retryDelay").and_then(Value::as_str).and_then(http::seconds);
        wish = wish.or(delay);
    }
    // A status inside of the document stands for one that the connection could not carry any more.
    let inner = codes.iter().find_map(|code| code.parse::<u16>().ok()).filter(|code| (400..600).contains(code));
    let codes: Vec<_> = codes.iter().map(String::as_str).filter(|code| code.parse::<u16>().is_err()).collect();
    error(status.or(inner), &codes, &excerpt(&message), wish)
}

fn error(status: Option<u16>, codes: &[&str], message: &str, retry_after: Option<Duration>) -> ProviderError {
    let kind = kind(status, codes, message);
    let code = codes.first().map(|code| format!(" ({})", excerpt(code))).unwrap_or_default();
    let message = if message.is_empty() { "no reason was given" } else { message };
    ProviderError { retry_after, ..ProviderError::new(kind, format!("{message}{code}")) }
}

/// How the runtime is to treat a refusal.
fn kind(status: Option<u16>, codes: &[&str], message: &str) -> Kind {
    let known: Vec<_> = codes.iter().filter_map(|code| kind_of_code(code)).collect();
    let vague = |kind: &Kind| matches!(kind, Kind::InvalidRequest | Kind::Overloaded | Kind::Network);
    match known.iter().find(|kind| !vague(kind)) {
        Some(known) => return *known,
        // K-24: too many requests are too many requests, whatever the message speaks of.
        None if status == Some(429) => return Kind::RateLimit,
        None => {}
    }
    let said = message.to_ascii_lowercase();
    let says = |pieces: &[&str]| pieces.iter().any(|piece| said.contains(piece));
    match status {
        Some(401 | 403 | 407) => Kind::Auth,
        // A server of one's own machine answers 500 when the prompt is too long.
        Some(400 | 413 | 422 | 500) | None if says(TOO_LONG) => Kind::ContextLength,
        Some(400 | 415 | 422 | 500) | None if says(UNSUPPORTED) && says(CONTENT) => Kind::UnsupportedContent,
        Some(413) => Kind::ContextLength,
        Some(408) => Kind::Network,
        Some(status @ 500..) if status != 501 => Kind::Overloaded,
        Some(400..=499) => Kind::InvalidRequest,
        Some(_) | None => known.first().copied().unwrap_or(Kind::Other),
    }
}

/// What servers say of a request that is longer than the model's window.
const TOO_LONG: &[&str] = &[
    "context length",
    "context window",
    "context limit",
    "context size",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "exceeds the maximum number of tokens",
    "maximum number of input tokens",
];

/// What servers say of content that they do not take, and what kind of content that is.
const UNSUPPORTED: &[&str] = &[
    "not support",
    "unsupported",
    "could not process",
    "unable to process",
    "cannot process",
    "invalid image",
    "exceeds",
    "not enabled",
];
const CONTENT: &[&str] = &["image", "vision", "multimodal", "mime", "media type"];

/// The codes that APIs document, and those of servers that imitate them.
fn kind_of_code(code: &str) -> Option<Kind> {
    Some(match code.to_ascii_lowercase().as_str() {
        "context_length_exceeded"
        | "exceed_context_size_error"
        | "model_context_window_exceeded"
        | "request_too_large" => Kind::ContextLength,
        "rate_limit_exceeded" | "rate_limit_error" | "resource_exhausted" | "too_many_requests" | "slow_down" => {
            Kind::RateLimit
        }
        // Waiting does not pay a bill.
        "insufficient_quota" | "billing_error" | "billing_hard_limit_reached" => Kind::Other,
        "invalid_api_key"
        | "authentication_error"
        | "permission_error"
        | "permission_denied"
        | "unauthenticated"
        | "api_key_invalid"
        | "api_key_service_blocked" => Kind::Auth,
        "overloaded_error"
        | "overloaded"
        | "server_error"
        | "api_error"
        | "internal_error"
        | "internal_server_error"
        | "internal"
        | "unavailable"
        | "service_unavailable"
        | "server_overloaded"
        | "timeout_error"
        | "deadline_exceeded"
        | "vector_store_timeout" => Kind::Overloaded,
        "invalid_image"
        | "invalid_image_format"
        | "invalid_base64_image"
        | "invalid_image_url"
        | "image_too_large"
        | "image_too_small"
        | "image_parse_error"
        | "image_content_policy_violation"
        | "invalid_image_mode"
        | "image_file_too_large"
        | "unsupported_image_media_type"
        | "empty_image_file" => Kind::UnsupportedContent,
        "invalid_request_error"
        | "invalid_argument"
        | "invalid_prompt"
        | "not_found_error"
        | "not_found"
        | "model_not_found"
        | "failed_precondition" => Kind::InvalidRequest,
        _ => return None,
    })
}

/// The beginning of a text on one line, without control characters.
pub(crate) fn excerpt(text: &str) -> String {
    let words = text.split(|c: char| c.is_control() || c.is_whitespace()).filter(|word| !word.is_empty());
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if let Some((end, _)) = line.char_indices().nth(SHOWN) {
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kind, the pause in milliseconds and the message.
    fn told(status: u16, body: &str) -> String {
        let error = of_body((status != 0).then_some(status), body);
        let pause = error.retry_after.map(|pause| format!(" after {} ms", pause.as_millis())).unwrap_or_default();
        format!("{}{pause}: {}", error.kind.as_str(), error.message)
    }

    /// D-33: the shapes of the four APIs, from their references.
    #[test]
    fn each_apis_refusals_have_their_kinds() {
        for (status, body, expected) in [
            // OpenAI.
            (
                401,
                r#"{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
                "auth: Incorrect API key provided (invalid_api_key)",
            ),
            (
                400,
                r#"{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}"#,
                "context_length: Your input exceeds the context window of this model. (context_length_exceeded)",
            ),
            (
                404,
                r#"{"error":{"message":"The model `x` does not exist","type":"invalid_request_error","param":null,"code":"model_not_found"}}"#,
                "invalid_request: The model `x` does not exist (model_not_found)",
            ),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
                "other: You exceeded your current quota (insufficient_quota)",
            ),
            (
                500,
                r#"{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}"#,
                "overloaded: The server had an error (server_error)",
            ),
            (
                400,
                r#"{"error":{"message":"The image data is not valid","type":"invalid_request_error","param":"input","code":"invalid_image_format"}}"#,
                "unsupported_content: The image data is not valid (invalid_image_format)",
            ),
            (
                400,
                r#"{"error":{"message":"Invalid schema for function 'a'","type":"invalid_request_error","param":"tools","code":"invalid_function_parameters"}}"#,
                "invalid_request: Invalid schema for function 'a' (invalid_function_parameters)",
            ),
            // Anthropic.
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"},"request_id":"r"}"#,
                "context_length: prompt is too long: 210000 tokens > 200000 maximum (invalid_request_error)",
            ),
            (
                413,
                r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
                "context_length: Request exceeds the maximum size (request_too_large)",
            ),
            (
                429,
                r#"{"type":"error","error":{"type":"rate_limit_error","message":"Number of input tokens has exceeded your rate limit"}}"#,
                "rate_limit: Number of input tokens has exceeded your rate limit (rate_limit_error)",
            ),
            (
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                "overloaded: Overloaded (overloaded_error)",
            ),
            (
                403,
                r#"{"type":"error","error":{"type":"permission_error","message":"no access"}}"#,
                "auth: no access (permission_error)",
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"Could not process image"}}"#,
                "unsupported_content: Could not process image (invalid_request_error)",
            ),
            // Gemini.
            (
                400,
                r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}"#,
                "auth: API key not valid. (INVALID_ARGUMENT)",
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
                "context_length: The input token count (2000000) exceeds the maximum number of tokens allowed (1048576). (INVALID_ARGUMENT)",
            ),
            (
                429,
                r#"{"error":{"code":429,"message":"You exceeded your quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}"#,
                "rate_limit after 34500 ms: You exceeded your quota (RESOURCE_EXHAUSTED)",
            ),
            (
                503,
                r#"[{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}]"#,
                "overloaded: The model is overloaded. (UNAVAILABLE)",
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"Unable to process input image.","status":"INVALID_ARGUMENT"}}"#,
                "unsupported_content: Unable to process input image. (INVALID_ARGUMENT)",
            ),
        ] {
            assert_eq!(told(status, body), expected);
        }
    }

    /// Servers that speak Chat Completions in their own way.
    #[test]
    fn each_servers_refusals_have_their_kinds() {
        for (status, body, expected) in [
            // llama.cpp
            (
                400,
                r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}"#,
                "context_length: the request exceeds the available context size (exceed_context_size_error)",
            ),
            (
                500,
                r#"{"error":{"code":500,"message":"image input is not supported - hint: no mmproj","type":"server_error"}}"#,
                "unsupported_content: image input is not supported - hint: no mmproj (server_error)",
            ),
            (
                503,
                r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#,
                "overloaded: Loading model (unavailable_error)",
            ),
            // llama-cpp-python
            (
                500,
                r#"{"error":{"message":"Requested tokens (9000) exceed context window of 4096","type":"internal_server_error"}}"#,
                "context_length: Requested tokens (9000) exceed context window of 4096 (internal_server_error)",
            ),
            // vLLM
            (
                400,
                r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","param":null,"code":400}"#,
                "context_length: This model's maximum context length is 4096 tokens. (BadRequestError)",
            ),
            // Ollama
            (
                404,
                r#"{"error":"model 'x' not found, try pulling it first"}"#,
                "invalid_request: model 'x' not found, try pulling it first",
            ),
            // LM Studio, FastAPI, a proxy.
            (400, r#"{"error":"Model does not support images"}"#, "unsupported_content: Model does not support images"),
            (422, r#"{"detail":"field required"}"#, "invalid_request: field required"),
            (502, "<html>\r\n<h1>Bad Gateway</h1></html>", "overloaded: <html> <h1>Bad Gateway</h1></html>"),
            (400, "", "invalid_request: no reason was given"),
            (
                402,
                r#"{"error":{"message":"Insufficient Balance","type":"unknown_error"}}"#,
                "invalid_request: Insufficient Balance (unknown_error)",
            ),
            (418, "{}", "invalid_request: {}"),
        ] {
            assert_eq!(told(status, body), expected);
        }
    }

    /// K-24: no compaction because of a rate limit.
    #[test]
    fn a_429_that_speaks_of_tokens_is_a_rate_limit() {
        for body in [
            r#"{"error":{"message":"Rate limit reached: the context length of your requests is too many tokens","type":"tokens","code":"rate_limit_exceeded"}}"#,
            r#"{"error":{"message":"prompt is too long, maximum context length","type":"invalid_request_error"}}"#,
            "too many tokens",
        ] {
            assert_eq!(of_body(Some(429), body).kind, Kind::RateLimit, "{body}");
        }
    }

    /// An error in the middle of a stream has no status of its own.
    #[test]
    fn an_error_without_a_status_goes_by_its_code() {
        for (body, expected) in [
            (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, Kind::Overloaded),
            (r#"{"error":{"message":"slow down","code":429}}"#, Kind::RateLimit),
            (r#"{"error":{"code":503,"message":"gone","status":"UNAVAILABLE"}}"#, Kind::Overloaded),
            (r#"{"error":{"message":"prompt is too long"}}"#, Kind::ContextLength),
            (r#"{"error":{"message":"?"}}"#, Kind::Other),
        ] {
            assert_eq!(in_success(body).expect("an error").kind, expected, "{body}");
        }
        assert_eq!(in_success(r#"{"choices":[],"error":null}"#), None);
        assert_eq!(in_success("<html>"), None);
    }

    #[test]
    fn a_message_is_one_line_of_bounded_length() {
        assert_eq!(excerpt(" a\u{1b}[31m\r\n\tb\u{0} "), "a [31m b");
        assert_eq!(excerpt(&"ü".repeat(2 * SHOWN)), format!("{}…", "ü".repeat(SHOWN)));
        assert_eq!(excerpt(&"a ".repeat(2 * SHOWN)).chars().count(), SHOWN + 1);
    }
}
