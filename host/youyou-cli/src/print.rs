//! Printing: one JSON document, or lines for a person.
//!
//! Everything that a command prints goes through here. What a stranger has written (a model, a tool, the author of a
//! definition) is in any of it, so nothing reaches a terminal but as [`visible`] text; a pipe gets every byte as it is.

use std::{
    borrow::Cow,
    io::{self, IsTerminal, Write},
};

use serde::Serialize;
use serde_json::json;
use youyou::{Error, ErrorCode, Problem};

/// Prints one JSON document and a line end to stdout, the same on a terminal and elsewhere.
///
/// # Errors
/// As [`line()`].
pub(crate) fn document(value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string(value).map_err(|error| {
        Error::new(ErrorCode::ToolExecutionError, format!("cannot print the result as JSON: {error}"))
    })?;
    line(&escaped(&text))
}

/// Prints text to stdout and ends its last line.
///
/// # Errors
/// `STORAGE_ERROR` when it cannot be written, but for a reader who went away: there is nobody left to tell.
pub(crate) fn line(text: &str) -> Result<(), Error> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    print(&[&on_stdout(text), end])
}

/// Prints a piece of text to stdout, and ends no line.
///
/// # Errors
/// As [`line()`].
pub(crate) fn piece(text: &str) -> Result<(), Error> {
    print(&[&on_stdout(text)])
}

/// Prints to stdout what a terminal is to obey: nothing that a stranger has written.
///
/// # Errors
/// As [`line()`].
pub(crate) fn obeyed(text: &str) -> Result<(), Error> {
    print(&[text])
}

/// As whoever reads stdout can have it.
fn on_stdout(text: &str) -> Cow<'_, str> {
    if io::stdout().is_terminal() { visible(text) } else { text.into() }
}

fn print(pieces: &[&str]) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    let written = pieces.iter().try_for_each(|piece| out.write_all(piece.as_bytes())).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritten(&error)),
        _ => Ok(()),
    }
}

/// The error of output that is lost.
pub(crate) fn unwritten(error: &io::Error) -> Error {
    Error::new(ErrorCode::StorageError, format!("the output cannot be written to stdout: {error}"))
}

/// Prints a line to stderr.
pub(crate) fn note(text: &str) {
    // Whoever reads it may have gone away, which is no reason to fail, and nobody is left to hear of any other.
    let _gone = writeln!(io::stderr().lock(), "{}", visible(text));
}

/// Prints a line to stderr that stands back behind what is on stdout.
pub(crate) fn dim(text: &str) {
    let _gone = writeln!(io::stderr().lock(), "{}", console::style(visible(text)).for_stderr().dim());
}

/// Prints an error: for a person on stderr, for a program on stdout, as long as that can be written to.
pub(crate) fn failure(error: &Error, json: bool) {
    let told = json && document(&json!({ "error": error })).is_ok();
    if !told {
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

/// JSON in which no control character stands as it is; JSON itself wants that of some of them only.
fn escaped(json: &str) -> Cow<'_, str> {
    let raw = |c: char| matches!(c, '\u{7f}'..='\u{9f}');
    if !json.contains(raw) {
        return json.into();
    }
    let mut text = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if raw(c) { text.push_str(&format!("\\u{:04x}", u32::from(c))) } else { text.push(c) }
    }
    text.into()
}

/// One line, short enough for a terminal.
pub(crate) fn shorten(text: &str) -> String {
    shorten_to(100, text)
}

/// One line of at most so many characters.
pub(crate) fn shorten_to(most: usize, text: &str) -> String {
    // Enough for what is shown, whatever else there is.
    let text = &text[..text.floor_char_boundary(100 * most)];
    let line = visible(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned();
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// A time in milliseconds since 1970, as clocks here show it.
pub(crate) fn time(milliseconds: u64) -> String {
    let time = i64::try_from(milliseconds).ok().and_then(|time| jiff::Timestamp::from_millisecond(time).ok());
    let shown = |time: jiff::Timestamp| time.to_zoned(jiff::tz::TimeZone::system()).strftime("%F %H:%M").to_string();
    time.map(shown).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{escaped, shorten, shorten_to, table, visible};

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

    #[test]
    fn a_line_is_cut_where_it_is_too_long() {
        assert_eq!([shorten_to(3, "a  b\nc"), shorten_to(3, "a b")], ["a …", "a b"]);
    }

    /// JSON may hold some control characters as they are; a terminal would obey them.
    #[test]
    fn json_holds_no_control_character_as_it_is() {
        let text = "\u{1b}[2J\u{7f}\u{9b}2J ä";
        let json = serde_json::to_string(text).expect("a text");
        let escaped = escaped(&json);
        assert!(!escaped.contains(char::is_control), "{escaped}");
        assert_eq!(serde_json::from_str::<String>(&escaped).expect("JSON"), text);
    }
}
