//! Masks what looks like a secret in the answers of tools; the README has the rules.

use youyou_guest::{
    hook,
    plugin::{AfterToolUse, HookError, HookOutcome},
    serde::Deserialize,
};

const MASK: &str = "[redacted]";

/// The shortest secret behind a pattern's star.
const SHORTEST: usize = 6;

/// The configuration.
#[derive(Deserialize)]
#[serde(crate = "youyou_guest::serde", default)]
struct Config {
    patterns: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        // Also what index.md says, for a configuration without `patterns`.
        const PATTERNS: [&str; 9] =
            ["sk-*", "ghp_*", "github_pat_*", "xoxb-*", "AKIA*", "Bearer *", "password=*", "api_key=*", "token=*"];
        Self { patterns: PATTERNS.map(str::to_owned).to_vec() }
    }
}

/// Masks secrets in the output.
#[hook]
fn redact(payload: AfterToolUse) -> Result<HookOutcome<AfterToolUse>, HookError> {
    let config: Config = payload.config()?;
    let mut output = payload.output.clone();
    for pattern in &config.patterns {
        output = Pattern::parse(pattern)?.mask(&output);
    }
    if output == payload.output {
        return Ok(HookOutcome::proceed());
    }
    Ok(HookOutcome::continue_with().output(output))
}

/// What one entry of `patterns` finds.
struct Pattern<'a> {
    start: &'a str,
    /// Whether a secret follows the start, and is what gets masked.
    secret_follows: bool,
}

impl<'a> Pattern<'a> {
    fn parse(pattern: &'a str) -> Result<Self, HookError> {
        match pattern {
            "" | "*" => Err(HookError::new(
                "INVALID_CONFIG",
                format!("a pattern must be a text of more than a star, found {pattern:?}"),
            )),
            _ => Ok(match pattern.strip_suffix('*') {
                Some(start) => Self { start, secret_follows: true },
                None => Self { start: pattern, secret_follows: false },
            }),
        }
    }

    /// The text with everything masked that the pattern finds, from left to right.
    fn mask(&self, text: &str) -> String {
        let (mut masked, mut copied, mut from) = (String::with_capacity(text.len()), 0, 0);
        while let Some(found) = text[from..].find(self.start) {
            let at = from + found;
            let end = at + self.start.len();
            let secret = if self.secret_follows { text[end..].bytes().take_while(is_secret).count() } else { 0 };
            if behind_a_word(&text[..at]) || (self.secret_follows && secret < SHORTEST) {
                // The next one may begin inside of this one.
                from = at + text[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            masked.push_str(&text[copied..if self.secret_follows { end } else { at }]);
            masked.push_str(MASK);
            (copied, from) = (end + secret, end + secret);
        }
        masked + &text[copied..]
    }
}

fn is_secret(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_./+=-".contains(byte)
}

fn behind_a_word(before: &str) -> bool {
    before.bytes().last().is_some_and(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use youyou_guest::{json, serde_json::Value, testing};

    use super::*;

    fn run(output: &str, plugin_config: Value) -> testing::HookRun {
        testing::ask(redact, AfterToolUse { output: output.to_owned(), plugin_config, ..AfterToolUse::default() })
    }

    #[track_caller]
    fn assert_masked(patterns: &[&str], output: &str, masked: &str) {
        let changes = run(output, json!({"patterns": patterns})).changes();
        let expected = if output == masked { json!({}) } else { json!({"output": masked}) };
        assert_eq!(changes, expected, "{output:?}");
    }

    #[test]
    fn the_default_patterns_find_common_keys() {
        assert_eq!(run("key: sk-1234567890", Value::Null).changes(), json!({"output": "key: sk-[redacted]"}));
        assert_eq!(run("Bearer abc.def.ghi\n", json!({})).changes(), json!({"output": "Bearer [redacted]\n"}));
        assert!(run("a task-force of 12345678", Value::Null).proceeds_unchanged());
    }

    #[test]
    fn a_star_takes_all_that_can_belong_to_a_secret_and_no_less_than_six() {
        assert_masked(&["k=*"], "k=12345", "k=12345");
        assert_masked(&["k=*"], "k=123456, k=a/b+c=-_. k=äbcdefgh", "k=[redacted], k=[redacted] k=äbcdefgh");
        assert_masked(&["k=*"], "k=k=12345", "k=[redacted]");
        assert_masked(&["--*"], "---abc --", "---abc --");
    }

    #[test]
    fn a_pattern_without_a_star_is_masked_whole() {
        assert_masked(
            &["hunter2"],
            "hunter2 hunter22 xhunter2 (hunter2)",
            "[redacted] [redacted]2 xhunter2 ([redacted])",
        );
        assert_masked(&["aXa"], "aXaXa aXaaXa", "[redacted]Xa [redacted]aXa");
        assert_masked(&["a*b"], "a*b ab", "[redacted] ab");
        assert_masked(&["字"], "字字a字", "[redacted][redacted]a字");
    }

    #[test]
    fn patterns_are_applied_one_after_another() {
        assert_masked(&["x=*", "[redacted]"], "x=123456", "x=[redacted]");
        assert_masked(&["token", "to*"], "token to-123456", "[redacted] to[redacted]");
    }

    #[test]
    fn a_pattern_that_would_find_everything_is_a_mistake() {
        for pattern in ["", "*"] {
            let run = run("text", json!({"patterns": [pattern]}));
            assert_eq!(run.guest_error().map(|error| error.code.as_str()), Some("INVALID_CONFIG"));
        }
        assert!(run("text", json!({"patterns": [5]})).guest_error().is_some());
    }
}
