//! Says in plain words what is wrong with a YAML text that the parser refused, and how to mend it.
//!
//! The parser names the rule that was broken; the author needs the line, the key and most often the advice to quote.

use super::{compose::ComposeError, node::quoted};

/// A refusal in words. `offset` is in bytes of the YAML text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Explained {
    pub(crate) offset: Option<usize>,
    pub(crate) key: Option<String>,
    pub(crate) message: String,
    pub(crate) hint: String,
}

/// Explains why [`compose`](super::compose()) gave no document for `yaml`.
pub(crate) fn explain(error: &ComposeError, yaml: &str) -> Explained {
    match error {
        ComposeError::Syntax(error) => explain_syntax(error, yaml),
        ComposeError::TooMuch => multiplying(),
        ComposeError::Tagged(offset) => at_line(
            yaml,
            *offset,
            "a value that starts with `!` is a YAML tag, and tags have no meaning here",
            "quote the value, or remove the tag",
        ),
        ComposeError::KeyNotText(offset) => at_line(
            yaml,
            *offset,
            "a key must be a text, not a list, a mapping or nothing",
            "quote it if it starts with `[`, `{` or `?`",
        ),
    }
}

fn multiplying() -> Explained {
    Explained {
        offset: None,
        key: None,
        message: "anchors and aliases (`&x`, `*x`) make the values expand without bound".to_owned(),
        hint: "write the values out".to_owned(),
    }
}

fn at_line(yaml: &str, offset: Option<usize>, message: impl Into<String>, hint: impl Into<String>) -> Explained {
    let key = offset.and_then(|offset| key_of_line(line_at(yaml, offset).1)).map(str::to_owned);
    Explained { offset, key, message: message.into(), hint: hint.into() }
}

fn explain_syntax(error: &serde_yaml::Error, yaml: &str) -> Explained {
    let said = error.to_string();
    let (rule, context) = split_rule(&said);
    let offset = error.location().map(|location| location.index().min(yaml.len()));
    let (line_start, line) = line_at(yaml, offset.unwrap_or(0));
    let indent = line.len() - line.trim_start().len();
    if line[..indent].contains('\t') && !rule.contains("limit") {
        let tab = line_start + line.find('\t').unwrap_or(0);
        return at_line(yaml, Some(tab), "the line is indented with a tab", "use blanks: YAML does not take tabs");
    }
    match rule {
        "mapping values are not allowed in this context" => colon_in_value(yaml, offset, line),
        "found character that cannot start any token" => {
            let found =
                offset.and_then(|offset| yaml.get(offset..)?.chars().next()).map_or_else(String::new, String::from);
            at_line(yaml, offset, format!("a plain value must not start with {}", quoted(&found)), quote_it(line))
        }
        "did not find expected alphabetic or numeric character" | "unknown anchor" => at_line(
            yaml,
            offset,
            "a plain value that starts with `*` or `&` is an alias or an anchor, and this one is not valid",
            quote_it(line),
        ),
        "found unexpected end of stream" | "found unexpected document indicator" if context.is_some() => {
            let opened = context.and_then(|context| offset_of_context(context, yaml));
            at_line(yaml, opened.or(offset), "a quote is opened here and not closed", "close it on the same line")
        }
        "found unknown escape character" | "did not find expected hexadecimal number" => at_line(
            yaml,
            offset,
            "a backslash in a text in double quotes starts an escape, and this one is unknown",
            "use single quotes, or write `\\\\` for a backslash",
        ),
        "control characters are not allowed" => {
            let found =
                yaml.char_indices().find(|(_, found)| found.is_control() && !matches!(found, '\n' | '\r' | '\t'));
            let message = match found {
                Some((_, found)) => format!("the control character {found:?} is not allowed"),
                None => "a control character is not allowed".to_owned(),
            };
            at_line(
                yaml,
                found.map(|(offset, _)| offset),
                message,
                "remove it, or write it as an escape in double quotes",
            )
        }
        "did not find expected ',' or ']'" | "did not find expected ',' or '}'" => unclosed(yaml, offset, context),
        "could not find expected ':'" => no_colon(yaml, offset, context),
        "did not find expected key" | "did not find expected '-' indicator" => at_line(
            yaml,
            offset,
            "this line does not fit the lines above it",
            comment_advice(yaml, offset).unwrap_or_else(|| {
                "keys of one level need the same indentation; a value that starts with a quote must end with it"
                    .to_owned()
            }),
        ),
        "block sequence entries are not allowed in this context" => at_line(
            yaml,
            offset,
            "`- ` begins a list item and is not allowed here",
            "put each item on a line of its own, or quote it",
        ),
        "deserializing from YAML containing more than one document is not supported" => more_than_one_document(yaml),
        "recursion limit exceeded" => at_line(
            yaml,
            offset,
            "values are nested more than 128 levels deep",
            "flatten them; an alias must not hold itself",
        ),
        "repetition limit exceeded" => multiplying(),
        other => at_line(yaml, offset, format!("not valid YAML: {other}"), "check this line and the one above it"),
    }
}

/// `rule at line 2 column 3, while … at line 1 column 1` as the rule and what follows the comma.
fn split_rule(said: &str) -> (&str, Option<&str>) {
    let rule_end = [" at line ", " at position ", ", while "].iter().filter_map(|mark| said.find(mark)).min();
    (&said[..rule_end.unwrap_or(said.len())], said.find(", while ").map(|start| &said[start + 2..]))
}

/// The place that a context names (`… at line 1 column 4`), as an offset.
fn offset_of_context(context: &str, yaml: &str) -> Option<usize> {
    let (_, place) = context.rsplit_once(" at line ")?;
    let (line, column) = place.split_once(" column ")?;
    let (line, column) = (line.parse::<usize>().ok()?, column.parse::<usize>().ok()?);
    let start = match line.checked_sub(2) {
        None => 0,
        Some(line_end) => line_ends(yaml).nth(line_end)?,
    };
    let (offset, _) = yaml.get(start..)?.char_indices().nth(column.checked_sub(1)?)?;
    Some(start + offset)
}

/// Where each line ends, its line end included, as the parser counts lines: it knows more line ends than an editor does.
fn line_ends(yaml: &str) -> impl Iterator<Item = usize> {
    let ends_line = |offset: usize, c: char| match c {
        '\n' | '\u{85}' | '\u{2028}' | '\u{2029}' => true,
        '\r' => yaml.as_bytes().get(offset + 1) != Some(&b'\n'),
        _ => false,
    };
    yaml.char_indices().filter(move |(offset, c)| ends_line(*offset, *c)).map(|(offset, c)| offset + c.len_utf8())
}

/// The line that an offset stands in, and where it starts. The end of the text counts as part of its last line.
fn line_at(yaml: &str, offset: usize) -> (usize, &str) {
    let offset = if offset >= yaml.len() { yaml.trim_end_matches(['\n', '\r']).len() } else { offset };
    let start = yaml.get(..offset).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    let line = yaml.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
    (start, line)
}

/// `- name: x` as the key, and its value as written.
fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let mut line = line.trim_start();
    while let Some(item) = line.strip_prefix("- ") {
        line = item.trim_start();
    }
    let (key, value) = line.split_once(':')?;
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!key.is_empty() && key.chars().all(plain)).then(|| (key, value.trim()))
}

fn key_of_line(line: &str) -> Option<&str> {
    key_and_value(line).map(|(key, _)| key)
}

/// The advice to quote, with the line as it should be where that is short.
fn quote_it(line: &str) -> String {
    match key_and_value(line) {
        Some((key, value)) if !value.is_empty() && value.chars().count() <= 60 => {
            format!("quote it: {key}: {}", in_quotes(value))
        }
        _ => "quote it".to_owned(),
    }
}

fn in_quotes(value: &str) -> String {
    if value.contains(['"', '\\']) { format!("'{}'", value.replace('\'', "''")) } else { format!("\"{value}\"") }
}

fn colon_in_value(yaml: &str, offset: Option<usize>, line: &str) -> Explained {
    match key_and_value(line) {
        Some((_, value)) if value.contains(": ") || value.ends_with(':') => {
            at_line(yaml, offset, "a plain value must not hold `: `, which starts another value", quote_it(line))
        }
        _ => at_line(
            yaml,
            offset,
            "a `key: value` is not allowed here",
            "check the indentation: a key of the same level starts in the same column",
        ),
    }
}

fn unclosed(yaml: &str, offset: Option<usize>, context: Option<&str>) -> Explained {
    let (open, close) =
        if context.is_some_and(|context| context.contains("mapping")) { ('{', '}') } else { ('[', ']') };
    let opened = context.and_then(|context| offset_of_context(context, yaml)).or(offset);
    let hint = comment_advice(yaml, opened).unwrap_or_else(|| {
        format!(
            "close it with `{close}`, part its items by commas, and quote an item that holds a comma, a quote or `: `"
        )
    });
    at_line(yaml, opened, format!("the `{open}` that is opened here is not closed, or a comma is missing in it"), hint)
}

fn no_colon(yaml: &str, offset: Option<usize>, context: Option<&str>) -> Explained {
    let started = context.and_then(|context| offset_of_context(context, yaml)).or(offset);
    let (_, line) = line_at(yaml, started.unwrap_or(0));
    let hint = match line.split_once(':') {
        Some((_, value)) if !value.starts_with([' ', '\t']) && !value.is_empty() => {
            "put a blank after the colon".to_owned()
        }
        _ => comment_advice(yaml, started)
            .unwrap_or_else(|| "write `key: value`; a longer text needs to be indented or quoted".to_owned()),
    };
    at_line(yaml, started, format!("expected `key: value`, found {}", quoted(line.trim())), hint)
}

/// Where the line at `offset`, or the one above it, holds a ` #`: it may be what cut a value short.
fn comment_advice(yaml: &str, offset: Option<usize>) -> Option<String> {
    let (start, line) = line_at(yaml, offset?);
    let above = start.checked_sub(1).map(|end| line_at(yaml, end).1);
    let cut = [Some(line), above].into_iter().flatten().find(|line| line.trim_start().contains(" #"))?;
    Some(format!("` #` starts a comment in {}: quote the value that holds it", quoted(cut.trim())))
}

fn more_than_one_document(yaml: &str) -> Explained {
    let mut offset = 0;
    let mut found = None;
    for line in yaml.split_inclusive('\n') {
        if line.starts_with("---") || line.starts_with("...") {
            found = Some(offset);
        }
        offset += line.len();
    }
    at_line(
        yaml,
        found,
        "this line begins a second YAML document",
        "only the line that closes a front matter is `---`; no other line may start with `---` or `...`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::compose;

    fn explained(yaml: &str) -> Explained {
        explain(&compose(yaml).expect_err(yaml), yaml)
    }

    fn said(yaml: &str) -> String {
        let Explained { offset, key, message, hint } = explained(yaml);
        let at = offset.map(|offset| yaml[offset..].lines().next().unwrap_or_default().to_owned());
        format!("at {:?} key {:?}: {message} ({hint})", at.unwrap_or_default(), key.unwrap_or_default())
    }

    /// K-41.
    #[test]
    fn a_colon_in_a_plain_value_is_answered_with_the_quoted_line() {
        insta::assert_snapshot!(said("description: Use when: x\n"), @r#"at ": x" key "description": a plain value must not hold `: `, which starts another value (quote it: description: "Use when: x")"#);
        insta::assert_snapshot!(said("p:\n  - name: say \"a\": b\n"), @r#"at ": b" key "name": a plain value must not hold `: `, which starts another value (quote it: name: 'say "a": b')"#);
        insta::assert_snapshot!(said("a: 1\n  b: 2\n"), @r#"at ": 2" key "b": a `key: value` is not allowed here (check the indentation: a key of the same level starts in the same column)"#);
    }

    #[test]
    fn a_value_that_starts_with_a_sign_is_answered_with_quote_it() {
        insta::assert_snapshot!(said("a: @home\n"), @r#"at "@home" key "a": a plain value must not start with "@" (quote it: a: "@home")"#);
        insta::assert_snapshot!(said("a: `x`\n"), @r#"at "`x`" key "a": a plain value must not start with "`" (quote it: a: "`x`")"#);
        insta::assert_snapshot!(said("a: *.txt\n"), @r#"at ".txt" key "a": a plain value that starts with `*` or `&` is an alias or an anchor, and this one is not valid (quote it: a: "*.txt")"#);
        insta::assert_snapshot!(said("a: *txt\n"), @r#"at "*txt" key "a": a plain value that starts with `*` or `&` is an alias or an anchor, and this one is not valid (quote it: a: "*txt")"#);
        insta::assert_snapshot!(said("a: !x y\n"), @r#"at "!x y" key "a": a value that starts with `!` is a YAML tag, and tags have no meaning here (quote the value, or remove the tag)"#);
    }

    /// K-43: tab indent.
    #[test]
    fn a_tab_is_named() {
        insta::assert_snapshot!(said("a:\n\tb: 1\n"), @r#"at "\tb: 1" key "b": the line is indented with a tab (use blanks: YAML does not take tabs)"#);
        insta::assert_snapshot!(said("a:\n  b: 1\n  \tc: 1\n"), @r#"at "\tc: 1" key "c": the line is indented with a tab (use blanks: YAML does not take tabs)"#);
    }

    #[test]
    fn what_is_opened_and_not_closed_is_shown_where_it_opens() {
        insta::assert_snapshot!(said("a: 1\nb: \"x\nc: 2\n"), @r#"at "\"x" key "b": a quote is opened here and not closed (close it on the same line)"#);
        insta::assert_snapshot!(said("a: 1\nb: [x, y\nc: 2\n"), @r#"at "[x, y" key "b": the `[` that is opened here is not closed, or a comma is missing in it (close it with `]`, part its items by commas, and quote an item that holds a comma, a quote or `: `)"#);
        insta::assert_snapshot!(said("b: [x, #fff]\nc: 2\n"), @r#"at "[x, #fff]" key "b": the `[` that is opened here is not closed, or a comma is missing in it (` #` starts a comment in "b: [x, #fff]": quote the value that holds it)"#);
        insta::assert_snapshot!(said("b: {x: 1\nc: 2\n"), @r#"at "{x: 1" key "b": the `{` that is opened here is not closed, or a comma is missing in it (close it with `}`, part its items by commas, and quote an item that holds a comma, a quote or `: `)"#);
    }

    /// The parser counts more line ends than an editor does.
    #[test]
    fn a_place_behind_odd_line_ends_is_found() {
        for lines in ["a: 1\n", "a: 1\r\n", "a: 1\r", "a: 'x\u{2028}'\n", "a: 'x\u{85}'\r\n"] {
            assert_eq!(explained(&format!("{lines}b: \"x\nc: 2\n")).offset, Some(lines.len() + 3), "{lines:?}");
        }
    }

    #[test]
    fn other_slips_are_named_with_their_line() {
        insta::assert_snapshot!(said("a: 1\nname:x\nb: 2\n"), @r#"at "name:x" key "name": expected `key: value`, found "name:x" (put a blank after the colon)"#);
        insta::assert_snapshot!(said("a: 1\njust text\nb: 2\n"), @r#"at "just text" key "": expected `key: value`, found "just text" (write `key: value`; a longer text needs to be indented or quoted)"#);
        insta::assert_snapshot!(said("a: \"x\" y\n"), @r#"at "y" key "a": this line does not fit the lines above it (keys of one level need the same indentation; a value that starts with a quote must end with it)"#);
        insta::assert_snapshot!(said("a: fix #1\n  more\n"), @r#"at "more" key "": this line does not fit the lines above it (` #` starts a comment in "a: fix #1": quote the value that holds it)"#);
        insta::assert_snapshot!(said("a: - x\n"), @r#"at "- x" key "a": `- ` begins a list item and is not allowed here (put each item on a line of its own, or quote it)"#);
        insta::assert_snapshot!(said("a: \"C:\\dir\"\n"), @r#"at "\\dir\"" key "a": a backslash in a text in double quotes starts an escape, and this one is unknown (use single quotes, or write `\\` for a backslash)"#);
        insta::assert_snapshot!(said("a: 1\nb: x\u{7}y\n"), @r#"at "\u{7}y" key "b": the control character '\u{7}' is not allowed (remove it, or write it as an escape in double quotes)"#);
        insta::assert_snapshot!(said("a: 1\n--- b\nc: 1\n"), @r#"at "--- b" key "": this line begins a second YAML document (only the line that closes a front matter is `---`; no other line may start with `---` or `...`)"#);
        insta::assert_snapshot!(said("a: &a [*a]\n"), @r#"at "&a [*a]" key "a": values are nested more than 128 levels deep (flatten them; an alias must not hold itself)"#);
        insta::assert_snapshot!(said("? [x]\n: 1\n"), @r#"at "[x]" key "": a key must be a text, not a list, a mapping or nothing (quote it if it starts with `[`, `{` or `?`)"#);
        insta::assert_snapshot!(said("%BAD x\n---\n"), @r#"at " x" key "": not valid YAML: found unknown directive name (check this line and the one above it)"#);
    }
}
