//! What cargo knows of this workspace: its root, its target directory, its guests.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use cargo_metadata::{CrateType, Metadata, MetadataCommand, Package};

/// The target that guests are built for.
pub(crate) const GUEST_TARGET: &str = "wasm32-wasip2";

/// The profile of the root Cargo.toml that guests are built with.
pub(crate) const GUEST_PROFILE: &str = "guest";

/// Where guests lie. A workspace member below one of these that makes a `cdylib` is a guest; there is nothing else to
/// declare.
const GUEST_FOLDERS: [&str; 3] = ["examples/tools", "examples/plugins", "tests/guests"];

/// This workspace, as cargo sees it.
pub(crate) struct Workspace {
    metadata: Metadata,
}

/// A package that is built into a component.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Guest {
    /// The package's name.
    pub(crate) package: String,
    /// The component's file name, `word_count.wasm`.
    pub(crate) file: String,
    /// The package's folder.
    pub(crate) folder: PathBuf,
}

impl Workspace {
    /// Asks cargo. Downloads nothing.
    ///
    /// # Errors
    /// When a manifest of the workspace does not parse.
    pub(crate) fn load() -> Result<Self> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
        let metadata = MetadataCommand::new().manifest_path(manifest).no_deps().exec()?;
        Ok(Self { metadata })
    }

    /// The folder of the root Cargo.toml.
    pub(crate) fn root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    /// Where cargo puts what it builds; follows `CARGO_TARGET_DIR`.
    pub(crate) fn target(&self) -> &Path {
        self.metadata.target_directory.as_std_path()
    }

    /// A fresh folder for work that leaves nothing behind; it goes when the value is dropped.
    ///
    /// # Errors
    /// When the target directory cannot be written.
    pub(crate) fn scratch(&self) -> Result<tempfile::TempDir> {
        let parent = self.target().join("xtask");
        fs::create_dir_all(&parent).with_context(|| format!("cannot make {}", parent.display()))?;
        tempfile::tempdir_in(&parent).with_context(|| format!("cannot make a folder in {}", parent.display()))
    }

    /// The cargo that runs this program, in the workspace's root.
    pub(crate) fn cargo(&self) -> Command {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(self.root());
        cargo
    }

    /// Every guest, by name.
    pub(crate) fn guests(&self) -> Vec<Guest> {
        let mut guests: Vec<_> = self.metadata.workspace_packages().iter().filter_map(|p| self.guest(p)).collect();
        guests.sort_by(|a, b| a.package.cmp(&b.package));
        guests
    }

    fn guest(&self, package: &Package) -> Option<Guest> {
        let folder = package.manifest_path.parent()?;
        let inside = folder.strip_prefix(&self.metadata.workspace_root).ok()?;
        if !GUEST_FOLDERS.iter().any(|guests| inside.starts_with(guests)) {
            return None;
        }
        let component = package.targets.iter().find(|target| target.crate_types.contains(&CrateType::CDyLib))?;
        Some(Guest {
            package: package.name.to_string(),
            file: format!("{}.wasm", component.name.replace('-', "_")),
            folder: folder.as_std_path().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_found_from_any_directory() {
        let workspace = Workspace::load().expect("metadata");
        assert!(workspace.root().join("rust-toolchain.toml").is_file());
    }

    #[test]
    fn a_crate_of_the_host_is_no_guest() {
        let guests = Workspace::load().expect("metadata").guests();
        assert!(guests.iter().all(|guest| !guest.folder.components().any(|part| part.as_os_str() == "host")));
    }
}
