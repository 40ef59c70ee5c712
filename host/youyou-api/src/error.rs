//! The one error type that crosses every border of the runtime (Y10).

use std::{error::Error as StdError, fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Which part of the runtime an error comes from (Y10-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ErrorSource {
    /// The agent itself: build, session, turn.
    Agent,
    /// A model provider.
    Provider,
    /// A tool, or the definition of one.
    Tool,
    /// A plugin, or the definition of one.
    Plugin,
    /// A session or memory storage.
    Storage,
}

macro_rules! error_codes {
    ($($(#[$doc:meta])* $variant:ident = $wire:literal, $source:ident, retryable: $retryable:literal;)+) => {
        /// What went wrong, by one stable name each (Y10-2, Y10-3). On the wire `SCREAMING_SNAKE_CASE`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[$doc])* #[serde(rename = $wire)] $variant,)+
        }

        impl ErrorCode {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant,)+];

            /// The code as it stands in JSON and in messages.
            pub fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$variant => $wire,)+ }
            }

            /// The part that an error with this code comes from unless its maker says otherwise.
            pub fn default_source(self) -> ErrorSource {
                match self { $(ErrorCode::$variant => ErrorSource::$source,)+ }
            }

            /// Whether trying the same thing again can help, unless the error's maker says otherwise.
            pub fn default_retryable(self) -> bool {
                match self { $(ErrorCode::$variant => $retryable,)+ }
            }
        }
    };
}

error_codes! {
    /// Build: no model provider is registered.
    NoModelProvider = "NO_MODEL_PROVIDER", Agent, retryable: false;
    /// Build: one name twice at one level, or one provider or model id twice (D-47).
    NameConflict = "NAME_CONFLICT", Agent, retryable: false;
    /// Build: a skill needs a tool that is not registered.
    SkillDependencyNotMet = "SKILL_DEPENDENCY_NOT_MET", Agent, retryable: false;
    /// Build: a plugin's `initialize` failed.
    PluginInitFailed = "PLUGIN_INIT_FAILED", Plugin, retryable: false;
    /// Build: config.yaml does not parse or holds a value out of range.
    ConfigParseError = "CONFIG_PARSE_ERROR", Agent, retryable: false;
    /// Build: a second storage of the same kind.
    StorageDuplicate = "STORAGE_DUPLICATE", Storage, retryable: false;
    /// A session is already running.
    SessionBusy = "SESSION_BUSY", Agent, retryable: true;
    /// No provider serves the model.
    ModelNotSupported = "MODEL_NOT_SUPPORTED", Agent, retryable: false;
    /// A model provider failed.
    ProviderError = "PROVIDER_ERROR", Provider, retryable: true;
    /// A tool could not be run, or broke while it ran; `details.kind` says how.
    ToolExecutionError = "TOOL_EXECUTION_ERROR", Tool, retryable: false;
    /// A tool ran past its deadline and was stopped.
    ToolTimeout = "TOOL_TIMEOUT", Tool, retryable: true;
    /// No tool of that name.
    ToolNotFound = "TOOL_NOT_FOUND", Tool, retryable: false;
    /// Addition: the arguments of a call are not JSON, not an object, or do not fit the tool's parameters; the tool was
    /// not started (D-52).
    ToolArgumentsInvalid = "TOOL_ARGUMENTS_INVALID", Tool, retryable: false;
    /// Addition: a folder's `index.md` cannot be used; `details.problems` lists why (Y5.2).
    DefinitionInvalid = "DEFINITION_INVALID", Tool, retryable: false;
    /// Addition: what the caller gave cannot be used: a path that is not there, a name that is not legal.
    InvalidInput = "INVALID_INPUT", Agent, retryable: false;
    /// No skill of that name.
    SkillNotFound = "SKILL_NOT_FOUND", Agent, retryable: false;
    /// No session of that id.
    SessionNotFound = "SESSION_NOT_FOUND", Agent, retryable: false;
    /// Addition: several sessions go by what was given; `details.candidates` lists them (D-69).
    SessionAmbiguous = "SESSION_AMBIGUOUS", Agent, retryable: false;
    /// A session or memory storage failed.
    StorageError = "STORAGE_ERROR", Storage, retryable: true;
    /// A turn asked for more tool calls than allowed.
    MaxToolCallsExceeded = "MAX_TOOL_CALLS_EXCEEDED", Agent, retryable: false;
    /// The context could not be made to fit.
    CompactError = "COMPACT_ERROR", Agent, retryable: false;
    /// The request was cancelled.
    RequestCancelled = "REQUEST_CANCELLED", Agent, retryable: false;
    /// An attachment is larger than allowed.
    FileTooLarge = "FILE_TOO_LARGE", Agent, retryable: false;
    /// A path outside of what may be read.
    PathNotAllowed = "PATH_NOT_ALLOWED", Agent, retryable: false;
    /// Addition: a plugin's hook aborted the operation (D-11).
    HookAborted = "HOOK_ABORTED", Plugin, retryable: false;
    /// Addition: a plugin's hook gave no usable answer; `details.kind` says how (Y4.6-1). The operation goes on, unless
    /// the plugin asked for `on_failure: abort` (D-14).
    HookFailed = "HOOK_FAILED", Plugin, retryable: false;
    /// Addition: no plugin of that id, or none that taps the event.
    PluginNotFound = "PLUGIN_NOT_FOUND", Plugin, retryable: false;
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error with its code, a message for a person, and where it comes from (Y10-1).
///
/// It serialises to the same JSON everywhere: the CLI's `--json`, events, the desktop app.
///
/// ```
/// use youyou_api::{Error, ErrorCode};
/// let error = Error::new(ErrorCode::ToolTimeout, "tool \"slow\" was stopped after 500 ms").with_kind("LIMIT_TIME");
/// assert_eq!(
///     serde_json::to_string(&error).unwrap(),
///     r#"{"code":"TOOL_TIMEOUT","message":"tool \"slow\" was stopped after 500 ms","retryable":true,"source":"tool","details":{"kind":"LIMIT_TIME"}}"#
/// );
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Error {
    /// What went wrong.
    pub code: ErrorCode,
    /// One message for a person: what was expected, what was found, where, and what to do.
    pub message: String,
    /// Whether trying the same thing again can help.
    pub retryable: bool,
    /// The part of the runtime it comes from.
    #[serde(rename = "source")]
    pub origin: ErrorSource,
    /// Finer facts; `kind` is a stable name for a component's or a script's failure.
    // Boxed, so that a `Result` with this error stays small.
    #[serde(default, skip_serializing_if = "no_details")]
    pub details: Box<Map<String, Value>>,
    #[serde(skip)]
    cause: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error with the code's own source and retryability.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            retryable: code.default_retryable(),
            origin: code.default_source(),
            details: Box::default(),
            cause: None,
        }
    }

    /// Sets `details.kind`, the stable name of a finer failure (`PANIC`, `LIMIT_MEMORY`, `NOT_EXECUTABLE`, …).
    #[must_use]
    pub fn with_kind(self, kind: &str) -> Self {
        self.with_detail("kind", kind)
    }

    /// Adds one entry to `details`.
    #[must_use]
    pub fn with_detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Sets the part of the runtime that it comes from.
    #[must_use]
    pub fn with_origin(mut self, origin: ErrorSource) -> Self {
        self.origin = origin;
        self
    }

    /// Keeps the error below this one, for logs; it is not serialised.
    #[must_use]
    pub fn with_cause(mut self, cause: impl StdError + Send + Sync + 'static) -> Self {
        self.cause = Some(Arc::new(cause));
        self
    }

    /// `details.kind`, if it was set.
    pub fn kind(&self) -> Option<&str> {
        self.details.get("kind").and_then(Value::as_str)
    }
}

#[expect(clippy::borrowed_box, reason = "serde hands out the field as it is")]
fn no_details(details: &Box<Map<String, Value>>) -> bool {
    details.is_empty()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn StdError + 'static))
    }
}

/// Two errors are equal when a reader of their JSON could not tell them apart.
impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        (self.code, &self.message, self.retryable, self.origin, &self.details)
            == (other.code, &other.message, other.retryable, other.origin, &other.details)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Y10-1, Y10-2, Y10-3.
    #[test]
    fn every_code_of_the_requirements_is_there_under_its_wire_name() {
        let required = "NO_MODEL_PROVIDER NAME_CONFLICT SKILL_DEPENDENCY_NOT_MET PLUGIN_INIT_FAILED CONFIG_PARSE_ERROR \
                        STORAGE_DUPLICATE SESSION_BUSY MODEL_NOT_SUPPORTED PROVIDER_ERROR TOOL_EXECUTION_ERROR \
                        TOOL_TIMEOUT TOOL_NOT_FOUND SKILL_NOT_FOUND SESSION_NOT_FOUND STORAGE_ERROR \
                        MAX_TOOL_CALLS_EXCEEDED COMPACT_ERROR REQUEST_CANCELLED FILE_TOO_LARGE PATH_NOT_ALLOWED";
        for code in required.split_whitespace() {
            let parsed: ErrorCode = serde_json::from_value(code.into()).expect(code);
            assert_eq!(parsed.as_str(), code);
            assert!(ErrorCode::ALL.contains(&parsed));
        }
        assert!(ErrorCode::ProviderError.default_retryable());
    }

    #[test]
    fn an_error_survives_its_json() {
        let error = Error::new(ErrorCode::ToolExecutionError, "it broke").with_kind("PANIC").with_detail("line", 7);
        let json = serde_json::to_string(&error).expect("json");
        assert_eq!(serde_json::from_str::<Error>(&json).expect("parses"), error);
    }
}
