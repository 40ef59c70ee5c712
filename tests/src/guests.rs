//! Where the repository, the built guests and the example tools are.

use std::path::{Path, PathBuf};

/// The repository's root.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the repository").to_owned()
}

/// The folder of an example tool.
///
/// # Panics
/// When there is no such example.
#[track_caller]
pub fn example(name: &str) -> PathBuf {
    let dir = repository().join("examples/tools").join(name);
    assert!(dir.join("index.md").is_file(), "there is no example tool {name:?}");
    dir
}

/// A guest of `tests/guests`, built into a component.
///
/// # Panics
/// When it was not built.
#[track_caller]
pub fn guest(name: &str) -> PathBuf {
    let file = format!("{}.wasm", name.replace('-', "_"));
    let path = target().join("wasm32-wasip2/guest").join(file);
    assert!(path.is_file(), "run `cargo xtask guests` first: there is no {}", path.display());
    path
}

/// Where cargo puts what it builds: this program stands in it.
pub fn target() -> PathBuf {
    let program = std::env::current_exe().expect("this program has a path");
    let marked = program.ancestors().find(|dir| dir.join("CACHEDIR.TAG").is_file());
    marked.map_or_else(|| repository().join("target"), Path::to_owned)
}
