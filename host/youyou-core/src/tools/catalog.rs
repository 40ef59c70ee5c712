//! The set of tools by name, over both registration channels.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, btree_map::Entry},
    sync::{Arc, OnceLock},
};

use serde_json::{Map, Value};
use youyou_api::{Error, ErrorCode, SourceLabel, ToolHandler, ToolName};

use super::{arguments::ArgumentChecker, nearest::nearest};

/// Name → handler, merged by priority (Y3.1-1, Y4.4-1). Immutable while a session runs; building it compiles nothing.
#[derive(Default)]
pub struct ToolCatalog {
    tools: BTreeMap<ToolName, CatalogEntry>,
    skipped: BTreeMap<String, Error>,
}

/// One tool of the catalog.
pub struct CatalogEntry {
    handler: Arc<dyn ToolHandler>,
    source: SourceLabel,
    checker: OnceLock<Result<ArgumentChecker, Error>>,
}

impl CatalogEntry {
    /// Runs the tool.
    pub fn handler(&self) -> &Arc<dyn ToolHandler> {
        &self.handler
    }

    /// The level that the tool comes from.
    pub fn source(&self) -> SourceLabel {
        self.source
    }

    /// The check of the tool's arguments; its schema is compiled on first use.
    pub(crate) fn checker(&self) -> Result<&ArgumentChecker, Error> {
        self.checker.get_or_init(|| ArgumentChecker::new(self.handler.spec())).as_ref().map_err(Clone::clone)
    }
}

impl ToolCatalog {
    /// An empty catalog.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool. One of a higher level replaces one of a lower level, whichever comes first (Y3.1-1).
    ///
    /// # Errors
    /// `NAME_CONFLICT` when the same level already has a tool of that name (Y6.1-1).
    pub fn add(&mut self, source: SourceLabel, handler: Arc<dyn ToolHandler>) -> Result<(), Error> {
        let name = handler.spec().name.clone();
        let entry = CatalogEntry { handler, source, checker: OnceLock::new() };
        match self.tools.entry(name) {
            Entry::Vacant(free) => _ = free.insert(entry),
            Entry::Occupied(mut taken) => match source.cmp(&taken.get().source) {
                Ordering::Less => {}
                Ordering::Greater => _ = taken.insert(entry),
                Ordering::Equal => {
                    let name = taken.key().as_str();
                    let message = format!("two {source} tools are named {name:?}; rename one of them");
                    return Err(Error::new(ErrorCode::NameConflict, message));
                }
            },
        }
        Ok(())
    }

    /// Remembers why a tool is missing, so that whoever calls it is told (K-43, K-45).
    pub fn add_skipped(&mut self, name: impl Into<String>, why: Error) {
        self.skipped.insert(name.into(), why);
    }

    /// The tool of that name.
    pub fn get(&self, name: &str) -> Option<&CatalogEntry> {
        // A name that is not legal cannot be in the map.
        self.tools.get(&ToolName::new(name).ok()?)
    }

    /// Every tool, in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&ToolName, &CatalogEntry)> {
        self.tools.iter()
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The tool of that name, or an error that says what was asked for and what comes closest (K-15).
    ///
    /// # Errors
    /// `TOOL_NOT_FOUND`; or the reason given to [`add_skipped`](Self::add_skipped).
    pub fn resolve(&self, name: &str) -> Result<&CatalogEntry, Error> {
        if let Some(entry) = self.get(name) {
            return Ok(entry);
        }
        if let Some(why) = self.skipped.get(name) {
            return Err(why.clone());
        }
        let names = self.tools.keys().map(ToolName::as_str);
        let hint = match nearest(name, names.clone()) {
            Some(near) => format!("did you mean {near:?}?"),
            None if self.tools.is_empty() => "no tool is registered".to_owned(),
            None => format!("there are: {}", shorten(names)),
        };
        Err(Error::new(ErrorCode::ToolNotFound, format!("no tool is named {name:?}; {hint}"))
            .with_detail("tool_name", name))
    }

    /// The arguments as the tool of this name would get them (D-52).
    ///
    /// # Errors
    /// Those of [`resolve`](Self::resolve); `TOOL_ARGUMENTS_INVALID` when they do not fit its parameters.
    pub fn check(&self, name: &str, arguments: Map<String, Value>) -> Result<Map<String, Value>, Error> {
        self.resolve(name)?.checker()?.check(arguments)
    }
}

/// The first names of a list, and how many there are besides.
fn shorten<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 20;
    let names: Vec<_> = names.collect();
    match names.len().checked_sub(SHOWN) {
        Some(more) if more > 0 => format!("{} and {more} more", names[..SHOWN].join(", ")),
        Some(_) | None => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use youyou_api::{BoxFuture, CallContext, ToolFailure, ToolInput, ToolOutput, ToolSpec};

    use super::*;

    struct Named(ToolSpec);

    impl ToolHandler for Named {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }
        fn call<'a>(&'a self, _: ToolInput, _: CallContext) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
            Box::pin(async { Ok(ToolOutput::default()) })
        }
    }

    fn tool(name: &str, description: &str) -> Arc<dyn ToolHandler> {
        Arc::new(Named(ToolSpec {
            name: name.parse().expect("legal"),
            description: description.into(),
            parameters: serde_json::json!({"type": "object"}),
            mutating: false,
        }))
    }

    fn describe(catalog: &ToolCatalog, name: &str) -> String {
        let entry = catalog.get(name).expect("present");
        format!("{} from {}", entry.handler().spec().description, entry.source())
    }

    /// Y3.1-1, Y4.4-1: whatever the order of registration.
    #[test]
    fn the_higher_level_replaces_the_lower_one() {
        use SourceLabel::{Global, Programmatic, Project};
        for order in [[Programmatic, Global, Project], [Project, Global, Programmatic], [Global, Project, Programmatic]]
        {
            let mut catalog = ToolCatalog::new();
            for source in order {
                catalog.add(source, tool("read", "reads")).expect("no conflict");
            }
            assert_eq!(describe(&catalog, "read"), "reads from project");
            assert_eq!(catalog.len(), 1);
        }
    }

    /// Y6.1-1.
    #[test]
    fn one_name_twice_at_one_level_is_a_conflict() {
        let mut catalog = ToolCatalog::new();
        catalog.add(SourceLabel::Programmatic, tool("read", "a")).expect("first");
        let error = catalog.add(SourceLabel::Programmatic, tool("read", "b")).expect_err("second");
        assert_eq!(error.code, ErrorCode::NameConflict);
        assert_eq!(error.message, "two programmatic tools are named \"read\"; rename one of them");
        assert_eq!(describe(&catalog, "read"), "a from programmatic");
    }

    /// K-15.
    #[test]
    fn an_unknown_name_is_answered_with_the_nearest_tool() {
        let mut catalog = ToolCatalog::new();
        let message = |catalog: &ToolCatalog, name| catalog.resolve(name).err().expect("not there").message;
        assert_eq!(message(&catalog, "x"), "no tool is named \"x\"; no tool is registered");
        catalog.add(SourceLabel::Global, tool("read", "")).expect("added");
        catalog.add(SourceLabel::Global, tool("write", "")).expect("added");
        assert_eq!(message(&catalog, "Reed"), "no tool is named \"Reed\"; did you mean \"read\"?");
        assert_eq!(message(&catalog, ""), "no tool is named \"\"; there are: read, write");
    }

    /// K-43.
    #[test]
    fn a_skipped_tool_is_answered_with_the_reason() {
        let mut catalog = ToolCatalog::new();
        catalog.add_skipped("read", Error::new(ErrorCode::DefinitionInvalid, "index.md:3:1: no version"));
        let error = catalog.resolve("read").err().expect("skipped");
        assert_eq!((error.code, error.message.as_str()), (ErrorCode::DefinitionInvalid, "index.md:3:1: no version"));
    }
}
