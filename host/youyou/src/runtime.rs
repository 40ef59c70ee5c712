//! Opening a runtime: scan, assemble, merge.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use youyou_api::{Error, SourceLabel, ToolHandler};
use youyou_component::{ComponentHost, HostConfig};
use youyou_core::tools::{DEFAULT_TOOL_TIMEOUT, Dispatcher};
use youyou_files::{Problem, Roots, ToolEntry, ToolScan, definition_invalid};

use crate::{
    assemble::{Assembled, Backends, assemble},
    listing::{self, Registered, ToolListing},
};

/// The tools of one home and one workspace, ready to be called.
///
/// Everything in it was read when it was opened; later changes to the folders are for the next runtime (Y2-1). Opening
/// compiles nothing and starts nothing.
pub struct Runtime {
    dispatcher: Dispatcher,
    tools: Vec<Registered>,
    listings: OnceLock<Vec<ToolListing>>,
    problems: Vec<Problem>,
    components: ComponentHost,
}

impl Runtime {
    /// Opens the runtime over `home` (`~/.youyou`) and `workspace` (the project folder), with nothing registered in
    /// code.
    ///
    /// # Errors
    /// As [`RuntimeBuilder::open`].
    pub fn open(home: impl Into<PathBuf>, workspace: impl Into<PathBuf>) -> Result<Self, Error> {
        Self::builder(home, workspace).open()
    }

    /// Starts a runtime to which tools in code can be added.
    pub fn builder(home: impl Into<PathBuf>, workspace: impl Into<PathBuf>) -> RuntimeBuilder {
        RuntimeBuilder {
            roots: Roots { home: home.into(), workspace: workspace.into() },
            tools: Vec::new(),
            components: None,
            timeout: DEFAULT_TOOL_TIMEOUT,
        }
    }

    /// Carries calls to the tools.
    pub fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    /// Every tool of every level, shadowed ones included, in the order of names and then of priority.
    pub fn tools(&self) -> &[ToolListing] {
        self.listings.get_or_init(|| listing::list(&self.tools))
    }

    /// What was found wrong while opening. An error means that its folder was skipped (Y6.1-1).
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Runs the components; also knows their compile cache.
    pub fn components(&self) -> &ComponentHost {
        &self.components
    }
}

/// Collects what a [`Runtime`] is made of.
pub struct RuntimeBuilder {
    roots: Roots,
    tools: Vec<Arc<dyn ToolHandler>>,
    components: Option<ComponentHost>,
    timeout: Duration,
}

impl RuntimeBuilder {
    /// Registers a tool in code; a folder of the same name replaces it (Y3.1-1).
    #[must_use]
    pub fn tool(mut self, tool: impl ToolHandler + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Shares a component host, and with it the compiled components, between runtimes. Without it the runtime makes its
    /// own, whose cache is in the user's cache folder.
    #[must_use]
    pub fn components(mut self, host: ComponentHost) -> Self {
        self.components = Some(host);
        self
    }

    /// Gives a tool that says nothing else the time that config.yaml of the home says (Y4.4-2), as an agent does.
    ///
    /// # Errors
    /// `CONFIG_PARSE_ERROR` when the file cannot be used.
    pub fn configured_timeout(mut self) -> Result<Self, Error> {
        self.timeout = youyou_files::load_config(&self.roots.home)?.0.tool_timeout;
        Ok(self)
    }

    /// Scans the folders and merges what they hold with what was registered in code.
    ///
    /// A folder that cannot be used is skipped and listed in [`Runtime::problems`].
    ///
    /// # Errors
    /// `NAME_CONFLICT` when two tools registered in code have one name; an error of the component host.
    pub fn open(self) -> Result<Runtime, Error> {
        let scan = youyou_files::scan_tools(&self.roots);
        self.assemble(scan)
    }

    /// Opens a runtime whose only tool is the one in the folder `dir`, run just as it would be where it is installed.
    ///
    /// # Errors
    /// `DEFINITION_INVALID` with everything that is wrong with the folder; an error of the component host.
    pub fn open_tool(self, dir: &Path) -> Result<Runtime, Error> {
        let loaded = youyou_files::load_tool(dir, SourceLabel::Project).into_result();
        let (definition, problems) = loaded.map_err(|problems| definition_invalid(&problems))?;
        let tools = vec![ToolEntry { definition, shadowed_by: None }];
        let runtime = self.assemble(ToolScan { tools, problems })?;
        if runtime.tools.is_empty() {
            return Err(definition_invalid(&runtime.problems));
        }
        Ok(runtime)
    }

    fn assemble(self, scan: ToolScan) -> Result<Runtime, Error> {
        let components = match self.components {
            Some(host) => host,
            None => ComponentHost::new(HostConfig::default())?,
        };
        let backends = Backends::new(&self.roots.home, components.clone());
        let Assembled { catalog, tools, problems } = assemble(&backends, &self.tools, scan)?;
        let dispatcher = Dispatcher::new(Arc::new(catalog)).with_timeout(self.timeout);
        Ok(Runtime { dispatcher, tools, listings: OnceLock::new(), problems, components })
    }
}
