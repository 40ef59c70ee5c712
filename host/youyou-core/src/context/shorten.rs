//! Leaves out the middle of a long text. What a tool says matters most at its beginning and at its end.

use std::borrow::Cow;

/// What the notice of a cut may weigh, in bytes.
const NOTICE_BYTES: usize = 64;

/// The text with at most `limit` bytes of its own, and a notice where bytes were left out. A text that the notice
/// would not make shorter stays whole, so shortening twice is shortening once.
pub(crate) fn shorten(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit.saturating_add(NOTICE_BYTES) {
        return Cow::Borrowed(text);
    }
    let tail = limit / 4;
    let head_end = text.floor_char_boundary(limit - tail);
    let tail_start = text.ceil_char_boundary(text.len() - tail);
    let (head, tail) = (&text[..head_end], &text[tail_start..]);
    Cow::Owned(format!("{head}\n[… {} bytes left out …]\n{tail}", tail_start - head_end))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_beginning_and_the_end_stay() {
        let text = format!("start {} end", "x".repeat(1_000));
        assert_eq!(shorten(&text, 16), "start xxxxxx\n[… 994 bytes left out …]\n end");
        assert_eq!(shorten("short", 0), "short");
    }

    proptest! {
        #[test]
        fn a_text_never_grows_and_is_shortened_once(text in "\\PC{0,300}", limit in 0_usize..200) {
            let once = shorten(&text, limit).into_owned();
            prop_assert!(once.len() <= text.len() && once.len() <= limit + NOTICE_BYTES);
            prop_assert_eq!(shorten(&once, limit), once.as_str());
        }
    }
}
