//! A tool's `parameters` list, read into the JSON Schema that the model and the argument check get (D-52).

use serde_json::{Map, Value};

use crate::{
    fields::{Field, Keys, Section, nearest},
    findings::Findings,
    yaml::{Node, quoted},
};

const KEYS: Keys = Keys {
    of: "a parameter",
    allowed: &["name", "type", "description", "required", "enum", "items", "default"],
    astray: &[
        ("optional", "did you mean `required`? A parameter is optional unless `required: true`"),
        ("values", "did you mean `enum`?"),
        ("choices", "did you mean `enum`?"),
        ("properties", "an `object` has free keys; describe them in `description`"),
    ],
};

const ITEM_KEYS: Keys = Keys { of: "`items`", allowed: &["type", "description", "enum", "items"], astray: KEYS.astray };

/// What a parameter's `type` may be (D-52).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    String,
    Integer,
    Number,
    Boolean,
    Array,
    Object,
}

impl Type {
    const ALL: [Self; 6] = [Self::String, Self::Integer, Self::Number, Self::Boolean, Self::Array, Self::Object];

    /// Names from elsewhere, and ours.
    const ELSEWHERE: &'static [(&'static str, Type)] = &[
        ("str", Self::String),
        ("text", Self::String),
        ("int", Self::Integer),
        ("float", Self::Number),
        ("double", Self::Number),
        ("bool", Self::Boolean),
        ("list", Self::Array),
        ("dict", Self::Object),
        ("map", Self::Object),
    ];

    fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    fn fits(self, node: &Node<'_>) -> bool {
        match (self, node) {
            (Self::String, Node::Text(_))
            | (Self::Number, Node::Number(_))
            | (Self::Boolean, Node::Bool(_))
            | (Self::Array, Node::List(_))
            | (Self::Object, Node::Map(_)) => true,
            (Self::Integer, Node::Number(number)) => number.is_i64() || number.is_u64(),
            (Self::String | Self::Integer | Self::Number | Self::Boolean | Self::Array | Self::Object, _) => false,
        }
    }

    fn read(field: &Field<'_>, findings: &mut Findings<'_>) -> Option<Self> {
        let found = field.text(findings)?;
        let known = Self::ALL.into_iter().find(|known| known.as_str() == found);
        if known.is_none() {
            let names = Self::ALL.map(Self::as_str);
            let elsewhere = Self::ELSEWHERE.iter().find(|(name, _)| found.eq_ignore_ascii_case(name));
            let meant = elsewhere.map(|(_, meant)| meant.as_str()).or_else(|| nearest(found, &names));
            let hint = match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("allowed types: {}", names.join(", ")),
            };
            findings.error(field.at(), format!("{} is not a type: {}", quoted(found), field.name())).hint(hint);
        }
        known
    }
}

/// Reads the list; without one the tool takes no arguments.
pub(crate) fn read(field: Option<&Field<'_>>, findings: &mut Findings<'_>) -> Option<Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if let Some(field) = field {
        if matches!(field.node, Node::Map(_)) {
            findings
                .error(field.at(), "`parameters` must be a list, found a mapping")
                .hint("write one `- name: …` for each parameter, with `type`, `description` and `required` below it");
            return None;
        }
        for item in field.items(findings)? {
            let Some((name, schema, is_required)) = read_parameter(&item, &properties, findings) else { continue };
            if is_required {
                required.push(Value::String(name.clone()));
            }
            properties.insert(name, schema);
        }
    }
    let schema = [
        ("type", Value::from("object")),
        ("properties", Value::Object(properties)),
        ("required", Value::Array(required)),
        ("additionalProperties", Value::Bool(false)),
    ];
    Some(Value::Object(schema.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()))
}

fn read_parameter(
    item: &Field<'_>,
    others: &Map<String, Value>,
    findings: &mut Findings<'_>,
) -> Option<(String, Value, bool)> {
    let section = item.section(&KEYS, findings)?;
    let name = section.required("name", "name: …", findings).and_then(|field| read_name(&field, others, findings));
    let schema = read_schema(&section, findings);
    let is_required = section.get("required").and_then(|field| field.boolean(findings)).unwrap_or(false);
    if let Some(default) = section.even_null("default")
        && is_required
    {
        findings
            .hint(default.at_key(), format!("{} is never used: the parameter is required", default.name()))
            .hint("remove it, or `required: true`");
    }
    Some((name?, schema?, is_required))
}

fn read_name(field: &Field<'_>, others: &Map<String, Value>, findings: &mut Findings<'_>) -> Option<String> {
    let name = field.text(findings)?;
    if name.is_empty() {
        findings.error(field.at(), format!("{} is empty", field.name()));
        return None;
    }
    if others.contains_key(name) {
        findings
            .error(field.at(), format!("two parameters are named {}", quoted(name)))
            .hint("rename or remove one of them");
        return None;
    }
    let everywhere = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.len() > 64 || !name.chars().all(everywhere) {
        findings
            .warning(field.at(), format!("some model APIs refuse a parameter named {}", quoted(name)))
            .hint("use 1 to 64 of A-Z a-z 0-9 _ - .");
    }
    Some(name.to_owned())
}

/// What parameters and the items of arrays share.
fn read_schema(section: &Section<'_>, findings: &mut Findings<'_>) -> Option<Value> {
    let kind = section.required("type", "type: string", findings).and_then(|field| Type::read(&field, findings));
    let description = section.get("description").and_then(|field| field.text(findings));
    let choices = section.get("enum").map(|field| read_enum(&field, kind, findings));
    let items = section.get("items").map(|field| read_items(&field, kind, findings));
    let default = section.even_null("default").map(|field| read_default(&field, kind, choices.as_ref(), findings));

    let mut schema = Map::new();
    schema.insert("type".to_owned(), kind?.as_str().into());
    if let Some(description) = description {
        schema.insert("description".to_owned(), description.into());
    }
    for (key, value) in [("enum", choices), ("items", items), ("default", default)] {
        if let Some(value) = value {
            schema.insert(key.to_owned(), value?);
        }
    }
    Some(Value::Object(schema))
}

fn read_enum(field: &Field<'_>, kind: Option<Type>, findings: &mut Findings<'_>) -> Option<Value> {
    let mut choices = Vec::new();
    for item in field.items(findings)? {
        let Some(choice) = fitting(&item, kind, findings) else { continue };
        if choices.contains(&choice) {
            findings
                .error(item.at(), format!("{} stands twice in the list", item.name()))
                .hint("remove one of the two");
        }
        choices.push(choice);
    }
    if matches!(field.node, Node::List(nodes) if nodes.is_empty()) {
        findings
            .error(field.at(), format!("{} is an empty list, so that no value would be allowed", field.name()))
            .hint("list the allowed values, or remove it");
    }
    Some(Value::Array(choices))
}

fn read_items(field: &Field<'_>, kind: Option<Type>, findings: &mut Findings<'_>) -> Option<Value> {
    if let Some(kind) = kind.filter(|kind| *kind != Type::Array) {
        findings
            .error(
                field.at_key(),
                format!("{} is only for `type: array`, this is `type: {}`", field.name(), kind.as_str()),
            )
            .hint("remove it, or change the type");
        return None;
    }
    if let Node::Text(kind) = field.node {
        findings
            .error(field.at(), format!("{} must be a mapping, found the text {}", field.name(), quoted(kind)))
            .hint("write `items: { type: string }`");
        return None;
    }
    read_schema(&field.section(&ITEM_KEYS, findings)?, findings)
}

fn read_default(
    field: &Field<'_>,
    kind: Option<Type>,
    choices: Option<&Option<Value>>,
    findings: &mut Findings<'_>,
) -> Option<Value> {
    let default = fitting(field, kind, findings)?;
    if let Some(Some(Value::Array(choices))) = choices
        && !choices.contains(&default)
    {
        findings.error(field.at(), format!("{} is not among the values of `enum`", field.name()));
        return None;
    }
    Some(default)
}

/// The value as JSON if it is of the parameter's type; nothing is noted where the type itself is not known.
fn fitting(field: &Field<'_>, kind: Option<Type>, findings: &mut Findings<'_>) -> Option<Value> {
    let kind = kind?;
    if !kind.fits(field.node) {
        let found = field.node.described();
        findings.error(field.at(), format!("{} must be of type `{}`, found {found}", field.name(), kind.as_str()));
        return None;
    }
    let value = field.node.to_json();
    if value.is_none() {
        findings.error(field.at(), format!("{} holds a number that JSON cannot hold", field.name()));
    }
    value
}
