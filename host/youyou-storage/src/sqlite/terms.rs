//! How text is cut into terms for the full-text index.
//!
//! SQLite's tokenizers take a run of Chinese or Japanese for one word, or need three characters to find anything, where
//! most words have two. Here words of scripts that set blanks between them stay words, and runs of the others become
//! every pair of neighbours, and the last character by itself: 東京都 is 東京, 京都, 都. A query is cut the same way; a
//! single character finds whatever begins with it, which is every place it stands at.

/// The most terms of a query; what a person pastes may be long.
const MOST: usize = 64;

/// The terms of a text, for the index.
pub(super) fn of_text(text: &str) -> String {
    let mut terms = Vec::new();
    for run in runs(text) {
        match run {
            Run::Word(word) => terms.push(word),
            Run::Unspaced(chars) => {
                terms.extend(pairs(&chars));
                terms.extend(chars.last().map(char::to_string));
            }
        }
    }
    terms.join(" ")
}

/// What finds the texts that have a term in common with this one; nothing when it has no terms.
pub(super) fn of_query(text: &str) -> Option<String> {
    let mut terms: Vec<String> = Vec::new();
    for run in runs(text) {
        match run {
            Run::Word(word) => terms.push(format!("\"{word}\"")),
            Run::Unspaced(chars) => match chars.as_slice() {
                [one] => terms.push(format!("\"{one}\"*")),
                many => terms.extend(pairs(many).map(|pair| format!("\"{pair}\""))),
            },
        }
    }
    let mut seen = std::collections::HashSet::new();
    terms.retain(|term| seen.insert(term.clone()));
    terms.truncate(MOST);
    (!terms.is_empty()).then(|| terms.join(" OR "))
}

enum Run {
    Word(String),
    Unspaced(Vec<char>),
}

fn pairs(chars: &[char]) -> impl Iterator<Item = String> + '_ {
    chars.windows(2).map(|pair| pair.iter().collect())
}

fn runs(text: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    for c in text.chars().map(narrow) {
        if is_unspaced(c) {
            match runs.last_mut() {
                Some(Some(Run::Unspaced(chars))) => chars.push(c),
                _ => runs.push(Some(Run::Unspaced(vec![c]))),
            }
        } else if c.is_alphanumeric() {
            match runs.last_mut() {
                Some(Some(Run::Word(word))) => word.extend(c.to_lowercase()),
                _ => runs.push(Some(Run::Word(c.to_lowercase().collect()))),
            }
        } else if !is_mark(c) {
            runs.push(None);
        }
    }
    runs.into_iter().flatten().collect()
}

/// The forms of Latin letters that are as wide as a Chinese character count as the plain ones.
fn narrow(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

/// Marks that stand above or below a letter, and do not end a word.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Scripts that are written without blanks between words, and Korean, whose words carry endings.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' // Thai, Lao
        | '\u{1000}'..='\u{109f}' // Burmese
        | '\u{1100}'..='\u{11ff}' // Korean
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '々' | '〆'
        | '\u{3041}'..='\u{30ff}' // Japanese syllables
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' // Chinese characters
        | '\u{ac00}'..='\u{d7af}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{323af}')
        && c != '\u{30fb}'
        && c != '\u{0e3f}'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_cut_into_words_and_pairs() {
        assert_eq!(of_text("Uses Rust-1.95, 東京都 and ＡＢＣ東"), "uses rust 1 95 東京 京都 都 and abc 東");
        assert_eq!(of_text(" — "), "");
        assert_eq!(of_query("東京都 or 東"), Some(r#""東京" OR "京都" OR "or" OR "東"*"#.to_owned()));
        assert_eq!(of_query("?!\" OR *"), Some("\"or\"".to_owned()));
        assert_eq!(of_query("?!\"*"), None);
        assert_eq!(of_query(&"语言".repeat(500)), Some(r#""语言" OR "言语""#.to_owned()));
    }

    proptest! {
        /// Whatever a person writes, it is a query that the index understands.
        #[test]
        fn a_query_has_no_syntax_of_its_own(text: String) {
            for term in of_query(&text).iter().flat_map(|query| query.split(" OR ")) {
                let inner = term.trim_end_matches('*').trim_matches('"');
                prop_assert!(!inner.is_empty() && inner.chars().all(|c| c.is_alphanumeric() || is_unspaced(c) || is_mark(c)), "{}", term);
            }
        }
    }
}
