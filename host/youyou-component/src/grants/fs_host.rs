//! `wasi:filesystem`, with [`FsGuard`] in front of `wasmtime-wasi`'s own implementation.
//!
//! Every function that takes a path, and every one that could change a file, asks the guard first. What remains is
//! passed on as it is.

use wasmtime::component::{HasData, Resource};
use wasmtime_wasi::{
    filesystem::WasiFilesystemCtxView,
    p2::{
        DynInputStream, DynOutputStream, FsError, FsResult,
        bindings::filesystem::{
            preopens,
            types::{
                self, Advice, Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry,
                DirectoryEntryStream, ErrorCode, Filesize, HostDescriptor, HostDirectoryEntryStream, MetadataHashValue,
                NewTimestamp, OpenFlags, PathFlags,
            },
        },
    },
};

use super::{
    directory::Access,
    fs_guard::{FsGuard, Place, RefusedDir, Use, Wants},
    path::GuestPath,
};

/// Names [`FsView`] to the linker.
pub(super) struct GuardedFs;

impl HasData for GuardedFs {
    type Data<'a> = FsView<'a>;
}

/// What the functions below work on.
pub(super) struct FsView<'a> {
    pub(super) inner: WasiFilesystemCtxView<'a>,
    pub(super) guard: &'a mut FsGuard,
}

type Fd = Resource<Descriptor>;

fn again(fd: &Fd) -> Fd {
    Resource::new_borrow(fd.rep())
}

impl FsView<'_> {
    /// The guard's word on a path; the answer is where it would be.
    fn check(&self, what: Use<'_>) -> FsResult<Option<Place>> {
        Ok(self.guard.check(what)?)
    }

    /// The guard's word on a descriptor that is open already.
    fn check_open(&self, fd: &Fd, access: Access) -> FsResult<()> {
        self.check(Use { at: fd.rep(), path: ".", access, wants: Wants::Anything }).map(drop)
    }

    fn explained<T>(&self, what: Use<'_>, result: FsResult<T>) -> FsResult<T> {
        result.map_err(|error| self.guard.explain(what, error))
    }

    fn push_refused(&mut self, root: GuestPath) -> wasmtime::Result<(Fd, String)> {
        let name = root.to_string();
        let number = self.inner.table.push(RefusedDir)?.rep();
        self.guard.opened(number, Place::Refused(root));
        Ok((Resource::new_own(number), name))
    }
}

fn at<'a>(fd: &Fd, path: &'a str, access: Access) -> Use<'a> {
    Use { at: fd.rep(), path, access, wants: Wants::Anything }
}

impl preopens::Host for FsView<'_> {
    /// The directories that refuse come first: of several preopens that fit a path equally well, a libc takes the last.
    /// It drops a leading `/` or `./` from names and paths alike, so `.` must follow `/`.
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Fd, String)>> {
        let mut directories = vec![self.push_refused(GuestPath::root())?];
        if !self.guard.grants().iter().any(|grant| grant.path.is_working_dir()) {
            directories.push(self.push_refused(GuestPath::working_dir())?);
        }
        // In the order of the grants, since that is how they were opened.
        for (grant, (fd, name)) in preopens::Host::get_directories(&mut self.inner)?.into_iter().enumerate() {
            if let Some(path) = self.guard.grants().get(grant).map(|g| g.path.clone()) {
                self.guard.opened(fd.rep(), Place::Granted { grant, path });
            }
            directories.push((fd, name));
        }
        Ok(directories)
    }
}

impl types::Host for FsView<'_> {
    fn convert_error_code(&mut self, err: FsError) -> wasmtime::Result<ErrorCode> {
        self.inner.convert_error_code(err)
    }

    fn filesystem_error_code(&mut self, err: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        self.inner.filesystem_error_code(err)
    }
}

impl HostDescriptor for FsView<'_> {
    async fn open_at(
        &mut self,
        fd: Fd,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Fd> {
        let writes =
            open_flags.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE) || flags.contains(DescriptorFlags::WRITE);
        let access = if writes { Access::Write } else { Access::Read };
        let wants = if open_flags.contains(OpenFlags::DIRECTORY) { Wants::Directory } else { Wants::Anything };
        let what = Use { at: fd.rep(), path: &path, access, wants };
        let place = self.check(what)?;
        let opened = self.inner.open_at(again(&fd), path_flags, path.clone(), open_flags, flags).await;
        let opened = self.explained(what, opened)?;
        if let Some(place) = place {
            self.guard.opened(opened.rep(), place);
        }
        Ok(opened)
    }

    fn drop(&mut self, fd: Fd) -> wasmtime::Result<()> {
        match self.guard.closed(fd.rep()) {
            Some(Place::Refused(_)) => {
                self.inner.table.delete(Resource::<RefusedDir>::new_own(fd.rep()))?;
                Ok(())
            }
            Some(Place::Granted { .. }) | None => HostDescriptor::drop(&mut self.inner, fd),
        }
    }

    async fn create_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        let what = at(&fd, &path, Access::Write);
        self.check(what)?;
        let result = self.inner.create_directory_at(again(&fd), path.clone()).await;
        self.explained(what, result)
    }

    async fn stat_at(&mut self, fd: Fd, path_flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        let what = at(&fd, &path, Access::Read);
        self.check(what)?;
        let result = self.inner.stat_at(again(&fd), path_flags, path.clone()).await;
        self.explained(what, result)
    }

    async fn set_times_at(
        &mut self,
        fd: Fd,
        path_flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let what = at(&fd, &path, Access::Write);
        self.check(what)?;
        let result = self.inner.set_times_at(again(&fd), path_flags, path.clone(), accessed, modified).await;
        self.explained(what, result)
    }

    async fn link_at(
        &mut self,
        fd: Fd,
        old_path_flags: PathFlags,
        old_path: String,
        new_fd: Fd,
        new_path: String,
    ) -> FsResult<()> {
        let (old, new) = (at(&fd, &old_path, Access::Write), at(&new_fd, &new_path, Access::Write));
        self.check(old)?;
        self.check(new)?;
        let result =
            self.inner.link_at(again(&fd), old_path_flags, old_path.clone(), again(&new_fd), new_path.clone()).await;
        self.explained(old, result)
    }

    async fn rename_at(&mut self, fd: Fd, old_path: String, new_fd: Fd, new_path: String) -> FsResult<()> {
        let (old, new) = (at(&fd, &old_path, Access::Write), at(&new_fd, &new_path, Access::Write));
        self.check(old)?;
        self.check(new)?;
        let result = self.inner.rename_at(again(&fd), old_path.clone(), again(&new_fd), new_path.clone()).await;
        self.explained(old, result)
    }

    async fn symlink_at(&mut self, fd: Fd, target: String, path: String) -> FsResult<()> {
        let what = at(&fd, &path, Access::Write);
        self.check(what)?;
        if target.starts_with('/') {
            self.guard.deny_absolute_link(fd.rep(), &path, &target);
            return Err(ErrorCode::Access.into());
        }
        let result = self.inner.symlink_at(again(&fd), target, path.clone()).await;
        self.explained(what, result)
    }

    async fn readlink_at(&mut self, fd: Fd, path: String) -> FsResult<String> {
        let what = at(&fd, &path, Access::Read);
        self.check(what)?;
        let result = self.inner.readlink_at(again(&fd), path.clone()).await;
        self.explained(what, result)
    }

    async fn remove_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        let what = at(&fd, &path, Access::Write);
        self.check(what)?;
        let result = self.inner.remove_directory_at(again(&fd), path.clone()).await;
        self.explained(what, result)
    }

    async fn unlink_file_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        let what = at(&fd, &path, Access::Write);
        self.check(what)?;
        let result = self.inner.unlink_file_at(again(&fd), path.clone()).await;
        self.explained(what, result)
    }

    async fn metadata_hash_at(&mut self, fd: Fd, path_flags: PathFlags, path: String) -> FsResult<MetadataHashValue> {
        let what = at(&fd, &path, Access::Read);
        self.check(what)?;
        let result = self.inner.metadata_hash_at(again(&fd), path_flags, path.clone()).await;
        self.explained(what, result)
    }

    async fn set_size(&mut self, fd: Fd, size: Filesize) -> FsResult<()> {
        self.check_open(&fd, Access::Write)?;
        self.inner.set_size(fd, size).await
    }

    async fn set_times(&mut self, fd: Fd, accessed: NewTimestamp, modified: NewTimestamp) -> FsResult<()> {
        self.check_open(&fd, Access::Write)?;
        self.inner.set_times(fd, accessed, modified).await
    }

    async fn write(&mut self, fd: Fd, buffer: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        self.check_open(&fd, Access::Write)?;
        self.inner.write(fd, buffer, offset).await
    }

    fn write_via_stream(&mut self, fd: Fd, offset: Filesize) -> FsResult<Resource<DynOutputStream>> {
        self.check_open(&fd, Access::Write)?;
        self.inner.write_via_stream(fd, offset)
    }

    fn append_via_stream(&mut self, fd: Fd) -> FsResult<Resource<DynOutputStream>> {
        self.check_open(&fd, Access::Write)?;
        self.inner.append_via_stream(fd)
    }

    async fn read(&mut self, fd: Fd, len: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)> {
        self.check_open(&fd, Access::Read)?;
        self.inner.read(fd, len, offset).await
    }

    fn read_via_stream(&mut self, fd: Fd, offset: Filesize) -> FsResult<Resource<DynInputStream>> {
        self.check_open(&fd, Access::Read)?;
        self.inner.read_via_stream(fd, offset)
    }

    async fn read_directory(&mut self, fd: Fd) -> FsResult<Resource<DirectoryEntryStream>> {
        self.check(Use { at: fd.rep(), path: ".", access: Access::Read, wants: Wants::Directory })?;
        self.inner.read_directory(fd).await
    }

    async fn stat(&mut self, fd: Fd) -> FsResult<DescriptorStat> {
        self.check_open(&fd, Access::Read)?;
        self.inner.stat(fd).await
    }

    async fn metadata_hash(&mut self, fd: Fd) -> FsResult<MetadataHashValue> {
        self.check_open(&fd, Access::Read)?;
        self.inner.metadata_hash(fd).await
    }

    async fn advise(&mut self, fd: Fd, offset: Filesize, len: Filesize, advice: Advice) -> FsResult<()> {
        self.check_open(&fd, Access::Read)?;
        self.inner.advise(fd, offset, len, advice).await
    }

    async fn sync(&mut self, fd: Fd) -> FsResult<()> {
        self.check_open(&fd, Access::Read)?;
        self.inner.sync(fd).await
    }

    async fn sync_data(&mut self, fd: Fd) -> FsResult<()> {
        self.check_open(&fd, Access::Read)?;
        self.inner.sync_data(fd).await
    }

    /// A directory that refuses is still a directory: a libc asks before it uses one.
    async fn get_type(&mut self, fd: Fd) -> FsResult<DescriptorType> {
        if self.guard.is_refused(fd.rep()) {
            return Ok(DescriptorType::Directory);
        }
        self.inner.get_type(fd).await
    }

    async fn get_flags(&mut self, fd: Fd) -> FsResult<DescriptorFlags> {
        if self.guard.is_refused(fd.rep()) {
            return Ok(DescriptorFlags::READ);
        }
        self.inner.get_flags(fd).await
    }

    async fn is_same_object(&mut self, a: Fd, b: Fd) -> wasmtime::Result<bool> {
        if self.guard.is_refused(a.rep()) || self.guard.is_refused(b.rep()) {
            return Ok(a.rep() == b.rep());
        }
        self.inner.is_same_object(a, b).await
    }
}

impl HostDirectoryEntryStream for FsView<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        self.inner.read_directory_entry(stream).await
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        HostDirectoryEntryStream::drop(&mut self.inner, stream)
    }
}
