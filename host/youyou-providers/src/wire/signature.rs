//! What an API wants back beside the reasoning that it sent, marked with where it came from.
//!
//! A signature means something to the model that made it and to no other: after the model of a conversation was changed,
//! the old ones stay in the log and are not sent.

use serde_json::{Map, Value};

use super::Api;
use crate::model::Model;

/// A signature with its origin.
pub(crate) fn of(api: Api, model: &Model, key: &str, value: Value) -> Value {
    let pairs = [("api", api.as_str().into()), ("model", model.name.as_str().into()), (key, value)];
    Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// What a signature says, if it came from this model.
pub(crate) fn own<'s>(signature: Option<&'s Value>, api: Api, model: &Model) -> Option<&'s Map<String, Value>> {
    let signature = signature?.as_object()?;
    let is = |key: &str, value: &str| signature.get(key).and_then(Value::as_str) == Some(value);
    (is("api", api.as_str()) && is("model", &model.name)).then_some(signature)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_only_for_the_model_that_made_it() {
        let model = Model::unknown("m", 1000);
        let signature = of(Api::Anthropic, &model, "signature", "s".into());
        let found = own(Some(&signature), Api::Anthropic, &model).expect("its own");
        assert_eq!(found.get("signature").and_then(Value::as_str), Some("s"));
        assert_eq!(own(Some(&signature), Api::Gemini, &model), None);
        assert_eq!(own(Some(&signature), Api::Anthropic, &Model::unknown("other", 1000)), None);
        assert_eq!(own(Some(&"s".into()), Api::Anthropic, &model), None);
        assert_eq!(own(None, Api::Anthropic, &model), None);
    }
}
