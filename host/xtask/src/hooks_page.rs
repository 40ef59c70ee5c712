//! docs/hooks.md: what each hook event allows, made from the table that the host itself works from.

use std::fmt::Write as _;

use serde_json::Value;
use youyou_api::{HookEvent, hook_rules::EventRules};

const HEAD: &str = "\
# Hooks

<!-- Made by `cargo xtask schema` from youyou-api; a change here is lost. -->

A plugin taps events. At each of them its handler gets one JSON document, a script on stdin, a component through WIT, and
answers that all may go on, that some fields are to change, or that the operation is to stop. Handlers are asked one
after another: first those in code in the order of registration, then the user's folders, then the project's, each by the
byte order of their ids. Each sees what those before it changed. How to write one: [plugins.md](plugins.md).

`user_input` is `{\"text\": …, \"attachments\": [{\"kind\", \"name\", \"size\"}]}`, an element of `dynamic_sections` is `{\"title\": …,
\"content\": …}`; the whole form is in [schema/hook-payload.json](schema/hook-payload.json).

Beside the fields below, every document has `payload_version` (1), `event` (its name) and `plugin_config` (the plugin's
final configuration, `null` when it has none).

| answer on a script's stdout | means |
|---|---|
| nothing, `{}`, or `{\"data\": {}}` | go on |
| `{\"data\": {\"FIELD\": VALUE}}` | go on, with these fields changed |
| `{\"abort\": true, \"reason\": \"TEXT\"}` | stop, for this reason |

A key of `data` that the event does not list is ignored with a warning, and so is a value of the wrong type; everything
else of the answer counts. A handler that fails, hangs or answers nonsense changes nothing, and the user is warned;
before a tool runs it may ask with `on_failure: abort` to be taken as a refusal instead. Which handler was asked, what it
answered and which fields that changed is told in the event `HookRan`.

| event | may change | an abort |
|---|---|---|
";

/// The whole page.
pub(crate) fn page(payload_schema: &Value) -> String {
    let mut page = HEAD.to_owned();
    for event in HookEvent::ALL {
        let EventRules { abort, .. } = event.rules();
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| [{event}](#{}) | {} | {} |",
            event.as_str().to_lowercase(),
            mutable(*event),
            abort.as_str()
        );
    }
    for event in HookEvent::ALL {
        let rules = event.rules();
        let _ = write!(page, "\n## {event}\n\n{}\n\n| field | |\n|---|---|\n", without_ids(rules.when));
        for (name, what) in fields(payload_schema, *event) {
            let change = rules.mutable.iter().find(|field| field.name == name);
            let change = change.map(|field| format!(" **May change**: {}.", field.change.as_str())).unwrap_or_default();
            let _ = writeln!(page, "| `{name}` | {}{change} |", without_ids(&what));
        }
        let _ = writeln!(page, "\n**Abort.** {}", abort_sentence(rules));
    }
    page
}

fn mutable(event: HookEvent) -> String {
    let fields: Vec<_> = event.rules().mutable.iter().map(|field| format!("`{}`", field.name)).collect();
    if fields.is_empty() { "nothing".to_owned() } else { fields.join(", ") }
}

fn abort_sentence(rules: &EventRules) -> String {
    let mut sentence = rules.abort.as_str().to_owned();
    if rules.may_abort_on_failure {
        sentence.push_str(" A handler with `on_failure: abort` in its index.md aborts also when it fails.");
    }
    sentence
}

/// The payload's own fields, in order, with what each holds.
fn fields(schema: &Value, event: HookEvent) -> Vec<(String, String)> {
    let properties = schema["$defs"][event.as_str()]["properties"].as_object();
    let fields = properties.into_iter().flatten();
    fields.map(|(name, field)| (name.clone(), field["description"].as_str().unwrap_or_default().to_owned())).collect()
}

/// Requirement ids are for who works on the product.
fn without_ids(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(" (D-") {
        let Some(length) = rest[start..].find(')') else { break };
        out.push_str(&rest[..start]);
        rest = &rest[start + length + 1..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirement_ids_are_left_out() {
        assert_eq!(without_ids("The text (D-18), and more (D-8)."), "The text, and more.");
        assert_eq!(without_ids("Open (D-1"), "Open (D-1");
    }
}
