//! How much the cache holds, and what goes when that is too much.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// How the names of unfinished entries begin.
pub(super) const TEMPORARY: &str = ".unfinished-";

/// An unfinished entry this old was left by a process that died.
const ABANDONED: Duration = Duration::from_secs(3600);

pub(super) struct Entry {
    path: PathBuf,
    pub(super) bytes: u64,
    used: SystemTime,
}

/// The entries of a directory; none when it is not there.
pub(super) fn entries(dir: &Path) -> io::Result<Vec<Entry>> {
    list(dir, |name| name.ends_with(".cwasm"))
}

fn list(dir: &Path, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<Entry>> {
    let listing = match fs::read_dir(dir) {
        Ok(listing) => listing,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in listing {
        let entry = entry?;
        // Another process may have removed it since.
        let (true, Ok(metadata)) = (entry.file_name().to_str().is_some_and(&wanted), entry.metadata()) else {
            continue;
        };
        let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        found.push(Entry { path: entry.path(), bytes: metadata.len(), used });
    }
    Ok(found)
}

/// Removes the least recently used entries until the rest fits, but not `newest`; and what dead processes left.
pub(super) fn make_room(dir: &Path, limit_bytes: u64, newest: &str) -> io::Result<()> {
    let mut entries = entries(dir)?;
    let mut bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
    entries.sort_by_key(|entry| entry.used);
    for entry in entries.iter().filter(|entry| !entry.path.ends_with(newest)) {
        if bytes <= limit_bytes {
            break;
        }
        remove(&entry.path)?;
        bytes -= entry.bytes;
    }
    let now = SystemTime::now();
    for entry in list(dir, |name| name.starts_with(TEMPORARY))? {
        if now.duration_since(entry.used).is_ok_and(|age| age > ABANDONED) {
            remove(&entry.path)?;
        }
    }
    Ok(())
}

pub(super) fn clear(dir: &Path) -> io::Result<()> {
    for entry in list(dir, |name| name.ends_with(".cwasm") || name.starts_with(TEMPORARY))? {
        remove(&entry.path)?;
    }
    Ok(())
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
