//! Servers whose certificate does not hold, or that speak no TLS.

use std::sync::Arc;

use rustls::{ServerConfig, pki_types::PrivateKeyDer};
use tokio::{io::AsyncWriteExt as _, net::TcpListener};
use tokio_rustls::TlsAcceptor;

use crate::{provider, refusal};

/// D-33: a certificate that does not hold will not hold next time either, so nothing tries again.
#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_a_failure_at_once() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("a server");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base_url = format!("https://localhost:{}/v1", listener.local_addr().expect("an address").port());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // The client turns away from the certificate.
            let _refused = acceptor.accept(stream).await;
        }
    });
    let told = refusal(&provider(base_url.clone()), &base_url).await;
    assert!(told.starts_with("other: local: the certificate of [server] is not trusted: "), "{told}");
}

#[tokio::test]
async fn a_server_without_tls_is_told_of() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base_url = format!("https://{}/v1", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // The client has hung up by the time.
            let _sent = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
        }
    });
    let told = refusal(&provider(base_url.clone()), &base_url).await;
    assert!(told.ends_with("should `base_url` begin with http://?"), "{told}");
    assert!(told.starts_with("other: local: [server] does not speak TLS as expected"), "{told}");
}
