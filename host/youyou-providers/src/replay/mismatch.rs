//! How a request differs from the reply that it might have been meant for, for people.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};
use youyou_api::{ChatRequest, Message};

use super::{
    script::Reply,
    when::{When, last, text},
};

/// Lines longer than this are broken, so that a difference in a long paragraph can be seen.
const WIDTH: usize = 100;

/// Lines that are the same, before and behind those that are not.
const CONTEXT: usize = 2;

/// Lines of one difference.
const MOST_LINES: usize = 40;

/// How many replies are named beside the one that is compared.
const NAMED: usize = 4;

/// Why none of these replies, each with its number, fits the request: the difference from the first one for the same kind
/// of message, line by line, and which others there are.
pub(super) fn explain(script: &str, left: &[(usize, &Reply)], request: &ChatRequest) -> String {
    let like = left.iter().find(|(_, reply)| is_of_kind(&reply.when, request)).or(left.first());
    let Some((number, reply)) = like else {
        let found = sent(&When::Any, request).join("\n");
        return format!("no reply of {script} is left for this request, whose last message is:\n{}", cut(&found));
    };
    let others: Vec<_> = left.iter().filter(|(other, _)| other != number).collect();
    let named: Vec<_> = others.iter().take(NAMED).map(|(number, reply)| format!("{number} {}", shown(reply))).collect();
    let others = match others.len() {
        0 => String::new(),
        _ => format!("Others that are left: {}. ", named.join(", ")),
    };
    format!(
        "no reply of {script} fits this request. What reply {number} asks for (-), and the request's last message (+):\n\
         {}{others}Add a reply that fits, or mark one with `repeat: true`",
        difference(reply, request)
    )
}

/// Whether the condition is about such a message as the request ends with.
fn is_of_kind(when: &When, request: &ChatRequest) -> bool {
    matches!(
        (when, last(request)),
        (When::User { .. }, Some(Message::User { .. })) | (When::ToolResult { .. }, Some(Message::ToolResult { .. }))
    )
}

fn difference(reply: &Reply, request: &ChatRequest) -> String {
    let (mut asked, mut sent) = (asked(&reply.when), sent(&reply.when, request));
    if let Some(name) = &reply.tool_listed {
        let listed = request.tools.iter().any(|tool| tool.name.as_str() == name);
        asked.push(format!("[the tool {name:?} is listed]"));
        sent.push(format!("[the tool {name:?} is {}listed]", if listed { "" } else { "not " }));
    }
    let (asked, sent) = (asked.join("\n") + "\n", sent.join("\n") + "\n");
    let diff = TextDiff::from_lines(&asked, &sent);
    let mut lines = Vec::new();
    for (place, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if place > 0 {
            lines.push("  …".to_owned());
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let mark = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            lines.push(format!("{mark} {}", change.value().trim_end_matches('\n')));
        }
    }
    let more = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    let mut shown = lines.join("\n") + "\n";
    if more > 0 {
        // Writing to a string cannot fail.
        let _ = writeln!(shown, "  … and {more} lines more");
    }
    shown
}

/// What a condition asks for, in lines.
fn asked(when: &When) -> Vec<String> {
    let mut lines = Vec::new();
    let (is, contains) = match when {
        When::Any => return vec!["[anything]".to_owned()],
        When::User { is, contains } => {
            lines.push("[the user says]".to_owned());
            (is, contains)
        }
        When::ToolResult { tool_name, is, contains, is_error } => {
            lines.push(result_of(tool_name.as_deref(), *is_error));
            (is, contains)
        }
    };
    lines.extend(contains.iter().map(|piece| format!("[something with {piece:?} in it]")));
    lines.extend(is.iter().flat_map(|text| wrapped(text)));
    lines
}

/// What the request ends with, as far as the condition asks for it.
fn sent(when: &When, request: &ChatRequest) -> Vec<String> {
    let (head, said) = match (last(request), when) {
        (Some(Message::User { parts }), _) => ("[the user says]".to_owned(), text(parts).unwrap_or_default()),
        (Some(Message::ToolResult(result)), When::ToolResult { tool_name, is, contains, is_error }) => {
            let called = tool_name.is_some().then_some(&*result.tool_name);
            let head = result_of(called, is_error.is_some().then_some(result.is_error));
            // What a tool put out is of no interest where nothing is asked about it.
            (head, if is.is_some() || contains.is_some() { &*result.content } else { "" })
        }
        (Some(Message::ToolResult(result)), _) => {
            (result_of(Some(&result.tool_name), Some(result.is_error)), &*result.content)
        }
        (Some(Message::Assistant { .. } | Message::System { .. }) | None, _) => ("[nothing]".to_owned(), ""),
    };
    std::iter::once(head).chain(wrapped(said)).collect()
}

fn result_of(tool: Option<&str>, failed: Option<bool>) -> String {
    let tool = tool.map_or("a tool".to_owned(), |name| format!("the tool {name:?}"));
    let how = match failed {
        None => "answers",
        Some(false) => "answers well",
        Some(true) => "fails",
    };
    format!("[{tool} {how}]")
}

/// The lines of a text, long ones broken.
fn wrapped(text: &str) -> Vec<String> {
    let broken = |line: &str| {
        let characters: Vec<char> = line.chars().collect();
        characters.chunks(WIDTH).map(|piece| piece.iter().collect::<String>()).collect::<Vec<_>>()
    };
    text.lines().flat_map(broken).collect()
}

fn cut(text: &str) -> &str {
    const LONGEST: usize = 1_000;
    &text[..text.floor_char_boundary(LONGEST)]
}

/// What a reply asks of a request, as it stands in a script; cut where it is too long for a message.
fn shown(reply: &Reply) -> String {
    const LONGEST: usize = 200;
    let mut shown = serde_json::to_string(&reply.when).unwrap_or_default();
    if let Some((end, _)) = shown.char_indices().nth(LONGEST) {
        shown.truncate(end);
        shown.push('…');
    }
    shown + &reply.tool_listed.iter().map(|name| format!(" with the tool {name:?}")).collect::<String>()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::replay::Script;

    fn explained(replies: &str, last: Value) -> String {
        let script = Script::from_yaml("said.yaml", replies).expect("a script");
        let request = json!({"model": "m", "system": "", "messages": [last], "tools": []});
        let request = serde_json::from_value(request).expect("a request");
        let left: Vec<_> = (1..).zip(&script.replies).collect();
        explain(&script.name, &left, &request)
    }

    fn user(text: &str) -> Value {
        json!({"role": "user", "parts": [{"type": "text", "text": text}]})
    }

    fn result(content: &str, is_error: bool) -> Value {
        json!({"role": "tool_result", "call_id": "1", "tool_name": "read", "content": content, "is_error": is_error})
    }

    /// Of a long text, only what is different and a little around it.
    #[test]
    fn the_difference_is_told_line_by_line() {
        let recorded =
            "replies: [{ when: { user: { is: \"Plan:\\n1. tea\\n2. toast\\n3. jam\\n4. go\\n5. rest\" } }, say: [] }]";
        insta::assert_snapshot!(explained(recorded, user("Plan:\n1. tea\n2. toast\n3. honey\n4. go\n5. rest")), @"
        no reply of said.yaml fits this request. What reply 1 asks for (-), and the request's last message (+):
          1. tea
          2. toast
        - 3. jam
        + 3. honey
          4. go
          5. rest
        Add a reply that fits, or mark one with `repeat: true`
        ");
    }

    #[test]
    fn a_word_in_a_long_line_is_found() {
        let long = |word: &str| format!("{}{word}{}", "so-it-goes-on-".repeat(12), "-and-on-and-on".repeat(12));
        let recorded = format!("replies: [{{ when: {{ user: {{ is: '{}' }} }}, say: [] }}]", long("one"));
        insta::assert_snapshot!(explained(&recorded, user(&long("two"))), @"
        no reply of said.yaml fits this request. What reply 1 asks for (-), and the request's last message (+):
          [the user says]
          so-it-goes-on-so-it-goes-on-so-it-goes-on-so-it-goes-on-so-it-goes-on-so-it-goes-on-so-it-goes-on-so
        - -it-goes-on-so-it-goes-on-so-it-goes-on-so-it-goes-on-so-it-goes-on-one-and-on-and-on-and-on-and-on-
        + -it-goes-on-so-it-goes-on-so-it-goes-on-so-it-goes-on-so-it-goes-on-two-and-on-and-on-and-on-and-on-
          and-on-and-on-and-on-and-on-and-on-and-on-and-on-and-on-and-on-and-on-and-on-and-on-and-on-and-on-an
          d-on-and-on-and-on-and-on-and-on-and-on
        Add a reply that fits, or mark one with `repeat: true`
        ");
    }

    /// The first reply for the same kind of message is compared, by what it asks about.
    #[test]
    fn the_reply_of_the_same_kind_is_compared() {
        let replies = "
replies:
  - { when: { user: { contains: hello } }, say: [] }
  - { when: { tool_result: { tool_name: read, is_error: false } }, say: [] }
  - { when: { tool_result: {} }, tool_listed: write, say: [] }
";
        insta::assert_snapshot!(explained(replies, result("gone", true)), @r#"
        no reply of said.yaml fits this request. What reply 2 asks for (-), and the request's last message (+):
        - [the tool "read" answers well]
        + [the tool "read" fails]
        Others that are left: 1 {"user":{"contains":"hello"}}, 3 {"tool_result":{}} with the tool "write". Add a reply that fits, or mark one with `repeat: true`
        "#);
        insta::assert_snapshot!(explained(replies, user("good day")), @r#"
        no reply of said.yaml fits this request. What reply 1 asks for (-), and the request's last message (+):
          [the user says]
        - [something with "hello" in it]
        + good day
        Others that are left: 2 {"tool_result":{"tool_name":"read","is_error":false}}, 3 {"tool_result":{}} with the tool "write". Add a reply that fits, or mark one with `repeat: true`
        "#);
        let listed = replies.lines().filter(|line| !line.contains("read") && !line.contains("hello"));
        insta::assert_snapshot!(explained(&listed.collect::<Vec<_>>().join("\n"), result("gone", true)), @r#"
        no reply of said.yaml fits this request. What reply 1 asks for (-), and the request's last message (+):
          [a tool answers]
        - [the tool "write" is listed]
        + [the tool "write" is not listed]
        Add a reply that fits, or mark one with `repeat: true`
        "#);
    }

    #[test]
    fn a_script_that_is_over_shows_what_was_sent() {
        insta::assert_snapshot!(explained("replies: []", user("more?")), @"
        no reply of said.yaml is left for this request, whose last message is:
        [the user says]
        more?
        ");
    }

    #[test]
    fn a_difference_is_bounded() {
        let recorded = format!("replies: [{{ when: {{ user: {{ is: '{}' }} }}, say: [] }}]", "ab ".repeat(20_000));
        let told = explained(&recorded, user(&"字\n".repeat(20_000)));
        assert!(told.len() < 20_000 && told.contains("lines more"), "{} bytes", told.len());
    }
}
