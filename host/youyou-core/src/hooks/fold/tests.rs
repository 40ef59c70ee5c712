//! What an answer may change, and what it may not.

use proptest::prelude::*;
use serde_json::json;
use youyou_api::{
    ErrorCode, SessionId, TurnId,
    hook::{
        AfterToolUse, Attachment, AttachmentKind, BeforeCompact, BeforeToolUse, SessionEnd, SessionStart, TurnEnd,
        TurnStart, UserInput,
    },
};

use super::*;

fn any_arguments(arguments: Map<String, Value>) -> Result<Map<String, Value>, Error> {
    Ok(arguments)
}

/// Arguments whose `x` must be a number.
fn numeric_x(arguments: Map<String, Value>) -> Result<Map<String, Value>, Error> {
    match arguments.get("x") {
        Some(Value::Number(_)) => Ok(arguments),
        other => Err(Error::new(ErrorCode::ToolArgumentsInvalid, format!("x is {other:?}"))),
    }
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("an object") };
    map
}

fn ids() -> (SessionId, TurnId) {
    (SessionId::new("s"), TurnId::new("t"))
}

fn turn_start() -> HookEventPayload {
    let (session_id, turn_id) = ids();
    let attachments = vec![Attachment { kind: AttachmentKind::Image, name: "a.png".into(), size: 3 }];
    let user_input = UserInput { text: "hi".into(), attachments };
    HookEventPayload::TurnStart(TurnStart { session_id, turn_id, user_input, dynamic_sections: Vec::new() })
}

fn before_tool_use(arguments: Value) -> HookEventPayload {
    let (session_id, turn_id) = ids();
    let tool_name = "t".parse().expect("legal");
    HookEventPayload::BeforeToolUse(BeforeToolUse { session_id, turn_id, tool_name, arguments: object(arguments) })
}

fn after_tool_use() -> HookEventPayload {
    let (session_id, turn_id) = ids();
    HookEventPayload::AfterToolUse(AfterToolUse {
        session_id,
        turn_id,
        tool_name: "t".parse().expect("legal"),
        output: "out".into(),
        duration_ms: 5,
        success: true,
    })
}

fn every_event() -> Vec<HookEventPayload> {
    let (session_id, turn_id) = ids();
    vec![
        HookEventPayload::SessionStart(SessionStart { session_id: session_id.clone() }),
        HookEventPayload::SessionEnd(SessionEnd { session_id: session_id.clone(), message_count: 2 }),
        turn_start(),
        HookEventPayload::TurnEnd(TurnEnd { session_id: session_id.clone(), turn_id, assistant_output: "bye".into() }),
        before_tool_use(json!({"x": 1})),
        after_tool_use(),
        HookEventPayload::BeforeCompact(BeforeCompact {
            session_id,
            message_count: 2,
            estimated_tokens: 9,
            compact_prompt: "Summarise.".into(),
        }),
    ]
}

/// The payload after some data, and what was said of it.
fn folded(mut payload: HookEventPayload, data: Value) -> (HookEventPayload, Folded) {
    let folded = fold(&mut payload, object(data), &any_arguments);
    (payload, folded)
}

/// D-6: a listed key replaces its field as a whole, so that a key can be taken away; every other field stays.
#[test]
fn a_listed_field_is_replaced_as_a_whole() {
    let (payload, folded) = folded(before_tool_use(json!({"a": 1, "b": 2})), json!({"arguments": {"a": 3}}));
    assert_eq!(payload, before_tool_use(json!({"a": 3})));
    assert_eq!(folded.changes.iter().map(|c| c.field.as_str()).collect::<Vec<_>>(), ["arguments.a", "arguments.b"]);
    assert!(folded.warnings.is_empty());
}

/// D-6: the table is the whole truth: a field that it lists can be set, and every other field of the payload cannot.
#[test]
fn exactly_the_fields_of_the_table_can_be_changed() {
    let value = |name: &str| match name {
        "user_input" => json!({"text": "other"}),
        "dynamic_sections" => json!([{"title": "t", "content": "c"}]),
        "arguments" => json!({"x": 2}),
        "success" => json!(false),
        _ => json!("other"),
    };
    for payload in every_event() {
        let Value::Object(fields) = serde_json::to_value(&payload).expect("json") else { panic!("an object") };
        let mutable = payload.event().rules().mutable;
        assert!(mutable.iter().all(|field| fields.contains_key(field.name)), "{payload:?}");
        for name in fields.keys().map(String::as_str).chain(["plugin_config", "payload_version", "unheard_of"]) {
            let (after, folded) = folded(payload.clone(), json!({name: value(name)}));
            let may_change = mutable.iter().any(|field| field.name == name);
            assert_eq!(after != payload, may_change, "{} {name}", payload.event());
            assert_eq!(folded.changes.is_empty(), !may_change, "{} {name}", payload.event());
            assert_eq!(folded.warnings.is_empty(), may_change, "{} {name}", payload.event());
        }
    }
}

/// D-6: what a warning says.
#[test]
fn a_warning_names_the_key_and_what_could_be_changed() {
    let (_, told) = folded(after_tool_use(), json!({"tool_name": "x", "output": 5}));
    assert_eq!(
        told.warnings,
        [
            "`data.tool_name` is ignored: of AfterToolUse a handler can change `output` and `success`",
            "`data.output` is ignored: expected text, found a number"
        ]
    );
    let (_, told) = folded(every_event().remove(0), json!({"x": 1}));
    assert_eq!(told.warnings, ["`data.x` is ignored: a handler of SessionStart cannot change anything"]);
}

/// D-7: arguments that no longer fit leave the earlier ones in place.
#[test]
fn arguments_that_do_not_fit_are_ignored() {
    let mut payload = before_tool_use(json!({"x": 1}));
    let told = fold(&mut payload, object(json!({"arguments": {"x": "one"}})), &numeric_x);
    assert_eq!(payload, before_tool_use(json!({"x": 1})));
    assert_eq!(told.warnings.len(), 1);
    assert!(told.changes.is_empty());
}

/// D-9: only the text of the input can change; attachments stay, and nothing may be left of a message.
#[test]
fn only_the_text_of_the_input_changes() {
    let (payload, told) = folded(turn_start(), json!({"user_input": {"text": "", "attachments": []}}));
    let HookEventPayload::TurnStart(turn) = payload else { panic!("the event") };
    assert_eq!((turn.user_input.text.as_str(), turn.user_input.attachments.len()), ("", 1));
    assert!(told.warnings.is_empty());

    let mut bare = turn_start();
    if let HookEventPayload::TurnStart(turn) = &mut bare {
        turn.user_input.attachments.clear();
    }
    let (after, told) = folded(bare.clone(), json!({"user_input": {"text": " "}}));
    assert_eq!((after, told.warnings.len()), (bare, 1));
}

/// D-8: sections are appended over plugins, and each is held to 32 KiB at a character boundary.
#[test]
fn sections_are_appended_and_bounded() {
    let (payload, _) = folded(turn_start(), json!({"dynamic_sections": [{"title": "one", "content": "1"}]}));
    let long = "é".repeat(DynamicSection::MAX_SECTION_BYTES);
    let (payload, told) = folded(payload, json!({"dynamic_sections": [{"title": "two", "content": long}]}));
    let HookEventPayload::TurnStart(turn) = payload else { panic!("the event") };
    let [one, two] = turn.dynamic_sections.as_slice() else { panic!("two sections") };
    assert_eq!((one.title.as_str(), two.title.as_str()), ("one", "two"));
    assert!(two.content.len() <= DynamicSection::MAX_SECTION_BYTES && two.content.ends_with(CUT_MARK));
    assert_eq!(told.warnings.len(), 1);

    let (payload, told) = folded(turn_start(), json!({"dynamic_sections": [{"title": "t"}]}));
    assert_eq!((payload, told.warnings.len()), (turn_start(), 1));
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        ".{0,5}".prop_map(Value::from)
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[a-z]{1,3}", inner), 0..3)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn any_key() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("user_input".to_owned()),
        Just("dynamic_sections".to_owned()),
        Just("arguments".to_owned()),
        Just("output".to_owned()),
        Just("success".to_owned()),
        Just("compact_prompt".to_owned()),
        Just("session_id".to_owned()),
        "[a-z_]{1,8}",
    ]
}

proptest! {
    /// K-11: an empty answer is the identity; data only ever touches what the table lists; every key either changes
    /// something, says nothing new, or is warned of; and the same answer gives the same result.
    #[test]
    fn folding_is_deterministic_and_empty_data_is_the_identity(
        which in 0..7usize,
        data in prop::collection::vec((any_key(), any_value()), 0..5),
    ) {
        let payload = every_event().remove(which);
        let (same, nothing) = folded(payload.clone(), json!({}));
        prop_assert_eq!(&same, &payload);
        prop_assert_eq!(nothing, Folded::default());

        let data: Map<String, Value> = data.into_iter().collect();
        let (once, told) = folded(payload.clone(), Value::Object(data.clone()));
        let (again, told_again) = folded(payload.clone(), Value::Object(data.clone()));
        prop_assert_eq!(&once, &again);
        prop_assert_eq!(&told, &told_again);

        let (before, after) = (serde_json::to_value(&payload).expect("json"), serde_json::to_value(&once).expect("json"));
        let mutable = payload.event().rules().mutable;
        for (name, value) in before.as_object().expect("an object") {
            if !mutable.iter().any(|field| field.name == name && data.contains_key(name)) {
                prop_assert_eq!(value, &after[name]);
            }
        }
        prop_assert_eq!(told.changes.is_empty(), before == after);
    }
}
