//! Holds the direction of dependencies: `cli, tauri → youyou → {core, files, script, component, storage, providers} →
//! api`, and which part alone may name a heavy or powerful crate.
//!
//! Only what the manifests declare is looked at. Development dependencies may reach further, for tests and benchmarks,
//! except among the six in the middle.

use std::path::Path;

use cargo_metadata::{Dependency, DependencyKind, Metadata, MetadataCommand, Package};

/// The six that never see one another.
const MIDDLE: [&str; 6] =
    ["youyou-core", "youyou-files", "youyou-script", "youyou-component", "youyou-storage", "youyou-providers"];

/// Which crates of this workspace a crate of the host may depend on.
fn may_see(package: &str) -> Option<&'static [&'static str]> {
    Some(match package {
        "youyou-api" => &[],
        middle if MIDDLE.contains(&middle) => &["youyou-api"],
        "youyou" => &[
            "youyou-api",
            "youyou-core",
            "youyou-files",
            "youyou-script",
            "youyou-component",
            "youyou-storage",
            "youyou-providers",
        ],
        "youyou-cli" | "youyou-tauri" => &["youyou"],
        "xtask" => &["youyou-api"],
        _ => return None,
    })
}

/// Crates that one part alone may name: the start of their names, who may, and why.
const FENCED: [(&[&str], &str, &str); 4] = [
    (
        &["wasmtime", "wasmparser", "cranelift"],
        "youyou-component",
        "everything else compiles without the component engine and does not know that there is one",
    ),
    (&["process-wrap"], "youyou-script", "one place starts processes, bounds them and kills them"),
    (&["reqwest", "ureq"], "youyou-providers", "one place speaks HTTP to a model"),
    (&["rusqlite", "libsqlite3-sys", "sqlx"], "youyou-storage", "one place links SQLite"),
];

fn metadata() -> Metadata {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    MetadataCommand::new().manifest_path(manifest).no_deps().exec().expect("cargo metadata")
}

/// Everything that the rules object to, one teaching sentence each.
fn violations(metadata: &Metadata) -> Vec<String> {
    let root = &metadata.workspace_root;
    let mut found = Vec::new();
    for package in metadata.workspace_packages() {
        let inside = |folder: &str| package.manifest_path.starts_with(root.join(folder));
        if inside("host") {
            found.extend(direction(package));
            found.extend(async_world(package));
        }
        if inside("guest-sdk") || inside("examples/tools") || inside("examples/plugins") || inside("tests/guests") {
            found.extend(guest(package, &root.join("guest-sdk")));
        }
        found.extend(fences(package));
    }
    found
}

/// Declared dependencies that end up in what is built for a user.
fn built_in(package: &Package) -> impl Iterator<Item = &Dependency> {
    package.dependencies.iter().filter(|dependency| dependency.kind != DependencyKind::Development)
}

fn direction(package: &Package) -> Vec<String> {
    let name = package.name.as_str();
    let Some(allowed) = may_see(name) else {
        return vec![format!(
            "{name} is a crate of the host that the architecture does not know. A new crate needs a heavy dependency \
             to fence, another audience, or a border that must not be crossed; otherwise make it a module. If it has \
             one, give it a row here and in docs/architecture.md."
        )];
    };
    let ours = package.dependencies.iter().filter(|dependency| dependency.path.is_some());
    let held = ours.filter(|dependency| dependency.kind != DependencyKind::Development || MIDDLE.contains(&name));
    held.filter(|dependency| !allowed.contains(&dependency.name.as_str()))
        .map(|dependency| {
            let seen = &dependency.name;
            if MIDDLE.contains(&name) && MIDDLE.contains(&seen.as_str()) {
                format!(
                    "{name} depends on {seen}: parts in the middle never see one another. Put the type or trait that \
                     both need into youyou-api, and let youyou join the two."
                )
            } else {
                format!(
                    "{name} depends on {seen}: dependencies point down only, and {name} may see {}. Use what that \
                     offers or re-exports, or move the code to where both sides may see it.",
                    if allowed.is_empty() { "no other crate of the host".to_owned() } else { allowed.join(", ") }
                )
            }
        })
        .collect()
}

/// What a crate of the host may take of tokio: the vocabulary nothing, the core neither processes, files nor network, and
/// only script processes.
fn async_world(package: &Package) -> Vec<String> {
    let name = package.name.as_str();
    let refused: &[&str] = match name {
        "youyou-core" => &["process", "fs", "net", "full"],
        "youyou-script" => &["full"],
        _ => &["process", "full"],
    };
    let mut found = Vec::new();
    for tokio in built_in(package).filter(|dependency| dependency.name == "tokio") {
        if name == "youyou-api" {
            found.push(
                "youyou-api depends on tokio: the vocabulary does no I/O and starts no task; of the async world it has \
                 only futures' traits and tokio-util's CancellationToken."
                    .to_owned(),
            );
        }
        found.extend(tokio.features.iter().filter(|feature| refused.contains(&feature.as_str())).map(|feature| {
            format!(
                "{name} asks for tokio's feature {feature:?}: only youyou-script starts processes, and youyou-core does \
                 no I/O at all. Take a port from youyou-api and let youyou pass the implementation in."
            )
        }));
    }
    found
}

fn guest(package: &Package, sdk: &cargo_metadata::camino::Utf8Path) -> Vec<String> {
    let beyond = |dependency: &&Dependency| dependency.path.as_ref().is_some_and(|path| !path.starts_with(sdk));
    built_in(package)
        .filter(beyond)
        .map(|dependency| {
            format!(
                "{} depends on {}: guests and their SDK see wit/ and guest-sdk/ alone, so that an author's guest needs \
                 nothing of the host. What both sides must agree on belongs into wit/.",
                package.name, dependency.name
            )
        })
        .collect()
}

fn fences(package: &Package) -> Vec<String> {
    let mut found = Vec::new();
    for (starts, owner, why) in FENCED.iter().filter(|(_, owner, _)| package.name.as_str() != *owner) {
        let named =
            built_in(package).filter(|dependency| starts.iter().any(|start| dependency.name.starts_with(start)));
        found.extend(named.map(|dependency| {
            format!("{} depends on {}: only {owner} may, for {why}.", package.name, dependency.name)
        }));
    }
    found
}

/// Y1-1, Y1-2, Y1-7: the core can keep nothing, run nothing and speak to nobody, and brings no part of its own: what it has
/// is registered.
#[test]
fn dependencies_point_down_only() {
    let found = violations(&metadata());
    assert!(found.is_empty(), "\n- {}\n", found.join("\n- "));
}

/// C-4: the folders of the top level, and the crates that the work rests on.
#[test]
fn the_top_level_and_its_crates_are_as_agreed() {
    let metadata = metadata();
    for folder in ["host", "wit", "guest-sdk", "examples", "tests", "docs"] {
        assert!(metadata.workspace_root.join(folder).is_dir(), "there is no folder {folder}");
    }
    for package in metadata.workspace_packages() {
        let path = package.manifest_path.strip_prefix(&metadata.workspace_root).expect("it lies in the workspace");
        let folder = path.components().next().map(|folder| folder.as_str());
        let known = ["host", "guest-sdk", "examples", "tests"];
        assert!(folder.is_some_and(|folder| known.contains(&folder)), "{path} lies in none of {known:?}");
    }

    let packages = metadata.workspace_packages();
    let named: Vec<_> = packages.iter().flat_map(|package| built_in(package)).collect();
    for expected in [
        "wasmtime",
        "wasmtime-wasi",
        "wit-bindgen",
        "tokio",
        "serde",
        "serde_json",
        "serde_yaml",
        "cap-std",
        "tracing",
        "thiserror",
        "dirs",
    ] {
        let here = |dependency: &&Dependency| dependency.rename.as_deref().unwrap_or(&dependency.name) == expected;
        assert!(named.iter().any(here), "no crate names {expected}");
    }
}

/// A workspace with one package, which lies in `folder` and has these dependencies.
fn workspace_with(folder: &str, dependencies: &[(&str, serde_json::Value)]) -> Metadata {
    let name = folder.rsplit('/').next().unwrap_or_default();
    let dependencies: Vec<_> = dependencies
        .iter()
        .map(|(name, more)| {
            let mut dependency = serde_json::json!({
                "name": name, "source": null, "req": "*", "kind": null, "optional": false,
                "uses_default_features": true, "features": [], "target": null, "rename": null, "registry": null
            });
            let fields = dependency.as_object_mut().expect("an object");
            fields.extend(more.as_object().expect("an object").clone());
            dependency
        })
        .collect();
    let id = format!("path+file:///w/{folder}#0.1.0");
    let metadata = serde_json::json!({
        "packages": [{
            "name": name, "version": "0.1.0", "id": id, "manifest_path": format!("/w/{folder}/Cargo.toml"),
            "dependencies": dependencies, "targets": [], "features": {}
        }],
        "workspace_members": [id], "workspace_default_members": [id], "resolve": null,
        "target_directory": "/w/target", "version": 1, "workspace_root": "/w", "metadata": null
    });
    serde_json::from_value(metadata).expect("metadata")
}

#[test]
fn each_way_to_break_the_direction_is_told_with_its_remedy() {
    use serde_json::json;
    let ours = |name: &str| json!({ "path": format!("/w/host/{name}") });
    let cases = [
        ("host/youyou-core", "youyou-script", ours("youyou-script"), "never see one another"),
        ("host/youyou-api", "youyou-core", ours("youyou-core"), "no other crate of the host"),
        ("host/youyou-cli", "youyou-component", ours("youyou-component"), "youyou-cli may see youyou"),
        ("host/youyou-new", "serde", json!({}), "give it a row"),
        ("host/youyou-core", "youyou-files", json!({ "path": "/w/host/youyou-files", "kind": "dev" }), "never see"),
        ("host/youyou-cli", "wasmtime-wasi", json!({}), "only youyou-component may"),
        ("host/youyou", "process-wrap", json!({}), "only youyou-script may"),
        ("host/youyou-api", "tokio", json!({}), "the vocabulary does no I/O"),
        ("host/youyou-core", "tokio", json!({ "features": ["net"] }), "feature \"net\""),
        ("host/youyou", "tokio", json!({ "features": ["rt", "process"] }), "feature \"process\""),
        ("guest-sdk/youyou-guest", "youyou-api", ours("youyou-api"), "see wit/ and guest-sdk/ alone"),
        ("examples/tools/word-count", "youyou-api", ours("youyou-api"), "see wit/ and guest-sdk/ alone"),
    ];
    for (folder, dependency, more, expected) in cases {
        let found = violations(&workspace_with(folder, &[(dependency, more)]));
        assert!(matches!(&found[..], [one] if one.contains(expected)), "{folder} → {dependency}: {found:?}");
    }
}

#[test]
fn what_the_design_allows_is_allowed() {
    use serde_json::json;
    let cases = [
        ("host/youyou-script", "tokio", json!({ "features": ["process"] })),
        ("host/youyou-component", "wasmtime", json!({})),
        ("host/youyou", "youyou-core", json!({ "path": "/w/host/youyou-core" })),
        ("host/youyou", "wasmtime", json!({ "kind": "dev" })),
        ("examples/tools/word-count", "youyou-guest", json!({ "path": "/w/guest-sdk/youyou-guest" })),
    ];
    for (folder, dependency, more) in cases {
        assert_eq!(violations(&workspace_with(folder, &[(dependency, more)])), Vec::<String>::new(), "{folder}");
    }
}
