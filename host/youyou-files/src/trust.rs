//! Which project folders the user trusts, by the hash of what is in them (D-40): `~/.youyou/trusted-projects.json`.
//!
//! Nobody is asked here. A file that cannot be understood trusts nothing and is never lost.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use youyou_api::{Error, ErrorCode, ErrorSource};

use crate::{
    problem::{Problem, Severity},
    regular_file,
};

/// The file's name below the home.
pub const TRUST_FILE: &str = "trusted-projects.json";

/// Who holds a lock on this file writes the other.
const LOCK_FILE: &str = ".trusted-projects.lock";

/// How long others may take to write; far longer than they do.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait before trying again.
const PAUSE: Duration = Duration::from_millis(2);

/// The only version of the file.
const VERSION: u64 = 1;
/// The largest file that is read; tens of thousands of projects.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u64,
    /// The hash that was trusted last, by the workspace's canonical path.
    projects: BTreeMap<String, String>,
}

/// The projects that are trusted, as the file said when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustStore {
    home: PathBuf,
    /// None where the file is there and not understood.
    projects: Option<BTreeMap<String, String>>,
}

/// The trust in a project could not be written down; it counts for nothing next time.
#[derive(Debug, thiserror::Error)]
#[error("the trust in a project cannot be written to {}", path.display())]
pub struct NotKept {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl From<NotKept> for Error {
    fn from(error: NotKept) -> Self {
        let message = format!("{error}: {}; check that its folder can be written to", error.source);
        Self::new(ErrorCode::StorageError, message).with_origin(ErrorSource::Agent).with_cause(error)
    }
}

impl TrustStore {
    /// Reads the file of a home, with a warning where it is not understood; without a file nothing is trusted.
    pub fn open(home: &Path) -> (Self, Option<Problem>) {
        let (projects, problem) = match read(&home.join(TRUST_FILE)) {
            Ok(projects) => (Some(projects), None),
            Err(problem) => (None, Some(*problem)),
        };
        (Self { home: home.to_owned(), projects }, problem)
    }

    /// Whether the user trusts what this workspace held when its hash was this.
    pub fn is_trusted(&self, workspace: &Path, hash: &str) -> bool {
        let trusted = self.projects.as_ref().and_then(|projects| projects.get(&key(workspace)));
        trusted.is_some_and(|trusted| trusted == hash)
    }

    /// Trusts what this workspace holds now, instead of what it held before, and writes it down at once.
    ///
    /// What other processes have written since is kept: they take turns, and this blocks until it has one. A file that is not understood is renamed to `trusted-projects.json.bak` first, with a number if
    /// there is one already.
    ///
    /// # Errors
    /// [`NotKept`] when the file cannot be written; then nothing has changed.
    pub fn trust(&mut self, workspace: &Path, hash: &str) -> Result<(), NotKept> {
        let path = self.home.join(TRUST_FILE);
        let not_kept = |source| NotKept { path: path.clone(), source };
        fs::create_dir_all(&self.home).map_err(not_kept)?;
        let _turn = take_turn(&self.home.join(LOCK_FILE)).map_err(not_kept)?;
        let mut projects = match read(&path) {
            Ok(projects) => projects,
            Err(_) => {
                set_aside(&path).map_err(not_kept)?;
                BTreeMap::new()
            }
        };
        projects.insert(key(workspace), hash.to_owned());
        let stored = Stored { version: VERSION, projects };
        write(&path, &stored).map_err(not_kept)?;
        self.projects = Some(stored.projects);
        Ok(())
    }
}

/// Waits until nobody else writes. The system ends a turn when its process ends, however that happens; none where the file
/// system knows no locks.
fn take_turn(path: &Path) -> io::Result<Option<File>> {
    let late = Instant::now() + PATIENCE;
    // It stays: if it were removed, two could hold two files of one name.
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) if Instant::now() < late => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                let message = format!("another process holds {}", path.display());
                return Err(io::Error::new(io::ErrorKind::TimedOut, message));
            }
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// The projects in a file, none if it is missing.
fn read(path: &Path) -> Result<BTreeMap<String, String>, Box<Problem>> {
    let bytes = match regular_file::read(path, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(unread) if unread.is_missing(path) => return Ok(BTreeMap::new()),
        Err(unread) => return Err(not_understood(unread.problem(path))),
    };
    let problem = |message: String| Problem::new(Severity::Warning, path, message);
    let stored = serde_json::from_slice::<Stored>(&bytes).map_err(|error| {
        let mut problem = problem(format!("{TRUST_FILE} is not what was written: {error}"));
        problem.line = u32::try_from(error.line()).ok().filter(|line| *line > 0);
        not_understood(problem)
    })?;
    if stored.version != VERSION {
        let message = format!("version {} of {TRUST_FILE} is not known, only version {VERSION} is", stored.version);
        return Err(not_understood(problem(message)));
    }
    Ok(stored.projects)
}

/// Nothing is trusted then, which hinders nobody from going on.
fn not_understood(mut problem: Problem) -> Box<Problem> {
    problem.severity = Severity::Warning;
    problem.hint =
        Some(format!("no project is trusted until one is trusted anew; this file is then kept as {TRUST_FILE}.bak"));
    problem.into()
}

/// One name for a workspace, however it is called.
fn key(workspace: &Path) -> String {
    let found = workspace.canonicalize().or_else(|_| std::path::absolute(workspace));
    found.as_deref().unwrap_or(workspace).to_string_lossy().into_owned()
}

/// Renames a file to the first backup name that is free.
fn set_aside(path: &Path) -> io::Result<()> {
    let backup = |number: u32| {
        let number = if number > 1 { number.to_string() } else { String::new() };
        path.with_file_name(format!("{TRUST_FILE}.bak{number}"))
    };
    let free = (1..1000).map(backup).find(|backup| fs::symlink_metadata(backup).is_err());
    fs::rename(path, free.ok_or_else(|| io::Error::other("there are too many backups"))?)
}

/// Writes beside the file and renames, so that whoever reads finds the old or the new one whole.
fn write(path: &Path, stored: &Stored) -> io::Result<()> {
    // A link, as keepers of such files make, stays one.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let dir = target.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".trusted-projects.").tempfile_in(dir)?;
    serde_json::to_writer_pretty(&mut file, stored)?;
    file.write_all(b"\n")?;
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}
