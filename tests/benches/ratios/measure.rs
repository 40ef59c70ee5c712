//! Two things measured in turn, and what their ratio is.
//!
//! Each round takes its samples A B A B …, so that whatever else the machine does falls on both, and yields the ratio of
//! the two medians. The rounds together yield a median and how far they lie apart.

use std::time::{Duration, Instant};

/// How thoroughly to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Enough for a figure that can be repeated.
    Full,
    /// Enough to see that everything works.
    Smoke,
}

/// How many rounds, and how many pairs in each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) rounds: usize,
    pub(crate) pairs: usize,
}

impl Effort {
    pub(crate) fn of(self, pace: Pace) -> Self {
        match pace {
            Pace::Full => self,
            Pace::Smoke => Self { rounds: 1, pairs: 1 },
        }
    }
}

/// The first thing's time divided by the second's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

/// What was measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) ratio: Ratio,
    /// The median of all samples of the first thing.
    pub(crate) first: Duration,
    /// The same of the second.
    pub(crate) second: Duration,
}

/// Measures two things in turn. Each does its work once and returns how long that took, preparations left out. The first
/// time does not count.
pub(crate) fn in_turn<E>(
    effort: Effort,
    mut first: impl FnMut() -> Result<Duration, E>,
    mut second: impl FnMut() -> Result<Duration, E>,
) -> Result<Measured, E> {
    first()?;
    second()?;
    let mut ratios = Vec::with_capacity(effort.rounds);
    let (mut all_first, mut all_second) = (Vec::new(), Vec::new());
    for _ in 0..effort.rounds {
        let (mut of_first, mut of_second) = (Vec::new(), Vec::new());
        for _ in 0..effort.pairs {
            of_first.push(first()?);
            of_second.push(second()?);
        }
        all_first.extend_from_slice(&of_first);
        all_second.extend_from_slice(&of_second);
        ratios.push(median(&mut of_first).as_secs_f64() / median(&mut of_second).as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    let ratio = Ratio { median: ratios[ratios.len() / 2], min: ratios[0], max: ratios[ratios.len() - 1] };
    Ok(Measured { ratio, first: median(&mut all_first), second: median(&mut all_second) })
}

/// The middle one; of an even number the upper of the two.
pub(crate) fn median(samples: &mut [Duration]) -> Duration {
    samples.sort_unstable();
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

/// How long it takes.
pub(crate) fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(Duration, T), E> {
    let start = Instant::now();
    let value = work()?;
    Ok((start.elapsed(), value))
}
