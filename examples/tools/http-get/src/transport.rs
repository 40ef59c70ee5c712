//! One HTTP GET through `wasi:http`, which only a component has.
//!
//! It uses the raw, blocking bindings of the `wasip2` crate: a tool answers one call at a time, so there is nothing to
//! gain from an async client, and the component stays small.

/// What the server answered.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    /// Where a redirect leads.
    pub(crate) location: Option<String>,
    /// The body, at most as long as asked for.
    pub(crate) body: Vec<u8>,
    /// Whether the body went on.
    pub(crate) cut: bool,
}

/// Natively there is no host to ask; the tests bring their own transport.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn get(_: &http::Uri, _: usize) -> Result<Response, String> {
    Err("http-get reads addresses only as a component".to_owned())
}

#[cfg(target_arch = "wasm32")]
pub(crate) use component::get;

#[cfg(target_arch = "wasm32")]
mod component {
    use http::Uri;
    use wasip2::{
        http::{
            outgoing_handler,
            types::{ErrorCode, Fields, IncomingResponse, Method, OutgoingRequest, RequestOptions, Scheme},
        },
        io::streams::StreamError,
    };

    use super::Response;

    const SECOND: u64 = 1_000_000_000;

    /// Reads the address, and at most `most` bytes of its body.
    ///
    /// # Errors
    /// A message for the model: what the host or the network said.
    pub(crate) fn get(uri: &Uri, most: usize) -> Result<Response, String> {
        let pending = outgoing_handler::handle(request(uri)?, Some(options())).map_err(|error| explain(&error))?;
        pending.subscribe().block();
        let response = match pending.get() {
            Some(Ok(Ok(response))) => response,
            Some(Ok(Err(error))) => return Err(explain(&error)),
            Some(Err(())) | None => return Err("the host gave no answer".to_owned()),
        };
        let (body, cut) = read_body(&response, most)?;
        Ok(Response {
            status: response.status(),
            content_type: header(&response, "content-type"),
            location: header(&response, "location"),
            body,
            cut,
        })
    }

    fn request(uri: &Uri) -> Result<OutgoingRequest, String> {
        let scheme = if uri.scheme_str() == Some("https") { Scheme::Https } else { Scheme::Http };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let request = OutgoingRequest::new(Fields::new());
        request
            .set_method(&Method::Get)
            .and_then(|()| request.set_scheme(Some(&scheme)))
            .and_then(|()| request.set_authority(uri.authority().map(|authority| authority.as_str())))
            .and_then(|()| request.set_path_with_query(Some(path)))
            .map_err(|()| "the host does not accept this address".to_owned())?;
        Ok(request)
    }

    /// Shorter than the tool's own timeout, so that the model hears which part of the way was slow. A host that does
    /// not know one of these goes without it.
    fn options() -> RequestOptions {
        let options = RequestOptions::new();
        let _ = options.set_connect_timeout(Some(10 * SECOND));
        let _ = options.set_first_byte_timeout(Some(15 * SECOND));
        let _ = options.set_between_bytes_timeout(Some(15 * SECOND));
        options
    }

    fn read_body(response: &IncomingResponse, most: usize) -> Result<(Vec<u8>, bool), String> {
        let lost = |()| "the host gave no body".to_owned();
        // The stream is dropped before the body that it belongs to.
        let incoming = response.consume().map_err(lost)?;
        let stream = incoming.stream().map_err(lost)?;
        let mut body = Vec::new();
        while body.len() <= most {
            match stream.blocking_read(16 * 1024) {
                Ok(bytes) => body.extend_from_slice(&bytes),
                Err(StreamError::Closed) => return Ok((body, false)),
                Err(StreamError::LastOperationFailed(error)) => {
                    return Err(format!(
                        "the answer broke off after {} bytes: {}",
                        body.len(),
                        error.to_debug_string()
                    ));
                }
            }
        }
        body.truncate(most);
        Ok((body, true))
    }

    fn header(response: &IncomingResponse, name: &str) -> Option<String> {
        let value = response.headers().get(name).into_iter().next()?;
        Some(String::from_utf8_lossy(&value).into_owned())
    }

    fn explain(error: &ErrorCode) -> String {
        match error {
            // The host adds which line of index.md would allow it.
            ErrorCode::HttpRequestDenied | ErrorCode::DestinationIpProhibited => {
                "the host does not allow it".to_owned()
            }
            ErrorCode::DnsTimeout | ErrorCode::DnsError(_) | ErrorCode::DestinationNotFound => {
                "there is no such host".to_owned()
            }
            ErrorCode::ConnectionRefused => "the connection was refused".to_owned(),
            ErrorCode::ConnectionTimeout | ErrorCode::ConnectionReadTimeout | ErrorCode::HttpResponseTimeout => {
                "it took too long".to_owned()
            }
            ErrorCode::TlsCertificateError => "its certificate is not valid".to_owned(),
            other => format!("{other:?}"),
        }
    }
}
