//! AGENT.md of both levels and SOUL.md of the home: texts for the system prompt (Y3.1-4, Y3.1-5, D-63).
//!
//! A text that cannot be read whole is used as far as it can, with a warning: instructions that are missing in silence
//! would be worse. How the texts are joined is not known here.

use std::path::{Path, PathBuf};

use crate::{
    problem::{Problem, Severity},
    regular_file,
    scan::Roots,
};

/// The most bytes that one file adds to the system prompt, the notice that it was cut included.
pub const MOST_INSTRUCTION_BYTES: usize = 64 * 1024;

/// The user's instructions; of each file none if there is none or nothing stands in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Instructions {
    /// `~/.youyou/AGENT.md`.
    pub global: Option<Instruction>,
    /// `{workspace}/.youyou/AGENT.md`; it follows the global one and does not replace it (Y3.1-4).
    pub project: Option<Instruction>,
    /// `~/.youyou/SOUL.md`, who the agent is.
    pub soul: Option<Instruction>,
}

/// One file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// The file.
    pub path: PathBuf,
    /// Its text without blank lines around it, its lines ended by `\n`; never empty, at most
    /// [`MOST_INSTRUCTION_BYTES`].
    pub text: String,
}

/// Reads the instructions of both levels, with what is to say about them. Missing files are fine.
///
/// Where the workspace's `.youyou` is the home itself, its AGENT.md is the global one alone. It blocks while it reads,
/// but waits for nothing.
pub fn load_instructions(roots: &Roots) -> (Instructions, Vec<Problem>) {
    let mut problems = Vec::new();
    let global = load(roots.home.join("AGENT.md"), &mut problems);
    let project = match roots.project() {
        Some(project) => load(project.join("AGENT.md"), &mut problems),
        None => None,
    };
    let soul = load(roots.home.join("SOUL.md"), &mut problems);
    (Instructions { global, project, soul }, problems)
}

fn load(path: PathBuf, problems: &mut Vec<Problem>) -> Option<Instruction> {
    let most = MOST_INSTRUCTION_BYTES;
    let (bytes, size) = match regular_file::read_start(&path, most as u64 + 1) {
        Ok(read) => read,
        Err(unread) => {
            if !unread.is_missing(&path) {
                problems.push(unread.problem(&path));
            }
            return None;
        }
    };
    let name = regular_file::name(&path);
    let marker =
        format!("\n\n[{name} is cut here: it is {size} bytes long, and at most {} KiB of it are used]", most / 1024);
    let room = most.saturating_sub(marker.len());
    let mut kept = bytes.len();
    if kept > most {
        kept = line_end_before(&bytes, room);
    }
    let mut text = decode(&path, bytes.get(..kept).unwrap_or_default(), problems);
    let mut is_cut = kept < bytes.len();
    // Each byte that is not UTF-8 has become three.
    if text.len() > if is_cut { room } else { most } {
        text.truncate(line_end_before(text.as_bytes(), room));
        is_cut = true;
    }
    let last_line = regular_file::line_of(text.as_bytes(), text.len());
    let mut text = text.strip_prefix('\u{feff}').unwrap_or(&text).trim().replace("\r\n", "\n");
    if is_cut {
        problems.push(cut_short(&path, size, last_line));
        text.push_str(&marker);
    }
    (!text.is_empty()).then_some(Instruction { path, text })
}

fn cut_short(path: &Path, size: u64, last_line: u32) -> Problem {
    let (name, kib) = (regular_file::name(path), MOST_INSTRUCTION_BYTES / 1024);
    let message = format!("{name} is {size} bytes long, but at most {kib} KiB of it are used");
    let mut problem =
        Problem::new(Severity::Warning, path, message).with_hint("shorten it; what follows this line is not used");
    problem.line = Some(last_line);
    problem
}

/// Where the last line that fits ends; within a line only if none fits, and then not within a character.
fn line_end_before(bytes: &[u8], most: usize) -> usize {
    let fitting = bytes.get(..most).unwrap_or(bytes);
    if let Some(newline) = fitting.iter().rposition(|byte| *byte == b'\n') {
        return newline;
    }
    let continues = |end: usize| bytes.get(end).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    (0..=fitting.len()).rev().take(4).find(|end| !continues(*end)).unwrap_or(fitting.len())
}

/// The bytes as text; what is not UTF-8 is replaced, with a warning.
fn decode(path: &Path, bytes: &[u8], problems: &mut Vec<Problem>) -> String {
    if let Err(error) = std::str::from_utf8(bytes) {
        let (name, valid) = (regular_file::name(path), error.valid_up_to());
        let message =
            format!("{name} is not UTF-8: byte {} is invalid; what cannot be read is replaced by U+FFFD", valid + 1);
        let mut problem = Problem::new(Severity::Warning, path, message).with_hint(regular_file::save_as_utf8(bytes));
        problem.line = Some(regular_file::line_of(bytes, valid));
        problems.push(problem);
    }
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::line_end_before;

    #[test]
    fn a_cut_is_at_a_line_end_or_between_characters() {
        assert_eq!(line_end_before(b"one\ntwo\nthree", 9), 7);
        assert_eq!(line_end_before(b"one\ntwo", 100), 3);
        let wide = "€€€".as_bytes();
        assert_eq!([3, 4, 5, 6].map(|most| line_end_before(wide, most)), [3, 3, 3, 6]);
        assert_eq!(line_end_before(b"", 4), 0);
        assert_eq!(line_end_before(&[0x80; 9], 7), 7);
    }
}
