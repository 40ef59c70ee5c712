//! The cap on what one call may put into the context (Y4.4-4, D-57).

use std::io;

use serde_json::Value;
use youyou_api::ToolOutput;

/// What a tool's text may weigh, the notice of a cut included: 1 MiB (D-57).
pub const CONTENT_LIMIT_BYTES: usize = 1024 * 1024;

/// What a tool's metadata may weigh as JSON. The model never sees it, but events and session stores carry it.
pub const METADATA_LIMIT_BYTES: usize = 1024 * 1024;

/// Cuts what is too large, and says so in the text.
pub(super) fn cap(mut output: ToolOutput) -> ToolOutput {
    output.content = cap_content(output.content);
    if output.metadata.as_ref().is_some_and(|metadata| !fits(metadata, METADATA_LIMIT_BYTES)) {
        tracing::warn!(limit_bytes = METADATA_LIMIT_BYTES, "a tool's metadata is larger than allowed and was dropped");
        output.metadata = None;
    }
    output
}

fn cap_content(mut content: String) -> String {
    if content.len() <= CONTENT_LIMIT_BYTES {
        return content;
    }
    let notice = format!("\n[output cut: it has {} bytes, the limit is {CONTENT_LIMIT_BYTES}]", content.len());
    content.truncate(content.floor_char_boundary(CONTENT_LIMIT_BYTES - notice.len()));
    content.push_str(&notice);
    content
}

/// Whether the JSON of a value stays below a limit, without building the text.
fn fits(value: &Value, limit: usize) -> bool {
    struct Budget(usize);
    impl io::Write for Budget {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::WriteZero)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(Budget(limit), value).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// K-19, Y4.4-4, D-57: three-byte characters, cut at a border, notice included.
    #[test]
    fn a_long_text_is_cut_at_a_character_and_says_so() {
        let content = cap(ToolOutput::text("€".repeat(400_000))).content;
        assert!(content.len() <= CONTENT_LIMIT_BYTES && content.len() > CONTENT_LIMIT_BYTES - 4);
        assert!(
            content.ends_with("€\n[output cut: it has 1200000 bytes, the limit is 1048576]"),
            "{}",
            &content[content.len() - 80..]
        );
    }

    #[test]
    fn a_text_of_exactly_the_limit_is_left_alone() {
        let text = "x".repeat(CONTENT_LIMIT_BYTES);
        assert_eq!(cap(ToolOutput::text(text.clone())).content, text);
        assert!(cap(ToolOutput::text(text + "x")).content.ends_with("the limit is 1048576]"));
    }

    #[test]
    fn metadata_too_large_is_dropped_and_the_text_kept() {
        let large = cap(ToolOutput::text("hi").with_metadata("x".repeat(METADATA_LIMIT_BYTES)));
        assert_eq!(large, ToolOutput::text("hi"));
        let small = ToolOutput::text("hi").with_metadata("x".repeat(METADATA_LIMIT_BYTES - 2));
        assert_eq!(cap(small.clone()), small);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn no_text_of_any_script_outgrows_the_limit(piece in "\\PC{1,8}", over in 0usize..9) {
            let content = piece.repeat(CONTENT_LIMIT_BYTES / piece.len() + over);
            let capped = cap_content(content.clone());
            prop_assert!(capped.len() <= CONTENT_LIMIT_BYTES);
            prop_assert!(content.len() > CONTENT_LIMIT_BYTES || capped == content);
        }
    }
}
