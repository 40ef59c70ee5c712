//! The few things that the writer does to files. Tests put a disk in their place that fails.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Seek, SeekFrom, Write},
    path::Path,
};

/// Where segments are written.
pub(crate) trait Disk: Send + Sync {
    /// Opens a segment for writing, and makes it if it is missing.
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Removes a segment that was never finished; one that is missing is fine.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes safe that the folder's entries are there.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}

/// A segment that is being written.
pub(crate) trait DiskFile: Send + Sync {
    /// Writes all of it from this offset on.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts off what is behind.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// Makes safe what was written.
    fn sync(&mut self) -> io::Result<()>;
}

/// The disk of this machine.
pub(crate) struct RealDisk;

impl Disk for RealDisk {
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Box::new(options.open(path)?))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        // Elsewhere a folder cannot be opened as a file, and its entries need no help.
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }
}

impl DiskFile for File {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.seek(SeekFrom::Start(offset))?;
        self.write_all(bytes)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// Makes a folder that only its owner may enter, and those above it.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
