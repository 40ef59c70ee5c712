//! `cargo xtask bench`: measures the ratios of the benches and writes them into docs/performance.md.
//!
//! What the page says outside of the generated part is written by hand.

use std::{fs, process::Stdio, thread};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{command::Run, guests, workspace::Workspace};

/// The packages that are measured, and the bench of each.
const BENCHES: [(&str, &str); 2] = [("youyou-tests", "ratios"), ("youyou-storage", "sessions")];

const PAGE: &str = "docs/performance.md";
const BEGIN: &str = "<!-- Written by `cargo xtask bench`; whatever is changed below is lost. -->";
const END: &str = "<!-- Below here the page is written by hand again. -->";

/// What the bench puts before each line that is meant for this program.
const ROW: &str = "row: ";

/// Builds the guests, runs the benches in release and replaces the generated part of the page.
///
/// # Errors
/// When something does not build, a bench fails, or the page lacks its two marks.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let page = workspace.root().join(PAGE);
    let text = fs::read_to_string(&page).with_context(|| format!("cannot read {PAGE}"))?;
    let (above, below) = around(&text)?;
    guests::run(workspace)?;

    let mut rows = Vec::new();
    for (package, bench) in BENCHES {
        rows.extend(measured(workspace, package, bench)?);
    }
    fs::write(&page, format!("{above}{}{below}", generated(&rows, &machine())))
        .with_context(|| format!("cannot write {PAGE}"))?;
    let missed = rows.iter().filter(|row| row.met == Some(false)).count();
    println!(
        "\n{PAGE} is written; {missed} of {} reaches were missed",
        rows.iter().filter(|r| r.met.is_some()).count()
    );
    Ok(())
}

/// Runs one bench in release, and returns its rows.
fn measured(workspace: &Workspace, package: &str, bench: &str) -> Result<Vec<Row>> {
    let mut run = workspace.cargo();
    run.args(["bench", "--package", package, "--bench", bench]).stderr(Stdio::inherit());
    println!("$ {}", run.line());
    let output = run.output().context("cannot start cargo")?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    print!("{stdout}");
    if !output.status.success() {
        bail!("the bench failed; what it said stands above");
    }
    rows(&stdout)
}

/// One row, as the bench tells it.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    what: String,
    found: String,
    reach: String,
    met: Option<bool>,
}

fn rows(stdout: &str) -> Result<Vec<Row>> {
    let rows: Vec<_> = stdout.lines().filter_map(|line| line.strip_prefix(ROW)).map(row).collect::<Result<_>>()?;
    if rows.is_empty() {
        bail!("the bench printed no line that begins with {ROW:?}");
    }
    Ok(rows)
}

fn row(line: &str) -> Result<Row> {
    let row: Value = serde_json::from_str(line).with_context(|| format!("the bench printed a broken row: {line}"))?;
    let text = |key: &str| row[key].as_str().map(str::to_owned).with_context(|| format!("a row without {key}: {line}"));
    Ok(Row { what: text("what")?, found: text("found")?, reach: text("reach")?, met: row["met"].as_bool() })
}

/// What stands above and below the generated part.
fn around(text: &str) -> Result<(&str, &str)> {
    match (text.find(BEGIN), text.find(END)) {
        (Some(begin), Some(end)) if begin < end => Ok((&text[..begin], &text[end..])),
        _ => bail!("{PAGE} must hold these two lines, in this order:\n{BEGIN}\n{END}"),
    }
}

/// What figures may depend on, without a name that would tell whose machine it is.
fn machine() -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    format!("{cores} cores, {} on {}", std::env::consts::OS, std::env::consts::ARCH)
}

fn generated(rows: &[Row], machine: &str) -> String {
    let mut text = format!("{BEGIN}\n\nMeasured by `cargo xtask bench` on a machine with {machine}.\n\n");
    text.push_str("| what | median (lowest–highest round) | reach | |\n|---|---|---|---|\n");
    for Row { what, found, reach, met } in rows.iter().filter(|row| row.is_judged()) {
        let met = match met {
            Some(true) => "met",
            Some(false) => "**missed**",
            None => "",
        };
        text.push_str(&format!("| {what} | {found} | {reach} | {met} |\n"));
    }
    text.push_str("\nFor information, since they depend on the machine:\n\n| what | median |\n|---|---|\n");
    for Row { what, found, .. } in rows.iter().filter(|row| !row.is_judged()) {
        text.push_str(&format!("| {what} | {found} |\n"));
    }
    text.push('\n');
    text
}

impl Row {
    fn is_judged(&self) -> bool {
        self.met.is_some() || self.found.contains('×')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STDOUT: &str = "a table
row: {\"what\":\"a call\",\"found\":\"1.20× (1.10–1.30)\",\"ratio\":{\"median\":1.2},\"reach\":\"≤ 1.3×\",\"met\":true}
row: {\"what\":\"a batch\",\"found\":\"0.50× (0.50–0.60)\",\"ratio\":{\"median\":0.5},\"reach\":\"\",\"met\":null}
row: {\"what\":\"a load\",\"found\":\"1.00 ms\",\"ratio\":null,\"reach\":\"\",\"met\":null}
";

    #[test]
    fn the_rows_of_a_bench_become_two_tables() {
        let text = generated(&rows(STDOUT).expect("well-formed"), "2 cores");
        assert!(text.contains("| a call | 1.20× (1.10–1.30) | ≤ 1.3× | met |\n| a batch |"), "{text}");
        assert!(text.contains("| what | median |\n|---|---|\n| a load | 1.00 ms |\n"), "{text}");
        assert!(text.starts_with(BEGIN) && text.contains("with 2 cores."), "{text}");
    }

    #[test]
    fn what_is_written_by_hand_is_kept() {
        let page = format!("above\n{BEGIN}\nold\n{END}\nbelow\n");
        assert_eq!(around(&page).expect("both marks"), ("above\n", &*format!("{END}\nbelow\n")));
        let error = around("no marks").expect_err("no marks").to_string();
        assert!(error.contains(BEGIN) && error.contains(END), "{error}");
    }

    #[test]
    fn a_bench_that_says_nothing_is_an_error() {
        let error = rows("a table\n").expect_err("no rows").to_string();
        assert!(error.contains("no line"), "{error}");
        rows("row: {}\n").expect_err("a row without its fields");
    }
}
