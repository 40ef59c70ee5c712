//! Printing: one JSON document, or lines for a person.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::json;
use youyou::{Error, ErrorCode, Problem};

/// Prints one JSON document and a line end to stdout.
pub(crate) fn document(value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string(value).map_err(|error| {
        Error::new(ErrorCode::ToolExecutionError, format!("cannot print the result as JSON: {error}"))
    })?;
    line(&text);
    Ok(())
}

/// Prints text to stdout and ends its last line.
pub(crate) fn line(text: &str) {
    let mut out = io::stdout().lock();
    let end: &[u8] = if text.ends_with('\n') { b"" } else { b"\n" };
    // Whoever reads stdout may have gone away; there is nobody left to tell.
    let _gone = out.write_all(text.as_bytes()).and_then(|()| out.write_all(end)).and_then(|()| out.flush());
}

/// Prints a line to stderr.
pub(crate) fn note(text: &str) {
    // As above: whoever reads it may have gone away, which is no reason to fail.
    let _gone = writeln!(io::stderr().lock(), "{text}");
}

/// Prints an error: for a person on stderr, for a program on stdout.
pub(crate) fn failure(error: &Error, json: bool) {
    if json {
        // An error always serialises; if stdout is gone, so is whoever wanted it.
        let _printed = document(&json!({ "error": error }));
    } else {
        note(&format!("error: {}", error.message));
    }
}

/// Prints what was found wrong with definitions, one line each, to stderr.
pub(crate) fn problems<'a>(problems: impl IntoIterator<Item = &'a Problem>) {
    for problem in problems {
        note(&format!("{}: {problem}", problem.severity));
    }
}

/// `1 tool`, `2 tools`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Lays rows out in columns, two blanks apart.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:width$}  "));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn columns_line_up_and_no_line_ends_in_blanks() {
        let rows = [vec!["NAME".into(), "SOURCE".into()], vec!["wörter".into(), String::new()]];
        assert_eq!(table(&rows), "NAME    SOURCE\nwörter\n");
    }
}
