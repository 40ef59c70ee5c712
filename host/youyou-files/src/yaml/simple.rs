//! A quick reader for the YAML that most front matters are made of: block mappings and lists, one-line flow values, plain
//! and quoted texts of one line, comments.
//!
//! It exists for speed alone: reading a thousand tools would spend most of its time in the YAML crate, which takes ten
//! times as long. It knows no errors. At the first sign of anything else (escapes, anchors, tags, block texts, a key given
//! twice, …) it gives up, and the crate reads the text and finds the words. What it does read it reads as the crate does;
//! property tests hold that.

use std::borrow::Cow;

use super::{
    compose::{Composed, Remark},
    node::Node,
};

const MOST_DEPTH: usize = 16;
const MOST_KEY: usize = 64;

/// Reads a document, or gives up.
pub(super) fn read(yaml: &str) -> Option<Composed<'_>> {
    let printable = |byte: u8| matches!(byte, b' '..=b'~' | b'\n');
    if !yaml.bytes().all(printable)
        && !yaml.chars().all(|c| c.is_alphanumeric() || u8::try_from(c).is_ok_and(printable))
    {
        return None;
    }
    let mut lines = Lines { yaml, rest: yaml, line: None, remarks: Vec::new() };
    lines.advance();
    if lines.line?.indent != 0 {
        return None;
    }
    let root = lines.mapping(0, MOST_DEPTH)?;
    lines.line.is_none().then_some(Composed { root, remarks: lines.remarks })
}

/// A line that is neither empty nor a comment.
#[derive(Clone, Copy)]
struct Line<'a> {
    indent: usize,
    text: &'a str,
}

struct Lines<'a> {
    yaml: &'a str,
    rest: &'a str,
    line: Option<Line<'a>>,
    remarks: Vec<Remark>,
}

impl<'a> Lines<'a> {
    fn advance(&mut self) {
        self.line = None;
        while !self.rest.is_empty() && self.line.is_none() {
            let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
            self.rest = rest;
            let text = line.trim_start_matches(' ');
            if !text.is_empty() && !text.starts_with('#') {
                self.line = Some(Line { indent: line.len() - text.len(), text: text.trim_end_matches(' ') });
            }
        }
    }

    /// The entries at exactly this indentation, from the current line on.
    fn mapping(&mut self, indent: usize, depth: usize) -> Option<Node<'a>> {
        let depth = depth.checked_sub(1)?;
        let mut entries: Vec<(Cow<'a, str>, Node<'a>)> = Vec::new();
        while let Some(line) = self.line {
            if line.indent < indent {
                break;
            }
            let (key, value) = key_and_value(line.text).filter(|_| line.indent == indent)?;
            if entries.iter().any(|(other, _)| other == key) {
                return None;
            }
            self.advance();
            let value = if value.is_empty() || value.starts_with('#') {
                self.nested(key, indent, depth)?
            } else {
                self.one_line(value, key, indent, depth)?
            };
            entries.push((Cow::Borrowed(key), value));
        }
        Some(Node::Map(entries))
    }

    /// The value of a key with nothing behind it.
    fn nested(&mut self, key: &str, indent: usize, depth: usize) -> Option<Node<'a>> {
        match self.line {
            Some(line) if is_item(line.text) && line.indent >= indent => self.list(key, line.indent, depth),
            Some(line) if line.indent > indent => self.mapping(line.indent, depth),
            _ => Some(Node::Null),
        }
    }

    /// The items at exactly this indentation, from the current line on.
    fn list(&mut self, key: &str, indent: usize, depth: usize) -> Option<Node<'a>> {
        let depth = depth.checked_sub(1)?;
        let mut items = Vec::new();
        while let Some(line) = self.line {
            if line.indent < indent || (line.indent == indent && !is_item(line.text)) {
                break;
            }
            let item = line.text.strip_prefix("- ").filter(|_| line.indent == indent)?.trim_start_matches(' ');
            items.push(if key_and_value(item).is_some() {
                let inner = indent + line.text.len() - item.len();
                self.line = Some(Line { indent: inner, text: item });
                self.mapping(inner, depth)?
            } else {
                self.advance();
                self.one_line(item, key, indent, depth)?
            });
        }
        Some(Node::List(items))
    }

    /// A value that begins and ends on the line before the current one; a comment may follow it.
    fn one_line(&mut self, text: &'a str, key: &str, indent: usize, depth: usize) -> Option<Node<'a>> {
        if self.line.is_some_and(|next| next.indent > indent) {
            return None;
        }
        match text.as_bytes().first()? {
            b'[' | b'{' => {
                let mut flow = Flow { rest: text };
                let node = flow.value(depth)?;
                is_comment(flow.rest).then_some(node)
            }
            b'"' | b'\'' => {
                let (text, rest) = quoted(text)?;
                is_comment(rest).then_some(Node::Text(Cow::Borrowed(text)))
            }
            _ => {
                let (value, comment) = match find_pair(text, *b" #") {
                    Some(end) => (text[..end].trim_end_matches(' '), Some(&text[end + 1..])),
                    None => (text, None),
                };
                if find_pair(value, *b": ").is_some() || value.ends_with(':') {
                    return None;
                }
                let node = plain(value)?;
                if let (Node::Text(_), Some(comment)) = (&node, comment) {
                    let comment = comment.as_ptr() as usize - self.yaml.as_ptr() as usize;
                    self.remarks.push(Remark::Cut { key: key.to_owned(), comment });
                }
                Some(node)
            }
        }
    }
}

/// A value in brackets, on one line.
struct Flow<'a> {
    rest: &'a str,
}

impl<'a> Flow<'a> {
    fn value(&mut self, depth: usize) -> Option<Node<'a>> {
        match self.rest.as_bytes().first()? {
            b'[' => self.list(depth.checked_sub(1)?),
            b'{' => self.mapping(depth.checked_sub(1)?),
            b'"' | b'\'' => {
                let (text, rest) = quoted(self.rest)?;
                self.rest = rest;
                Some(Node::Text(Cow::Borrowed(text)))
            }
            _ => {
                let end = self.rest.find([',', ']', '}', '[', '{', ':', '?', '#'])?;
                let (text, rest) = self.rest.split_at(end);
                self.rest = rest;
                plain(text.trim_end_matches(' '))
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<Node<'a>> {
        self.take("[")?;
        let mut items = Vec::new();
        if self.close("]") {
            return Some(Node::List(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.rest = self.rest.trim_start_matches(' ');
            if self.close("]") {
                return Some(Node::List(items));
            }
            self.take(",")?;
        }
    }

    fn mapping(&mut self, depth: usize) -> Option<Node<'a>> {
        self.take("{")?;
        let mut entries: Vec<(Cow<'a, str>, Node<'a>)> = Vec::new();
        if self.close("}") {
            return Some(Node::Map(entries));
        }
        loop {
            let (key, rest) = self.rest.split_once(": ")?;
            if !is_key(key) || entries.iter().any(|(other, _)| other == key) {
                return None;
            }
            self.rest = rest.trim_start_matches(' ');
            entries.push((Cow::Borrowed(key), self.value(depth)?));
            self.rest = self.rest.trim_start_matches(' ');
            if self.close("}") {
                return Some(Node::Map(entries));
            }
            self.take(",")?;
        }
    }

    /// Steps over a closing bracket if one is next.
    fn close(&mut self, bracket: &str) -> bool {
        let rest = self.rest.strip_prefix(bracket);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Steps over a sign and the blanks behind it.
    fn take(&mut self, sign: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(sign)?.trim_start_matches(' ');
        Some(())
    }
}

fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// Where two signs stand side by side. Texts are short, so this beats the searching of `str`.
fn find_pair(text: &str, pair: [u8; 2]) -> Option<usize> {
    text.as_bytes().windows(2).position(|found| found == pair)
}

/// Whether nothing but a comment stands here, right behind a value.
fn is_comment(rest: &str) -> bool {
    rest.is_empty() || (rest.starts_with(' ') && rest.trim_start_matches(' ').starts_with('#'))
}

/// `key: value` or `key:`.
fn key_and_value(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(':')?;
    let behind = value.is_empty() || value.starts_with(' ');
    (behind && is_key(key)).then(|| (key, value.trim_start_matches(' ')))
}

fn is_key(key: &str) -> bool {
    let first = key.as_bytes().first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let rest = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    first && rest && key.len() <= MOST_KEY && !is_null(key)
}

/// A text in quotes without escapes, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next()?;
    let (inside, rest) = text[1..].split_once(quote)?;
    (!inside.contains('\\') && !rest.starts_with(quote)).then_some((inside, rest))
}

fn is_null(text: &str) -> bool {
    matches!(text, "null" | "Null" | "NULL")
}

/// A plain text, or what YAML takes it for.
fn plain(text: &str) -> Option<Node<'_>> {
    let first = text.chars().next()?;
    match text {
        "true" | "True" | "TRUE" => return Some(Node::Bool(true)),
        "false" | "False" | "FALSE" => return Some(Node::Bool(false)),
        _ if is_null(text) => return Some(Node::Null),
        _ => {}
    }
    if first.is_alphabetic() || matches!(first, '_' | '/' | '$' | '(') {
        return Some(Node::Text(Cow::Borrowed(text)));
    }
    if text.starts_with("./") || text.starts_with("../") || text == "." {
        return Some(Node::Text(Cow::Borrowed(text)));
    }
    // Of the numbers only the plainest; whether another text is one is for the crate to say.
    let number = text.len() <= 15 && text.bytes().all(|byte| byte.is_ascii_digit()) && (first != '0' || text == "0");
    if number { text.parse::<u64>().ok().map(|number| Node::Number(number.into())) } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::yaml::compose::compose_with_crate;

    const COMMON: &str = "\
version: 1
name: word-count            # = folder name
mutating: false # so far
# A comment.
parameters: # in order
  - { name: text, type: string, description: Text to measure., required: true }
  - name: größe
    type: string

    description: \"What: to count #1.\" # quoted
    enum: [words, 'two words', 3, true] #flow
  -  name: x
     items: { type: array, items: { type: string } }
execution:
  command: ./run.py
  args: [\"--fast\", ../x, []]
  timeout_ms: 5000
  permissions:
    net: []
    read:
    - ./data #1
    - /etc
    env: {}
  working_directory: .
nothing:
";

    /// Where this reader gives an answer, the crate gives the same.
    fn check(yaml: &str) -> Result<(), TestCaseError> {
        if let Some(found) = read(yaml) {
            match compose_with_crate(yaml) {
                Ok(composed) => {
                    prop_assert_eq!(&composed.root, &found.root, "{}", yaml);
                    prop_assert_eq!(composed.remarks, found.remarks, "{}", yaml);
                }
                Err(error) => prop_assert!(false, "{:?}\n{}", error, yaml),
            }
        }
        Ok(())
    }

    #[test]
    fn common_front_matter_is_read_and_read_alike() {
        assert!(read(COMMON).is_some());
        check(COMMON).expect("alike");
    }

    #[test]
    fn everything_else_is_left_to_the_crate() {
        for yaml in [
            "",
            "a",
            "- a\n",
            " a: 1\n",
            "a: b: c\n",
            "a: x\n  y\n",
            "a: \"\\n\"\n",
            "a: 'it''s'\n",
            "a: &x 1\n",
            "a: *x\n",
            "a: !x 1\n",
            "a: |\n  x\n",
            "a: [1\n",
            "a: [1, 2,]\n",
            "a: 1\na: 2\n",
            "a: 1\r\n",
            "a:\tb\n",
            "a: 007\n",
            "a: 1.5\n",
            "a: -1\n",
            "a: ~\n",
            "a: .5\n",
            "a: 0x1\n",
            "null: 1\n",
            "a: 1\n--- \n",
            "? a\n",
            "a: -\n",
            "a:\n  b: 1\n c: 2\n",
            "a: {b}\n",
            "a: {b: 1, b: 2}\n",
            "a: \u{2028}\n",
            "- a: 1\n",
            "a: @x\n",
            "a: [x: 1]\n",
            "a:\n- - x\n",
            "a: \"x\n  y\"\n",
            "a: 'x' y\n",
            "a: [[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]\n",
        ] {
            assert!(read(yaml).is_none(), "{yaml:?}");
        }
    }

    fn piece() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "\n", "\n", "\n  ", "\n    ", "\n- ", "\n  - ", " ", "  ", "a: ", "b: ", "c:", "d", "- ", "-", ":", ": ",
            "#", " #", "[", "]", "{", "}", ", ", ",", "\"", "'", "x", "y z", "1", "0", "007", ".", "./", "..", "/",
            "true", "null", "~", "é", "(", "$", "_", "?", "? ", "&", "*", "!", "|", ">", "%", "@", "`", "=", "<<",
            "\\", "+", "e", "inf", "1e5", "---", "...", "\t", "\r",
        ])
    }

    /// A good text with one part of it replaced.
    fn damaged() -> impl Strategy<Value = String> {
        let ends = prop::collection::vec(0..COMMON.chars().count(), 2);
        (ends, prop::collection::vec(piece(), 0..3), 0usize..30).prop_map(|(ends, pieces, longest)| {
            let start = ends[0].min(ends[1]);
            let kept = |from: usize, to: usize| COMMON.chars().skip(from).take(to).collect::<String>();
            let end = ends[0].max(ends[1]).min(start + longest);
            format!("{}{}{}", kept(0, start), pieces.concat(), kept(end, usize::MAX))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_read_here_is_what_the_crate_reads(pieces in prop::collection::vec(piece(), 0..25)) {
            check(&pieces.concat())?;
            check(&format!("a:{}", pieces.concat()))?;
        }

        #[test]
        fn a_damaged_text_is_read_alike_or_not_at_all(yaml in damaged()) {
            check(&yaml)?;
        }
    }
}
