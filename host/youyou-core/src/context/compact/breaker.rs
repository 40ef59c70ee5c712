//! Stops a session from being compacted over and over in vain.

/// Rounds in a row that may be useless.
const ALLOWED: u8 = 3;

/// Counts useless rounds of compaction. A round is useless when it saved less than a tenth; three in a row trip the
/// breaker, a useful one resets it.
#[derive(Debug, Clone, Default)]
pub struct Breaker {
    useless: u8,
}

impl Breaker {
    /// Notes a round and what the context took before and after it, in tokens by one yardstick
    /// ([`estimate_messages`](super::estimate_messages), or [`estimate_request`](super::estimate_request) where the
    /// provider had reported nothing before). A round that found nothing to do has the same figure twice.
    pub fn round(&mut self, before: u64, after: u64) {
        let useful = u128::from(after) * 10 <= u128::from(before) * 9 && after < before;
        self.useless = if useful { 0 } else { self.useless.saturating_add(1) };
    }

    /// Whether compacting is to be left alone.
    pub fn is_tripped(&self) -> bool {
        self.useless >= ALLOWED
    }
}

#[cfg(test)]
mod tests {
    use super::Breaker;

    #[test]
    fn three_useless_rounds_in_a_row_trip_the_breaker() {
        let mut breaker = Breaker::default();
        for (before, after) in [(100, 91), (0, 0)] {
            breaker.round(before, after);
            assert!(!breaker.is_tripped());
        }
        breaker.round(100, 120);
        assert!(breaker.is_tripped());
    }

    #[test]
    fn a_useful_round_resets_it() {
        let mut breaker = Breaker::default();
        for (before, after) in [(100, 99), (100, 99), (100, 90), (100, 99), (100, 99)] {
            breaker.round(before, after);
            assert!(!breaker.is_tripped());
        }
        breaker.round(u64::MAX, u64::MAX);
        assert!(breaker.is_tripped());
        breaker.round(u64::MAX, 0);
        assert!(!breaker.is_tripped());
    }
}
