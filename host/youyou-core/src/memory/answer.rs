//! From what a model answers to what is worth storing.
//!
//! The form is strict: one JSON object, with nothing in it that was not asked for. Text around it and a code fence are
//! put up with, since models add them whatever they are told. Within a good form, each memory is judged by itself.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;
use youyou_api::{Error, ErrorCode, Memory, MemoryId};

use super::{
    recall::one_line,
    request::{EXAMPLE_CONTENT, EXAMPLE_TAG},
};

/// Memories of one extraction; what a model adds beyond is dropped.
pub(super) const MAX_MEMORIES: usize = 20;

/// What one memory may say; a longer one is dropped, since half a fact may be a wrong one.
pub(super) const MAX_CONTENT_CHARACTERS: usize = 500;

/// Tags of one memory.
pub(super) const MAX_TAGS: usize = 8;

/// What a tag may hold.
pub(super) const MAX_TAG_CHARACTERS: usize = 40;

/// Curly brackets that may begin no object; each one costs a try, and an answer of nothing else must not cost many.
const MAX_FALSE_STARTS: usize = 64;

/// What models fill in where they have nothing to say, in lower case.
const EMPTY_WORDS: [&str; 14] = [
    "content",
    "example",
    "fact",
    "memory",
    "n/a",
    "nil",
    "none",
    "null",
    "string",
    "tbd",
    "text",
    "todo",
    "undefined",
    "unknown",
];

/// The answer as a whole.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    memories: Vec<Claim>,
}

/// A memory as the model has it.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Claim {
    #[serde(default)]
    id: Option<String>,
    content: String,
    #[serde(default)]
    tags: Vec<String>,
}

/// A memory that is worth storing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kept {
    /// The known memory that it replaces; none for a new one.
    pub(super) replaces: Option<MemoryId>,
    pub(super) content: String,
    pub(super) tags: Vec<String>,
}

/// Reads an answer.
///
/// # Errors
/// `PROVIDER_ERROR` of kind `memory_answer` for anything but one JSON object of the form that was asked for.
pub(super) fn parse(answer: &str) -> Result<Vec<Claim>, Error> {
    let objects = objects(answer);
    let [object] = objects.as_slice() else {
        return Err(unreadable(&format!("it holds {} JSON objects", objects.len())));
    };
    serde_json::from_str::<Answer>(object)
        .map(|answer| answer.memories)
        .map_err(|error| unreadable(&format!("its object is another one: {error}")).with_cause(error))
}

fn unreadable(found: &str) -> Error {
    let message = format!(
        "expected the model's answer to be one JSON object {{\"memories\": […]}}, but {found}; if this goes on, choose \
         another memory_model"
    );
    Error::new(ErrorCode::ProviderError, message).with_kind("memory_answer")
}

/// The JSON objects in a text, none of them inside another one. After [`MAX_FALSE_STARTS`] it looks no further.
fn objects(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut false_starts = 0;
    let mut rest = text;
    while let Some(start) = rest.find('{').filter(|_| false_starts < MAX_FALSE_STARTS) {
        rest = &rest[start..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let end = match values.next() {
            Some(Ok(_)) => values.byte_offset(),
            Some(Err(_)) | None => 0,
        };
        if end > 0 {
            found.push(&rest[..end]);
        } else {
            false_starts += 1;
        }
        rest = &rest[end.max(1)..];
    }
    found
}

/// What is worth storing of these, beside what is known. What is left out is told to the log of the program alone.
pub(super) fn sift(claims: Vec<Claim>, known: &[Memory]) -> Vec<Kept> {
    let mut contents: HashSet<String> = known.iter().map(|memory| likeness(&memory.content)).collect();
    let mut replaced: HashSet<MemoryId> = HashSet::new();
    let mut kept = Vec::new();
    for claim in claims {
        let content = claim.content.trim();
        if let Some(why) = unfit(content) {
            tracing::debug!("an extracted memory is left out: {why}");
        } else if !contents.insert(likeness(content)) {
            tracing::debug!("an extracted memory is left out: it is known already");
        } else if kept.len() == MAX_MEMORIES {
            tracing::debug!("an extracted memory is left out: there are more than {MAX_MEMORIES}");
        } else {
            let replaces = claim.id.and_then(|id| known.iter().find(|memory| memory.id.as_str() == id.trim()));
            let fresh = replaces.is_none_or(|memory| replaced.insert(memory.id.clone()));
            if !fresh {
                tracing::debug!("an extracted memory is left out: the one that it replaces is replaced already");
                continue;
            }
            // A better wording is found by the same words.
            let tags = Some(tags(&claim.tags)).filter(|tags| !tags.is_empty());
            let tags = tags.or_else(|| replaces.map(|memory| memory.tags.clone())).unwrap_or_default();
            kept.push(Kept { replaces: replaces.map(|memory| memory.id.clone()), content: content.to_owned(), tags });
        }
    }
    kept
}

/// Two contents that differ in case or blanks alone are one.
fn likeness(content: &str) -> String {
    one_line(content).to_lowercase()
}

/// Why a content is no memory.
fn unfit(content: &str) -> Option<&'static str> {
    if is_placeholder(content) {
        return Some("it says nothing");
    }
    (content.chars().count() > MAX_CONTENT_CHARACTERS).then_some("it is too long")
}

/// Whether a text stands where something should have been filled in: without a letter or digit, all in brackets, with a
/// bracketed ellipsis, a word for nothing, or the prompt's own example.
fn is_placeholder(text: &str) -> bool {
    let bare = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '*' | '.' | '…'));
    let bracketed = [('<', '>'), ('{', '}'), ('[', ']')]
        .iter()
        .any(|(open, close)| bare.starts_with(*open) && bare.ends_with(*close));
    let unfilled = ["<...>", "<…>", "[...]", "[…]", "{...}", "{…}", "{{"].iter().any(|mark| text.contains(mark));
    let says_something = bare.chars().any(char::is_alphanumeric);
    let lower = bare.to_lowercase();
    let copied = EMPTY_WORDS.contains(&lower.as_str()) || lower == EXAMPLE_CONTENT || lower == EXAMPLE_TAG;
    !says_something || bracketed || unfilled || copied
}

fn tags(claimed: &[String]) -> Vec<String> {
    let mut seen = HashSet::new();
    claimed
        .iter()
        .map(|tag| one_line(tag))
        .filter(|tag| !is_placeholder(tag) && tag.chars().count() <= MAX_TAG_CHARACTERS)
        .filter(|tag| seen.insert(tag.to_lowercase()))
        .take(MAX_TAGS)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::{
        super::{fakes::memory, request::example},
        *,
    };

    fn claim(id: Option<&str>, content: &str) -> Claim {
        Claim { id: id.map(str::to_owned), content: content.to_owned(), tags: Vec::new() }
    }

    fn new(content: &str) -> Kept {
        Kept { replaces: None, content: content.to_owned(), tags: Vec::new() }
    }

    /// Y4.7-2: what models add around their answer does no harm.
    #[test]
    fn one_object_is_found_wherever_it_stands() {
        let object = r#"{"memories":[{"id":null,"content":"Uses {tabs}.","tags":["style"]},{"content":"b"}]}"#;
        let expected = [
            Claim { id: None, content: "Uses {tabs}.".into(), tags: vec!["style".into()] },
            Claim { id: None, content: "b".into(), tags: Vec::new() },
        ];
        for answer in [
            object.to_owned(),
            format!("```json\n{object}\n```"),
            format!("Here is what I {{found}} :\n\n```\n{object}\n``` I hope that {{ helps }}."),
        ] {
            assert_eq!(parse(&answer).expect("readable"), expected, "{answer}");
        }
        assert_eq!(parse(r#"{"memories":[]}"#).expect("readable"), []);
    }

    #[test]
    fn anything_else_is_no_answer() {
        for answer in [
            "",
            "nothing to remember",
            "[]",
            "{}",
            r#"{"memories":null}"#,
            r#"{"memories":[{"content":"a"},]}"#,
            r#"{"memories":[{"content":"cut o"#,
            r#"{"memories":[{"content":1}]}"#,
            r#"{"memories":[{"id":"m-1"}]}"#,
            r#"{"memories":[{"content":"a","why":"b"}]}"#,
            r#"{"memories":[],"memories":[]}"#,
            r#"{"memories":[]} {"memories":[]}"#,
            r#"{"answer":{"memories":[]}}"#,
        ] {
            let error = parse(answer).expect_err(answer);
            assert_eq!((error.code, error.kind()), (ErrorCode::ProviderError, Some("memory_answer")), "{answer}");
        }
    }

    /// An answer that repeats the prompt's example is well formed, and empty.
    #[test]
    fn the_example_of_the_prompt_is_no_memory() {
        let claims = parse(&example().to_string()).expect("readable");
        assert_eq!((claims.len(), sift(claims, &[])), (1, Vec::new()));
    }

    #[test]
    fn templates_and_blanks_are_no_memories() {
        let blanks =
            ["", " \n", "...", "…", "—", "\"\"", "<fact>", "`<content>`", "{{user_name}}", "{content}", "[fact]"];
        let templates =
            ["string", "None.", "N/A", "**TODO**", "The user likes <...>.", "Is called {{name}}.", "[…] is it"];
        for content in blanks.into_iter().chain(templates) {
            assert_eq!(sift(vec![claim(None, content)], &[]), [], "{content}");
        }
        for content in
            ["Likes Vec<T>.", "Writes <br> by hand", "{x} is a set", "None of them is Ana", "住在奥斯陆", "7"]
        {
            assert_eq!(sift(vec![claim(None, content)], &[]), [new(content)], "{content}");
        }
        let longest = "字".repeat(MAX_CONTENT_CHARACTERS);
        assert_eq!(sift(vec![claim(None, &longest), claim(None, &format!("{longest}字"))], &[]), [new(&longest)]);
    }

    /// Y4.7-3: the model decides what is new; only ids that it was shown count.
    #[test]
    fn a_known_id_is_an_update_and_any_other_is_new() {
        let mut oslo = memory("m-1", "Lives in Oslo.");
        oslo.tags = vec!["home".into()];
        let known = [oslo, memory("m-2", "Uses tabs.")];
        let claims = vec![
            claim(Some("m-1"), " Lives in Bergen.\n"),
            claim(Some("m-1"), "Lives in Tromsø."),
            claim(Some("m-7"), "Has a cat."),
            claim(Some("m-2"), "uses  tabs."),
            claim(None, "has a CAT."),
        ];
        let bergen = Kept {
            replaces: Some(MemoryId::new("m-1")),
            content: "Lives in Bergen.".into(),
            tags: vec!["home".into()],
        };
        assert_eq!(sift(claims, &known), [bergen, new("Has a cat.")]);
    }

    #[test]
    fn tags_are_few_short_and_different() {
        let long = "x".repeat(MAX_TAG_CHARACTERS + 1);
        let mut claimed: Vec<String> = [" a ", "A", "", "<tag>", "...", &long].map(str::to_owned).to_vec();
        claimed.extend((0..20).map(|number| format!("t{number}")));
        assert_eq!(tags(&claimed), ["a", "t0", "t1", "t2", "t3", "t4", "t5", "t6"]);
    }

    /// Any text, and texts that look like answers.
    fn answer() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            "\"",
            ",",
            ":",
            "\\",
            "```json\n",
            "\n",
            "\"memories\":",
            "{\"memories\":[",
            "]}",
            "{\"id\":null,\"content\":\"a\",\"tags\":[]}",
            "null",
            "{\"",
            "{\"a\":",
            "字",
            "\"content\"",
            "<think>",
        ]);
        let content = prop_oneof!["\\PC{0,20}", "[<{\\[]{0,2}[a-z. ]{0,8}[>}\\]]{0,2}", "[ .…\n\"'`*-]{0,6}"];
        let id = prop::option::of(prop_oneof![Just("m-1".to_owned()), "\\PC{0,5}"]);
        let formed = prop::collection::vec((id, content), 0..30).prop_map(|memories| {
            let items: Vec<_> = memories
                .iter()
                .map(|(id, content)| json!({ "id": id, "content": content, "tags": [content] }))
                .collect();
            format!("Sure.\n```json\n{}\n```", json!({ "memories": items }))
        });
        prop_oneof![any::<String>(), prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat()), formed,]
    }

    proptest! {
        /// Issue 5: whatever the model says, nothing panics, and no blank and no template becomes a memory.
        #[test]
        fn no_answer_yields_a_blank_or_a_template(answer in answer()) {
            let known = [memory("m-1", "a")];
            let kept = parse(&answer).map(|claims| sift(claims, &known)).unwrap_or_default();
            prop_assert!(kept.len() <= MAX_MEMORIES);
            let mut contents = HashSet::new();
            let mut ids = HashSet::new();
            for Kept { replaces, content, tags } in &kept {
                prop_assert!(content.chars().any(char::is_alphanumeric), "{:?}", content);
                prop_assert!(content.trim() == content && content.chars().count() <= MAX_CONTENT_CHARACTERS);
                for (open, close) in [('<', '>'), ('{', '}'), ('[', ']')] {
                    prop_assert!(!(content.starts_with(open) && content.ends_with(close)), "{:?}", content);
                }
                prop_assert!(content != "a" && contents.insert(content.clone()));
                prop_assert!(replaces.iter().all(|id| id.as_str() == "m-1" && ids.insert(id.clone())));
                prop_assert!(tags.len() <= MAX_TAGS && tags.iter().all(|tag| !tag.trim().is_empty()));
            }
        }
    }

    #[test]
    fn an_answer_of_nothing_but_brackets_is_given_up() {
        let object = r#"{"memories":[]}"#;
        let after = |brackets: usize| format!("{}{object}", "{ ".repeat(brackets));
        assert_eq!(objects(&after(MAX_FALSE_STARTS - 1)), [object]);
        assert!(objects(&after(MAX_FALSE_STARTS)).is_empty());
        for text in ["{", "{\"\":", "{\"a\":[", "{\"", "[{\"a\":\""] {
            parse(&text.repeat(10_000)).expect_err("no object");
        }
    }
}
