//! The WASI state of one store, made from grants, and the linking of every WASI import.

use std::{
    future::ready,
    path::{Path, PathBuf},
    sync::Arc,
};

use wasmtime::component::{HasData, Linker, ResourceTable, ResourceTableError};
use wasmtime_wasi::{
    FsPerms, WasiCtx, WasiCtxBuilder,
    cli::{WasiCli, WasiCliCtxView},
    clocks::{WasiClocks, WasiClocksCtxView},
    filesystem::WasiFilesystemCtxView,
    p2::bindings::{LinkOptions, cli, clocks, filesystem, io, random, sockets},
    random::WasiRandom,
    sockets::{WasiSockets, WasiSocketsCtxView},
};
use wasmtime_wasi_http::{WasiHttp, WasiHttpCtx, WasiHttpCtxView, p2::bindings as http_bindings};
use youyou_api::{Error, ErrorCode};

use super::{
    Denial, EnvSnapshot, Grants,
    directory::{Access, DirGrant},
    fs_guard::FsGuard,
    fs_host::{FsView, GuardedFs},
    gate::Gate,
    http::GuardedHttp,
    sockets::{GuardedLookup, LookupView, may_use},
};
use crate::stdio::GuestStdio;

/// How many handles one store may hold at a time: open files, streams, sockets, requests and the like.
const HANDLES: usize = 4096;

/// The WASI state of one store.
pub(crate) struct GuestWasi {
    table: ResourceTable,
    ctx: WasiCtx,
    http_ctx: WasiHttpCtx,
    http: GuardedHttp,
    files: FsGuard,
    gate: Arc<Gate>,
}

/// The store data of a guest that WASI is linked for.
pub(crate) trait HasGuestWasi: Send {
    /// The guest's WASI state.
    fn guest_wasi(&mut self) -> &mut GuestWasi;
}

impl GuestWasi {
    /// Opens the granted directories, relative to `working_dir`. With none granted it makes no system call.
    ///
    /// # Errors
    /// `TOOL_EXECUTION_ERROR` with kind `GRANT_DIRECTORY_MISSING`, `GRANT_NOT_A_DIRECTORY` or
    /// `GRANT_DIRECTORY_UNREADABLE`, and the key and the path in its details.
    pub(crate) fn new(
        grants: &Grants,
        working_dir: &Path,
        env: &EnvSnapshot,
        stdio: GuestStdio,
    ) -> Result<Self, Error> {
        let gate = Arc::new(Gate::new(grants.clone()));
        let mut builder = WasiCtxBuilder::new();
        builder.stdout(stdio.stdout).stderr(stdio.stderr).envs(env.pairs());
        for grant in grants.directories() {
            let host = grant.path.on_host(working_dir);
            if let Some(target) = leads_out(grant, &host, working_dir) {
                return Err(leads_elsewhere(grant, &target));
            }
            let perms = match grant.access {
                Access::Read => FsPerms::ReadOnly,
                Access::Write => FsPerms::ReadWrite,
            };
            builder
                .preopened_dir(&host, grant.guest_name(), perms)
                .map_err(|error| cannot_open(grant, &host, &error))?;
        }
        let check = Arc::clone(&gate);
        // A socket may be made, so that the check hears where it was to lead.
        builder
            .allow_tcp(true)
            .allow_udp(true)
            .socket_addr_check(move |address, purpose| Box::pin(ready(may_use(&check, address, purpose))));
        let mut table = ResourceTable::new();
        table.set_max_capacity(HANDLES);
        Ok(Self {
            table,
            ctx: builder.build(),
            http_ctx: WasiHttpCtx::new(),
            http: GuardedHttp(Arc::clone(&gate)),
            files: FsGuard::new(Arc::clone(&gate), working_dir),
            gate,
        })
    }

    /// A new call begins in a store that lives on: budgets are full again and the list of denials is empty.
    pub(crate) fn start_call(&mut self) {
        self.gate.start_call();
    }

    /// What the guest tried in this call and was not granted, oldest first, each once.
    pub(crate) fn denials(&self) -> Vec<Denial> {
        self.gate.denials.snapshot()
    }

    fn files(&mut self) -> FsView<'_> {
        let inner = WasiFilesystemCtxView { ctx: self.ctx.filesystem(), table: &mut self.table };
        FsView { inner, guard: &mut self.files }
    }

    fn sockets(&mut self) -> WasiSocketsCtxView<'_> {
        WasiSocketsCtxView { ctx: self.ctx.sockets(), table: &mut self.table }
    }

    fn lookup(&mut self) -> LookupView<'_> {
        let inner = WasiSocketsCtxView { ctx: self.ctx.sockets(), table: &mut self.table };
        LookupView { inner, gate: &self.gate }
    }

    fn cli(&mut self) -> WasiCliCtxView<'_> {
        WasiCliCtxView { ctx: self.ctx.cli(), table: &mut self.table }
    }

    fn clocks(&mut self) -> WasiClocksCtxView<'_> {
        WasiClocksCtxView { ctx: self.ctx.clocks(), table: &mut self.table }
    }

    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { hooks: &mut self.http, table: &mut self.table, ctx: &mut self.http_ctx }
    }
}

/// What to say when a trap came from the limit on handles; none for any other trap.
pub(crate) fn explain_full_table(error: &wasmtime::Error) -> Option<String> {
    match error.downcast_ref::<ResourceTableError>() {
        Some(ResourceTableError::Full) => Some(format!(
            "the component held {HANDLES} open handles (files, streams, sockets, requests) at one time, which is the \
             limit; it has to close those that it no longer needs"
        )),
        Some(ResourceTableError::NotPresent | ResourceTableError::WrongType | ResourceTableError::HasChildren)
        | None => None,
    }
}

/// Where a directory below the working directory really is, if that is elsewhere: whoever wrote the grant meant what is
/// there, not what a link in somebody's project leads to (K-63).
fn leads_out(grant: &DirGrant, host: &Path, working_dir: &Path) -> Option<PathBuf> {
    let name = grant.guest_name();
    if name.starts_with('/') || name == ".." || name.starts_with("../") {
        return None;
    }
    // What is not there is told when it is opened.
    let (target, base) = (host.canonicalize().ok()?, working_dir.canonicalize().ok()?);
    (!target.starts_with(base)).then_some(target)
}

fn leads_elsewhere(grant: &DirGrant, target: &Path) -> Error {
    let (key, entry) = (&grant.key, &grant.entry);
    let message = format!(
        "{key}: {entry:?} is a symbolic link that leads out of the working directory, to {:?}; if that is meant, grant it \
         by that path",
        target.display().to_string()
    );
    Error::new(ErrorCode::ToolExecutionError, message)
        .with_kind("GRANT_LEADS_OUT")
        .with_detail("key", key.as_str())
        .with_detail("path", target.display().to_string())
}

fn cannot_open(grant: &DirGrant, host: &Path, error: &wasmtime::Error) -> Error {
    let (key, entry) = (&grant.key, &grant.entry);
    let shown = host.display().to_string();
    let cause = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    let (kind, message) = match cause {
        Some(std::io::ErrorKind::NotFound) => (
            "GRANT_DIRECTORY_MISSING",
            format!(
                "{key}: expected a directory at {entry:?}, found nothing at {shown:?}; create it or correct the path"
            ),
        ),
        Some(std::io::ErrorKind::NotADirectory) => (
            "GRANT_NOT_A_DIRECTORY",
            format!(
                "{key}: expected a directory, but {entry:?} leads to a file ({shown:?}); grant the directory that holds \
                 it: {}",
                grant.path.parent()
            ),
        ),
        _ => (
            "GRANT_DIRECTORY_UNREADABLE",
            format!("{key}: the directory {entry:?} ({shown:?}) cannot be opened: {error}; check who may read it"),
        ),
    };
    Error::new(ErrorCode::ToolExecutionError, message)
        .with_kind(kind)
        .with_detail("key", key.as_str())
        .with_detail("path", shown)
}

/// Names the resource table to the linker.
struct GuestTable;

impl HasData for GuestTable {
    type Data<'a> = &'a mut ResourceTable;
}

/// Links every WASI 0.2 import, `wasi:http` included, whatever is granted.
///
/// # Errors
/// When something of the same name is linked already.
pub(crate) fn add_to_linker<T: HasGuestWasi + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    add_io_and_cli(linker)?;
    add_sockets(linker)?;
    let l = linker;
    filesystem::types::add_to_linker::<T, GuardedFs>(l, |t| t.guest_wasi().files())?;
    filesystem::preopens::add_to_linker::<T, GuardedFs>(l, |t| t.guest_wasi().files())?;
    let options = http_bindings::LinkOptions::default();
    http_bindings::http::types::add_to_linker::<T, WasiHttp>(l, &(&options).into(), |t| t.guest_wasi().http())?;
    http_bindings::http::outgoing_handler::add_to_linker::<T, WasiHttp>(l, |t| t.guest_wasi().http())
}

fn add_io_and_cli<T: HasGuestWasi + 'static>(l: &mut Linker<T>) -> wasmtime::Result<()> {
    io::error::add_to_linker::<T, GuestTable>(l, |t| &mut t.guest_wasi().table)?;
    io::poll::add_to_linker::<T, GuestTable>(l, |t| &mut t.guest_wasi().table)?;
    io::streams::add_to_linker::<T, GuestTable>(l, |t| &mut t.guest_wasi().table)?;
    clocks::wall_clock::add_to_linker::<T, WasiClocks>(l, |t| t.guest_wasi().clocks())?;
    clocks::monotonic_clock::add_to_linker::<T, WasiClocks>(l, |t| t.guest_wasi().clocks())?;
    random::random::add_to_linker::<T, WasiRandom>(l, |t| t.guest_wasi().ctx.random())?;
    random::insecure::add_to_linker::<T, WasiRandom>(l, |t| t.guest_wasi().ctx.random())?;
    random::insecure_seed::add_to_linker::<T, WasiRandom>(l, |t| t.guest_wasi().ctx.random())?;
    cli::exit::add_to_linker::<T, WasiCli>(l, |t| t.guest_wasi().cli())?;
    cli::environment::add_to_linker::<T, WasiCli>(l, |t| t.guest_wasi().cli())?;
    cli::stdin::add_to_linker::<T, WasiCli>(l, |t| t.guest_wasi().cli())?;
    cli::stdout::add_to_linker::<T, WasiCli>(l, |t| t.guest_wasi().cli())?;
    cli::stderr::add_to_linker::<T, WasiCli>(l, |t| t.guest_wasi().cli())?;
    cli::terminal_input::add_to_linker::<T, WasiCli>(l, |t| t.guest_wasi().cli())?;
    cli::terminal_output::add_to_linker::<T, WasiCli>(l, |t| t.guest_wasi().cli())?;
    cli::terminal_stdin::add_to_linker::<T, WasiCli>(l, |t| t.guest_wasi().cli())?;
    cli::terminal_stdout::add_to_linker::<T, WasiCli>(l, |t| t.guest_wasi().cli())?;
    cli::terminal_stderr::add_to_linker::<T, WasiCli>(l, |t| t.guest_wasi().cli())
}

fn add_sockets<T: HasGuestWasi + 'static>(l: &mut Linker<T>) -> wasmtime::Result<()> {
    let options = LinkOptions::default();
    sockets::network::add_to_linker::<T, WasiSockets>(l, &(&options).into(), |t| t.guest_wasi().sockets())?;
    sockets::instance_network::add_to_linker::<T, WasiSockets>(l, |t| t.guest_wasi().sockets())?;
    sockets::tcp_create_socket::add_to_linker::<T, WasiSockets>(l, |t| t.guest_wasi().sockets())?;
    sockets::tcp::add_to_linker::<T, WasiSockets>(l, |t| t.guest_wasi().sockets())?;
    sockets::udp_create_socket::add_to_linker::<T, WasiSockets>(l, |t| t.guest_wasi().sockets())?;
    sockets::udp::add_to_linker::<T, WasiSockets>(l, |t| t.guest_wasi().sockets())?;
    sockets::ip_name_lookup::add_to_linker::<T, GuardedLookup>(l, |t| t.guest_wasi().lookup())
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    /// K-63: a link in a project does not widen what the user's own plugin was granted; a path that is written out does.
    #[test]
    fn a_granted_directory_is_no_link_out_of_the_working_directory() {
        let root = tempfile::tempdir().expect("a directory");
        let work = root.path().join("work");
        for dir in ["outside", "work/inside", "work/data"] {
            fs::create_dir_all(root.path().join(dir)).expect("made");
        }
        symlink(root.path().join("outside"), work.join("out")).expect("linked");
        symlink("inside", work.join("in")).expect("linked");
        let leads = |entry: &str| {
            let grant = DirGrant::parse("permissions.write[0]".into(), entry, Access::Write).expect("a grant");
            leads_out(&grant, &grant.path.on_host(&work), &work).is_some()
        };
        assert!(leads("./out") && leads("out"));
        for fine in ["./data", "./in", ".", "../outside", "./missing"] {
            assert!(!leads(fine), "{fine}");
        }
    }
}
