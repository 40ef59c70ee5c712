//! Between hook payloads and the records of the WIT contract, and from a guest's outcome to ours.

use serde::Serialize;
use serde_json::{Map, Value};
use youyou_api::{
    HookOutcome, PluginId,
    hook::{AfterToolUse, BeforeCompact, BeforeToolUse, SessionEnd, SessionStart, TurnEnd, TurnStart},
};

use crate::bindings::{
    exports::youyou::plugin::{
        after_tool_use as wit_after_tool_use, before_compact as wit_before_compact,
        before_tool_use as wit_before_tool_use, session_end as wit_session_end, session_start as wit_session_start,
        turn_end as wit_turn_end, turn_start as wit_turn_start,
    },
    youyou::plugin::types,
};

/// A part of free form, as the text that stands in the document of a script (C-2).
fn json(value: &impl Serialize) -> String {
    // Values, and maps with text keys, always serialise.
    serde_json::to_string(value).unwrap_or_default()
}

pub(crate) fn session_start(event: &SessionStart, config: &Value) -> wit_session_start::Payload {
    wit_session_start::Payload { session_id: event.session_id.to_string(), plugin_config: json(config) }
}

pub(crate) fn session_end(event: &SessionEnd, config: &Value) -> wit_session_end::Payload {
    wit_session_end::Payload {
        session_id: event.session_id.to_string(),
        message_count: event.message_count,
        plugin_config: json(config),
    }
}

pub(crate) fn turn_start(event: &TurnStart, config: &Value) -> wit_turn_start::Payload {
    wit_turn_start::Payload {
        session_id: event.session_id.to_string(),
        turn_id: event.turn_id.to_string(),
        user_input: json(&event.user_input),
        dynamic_sections: json(&event.dynamic_sections),
        plugin_config: json(config),
    }
}

pub(crate) fn turn_end(event: &TurnEnd, config: &Value) -> wit_turn_end::Payload {
    wit_turn_end::Payload {
        session_id: event.session_id.to_string(),
        turn_id: event.turn_id.to_string(),
        assistant_output: event.assistant_output.clone(),
        plugin_config: json(config),
    }
}

pub(crate) fn before_tool_use(event: &BeforeToolUse, config: &Value) -> wit_before_tool_use::Payload {
    wit_before_tool_use::Payload {
        session_id: event.session_id.to_string(),
        turn_id: event.turn_id.to_string(),
        tool_name: event.tool_name.to_string(),
        arguments: json(&event.arguments),
        plugin_config: json(config),
    }
}

pub(crate) fn after_tool_use(event: &AfterToolUse, config: &Value) -> wit_after_tool_use::Payload {
    wit_after_tool_use::Payload {
        session_id: event.session_id.to_string(),
        turn_id: event.turn_id.to_string(),
        tool_name: event.tool_name.to_string(),
        output: event.output.clone(),
        duration_ms: event.duration_ms,
        success: event.success,
        plugin_config: json(config),
    }
}

pub(crate) fn before_compact(event: &BeforeCompact, config: &Value) -> wit_before_compact::Payload {
    wit_before_compact::Payload {
        session_id: event.session_id.to_string(),
        message_count: event.message_count,
        estimated_tokens: event.estimated_tokens,
        compact_prompt: event.compact_prompt.clone(),
        plugin_config: json(config),
    }
}

/// The outcome that a guest answered with (D-6, D-12).
///
/// # Errors
/// What was found in the place of the object of `continue-with`.
pub(crate) fn outcome_from_wit(outcome: types::HookOutcome, plugin: &PluginId) -> Result<HookOutcome, String> {
    match outcome {
        types::HookOutcome::Continue => Ok(HookOutcome::Continue),
        types::HookOutcome::ContinueWith(data) => object(&data).map(HookOutcome::ContinueWith),
        types::HookOutcome::Abort(reason) if reason.trim().is_empty() => {
            Ok(HookOutcome::Abort { reason: format!("aborted by plugin {plugin}") })
        }
        types::HookOutcome::Abort(reason) => Ok(HookOutcome::Abort { reason }),
    }
}

fn object(data: &str) -> Result<Map<String, Value>, String> {
    let found = match serde_json::from_str(data) {
        Ok(Value::Object(data)) => return Ok(data),
        Ok(Value::Null) => "null".to_owned(),
        Ok(Value::Bool(_)) => "a boolean".to_owned(),
        Ok(Value::Number(_)) => "a number".to_owned(),
        Ok(Value::String(_)) => "a text".to_owned(),
        Ok(Value::Array(_)) => "an array".to_owned(),
        Err(error) => format!("text that is not JSON: {error}"),
    };
    Err(found)
}

#[cfg(test)]
mod tests {
    use youyou_api::{
        SessionId, TurnId,
        hook::{DynamicSection, UserInput},
    };

    use super::*;

    fn plugin() -> PluginId {
        PluginId::new("guard").expect("legal")
    }

    /// C-2: the same values in the same order as in the document of a script.
    #[test]
    fn parts_of_free_form_keep_their_documents() {
        let arguments = r#"{"z":1.50,"a":[null,"ä"]}"#;
        let event = BeforeToolUse {
            session_id: SessionId::new("s"),
            turn_id: TurnId::new("t"),
            tool_name: "word-count".parse().expect("legal"),
            arguments: serde_json::from_str(arguments).expect("an object"),
        };
        let (script, wit) = (json(&event), before_tool_use(&event, &serde_json::json!({"keys": ["b", "a"]})));
        assert!(script.ends_with(&format!(r#""arguments":{}}}"#, wit.arguments)), "{script}");
        assert_eq!(wit.plugin_config, r#"{"keys":["b","a"]}"#);

        let event = TurnStart {
            session_id: SessionId::new("s"),
            turn_id: TurnId::new("t"),
            user_input: UserInput { text: "hi".to_owned(), attachments: Vec::new() },
            dynamic_sections: vec![DynamicSection { title: "a".to_owned(), content: "b".to_owned() }],
        };
        let wit = turn_start(&event, &Value::Null);
        assert_eq!(wit.user_input, r#"{"text":"hi","attachments":[]}"#);
        assert_eq!(wit.dynamic_sections, r#"[{"title":"a","content":"b"}]"#);
        assert_eq!(wit.plugin_config, "null");
    }

    /// D-12: an abort always has a reason.
    #[test]
    fn an_abort_without_a_reason_names_the_plugin() {
        let abort = |reason: &str| outcome_from_wit(types::HookOutcome::Abort(reason.to_owned()), &plugin());
        assert_eq!(abort("no"), Ok(HookOutcome::Abort { reason: "no".to_owned() }));
        assert_eq!(abort(" "), Ok(HookOutcome::Abort { reason: "aborted by plugin guard".to_owned() }));
    }

    /// D-6: data is an object.
    #[test]
    fn data_that_is_no_object_is_told_by_name() {
        let answer = |data: &str| outcome_from_wit(types::HookOutcome::ContinueWith(data.to_owned()), &plugin());
        let Ok(HookOutcome::ContinueWith(data)) = answer(r#"{"output":"x"}"#) else { panic!("an object") };
        assert_eq!(data["output"], "x");
        for (data, found) in [
            ("null", "null"),
            ("true", "a boolean"),
            ("-1", "a number"),
            ("\"{}\"", "a text"),
            ("[{}]", "an array"),
            ("{\"a\":", "text that is not JSON"),
            ("", "text that is not JSON"),
        ] {
            let error = answer(data).expect_err(data);
            assert!(error.starts_with(found), "{data}: {error}");
        }
    }
}
