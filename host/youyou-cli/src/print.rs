//! Printing: one JSON document, or lines for a person.

use std::{
    borrow::Cow,
    io::{self, Write},
};

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

/// Prints a line to stderr. What a stranger has written is made [`visible`] before.
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
        note(&format!("error: {}", visible(&error.message)));
    }
}

/// Prints what was found wrong with definitions, one line each, to stderr.
pub(crate) fn problems<'a>(problems: impl IntoIterator<Item = &'a Problem>) {
    for problem in problems {
        note(&format!("{}: {}", problem.severity, visible(&problem.to_string())));
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

/// A text that moves no cursor and sets no title: control characters are replaced by pictures of them.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let harmless = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    if text.chars().all(harmless) {
        return text.into();
    }
    let picture = |c: char| match u32::from(c) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER),
        0x7f => '\u{2421}',
        _ => char::REPLACEMENT_CHARACTER,
    };
    text.chars().map(|c| if harmless(c) { c } else { picture(c) }).collect()
}

/// One line, short enough for a terminal.
pub(crate) fn shorten(text: &str) -> String {
    const SHOWN: usize = 100;
    // Enough for what is shown, whatever else there is.
    let text = &text[..text.floor_char_boundary(100 * SHOWN)];
    let line = visible(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned();
    if line.chars().count() <= SHOWN {
        return line;
    }
    line.chars().take(SHOWN - 1).chain(['…']).collect()
}

/// A time in milliseconds since 1970, as clocks here show it.
pub(crate) fn time(milliseconds: u64) -> String {
    let time = i64::try_from(milliseconds).ok().and_then(|time| jiff::Timestamp::from_millisecond(time).ok());
    let shown = |time: jiff::Timestamp| time.to_zoned(jiff::tz::TimeZone::system()).strftime("%F %H:%M").to_string();
    time.map(shown).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{shorten, table, visible};

    #[test]
    fn columns_line_up_and_no_line_ends_in_blanks() {
        let rows = [vec!["NAME".into(), "SOURCE".into()], vec!["wörter".into(), String::new()]];
        assert_eq!(table(&rows), "NAME    SOURCE\nwörter\n");
    }

    /// Neither a model nor a tool can take over the user's terminal.
    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(visible("a\tb\n"), "a\tb\n");
        assert_eq!(visible("\u{1b}]0;title\u{7}\r\u{7f}\u{9b}2J"), "␛]0;title␇␍␡\u{fffd}2J");
        assert_eq!(shorten("\u{1b}[2J\u{8}"), "␛[2J␈");
    }
}
