//! What is kept of a stream that may have no end: its first bytes, or its last ones. Pure, and bounded in memory.

use std::collections::VecDeque;

/// Keeps the beginning of a stream and counts the rest.
#[derive(Debug)]
pub(crate) struct Head {
    kept: Vec<u8>,
    limit: usize,
    total: u64,
}

impl Head {
    /// Keeps at most `limit` bytes; takes memory only as they come.
    pub(crate) fn new(limit: usize) -> Self {
        Self { kept: Vec::new(), limit, total: 0 }
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        let room = self.limit.saturating_sub(self.kept.len());
        self.kept.extend_from_slice(chunk.get(..room).unwrap_or(chunk));
        self.total = self.total.saturating_add(chunk.len() as u64);
    }

    /// How long the stream was in all.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn into_kept(self) -> Vec<u8> {
        self.kept
    }
}

/// Keeps the end of a stream and counts the rest.
#[derive(Debug)]
pub(crate) struct Tail {
    kept: VecDeque<u8>,
    limit: usize,
    total: u64,
}

impl Tail {
    /// Keeps at most `limit` bytes; takes memory only as they come.
    pub(crate) fn new(limit: usize) -> Self {
        Self { kept: VecDeque::new(), limit, total: 0 }
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        let chunk_end = chunk.get(chunk.len().saturating_sub(self.limit)..).unwrap_or_default();
        let surplus = (self.kept.len() + chunk_end.len()).saturating_sub(self.limit);
        self.kept.drain(..surplus.min(self.kept.len()));
        self.kept.extend(chunk_end);
        self.total = self.total.saturating_add(chunk.len() as u64);
    }

    /// How long the stream was in all.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The last `lines` lines, of which only the last `bytes` bytes count; what is not UTF-8 is replaced.
    pub(crate) fn last_lines(&mut self, lines: usize, bytes: usize) -> String {
        let kept: &[u8] = self.kept.make_contiguous();
        let end = kept.get(kept.len().saturating_sub(bytes)..).unwrap_or_default();
        let end = end.strip_suffix(b"\n").unwrap_or(end);
        let start = end.iter().rposition({
            let mut seen = 0;
            move |byte| {
                seen += usize::from(*byte == b'\n');
                seen == lines
            }
        });
        let shown = start.map_or(end, |newline| end.get(newline + 1..).unwrap_or_default());
        String::from_utf8_lossy(shown).into_owned()
    }
}

/// Drops a character at the end of which only the first bytes are there, as a cut leaves it.
pub(crate) fn without_half_character(bytes: &[u8]) -> &[u8] {
    // A character takes at most four bytes, so a half one at most three.
    for half in 1..=bytes.len().min(3) {
        let (front, end) = bytes.split_at(bytes.len() - half);
        if matches!(std::str::from_utf8(end), Err(error) if error.valid_up_to() == 0 && error.error_len().is_none()) {
            return front;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn tail(limit: usize, chunks: &[Vec<u8>]) -> Tail {
        let mut tail = Tail::new(limit);
        chunks.iter().for_each(|chunk| tail.push(chunk));
        tail
    }

    #[test]
    fn the_last_lines_are_whole_lines_where_they_fit() {
        let last = |text: &str, lines, bytes| {
            let mut tail = Tail::new(64);
            tail.push(text.as_bytes());
            tail.last_lines(lines, bytes)
        };
        assert_eq!(last("a\nb\nc\n", 2, 100), "b\nc");
        assert_eq!(last("a\nb\nc", 2, 100), "b\nc");
        assert_eq!(last("a", 2, 100), "a");
        assert_eq!(last("", 2, 100), "");
        assert_eq!(last("abcdef\n", 2, 3), "ef");
    }

    proptest! {
        /// Y5.6-2: exactly the first bytes, whatever the pieces they come in.
        #[test]
        fn a_head_is_the_beginning_of_the_stream(chunks in vec(vec(any::<u8>(), 0..20), 0..10), limit in 0usize..60) {
            let mut head = Head::new(limit);
            chunks.iter().for_each(|chunk| head.push(chunk));
            let all = chunks.concat();
            prop_assert_eq!(head.total(), all.len() as u64);
            prop_assert_eq!(head.into_kept(), &all[..all.len().min(limit)]);
        }

        /// Exactly the last bytes, whatever the pieces they come in.
        #[test]
        fn a_tail_is_the_end_of_the_stream(chunks in vec(vec(any::<u8>(), 0..20), 0..10), limit in 0usize..60) {
            let tail = tail(limit, &chunks);
            let all = chunks.concat();
            prop_assert_eq!(tail.total(), all.len() as u64);
            prop_assert_eq!(Vec::from(tail.kept), &all[all.len().saturating_sub(limit)..]);
        }

        #[test]
        fn any_bytes_have_last_lines(chunks in vec(vec(any::<u8>(), 0..20), 0..10), lines in 1usize..4) {
            let shown = tail(40, &chunks).last_lines(lines, 30);
            prop_assert!(shown.split('\n').count() <= lines);
        }

        /// K-19, D-57: a valid text that was cut anywhere is valid again, and loses less than one character.
        #[test]
        fn a_cut_text_loses_only_the_half_character(text in "\\PC{0,20}", cut in 0usize..80) {
            let bytes = text.as_bytes();
            let cut = &bytes[..cut.min(bytes.len())];
            let whole = without_half_character(cut);
            prop_assert!(std::str::from_utf8(whole).is_ok());
            prop_assert!(cut.len() - whole.len() < 4);
            prop_assert_eq!(whole.len(), text.floor_char_boundary(cut.len()));
        }

        #[test]
        fn bytes_that_are_no_text_lose_at_most_three(bytes in vec(any::<u8>(), 0..20)) {
            let whole = without_half_character(&bytes);
            prop_assert!(bytes.starts_with(whole) && bytes.len() - whole.len() < 4);
        }
    }
}
