//! The target from Debian's packages: fetch the standard library's source and the C library, build, install.
//!
//! Works with `RUSTC_BOOTSTRAP`, which lets this one build use `-Zbuild-std` with a stable compiler; nothing that is
//! built later needs it. Leaves neither packages nor source behind.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use super::{
    apt::{Apt, Archive},
    toolchain::{Toolchain, Verdict},
};
use crate::{
    command::Run,
    workspace::{GUEST_TARGET, Workspace},
};

/// The suite that has the source of several Rust versions.
const SUITE: &str = "trixie-backports";

/// What the linker takes from the C library.
const C_FILES: [&str; 3] = ["crt1-command.o", "crt1-reactor.o", "libc.a"];

/// Builds and installs the target.
///
/// # Errors
/// On a machine without apt and dpkg, when the suite has no source of the toolchain's version, when the build fails, or
/// when the toolchain's folder cannot be written.
pub(super) fn install(workspace: &Workspace, toolchain: &Toolchain) -> Result<()> {
    let scratch = workspace.scratch()?;
    let unpacked = fetch(scratch.path(), toolchain)?;
    let source = unpacked.join("usr/src").join(format!("rustc-{}", toolchain.release));
    if !source.join("library/std").is_dir() {
        bail!("package rust-src has no library/std in {}; its layout has changed", source.display());
    }
    let built = {
        let _link = SourceLink::make(toolchain, &source)?;
        build(workspace, toolchain, scratch.path())?
    };
    place(toolchain, &built, &unpacked.join("usr/lib").join(GUEST_TARGET))?;
    match toolchain.probe_lto(workspace)? {
        Verdict::Works => Ok(()),
        Verdict::Missing => bail!("{} is not where rustc looks", toolchain.target_folder().display()),
    }
}

/// Downloads and unpacks both packages; returns the folder that they were unpacked to.
fn fetch(scratch: &Path, toolchain: &Toolchain) -> Result<PathBuf> {
    let archive = Archive::of_this_machine(Path::new("/etc/apt"))?;
    let apt = Apt::prepare(&scratch.join("apt"), &archive, SUITE)?;
    let wanted = format!("{}+", toolchain.release);
    let versions = apt.versions("rust-src")?;
    let Some(version) = versions.iter().find(|version| version.starts_with(&wanted)) else {
        bail!(
            "Debian's {SUITE} has package rust-src of versions {}, expected {}",
            versions.join(", "),
            toolchain.release
        );
    };
    println!("setup: fetching rust-src {version} and wasi-libc from {SUITE}");
    let unpacked = scratch.join("unpacked");
    apt.unpack(&format!("rust-src={version}"), &unpacked)?;
    apt.unpack("wasi-libc", &unpacked)?;
    Ok(unpacked)
}

/// Stands where `-Zbuild-std` looks for the source; gone when dropped. A source that is there already is used as it is.
struct SourceLink(Option<PathBuf>);

impl SourceLink {
    fn make(toolchain: &Toolchain, source: &Path) -> Result<Self> {
        let link = toolchain.sysroot.join("lib/rustlib/src/rust");
        if link.join("library/std").is_dir() {
            return Ok(Self(None));
        }
        // What else is there is a link of an interrupted run, which leads nowhere.
        let _ = fs::remove_file(&link);
        let parent = toolchain.sysroot.join("lib/rustlib/src");
        fs::create_dir_all(&parent).with_context(|| format!("cannot write to the toolchain: {}", parent.display()))?;
        symlink(source, &link).with_context(|| format!("cannot write to the toolchain: {}", link.display()))?;
        Ok(Self(Some(link)))
    }
}

impl Drop for SourceLink {
    fn drop(&mut self) {
        if let Some(link) = &self.0 {
            let _ = fs::remove_file(link);
        }
    }
}

#[cfg(unix)]
use std::os::unix::fs::symlink;

#[cfg(not(unix))]
fn symlink(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Builds the library for an empty crate; returns the folder with what was built.
fn build(workspace: &Workspace, toolchain: &Toolchain, scratch: &Path) -> Result<PathBuf> {
    let empty = scratch.join("empty");
    fs::create_dir_all(empty.join("src"))?;
    // Its own workspace, or cargo would look for it among this repository's members.
    fs::write(empty.join("Cargo.toml"), "[package]\nname = \"empty\"\nedition = \"2024\"\n\n[workspace]\n")?;
    fs::write(empty.join("src/lib.rs"), "")?;
    let source = toolchain.sysroot.join("lib/rustlib/src/rust");
    let flags = [
        // Guests are built with link-time optimisation, which needs it.
        "-Cembed-bitcode=yes".to_owned(),
        // As in the official library: no path of this machine gets into a guest, and a panic's place is recognised.
        format!("--remap-path-prefix={}=/rustc/{}", source.display(), toolchain.commit),
    ];
    let mut cargo = workspace.cargo();
    cargo.current_dir(&empty);
    cargo.args(["build", "--release", "--quiet", "-Zbuild-std=std,panic_abort,panic_unwind", "--target", GUEST_TARGET]);
    cargo.arg("--target-dir").arg(scratch.join("built"));
    cargo.env("RUSTC_BOOTSTRAP", "1").env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f")).env_remove("RUSTFLAGS");
    cargo.run().context("the standard library does not build")?;
    Ok(scratch.join("built").join(GUEST_TARGET).join("release/deps"))
}

/// Puts everything together beside its place, then moves it there in one step: the target is there whole or not at all.
fn place(toolchain: &Toolchain, built: &Path, c_library: &Path) -> Result<()> {
    let target = toolchain.target_folder();
    let staging = target.with_extension("incomplete");
    let put_together = || -> Result<()> {
        let _ = fs::remove_dir_all(&staging);
        fs::create_dir_all(staging.join("lib/self-contained"))?;
        for entry in fs::read_dir(built)? {
            let (path, name) = entry.map(|e| (e.path(), e.file_name().to_string_lossy().into_owned()))?;
            if name.ends_with(".rlib") && !name.starts_with("libempty-") {
                fs::copy(&path, staging.join("lib").join(&name))?;
            }
        }
        for file in C_FILES {
            let from = c_library.join(file);
            fs::copy(&from, staging.join("lib/self-contained").join(file))
                .with_context(|| format!("package wasi-libc has no {}", from.display()))?;
        }
        let _ = fs::remove_dir_all(&target);
        Ok(fs::rename(&staging, &target)?)
    };
    let result = put_together();
    if result.is_err() {
        let _ = fs::remove_dir_all(&staging);
    }
    result.with_context(|| format!("cannot install to {}", target.display()))
}
