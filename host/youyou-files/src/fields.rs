//! Reads typed values out of a mapping's keys and notes what does not fit, so that one reading finds everything.
//!
//! A getter that gives `None` has noted why, unless the key is absent. `key:` with nothing behind it counts as absent.

use std::{borrow::Cow, fmt::Write, ops::RangeInclusive};

use crate::{
    findings::{At, Findings},
    problem::Severity,
    yaml::{Node, quoted},
};

/// The way from the top of the front matter to a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'p> {
    up: Option<&'p Place<'p>>,
    step: Step<'p>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'p> {
    Top,
    Entry(usize, &'p str),
    Item(usize),
}

impl Place<'_> {
    /// The way as indices.
    pub(crate) fn steps(&self) -> Vec<usize> {
        let mut steps = self.up.map(Place::steps).unwrap_or_default();
        match self.step {
            Step::Top => {}
            Step::Entry(index, _) | Step::Item(index) => steps.push(index),
        }
        steps
    }

    /// The way as text, `parameters[1].type`; none at the top.
    pub(crate) fn name(&self) -> Option<String> {
        let mut name = self.up.and_then(Place::name).unwrap_or_default();
        match self.step {
            Step::Top => {}
            Step::Entry(_, key) if name.is_empty() => name.push_str(key),
            Step::Entry(_, key) => _ = write!(name, ".{key}"),
            Step::Item(index) => _ = write!(name, "[{index}]"),
        }
        (!name.is_empty()).then_some(name)
    }
}

/// A value with the way to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<'p> {
    pub(crate) node: &'p Node<'p>,
    place: Place<'p>,
}

/// What a mapping may hold.
pub(crate) struct Keys {
    /// Whose keys they are, for messages: `a tool`, `execution`, …
    pub(crate) of: &'static str,
    pub(crate) allowed: &'static [&'static str],
    /// Keys that people write here and what to write instead.
    pub(crate) astray: &'static [(&'static str, &'static str)],
}

impl<'p> Field<'p> {
    /// The whole front matter.
    pub(crate) fn top(node: &'p Node<'p>) -> Self {
        Self { node, place: Place { up: None, step: Step::Top } }
    }

    /// Where the value stands.
    pub(crate) fn at(&self) -> At<'_> {
        At::Value(self.place)
    }

    /// Where its key stands.
    pub(crate) fn at_key(&self) -> At<'_> {
        At::Key(self.place)
    }

    /// The way to it in back-ticks, for messages.
    pub(crate) fn name(&self) -> String {
        format!("`{}`", self.place.name().as_deref().unwrap_or("front matter"))
    }

    /// A text.
    pub(crate) fn text(&self, findings: &mut Findings<'_>) -> Option<&'p str> {
        if let Node::Text(text) = self.node {
            return Some(text);
        }
        let found = self.node.described();
        findings.error(self.at(), format!("{} must be a text, found {found}", self.name())).hint(match self.node {
            Node::Null => "write a text there, or remove it; an empty text is \"\"",
            Node::Bool(_) | Node::Number(_) | Node::OddNumber(_) | Node::Text(_) => "quote it",
            Node::List(_) | Node::Map(_) => "write one text; quote it if it begins with `[`, `{` or `- `",
        });
        None
    }

    /// A text that an operating system can take as an argument: without a NUL.
    pub(crate) fn argument(&self, findings: &mut Findings<'_>) -> Option<&'p str> {
        let text = self.text(findings)?;
        if text.contains('\0') {
            findings.error(self.at(), format!("{} holds a NUL character", self.name()));
            return None;
        }
        Some(text)
    }

    /// A text that can be a path, a variable or an address: not blank, and without a NUL.
    pub(crate) fn os_text(&self, findings: &mut Findings<'_>) -> Option<&'p str> {
        let text = self.argument(findings)?;
        if text.trim().is_empty() {
            findings.error(self.at(), format!("{} is empty", self.name()));
            return None;
        }
        Some(text)
    }

    /// `true` or `false`.
    pub(crate) fn boolean(&self, findings: &mut Findings<'_>) -> Option<bool> {
        if let Node::Bool(value) = self.node {
            return Some(*value);
        }
        let found = self.node.described();
        findings
            .error(self.at(), format!("{} must be `true` or `false`, found {found}", self.name()))
            .hint("write it without quotes");
        None
    }

    /// A whole number; `unit` is for messages.
    pub(crate) fn whole(&self, range: RangeInclusive<u64>, unit: &str, findings: &mut Findings<'_>) -> Option<u64> {
        let number = match self.node {
            Node::Number(number) => number.as_u64().filter(|number| range.contains(number)),
            _ => None,
        };
        if number.is_none() {
            let (least, most) = range.into_inner();
            let found = self.node.described();
            let noted = findings.error(
                self.at(),
                format!("{} must be a whole number of {unit} from {least} to {most}, found {found}", self.name()),
            );
            if matches!(self.node, Node::Text(_)) {
                noted.hint("write a plain number, without quotes or a unit");
            }
        }
        number
    }

    /// A text for people on one line: what runs over several is joined.
    pub(crate) fn one_line(&self, findings: &mut Findings<'_>) -> Option<String> {
        let lines = self.text(findings)?.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>();
        if lines.is_empty() {
            findings.error(self.at(), format!("{} is empty", self.name())).hint("say it in one line");
            return None;
        }
        Some(lines.join(" "))
    }

    /// The items of a list.
    pub(crate) fn items(&self, findings: &mut Findings<'_>) -> Option<Items<'_>> {
        if let Node::List(nodes) = self.node {
            return Some(Items { nodes, list: &self.place, next: 0 });
        }
        let found = self.node.described();
        findings
            .error(self.at(), format!("{} must be a list, found {found}", self.name()))
            .hint("write `[one, two]`, or one `- item` on each line");
        None
    }

    /// A list of texts for the operating system.
    pub(crate) fn os_texts(&self, findings: &mut Findings<'_>) -> Option<Vec<String>> {
        let items = self.items(findings)?;
        Some(items.filter_map(|item| item.os_text(findings)).map(str::to_owned).collect())
    }

    /// The keys of a mapping, after noting those that are not among `keys` as errors.
    pub(crate) fn section(&self, keys: &Keys, findings: &mut Findings<'_>) -> Option<Section<'_>> {
        self.section_where(keys, Severity::Error, findings)
    }

    /// The keys of a mapping, after noting those that are not among `keys`; they are `unknown`.
    pub(crate) fn section_where(
        &self,
        keys: &Keys,
        unknown: Severity,
        findings: &mut Findings<'_>,
    ) -> Option<Section<'_>> {
        let Some(section) = self.unchecked_section() else {
            let found = self.node.described();
            findings
                .error(self.at(), format!("{} must be a mapping, found {found}", self.name()))
                .hint(format!("allowed keys: {}", keys.allowed.join(", ")));
            return None;
        };
        for (index, (key, _)) in section.entries.iter().enumerate() {
            if !keys.allowed.contains(&&**key) {
                let place = Place { up: Some(&self.place), step: Step::Entry(index, key) };
                findings
                    .note(unknown, At::Key(place), format!("{} is not a key of {}", quoted(key), keys.of))
                    .hint(keys.advice(key));
            }
        }
        Some(section)
    }

    /// The keys of `key:` with nothing behind it, which are none.
    pub(crate) fn empty_section(&self) -> Option<Section<'_>> {
        matches!(self.node, Node::Null).then_some(Section { entries: &[], place: &self.place })
    }

    /// The keys of a mapping, whichever they are.
    pub(crate) fn unchecked_section(&self) -> Option<Section<'_>> {
        match self.node {
            Node::Map(entries) => Some(Section { entries, place: &self.place }),
            _ => None,
        }
    }
}

impl Keys {
    /// What to write instead of a key that is not allowed.
    fn advice(&self, key: &str) -> String {
        if let Some((_, advice)) = self.astray.iter().find(|(astray, _)| *astray == key) {
            return (*advice).to_owned();
        }
        match nearest(key, self.allowed) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("allowed keys: {}", self.allowed.join(", ")),
        }
    }
}

/// The candidate that was most likely meant.
pub(crate) fn nearest<'c>(found: &str, candidates: &[&'c str]) -> Option<&'c str> {
    let found = found.to_lowercase().replace('-', "_");
    let distance = |candidate: &str| {
        let begins = found.len() >= 3 && (candidate.starts_with(&found) || found.starts_with(candidate));
        if begins { 1 } else { strsim::damerau_levenshtein(&found, candidate) }
    };
    let (near, distance) =
        candidates.iter().map(|near| (*near, distance(near))).min_by_key(|(_, distance)| *distance)?;
    (distance <= (near.len() / 3).max(1)).then_some(near)
}

/// The keys of one mapping.
#[derive(Clone, Copy)]
pub(crate) struct Section<'p> {
    entries: &'p [(Cow<'p, str>, Node<'p>)],
    place: &'p Place<'p>,
}

impl<'p> Section<'p> {
    /// Every key with its value, in the order of the file.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'p str, Field<'p>)> {
        let Self { entries, place } = *self;
        entries.iter().enumerate().map(move |(index, (key, node))| {
            (&**key, Field { node, place: Place { up: Some(place), step: Step::Entry(index, key) } })
        })
    }

    /// The value of a key; of the first if there are several, which has been noted.
    pub(crate) fn get(&self, key: &str) -> Option<Field<'p>> {
        self.even_null(key).filter(|field| !matches!(field.node, Node::Null))
    }

    /// The value of a key for which nothing is a value of its own.
    pub(crate) fn even_null(&self, key: &str) -> Option<Field<'p>> {
        let index = self.entries.iter().position(|(found, _)| found == key)?;
        let (key, node) = &self.entries[index];
        Some(Field { node, place: Place { up: Some(self.place), step: Step::Entry(index, key) } })
    }

    /// The value of a key that must be there; `example` is how it may look.
    pub(crate) fn required(&self, key: &str, example: &str, findings: &mut Findings<'_>) -> Option<Field<'p>> {
        let field = self.get(key);
        if field.is_none() {
            self.missing(key, example, findings);
        }
        field
    }

    fn missing(&self, key: &str, example: &str, findings: &mut Findings<'_>) {
        let at = match self.place.step {
            Step::Top => At::Start,
            Step::Entry(..) => At::Key(*self.place),
            Step::Item(_) => At::Value(*self.place),
        };
        let whose = self.place.name().map(|name| format!(" in `{name}`")).unwrap_or_default();
        findings.error(at, format!("`{key}` is missing{whose}")).hint(format!("add `{example}`"));
    }
}

/// The items of a list, each with its place.
pub(crate) struct Items<'p> {
    nodes: &'p [Node<'p>],
    list: &'p Place<'p>,
    next: usize,
}

impl<'p> Iterator for Items<'p> {
    type Item = Field<'p>;

    fn next(&mut self) -> Option<Field<'p>> {
        let index = self.next;
        let node = self.nodes.get(index)?;
        self.next += 1;
        Some(Field { node, place: Place { up: Some(self.list), step: Step::Item(index) } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_that_was_meant_is_found() {
        let keys = ["command", "args", "timeout_ms", "working_directory", "memory_mb"];
        for (found, meant) in [
            ("comand", Some("command")),
            ("Command", Some("command")),
            ("arg", Some("args")),
            ("timeout", Some("timeout_ms")),
            ("timeout-ms", Some("timeout_ms")),
            ("working_dir", Some("working_directory")),
            ("memory", Some("memory_mb")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(found, &keys), meant, "{found:?}");
        }
    }

    #[test]
    fn a_way_reads_like_a_path() {
        let top = Place { up: None, step: Step::Top };
        let list = Place { up: Some(&top), step: Step::Entry(3, "parameters") };
        let item = Place { up: Some(&list), step: Step::Item(1) };
        let key = Place { up: Some(&item), step: Step::Entry(0, "type") };
        assert_eq!((key.name().as_deref(), key.steps()), (Some("parameters[1].type"), vec![3, 1, 0]));
        assert_eq!(top.name(), None);
    }
}
