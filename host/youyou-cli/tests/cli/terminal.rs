//! A terminal of a test's own: what is typed there, and what is shown.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::{AsFd, OwnedFd},
    sync::mpsc,
    thread,
    time::Instant,
};

use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    pty::openpty,
    sys::{
        signal::Signal,
        termios::{LocalFlags, tcgetattr},
    },
};
use tokio::{
    process::{Child, Command},
    runtime::Runtime,
};
use youyou_tests::FOR_EVER;

/// A program that runs on a terminal.
pub(crate) struct OnTerminal {
    executor: Runtime,
    child: Child,
    keys: File,
    pieces: mpsc::Receiver<Vec<u8>>,
    /// As long as it is held, what is shown is read.
    reading: io::PipeWriter,
    /// Everything shown so far.
    shown: Vec<u8>,
    /// How much of it has been waited for.
    seen: usize,
}

impl OnTerminal {
    /// Starts a command with the terminal as its stdin, stdout and stderr.
    #[track_caller]
    pub(crate) fn start(mut command: Command) -> Self {
        let pty = openpty(None, None).expect("a terminal");
        let end = |fd: &OwnedFd| std::process::Stdio::from(fd.try_clone().expect("another handle"));
        command.stdin(end(&pty.slave)).stdout(end(&pty.slave)).stderr(end(&pty.slave)).env("TERM", "xterm");
        // The program must not hold the terminal's other side itself; another handle is closed when it starts.
        let master = pty.master.try_clone().expect("another handle");
        drop(pty);
        let executor = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("an executor");
        let child = executor.block_on(async { command.spawn() }).expect("the program starts");
        // The terminal ends when the program's handles are the last.
        drop(command);
        let keys = File::from(master.try_clone().expect("another handle"));
        let mut screen = File::from(master);
        let (tell, pieces) = mpsc::channel();
        let (stop, reading) = io::pipe().expect("a pipe");
        thread::spawn(move || {
            let mut piece = [0; 4096];
            loop {
                let mut ready =
                    [PollFd::new(screen.as_fd(), PollFlags::POLLIN), PollFd::new(stop.as_fd(), PollFlags::POLLIN)];
                poll(&mut ready, PollTimeout::NONE).expect("waits");
                if ready[1].any() == Some(true) {
                    break;
                }
                // The end of the terminal is an error on some systems.
                let Ok(length @ 1..) = screen.read(&mut piece) else { break };
                if tell.send(piece[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { executor, child, keys, pieces, reading, shown: Vec::new(), seen: 0 }
    }

    /// Types.
    #[track_caller]
    pub(crate) fn press(&mut self, keys: &str) -> &mut Self {
        self.keys.write_all(keys.as_bytes()).expect("the terminal takes it");
        self
    }

    /// Waits until this is shown, after whatever was waited for before.
    #[track_caller]
    pub(crate) fn until(&mut self, wanted: &str) -> &mut Self {
        let late = Instant::now() + FOR_EVER;
        loop {
            let unseen = &self.shown[self.seen..];
            if let Some(place) = unseen.windows(wanted.len()).position(|found| found == wanted.as_bytes()) {
                self.seen += place + wanted.len();
                return self;
            }
            match self.pieces.recv_timeout(late.saturating_duration_since(Instant::now())) {
                Ok(piece) => self.shown.extend(piece),
                Err(error) => {
                    panic!("{wanted:?} is not shown ({error}):\n{}", String::from_utf8_lossy(&self.shown))
                }
            }
        }
    }

    /// The terminal itself, which outlives the program.
    #[track_caller]
    pub(crate) fn screen(&self) -> Screen {
        Screen(self.keys.try_clone().expect("another handle"))
    }

    /// Sends the program a signal.
    #[track_caller]
    pub(crate) fn signal(&self, signal: Signal) {
        crate::ending::send(&self.child, signal);
    }

    /// Takes the terminal away, as when its window is closed, and tells the program by a signal if there is one. The exit
    /// status.
    #[track_caller]
    pub(crate) fn hang_up(mut self, signal: Option<Signal>) -> Option<i32> {
        drop(self.reading);
        // The reader's handle is closed when it can tell nothing more.
        while self.pieces.recv_timeout(FOR_EVER) != Err(mpsc::RecvTimeoutError::Disconnected) {}
        drop(self.keys);
        if let Some(signal) = signal {
            crate::ending::send(&self.child, signal);
        }
        let wait = async { tokio::time::timeout(FOR_EVER, self.child.wait()).await };
        self.executor.block_on(wait).expect("the program ends").expect("its status is known").code()
    }

    /// Waits for the end; the exit status, and everything that was shown.
    #[track_caller]
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let wait = async { tokio::time::timeout(FOR_EVER, self.child.wait()).await };
        let status = self.executor.block_on(wait).expect("the program ends").expect("its status is known");
        while let Ok(piece) = self.pieces.recv_timeout(FOR_EVER) {
            self.shown.extend(piece);
        }
        (status.code(), String::from_utf8_lossy(&self.shown).into_owned())
    }
}

/// A terminal, whoever is on it.
pub(crate) struct Screen(File);

impl Screen {
    /// Whether it shows by itself what is typed, as it does unless a program has asked it not to.
    #[track_caller]
    pub(crate) fn echoes(&self) -> bool {
        tcgetattr(&self.0).expect("a terminal").local_flags.contains(LocalFlags::ECHO)
    }
}
