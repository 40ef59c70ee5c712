//! What goes wrong between two machines, in words that say what to do.

use std::{error::Error, time::Duration};

use youyou_api::{ProviderError, ProviderErrorKind};

/// How long a server may keep silent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    pub(super) connect: Duration,
    pub(super) stall: Duration,
}

/// A failure of the transport. A certificate that does not hold is not tried again: it will not hold next time.
pub(super) fn of_transport(error: &reqwest::Error, server: &str, patience: Patience) -> ProviderError {
    if let Some(tls) = cause::<rustls::Error>(error) {
        return of_tls(tls, server);
    }
    let why = innermost(error);
    let message = if error.is_connect() && error.is_timeout() {
        format!(
            "no connection to {server} within {} ms; is the address right, and does a firewall or proxy stand between?",
            patience.connect.as_millis()
        )
    } else if error.is_connect() {
        format!("cannot connect to {server}: {why}; is the server running, and is `base_url` right?")
    } else {
        format!("the connection to {server} broke off: {why}")
    };
    ProviderError::new(ProviderErrorKind::Network, message)
}

/// The server kept silent for too long.
pub(super) fn stalled(server: &str, patience: Patience) -> ProviderError {
    let message = format!(
        "{server} sent no bytes for {} ms; raise `stall_timeout_ms` if the model needs longer to begin",
        patience.stall.as_millis()
    );
    ProviderError::new(ProviderErrorKind::Network, message)
}

fn of_tls(error: &rustls::Error, server: &str) -> ProviderError {
    match error {
        rustls::Error::InvalidCertificate(_) => {
            let message = format!(
                "the certificate of {server} is not trusted: {error}; if it is your own server, add its authority to \
                 the system's trusted ones"
            );
            ProviderError::new(ProviderErrorKind::Other, message)
        }
        _ => {
            let message =
                format!("{server} does not speak TLS as expected: {error}; should `base_url` begin with http://?");
            ProviderError::new(ProviderErrorKind::Other, message)
        }
    }
}

/// An error of this type among the causes; those inside of an [`io::Error`](std::io::Error) too.
fn cause<'e, T: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        // What an io::Error carries is not among its sources, whose first is that one's own source.
        if let Some(carried) = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            return cause(carried);
        }
        next = error.source();
    }
    None
}

/// The cause below all others, which says most.
fn innermost(error: &reqwest::Error) -> String {
    let mut last: &dyn Error = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}
