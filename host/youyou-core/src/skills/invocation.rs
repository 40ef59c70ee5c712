//! Whether what the user wrote calls a skill (D-61).

use std::borrow::Cow;

use youyou_api::Skill;

/// What the user wrote, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invocation<'a> {
    /// Text for the model.
    Text(Cow<'a, str>),
    /// A call of a skill, which may exist or not.
    Skill {
        /// The name, without the slash; always a legal one.
        name: &'a str,
        /// What follows the name, without the white space around it.
        arguments: &'a str,
    },
}

/// Understands what the user typed.
///
/// The first word calls a skill when it is a slash and a legal name and nothing else: `/usr/bin`, `/` and `/a.b` are
/// text. White space before it does not count, so that a blank typed by accident changes nothing. A name with more than
/// one slash in front is text with one slash less: `//commit` says `/commit`. Everything else is text as it stands;
/// `// a comment` and `///` keep their slashes.
pub fn parse(text: &str) -> Invocation<'_> {
    let start = text.trim_start();
    let word = start.split(char::is_whitespace).next().unwrap_or_default();
    let name = word.trim_start_matches('/');
    let slashes = word.len() - name.len();
    match slashes {
        0 => Invocation::Text(Cow::Borrowed(text)),
        _ if !Skill::is_legal_name(name) => Invocation::Text(Cow::Borrowed(text)),
        1 => Invocation::Skill { name, arguments: start[word.len()..].trim() },
        _ => {
            let indent = &text[..text.len() - start.len()];
            Invocation::Text(Cow::Owned(format!("{indent}{}", &start[1..])))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn skill<'a>(name: &'a str, arguments: &'a str) -> Invocation<'a> {
        Invocation::Skill { name, arguments }
    }

    fn text(text: &str) -> Invocation<'_> {
        Invocation::Text(Cow::Borrowed(text))
    }

    /// Y3.4-1, D-61.
    #[test]
    fn the_first_word_calls_a_skill() {
        assert_eq!(parse("/commit"), skill("commit", ""));
        assert_eq!(parse("/commit fix the bug\n"), skill("commit", "fix the bug"));
        assert_eq!(parse("/commit\nfix\n  the bug"), skill("commit", "fix\n  the bug"));
        assert_eq!(parse(" \n/commit\tnow"), skill("commit", "now"));
        assert_eq!(parse("/提交 现在"), skill("提交", "现在"));
        assert_eq!(parse("/提交\u{3000}现在"), skill("提交", "现在"));
        assert_eq!(parse("/one /two"), skill("one", "/two"));
    }

    /// D-61.
    #[test]
    fn what_is_no_name_is_text() {
        let long = format!("/{}", "x".repeat(65));
        for not_a_call in [
            "",
            " ",
            "/",
            "/ commit",
            "/usr/bin",
            "/a.b",
            "/commit,",
            "please /commit",
            "// a comment",
            "///",
            "//",
            &long,
        ] {
            assert_eq!(parse(not_a_call), text(not_a_call), "{not_a_call:?}");
        }
    }

    /// D-61.
    #[test]
    fn one_slash_more_makes_it_text() {
        assert_eq!(parse("//commit now"), text("/commit now"));
        assert_eq!(parse("  //commit"), text("  /commit"));
        assert_eq!(parse("///commit"), text("//commit"));
        assert_eq!(parse("//usr/bin"), text("//usr/bin"));
    }

    /// The opposite of [`parse`] for text: what to type so that the model reads `text`.
    fn typed(text: &str) -> String {
        let start = text.trim_start();
        let word = start.split(char::is_whitespace).next().unwrap_or_default();
        let callable = word.starts_with('/') && Skill::is_legal_name(word.trim_start_matches('/'));
        let indent = &text[..text.len() - start.len()];
        if callable { format!("{indent}/{start}") } else { text.to_owned() }
    }

    fn messages() -> impl Strategy<Value = String> {
        prop_oneof!["\\PC{0,40}", "[ \n]{0,2}/{0,3}[a-z.字/-]{0,4}[ \n\u{3000}]?[a-z/ ]{0,5}"]
    }

    proptest! {
        /// D-61: any text can be said, and what is not escaped arrives as it was typed.
        #[test]
        fn every_text_can_be_said(message in messages()) {
            let typed = typed(&message);
            prop_assert_eq!(parse(&typed), text(&message));
        }

        #[test]
        fn text_stays_as_it_is_but_for_the_escape(message in messages()) {
            match parse(&message) {
                Invocation::Text(Cow::Borrowed(same)) => prop_assert_eq!(same, message.as_str()),
                Invocation::Text(Cow::Owned(less)) => {
                    prop_assert_eq!(less.len() + 1, message.len());
                    prop_assert_eq!(typed(&less), message.as_str());
                }
                Invocation::Skill { name, arguments } => {
                    prop_assert!(Skill::is_legal_name(name));
                    let rest = message.trim().strip_prefix('/').and_then(|rest| rest.strip_prefix(name));
                    prop_assert_eq!(rest.map(str::trim), Some(arguments));
                }
            }
        }
    }
}
