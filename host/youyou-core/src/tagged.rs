//! Text between tags, for the places where a model must see where somebody else's text begins and ends.

/// `<tag key="value">`, the text, `</tag>`, each on lines of its own.
///
/// The text stays as it is, with one exception: a closing tag in it would end the block early, so a backslash is put
/// into that one (`<\/tag>`). Attribute values are escaped as in XML.
pub(crate) fn tagged(tag: &str, attributes: &[(&str, &str)], text: &str) -> String {
    let mut block = format!("<{tag}");
    for (key, value) in attributes {
        block.push_str(&format!(" {key}=\""));
        value.chars().for_each(|character| push_escaped(&mut block, character));
        block.push('"');
    }
    block.push_str(">\n");
    push_guarded(&mut block, tag, text);
    if !text.ends_with('\n') {
        block.push('\n');
    }
    block.push_str(&format!("</{tag}>"));
    block
}

fn push_escaped(block: &mut String, character: char) {
    match character {
        '&' => block.push_str("&amp;"),
        '<' => block.push_str("&lt;"),
        '>' => block.push_str("&gt;"),
        '"' => block.push_str("&quot;"),
        control if control.is_control() => block.push_str(&format!("&#{};", u32::from(control))),
        other => block.push(other),
    }
}

fn push_guarded(block: &mut String, tag: &str, text: &str) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("</") {
        block.push_str(before);
        block.push_str(if closes(tag, after) { "<\\/" } else { "</" });
        rest = after;
    }
    block.push_str(rest);
}

/// Whether what follows a `</` makes it the closing tag.
fn closes(tag: &str, after: &str) -> bool {
    let named = after.get(..tag.len()).is_some_and(|name| name.eq_ignore_ascii_case(tag));
    let longer = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    named && !after[tag.len()..].starts_with(longer)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_block_is_a_tag_the_text_and_the_closing_tag() {
        assert_eq!(
            tagged("file", &[("name", "a \"b\" <c> & d\n")], "one\ntwo"),
            "<file name=\"a &quot;b&quot; &lt;c&gt; &amp; d&#10;\">\none\ntwo\n</file>"
        );
    }

    #[test]
    fn only_a_closing_tag_in_the_text_is_changed() {
        let text = "</skill> </SKILL > </skills> </ skill> <skill> </b></skill";
        let block = "<skill>\n<\\/skill> <\\/SKILL > </skills> </ skill> <skill> </b><\\/skill\n</skill>";
        assert_eq!(tagged("skill", &[], text), block);
    }

    proptest! {
        #[test]
        fn a_block_ends_once(text in "(</?|s|S|kill|>| |\\PC){0,12}") {
            let block = tagged("skill", &[], &text);
            let ends = block.match_indices("</").filter(|(at, _)| closes("skill", &block[at + 2..])).count();
            prop_assert_eq!(ends, 1);
            prop_assert!(block.contains(&text) || block.contains("<\\/"));
        }
    }
}
