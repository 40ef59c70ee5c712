//! Newtypes for the names and ids that travel through the runtime.
//!
//! [`ToolName`] and [`PluginId`] are checked when they are made, so code that holds one need not check again. The other
//! ids are opaque: they come from a provider or a session store and only ever get compared; a clone of one is cheap, since
//! every event carries some.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

macro_rules! opaque_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps an id as it came; any text is legal.
            pub fn new(id: impl Into<Arc<str>>) -> Self {
                Self(id.into())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

opaque_id! {
    /// Joins a tool call to its one result.
    CallId
}
opaque_id! {
    /// One conversation, stored and resumable.
    SessionId
}
opaque_id! {
    /// One model, unique over all providers (Y3.1-3).
    ModelId
}
opaque_id! {
    /// One model provider.
    ProviderId
}
opaque_id! {
    /// One memory, unique in its namespace.
    MemoryId
}
opaque_id! {
    /// One turn: from a user's input until the agent stops by itself.
    TurnId
}

/// Why a text is not a legal name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{kind} name {found:?} is not allowed: expected 1 to 64 of {allowed}{}",
    hint.as_deref().map(|h| format!("; try {h:?}")).unwrap_or_default()
)]
pub struct NameError {
    kind: &'static str,
    allowed: &'static str,
    found: String,
    hint: Option<String>,
}

macro_rules! checked_name {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $allowed:literal, $extra:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Checks a name (D-50).
            ///
            /// # Errors
            /// [`NameError`] when it is empty, longer than 64 characters, or has a character outside the allowed set.
            pub fn new(name: impl Into<String>) -> Result<Self, NameError> {
                let name = name.into();
                let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || $extra.contains(c);
                if (1..=64).contains(&name.len()) && name.chars().all(legal) {
                    return Ok(Self(name));
                }
                let hint: String = name.chars().map(|c| if legal(c) { c } else { '-' }).take(64).collect();
                let hint = (!hint.trim_matches('-').is_empty()).then_some(hint);
                Err(NameError { kind: $kind, allowed: $allowed, found: name, hint })
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;
            fn try_from(name: String) -> Result<Self, NameError> {
                Self::new(name)
            }
        }

        impl std::str::FromStr for $name {
            type Err = NameError;
            fn from_str(name: &str) -> Result<Self, NameError> {
                Self::new(name)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

checked_name! {
    /// A tool's unique name: `^[A-Za-z0-9_-]{1,64}$`, the set that model APIs accept (D-50).
    ToolName, "tool", "A-Z a-z 0-9 _ -", ""
}
checked_name! {
    /// A plugin's unique id: as a tool's name, and `.` besides (D-50).
    PluginId, "plugin", "A-Z a-z 0-9 _ - .", "."
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D-50.
    #[test]
    fn a_tool_name_is_checked_when_it_is_made() {
        for good in ["a", "word-count", "A_1", &"x".repeat(64)] {
            assert_eq!(ToolName::new(good).expect(good).as_str(), good);
        }
        for bad in ["", "a.b", "a b", "ä", "../x", &"x".repeat(65)] {
            ToolName::new(bad).expect_err(bad);
        }
        assert_eq!(
            ToolName::new("word count").expect_err("a blank").to_string(),
            "tool name \"word count\" is not allowed: expected 1 to 64 of A-Z a-z 0-9 _ -; try \"word-count\""
        );
    }

    /// D-50.
    #[test]
    fn a_plugin_id_may_also_hold_a_dot() {
        assert!(PluginId::new("acme.guard").is_ok());
        assert!(PluginId::new("acme/guard").is_err());
    }

    #[test]
    fn a_bad_name_does_not_deserialise() {
        assert!(serde_json::from_str::<ToolName>("\"a b\"").is_err());
    }
}
