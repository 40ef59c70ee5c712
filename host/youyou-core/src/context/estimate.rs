//! A guess at how many tokens something takes (Y4.2-2, D-37).
//!
//! Never less than characters / 4, which is what the requirements ask for; more where the script is one whose
//! characters take more than that.

use youyou_api::{AssistantPart, ChatRequest, Message, Part, ToolSpec};

/// What an image takes, whatever its size: providers scale images down to something like this.
const IMAGE_TOKENS: u64 = 1_600;

/// What a message takes besides its text.
const MESSAGE_TOKENS: u64 = 4;

/// The estimate for a text: a quarter of a token for a character of an alphabet, one for a character of a script
/// written without blanks (Han, kana, Hangul, …), as tokenizers have it.
pub fn text(text: &str) -> u64 {
    // A conversation is weighed before each step, and most of it is ASCII.
    if text.is_ascii() {
        return (text.len() as u64).div_ceil(4);
    }
    let wide = text.chars().filter(|character| *character >= '\u{0E00}' && is_wide(*character)).count() as u64;
    wide + (characters(text) - wide).div_ceil(4)
}

/// The characters of a text, as the requirements count them.
pub(super) fn characters(text: &str) -> u64 {
    text.chars().count() as u64
}

fn is_wide(character: char) -> bool {
    matches!(u32::from(character),
        0x0E00..=0x0EFF            // Thai, Lao
        | 0x1000..=0x109F          // Burmese
        | 0x1100..=0x11FF          // Hangul
        | 0x1780..=0x17FF          // Khmer
        | 0x2E80..=0xA4CF          // CJK and what belongs to it
        | 0xAC00..=0xD7FF          // Hangul
        | 0xF900..=0xFAFF          // CJK
        | 0xFE30..=0xFE4F          // CJK
        | 0xFF00..=0xFFEF          // full and half width
        | 0x1F000..=0x3FFFF        // symbols, emoji, more CJK
    )
}

/// The estimate for one message.
pub fn message(message: &Message) -> u64 {
    let inside = match message {
        Message::User { parts } => parts.iter().map(part).sum(),
        Message::Assistant { parts } => parts.iter().map(assistant_part).sum(),
        Message::ToolResult(result) => text(&result.content),
        Message::System { text: notice } => text(notice),
    };
    inside + MESSAGE_TOKENS
}

/// The estimate for a piece of what the user sends.
pub fn part(part: &Part) -> u64 {
    match part {
        Part::Text { text: inner } => text(inner),
        Part::Image(_) => IMAGE_TOKENS,
        Part::File(file) => text(&file.text) + text(&file.name),
    }
}

fn assistant_part(part: &AssistantPart) -> u64 {
    match part {
        AssistantPart::Text { text: inner } | AssistantPart::Reasoning { text: inner, .. } => text(inner),
        AssistantPart::ToolCall(call) => text(&call.tool_name) + text(&call.arguments),
    }
}

/// The estimate for a list of tools.
pub fn tools(tools: &[ToolSpec]) -> u64 {
    let one = |tool: &ToolSpec| text(tool.name.as_str()) + text(&tool.description) + text(&tool.parameters.to_string());
    tools.iter().map(one).sum()
}

/// The estimate for a whole request.
pub fn request(request: &ChatRequest) -> u64 {
    text(&request.system) + tools(&request.tools) + request.messages.iter().map(message).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::text;

    /// D-37.
    #[test]
    fn a_script_without_blanks_takes_a_token_a_character() {
        assert_eq!(text("hello world"), 3);
        assert_eq!(text("你好，世界"), 5);
        assert_eq!(text("こんにちは"), 5);
        assert_eq!(text("안녕하세요"), 5);
        assert_eq!(text("ไทย"), 3);
        assert_eq!(text("naïve “quotes”"), 4);
        assert_eq!(text(""), 0);
    }

    proptest! {
        /// Y4.2-2: never later than characters / 4 demands.
        #[test]
        fn the_estimate_is_never_below_characters_by_four(any in "\\PC{0,200}") {
            prop_assert!(text(&any) >= any.chars().count() as u64 / 4);
        }
    }
}
