//! The decision on every use of a file: which granted directory it is in, and whether that is enough.
//!
//! The sandbox that keeps a path below its directory, symlinks included, is `wasmtime-wasi`'s; it resolves each path
//! beneath the directory's handle (on Linux with `openat2`). This guard sits in front of it, so that a refusal can say
//! what was tried and what would grant it.
//!
//! A guest's libc refuses a path below no preopened directory by itself, and the host would never hear of it.
//! So a guest is always given one more directory, which exists nowhere ([`RefusedDir`]): every path that no grant covers
//! ends there, and everything it is asked for is refused.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use wasmtime_wasi::p2::{FsError, bindings::filesystem::types::ErrorCode};

use super::{
    denial::{Denial, DenialKind},
    directory::{Access, DirGrant},
    gate::Gate,
    path::GuestPath,
};

/// A directory that refuses everything. It stands in the resource table where a real one would; no file backs it.
pub(super) struct RefusedDir;

/// What an open descriptor is.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// [`RefusedDir`], under this name.
    Refused(GuestPath),
    /// A file or directory below a granted directory.
    Granted {
        /// Index into the granted directories.
        grant: usize,
        path: GuestPath,
    },
}

/// One use of a path: where it starts, what it names, what is wanted.
#[derive(Clone, Copy)]
pub(super) struct Use<'a> {
    /// The descriptor's number in the resource table.
    pub(super) at: u32,
    /// As the guest gave it; relative to the descriptor.
    pub(super) path: &'a str,
    pub(super) access: Access,
    /// Whether the path is asked for as a directory.
    pub(super) wants: Wants,
}

/// What the guest takes a path for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wants {
    Directory,
    Anything,
}

/// The files of one store.
pub(super) struct FsGuard {
    gate: Arc<Gate>,
    working_dir: PathBuf,
    places: HashMap<u32, Place>,
}

impl FsGuard {
    pub(super) fn new(gate: Arc<Gate>, working_dir: &Path) -> Self {
        Self { gate, working_dir: working_dir.to_path_buf(), places: HashMap::new() }
    }

    pub(super) fn grants(&self) -> &[DirGrant] {
        self.gate.grants.directories()
    }

    pub(super) fn opened(&mut self, number: u32, place: Place) {
        self.places.insert(number, place);
    }

    pub(super) fn closed(&mut self, number: u32) -> Option<Place> {
        self.places.remove(&number)
    }

    /// Whether the descriptor is one that refuses everything.
    pub(super) fn is_refused(&self, number: u32) -> bool {
        matches!(self.places.get(&number), Some(Place::Refused(_)))
    }

    /// Decides on a path before the sandbox sees it. The answer is where the path would be.
    ///
    /// # Errors
    /// "Access", recorded, for whatever a grant does not cover.
    pub(super) fn check(&self, what: Use<'_>) -> Result<Option<Place>, ErrorCode> {
        match self.places.get(&what.at) {
            // Not a descriptor at all: the table itself traps the guest.
            None => Ok(None),
            Some(Place::Refused(root)) => {
                let path = self.guess_origin(root.join(what.path));
                self.deny(&path, what, None);
                Err(ErrorCode::Access)
            }
            Some(Place::Granted { grant, path: base }) => {
                let path = base.join(what.path);
                let granted = self.grants().get(*grant);
                if !path.is_within(base) {
                    self.deny(&path, what, None);
                    return Err(ErrorCode::Access);
                }
                if what.access == Access::Write && granted.is_some_and(|g| g.access == Access::Read) {
                    self.deny(&path, what, granted);
                    return Err(ErrorCode::Access);
                }
                Ok(Some(Place::Granted { grant: *grant, path }))
            }
        }
    }

    /// Makes the sandbox's "not permitted" sensible: a symlink that leads out becomes a recorded refusal.
    pub(super) fn explain(&self, what: Use<'_>, error: FsError) -> FsError {
        let Some(Place::Granted { grant, path: base }) = self.places.get(&what.at) else { return error };
        let Some(grant) = self.grants().get(*grant) else { return error };
        let path = base.join(what.path);
        match error.downcast_ref() {
            Some(ErrorCode::NotPermitted) if self.deny_link(&path, what, grant) => ErrorCode::Access.into(),
            Some(ErrorCode::NoEntry) if grant.path.is_working_dir() => {
                // The guest's libc does not tell `/etc/x` from `etc/x`. The answer stays "no such file", which is true
                // of the directory it was looked for in; the note is for the person who wonders.
                let guess = self.guess_origin(path.clone());
                if guess != path {
                    self.deny(&guess, what, None);
                }
                error
            }
            _ => error,
        }
    }

    /// Records that a link was to be made to an absolute path.
    pub(super) fn deny_absolute_link(&self, at: u32, path: &str, target: &str) {
        let base = match self.places.get(&at) {
            Some(Place::Refused(base) | Place::Granted { path: base, .. }) => base.clone(),
            None => GuestPath::working_dir(),
        };
        let tried = format!("to make {:?} a symlink to {target:?}", base.join(path).to_string());
        self.record(Denial::new(DenialKind::Write, &tried, "but a component makes relative symlinks only"));
    }

    /// The path that was meant, where the guest's libc has dropped a leading `/`.
    fn guess_origin(&self, path: GuestPath) -> GuestPath {
        let Some(first) = path.first_part() else { return path };
        if path.is_absolute() || self.gate.denials.is_full() || !path.is_within(&GuestPath::working_dir()) {
            return path;
        }
        let here = GuestPath::new(first);
        let exists = |path: &GuestPath| path.on_host(&self.working_dir).symlink_metadata().is_ok();
        if !exists(&here) && exists(&here.as_absolute()) { path.as_absolute() } else { path }
    }

    /// Records a refusal; `read_only` is the grant that covers the path, but only for reading.
    fn deny(&self, path: &GuestPath, what: Use<'_>, read_only: Option<&DirGrant>) {
        if self.gate.denials.is_full() {
            return;
        }
        let tried = format!("to {} {:?}", what.access.key(), path.to_string());
        let covering = self.grants().iter().find(|grant| path.is_within(&grant.path) && grant.access >= what.access);
        let reason = match (read_only, covering) {
            (Some(grant), _) => format!("but {:?} is granted for reading only", grant.entry),
            (None, Some(grant)) => {
                let reason =
                    format!("which {:?} covers by its own path, but not by `..` from another directory", grant.entry);
                return self.record(Denial::new(kind(what.access), &tried, &reason));
            }
            (None, None) => "which no grant covers".to_owned(),
        };
        let directory = match read_only {
            Some(grant) => grant.path.clone(),
            None => self.directory_to_grant(path, what.wants),
        };
        self.record_with(Denial::new(kind(what.access), &tried, &reason), what.access, &directory);
    }

    /// Works out whether a symlink led out of a grant; false when the refusal was the operating system's own.
    fn deny_link(&self, path: &GuestPath, what: Use<'_>, grant: &DirGrant) -> bool {
        if self.gate.denials.is_full() {
            return true;
        }
        let on_host = path.on_host(&self.working_dir);
        let Ok(root) = grant.path.on_host(&self.working_dir).canonicalize() else { return false };
        let target = where_it_leads(&on_host);
        if target.is_some() && target == path.below(&grant.path).map(|rest| root.join(rest)) {
            // No symlink on the way.
            return false;
        }
        let tried = format!("to {} {:?}", what.access.key(), path.to_string());
        let denial = |reason: &str| Denial::new(kind(what.access), &tried, reason);
        match target {
            Some(target) if target.starts_with(&root) => self.record(denial(
                "but a symlink with an absolute target is not followed; make it relative, or use the path it leads to",
            )),
            Some(target) => {
                let out = format!(
                    "but a symlink leads out of {:?} to {:?}; granted, that can be opened by its own path, not by the link",
                    grant.entry,
                    target.display().to_string()
                );
                match self.as_guest_path(&target) {
                    Some(path) => {
                        let directory = self.directory_to_grant(&path, what.wants);
                        self.record_with(denial(&out), what.access, &directory);
                    }
                    None => self.record(denial(&out)),
                }
            }
            None => self.record(denial(&format!("but a symlink leads out of {:?}", grant.entry))),
        }
        true
    }

    /// How a place on this machine would be written in `index.md`.
    fn as_guest_path(&self, host: &Path) -> Option<GuestPath> {
        let from_here = self.working_dir.canonicalize().ok();
        if let Some(below) = from_here.and_then(|here| Some(host.strip_prefix(here).ok()?.to_path_buf())) {
            let parts: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
            return Some(GuestPath::new(&parts?.join("/")));
        }
        // Elsewhere than on Unix an absolute path is not written with `/`.
        if cfg!(unix) { host.to_str().map(GuestPath::new) } else { None }
    }

    /// The directory whose grant would cover the path.
    fn directory_to_grant(&self, path: &GuestPath, wants: Wants) -> GuestPath {
        let is_directory = wants == Wants::Directory || path.on_host(&self.working_dir).is_dir();
        let parent = path.parent();
        if is_directory || parent.is_root() { path.clone() } else { parent }
    }

    fn record_with(&self, denial: Denial, access: Access, directory: &GuestPath) {
        let line = self.gate.grants.line_with(access.key(), &[&directory.to_string()]);
        self.record(denial.with_grant(line));
    }

    fn record(&self, denial: Denial) {
        self.gate.denials.record(denial);
    }
}

fn kind(access: Access) -> DenialKind {
    match access {
        Access::Read => DenialKind::Read,
        Access::Write => DenialKind::Write,
    }
}

/// Where a path ends up on this machine; for a symlink to nothing, what it names.
fn where_it_leads(path: &Path) -> Option<PathBuf> {
    if let Ok(target) = path.canonicalize() {
        return Some(target);
    }
    match path.read_link() {
        Ok(link) => Some(path.parent()?.join(link)),
        // A new file behind a linked directory.
        Err(_) => Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)),
    }
}
