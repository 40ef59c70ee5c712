//! What an answer changes: a pure function from a payload and `data` to the payload that the next handler sees (D-6).

use serde_json::{Map, Value};
use youyou_api::{
    Error, HookEvent,
    hook::{ChangedField, DynamicSection, HookEventPayload},
};

use super::changes::{note, note_keys};

/// Stands at the end of a section that was cut.
const CUT_MARK: &str = "\n[cut: a section holds at most 32 KiB]";

/// Whether arguments fit the tool's parameters (D-7). Gives them back as they are to be used.
pub type ArgumentsCheck<'a> = &'a (dyn Fn(Map<String, Value>) -> Result<Map<String, Value>, Error> + Sync);

/// What came of one answer's data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folded {
    /// What is different now.
    pub changes: Vec<ChangedField>,
    /// What of the data was ignored, and why.
    pub warnings: Vec<String>,
}

/// Merges the data of one answer into the payload, field by field; each listed key acts on its field as
/// [`HookEvent::rules`] says, and keys that may not change are ignored with a warning (D-6). A value that cannot be used
/// leaves its field as it was (D-7). Empty data changes nothing (K-11).
pub fn fold(payload: &mut HookEventPayload, data: Map<String, Value>, check: ArgumentsCheck<'_>) -> Folded {
    let mut folded = Folded::default();
    for (key, value) in data {
        if let Err(why) = set(payload, &key, value, check, &mut folded) {
            folded.warnings.push(format!("`data.{key}` is ignored: {why}"));
        }
    }
    folded
}

/// Sets one field.
fn set(
    payload: &mut HookEventPayload,
    key: &str,
    value: Value,
    check: ArgumentsCheck<'_>,
    folded: &mut Folded,
) -> Result<(), String> {
    use HookEventPayload as Event;
    let event = payload.event();
    let changes = &mut folded.changes;
    match (payload, key) {
        (Event::TurnStart(turn), "user_input") => {
            let text = input_text(value, turn.user_input.attachments.is_empty())?;
            replace(changes, "user_input.text", &mut turn.user_input.text, text);
        }
        (Event::TurnStart(turn), "dynamic_sections") => {
            let mut sections: Vec<DynamicSection> = serde_json::from_value(value)
                .map_err(|error| format!("it must be a list of {{\"title\", \"content\"}}, both text: {error}"))?;
            sections.iter_mut().for_each(|section| cut(section, &mut folded.warnings));
            let place = turn.dynamic_sections.len();
            for (i, section) in sections.iter().enumerate() {
                let content = Value::from(section.content.as_str());
                note(changes, &format!("dynamic_sections.{}", place + i), &Value::Null, &content);
            }
            turn.dynamic_sections.extend(sections);
        }
        (Event::BeforeToolUse(call), "arguments") => {
            let Value::Object(arguments) = value else { return Err(wrong_type("a JSON object", &value)) };
            let arguments = check(arguments).map_err(|error| unfit(&error))?;
            note_keys(changes, key, &call.arguments, &arguments);
            call.arguments = arguments;
        }
        (Event::AfterToolUse(call), "output") => replace(changes, key, &mut call.output, text(value)?),
        (Event::AfterToolUse(call), "success") => {
            let Value::Bool(success) = value else { return Err(wrong_type("true or false", &value)) };
            note(changes, key, &call.success.into(), &success.into());
            call.success = success;
        }
        (Event::BeforeCompact(compact), "compact_prompt") => {
            let prompt = text(value)?;
            if prompt.trim().is_empty() {
                return Err("a prompt that says nothing cannot be used".to_owned());
            }
            replace(changes, key, &mut compact.compact_prompt, prompt);
        }
        _ => return Err(not_mutable(event)),
    }
    Ok(())
}

fn replace(changes: &mut Vec<ChangedField>, field: &str, old: &mut String, new: String) {
    if *old != new {
        let before = std::mem::replace(old, new);
        note(changes, field, &before.into(), &old.as_str().into());
    }
}

/// The new text of the user's input; of the object that holds it, only that may change (D-9).
fn input_text(value: Value, only_text: bool) -> Result<String, String> {
    let Value::Object(mut input) = value else {
        return Err(wrong_type("an object with `text`", &value));
    };
    let text = text(input.remove("text").ok_or("it must be an object with `text`, and has none")?)
        .map_err(|why| format!("its `text`: {why}"))?;
    if only_text && text.trim().is_empty() {
        return Err("nothing would be left of the message; answer `abort` to refuse it".to_owned());
    }
    Ok(text)
}

fn text(value: Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(wrong_type("text", &other)),
    }
}

/// Why arguments do not fit, without the words that are about a call.
fn unfit(error: &Error) -> String {
    let faults = error.details.get("faults").and_then(Value::as_array);
    let faults: Vec<_> = faults.into_iter().flatten().filter_map(Value::as_str).collect();
    if faults.is_empty() { error.message.clone() } else { faults.join("; ") }
}

/// Keeps a section within its bound (D-8).
fn cut(section: &mut DynamicSection, warnings: &mut Vec<String>) {
    let most = DynamicSection::MAX_SECTION_BYTES;
    if section.content.len() > most {
        warnings.push(format!(
            "the section {:?} holds {} bytes and is cut to {most}",
            section.title,
            section.content.len()
        ));
        section.content.truncate(section.content.floor_char_boundary(most - CUT_MARK.len()));
        section.content.push_str(CUT_MARK);
    }
}

fn wrong_type(expected: &str, found: &Value) -> String {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    format!("expected {expected}, found {found}")
}

fn not_mutable(event: HookEvent) -> String {
    let fields: Vec<_> = event.rules().mutable.iter().map(|field| format!("`{}`", field.name)).collect();
    match fields.as_slice() {
        [] => format!("a handler of {event} cannot change anything"),
        fields => format!("of {event} a handler can change {}", fields.join(" and ")),
    }
}

#[cfg(test)]
mod tests;
