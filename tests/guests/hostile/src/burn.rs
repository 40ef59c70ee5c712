//! Modes that use up what a call may use: time, memory, stack, output.

use std::{
    hint::black_box,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use crate::bindings::youyou::plugin::log::{self, Level};

pub(crate) fn loop_for_ever() -> ! {
    loop {
        black_box(());
    }
}

/// Recursion whose frames hold nothing but locals: it uses up the stack that the host gives.
#[inline(never)]
#[allow(unconditional_recursion, reason = "that is what it is for")]
pub(crate) fn recurse(n: u64) -> u64 {
    black_box(recurse(black_box(n + 1)) + 1)
}

/// Recursion whose frames live in the guest's own memory: it uses up the stack that the guest gave itself.
#[inline(never)]
#[allow(unconditional_recursion, reason = "that is what it is for")]
pub(crate) fn recurse_wide(n: u64) -> u64 {
    let mut frame = [0u64; 256];
    frame[(n % 256) as usize] = n;
    black_box(&mut frame);
    recurse_wide(n + 1) + frame[0]
}

/// Allocates until the allocator gives up, which ends the guest.
pub(crate) fn allocate() -> usize {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    loop {
        kept.push(vec![1; 1 << 20]);
        if kept.len() > 1 << 16 {
            return kept.len();
        }
    }
}

/// Allocates until the allocator gives up, and copes with it.
pub(crate) fn allocate_politely() -> String {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    loop {
        let mut block: Vec<u8> = Vec::new();
        if block.try_reserve_exact(1 << 20).is_err() {
            let blocks = kept.len();
            drop(kept);
            return format!("no more memory after {blocks} MiB");
        }
        block.resize(1 << 20, 1);
        kept.push(block);
    }
}

pub(crate) fn print_for_ever() -> ! {
    loop {
        println!("out and out and out");
    }
}

pub(crate) fn print_error_for_ever() -> ! {
    loop {
        eprintln!("err and err and err");
    }
}

pub(crate) fn log_for_ever() -> ! {
    loop {
        log::write(Level::Info, "on and on and on");
    }
}

/// Keeps the processor busy for so many milliseconds.
pub(crate) fn spin(ms: u64) -> u64 {
    let (start, mut rounds) = (Instant::now(), 0u64);
    while start.elapsed() < Duration::from_millis(ms) {
        for n in 0..10_000u64 {
            rounds = black_box(rounds.wrapping_add(n));
        }
    }
    rounds
}

/// How many calls this instance has seen; always 1 when every call has its own.
pub(crate) fn count_calls() -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    CALLS.fetch_add(1, Ordering::Relaxed) + 1
}
