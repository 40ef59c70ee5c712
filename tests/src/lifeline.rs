//! Pipes with a name, by which tests and scripts wait for one another instead of for the clock.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use nix::{errno::Errno, sys::signal::kill, sys::stat::Mode, unistd::Pid, unistd::mkfifo};
use tokio::sync::oneshot;

use crate::{FOR_EVER, World};

/// Makes a pipe with a name. Whoever opens it waits until it is opened from the other side too.
///
/// # Panics
/// When it cannot be made.
#[track_caller]
pub fn pipe(world: &World, path: &str) -> PathBuf {
    let path = world.path(path);
    mkfifo(&path, Mode::S_IRWXU).expect("makes the pipe");
    path
}

/// A pipe that a script and everything it starts hold open: its end is the end of them all.
///
/// The script runs the line [`hold`](Self::hold) first, and [`REPORT`] once all is set up.
pub struct Lifeline {
    path: PathBuf,
    started: oneshot::Receiver<i32>,
    ended: oneshot::Receiver<()>,
}

/// The line by which a script says that it runs.
pub const REPORT: &str = "echo $$ >&9";

impl Lifeline {
    /// A lifeline below the workspace.
    ///
    /// # Panics
    /// When there is one already.
    #[track_caller]
    pub fn new(world: &World) -> Self {
        let path = pipe(world, "work/lifeline");
        let (tell_start, started) = oneshot::channel();
        let (tell_end, ended) = oneshot::channel();
        let watched = path.clone();
        std::thread::spawn(move || watch(&watched, tell_start, tell_end));
        Self { path, started, ended }
    }

    /// The line that holds the pipe open, in a shell and in all that it starts from then on.
    pub fn hold(&self) -> String {
        format!("exec 9>{}", self.path.display())
    }

    /// Waits until the script runs; its process id, which is also that of its group.
    pub async fn started(&mut self) -> i32 {
        tokio::time::timeout(FOR_EVER, &mut self.started).await.expect("the script starts").expect("the watcher lives")
    }

    /// Waits until nobody is alive any more.
    pub async fn ended(self) {
        tokio::time::timeout(FOR_EVER, self.ended).await.expect("everybody ends").expect("the watcher lives");
    }
}

fn watch(path: &Path, started: oneshot::Sender<i32>, ended: oneshot::Sender<()>) {
    let mut reader = BufReader::new(fs::File::open(path).expect("opens"));
    let mut pid = String::new();
    reader.read_line(&mut pid).expect("reads");
    // Whoever does not wait for the start, or the end, has dropped the other side.
    let _ = started.send(pid.trim().parse().unwrap_or_default());
    reader.read_to_end(&mut Vec::new()).expect("reads to the end");
    let _ = ended.send(());
}

/// Whether there is a process of this id, if only a dead one that nobody has collected.
pub fn exists(pid: i32) -> bool {
    kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH)
}
