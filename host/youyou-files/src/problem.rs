//! What can be said about a file: one [`Problem`] each, and [`Loaded`], a definition or the reasons why there is none.
//!
//! Nothing here decides what a problem leads to; a host lists, logs or prints them.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde::{Serialize, Serializer};
use youyou_api::{Error, ErrorCode};

/// How much a problem matters. Ordered: the greater one is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; the definition is as its author most likely meant it.
    Hint,
    /// The definition is used, but perhaps not as its author meant it.
    Warning,
    /// The definition is not used.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hint => "hint",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// One thing to say about a file or folder.
///
/// Its `Display` is `path:line:column: message (hint)`, which terminals and editors turn into a link.
///
/// ```
/// use youyou_files::{Problem, Severity};
/// let mut problem = Problem::new(Severity::Error, "tools/a/index.md", "`version` is missing").with_hint("add `version: 1`");
/// problem.line = Some(1);
/// assert_eq!(problem.to_string(), "tools/a/index.md:1: `version` is missing (add `version: 1`)");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// How much it matters.
    pub severity: Severity,
    /// The file, or the folder where no file is to blame.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// The line in the file, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column in characters, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The name of the folder that the definition stands in, which is the name it would have; so that whoever misses a
    /// tool can be told why. None where a whole root is concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The key in the front matter, with its way from the top: `parameters[1].type`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What was expected and what was found.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Problem {
    /// A problem with a whole file or folder.
    pub fn new(severity: Severity, path: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self {
            severity,
            path: path.into(),
            line: None,
            column: None,
            folder: None,
            key: None,
            message: message.into(),
            hint: None,
        }
    }

    /// The same problem with what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same problem with the folder that it is about.
    #[must_use]
    pub fn with_folder(mut self, folder: impl Into<String>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Whether it keeps the definition from being used.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        write!(f, ": {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// A path that is not Unicode is shown, not refused.
fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// A definition with what is to say about it, or every reason why there is none.
///
/// It holds a value exactly when none of its problems is an error.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded<T> {
    value: Option<T>,
    problems: Vec<Problem>,
}

impl<T> Loaded<T> {
    /// Keeps the value unless a problem is an error. Without a value, hints are dropped: they would hide the reason.
    pub(crate) fn new(value: Option<T>, mut problems: Vec<Problem>) -> Self {
        let refused = problems.iter().any(Problem::is_error);
        debug_assert!(refused || value.is_some(), "a definition is missing and nothing says why");
        if refused {
            problems.retain(|problem| problem.severity > Severity::Hint);
        }
        Self { value: value.filter(|_| !refused), problems }
    }

    /// Refused for one reason.
    pub(crate) fn refused(problem: Problem) -> Self {
        Self { value: None, problems: vec![problem] }
    }

    /// The definition, if it can be used.
    pub fn value(&self) -> Option<&T> {
        self.value.as_ref()
    }

    /// Everything there is to say, in the order of the file.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The definition, if it can be used, and everything there is to say.
    pub fn into_parts(self) -> (Option<T>, Vec<Problem>) {
        (self.value, self.problems)
    }

    /// The definition with its warnings and hints.
    ///
    /// # Errors
    /// Every problem, one error among them at least, when the definition cannot be used.
    pub fn into_result(self) -> Result<(T, Vec<Problem>), Vec<Problem>> {
        match self.value {
            Some(value) => Ok((value, self.problems)),
            None => Err(self.problems),
        }
    }
}

/// The error for a caller who wants this one definition: the first error as its message, all problems in
/// `details.problems`.
///
/// ```
/// use youyou_files::{Problem, Severity, definition_invalid};
/// let error = definition_invalid(&[Problem::new(Severity::Error, "a/index.md", "`version` is missing")]);
/// assert_eq!(error.to_string(), "DEFINITION_INVALID: a/index.md: `version` is missing");
/// assert_eq!(error.details["problems"][0]["severity"], "error");
/// ```
pub fn definition_invalid(problems: &[Problem]) -> Error {
    refused(ErrorCode::DefinitionInvalid, problems)
}

/// The same for problems of config.yaml: `CONFIG_PARSE_ERROR`.
pub fn config_invalid(problems: &[Problem]) -> Error {
    refused(ErrorCode::ConfigParseError, problems)
}

/// The first error as the message of an error with this code, all problems in `details.problems`.
pub(crate) fn refused(code: ErrorCode, problems: &[Problem]) -> Error {
    let errors = problems.iter().filter(|problem| problem.is_error()).count();
    let message = match problems.iter().find(|problem| problem.is_error()) {
        Some(first) if errors > 1 => format!("{first}; and {} more", errors - 1),
        Some(first) => first.to_string(),
        None => "the definition cannot be used".to_owned(),
    };
    let listed = problems.iter().filter_map(|problem| serde_json::to_value(problem).ok()).collect::<Vec<_>>();
    Error::new(code, message).with_detail("problems", listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_outranks_a_value_and_silences_hints() {
        let problem = |severity| Problem::new(severity, "p", "m");
        let fine = Loaded::new(Some(1), vec![problem(Severity::Hint), problem(Severity::Warning)]);
        assert_eq!((fine.value(), fine.problems().len()), (Some(&1), 2));
        let refused = Loaded::new(Some(1), vec![problem(Severity::Hint), problem(Severity::Error)]);
        assert_eq!(refused.into_result(), Err(vec![problem(Severity::Error)]));
    }

    #[test]
    fn a_problem_is_json_without_empty_fields() {
        let problem = Problem::new(Severity::Warning, "p", "m").with_folder("f");
        assert_eq!(
            serde_json::to_string(&problem).expect("json"),
            r#"{"severity":"warning","path":"p","folder":"f","message":"m"}"#
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_not_unicode_still_makes_json() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"a\xff"));
        let problem = Problem::new(Severity::Error, path, "m");
        assert!(serde_json::to_string(&problem).expect("json").contains("a\u{fffd}"));
    }

    #[test]
    fn one_error_speaks_for_all_and_lists_the_rest() {
        let problems = [
            Problem::new(Severity::Warning, "p", "careful"),
            Problem::new(Severity::Error, "p", "first"),
            Problem::new(Severity::Error, "p", "second"),
        ];
        let error = definition_invalid(&problems);
        assert_eq!(error.message, "p: first; and 1 more");
        assert_eq!(error.details["problems"].as_array().map(Vec::len), Some(3));
    }
}
