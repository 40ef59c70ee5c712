//! `youyou new`: a folder with a first version that works.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use youyou::{Error, ErrorCode, PluginId, ToolName};

use super::{Places, usage};
use crate::{
    args::{Language, NewPlugin, NewTool},
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

const TOOL_SH: &[Template] = &[
    Template { path: "index.md", text: include_str!("../../templates/tool/sh/index.md"), kind: Kind::Text },
    Template { path: "run.sh", text: include_str!("../../templates/tool/sh/run.sh"), kind: Kind::Program },
];

const TOOL_PYTHON: &[Template] = &[
    Template { path: "index.md", text: include_str!("../../templates/tool/python/index.md"), kind: Kind::Text },
    Template { path: "run.py", text: include_str!("../../templates/tool/python/run.py"), kind: Kind::Program },
];

const TOOL_RUST: &[Template] = &[
    Template { path: "index.md", text: include_str!("../../templates/tool/rust/index.md"), kind: Kind::Text },
    Template { path: "Cargo.toml", text: include_str!("../../templates/tool/rust/Cargo.toml.in"), kind: Kind::Text },
    Template { path: "src/lib.rs", text: include_str!("../../templates/tool/rust/src/lib.rs"), kind: Kind::Text },
    Template { path: ".gitignore", text: "/target\n", kind: Kind::Text },
];

const PLUGIN_SH: &[Template] = &[
    Template { path: "index.md", text: include_str!("../../templates/plugin/sh/index.md"), kind: Kind::Text },
    Template { path: "before.sh", text: include_str!("../../templates/plugin/sh/before.sh"), kind: Kind::Program },
];

const PLUGIN_PYTHON: &[Template] = &[
    Template { path: "index.md", text: include_str!("../../templates/plugin/python/index.md"), kind: Kind::Text },
    Template { path: "hooks.py", text: include_str!("../../templates/plugin/python/hooks.py"), kind: Kind::Program },
];

const PLUGIN_RUST: &[Template] = &[
    Template { path: "index.md", text: include_str!("../../templates/plugin/rust/index.md"), kind: Kind::Text },
    Template { path: "Cargo.toml", text: include_str!("../../templates/plugin/rust/Cargo.toml.in"), kind: Kind::Text },
    Template { path: "src/lib.rs", text: include_str!("../../templates/plugin/rust/src/lib.rs"), kind: Kind::Text },
    Template { path: ".gitignore", text: "/target\n", kind: Kind::Text },
];

pub(crate) fn tool(args: NewTool, places: &Places) -> Result<Exit, Error> {
    let name = ToolName::new(args.name).map_err(|error| usage(error.to_string()))?;
    let files = match args.lang {
        Language::Rust => TOOL_RUST,
        Language::Sh => TOOL_SH,
        Language::Python => TOOL_PYTHON,
    };
    let dir = create(args.into, places, name.as_str(), files)?;
    let run = format!("youyou run-tool {dir} --args '{{\"who\":\"Ada\"}}'");
    next(&dir, args.lang, &format!("  {run}"), &places.home.join("tools").join(name.as_str()))?;
    Ok(Exit::Ok)
}

pub(crate) fn plugin(args: NewPlugin, places: &Places) -> Result<Exit, Error> {
    let id = PluginId::new(args.id).map_err(|error| usage(error.to_string()))?;
    let files = match args.lang {
        Language::Rust => PLUGIN_RUST,
        Language::Sh => PLUGIN_SH,
        Language::Python => PLUGIN_PYTHON,
    };
    let dir = create(args.into, places, id.as_str(), files)?;
    let run = |path: &str| {
        format!("  youyou run-hook {dir} BeforeToolUse --payload '{{\"arguments\":{{\"path\":\"{path}\"}}}}'")
    };
    let commands = format!("{}\n{}", run("notes.txt"), run(".env"));
    next(&dir, args.lang, &commands, &places.home.join("plugins").join(id.as_str()))?;
    Ok(Exit::Ok)
}

/// Says what to do with a new folder: build it, where that is needed, try it by these commands, and move it home.
fn next(dir: &str, language: Language, commands: &str, home: &Path) -> Result<(), Error> {
    let build = match language {
        Language::Rust => format!(
            "  cd {dir}\n  cargo test\n  rustup target add wasm32-wasip2      # once\n  cargo build --release --target \
             wasm32-wasip2\n"
        ),
        Language::Sh | Language::Python => String::new(),
    };
    print::line(&format!(
        "made {dir}\n\nnext:\n{build}{commands}\n\nto install it for every project: move the folder to {}",
        quoted(home)
    ))
}

/// Writes the template into a new folder, never into one that exists; gives the folder as a shell takes it. Of one that
/// cannot be written whole nothing is left.
fn create(into: Option<PathBuf>, places: &Places, name: &str, files: &[Template]) -> Result<String, Error> {
    let dir = &into.unwrap_or_else(|| places.workspace.clone()).join(name);
    if let Some(parent) = dir.parent() {
        fs::create_dir_all(parent).map_err(|error| cannot(parent, &error))?;
    }
    fs::create_dir(dir).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => usage(format!("{} exists already; nothing was changed", dir.display())),
        _ => cannot(dir, &error),
    })?;
    if let Err(error) = files.iter().try_for_each(|file| fill(dir, name, file)) {
        // What is left if that fails too is no more than was begun here.
        let _left = fs::remove_dir_all(dir);
        return Err(error);
    }
    Ok(quoted(dir))
}

fn fill(dir: &Path, name: &str, file: &Template) -> Result<(), Error> {
    let path = dir.join(file.path);
    let text = file
        .text
        .replace("{{name}}", name)
        .replace("{{package}}", &package(name))
        .replace("{{crate}}", &package(name).replace('-', "_"))
        .replace("{{sdk}}", &sdk_dependency());
    write(&path, &text, &file.kind).map_err(|error| cannot(&path, &error))
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

/// The name as a crate can have it: an id may hold dots, and either may begin with a digit.
fn package(name: &str) -> String {
    let package = name.replace('.', "-");
    if package.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') { package } else { format!("_{package}") }
}

/// A path as a POSIX shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    if text.chars().all(|c| c.is_alphanumeric() || "/._-+:@%,~".contains(c)) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
