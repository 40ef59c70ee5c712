//! Parameters as every `index.md` has them, so that arguments which fit are accepted without compiling a JSON Schema.
//!
//! Compiling one takes longer than anything else in the first call of a tool. What is not accepted here may fit all the
//! same: the schema decides, and says what is wrong.

use serde_json::{Map, Value};

/// Named parameters and no others, each of one type.
pub(super) struct Plain {
    parameters: Map<String, Value>,
    required: Vec<String>,
}

impl Plain {
    /// None where the schema says anything that is not looked at here.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        let (mut parameters, mut required, mut closed) = (Map::new(), Vec::new(), false);
        for (key, value) in schema.as_object()? {
            match (key.as_str(), value) {
                ("type", Value::String(kind)) if kind == "object" => {}
                ("properties", Value::Object(found)) if found.values().all(is_plain) => parameters.clone_from(found),
                ("required", Value::Array(names)) => required = texts(names)?,
                ("additionalProperties", Value::Bool(false)) => closed = true,
                _ => return None,
            }
        }
        closed.then_some(Self { parameters, required })
    }

    /// Whether these arguments certainly fit.
    pub(super) fn accepts(&self, arguments: &Map<String, Value>) -> bool {
        self.required.iter().all(|name| arguments.contains_key(name))
            && arguments.iter().all(|(name, value)| self.parameters.get(name).is_some_and(|schema| fits(schema, value)))
    }
}

fn texts(values: &[Value]) -> Option<Vec<String>> {
    let texts: Vec<_> = values.iter().map(|value| value.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    // A name that is required twice makes a schema invalid.
    let once = texts.iter().enumerate().all(|(index, text)| !texts[..index].contains(text));
    once.then_some(texts)
}

/// Whether [`fits`] looks at everything that a parameter's schema demands, and the schema is a valid one.
fn is_plain(schema: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return false };
    schema.contains_key("type")
        && schema.iter().all(|(key, value)| match key.as_str() {
            "type" => matches!(value.as_str(), Some("string" | "integer" | "number" | "boolean" | "array" | "object")),
            "enum" => value.is_array(),
            "items" => is_plain(value),
            "description" => value.is_string(),
            "default" => true,
            _ => false,
        })
}

fn fits(schema: &Value, value: &Value) -> bool {
    let of_its_type = match schema.get("type").and_then(Value::as_str) {
        Some("string") => value.is_string(),
        // A fraction of zero makes an integer too; that is left to the schema.
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some(_) | None => false,
    };
    let allowed = |choices: &Value| choices.as_array().is_some_and(|choices| choices.contains(value));
    let items_fit = |items: &Value| value.as_array().is_none_or(|values| values.iter().all(|value| fits(items, value)));
    of_its_type && schema.get("enum").is_none_or(allowed) && schema.get("items").is_none_or(items_fit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn parameters(properties: Value, required: Value) -> Value {
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    fn accepts(schema: &Value, arguments: Value) -> bool {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        Plain::of(schema).expect("plain").accepts(&arguments)
    }

    #[test]
    fn arguments_that_fit_are_accepted() {
        let schema = parameters(
            json!({
                "text": {"type": "string", "description": "A text."},
                "count": {"type": "integer", "default": 3},
                "mode": {"type": "string", "enum": ["fast", "slow"]},
                "paths": {"type": "array", "items": {"type": "string"}},
                "more": {"type": "object"},
            }),
            json!(["text"]),
        );
        assert!(accepts(&schema, json!({"text": "a"})));
        assert!(accepts(
            &schema,
            json!({"text": "", "count": -1, "mode": "slow", "paths": ["a"], "more": {"x": null}})
        ));
        assert!(!accepts(&schema, json!({"count": 1})), "the text is missing");
        for (name, value) in [
            ("count", json!("1")),
            ("count", json!(1.5)),
            ("mode", json!("quick")),
            ("paths", json!(["a", 1])),
            ("paths", json!("a")),
            ("more", json!(null)),
            ("other", json!(1)),
        ] {
            assert!(!accepts(&schema, json!({"text": "a", name: value})), "{name}: {value}");
        }
    }

    /// Whatever this file does not look at is left to the schema.
    #[test]
    fn a_schema_that_says_more_is_not_plain() {
        let of_x = |schema: Value| parameters(json!({"x": schema}), json!([]));
        assert!(Plain::of(&of_x(json!({"type": "string"}))).is_some());
        for schema in [
            json!({"type": "object", "properties": {}}),
            json!({"type": "object", "additionalProperties": true}),
            json!({"type": "object", "additionalProperties": false, "minProperties": 1}),
            json!({"$schema": "http://json-schema.org/draft-04/schema#", "additionalProperties": false}),
            json!(true),
            parameters(json!({}), json!(["x", "x"])),
            parameters(json!({}), json!([1])),
            of_x(json!({"type": "string", "minLength": 1})),
            of_x(json!({"type": ["string", "null"]})),
            of_x(json!({"type": "text"})),
            of_x(json!({"enum": [1]})),
            of_x(json!({"type": "string", "enum": "a"})),
            of_x(json!({"type": "array", "items": {"type": "string", "pattern": "a"}})),
            of_x(json!({"type": "array", "items": [{"type": "string"}]})),
            of_x(json!({"type": "object", "properties": {}})),
            of_x(json!({"type": "string", "description": 1})),
            of_x(json!(true)),
        ] {
            assert!(Plain::of(&schema).is_none(), "{schema}");
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-2i64..3).prop_map(Value::from),
            Just(json!(1.0)),
            Just(json!(0.5)),
            "[ab]{0,1}".prop_map(Value::from),
        ];
        leaf.prop_recursive(2, 8, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::hash_map("[ab]", inner, 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn schema() -> impl Strategy<Value = Value> {
        let kind = prop_oneof!["string", "integer", "number", "boolean", "array", "object"];
        let leaf =
            (kind, proptest::option::of(proptest::collection::vec(value(), 1..4))).prop_map(|(kind, choices)| {
                let mut schema = json!({"type": kind});
                if let Some(mut choices) = choices {
                    choices.dedup();
                    schema["enum"] = choices.into();
                }
                schema
            });
        leaf.prop_recursive(2, 4, 1, |inner| {
            (inner, any::<bool>()).prop_map(|(items, described)| {
                let mut schema = json!({"type": "array", "items": items});
                if described {
                    schema["description"] = "Some.".into();
                }
                schema
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// D-52: nothing is accepted that the schema refuses, and no invalid schema is taken for a plain one.
        #[test]
        fn what_is_accepted_is_valid_to_the_schema(a in schema(), b in schema(), required in any::<bool>(),
                                                   values in proptest::collection::vec((value(), value()), 16)) {
            let schema = parameters(json!({"a": a, "b": b}), if required { json!(["a"]) } else { json!([]) });
            let plain = Plain::of(&schema).expect("plain");
            let validator = jsonschema::options().offline().build(&schema).expect("a JSON Schema");
            for (a, b) in values {
                for arguments in [json!({"a": a}), json!({"b": b}), json!({"a": a, "b": b}), json!({"a": a, "c": b})] {
                    let accepted = plain.accepts(arguments.as_object().expect("an object"));
                    prop_assert!(!accepted || validator.is_valid(&arguments), "{} for {}", arguments, schema);
                }
            }
        }
    }
}
