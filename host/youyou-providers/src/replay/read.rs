//! Reads replay scripts, and says where one is wrong.

use std::{fs, io, path::Path};

use serde::Deserialize;
use youyou_api::{Error, ErrorCode};

use super::script::{Reply, Script, ScriptFile};

/// Why a replay script cannot be used. As an [`Error`] it is `INVALID_INPUT`.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("{file}: the replay script cannot be read: {source}")]
    Unreadable {
        /// Its path.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// The file's name tells no form.
    #[error("{file}: expected a replay script that ends in .yaml, .yml or .jsonl")]
    UnknownForm {
        /// Its path.
        file: String,
    },
    /// The text is no replay script.
    #[error("{file}{}{}: {message}", part(*line), part(*column))]
    Invalid {
        /// What the script is called.
        file: String,
        /// The line, from 1, where it is known.
        line: Option<usize>,
        /// The column, from 1, where it is known.
        column: Option<usize>,
        /// What was found, what was expected, and the nearest name to an unknown one.
        message: String,
    },
}

fn part(number: Option<usize>) -> String {
    number.map(|number| format!(":{number}")).unwrap_or_default()
}

impl From<ScriptError> for Error {
    fn from(error: ScriptError) -> Self {
        Error::new(ErrorCode::InvalidInput, error.to_string()).with_cause(error)
    }
}

impl Script {
    /// Reads a file, in the form that its name tells.
    ///
    /// # Errors
    /// [`ScriptError`] when it cannot be read, its name does not end in `.yaml`, `.yml` or `.jsonl`, or it is no script.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ScriptError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let read = || fs::read(path).map_err(|source| ScriptError::Unreadable { file: name.clone(), source });
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("yaml" | "yml") => Self::from_yaml(&name, read()?),
            Some("jsonl") => Self::from_jsonl(&name, read()?),
            Some(_) | None => Err(ScriptError::UnknownForm { file: name }),
        }
    }

    /// Reads a script that is one YAML document; `name` is what messages call it.
    ///
    /// # Errors
    /// [`ScriptError::Invalid`] with the line and column.
    pub fn from_yaml(name: &str, text: impl AsRef<[u8]>) -> Result<Self, ScriptError> {
        let text = without_mark(text.as_ref());
        // Checked here, since the parser tells no line for it.
        if let Err(error) = std::str::from_utf8(text) {
            let (before, _) = text.split_at(error.valid_up_to());
            let line = before.split(|byte| *byte == b'\n').count();
            return Err(invalid(name, Some(line), None, "expected UTF-8, found other bytes"));
        }
        let file: ScriptFile = serde_yaml::from_slice(text).map_err(|error| {
            let place = error.location().map(|location| (location.line(), location.column()));
            invalid(name, place.map(|(line, _)| line), place.map(|(_, column)| column), &error.to_string())
        })?;
        Ok(file.into_script(name))
    }

    /// Reads a script that has one JSON document on each line: a head, which may be missing, and replies. Blank lines
    /// count for nothing. A last line that breaks off is what a crash of a recorder leaves; it is left out, with a
    /// warning in the log.
    ///
    /// # Errors
    /// [`ScriptError::Invalid`] with the line and column.
    pub fn from_jsonl(name: &str, text: impl AsRef<[u8]>) -> Result<Self, ScriptError> {
        let text = without_mark(text.as_ref());
        let mut file: Option<ScriptFile> = None;
        for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let broken_off = !line.ends_with(b"\n");
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let read = match &mut file {
                None if is_head(line) => serde_json::from_slice(line).map(|head| file = Some(head)),
                None | Some(_) => {
                    serde_json::from_slice::<Reply>(line).map(|reply| file.get_or_insert_default().replies.push(reply))
                }
            };
            match read {
                Err(error) if broken_off && error.is_eof() && file.is_some() => {
                    tracing::warn!(script = name, line = index + 1, "left out a last line that breaks off");
                }
                Err(error) => {
                    let column = Some(error.column()).filter(|column| *column > 0);
                    return Err(invalid(name, Some(index + 1), column, &error.to_string()));
                }
                Ok(()) => {}
            }
        }
        Ok(file.unwrap_or_default().into_script(name))
    }
}

fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

fn is_head(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Keys(serde_json::Map<String, serde_json::Value>);
    let known = ["version", "provider", "models", "replies"];
    serde_json::from_slice(line).is_ok_and(|Keys(keys)| known.iter().any(|key| keys.contains_key(*key)))
}

fn invalid(file: &str, line: Option<usize>, column: Option<usize>, said: &str) -> ScriptError {
    // The place stands in front already. JSON lines are read one by one, so their own line is always 1.
    let places = [line, Some(1)].map(|line| format!(" at line {} column {}", line.unwrap_or(0), column.unwrap_or(0)));
    let message = places.iter().fold(said.to_owned(), |said, place| said.replacen(place, "", 1));
    // The parser of values speaks of Rust's types here.
    let message = match message.split_once("expected struct variant") {
        Some((found, _)) => format!("{found}expected its keys in braces, such as `{{ key: value }}`"),
        None => message.replace(
            "invalid value: map, expected map with a single key",
            "expected exactly one key, found none or several",
        ),
    };
    let hint = nearest(&message).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    ScriptError::Invalid { file: file.to_owned(), line, column, message: format!("{message}{hint}") }
}

/// In ``unknown field `a`, expected one of `b`, `c` ``, the expected name that is closest to the unknown one.
fn nearest(message: &str) -> Option<&str> {
    const ENOUGH: f64 = 0.5;
    let said = message.find("unknown field").or_else(|| message.find("unknown variant"))?;
    let mut names = message.get(said..)?.split('`').skip(1).step_by(2);
    let asked = names.next()?;
    let scored = names.map(|name| (strsim::normalized_damerau_levenshtein(asked, name), name));
    scored.filter(|(score, _)| *score >= ENOUGH).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yaml(text: &str) -> String {
        Script::from_yaml("s.yaml", text).expect_err("no script").to_string()
    }

    fn jsonl(text: &[u8]) -> String {
        Script::from_jsonl("s.jsonl", text).expect_err("no script").to_string()
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_place_and_the_nearest_one() {
        insta::assert_snapshot!(yaml("replies:\n  - say:\n      - txet: hi\n"), @r#"s.yaml:3:9: replies[0].say[0]: unknown variant `txet`, expected one of `text`, `reasoning`, `signature`, `call`, `fragment`, `delay_ms`, `done`, `error`, `cut`; did you mean `text`?"#);
        insta::assert_snapshot!(yaml("replies:\n  - say: []\n    repaet: true\n"), @r#"s.yaml:3:5: replies[0]: unknown field `repaet`, expected one of `when`, `tool_listed`, `repeat`, `template`, `say`; did you mean `repeat`?"#);
        insta::assert_snapshot!(yaml("modles: []\n"), @r#"s.yaml:1:1: unknown field `modles`, expected one of `version`, `provider`, `models`, `replies`; did you mean `models`?"#);
        insta::assert_snapshot!(yaml("replies:\n- say:\n  - call: {tool_name: x, argument: {}}\n"), @r#"s.yaml:3:26: replies[0].say[0].call: unknown field `argument`, expected one of `call_id`, `tool_name`, `arguments`; did you mean `arguments`?"#);
        insta::assert_snapshot!(yaml("replies:\n- say:\n  - done: {usage: {input_token: 1}}\n"), @r#"s.yaml:3:20: replies[0].say[0].done.usage: unknown field `input_token`, expected `input_tokens` or `output_tokens`; did you mean `input_tokens`?"#);
        insta::assert_snapshot!(jsonl(b"{\"version\":1}\n\n{\"say\":[{\"text\":\"a\"}],\"wehn\":{}}\n"), @r#"s.jsonl:3:28: unknown field `wehn`, expected one of `when`, `tool_listed`, `repeat`, `template`, `say`; did you mean `when`?"#);
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_refused_with_its_place_and_what_was_expected() {
        insta::assert_snapshot!(yaml("replies:\n  - when: { user: hello }\n    say: []\n"), @r#"s.yaml:2:19: replies[0].when.user: invalid type: string "hello", expected its keys in braces, such as `{ key: value }`"#);
        insta::assert_snapshot!(yaml("replies:\n  - when: { user: {}, tool_result: {} }\n    say: []\n"), @r#"s.yaml:2:11: replies[0].when: expected exactly one key, found none or several"#);
        insta::assert_snapshot!(yaml("replies:\n  - say: [{ text: a, reasoning: b }]\n"), @r#"s.yaml:2:11: replies[0].say[0]: expected exactly one key, found none or several"#);
        insta::assert_snapshot!(yaml("replies:\n  - say: [{ done: {} }, { text: a }]\n"), @r#"s.yaml:2:5: replies[0]: step 1 ends the reply, so nothing may follow it; start another reply, or move it to the end"#);
        insta::assert_snapshot!(yaml("replies:\n  - say: [{ error: { kind: ratelimit } }]\n"), @r#"s.yaml:2:28: replies[0].say[0].error.kind: unknown variant `ratelimit`, expected one of `context_length`, `rate_limit`, `overloaded`, `network`, `auth`, `invalid_request`, `unsupported_content`, `other`; did you mean `rate_limit`?"#);
        insta::assert_snapshot!(yaml("replies:\n  - repeat: true\n"), @r#"s.yaml:2:5: replies[0]: missing field `say`"#);
        insta::assert_snapshot!(yaml("version: 2\n"), @r#"s.yaml:1:1: `version` is 2, and only 1 is known"#);
        insta::assert_snapshot!(yaml("replies: [\n"), @r#"s.yaml:2:1: did not find expected node content, while parsing a flow node"#);
        insta::assert_snapshot!(yaml("hello"), @r#"s.yaml:1:1: invalid type: string "hello", expected a script: `version`, `provider`, `models`, `replies`"#);
        insta::assert_snapshot!(jsonl(b"{\"say\":[]}\n{\"say\":3}\n"), @r#"s.jsonl:2:8: invalid type: integer `3`, expected a sequence"#);
        insta::assert_snapshot!(jsonl(b"{\"say\":[\n"), @r#"s.jsonl:1:8: EOF while parsing a list"#);
        insta::assert_snapshot!(jsonl(b"{\"say\":["), @r#"s.jsonl:1:8: EOF while parsing a list"#);
        let bytes = Script::from_yaml("s.yaml", b"a: 1\nb: \xff").expect_err("no script");
        insta::assert_snapshot!(bytes, @r#"s.yaml:2: expected UTF-8, found other bytes"#);
    }

    #[test]
    fn a_last_line_that_breaks_off_is_left_out_even_in_the_middle_of_a_character() {
        let whole = "{\"version\":1}\n{\"say\":[{\"text\":\"one\"}]}\n{\"say\":[{\"text\":\"zwölf\"}]}";
        let start = whole.rfind('\n').expect("a line end") + 1;
        for cut in start..whole.len() {
            let script = Script::from_jsonl("s.jsonl", &whole.as_bytes()[..cut]).expect("a script");
            assert_eq!(script.replies.len(), 1, "cut at {cut}");
        }
        assert_eq!(Script::from_jsonl("s.jsonl", whole).expect("a script").replies.len(), 2);
    }

    #[test]
    fn a_file_is_read_by_its_ending() {
        let folder = tempfile::tempdir().expect("a folder");
        let (yaml, jsonl) = (folder.path().join("a.yml"), folder.path().join("a.jsonl"));
        fs::write(&yaml, "\u{feff}replies:\n  - say: [cut]\n").expect("written");
        fs::write(&jsonl, "\u{feff}{\"say\":[\"cut\"]}\r\n").expect("written");
        let replies = |path: &Path| Script::load(path).expect("a script").replies;
        assert_eq!(replies(&yaml), replies(&jsonl));
        let error = Error::from(Script::load(folder.path().join("b.yaml")).expect_err("no file"));
        assert_eq!(error.code, ErrorCode::InvalidInput);
        assert!(matches!(Script::load("a.txt"), Err(ScriptError::UnknownForm { .. })));
    }
}
