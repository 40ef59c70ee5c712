//! `youyou new`: a folder with a first version that works.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use youyou::{Error, ErrorCode, ToolName};

use super::{Places, usage};
use crate::{
    args::{Language, NewTool},
    exit::Exit,
    print,
};

/// One file of a template: where it goes, what is in it, and whether it can be run.
struct Template {
    path: &'static str,
    text: &'static str,
    kind: Kind,
}

enum Kind {
    Text,
    Program,
}

const SH: &[Template] = &[
    Template { path: "index.md", text: include_str!("../../templates/tool/sh/index.md"), kind: Kind::Text },
    Template { path: "run.sh", text: include_str!("../../templates/tool/sh/run.sh"), kind: Kind::Program },
];

const PYTHON: &[Template] = &[
    Template { path: "index.md", text: include_str!("../../templates/tool/python/index.md"), kind: Kind::Text },
    Template { path: "run.py", text: include_str!("../../templates/tool/python/run.py"), kind: Kind::Program },
];

const RUST: &[Template] = &[
    Template { path: "index.md", text: include_str!("../../templates/tool/rust/index.md"), kind: Kind::Text },
    Template { path: "Cargo.toml", text: include_str!("../../templates/tool/rust/Cargo.toml.in"), kind: Kind::Text },
    Template { path: "src/lib.rs", text: include_str!("../../templates/tool/rust/src/lib.rs"), kind: Kind::Text },
    Template { path: ".gitignore", text: "/target\n", kind: Kind::Text },
];

pub(crate) fn run(args: NewTool, places: &Places) -> Result<Exit, Error> {
    let name = ToolName::new(args.name).map_err(|error| usage(error.to_string()))?;
    let dir = args.into.unwrap_or_else(|| places.workspace.clone()).join(name.as_str());
    create(&dir, &name, args.lang)?;
    print::line(&next_steps(&dir, &name, args.lang));
    Ok(Exit::Ok)
}

/// Writes the template into a new folder; never into one that exists.
fn create(dir: &Path, name: &ToolName, language: Language) -> Result<(), Error> {
    if let Some(parent) = dir.parent() {
        fs::create_dir_all(parent).map_err(|error| cannot(parent, &error))?;
    }
    fs::create_dir(dir).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => usage(format!("{} exists already; nothing was changed", dir.display())),
        _ => cannot(dir, &error),
    })?;
    let files = match language {
        Language::Rust => RUST,
        Language::Sh => SH,
        Language::Python => PYTHON,
    };
    for file in files {
        let path = dir.join(file.path);
        let text = file
            .text
            .replace("{{name}}", name.as_str())
            .replace("{{crate}}", &name.as_str().replace('-', "_"))
            .replace("{{sdk}}", &sdk_dependency());
        write(&path, &text, &file.kind).map_err(|error| cannot(&path, &error))?;
    }
    Ok(())
}

fn write(path: &Path, text: &str, kind: &Kind) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, text)?;
    match kind {
        Kind::Text => Ok(()),
        #[cfg(unix)]
        Kind::Program => {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        }
        #[cfg(not(unix))]
        Kind::Program => Ok(()),
    }
}

fn cannot(path: &Path, error: &io::Error) -> Error {
    Error::new(ErrorCode::InvalidInput, format!("cannot create {}: {error}", path.display()))
}

/// Where the new crate finds the guest SDK: beside this program's own source where that is still there, so that a
/// program built from a checkout makes tools that build; otherwise by version.
fn sdk_dependency() -> String {
    let here: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", "guest-sdk", "youyou-guest"].iter().collect();
    match fs::canonicalize(here) {
        Ok(path) => format!("{{ path = {:?} }}", path.display().to_string()),
        Err(_) => format!("{:?}", env!("CARGO_PKG_VERSION")),
    }
}

fn next_steps(dir: &Path, name: &ToolName, language: Language) -> String {
    let dir = quoted(dir);
    let run = format!("youyou run-tool {dir} --args '{{\"who\":\"Ada\"}}'");
    let install = format!("to install it for every project: move the folder to ~/.youyou/tools/{name}");
    match language {
        Language::Rust => format!(
            "made {dir}\n\nnext:\n  cd {dir}\n  cargo test\n  rustup target add wasm32-wasip2      # once\n  \
             cargo build --release --target wasm32-wasip2\n  {run}\n\n{install}"
        ),
        Language::Sh | Language::Python => format!("made {dir}\n\nnext:\n  {run}\n\n{install}"),
    }
}

/// A path as a POSIX shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    if text.chars().all(|c| c.is_alphanumeric() || "/._-+:@%,~".contains(c)) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
