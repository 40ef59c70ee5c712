//! One child process and everything it starts: a process group, on Windows a job object.
//!
//! The group dies with the value that owns it, unless it was released first. What the child prints, and when its time
//! is up, are decided elsewhere.

use std::{io, process::ExitStatus};

use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

/// A command that can be started, more than once if need be.
pub(crate) struct Launcher(CommandWrap);

impl Launcher {
    /// Makes the command the leader of a group of its own.
    pub(crate) fn new(command: Command) -> Self {
        let mut wrap = CommandWrap::from(command);
        #[cfg(unix)]
        wrap.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        wrap.wrap(process_wrap::tokio::JobObject);
        Self(wrap)
    }

    /// Starts it; returns once the system has accepted the program.
    pub(crate) fn start(&mut self) -> io::Result<Process> {
        let child = self.0.spawn()?;
        Ok(Process { group: Group::of(&*child), child, on_drop: OnDrop::Kill })
    }
}

/// A started child with its group.
pub(crate) struct Process {
    child: Box<dyn ChildWrapper>,
    group: Group,
    on_drop: OnDrop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnDrop {
    Kill,
    Release,
}

/// The near ends of the child's pipes.
pub(crate) struct Pipes {
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: Option<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
}

impl Process {
    /// The pipes; the first caller has them.
    pub(crate) fn take_pipes(&mut self) -> Pipes {
        Pipes {
            stdin: self.child.stdin().take(),
            stdout: self.child.stdout().take(),
            stderr: self.child.stderr().take(),
        }
    }

    /// Waits for the child itself, not for its group. Cancellation safe; answers the same again once it has exited.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        // The wrapper's own wait would also wait for whatever the child left behind.
        self.child.inner_mut().wait().await
    }

    /// Asks the group to end. Where there is no way to ask, it is ended.
    pub(crate) fn terminate(&mut self) {
        // The only refusal is that there is nobody left to ask.
        #[cfg(unix)]
        let _ = self.child.signal(nix::sys::signal::Signal::SIGTERM as i32);
        #[cfg(windows)]
        let _ = self.child.start_kill();
    }

    /// Ends the group.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.start_kill();
    }

    /// Whether nobody is left in the group. Ask only once [`wait`](Self::wait) has answered, because this collects the
    /// group's remaining exit statuses: where the host is the system's init, orphans become its own children.
    pub(crate) fn group_is_gone(&mut self) -> bool {
        self.group.collect();
        self.group.is_gone()
    }

    /// Lets go: from here on, dropping this value ends nobody.
    pub(crate) fn release(&mut self) {
        self.on_drop = OnDrop::Release;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        match self.on_drop {
            // No grace: whoever drops a run cannot wait. The runtime collects the exit status.
            OnDrop::Kill => self.kill(),
            OnDrop::Release => {}
        }
    }
}

/// The group's id; the child's own, which the system gives to nobody else while the group has members.
#[cfg(unix)]
struct Group(Option<nix::unistd::Pid>);

#[cfg(unix)]
impl Group {
    fn of(child: &dyn ChildWrapper) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).map(nix::unistd::Pid::from_raw))
    }

    /// Collects every member that has exited and is a child of this process.
    fn collect(&self) {
        use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
        let Some(group) = self.0 else { return };
        let members = nix::unistd::Pid::from_raw(-group.as_raw());
        while matches!(waitpid(members, Some(WaitPidFlag::WNOHANG)), Ok(status) if status != WaitStatus::StillAlive) {}
    }

    fn is_gone(&self) -> bool {
        self.0.is_none_or(|group| nix::sys::signal::killpg(group, None).is_err())
    }
}

/// Ending a job leaves nobody behind, so there is nothing to ask.
#[cfg(windows)]
struct Group;

#[cfg(windows)]
impl Group {
    fn of(_: &dyn ChildWrapper) -> Self {
        Self
    }

    fn collect(&self) {}

    fn is_gone(&self) -> bool {
        true
    }
}
