//! Who may write to a session: whoever holds a lock on its lock file.
//!
//! The system lets go of the lock when the process ends, however that happens. The file goes with the ownership; one that a
//! killed process has left behind means nothing.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// How long a lock is waited for. A process that was killed while it started another leaves its locks to that one, until
/// that one has become its program; this is longer than it takes.
const PATIENCE: Duration = Duration::from_millis(250);

/// How long to wait before trying again.
const PAUSE: Duration = Duration::from_millis(1);

/// The ownership; dropping it ends it.
#[derive(Debug)]
pub(crate) struct Owner {
    file: File,
    path: PathBuf,
}

impl Owner {
    /// Takes it; nothing when somebody else has it, and keeps it for a moment longer. It blocks for that moment.
    ///
    /// # Errors
    /// When the file cannot be opened or locked; `NotFound` when its folder is not there.
    pub(crate) fn take(path: &Path) -> io::Result<Option<Self>> {
        let late = Instant::now() + PATIENCE;
        loop {
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if Instant::now() >= late => return Ok(None),
                Err(TryLockError::WouldBlock) => {
                    thread::sleep(PAUSE);
                    continue;
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // The one before may have removed the file between our opening and locking it; then somebody else may
            // already hold the next.
            if still_there(&file, path)? {
                return Ok(Some(Self { file, path: path.to_owned() }));
            }
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
        // A child process that is being started may still have a copy of the handle; closing ours would not do.
        let _ = self.file.unlock();
    }
}

#[cfg(unix)]
fn still_there(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let held = file.metadata()?;
    match fs::metadata(path) {
        Ok(found) => Ok((held.dev(), held.ino()) == (found.dev(), found.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Elsewhere the file is never removed.
#[cfg(not(unix))]
fn still_there(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_owner_at_a_time() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("lock");
        let first = Owner::take(&path).expect("opens").expect("it is free");
        assert!(Owner::take(&path).expect("opens").is_none());
        drop(first);
        assert!(Owner::take(&path).expect("opens").is_some());
        assert!(!path.exists());
    }

    /// Owners that come and go at once never meet.
    #[test]
    fn two_never_hold_it_together() {
        use std::sync::atomic::{AtomicU32, Ordering};
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("lock");
        let (inside, taken) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        if let Some(owner) = Owner::take(&path).expect("opens") {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "somebody else is inside");
                            taken.fetch_add(1, Ordering::SeqCst);
                            inside.fetch_sub(1, Ordering::SeqCst);
                            drop(owner);
                        }
                    }
                });
            }
        });
        assert!(taken.load(Ordering::SeqCst) > 0);
    }
}
