//! `word-count`: counts the words, characters and lines of a text.
//!
//! A pure function: it asks for no grant. `examples/tools/word-count-py` is the same tool as a script; the two give
//! the same answers, so each rule below is written so that both languages can keep it.

use youyou_guest::{ToolError, ToolOutput, args, json, tool};

/// The arguments of a call.
#[args]
struct Args {
    /// Text to measure.
    text: String,
}

/// Counts the words, characters and lines of a text.
#[tool]
fn word_count(args: Args) -> Result<ToolOutput, ToolError> {
    if args.text.is_empty() {
        return Err("text is empty: give the text to measure".into());
    }
    let words = args.text.split_whitespace().count();
    let characters = args.text.chars().count();
    let lines = args.text.lines().count();
    let content =
        format!("{}, {}, {}", counted(words, "word"), counted(characters, "character"), counted(lines, "line"));
    Ok(ToolOutput::text(content).with_metadata(json!({"words": words, "characters": characters, "lines": lines})))
}

fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use youyou_guest::testing;

    use super::*;

    #[track_caller]
    fn assert_counts(text: &str, words: usize, characters: usize, lines: usize) {
        let answer = testing::call(word_count, json!({"text": text}));
        assert_eq!(answer.metadata(), json!({"words": words, "characters": characters, "lines": lines}));
    }

    #[test]
    fn the_answer_is_one_readable_line() {
        let answer = testing::call(word_count, json!({"text": "one two three"}));
        assert_eq!(answer.content(), "3 words, 13 characters, 1 line");
        assert!(!answer.is_error());
        assert_eq!(testing::call(word_count, json!({"text": "a"})).content(), "1 word, 1 character, 1 line");
    }

    #[test]
    fn a_line_end_ends_a_line_and_starts_none() {
        assert_counts("a\nb\n", 2, 4, 2);
        assert_counts("a\r\n\r\nb", 2, 6, 3);
        assert_counts("\n", 0, 1, 1);
        assert_counts("a\rb", 2, 3, 1);
    }

    #[test]
    fn characters_are_unicode_scalar_values() {
        assert_counts("naïve 日本語 👩‍👩‍👧", 3, 15, 1);
        assert_counts("e\u{301}", 1, 2, 1);
    }

    #[test]
    fn words_are_split_at_unicode_white_space_only() {
        assert_counts("a\u{3000}b\u{a0}c\u{85}d\u{2028}e", 5, 9, 1);
        assert_counts("a\u{1c}b\u{200b}c", 1, 5, 1);
        assert_counts(" \t ", 0, 3, 1);
    }

    #[test]
    fn an_empty_text_is_a_failure_for_the_model() {
        let answer = testing::call(word_count, json!({"text": ""}));
        assert!(answer.is_error());
        assert_eq!(answer.content(), "text is empty: give the text to measure");
        assert_eq!(answer.metadata(), json!(null));
    }

    /// C-2, Y5.6-2: one input document, one answer, whichever way the tool is made.
    #[cfg(unix)]
    #[test]
    fn the_python_twin_gives_the_same_answers() {
        let every_split = ('\u{1}'..'\u{3100}').flat_map(|character| ['a', character]).collect::<String>();
        for text in [
            "",
            " ",
            "\n",
            "\r\n",
            "a",
            "one two three",
            "a\nb\n",
            "a\r\n\r\nb",
            "a\rb\u{b}c\u{c}d\u{85}e\u{2028}f",
            "naïve 日本語 👩‍👩‍👧 e\u{301}",
            "\u{feff}a\0b\"\\",
            &every_split,
        ] {
            let input = youyou_guest::ToolInput::new("call-1", "word-count", json!({"text": text}).to_string())
                .expect("an object");
            let component = testing::call_with(word_count, &input);
            let script = run_script("../word-count-py/run.py", &input.to_json());
            assert_eq!(script, (component.content().to_owned(), !component.is_error()), "{text:?}");
        }
    }

    /// What the script printed, and whether it exited with 0.
    #[cfg(unix)]
    fn run_script(path: &str, document: &str) -> (String, bool) {
        use std::{
            io::Write as _,
            process::{Command, Stdio},
        };
        let mut child = Command::new(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the script starts; it needs python3");
        child.stdin.take().expect("a pipe").write_all(document.as_bytes()).expect("the script reads");
        let output = child.wait_with_output().expect("the script ends");
        (String::from_utf8(output.stdout).expect("UTF-8"), output.status.success())
    }

    #[test]
    fn the_index_md_fits_the_code() {
        testing::assert_index_md(&youyou_tool_spec(), "index.md");
    }
}
