//! From tools on disk and in code to handlers that run, and what tools and plugins share on that way.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use youyou_api::{Error, SourceLabel, ToolHandler};
use youyou_component::{ComponentHost, ComponentSpec, ComponentTool, Grants, Role, grants::GrantProblem};
use youyou_core::tools::ToolCatalog;
use youyou_files::{
    Backend, ComponentBackend, Execution, PluginDefinition, Problem, ScriptBackend, Severity, ToolDefinition,
    ToolEntry, ToolScan, definition_invalid,
};
use youyou_script::{ScriptCommand, ScriptHost, ScriptTool};

use crate::listing::Registered;

/// Every tool there is, merged.
pub(crate) struct Assembled {
    /// By name.
    pub(crate) catalog: ToolCatalog,
    /// Every tool of every level, shadowed ones included.
    pub(crate) tools: Vec<Registered>,
    /// Everything found wrong.
    pub(crate) problems: Vec<Problem>,
}

/// Gives each tool of a scan its backend, and merges them with those in code.
///
/// # Errors
/// `NAME_CONFLICT` when two tools of one level have one name.
pub(crate) fn assemble(backends: &Backends, code: &[Arc<dyn ToolHandler>], scan: ToolScan) -> Result<Assembled, Error> {
    let ToolScan { tools: entries, mut problems } = scan;
    let mut catalog = ToolCatalog::new();
    let mut tools = Vec::with_capacity(entries.len() + code.len());
    for handler in code {
        tools.push(Registered { handler: handler.clone(), source: SourceLabel::Programmatic, dir: None });
        catalog.add(SourceLabel::Programmatic, handler.clone())?;
    }
    for ToolEntry { definition, .. } in entries {
        let (source, dir) = (definition.source, definition.dir.clone());
        match backends.handler(definition) {
            Ok(handler) => {
                tools.push(Registered { handler: handler.clone(), source, dir: Some(dir) });
                catalog.add(source, handler)?;
            }
            Err(found) => problems.extend(found),
        }
    }
    for (name, why) in skipped(&problems) {
        catalog.add_skipped(name, why);
    }
    Ok(Assembled { catalog, tools, problems })
}

/// Why each folder with an error is missing, by its name: everything that is wrong with it (K-43, K-45).
pub(crate) fn skipped(problems: &[Problem]) -> impl Iterator<Item = (&str, Error)> {
    let mut folders: BTreeMap<&str, Vec<Problem>> = BTreeMap::new();
    for problem in problems.iter().filter(|problem| problem.is_error()) {
        if let Some(name) = &problem.folder {
            folders.entry(name).or_default().push(problem.clone());
        }
    }
    folders.into_iter().map(|(name, problems)| (name, definition_invalid(&problems)))
}

/// The two ways in which a folder's tool or hook can be run.
pub(crate) struct Backends {
    pub(crate) scripts: ScriptHost,
    pub(crate) components: ComponentHost,
}

impl Backends {
    pub(crate) fn new(home: &Path, components: ComponentHost) -> Self {
        Self { scripts: ScriptHost::new(home), components }
    }

    /// The handler for a definition; or what is wrong with it that only its backend could tell.
    pub(crate) fn handler(&self, definition: ToolDefinition) -> Result<Arc<dyn ToolHandler>, Vec<Problem>> {
        let ToolDefinition { spec, dir, index, execution, .. } = definition;
        let owner = Owner { name: spec.name.as_str(), dir: &dir, index: &index };
        Ok(match runnable(&owner, execution)? {
            Runnable::Script(command) => Arc::new(ScriptTool::new(self.scripts.clone(), spec, command)),
            Runnable::Component(component) => Arc::new(ComponentTool::new(self.components.clone(), spec, component)),
        })
    }

    /// What keeps a definition from being run as things are now, without running or compiling it.
    pub(crate) fn check(&self, definition: &ToolDefinition, cwd: &Path) -> Vec<Problem> {
        let ToolDefinition { spec, dir, index, execution, .. } = definition;
        let owner = Owner { name: spec.name.as_str(), dir, index };
        match runnable(&owner, execution.clone()) {
            Ok(Runnable::Script(command)) => {
                let found = youyou_script::problems(&command, &self.scripts, cwd);
                found.iter().map(|found| owner.error(found.to_string())).collect()
            }
            Ok(Runnable::Component(component)) => {
                let found = youyou_component::check(&component.path, Role::Tool).err();
                found.into_iter().map(|error| owner.error(error.message)).collect()
            }
            Err(problems) => problems,
        }
    }
}

/// Whose `execution` block it is.
pub(crate) struct Owner<'d> {
    pub(crate) name: &'d str,
    pub(crate) dir: &'d Path,
    pub(crate) index: &'d Path,
}

impl<'d> From<&'d PluginDefinition> for Owner<'d> {
    fn from(plugin: &'d PluginDefinition) -> Self {
        Self { name: plugin.info.id.as_str(), dir: &plugin.dir, index: &plugin.index }
    }
}

impl Owner<'_> {
    /// Something that keeps it from being used.
    pub(crate) fn error(&self, message: String) -> Problem {
        Problem::new(Severity::Error, self.index, message).with_folder(self.name)
    }

    /// Something worth knowing.
    pub(crate) fn hint(&self, message: String) -> Problem {
        Problem::new(Severity::Hint, self.index, message).with_folder(self.name)
    }

    fn grant(&self, grant: GrantProblem) -> Problem {
        let mut problem = self.error(grant.message).with_hint(grant.hint);
        problem.key = Some(format!("execution.{}", grant.key));
        problem
    }
}

/// An `execution` block in the words of its backend.
pub(crate) enum Runnable {
    Script(ScriptCommand),
    Component(ComponentSpec),
}

/// Takes the block apart rather than copy it: there may be thousands.
pub(crate) fn runnable(owner: &Owner<'_>, execution: Execution) -> Result<Runnable, Vec<Problem>> {
    let Execution { backend, timeout, working_directory } = execution;
    Ok(match backend {
        Backend::Script(ScriptBackend { command, args }) => {
            let dir = owner.dir.to_owned();
            Runnable::Script(ScriptCommand { command, args, dir, working_directory, timeout })
        }
        Backend::Component(ComponentBackend { path, memory_bytes, permissions: asked }) => {
            let grants = Grants::parse(&asked.read, &asked.write, &asked.env, &asked.net)
                .map_err(|found| found.into_iter().map(|grant| owner.grant(grant)).collect::<Vec<_>>())?;
            Runnable::Component(ComponentSpec { path, working_directory, memory_bytes, timeout, grants })
        }
    })
}
