//! Modes that speak WASI without a libc in between, which would refuse or rewrite paths by itself.

use wasip2::filesystem::{
    preopens::get_directories,
    types::{Descriptor, DescriptorFlags, ErrorCode, NewTimestamp, OpenFlags, PathFlags},
};

use crate::run::Arguments;

/// The answer of `mode`, or its error as text; none when there is no such mode.
///
/// `at` is the name of a preopened directory, `path` is relative to it.
pub(crate) fn attempt(mode: &str, arguments: &Arguments) -> Option<Result<String, String>> {
    let (path, to) = (arguments.text("path"), arguments.text("to"));
    let at = || preopened(arguments.text("at"));
    Some(match mode {
        "preopens" => Ok(get_directories().into_iter().map(|(_, name)| name).collect::<Vec<_>>().join("\n")),
        "raw-read" => at().and_then(|dir| read(&dir, path)),
        "raw-write" => at().and_then(|dir| write(&dir, path)),
        "raw-rename" => at().and_then(|dir| done(dir.rename_at(path, &preopened(arguments.text("to-at"))?, to))),
        "raw-symlink" => at().and_then(|dir| done(dir.symlink_at(to, path))),
        "raw-every-change" => at().map(|dir| every_change(&dir, path)),
        "raw-every-look" => at().map(|dir| every_look(&dir, path)),
        _ => return None,
    })
}

fn preopened(name: &str) -> Result<Descriptor, String> {
    let found = get_directories().into_iter().find(|(_, preopened)| preopened == name);
    found.map(|(dir, _)| dir).ok_or_else(|| format!("nothing is preopened as {name:?}"))
}

fn done(result: Result<(), ErrorCode>) -> Result<String, String> {
    result.map(|()| "done".to_owned()).map_err(|code| code.name().to_owned())
}

fn read(dir: &Descriptor, path: &str) -> Result<String, String> {
    let named = |code: ErrorCode| code.name().to_owned();
    let file =
        dir.open_at(PathFlags::SYMLINK_FOLLOW, path, OpenFlags::empty(), DescriptorFlags::READ).map_err(named)?;
    let (bytes, _) = file.read(1 << 16, 0).map_err(named)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn write(dir: &Descriptor, path: &str) -> Result<String, String> {
    let named = |code: ErrorCode| code.name().to_owned();
    let file = dir.open_at(PathFlags::empty(), path, OpenFlags::CREATE, DescriptorFlags::WRITE).map_err(named)?;
    file.write(b"raw", 0).map(|count| count.to_string()).map_err(named)
}

/// Every function that could change something, tried on `path` and on a file that is open for reading.
fn every_change(dir: &Descriptor, path: &str) -> String {
    let now = NewTimestamp::Now;
    let open = |open, flags| dir.open_at(PathFlags::empty(), path, open, flags).map(drop);
    let mut tried = vec![
        ("open-at create", open(OpenFlags::CREATE, DescriptorFlags::READ)),
        ("open-at truncate", open(OpenFlags::TRUNCATE, DescriptorFlags::READ)),
        ("open-at write", open(OpenFlags::empty(), DescriptorFlags::WRITE)),
        ("create-directory-at", dir.create_directory_at("new")),
        ("set-times-at", dir.set_times_at(PathFlags::empty(), path, now, now)),
        ("link-at", dir.link_at(PathFlags::empty(), path, dir, "new")),
        ("rename-at", dir.rename_at(path, dir, "new")),
        ("symlink-at", dir.symlink_at(path, "new")),
        ("unlink-file-at", dir.unlink_file_at(path)),
        ("remove-directory-at", dir.remove_directory_at(path)),
        ("set-times of the directory", dir.set_times(now, now)),
    ];
    if let Ok(file) = dir.open_at(PathFlags::empty(), path, OpenFlags::empty(), DescriptorFlags::READ) {
        tried.extend([
            ("set-size", file.set_size(0)),
            ("set-times", file.set_times(now, now)),
            ("write", file.write(b"x", 0).map(drop)),
            ("write-via-stream", file.write_via_stream(0).map(drop)),
            ("append-via-stream", file.append_via_stream().map(drop)),
        ]);
    }
    listed(tried)
}

/// Every function that looks at a path or at a directory.
fn every_look(dir: &Descriptor, path: &str) -> String {
    let flags = PathFlags::SYMLINK_FOLLOW;
    listed(vec![
        ("open-at", dir.open_at(flags, path, OpenFlags::empty(), DescriptorFlags::READ).map(drop)),
        ("open-at directory", dir.open_at(flags, path, OpenFlags::DIRECTORY, DescriptorFlags::READ).map(drop)),
        ("stat-at", dir.stat_at(flags, path).map(drop)),
        ("readlink-at", dir.readlink_at(path).map(drop)),
        ("metadata-hash-at", dir.metadata_hash_at(flags, path).map(drop)),
        ("read-directory", dir.read_directory().map(drop)),
        ("stat", dir.stat().map(drop)),
        ("metadata-hash", dir.metadata_hash().map(drop)),
        ("read", dir.read(1, 0).map(drop)),
        ("read-via-stream", dir.read_via_stream(0).map(drop)),
        ("sync", dir.sync()),
    ])
}

fn listed(tried: Vec<(&str, Result<(), ErrorCode>)>) -> String {
    let line = |(name, result): (&str, Result<(), ErrorCode>)| match result {
        Ok(()) => format!("{name}: done"),
        Err(code) => format!("{name}: {}", code.name()),
    };
    tried.into_iter().map(line).collect::<Vec<_>>().join("\n")
}
