//! When a failed request is tried again, and after which pause (D-33).

use std::time::Duration;

use youyou_api::ProviderError;

/// How often one request is tried again.
const MOST_RETRIES: u32 = 3;

/// The first pause; each one after is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// A provider that asks for more than this is not waited for; the user should hear of it now.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The pause before trying again for the `attempt`-th time, counted from 1; none if that would not help.
///
/// The provider's own wish counts, but never makes the pause shorter than ours, which grows (K-22).
pub(super) fn pause(error: &ProviderError, attempt: u32) -> Option<Duration> {
    if !error.kind.retryable() || attempt > MOST_RETRIES {
        return None;
    }
    let ours = FIRST_PAUSE * 2_u32.pow(attempt - 1);
    let pause = error.retry_after.map_or(ours, |wish| wish.max(ours));
    (pause <= LONGEST_PAUSE).then_some(pause)
}

#[cfg(test)]
mod tests {
    use youyou_api::ProviderErrorKind;

    use super::*;

    fn pauses(kind: ProviderErrorKind, wish: Option<u64>) -> Vec<u64> {
        let error = ProviderError { retry_after: wish.map(Duration::from_millis), ..ProviderError::new(kind, "") };
        (1..).map_while(|attempt| pause(&error, attempt)).map(|p| p.as_millis() as u64).collect()
    }

    /// K-22.
    #[test]
    fn pauses_grow_whatever_the_provider_wishes_and_come_to_an_end() {
        assert_eq!(pauses(ProviderErrorKind::RateLimit, Some(0)), [500, 1000, 2000]);
        assert_eq!(pauses(ProviderErrorKind::Overloaded, None), [500, 1000, 2000]);
        assert_eq!(pauses(ProviderErrorKind::Network, Some(1500)), [1500, 1500, 2000]);
    }

    #[test]
    fn what_cannot_succeed_later_is_not_tried_again() {
        assert!(pauses(ProviderErrorKind::Auth, None).is_empty());
        assert!(pauses(ProviderErrorKind::ContextLength, None).is_empty());
        assert!(pauses(ProviderErrorKind::RateLimit, Some(3_600_000)).is_empty());
    }
}
