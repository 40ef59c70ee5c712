//! `wasi:http`: one request of a guest, decided by the [`Gate`] and sent to the very address that was decided on.
//!
//! A redirect is an answer like any other and goes back to the guest; when the guest follows it, that is a new request.
//! Nothing is kept between requests: no connections, no cookies. No proxy settings of the host are used.

use std::{
    error::Error as _,
    future::Future,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::{Arc, LazyLock},
    task::Poll,
    time::Duration,
};

use http::{Method, Request, Response, Uri, uri::PathAndQuery};
use http_body_util::BodyExt;
use hyper::client::conn::http1;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName},
};
use wasmtime_wasi_http::{
    Error, RequestOptions, Result, WasiBody, WasiHttpHooks, io::TokioIo, p2::bindings::http::types::ErrorCode,
};

use super::{
    denial::{Denial, DenialKind},
    gate::{Gate, Refused},
    http_body::{Counted, Direction, Timed},
    net::{Host, Scheme, Target},
};

/// How long to wait where the guest says nothing; the deadline of the call ends it earlier.
const CONNECT: Duration = Duration::from_secs(10);
const FIRST_BYTE: Duration = Duration::from_secs(60);
const BETWEEN_BYTES: Duration = Duration::from_secs(60);

/// Sends the requests of one store.
pub(super) struct GuardedHttp(pub(super) Arc<Gate>);

/// The rest of a connection's life; it has to be driven while the body is read.
type Connection = Box<dyn Future<Output = Result<()>> + Send>;

impl WasiHttpHooks for GuardedHttp {
    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Connection,
    ) -> Box<dyn Future<Output = Result<(Response<WasiBody>, Connection)>> + Send> {
        let gate = Arc::clone(&self.0);
        Box::new(send(gate, request, options.unwrap_or_default()))
    }

    fn p2_error_from_hyper(&mut self, error: &hyper::Error) -> ErrorCode {
        tracing::debug!("HTTP failed: {error:?}");
        match error {
            error if error.is_incomplete_message() => ErrorCode::HttpResponseIncomplete,
            error if error.is_timeout() => ErrorCode::HttpResponseTimeout,
            _ => ErrorCode::HttpProtocolError,
        }
    }

    fn p2_error_from_connect(&mut self, error: &std::io::Error) -> ErrorCode {
        tracing::debug!("connecting failed: {error}");
        match error.kind() {
            std::io::ErrorKind::HostUnreachable | std::io::ErrorKind::NetworkUnreachable => {
                ErrorCode::DestinationUnavailable
            }
            _ => ErrorCode::ConnectionRefused,
        }
    }

    fn p2_error_from_tls(&mut self, error: &std::io::Error) -> ErrorCode {
        use tokio_rustls::rustls;
        tracing::debug!("TLS failed: {error}");
        match error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::InvalidCertificate(_)) => ErrorCode::TlsCertificateError,
            _ => ErrorCode::TlsProtocolError,
        }
    }
}

/// One request, from the decision to the head of the answer.
pub(super) async fn send(
    gate: Arc<Gate>,
    request: Request<WasiBody>,
    options: RequestOptions,
) -> Result<(Response<WasiBody>, Connection)> {
    let target = target_of(&request)?;
    let addresses = gate.admit(&target).await.map_err(|refused| match refused {
        Refused::NotGranted => Error::HttpRequestDenied,
        Refused::NotPublic => Error::DestinationIpProhibited,
        Refused::Unresolvable(error) => Error::DnsError { rcode: Some(error.to_string()), info_code: None },
    })?;
    if !gate.budget.take_request() {
        let reason = format!("but one call may send {}", gate.budget.limits().requests);
        gate.denials.record(Denial::new(DenialKind::HttpRequests, "to send more HTTP requests", &reason));
        return Err(Error::ConnectionLimitReached);
    }
    let connecting = connect(&target, &addresses);
    let stream = timeout(options.connect_timeout.unwrap_or(CONNECT), connecting)
        .await
        .map_err(|_| Error::ConnectionTimeout)??;
    let request = origin_form(request).map(|body| Counted::new(body, Arc::clone(&gate), Direction::Request));
    let (response, connection) = exchange(stream, request, options.first_byte_timeout.unwrap_or(FIRST_BYTE)).await?;
    let silence = options.between_bytes_timeout.unwrap_or(BETWEEN_BYTES);
    let response = response
        .map(|body| Counted::new(Timed::new(body, silence), gate, Direction::Response))
        .map(BodyExt::boxed_unsync);
    Ok((response, connection))
}

fn target_of(request: &Request<WasiBody>) -> Result<Target> {
    // A tunnel would carry what no grant was asked about.
    if request.method() == Method::CONNECT {
        return Err(Error::HttpRequestMethodInvalid);
    }
    let uri = request.uri();
    let authority = uri.authority().ok_or(Error::HttpRequestUriInvalid)?;
    if authority.as_str().contains('@') {
        return Err(Error::HttpRequestUriInvalid);
    }
    let scheme = match uri.scheme_str() {
        Some("https") => Scheme::Https,
        Some("http") => Scheme::Http,
        _ => return Err(Error::HttpProtocolError),
    };
    let host = Host::parse(authority.host()).ok_or(Error::HttpRequestUriInvalid)?;
    let port = match authority.port() {
        Some(port) => port.as_u16(),
        None => scheme.default_port().ok_or(Error::HttpRequestUriInvalid)?,
    };
    Ok(Target { scheme, host, port })
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Connects to the first of the addresses that answers, and to nothing else.
async fn connect(target: &Target, addresses: &[SocketAddr]) -> Result<Box<dyn Stream>> {
    let stream = TcpStream::connect(addresses).await.map_err(Error::Connect)?;
    match target.scheme {
        Scheme::Https => {
            let name = match &target.host {
                Host::Name(name) => ServerName::try_from(name.clone())?,
                Host::Address(address) => ServerName::from(*address),
            };
            let stream = TlsConnector::from(Arc::clone(&TLS)).connect(name, stream).await.map_err(Error::Tls)?;
            Ok(Box::new(stream))
        }
        Scheme::Http | Scheme::Tcp | Scheme::Udp => Ok(Box::new(stream)),
    }
}

/// Mozilla's roots, as in `wasmtime-wasi-http`. The provider is named, since another crate of the program may bring one.
static TLS: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring supports the default versions of TLS")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
});

/// The request as a server, not a proxy, gets it: a path without scheme and host.
fn origin_form<B>(mut request: Request<B>) -> Request<B> {
    let path = request.uri().path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    *request.uri_mut() = Uri::from(path);
    request
}

async fn exchange(
    stream: Box<dyn Stream>,
    request: Request<Counted<WasiBody>>,
    first_byte: Duration,
) -> Result<(Response<hyper::body::Incoming>, Connection)> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let mut answer = pin!(async {
        timeout(first_byte, sender.send_request(request))
            .await
            .map_err(|_| Error::ConnectionReadTimeout)?
            .map_err(from_hyper)
    });
    let mut connection = Some(connection);
    // The connection must be driven for the answer to come; it may end before the answer is picked up.
    let response = std::future::poll_fn(|cx| {
        if let Some(running) = &mut connection
            && let Poll::Ready(ended) = Pin::new(running).poll(cx)
        {
            connection = None;
            if let Err(error) = ended {
                return Poll::Ready(Err(from_hyper(error)));
            }
        }
        answer.as_mut().poll(cx)
    })
    .await?;
    let rest: Connection = Box::new(async move {
        match connection {
            Some(connection) => connection.await.map_err(from_hyper),
            None => Ok(()),
        }
    });
    Ok((response, rest))
}

/// An error of our own request body comes back wrapped; the guest shall see what it was.
fn from_hyper(error: hyper::Error) -> Error {
    match error.source().and_then(|cause| cause.downcast_ref::<Error>()) {
        Some(Error::HttpRequestBodySize(limit)) => Error::HttpRequestBodySize(*limit),
        _ => Error::Hyper(error),
    }
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
