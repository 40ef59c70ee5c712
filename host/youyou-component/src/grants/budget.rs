//! How much of the network one call may use.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The limits of one call, fixed: what a tool needs stays far below them, what a runaway tool does meets them soon.
#[derive(Debug, Clone, Copy)]
pub(super) struct HttpLimits {
    /// HTTP requests.
    pub(super) requests: u32,
    /// Bytes in HTTP bodies, both directions together.
    pub(super) bytes: u64,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self { requests: 256, bytes: 64 << 20 }
    }
}

/// What is left of the limits.
#[derive(Debug)]
pub(super) struct HttpBudget {
    limits: HttpLimits,
    requests: AtomicU32,
    bytes: AtomicU64,
}

impl HttpBudget {
    pub(super) fn new(limits: HttpLimits) -> Self {
        Self { limits, requests: limits.requests.into(), bytes: limits.bytes.into() }
    }

    pub(super) fn limits(&self) -> HttpLimits {
        self.limits
    }

    /// Takes one request; false when none is left.
    pub(super) fn take_request(&self) -> bool {
        self.requests.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// Takes so many bytes; false, and nothing is taken, when fewer are left.
    pub(super) fn take_bytes(&self, count: u64) -> bool {
        self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(count)).is_ok()
    }

    /// Fills it again.
    pub(super) fn refill(&self) {
        self.requests.store(self.limits.requests, Ordering::Relaxed);
        self.bytes.store(self.limits.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends_and_is_filled_again() {
        let budget = HttpBudget::new(HttpLimits { requests: 1, bytes: 10 });
        assert!(budget.take_request() && !budget.take_request());
        assert!(budget.take_bytes(7) && !budget.take_bytes(4) && budget.take_bytes(3) && !budget.take_bytes(1));
        budget.refill();
        assert!(budget.take_request() && budget.take_bytes(10));
    }
}
