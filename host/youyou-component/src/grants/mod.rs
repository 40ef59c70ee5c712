//! What a component may reach: directories, environment variables and hosts named in its `index.md`, and nothing else
//! (DESIGN §7 "Grants", Y1-8).
//!
//! It does not decide who is trusted: grants protect from bugs and confused tools, and are shown to the user.

use std::{fmt, path::Path};

use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi::WasiCtx;

/// The permissions of one component, parsed and checked. The default grants nothing.
#[derive(Debug, Clone, Default)]
pub struct Grants {}

impl Grants {
    /// Checks the four lists of a `permissions` block.
    ///
    /// # Errors
    /// Every entry that cannot be used, each with its key.
    pub fn parse(
        _read: &[String],
        _write: &[String],
        _env: &[String],
        _net: &[String],
    ) -> Result<Grants, Vec<GrantProblem>> {
        Ok(Grants {})
    }
}

/// One entry of a `permissions` block that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantProblem {
    /// Where it stands, such as `permissions.net[0]`.
    pub key: String,
    /// What was expected and what was found.
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

impl fmt::Display for GrantProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.key, self.message, self.hint)
    }
}

/// Something that the guest tried and was not granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// What was tried, and the YAML line that would grant it.
    pub text: String,
}

/// The environment variables that a component is granted, with their values at one moment.
#[derive(Debug, Clone, Default)]
pub struct EnvSnapshot(Vec<(String, String)>);

impl Grants {
    /// Reads the granted environment variables of this process, once, at the outer rim: the caller passes them on.
    pub fn env_snapshot(&self) -> EnvSnapshot {
        EnvSnapshot::default()
    }
}

/// The store data of a guest that WASI is linked for.
pub(crate) trait HasGuestWasi: Send {
    /// The guest's WASI state.
    fn guest_wasi(&mut self) -> &mut GuestWasi;
}

/// The WASI state of one store.
pub(crate) struct GuestWasi {
    ctx: WasiCtx,
    table: ResourceTable,
}

/// Where a guest's output goes. Placeholder until `crate::stdio` has it.
#[derive(Default)]
pub(crate) struct GuestStdio {}

impl GuestWasi {
    pub(crate) fn new(
        _grants: &Grants,
        _working_dir: &Path,
        _env: &EnvSnapshot,
        _stdio: GuestStdio,
    ) -> Result<Self, youyou_api::Error> {
        Ok(Self { ctx: WasiCtx::default(), table: ResourceTable::new() })
    }

    /// A new call begins in a store that lives on: budgets are full again and the list of denials is empty.
    pub(crate) fn start_call(&mut self) {}

    /// What the guest tried in this call and was not granted, oldest first.
    pub(crate) fn denials(&self) -> Vec<Denial> {
        Vec::new()
    }
}

/// Links every WASI 0.2 import, `wasi:http` included.
pub(crate) fn add_to_linker<T: HasGuestWasi + 'static>(_linker: &mut Linker<T>) -> wasmtime::Result<()> {
    Ok(())
}
