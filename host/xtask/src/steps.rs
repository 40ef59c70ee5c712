//! A sequence of named steps, each timed, with a table at the end.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

/// What was done so far, and how long each step took.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<Step>,
}

struct Step {
    name: &'static str,
    took: Duration,
    outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Ok,
    Failed,
}

impl Steps {
    /// Does one step that all later ones rest on.
    ///
    /// # Errors
    /// The step's own error.
    pub(crate) fn required(&mut self, name: &'static str, step: impl FnOnce() -> Result<()>) -> Result<()> {
        println!("\n== {name}");
        let start = Instant::now();
        let result = step();
        let outcome = if result.is_ok() { Outcome::Ok } else { Outcome::Failed };
        self.done.push(Step { name, took: start.elapsed(), outcome });
        result
    }

    /// Does one step and goes on after a failure, so that one run shows all findings; [`finish`](Self::finish) reports.
    pub(crate) fn check(&mut self, name: &'static str, step: impl FnOnce() -> Result<()>) {
        if let Err(error) = self.required(name, step) {
            eprintln!("{error:#}");
        }
    }

    /// Prints the table.
    ///
    /// # Errors
    /// When a step failed; the error names each.
    pub(crate) fn finish(self) -> Result<()> {
        println!("\n{}", self.table());
        let failed: Vec<_> = self.done.iter().filter(|s| s.outcome == Outcome::Failed).map(|s| s.name).collect();
        if !failed.is_empty() {
            bail!("failed: {}; what each found stands above", failed.join(", "));
        }
        Ok(())
    }

    fn table(&self) -> String {
        let width = self.done.iter().map(|step| step.name.len()).max().unwrap_or_default();
        let mut table = String::new();
        for Step { name, took, outcome } in &self.done {
            let outcome = match outcome {
                Outcome::Ok => "ok",
                Outcome::Failed => "FAILED",
            };
            // Writing to a string cannot fail.
            let _ = writeln!(table, "{name:width$}  {:>7.1} s  {outcome}", took.as_secs_f64());
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failed_check_is_named_at_the_end() {
        let mut steps = Steps::default();
        steps.check("format", || bail!("not formatted"));
        steps.check("lints", || Ok(()));
        steps.check("schemas", || bail!("old"));
        assert!(steps.table().lines().nth(1).is_some_and(|line| line.starts_with("lints ") && line.ends_with("ok")));
        let error = steps.finish().expect_err("two failed").to_string();
        assert_eq!(error, "failed: format, schemas; what each found stands above");
    }
}
