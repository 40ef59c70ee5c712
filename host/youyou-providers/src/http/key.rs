//! Keys, which nobody gets to read but the server that they are for.

use std::fmt;

use secrecy::{ExposeSecret as _, SecretString};
use youyou_api::{ProviderError, ProviderErrorKind};

/// The key of an API, or why there is none. Its `Debug` shows no key, it has neither `Display` nor `Serialize`, and the
/// memory is wiped when it is dropped.
#[derive(Clone)]
pub struct ApiKey(State);

#[derive(Clone)]
enum State {
    NotNeeded,
    Known(SecretString),
    Missing(String),
}

impl ApiKey {
    /// The API wants none, as servers on one's own machine do.
    pub fn none() -> Self {
        Self(State::NotNeeded)
    }

    /// This key; white space around it is left out.
    pub fn new(key: &str) -> Self {
        Self(State::Known(SecretString::from(key.trim())))
    }

    /// The key could not be found. A request is answered with an error of the kind `auth` that says `why`, so that
    /// one provider without a key keeps nobody from using another.
    pub fn missing(why: impl Into<String>) -> Self {
        Self(State::Missing(why.into()))
    }

    /// Why there is no key, where one is needed.
    pub fn problem(&self) -> Option<&str> {
        match &self.0 {
            State::NotNeeded | State::Known(_) => None,
            State::Missing(why) => Some(why),
        }
    }

    /// The key itself, for a header.
    pub(crate) fn reveal(&self) -> Result<Option<&str>, ProviderError> {
        match &self.0 {
            State::NotNeeded => Ok(None),
            State::Known(key) => Ok(Some(key.expose_secret())),
            State::Missing(why) => Err(ProviderError::new(ProviderErrorKind::Auth, why.clone())),
        }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            State::NotNeeded => "ApiKey(none)",
            State::Known(_) => "ApiKey(hidden)",
            State::Missing(_) => "ApiKey(missing)",
        })
    }
}

/// Everything that must not be read in a message, whoever wrote the message.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<SecretString>);

impl Secrets {
    /// Shorter texts are no secrets, and blotting them out would spoil messages.
    const SHORTEST: usize = 8;

    /// A key and the values of headers, which may be keys too.
    pub(crate) fn new<'a>(key: &'a ApiKey, headers: impl IntoIterator<Item = &'a str>) -> Self {
        let key = match &key.0 {
            State::Known(key) => Some(key.expose_secret()),
            State::NotNeeded | State::Missing(_) => None,
        };
        let mut secrets = Self::default();
        for secret in key.into_iter().chain(headers) {
            // A header is often `Bearer …`, and a server repeats the part behind it.
            let parts = secret.split_whitespace().filter(|part| part.len() >= Self::SHORTEST);
            secrets.0.extend(parts.map(SecretString::from));
        }
        secrets
    }

    /// The text with every secret blotted out.
    pub(crate) fn blot(&self, text: String) -> String {
        self.0.iter().fold(text, |text, secret| {
            let secret = secret.expose_secret();
            if text.contains(secret) { text.replace(secret, "[hidden]") } else { text }
        })
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys are in no log.
    #[test]
    fn a_key_cannot_be_read_by_accident() {
        let key = ApiKey::new(" sk-very-secret\n");
        assert_eq!(format!("{key:?} {:?}", Secrets::new(&key, ["Bearer abcdefgh"])), "ApiKey(hidden) Secrets(2)");
        assert_eq!(key.reveal(), Ok(Some("sk-very-secret")));
        assert_eq!(ApiKey::none().reveal(), Ok(None));
        let error = ApiKey::missing("set the variable X").reveal().expect_err("missing");
        assert_eq!((error.kind, error.message.as_str()), (ProviderErrorKind::Auth, "set the variable X"));
    }

    #[test]
    fn a_message_that_repeats_a_secret_is_blotted() {
        let secrets = Secrets::new(&ApiKey::new("sk-very-secret"), ["Bearer token-of-mine", "on"]);
        let said = "Incorrect key sk-very-secret (Bearer token-of-mine) on https://api".to_owned();
        assert_eq!(secrets.blot(said), "Incorrect key [hidden] (Bearer [hidden]) on https://api");
    }
}
