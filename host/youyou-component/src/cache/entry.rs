//! One entry of the cache: how it is named, written, verified and mapped.
//!
//! An entry is wasmtime's compiled code, then a blake3 hash of the entry's name and that code, then a marker.

use std::{
    fmt,
    fs::{self, File},
    hash::{Hash, Hasher},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use wasmtime::{Engine, component::Component};

const MARKER: &[u8; 8] = b"youyou-1";
const TRAILER_BYTES: u64 = 32 + MARKER.len() as u64;

/// How old an entry's time stamp may be before a use renews it; to find the least recently used no more is needed.
const STAMP_AGE: Duration = Duration::from_secs(60);

/// Names an entry: the content of a component, and everything that its compiled code depends on besides.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CacheKey {
    content: blake3::Hash,
    environment: blake3::Hash,
}

/// Why an entry cannot be used.
#[derive(Debug)]
pub(super) enum BadEntry {
    Damaged,
    Unreadable(io::Error),
    Refused(wasmtime::Error),
}

impl fmt::Display for BadEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged => f.write_str("damaged"),
            Self::Unreadable(error) => write!(f, "unreadable ({error})"),
            Self::Refused(error) => write!(f, "refused ({error:#})"),
        }
    }
}

impl From<io::Error> for BadEntry {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

impl CacheKey {
    pub(crate) fn new(engine: &Engine, content: blake3::Hash) -> Self {
        let mut environment = StrongHasher(blake3::Hasher::new());
        env!("CARGO_PKG_VERSION").hash(&mut environment);
        engine.precompile_compatibility_hash().hash(&mut environment);
        Self { content, environment: environment.0.finalize() }
    }

    pub(super) fn file_name(&self) -> String {
        format!("{}-{:.16}.cwasm", self.content.to_hex(), self.environment.to_hex())
    }

    fn hasher(&self) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.content.as_bytes()).update(self.environment.as_bytes());
        hasher
    }
}

/// Feeds what implements [`Hash`] to a hash that does not collide.
struct StrongHasher(blake3::Hasher);

impl Hasher for StrongHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let hash = self.0.finalize();
        hash.as_bytes().iter().take(8).fold(0, |value, byte| (value << 8) | u64::from(*byte))
    }
}

/// Makes the directory, for this user alone, and makes sure that it is.
pub(super) fn prepare_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
        builder.mode(0o700).create(dir)?;
        let found = fs::metadata(dir)?;
        // Code from here is run, so nobody else may put any here.
        if found.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::Error::other("it belongs to another user"));
        }
        if found.mode() & 0o077 != 0 {
            fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
        }
    }
    #[cfg(not(unix))]
    builder.create(dir)?;
    Ok(())
}

/// Loads an entry after it was verified; none when there is no such entry.
pub(super) fn load(engine: &Engine, path: &Path, key: &CacheKey) -> Result<Option<Component>, BadEntry> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let found = file.metadata()?;
    let code_bytes = found.len().checked_sub(TRAILER_BYTES).ok_or(BadEntry::Damaged)?;
    let component = match path_of_open_file(&file) {
        Some(same_file) => {
            verify(&mut file, code_bytes, key, |_| {})?;
            // SAFETY: the file holds what `store` wrote, bit by bit, in a directory that is this user's alone; entries
            // are never changed once they have their name, only removed, which does not touch the mapped file.
            unsafe { Component::deserialize_file(engine, same_file) }
        }
        None => {
            let mut code = Vec::new();
            verify(&mut file, code_bytes, key, |bytes| code.extend_from_slice(bytes))?;
            // SAFETY: these bytes are what `store` wrote, bit by bit.
            unsafe { Component::deserialize(engine, &code) }
        }
    };
    let component = component.map_err(BadEntry::Refused)?;
    renew(&file, &found);
    Ok(Some(component))
}

/// A path that leads to this very file, whatever has its name by now; wasmtime maps files by path only.
#[cfg(target_os = "linux")]
fn path_of_open_file(file: &File) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;

    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    path.exists().then_some(path)
}

/// Elsewhere the code is read and copied.
#[cfg(not(target_os = "linux"))]
fn path_of_open_file(_: &File) -> Option<PathBuf> {
    None
}

/// Reads the whole file once, handing on its code, and compares its hash.
fn verify(file: &mut File, code_bytes: u64, key: &CacheKey, mut each: impl FnMut(&[u8])) -> Result<(), BadEntry> {
    let mut hasher = key.hasher();
    let mut code = (&mut *file).take(code_bytes);
    let mut buffer = vec![0; 128 * 1024];
    loop {
        let read = code.read(&mut buffer)?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        hasher.update(bytes);
        each(bytes);
    }
    if code.limit() == 0 && trailer_fits(file, &hasher)? { Ok(()) } else { Err(BadEntry::Damaged) }
}

/// Whether the rest of the file is the trailer that belongs to what was hashed.
fn trailer_fits(file: &mut File, hasher: &blake3::Hasher) -> io::Result<bool> {
    let mut trailer = Vec::new();
    file.take(TRAILER_BYTES + 1).read_to_end(&mut trailer)?;
    Ok(trailer == trailer_for(hasher))
}

fn trailer_for(hasher: &blake3::Hasher) -> Vec<u8> {
    [hasher.finalize().as_bytes().as_slice(), MARKER].concat()
}

/// Marks an entry as used just now. That it cannot be marked only makes it go earlier.
fn renew(file: &File, found: &fs::Metadata) {
    let now = SystemTime::now();
    if found.modified().is_ok_and(|stamp| now.duration_since(stamp).is_ok_and(|age| age > STAMP_AGE)) {
        let _ = file.set_modified(now);
    }
}

/// Writes an entry under a temporary name and gives it its own once it is whole. One that is there already stays.
pub(super) fn store(dir: &Path, key: &CacheKey, code: &[u8]) -> io::Result<()> {
    let mut hasher = key.hasher();
    hasher.update(code);
    let mut file = tempfile::Builder::new().prefix(super::space::TEMPORARY).tempfile_in(dir)?;
    file.write_all(code)?;
    file.write_all(&trailer_for(&hasher))?;
    match file.persist_noclobber(dir.join(key.file_name())) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
        _ => Ok(()),
    }
}
