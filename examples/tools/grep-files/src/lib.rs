//! `grep-files`: searches the files of the working directory with a regular expression.
//!
//! It reads with plain `std::fs`; what it can reach is decided by the read grant in its `index.md`, and nothing here
//! knows about that. The walk and the search are in `search.rs`.

mod search;

use std::path::Path;

use regex::RegexBuilder;
use youyou_guest::{ToolError, ToolOutput, args, json, log, tool};

use search::{FileFilter, Found};

/// Longer answers help no model.
const MOST_MATCHES: usize = 1000;

/// The arguments of a call.
#[args]
struct Args {
    /// Regular expression that a line must match, such as `fn \w+`; `(?i)` in front ignores case.
    pattern: String,
    /// Only files whose path or name matches this glob, such as `*.md` or `src/**`.
    glob: Option<String>,
    /// Stop after this many matching lines; 1 to 1000, 100 if not given.
    #[serde(default = "default_max_matches")]
    max_matches: usize,
}

fn default_max_matches() -> usize {
    100
}

/// Searches the files of the working directory with a regular expression.
#[tool]
fn grep_files(args: Args) -> Result<ToolOutput, ToolError> {
    grep(Path::new("."), &args)
}

fn grep(root: &Path, args: &Args) -> Result<ToolOutput, ToolError> {
    if !(1..=MOST_MATCHES).contains(&args.max_matches) {
        return Err(format!("max_matches is {}: give a number from 1 to {MOST_MATCHES}", args.max_matches).into());
    }
    let pattern = RegexBuilder::new(&args.pattern)
        .build()
        .map_err(|error| format!("pattern is not a regular expression: {error}"))?;
    let filter = match &args.glob {
        Some(glob) => FileFilter::glob(root, glob).map_err(|error| format!("glob is not a file pattern: {error}"))?,
        None => FileFilter::all(),
    };
    let found = search::run(root, &pattern, filter, args.max_matches)?;
    for problem in &found.problems {
        log::warn!("{problem}");
    }
    Ok(ToolOutput::text(report(&found)).with_metadata(json!({
        "matches": found.lines.len(),
        "files_matched": found.files_matched,
        "files_searched": found.files_searched,
        "files_skipped": found.files_skipped,
        "cut": found.cut,
    })))
}

fn report(found: &Found) -> String {
    if found.lines.is_empty() {
        return format!("no match in {} files", found.files_searched);
    }
    let mut text = found.lines.join("\n");
    if found.cut {
        text.push_str(&format!("\n[stopped after {} matches; narrow the pattern or the glob]", found.lines.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use youyou_guest::testing::{self, ToolAnswer};

    use super::*;

    /// The tool's own sample files. The tests of a package run in its folder.
    fn call(arguments: impl std::fmt::Display) -> ToolAnswer {
        testing::call(|args: Args| grep(Path::new("data"), &args), arguments)
    }

    #[test]
    fn matches_come_in_the_order_of_paths_and_lines() {
        let answer = call(json!({"pattern": r"TODO"}));
        assert_eq!(
            answer.content(),
            "notes/ideas.md:5: - TODO try a bigger pot\n\
             notes/ideas.md:6: - TODO ask for the recipe\n\
             recipe.txt:4: TODO weigh the flour"
        );
        assert_eq!(
            answer.metadata(),
            json!({"matches": 3, "files_matched": 2, "files_searched": 3, "files_skipped": 1, "cut": false})
        );
    }

    #[test]
    fn a_glob_limits_the_files() {
        assert_eq!(call(json!({"pattern": "TODO", "glob": "*.txt"})).content(), "recipe.txt:4: TODO weigh the flour");
        assert_eq!(
            call(json!({"pattern": "ask", "glob": "notes/**"})).content(),
            "notes/ideas.md:6: - TODO ask for the recipe"
        );
        assert_eq!(call(json!({"pattern": "TODO", "glob": "*.rs"})).content(), "no match in 0 files");
    }

    #[test]
    fn case_counts_unless_the_pattern_says_otherwise() {
        assert_eq!(call(json!({"pattern": "todo"})).content(), "no match in 3 files");
        assert_eq!(call(json!({"pattern": "(?i)todo weigh"})).content(), "recipe.txt:4: TODO weigh the flour");
        assert_eq!(call(json!({"pattern": "(?i)GRÜSSE"})).content(), "letter.txt:2: Viele Grüße, auch Grüsse");
    }

    #[test]
    fn the_number_of_matches_is_bounded_and_said() {
        let answer = call(json!({"pattern": "TODO", "max_matches": 2}));
        assert_eq!(
            answer.content(),
            "notes/ideas.md:5: - TODO try a bigger pot\nnotes/ideas.md:6: - TODO ask for the recipe\n\
             [stopped after 2 matches; narrow the pattern or the glob]"
        );
        assert_eq!(answer.metadata()["cut"], json!(true));
        assert!(!call(json!({"pattern": "TODO", "max_matches": 3})).content().contains("stopped"));
    }

    #[test]
    fn hidden_and_ignored_files_are_left_out() {
        assert_eq!(call(json!({"pattern": "secret"})).content(), "no match in 3 files");
    }

    #[test]
    fn bad_arguments_are_failures_that_say_what_to_give() {
        let answer = call(json!({"pattern": "a("}));
        assert!(answer.is_error());
        assert!(answer.content().starts_with("pattern is not a regular expression: "), "{}", answer.content());
        assert!(answer.content().contains("unclosed group"), "{}", answer.content());

        let answer = call(json!({"pattern": "a", "glob": "a{"}));
        assert!(answer.is_error());
        assert!(answer.content().starts_with("glob is not a file pattern: "), "{}", answer.content());

        let answer = call(json!({"pattern": "a", "max_matches": 0}));
        assert_eq!((answer.is_error(), answer.content()), (true, "max_matches is 0: give a number from 1 to 1000"));
    }

    #[test]
    fn the_index_md_fits_the_code() {
        testing::assert_index_md(&youyou_tool_spec(), "index.md");
    }
}
