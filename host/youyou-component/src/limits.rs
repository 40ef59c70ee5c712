//! What the memories and tables of one call may grow to, taken together.
//!
//! A guest only sees that growing failed and then ends in its own way, so the refusal is remembered here for the
//! message that follows.

use wasmtime::ResourceLimiter;

/// The memory of one call: its limit, its use, and whether more was refused.
#[derive(Debug)]
pub(crate) struct MemoryLimit {
    limit: u64,
    /// What was allowed. A growth that is allowed and then fails, because the machine has no more, still counts: wasmtime
    /// reports failures of growths that were never asked about too, so there is no telling which to give back.
    used: u64,
    refusal: Option<Refusal>,
}

/// A growth that was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// What the call would have used in all.
    pub(crate) wanted: u64,
    /// What it may use.
    pub(crate) limit: u64,
}

/// A table's element is a pointer.
const TABLE_ELEMENT_BYTES: u64 = size_of::<usize>() as u64;

impl MemoryLimit {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, used: 0, refusal: None }
    }

    /// The last growth that was refused.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }

    /// A new call begins in a guest that lives on: what it holds stays counted, what it was refused before is history.
    pub(crate) fn start_call(&mut self) {
        self.refusal = None;
    }

    /// Bytes in use. Memories never shrink, so this is the peak too.
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    /// Whether a growth by so many bytes is allowed. One that `fails_anyway` is not counted.
    fn allows(&mut self, by: u64, fails_anyway: bool) -> bool {
        let wanted = self.used.saturating_add(by);
        if wanted > self.limit {
            self.refusal = Some(Refusal { wanted, limit: self.limit });
            return false;
        }
        if !fails_anyway {
            self.used = wanted;
        }
        true
    }
}

impl ResourceLimiter for MemoryLimit {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(self.allows(desired.saturating_sub(current) as u64, fails_anyway(desired, maximum)))
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let by = (desired.saturating_sub(current) as u64).saturating_mul(TABLE_ELEMENT_BYTES);
        Ok(self.allows(by, fails_anyway(desired, maximum)))
    }
}

/// Growing past the bound that a memory or table itself declares fails whatever is answered here.
fn fails_anyway(desired: usize, maximum: Option<usize>) -> bool {
    maximum.is_some_and(|maximum| desired > maximum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K-62: two memories share one limit.
    #[test]
    fn the_limit_holds_for_all_memories_together() {
        let mut limit = MemoryLimit::new(100);
        assert!(limit.memory_growing(0, 60, None).expect("no trap"));
        assert!(limit.memory_growing(0, 40, None).expect("no trap"));
        assert_eq!(limit.refusal(), None);
        assert!(!limit.memory_growing(40, 41, None).expect("no trap"));
        assert_eq!(limit.refusal(), Some(Refusal { wanted: 101, limit: 100 }));
        assert_eq!(limit.used(), 100);
    }

    #[test]
    fn tables_count_too() {
        let mut limit = MemoryLimit::new(100 * TABLE_ELEMENT_BYTES);
        assert!(limit.table_growing(0, 100, None).expect("no trap"));
        assert!(!limit.memory_growing(0, 1, None).expect("no trap"));
    }

    #[test]
    fn a_growth_past_the_guests_own_bound_does_not_count() {
        let mut limit = MemoryLimit::new(100);
        assert!(limit.memory_growing(0, 90, Some(80)).expect("no trap"));
        assert_eq!((limit.used(), limit.refusal()), (0, None));
    }
}
