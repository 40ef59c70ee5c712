//! Whether the program that runs a script is there (K-30): the first line of the file, held against the disk.
//!
//! Unix only. Windows goes by the file's name instead of its first line.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use crate::{
    command::ScriptHost,
    preflight::PreflightError,
    resolve,
    shebang::{self, EnvTarget, HEAD_BYTES, Head, Shebang},
};

/// Checks that the system will find a program to run the file with. A compiled file needs none.
pub(crate) fn check(program: &Path, host: &ScriptHost, working_directory: &Path) -> Result<(), PreflightError> {
    let mut buffer = [0; HEAD_BYTES];
    // A program that may be run but not read is the system's to judge.
    let Ok(head) = read_head(program, &mut buffer) else { return Ok(()) };
    match shebang::read(head) {
        Head::Binary => Ok(()),
        Head::NoShebang(found) => {
            Err(PreflightError::NoShebang { path: program.to_owned(), found, suggestion: suggested_shebang(program) })
        }
        Head::Crlf(line) => Err(PreflightError::CrlfShebang { path: program.to_owned(), line }),
        Head::Shebang(shebang) => check_interpreter(program, &shebang, host, working_directory),
    }
}

fn read_head<'a>(path: &Path, buffer: &'a mut [u8; HEAD_BYTES]) -> io::Result<&'a [u8]> {
    let mut file = File::open(path)?;
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(buffer.get(..filled).unwrap_or_default())
}

fn check_interpreter(
    program: &Path,
    shebang: &Shebang,
    host: &ScriptHost,
    working_directory: &Path,
) -> Result<(), PreflightError> {
    let missing = |reason: String, fix: String| {
        Err(PreflightError::InterpreterMissing {
            path: program.to_owned(),
            line: shebang.line.clone(),
            reason,
            fix: format!("{fix} the first line"),
        })
    };
    // The kernel takes a relative interpreter from the working directory; so does this.
    let interpreter = working_directory.join(&shebang.interpreter);
    if !is_program(&interpreter) {
        let name = interpreter.file_name().unwrap_or_default().to_string_lossy();
        let fix = match resolve::on_path(&name, host.search().iter()) {
            Some(found) => format!("{} does exist; write \"#!/usr/bin/env {name}\" as", found.display()),
            None => "Install it, or correct".to_owned(),
        };
        return missing(format!("{:?} is not a program on this machine", shebang.interpreter), fix);
    }
    match shebang.env_target() {
        None | Some(EnvTarget::Unknown) => Ok(()),
        Some(EnvTarget::NeedsSplit(words)) => missing(
            format!("env would look for one program named {words:?}"),
            format!("Write \"#!{} -S {words}\" as", shebang.interpreter),
        ),
        Some(EnvTarget::Program(name)) => {
            let found = if name.contains('/') {
                is_program(&working_directory.join(name))
            } else {
                let entries: Vec<_> = host.search().iter().map(|entry| working_directory.join(entry)).collect();
                resolve::on_path(name, entries.iter()).is_some_and(|found| resolve::is_executable(&found))
            };
            if found {
                return Ok(());
            }
            missing(format!("{name:?} is not on PATH"), format!("Install {name}, add its folder to PATH, or correct"))
        }
    }
}

fn is_program(path: &Path) -> bool {
    path.is_file() && resolve::is_executable(path)
}

/// A first line that fits the file's name.
fn suggested_shebang(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("py") => "#!/usr/bin/env python3",
        Some("js" | "mjs" | "cjs") => "#!/usr/bin/env node",
        Some("rb") => "#!/usr/bin/env ruby",
        Some("pl") => "#!/usr/bin/env perl",
        Some("bash") => "#!/usr/bin/env bash",
        Some(_) | None => "#!/bin/sh",
    }
}
