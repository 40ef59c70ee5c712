//! What YouYou's speed and size are held against: each row a ratio of two things that were measured in turn, in one run.
//!
//! `cargo bench --bench ratios` measures, `cargo xtask bench` also writes docs/performance.md. Run as a test, without
//! `--bench`, everything is done once or twice, so that a bench which has come to fail is noticed; no time is judged
//! then. Words on the command line pick groups of rows by their names.
//!
//! Read in this order: [`measure`] (pairs, medians), [`report`] (rows, table, machine-readable lines), [`setting`] (tools
//! on disk, runtimes over them), [`speaker`] (a model), [`held`] (what a process holds), [`bare`] (what is compared with), then one file for each
//! group of rows.

mod bare;
mod component;
mod conversation;
mod held;
mod hooks;
mod measure;
mod memory;
mod opening;
mod parallel;
mod process;
mod report;
mod script;
mod setting;
mod speaker;
mod stream;

use crate::{measure::Pace, report::Report};

/// What a part of this bench returns; where something fails, the bench says so and ends.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// A group of rows: its name on the command line, and what measures it.
type Group = (&'static str, fn(&mut Report) -> Outcome);

const GROUPS: [Group; 9] = [
    ("component", component::measure),
    ("hooks", hooks::measure),
    ("script", script::measure),
    ("process", process::measure),
    ("opening", opening::measure),
    ("memory", memory::measure),
    ("parallel", parallel::measure),
    ("stream", stream::measure),
    ("conversation", conversation::measure),
];

fn main() -> Outcome {
    let words: Vec<_> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some(memory::CHILD) => return memory::child(&words),
        Some(conversation::CHILD) => return conversation::child(&words),
        Some(_) | None => {}
    }
    // What a test runner would be told, and this is not: `--nocapture`, `--test-threads=1` and the like.
    if words.iter().any(|word| word == "--list") {
        return Ok(());
    }
    let pace = if words.iter().any(|word| word == "--bench") { Pace::Full } else { Pace::Smoke };
    let picked: Vec<_> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let mut report = Report::new(pace);
    for (name, measure) in GROUPS {
        if picked.is_empty() || picked.iter().any(|word| name.contains(word.as_str())) {
            measure(&mut report).map_err(|error| format!("{name}: {error}"))?;
        }
    }
    report.finish()
}
