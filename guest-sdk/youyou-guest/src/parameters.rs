//! From the schema of the arguments to the parameters of an `index.md`. Native only: no component carries it.
//!
//! An `index.md` knows six types, with `enum`, `items` and `default`; what a schema says beyond that (formats, ranges)
//! is left to the code, which refuses a bad value when it reads it.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One parameter, as it stands in an `index.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) shape: Shape,
    #[serde(default)]
    pub(crate) required: bool,
}

/// What a value may be.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shape {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
    #[serde(default, rename = "enum", skip_serializing_if = "Vec::is_empty")]
    pub(crate) choices: Vec<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) items: Option<Box<Shape>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) default: Option<Value>,
}

/// The parameters that `A` reads, in the order of its fields.
///
/// # Errors
/// What an `index.md` cannot say, with the name of the field and what to use instead.
pub(crate) fn of<A: JsonSchema>() -> Result<Vec<Parameter>, String> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(format!(
            "`{}` is no struct with named fields; a tool's arguments are one object",
            A::schema_name()
        ));
    }
    let required = names(schema.get("required"));
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Ok(Vec::new()) };
    properties
        .iter()
        .map(|(name, schema)| {
            let shape = shape(schema).map_err(|problem| format!("field `{name}` {problem}"))?;
            Ok(Parameter { name: name.clone(), shape, required: required.contains(&name.as_str()) })
        })
        .collect()
}

fn names(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

fn shape(schema: &Value) -> Result<Shape, String> {
    let Some(schema) = schema.as_object() else {
        return Err("takes any JSON value, which index.md cannot say: give it a concrete type".to_owned());
    };
    let mut shape = alternatives(schema).unwrap_or_else(|| plain(schema))?;
    if let Some(text) = schema.get("description").and_then(Value::as_str) {
        shape.description = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    shape.default = schema.get("default").filter(|value| !value.is_null()).cloned().or(shape.default);
    Ok(shape)
}

/// A choice between schemas: an `Option` of a type, or an enum whose variants have doc comments.
fn alternatives(schema: &Map<String, Value>) -> Option<Result<Shape, String>> {
    let list = ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema.get(*key)?.as_array())?;
    let is_null = |schema: &&Value| schema.get("type").and_then(Value::as_str) == Some("null");
    let rest: Vec<&Value> = list.iter().filter(|schema| !is_null(schema)).collect();
    if let [only] = rest.as_slice() {
        return Some(shape(only));
    }
    let mut choices = Vec::new();
    for schema in rest {
        match (schema.get("const"), schema.get("enum").and_then(Value::as_array)) {
            (Some(value), _) => choices.push(value.clone()),
            (None, Some(values)) => choices.extend(values.iter().cloned()),
            (None, None) => {
                return Some(Err("has several forms, which index.md cannot say: use an enum whose variants have no \
                                 fields, or one struct with optional fields"
                    .to_owned()));
            }
        }
    }
    Some(Ok(Shape { kind: "string".to_owned(), choices, ..Shape::default() }))
}

fn plain(schema: &Map<String, Value>) -> Result<Shape, String> {
    let kinds = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect(),
        Some(Value::String(kind)) => vec![kind.as_str()],
        _ => Vec::new(),
    };
    let choices = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => values.iter().filter(|value| !value.is_null()).cloned().collect(),
        (_, Some(value)) => vec![value.clone()],
        _ => Vec::new(),
    };
    let [kind] = kinds.as_slice() else {
        return Err(
            "has no single type, which index.md needs: a recursive type is one such; use a simpler one".to_owned()
        );
    };
    let items = match schema.get("items") {
        Some(items) if *kind == "array" && items.is_object() => {
            Some(Box::new(shape(items).map_err(|problem| format!("holds a list whose element {problem}"))?))
        }
        _ => None,
    };
    Ok(Shape { kind: (*kind).to_owned(), choices, items, ..Shape::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[derive(Deserialize, Serialize, JsonSchema, Default)]
    #[serde(rename_all = "lowercase")]
    enum Unit {
        #[default]
        Celsius,
        Fahrenheit,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only the schema matters")]
    enum Documented {
        /// The first.
        A,
        /// The second.
        B,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only the schema matters")]
    struct Args {
        /// City to
        /// look up.
        city: String,
        days: Option<u8>,
        #[serde(default)]
        unit: Unit,
        documented: Option<Documented>,
        tags: Vec<String>,
        places: Vec<Option<Unit>>,
        extra: Map<String, Value>,
        #[serde(rename = "ratio-of-it")]
        ratio: f32,
        loud: bool,
    }

    /// Y5.3-1, D-52.
    #[test]
    fn fields_become_parameters() {
        let found = serde_json::to_value(of::<Args>().expect("parameters")).expect("json");
        assert_eq!(
            found,
            json!([
                {"name": "city", "type": "string", "description": "City to look up.", "required": true},
                {"name": "days", "type": "integer", "required": false},
                {"name": "unit", "type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius", "required": false},
                {"name": "documented", "type": "string", "enum": ["A", "B"], "required": false},
                {"name": "tags", "type": "array", "items": {"type": "string"}, "required": true},
                {"name": "places", "type": "array", "items": {"type": "string", "enum": ["celsius", "fahrenheit"]}, "required": true},
                {"name": "extra", "type": "object", "required": true},
                {"name": "ratio-of-it", "type": "number", "required": true},
                {"name": "loud", "type": "boolean", "required": true},
            ])
        );
    }

    #[test]
    fn no_fields_are_no_parameters() {
        assert_eq!(of::<crate::NoArgs>().expect("parameters"), []);
        assert_eq!(of::<Map<String, Value>>().expect("parameters"), []);
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only the schema matters")]
    struct Anything {
        value: Vec<Value>,
        other: Value,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only the schema matters")]
    enum Forms {
        One { a: u8 },
        Two { b: u8 },
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only the schema matters")]
    struct Formed {
        form: Vec<Forms>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only the schema matters")]
    struct Recursive {
        inner: Option<Box<Recursive>>,
    }

    #[test]
    fn what_an_index_md_cannot_say_is_named() {
        assert!(of::<Anything>().expect_err("refused").starts_with("field `other` takes any JSON value"));
        let problem = of::<Formed>().expect_err("refused");
        assert!(problem.starts_with("field `form` holds a list whose element has several forms"), "{problem}");
        let problem = of::<Recursive>().expect_err("refused");
        assert!(problem.starts_with("field `inner` has no single type"), "{problem}");
        assert!(of::<String>().expect_err("refused").contains("no struct with named fields"));
    }
}
