//! What stands in the lines. It writes no file and knows no clock.

use youyou_guest::{
    json,
    plugin::Event,
    serde_json::{self, Map, Value},
};

/// Fields that say what was said, asked and answered, rather than that it was.
const CONTENTS: [&str; 6] =
    ["user_input", "dynamic_sections", "assistant_output", "arguments", "output", "compact_prompt"];

/// The line of an event.
pub(crate) fn line<E: Event>(payload: &E, number: u64, at_ms: u64, contents: bool) -> serde_json::Result<String> {
    let Value::Object(fields) = serde_json::to_value(payload)? else { return Ok(String::new()) };
    let kept = fields.into_iter().filter(|(name, _)| match name.as_str() {
        "payload_version" | "plugin_config" => false,
        name => contents || !CONTENTS.contains(&name),
    });
    let mut line = Map::from_iter([("n".to_owned(), json!(number)), ("at_ms".to_owned(), json!(at_ms))]);
    line.extend(kept);
    serde_json::to_string(&line)
}

/// What there was in a session.
#[derive(Default)]
pub(crate) struct Counts {
    total: u64,
    events: Map<String, Value>,
    tools: Map<String, Value>,
}

impl Counts {
    /// Counts an event; gives its number.
    pub(crate) fn event(&mut self, name: &str) -> u64 {
        self.total += 1;
        add(&mut self.events, name, 1);
        self.total
    }

    pub(crate) fn tool_ran(&mut self, tool: &str, success: bool) {
        let entry = self.tools.entry(tool).or_insert_with(|| json!({"ran": 0, "failed": 0}));
        if let Value::Object(entry) = entry {
            add(entry, "ran", 1);
            add(entry, "failed", u64::from(!success));
        }
    }

    /// The last line of a session.
    pub(crate) fn summary(&self, session_id: &str, at_ms: u64) -> String {
        json!({
            "at_ms": at_ms,
            "session_id": session_id,
            "summary": {"events": self.events, "tools": self.tools},
        })
        .to_string()
    }
}

fn add(counts: &mut Map<String, Value>, name: &str, by: u64) {
    let count = counts.get(name).and_then(Value::as_u64).unwrap_or_default();
    counts.insert(name.to_owned(), json!(count + by));
}

#[cfg(test)]
mod tests {
    use youyou_guest::plugin::BeforeToolUse;

    use super::*;

    #[test]
    fn contents_are_written_only_when_asked_for() {
        let payload = BeforeToolUse {
            session_id: "s".to_owned(),
            turn_id: "t".to_owned(),
            tool_name: "read-file".to_owned(),
            arguments: Map::from_iter([("path".to_owned(), json!("a"))]),
            plugin_config: json!({"path": "x"}),
        };
        assert_eq!(
            line(&payload, 3, 7, false).expect("JSON"),
            r#"{"n":3,"at_ms":7,"event":"BeforeToolUse","session_id":"s","turn_id":"t","tool_name":"read-file"}"#
        );
        assert!(line(&payload, 3, 7, true).expect("JSON").ends_with(r#""arguments":{"path":"a"}}"#));
    }
}
