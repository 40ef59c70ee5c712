//! From the argument text that the model wrote to arguments that fit the tool's parameters (D-52, K-23).

use std::sync::OnceLock;

use jsonschema::{ValidationError, Validator, error::TypeKind, error::ValidationErrorKind};
use serde_json::{Map, Value};
use youyou_api::{Error, ErrorCode, ToolSpec};

use super::{nearest::nearest, plain::Plain};

/// Reads the text of a call's arguments: a JSON object, whole. Nothing is guessed or repaired; a tool never runs with
/// arguments that the model did not write.
///
/// # Errors
/// `TOOL_ARGUMENTS_INVALID`, saying what was found instead (K-23).
pub fn parse(tool_name: &str, text: &str) -> Result<Map<String, Value>, Error> {
    let wrong = |found: String| {
        invalid(format!("the arguments for tool {tool_name:?} must be one JSON object, but {found}; nothing was run"))
    };
    if text.trim().is_empty() {
        return Err(wrong("they are empty (write {} for none)".to_owned()));
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(other) => Err(wrong(format!("they are {}", describe(&other)))),
        Err(error) if error.is_eof() => {
            Err(wrong(format!("they are cut off at line {} column {}", error.line(), error.column())))
        }
        Err(error) => Err(wrong(format!("they are not valid JSON: {error}"))),
    }
}

/// Checks arguments against one tool's parameters.
pub struct ArgumentChecker {
    tool_name: String,
    schema: Value,
    /// Accepts what fits where the parameters are of the plain kind.
    plain: Option<Plain>,
    /// Compiled at once, or for plain parameters when something does not fit.
    validator: OnceLock<Result<Validator, Error>>,
}

impl ArgumentChecker {
    /// Compiles the tool's schema, unless its parameters are so plain that this can wait until a call is wrong.
    /// References to other documents are not followed.
    ///
    /// # Errors
    /// `TOOL_EXECUTION_ERROR` of kind `PARAMETERS_INVALID` when the parameters are not a JSON Schema.
    pub fn new(spec: &ToolSpec) -> Result<Self, Error> {
        let checker = Self {
            tool_name: spec.name.to_string(),
            plain: Plain::of(&spec.parameters),
            schema: spec.parameters.clone(),
            validator: OnceLock::new(),
        };
        if checker.plain.is_none() {
            checker.validator()?;
        }
        Ok(checker)
    }

    fn validator(&self) -> Result<&Validator, Error> {
        let compile = || {
            jsonschema::options().offline().build(&self.schema).map_err(|error| {
                let name = &self.tool_name;
                let message = format!("the parameters that tool {name:?} declares are not a JSON Schema: {error}");
                Error::new(ErrorCode::ToolExecutionError, message).with_kind("PARAMETERS_INVALID")
            })
        };
        self.validator.get_or_init(compile).as_ref().map_err(Clone::clone)
    }

    /// Accepts the arguments or lists everything that is wrong with them. No value is converted (D-52).
    ///
    /// # Errors
    /// `TOOL_ARGUMENTS_INVALID`.
    pub fn check(&self, arguments: Map<String, Value>) -> Result<Map<String, Value>, Error> {
        if self.plain.as_ref().is_some_and(|plain| plain.accepts(&arguments)) {
            return Ok(arguments);
        }
        let validator = self.validator()?;
        let arguments = Value::Object(arguments);
        if !validator.is_valid(&arguments) {
            let faults: Vec<_> = validator.iter_errors(&arguments).map(|error| self.explain(&error)).collect();
            let message = format!("tool {:?} was not run: {}", self.tool_name, faults.join("; "));
            return Err(invalid(message).with_detail("faults", faults));
        }
        match arguments {
            Value::Object(arguments) => Ok(arguments),
            _ => Ok(Map::new()),
        }
    }

    fn explain(&self, error: &ValidationError<'_>) -> String {
        let place = dotted(error.instance_path().as_str());
        let found = || describe(error.instance());
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let inside = if place.is_empty() { String::new() } else { format!(" in {place:?}") };
                format!("the parameter {name:?} is required{inside} and missing")
            }
            ValidationErrorKind::Type { kind } => {
                format!("{} must be {}, but is {}", subject(&place), expected(kind), found())
            }
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                let names = unexpected.iter().map(|name| self.unknown(&place, name)).collect::<Vec<_>>();
                names.join("; ")
            }
            ValidationErrorKind::Enum { options } => {
                format!("{} must be one of {options}, but is {}", subject(&place), found())
            }
            // The remaining keywords read well as the library words them.
            _ => format!("{}: {error}", subject(&place)),
        }
    }

    fn unknown(&self, place: &str, name: &str) -> String {
        let hint = if place.is_empty() {
            let properties = self.schema.get("properties").and_then(Value::as_object);
            let known: Vec<_> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            match nearest(name, known.iter().copied()) {
                Some(near) => format!("; did you mean {near:?}?"),
                None if known.is_empty() => "; the tool takes none".to_owned(),
                None => format!("; there are: {}", known.join(", ")),
            }
        } else {
            format!(" in {place:?}")
        };
        format!("there is no parameter {name:?}{hint}")
    }
}

fn invalid(message: String) -> Error {
    Error::new(ErrorCode::ToolArgumentsInvalid, message)
}

fn subject(place: &str) -> String {
    if place.is_empty() { "the arguments".to_owned() } else { format!("the parameter {place:?}") }
}

/// `/a/0/b` as a person writes it: `a[0].b`.
fn dotted(pointer: &str) -> String {
    let mut place = String::new();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        if part.parse::<usize>().is_ok() && !place.is_empty() {
            place.push_str(&format!("[{part}]"));
        } else {
            if !place.is_empty() {
                place.push('.');
            }
            place.push_str(&part);
        }
    }
    place
}

fn expected(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => with_article(&one.to_string()),
        TypeKind::Multiple(set) => {
            set.iter().map(|one| with_article(&one.to_string())).collect::<Vec<_>>().join(" or ")
        }
    }
}

fn with_article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "integer" | "array" | "object" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

/// A value as a message shows it: its type, and itself where it is short.
fn describe(value: &Value) -> String {
    const SHOWN: usize = 40;
    let (kind, text) = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(_) => ("boolean", value.to_string()),
        Value::Number(_) => ("number", value.to_string()),
        Value::String(_) => ("string", value.to_string()),
        Value::Array(items) if items.is_empty() => ("array", "[]".to_owned()),
        Value::Array(_) => return "an array".to_owned(),
        Value::Object(_) => return "an object".to_owned(),
    };
    if text.chars().count() > SHOWN {
        let start: String = text.chars().take(SHOWN).collect();
        return format!("the {kind} {start}…");
    }
    format!("the {kind} {text}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fault(text: &str) -> String {
        let error = parse("grep", text).expect_err(text);
        assert_eq!(error.code, ErrorCode::ToolArgumentsInvalid);
        error.message
    }

    /// K-23: each says which it is, and none becomes `{}`.
    #[test]
    fn a_document_that_is_no_object_is_named_for_what_it_is() {
        let message = |found: &str| {
            format!("the arguments for tool \"grep\" must be one JSON object, but {found}; nothing was run")
        };
        assert_eq!(fault("null"), message("they are null"));
        assert_eq!(fault("\"x\""), message("they are the string \"x\""));
        assert_eq!(fault("[]"), message("they are the array []"));
        assert_eq!(fault("7"), message("they are the number 7"));
        assert_eq!(fault("{\"a\":"), message("they are cut off at line 1 column 5"));
        assert_eq!(fault("{\"a\":\"b"), message("they are cut off at line 1 column 7"));
        assert_eq!(fault(" \n"), message("they are empty (write {} for none)"));
        assert!(fault("{} {}").contains("not valid JSON: trailing characters"));
        assert!(fault("{'a':1}").contains("not valid JSON"));
        assert!(fault(&"[".repeat(10_000)).contains("recursion limit"));
        assert_eq!(parse("grep", " {} ").expect("an object"), Map::new());
    }

    fn checker(parameters: Value) -> ArgumentChecker {
        ArgumentChecker::new(&ToolSpec {
            name: "grep".parse().expect("legal"),
            description: String::new(),
            parameters,
            mutating: false,
        })
        .unwrap_or_else(|error| panic!("{error}"))
    }

    fn faults(checker: &ArgumentChecker, arguments: Value) -> String {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        checker.check(arguments).expect_err("invalid").message
    }

    fn grep() -> ArgumentChecker {
        checker(json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string"},
                "limit": {"type": "integer", "minimum": 1},
                "mode": {"enum": ["fast", "slow"]},
                "paths": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["pattern"],
            "additionalProperties": false,
        }))
    }

    /// D-52: missing, wrong type, unknown; everything at once; no coercion.
    #[test]
    fn everything_wrong_with_the_arguments_is_said_at_once() {
        assert_eq!(
            faults(&grep(), json!({"limit": "3", "patern": "x"})),
            "tool \"grep\" was not run: the parameter \"limit\" must be an integer, but is the string \"3\"; \
             there is no parameter \"patern\"; did you mean \"pattern\"?; the parameter \"pattern\" is required and missing"
        );
    }

    #[test]
    fn a_place_inside_the_arguments_is_named_as_a_person_writes_it() {
        assert_eq!(
            faults(&grep(), json!({"pattern": "x", "paths": ["a", 2]})),
            "tool \"grep\" was not run: the parameter \"paths[1]\" must be a string, but is the number 2"
        );
        assert_eq!(
            faults(&grep(), json!({"pattern": "x", "mode": "quick"})),
            "tool \"grep\" was not run: the parameter \"mode\" must be one of [\"fast\",\"slow\"], but is the string \"quick\""
        );
        assert_eq!(
            faults(&grep(), json!({"pattern": "x", "limit": 0})),
            "tool \"grep\" was not run: the parameter \"limit\": 0 is less than the minimum of 1"
        );
        assert_eq!(
            faults(
                &checker(json!({"type": "object", "properties": {}, "additionalProperties": false})),
                json!({"a": 1})
            ),
            "tool \"grep\" was not run: there is no parameter \"a\"; the tool takes none"
        );
    }

    #[test]
    fn arguments_that_fit_pass_unchanged_and_in_order() {
        let arguments = json!({"paths": [], "pattern": "x"});
        let Value::Object(map) = arguments.clone() else { panic!("an object") };
        assert_eq!(serde_json::to_string(&grep().check(map).expect("fits")).expect("json"), arguments.to_string());
    }

    #[test]
    fn parameters_that_are_no_schema_are_the_tools_fault() {
        let spec = ToolSpec {
            name: "grep".parse().expect("legal"),
            description: String::new(),
            parameters: json!({"type": "strnig"}),
            mutating: false,
        };
        let error = ArgumentChecker::new(&spec).err().expect("no schema");
        assert_eq!((error.code, error.kind()), (ErrorCode::ToolExecutionError, Some("PARAMETERS_INVALID")));
    }
}
