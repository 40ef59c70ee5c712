//! What an answer changed, told by digests: values may be long, or secret.

use serde_json::{Map, Value};
use youyou_api::hook::ChangedField;

/// Notes that a field was given another value; nothing when the two are equal. Below objects the keys are told one by
/// one.
pub(super) fn note(changes: &mut Vec<ChangedField>, field: &str, before: &Value, after: &Value) {
    match (before, after) {
        _ if before == after => {}
        (Value::Object(before), Value::Object(after)) => note_keys(changes, field, before, after),
        _ => changes.push(changed(field.to_owned(), Some(before), Some(after))),
    }
}

/// The same for two objects.
pub(super) fn note_keys(
    changes: &mut Vec<ChangedField>,
    field: &str,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
) {
    let keys = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
    for key in keys {
        let (before, after) = (before.get(key), after.get(key));
        if before != after {
            changes.push(changed(format!("{field}.{key}"), before, after));
        }
    }
}

fn changed(field: String, before: Option<&Value>, after: Option<&Value>) -> ChangedField {
    ChangedField { field, before: before.map(digest), after: after.map(digest) }
}

/// The first 16 hex digits of the hash of the value's JSON: enough to see that two values are the same.
fn digest(value: &Value) -> String {
    blake3::hash(value.to_string().as_bytes()).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_differs_is_told() {
        let mut changes = Vec::new();
        note(&mut changes, "arguments", &json!({"a": 1, "b": 2, "c": 3}), &json!({"a": 1, "b": 3, "d": 4}));
        note(&mut changes, "output", &json!("same"), &json!("same"));
        note(&mut changes, "output", &json!("one"), &json!("two"));
        let told: Vec<_> = changes.iter().map(|c| (c.field.as_str(), c.before.is_some(), c.after.is_some())).collect();
        assert_eq!(
            told,
            [
                ("arguments.b", true, true),
                ("arguments.c", true, false),
                ("arguments.d", false, true),
                ("output", true, true)
            ]
        );
        assert_eq!(digest(&json!(3)), changes[0].after.clone().expect("there"));
    }
}
