//! The HTTP client of one provider.

use std::{
    net::IpAddr,
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use reqwest::{
    Response, Url,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION},
    redirect,
};
use rustls_platform_verifier::BuilderVerifierExt;
use youyou_api::{ProviderError, ProviderErrorKind};

use super::{
    Events,
    failure::{Patience, of_transport, stalled},
    retry_after,
};
use crate::wire::complaint;

/// The most that is read of an answer that is no event stream, in bytes.
const MOST_BODY: usize = 64 * 1024;

/// Sends requests of one provider. Made on first use, since reading the system's certificates takes time.
///
/// Redirects are not followed: a key would go to a server that nobody named. Proxies of the environment are used,
/// except for this machine.
#[derive(Debug)]
pub(crate) struct Client {
    base: Url,
    headers: HeaderMap,
    patience: Patience,
    client: OnceLock<Result<reqwest::Client, String>>,
}

/// What is sent.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// Below the base address, with a query if there is one.
    pub(crate) path: String,
    /// Beside those of the settings; keys are marked as sensitive.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// JSON.
    pub(crate) body: Vec<u8>,
}

impl Client {
    pub(crate) fn new(base: Url, headers: HeaderMap, connect: Duration, stall: Duration) -> Self {
        Self { base, headers, patience: Patience { connect, stall }, client: OnceLock::new() }
    }

    /// Who is asked, as it may stand in a message: without a path, a query or a password.
    pub(crate) fn server(&self) -> String {
        self.base.origin().ascii_serialization()
    }

    /// Sends a request and waits for the head of its answer.
    ///
    /// Cancel safe: dropping the future ends the request.
    ///
    /// # Errors
    /// What the server says of a request that it refuses; a failure of the transport; an answer that is no event stream.
    pub(crate) async fn open(&self, outgoing: Outgoing) -> Result<Events, ProviderError> {
        let client = self.client.get_or_init(|| self.build()).as_ref().map_err(|why| {
            ProviderError::new(ProviderErrorKind::Other, format!("the HTTP client cannot be made: {why}"))
        })?;
        let url = format!("{}/{}", self.base.as_str().trim_end_matches('/'), outgoing.path);
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.extend(outgoing.headers);
        let sent = client.post(url).headers(headers).body(outgoing.body).send();
        let sent = tokio::time::timeout(self.patience.stall, sent).await.map_err(|_| self.stalled())?;
        let response = sent.map_err(|error| self.failed(&error))?;
        tracing::debug!(server = self.server(), status = response.status().as_u16(), "model API answered");
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        match media_type(&response).as_deref() {
            // A server that does not say what it sends is taken at its word later.
            None | Some("text/event-stream" | "text/plain" | "application/octet-stream") => {}
            Some(found) => {
                let found = found.to_owned();
                return Err(self.no_stream(response, &found).await);
            }
        }
        let server = self.server();
        let patience = self.patience;
        Ok(Events::new(response, patience.stall, self.stalled(), move |error| of_transport(error, &server, patience)))
    }

    fn failed(&self, error: &reqwest::Error) -> ProviderError {
        of_transport(error, &self.server(), self.patience)
    }

    fn stalled(&self) -> ProviderError {
        stalled(&self.server(), self.patience)
    }

    fn build(&self) -> Result<reqwest::Client, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(BuilderVerifierExt::with_platform_verifier)
            .map_err(|error| error.to_string())?
            .with_no_client_auth();
        let builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .user_agent(concat!("youyou/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .connect_timeout(self.patience.connect)
            .tcp_keepalive(Duration::from_secs(30));
        let builder = if is_this_machine(&self.base) { builder.no_proxy() } else { builder };
        builder.build().map_err(|error| error.without_url().to_string())
    }

    /// A status that is no success.
    async fn refusal(&self, response: Response) -> ProviderError {
        let status = response.status();
        if status.is_redirection() {
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("nowhere");
            let message = format!(
                "{} sends on to {} (status {}), which is not followed; set `base_url` to where the API is",
                self.server(),
                complaint::excerpt(to),
                status.as_u16()
            );
            return ProviderError::new(ProviderErrorKind::InvalidRequest, message);
        }
        let wish = retry_after(response.headers(), SystemTime::now());
        let body = self.body(response).await;
        let mut error = complaint::of_body(Some(status.as_u16()), &body);
        error.retry_after = wish.or(error.retry_after);
        error.message = format!("{} answered {}: {}", self.server(), status.as_u16(), error.message);
        error
    }

    /// A success that is no event stream: an error in disguise, or not the API at all.
    async fn no_stream(&self, response: Response, found: &str) -> ProviderError {
        let body = self.body(response).await;
        if let Some(mut error) = complaint::in_success(&body) {
            error.message = format!("{} answered: {}", self.server(), error.message);
            return error;
        }
        let message = format!(
            "{} answered with {found:?}, expected an event stream: {}; is `base_url` right, and does the model stream?",
            self.server(),
            complaint::excerpt(&body)
        );
        ProviderError::new(ProviderErrorKind::InvalidRequest, message)
    }

    /// The start of a body as text; what was read before it broke off will do.
    async fn body(&self, mut response: Response) -> String {
        let mut body = Vec::new();
        while let Ok(Ok(Some(chunk))) = tokio::time::timeout(self.patience.stall, response.chunk()).await {
            body.extend_from_slice(&chunk);
            if body.len() >= MOST_BODY {
                body.truncate(MOST_BODY);
                break;
            }
        }
        String::from_utf8_lossy(&body).into_owned()
    }
}

fn media_type(response: &Response) -> Option<String> {
    let value = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    Some(value.split(';').next()?.trim().to_ascii_lowercase())
}

/// Whether an address can be nowhere but here.
fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_known_by_its_names() {
        for (url, here) in [
            ("http://localhost:11434/v1", true),
            ("http://127.0.0.9/v1", true),
            ("http://[::1]:80/v1", true),
            ("https://api.example.com/v1", false),
            ("http://10.0.0.1/v1", false),
            ("http://localhost.example.com/v1", false),
        ] {
            assert_eq!(is_this_machine(&url.parse().expect("a URL")), here, "{url}");
        }
    }
}
