//! Which standard library the guests in the target directory were built with.
//!
//! cargo does not notice that a toolchain's library was replaced; the next build then fails with "can't find crate" for
//! crates that are there. A stamp beside the built guests tells, and what is stale is removed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use crate::{
    command::Run,
    workspace::{GUEST_TARGET, Workspace},
};

const STAMP: &str = ".built-with";

/// Removes what was built with another standard library than today's, and notes today's.
///
/// # Errors
/// When the target directory cannot be written, or `rustc` cannot be asked.
pub(crate) fn clean_if_stale(workspace: &Workspace) -> Result<()> {
    let mut rustc = Command::new("rustc");
    rustc.current_dir(workspace.root()).args(["--print", "target-libdir", "--target", GUEST_TARGET]);
    let libraries = PathBuf::from(rustc.capture()?.trim());
    let Some(library) = libraries.parent().and_then(standard_library) else { return Ok(()) };
    sync(&workspace.target().join(GUEST_TARGET), &library)
}

/// Removes everything that was built for the guests' target.
///
/// # Errors
/// When it cannot be removed.
pub(super) fn clean(workspace: &Workspace) -> Result<()> {
    remove(&workspace.target().join(GUEST_TARGET))
}

/// The file name of the standard library below a target's folder; it holds a hash of how the library was built.
pub(super) fn standard_library(target: &Path) -> Option<String> {
    let names = fs::read_dir(target.join("lib")).ok()?.flatten().map(|e| e.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("libstd-") && name.ends_with(".rlib")).max()
}

fn sync(built: &Path, library: &str) -> Result<()> {
    let stamp = built.join(STAMP);
    match fs::read_to_string(&stamp) {
        Ok(old) if old == library => return Ok(()),
        Ok(_) => remove(built)?,
        Err(_) => {}
    }
    fs::create_dir_all(built).with_context(|| format!("cannot make {}", built.display()))?;
    fs::write(&stamp, library).with_context(|| format!("cannot write {}", stamp.display()))
}

fn remove(built: &Path) -> Result<()> {
    if built.exists() {
        println!("setup: removing {}: it was built with another standard library", built.display());
        fs::remove_dir_all(built).with_context(|| format!("cannot remove {}", built.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_library_built_is_removed() {
        let dir = tempfile::tempdir().expect("dir");
        let built = dir.path().join("wasm32-wasip2");
        let guest = built.join("guest.wasm");
        sync(&built, "libstd-1.rlib").expect("first");
        fs::write(&guest, "").expect("write");
        sync(&built, "libstd-1.rlib").expect("same library");
        assert!(guest.exists());
        sync(&built, "libstd-2.rlib").expect("other library");
        assert!(!guest.exists());
        assert_eq!(fs::read_to_string(built.join(STAMP)).expect("stamp"), "libstd-2.rlib");
    }

    #[test]
    fn a_library_is_known_by_its_file_name() {
        let dir = tempfile::tempdir().expect("dir");
        assert_eq!(standard_library(dir.path()), None);
        fs::create_dir(dir.path().join("lib")).expect("dir");
        for file in ["libcore-9.rlib", "libstd-7.rlib", "libstd_detect-8.rlib", "libstd-7.rmeta"] {
            fs::write(dir.path().join("lib").join(file), "").expect("write");
        }
        assert_eq!(standard_library(dir.path()).as_deref(), Some("libstd-7.rlib"));
    }
}
