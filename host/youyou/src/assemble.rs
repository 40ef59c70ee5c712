//! From definitions on disk, and tools in code, to handlers that run.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use youyou_api::{Error, SourceLabel, ToolHandler};
use youyou_component::{ComponentHost, ComponentSpec, ComponentTool, Grants, Role, grants::GrantProblem};
use youyou_core::tools::ToolCatalog;
use youyou_files::{Backend, Problem, Severity, ToolDefinition, ToolEntry, ToolScan, definition_invalid};
use youyou_script::{ScriptCommand, ScriptHost, ScriptTool};

use crate::listing::{self, ToolListing};

/// Every tool there is, merged.
pub(crate) struct Assembled {
    /// By name.
    pub(crate) catalog: ToolCatalog,
    /// Every tool of every level, shadowed ones included.
    pub(crate) tools: Vec<ToolListing>,
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
        tools.push(ToolListing::of_code(&**handler));
        catalog.add(SourceLabel::Programmatic, handler.clone())?;
    }
    for ToolEntry { definition, .. } in entries {
        let listing = ToolListing::of_definition(&definition);
        let source = definition.source;
        match backends.handler(definition) {
            Ok(handler) => {
                tools.push(listing);
                catalog.add(source, handler)?;
            }
            Err(found) => problems.extend(found),
        }
    }
    for (name, why) in skipped(&problems) {
        catalog.add_skipped(name, why);
    }
    listing::shadow(&mut tools);
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

/// The two ways in which a folder's tool can be run.
pub(crate) struct Backends {
    scripts: ScriptHost,
    components: ComponentHost,
}

impl Backends {
    pub(crate) fn new(home: &Path, components: ComponentHost) -> Self {
        Self { scripts: ScriptHost::new(home), components }
    }

    /// The handler for a definition; or what is wrong with it that only its backend could tell.
    pub(crate) fn handler(&self, definition: ToolDefinition) -> Result<Arc<dyn ToolHandler>, Vec<Problem>> {
        match runnable(&definition)? {
            Runnable::Script(command) => Ok(Arc::new(ScriptTool::new(self.scripts.clone(), definition.spec, command))),
            Runnable::Component(component) => {
                Ok(Arc::new(ComponentTool::new(self.components.clone(), definition.spec, component)))
            }
        }
    }

    /// What keeps a definition from being run as things are now, without running or compiling it.
    pub(crate) fn check(&self, definition: &ToolDefinition, cwd: &Path) -> Vec<Problem> {
        match runnable(definition) {
            Ok(Runnable::Script(command)) => {
                let found = youyou_script::problems(&command, &self.scripts, cwd);
                found.iter().map(|problem| problem_with(definition, problem.to_string())).collect()
            }
            Ok(Runnable::Component(component)) => {
                let found = youyou_component::check(&component.path, Role::Tool).err();
                found.into_iter().map(|error| problem_with(definition, error.message)).collect()
            }
            Err(problems) => problems,
        }
    }
}

/// A definition in the words of its backend.
enum Runnable {
    Script(ScriptCommand),
    Component(ComponentSpec),
}

fn runnable(definition: &ToolDefinition) -> Result<Runnable, Vec<Problem>> {
    let execution = &definition.execution;
    match &execution.backend {
        Backend::Script(script) => Ok(Runnable::Script(ScriptCommand {
            command: script.command.clone(),
            args: script.args.clone(),
            dir: definition.dir.clone(),
            working_directory: execution.working_directory.clone(),
            timeout: execution.timeout,
        })),
        Backend::Component(component) => {
            let asked = &component.permissions;
            let grants = Grants::parse(&asked.read, &asked.write, &asked.env, &asked.net)
                .map_err(|found| found.into_iter().map(|grant| grant_problem(definition, grant)).collect::<Vec<_>>())?;
            Ok(Runnable::Component(ComponentSpec {
                path: component.path.clone(),
                working_directory: execution.working_directory.clone(),
                memory_bytes: component.memory_bytes,
                timeout: execution.timeout,
                grants,
            }))
        }
    }
}

fn grant_problem(definition: &ToolDefinition, grant: GrantProblem) -> Problem {
    let mut problem = problem_with(definition, grant.message).with_hint(grant.hint);
    problem.key = Some(format!("execution.{}", grant.key));
    problem
}

fn problem_with(definition: &ToolDefinition, message: String) -> Problem {
    Problem::new(Severity::Error, &definition.index, message).with_folder(definition.spec.name.as_str())
}
