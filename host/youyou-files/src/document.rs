//! One YAML document within bounds, with everything noted that YAML passes over in silence.
//!
//! Front matter and config.yaml are read through here; what their keys mean is not known.

use crate::{
    findings::{At, Findings},
    yaml::{ComposeError, Composed, Remark, compose, explain, quoted},
};

/// The longest document. The parser slows down with the square of some texts, so it gets no long ones.
const MOST_YAML: usize = 64 * 1024;
/// Levels of brackets in a document; the parser's own limit, but counted before it does its slow work.
const MOST_DEPTH: usize = 128;
/// Below this even the slowest text is read in no time.
const SHORT_YAML: usize = 4 * 1024;

/// What a document is called, and what to do when it is too long.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) too_long: &'static str,
}

/// Reads a document, or notes why it is none.
pub(crate) fn read<'a>(yaml: &'a str, kind: &Kind, findings: &mut Findings<'_>) -> Option<Composed<'a>> {
    if yaml.len() > MOST_YAML {
        let (name, bytes) = (kind.name, yaml.len());
        findings
            .error(At::Start, format!("{name} is {bytes} bytes long, at most {MOST_YAML} (64 KiB) are read"))
            .hint(kind.too_long);
        return None;
    }
    if yaml.len() > SHORT_YAML && bracket_depth(yaml) > MOST_DEPTH {
        findings
            .error(At::Start, format!("brackets are nested more than {MOST_DEPTH} levels deep"))
            .hint("close the brackets, or quote the texts that hold them");
        return None;
    }
    compose(yaml).map_err(|error| refuse(&error, yaml, findings)).ok()
}

fn refuse(error: &ComposeError, yaml: &str, findings: &mut Findings<'_>) {
    let explained = explain(error, yaml);
    let at = if explained.offset.is_some() { At::Offset(explained.offset) } else { At::Start };
    let noted = findings.error(at, explained.message).hint(explained.hint);
    if let Some(key) = explained.key {
        noted.key(key);
    }
}

/// How deep brackets are nested, quotes not regarded.
fn bracket_depth(yaml: &str) -> usize {
    let (mut depth, mut most) = (0usize, 0);
    for byte in yaml.bytes() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

/// Notes what the parser accepted and yet is a mistake.
pub(crate) fn note_remarks(remarks: &[Remark], yaml: &str, findings: &mut Findings<'_>) {
    for remark in remarks {
        match remark {
            Remark::Twice { key, first, second } => {
                let first = first.map(|first| format!(", first in line {}", findings.line(first))).unwrap_or_default();
                findings
                    .error(At::Offset(*second), format!("`{key}` is given twice{first}"))
                    .hint("keep one of the two")
                    .key(key);
            }
            Remark::Cut { key, comment } => note_cut(key, *comment, yaml, findings),
        }
    }
}

/// A text that a comment cuts short. After `#12` nobody means a comment, and a shortened description misleads the model
/// in silence, so that is an error; what may well be a comment is left alone unless the text is prose.
fn note_cut(key: &str, comment: usize, yaml: &str, findings: &mut Findings<'_>) {
    const PROSE: &[&str] = &["description", "display_name", "compact_prompt"];
    let rest = yaml[comment..].lines().next().unwrap_or_default();
    let (prose, glued) = (PROSE.contains(&key), !rest.starts_with("# ") && rest != "#");
    if !prose && !glued {
        return;
    }
    let message = format!("the value of `{key}` ends before {}: ` #` starts a comment", quoted(rest));
    let at = At::Offset(Some(comment));
    let noted = if prose && glued { findings.error(at, message) } else { findings.warning(at, message) };
    noted.hint("quote it if the `#` belongs to the value, or put the comment on a line of its own").key(key);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_depth_of_brackets_is_counted() {
        assert_eq!(bracket_depth("a: [1, {b: [2]}]\nc: ]]] [x]"), 3);
    }
}
