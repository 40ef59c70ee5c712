//! Gathers what is wrong with one file, each with its line, column and key.

use std::path::Path;

use crate::{
    fields::Place,
    front_matter::FrontMatter,
    problem::{Problem, Severity},
    yaml::{Part, locate},
};

/// Problems told of one file; each costs a reading of its front matter to find the line.
const MOST_PROBLEMS: usize = 32;

/// Where in the file a problem is.
#[derive(Clone, Copy)]
pub(crate) enum At<'p> {
    /// Nowhere in particular; shown at line 1.
    Start,
    /// At an offset in the YAML text, or nowhere in particular.
    Offset(Option<usize>),
    /// At a key.
    Key(Place<'p>),
    /// At a value.
    Value(Place<'p>),
}

/// The problems of one file; `folder` is the definition's, if the file is one.
pub(crate) struct Findings<'s> {
    index: &'s Path,
    folder: Option<&'s str>,
    front_matter: FrontMatter<'s>,
    problems: Vec<Problem>,
    untold: usize,
    /// The worst of those that are not told.
    worst_untold: Severity,
}

/// A problem that was just noted, or was too many; takes a hint.
pub(crate) struct Noted<'f>(Option<&'f mut Problem>);

impl Noted<'_> {
    /// Says what to do about it.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        if let Some(problem) = self.0 {
            problem.hint = Some(hint.into());
            return Self(Some(problem));
        }
        self
    }

    /// Names the key where the place does not tell it.
    pub(crate) fn key(self, key: impl Into<String>) {
        if let Some(problem) = self.0 {
            problem.key = Some(key.into());
        }
    }
}

impl<'s> Findings<'s> {
    pub(crate) fn new(index: &'s Path, folder: Option<&'s str>, front_matter: FrontMatter<'s>) -> Self {
        Self { index, folder, front_matter, problems: Vec::new(), untold: 0, worst_untold: Severity::Hint }
    }

    /// Notes something that keeps the definition from being used.
    pub(crate) fn error(&mut self, at: At<'_>, message: impl Into<String>) -> Noted<'_> {
        self.note(Severity::Error, at, message.into())
    }

    /// Notes something that is used, but perhaps not as it was meant.
    pub(crate) fn warning(&mut self, at: At<'_>, message: impl Into<String>) -> Noted<'_> {
        self.note(Severity::Warning, at, message.into())
    }

    /// Notes something worth knowing.
    pub(crate) fn hint(&mut self, at: At<'_>, message: impl Into<String>) -> Noted<'_> {
        self.note(Severity::Hint, at, message.into())
    }

    /// Everything noted, in the order of the file.
    pub(crate) fn into_problems(self) -> Vec<Problem> {
        let mut problems = self.problems;
        problems.sort_by_key(|problem| (problem.line, problem.column));
        if self.untold > 0 {
            let message = format!("{} more problems in this file are not shown", self.untold);
            let mut untold = Problem::new(self.worst_untold, self.index, message);
            untold.folder = self.folder.map(str::to_owned);
            problems.push(untold);
        }
        problems
    }

    /// The line of an offset in the YAML text.
    pub(crate) fn line(&self, offset: usize) -> u32 {
        self.front_matter.position(self.front_matter.yaml_start + offset).0
    }

    /// The line and the column of a place.
    pub(crate) fn position(&self, at: At<'_>) -> Option<(u32, u32)> {
        self.find(at).0
    }

    /// Notes something of this severity.
    pub(crate) fn note(&mut self, severity: Severity, at: At<'_>, message: String) -> Noted<'_> {
        if self.problems.len() >= MOST_PROBLEMS {
            self.untold += 1;
            self.worst_untold = self.worst_untold.max(severity);
            return Noted(None);
        }
        let (position, key) = self.find(at);
        let (line, column) = position.unzip();
        // What several readers share is read by each of them.
        let said = |known: &Problem| (known.line, known.column, &known.message) == (line, column, &message);
        if self.problems.iter().any(said) {
            return Noted(None);
        }
        self.problems.push(Problem {
            severity,
            path: self.index.to_owned(),
            line,
            column,
            folder: self.folder.map(str::to_owned),
            key,
            message,
            hint: None,
        });
        Noted(self.problems.last_mut())
    }

    fn find(&self, at: At<'_>) -> (Option<(u32, u32)>, Option<String>) {
        let FrontMatter { yaml, yaml_start, .. } = self.front_matter;
        let position = |offset: Option<usize>| offset.map(|offset| self.front_matter.position(yaml_start + offset));
        match at {
            At::Start => (Some((1, 1)), None),
            At::Offset(offset) => (position(offset), None),
            At::Key(place) => (position(locate(yaml, &place.steps(), Part::Key)), place.name()),
            At::Value(place) => (position(locate(yaml, &place.steps(), Part::Value)), place.name()),
        }
    }
}
