//! The walk over a directory and the search in each file; it knows nothing of tools.

use std::{fs, io, io::Read as _, path::Path};

use ignore::{
    WalkBuilder,
    overrides::{Override, OverrideBuilder},
};
use regex::Regex;

/// Larger files are skipped: a component has little memory, and such a file is seldom text that a person wrote.
const LARGEST_FILE: u64 = 4 * 1024 * 1024;

/// A longer line is cut.
const LONGEST_LINE: usize = 300;

/// Which files are searched.
pub(crate) struct FileFilter(Override);

impl FileFilter {
    /// Every file.
    pub(crate) fn all() -> Self {
        Self(Override::empty())
    }

    /// Files whose path below `root`, or whose name, matches the glob.
    pub(crate) fn glob(root: &Path, glob: &str) -> Result<Self, ignore::Error> {
        Ok(Self(OverrideBuilder::new(root).add(glob)?.build()?))
    }
}

/// What a search found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// `path:line: text`, ordered by path and line.
    pub(crate) lines: Vec<String>,
    pub(crate) files_matched: usize,
    pub(crate) files_searched: usize,
    /// Files that are too large or not UTF-8.
    pub(crate) files_skipped: usize,
    /// Whether there are more matches than asked for.
    pub(crate) cut: bool,
    /// What could not be read.
    pub(crate) problems: Vec<String>,
}

/// Searches the files below `root`. Hidden files, and those named in a `.gitignore` or `.ignore`, are left out; links
/// are not followed.
///
/// # Errors
/// When `root` itself cannot be read.
pub(crate) fn run(root: &Path, pattern: &Regex, filter: FileFilter, most: usize) -> io::Result<Found> {
    fs::read_dir(root)?;
    let walk = WalkBuilder::new(root)
        .overrides(filter.0)
        .parents(false)
        .git_global(false)
        .git_exclude(false)
        .require_git(false)
        .sort_by_file_path(Path::cmp)
        .build();
    let mut found = Found::default();
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                found.problems.push(error.to_string());
                continue;
            }
        };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let shown = shown_path(root, entry.path());
        match read_text(entry.path()) {
            Ok(Some(text)) => search_text(&shown, &text, pattern, most, &mut found),
            Ok(None) => found.files_skipped += 1,
            Err(error) => found.problems.push(format!("{shown}: {error}")),
        }
        if found.cut {
            break;
        }
    }
    Ok(found)
}

/// The path below `root`, with `/` on every system.
fn shown_path(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The file's text; nothing when it is too large or not UTF-8.
fn read_text(path: &Path) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Ok(None);
    }
    Ok(String::from_utf8(bytes).ok())
}

fn search_text(shown: &str, text: &str, pattern: &Regex, most: usize, found: &mut Found) {
    found.files_searched += 1;
    let before = found.lines.len();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| pattern.is_match(line)) {
        if found.lines.len() == most {
            found.cut = true;
            break;
        }
        found.lines.push(format!("{shown}:{}: {}", index + 1, shortened(line)));
    }
    if found.lines.len() > before {
        found.files_matched += 1;
    }
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_at_a_character() {
        let line = "ä".repeat(LONGEST_LINE + 1);
        assert_eq!(shortened(&line), format!("{}…", "ä".repeat(LONGEST_LINE)));
        assert_eq!(shortened("short"), "short");
    }

    #[test]
    fn a_directory_that_is_not_there_is_an_error() {
        let pattern = Regex::new("a").expect("a pattern");
        let error = run(Path::new("no/such"), &pattern, FileFilter::all(), 1).expect_err("missing");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_file_that_is_not_text_is_skipped() {
        assert_eq!(read_text(Path::new("data/not-text.bin")).expect("readable"), None);
    }
}
