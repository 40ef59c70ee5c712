//! The toolchain in use, and whether it can build a component. Reads only.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::{
    command::Run,
    guests::is_component,
    workspace::{GUEST_TARGET, Workspace},
};

/// A guest of one line. It uses the standard library, so that linking it shows that the library is whole.
const PROBE: &str =
    "#[unsafe(no_mangle)] pub extern \"C\" fn probe() -> usize { std::env::args().map(|a| a.len()).sum() }";

/// The toolchain that `rustc` stands for in this workspace.
pub(super) struct Toolchain {
    /// `1.95.0`.
    pub(super) release: String,
    /// Of the commit it was built from; paths of the standard library are written with it.
    pub(super) commit: String,
    /// The folder that it lies in.
    pub(super) sysroot: PathBuf,
}

/// Whether the target is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A component was built.
    Works,
    /// The target's standard library is missing.
    Missing,
}

impl Toolchain {
    /// Asks `rustc`.
    ///
    /// # Errors
    /// When there is no `rustc`, or it does not say its version.
    pub(super) fn active(workspace: &Workspace) -> Result<Self> {
        let ask = |arg: &[&str]| Command::new("rustc").args(arg).current_dir(workspace.root()).capture();
        let version = ask(&["-vV"])?;
        let field = |name: &str| {
            let found = version.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            found.map(str::to_owned).with_context(|| format!("`rustc -vV` says no {name:?}"))
        };
        let sysroot = PathBuf::from(ask(&["--print", "sysroot"])?.trim());
        Ok(Self { release: field("release")?, commit: field("commit-hash")?, sysroot })
    }

    /// The folder of the target, there or not.
    pub(super) fn target_folder(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib").join(GUEST_TARGET)
    }

    /// Builds the smallest component.
    ///
    /// # Errors
    /// When the target is there and does not work, with what the compiler said.
    pub(super) fn probe(&self, workspace: &Workspace) -> Result<Verdict> {
        self.build_probe(workspace, &[])
    }

    /// The same with link-time optimisation, as guests are built: it needs a library that was built for it.
    ///
    /// # Errors
    /// As [`probe`](Self::probe).
    pub(super) fn probe_lto(&self, workspace: &Workspace) -> Result<Verdict> {
        self.build_probe(workspace, &["-Copt-level=1", "-Clto=fat", "-Cpanic=abort"])
    }

    fn build_probe(&self, workspace: &Workspace, flags: &[&str]) -> Result<Verdict> {
        let scratch = workspace.scratch()?;
        let (source, component) = (scratch.path().join("probe.rs"), scratch.path().join("probe.wasm"));
        fs::write(&source, PROBE).with_context(|| format!("cannot write {}", source.display()))?;
        let mut rustc = Command::new("rustc");
        rustc.current_dir(workspace.root()).args(["--edition=2024", "--crate-type=cdylib", "--target", GUEST_TARGET]);
        rustc.args(flags).arg("-o").arg(&component).arg(&source);
        match rustc.capture() {
            Ok(_) if fs::read(&component).is_ok_and(|bytes| is_component(&bytes)) => Ok(Verdict::Works),
            Ok(_) => bail!("{self} makes no component for {GUEST_TARGET}: it is too old, 1.82 is the first that does"),
            // The compiler's own message would only say that `std` cannot be found.
            Err(_) if !has_library(&self.target_folder()) => Ok(Verdict::Missing),
            Err(error) => Err(error.context(format!(
                "{self} has {GUEST_TARGET}, but it does not work; delete {} and run `cargo xtask setup` again",
                self.target_folder().display()
            ))),
        }
    }
}

/// Whether the target's folder holds a standard library and the C library to link it with.
fn has_library(target: &Path) -> bool {
    super::stamp::standard_library(target).is_some() && target.join("lib/self-contained/libc.a").is_file()
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rust {}", self.release)
    }
}
