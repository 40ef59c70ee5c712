//! Parts an `index.md` into its YAML front matter and its Markdown body, and finds lines and columns in it (Y5.2-1).
//!
//! It does not read YAML.

use std::borrow::Cow;

/// An `index.md` in two parts; or YAML alone. Offsets are in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrontMatter<'a> {
    /// The whole file without a byte order mark.
    pub(crate) text: &'a str,
    /// What stands between the two `---` lines, its last line end included.
    pub(crate) yaml: &'a str,
    /// Where `yaml` begins in `text`.
    pub(crate) yaml_start: usize,
    body: &'a str,
}

/// Why a text has no front matter.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoFrontMatter {
    pub(crate) line: u32,
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl<'a> FrontMatter<'a> {
    /// Splits at the first two lines that are exactly `---`, the first of which must be line 1. A byte order mark is
    /// skipped and a line may end in CRLF.
    pub(crate) fn split(text: &'a str) -> Result<Self, NoFrontMatter> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            return Err(NoFrontMatter {
                line: 1,
                message: "index.md is empty: expected front matter between two `---` lines".to_owned(),
                hint: "begin with the lines `---`, `version: 1`, `name: …`, `---`".to_owned(),
            });
        }
        let yaml_start = match text.find('\n') {
            Some(end) if is_delimiter(&text[..end]) => end + 1,
            Some(end) => return Err(no_opening(text, &text[..end])),
            None => return Err(no_opening(text, text)),
        };
        let mut line_start = yaml_start;
        while line_start < text.len() {
            let line_end = text[line_start..].find('\n').map_or(text.len(), |length| line_start + length);
            if is_delimiter(&text[line_start..line_end]) {
                let body = text.get(line_end + 1..).unwrap_or_default();
                return Ok(Self { text, yaml: &text[yaml_start..line_start], yaml_start, body });
            }
            line_start = line_end + 1;
        }
        Err(no_closing(text))
    }

    /// A file that is YAML from its first line to its last. A byte order mark is skipped.
    pub(crate) fn whole(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self { text, yaml: text, yaml_start: 0, body: "" }
    }

    /// The Markdown body without the empty lines around it, its lines ended by `\n`.
    pub(crate) fn body(&self) -> Cow<'a, str> {
        let body = self.body.trim();
        if body.contains("\r\n") { Cow::Owned(body.replace("\r\n", "\n")) } else { Cow::Borrowed(body) }
    }

    /// Line and column, counted from 1, of an offset in [`text`](Self::text); the column in characters.
    pub(crate) fn position(&self, offset: usize) -> (u32, u32) {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[line_start..].chars().count() + 1;
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
    }
}

fn is_delimiter(line: &str) -> bool {
    line.strip_suffix('\r').unwrap_or(line) == "---"
}

fn no_opening(text: &str, first_line: &str) -> NoFrontMatter {
    let first_line = first_line.trim_end_matches('\r');
    let hint = if is_near_delimiter(first_line) {
        "write exactly three dashes and nothing else on the line".to_owned()
    } else if text.trim_start().starts_with("---") {
        "remove what stands above the first `---`, empty lines too".to_owned()
    } else {
        "begin with the lines `---`, `version: 1`, `name: …`, `---`".to_owned()
    };
    NoFrontMatter { line: 1, message: "line 1 must be exactly `---`, the start of the front matter".to_owned(), hint }
}

fn no_closing(text: &str) -> NoFrontMatter {
    let near = text.lines().enumerate().skip(1).find(|(_, line)| is_near_delimiter(line));
    let hint = match near {
        Some((index, line)) => {
            format!("line {} is {:?}: write exactly `---` there, unindented and with nothing after it", index + 1, line)
        }
        None => "put a line `---` between the front matter and the description".to_owned(),
    };
    NoFrontMatter {
        line: 1,
        message: "the front matter is not closed: no line after line 1 is exactly `---`".to_owned(),
        hint,
    }
}

/// Whether somebody may have meant this line as the delimiter.
fn is_near_delimiter(line: &str) -> bool {
    let line = line.trim();
    line.len() <= 8 && line.len() >= 2 && (line.bytes().all(|byte| byte == b'-') || line == "...") || line == "———"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K-40.
    #[test]
    fn a_byte_order_mark_and_crlf_make_no_difference() {
        let lf = "---\na: 1\n---\n\nOne\ntwo\n";
        let crlf = format!("\u{feff}{}", lf.replace('\n', "\r\n"));
        let (lf, crlf) = (FrontMatter::split(lf).expect("splits"), FrontMatter::split(&crlf).expect("splits"));
        assert_eq!((lf.yaml, &*lf.body()), ("a: 1\n", "One\ntwo"));
        assert_eq!((crlf.yaml, &*crlf.body()), ("a: 1\r\n", "One\ntwo"));
    }

    #[test]
    fn only_a_line_of_exactly_three_dashes_delimits() {
        let text = "---\na: x---\n--- b\n ---\n----\n---\nbody\n---\nmore";
        let split = FrontMatter::split(text).expect("splits");
        assert_eq!((split.yaml, &*split.body()), ("a: x---\n--- b\n ---\n----\n", "body\n---\nmore"));
    }

    #[test]
    fn the_smallest_front_matter_is_empty_and_needs_no_body() {
        for text in ["---\n---", "---\n---\n", "---\r\n---\r\n"] {
            let split = FrontMatter::split(text).expect(text);
            assert_eq!((split.yaml, &*split.body()), ("", ""), "{text:?}");
        }
    }

    #[test]
    fn what_is_not_front_matter_says_what_to_do() {
        let hint = |text| FrontMatter::split(text).expect_err(text).hint;
        assert!(hint("").contains("begin with"));
        assert!(hint(" \n\t\n").contains("begin with"));
        assert!(hint("# Title\n").contains("begin with"));
        assert!(hint("\n---\na: 1\n---\n").contains("remove what stands above"));
        assert!(hint("--- \na: 1\n---\n").contains("exactly three dashes"));
        assert!(hint("---").contains("exactly three dashes"));
        assert!(hint("---\na: 1\n").contains("put a line `---`"));
        assert!(hint("---\na: 1\n--- \nbody").contains("line 3 is \"--- \""));
    }

    #[test]
    fn a_position_counts_lines_and_characters_from_one() {
        let split = FrontMatter::split("---\nä: ö\n---\n").expect("splits");
        assert_eq!(split.position(0), (1, 1));
        assert_eq!(split.position(split.yaml_start), (2, 1));
        assert_eq!(split.position(split.yaml_start + "ä: ".len()), (2, 4));
        assert_eq!(split.position(usize::MAX), (4, 1));
    }
}
