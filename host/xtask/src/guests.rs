//! `cargo xtask guests`: builds every guest in one cargo call and puts each example's component beside its index.md.
//!
//! What a guest is stands in [`workspace`](crate::workspace). The tests' own guests stay in the target directory.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};

use crate::{
    command::Run,
    setup::stamp,
    workspace::{GUEST_PROFILE, GUEST_TARGET, Guest, Workspace},
};

/// Builds and places all guests.
///
/// # Errors
/// When a guest does not build, or makes no component.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let guests = workspace.guests();
    if guests.is_empty() {
        println!("guests: there are none yet");
        return Ok(());
    }
    stamp::clean_if_stale(workspace)?;
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--profile", GUEST_PROFILE, "--target", GUEST_TARGET]);
    for guest in &guests {
        cargo.args(["--package", &guest.package]);
    }
    cargo.run()?;
    let built = workspace.target().join(GUEST_TARGET).join(GUEST_PROFILE);
    for guest in &guests {
        place(guest, &built)?;
    }
    Ok(())
}

/// Copies the component beside the index.md that names it, if there is one and the bytes differ: a file that is
/// unchanged keeps its time and so whatever was derived from it.
fn place(guest: &Guest, built: &Path) -> Result<()> {
    let from = built.join(&guest.file);
    let component = fs::read(&from)
        .with_context(|| format!("cargo built guest {} and left no {}", guest.package, from.display()))?;
    if !is_component(&component) {
        bail!("{} is no component; was it built for another target?", from.display());
    }
    if !guest.folder.join("index.md").is_file() {
        return Ok(());
    }
    let to = guest.folder.join(&guest.file);
    if fs::read(&to).is_ok_and(|old| old == component) {
        println!("{}: unchanged", guest.file);
        return Ok(());
    }
    fs::write(&to, &component).with_context(|| format!("cannot write {}", to.display()))?;
    println!("{}: {} bytes", guest.file, component.len());
    Ok(())
}

/// Whether these bytes begin as a component does; a core module has another version and layer.
pub(crate) fn is_component(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\0asm\x0d\0\x01\0")
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0rest";

    fn guest(folder: &Path) -> Guest {
        Guest { package: "word-count".into(), file: "word_count.wasm".into(), folder: folder.to_owned() }
    }

    #[test]
    fn a_component_is_copied_beside_its_index_md() {
        let (built, folder) = (tempfile::tempdir().expect("dir"), tempfile::tempdir().expect("dir"));
        fs::write(built.path().join("word_count.wasm"), COMPONENT).expect("write");
        place(&guest(folder.path()), built.path()).expect("placed");
        assert!(!folder.path().join("word_count.wasm").exists(), "no index.md, no copy");

        fs::write(folder.path().join("index.md"), "").expect("write");
        place(&guest(folder.path()), built.path()).expect("placed");
        assert_eq!(fs::read(folder.path().join("word_count.wasm")).expect("copied"), COMPONENT);
    }

    #[test]
    fn what_is_no_component_is_refused() {
        let (built, folder) = (tempfile::tempdir().expect("dir"), tempfile::tempdir().expect("dir"));
        let missing = place(&guest(folder.path()), built.path()).expect_err("missing").to_string();
        assert!(missing.starts_with("cargo built guest word-count and left no"), "{missing}");
        fs::write(built.path().join("word_count.wasm"), b"\0asm\x01\0\0\0").expect("write");
        let core = place(&guest(folder.path()), built.path()).expect_err("core module").to_string();
        assert!(core.contains("no component"), "{core}");
    }
}
