//! A terminal of a test's own: what is typed there, and what is shown.

use std::{
    fs::File,
    io::{Read, Write},
    os::fd::OwnedFd,
    sync::mpsc,
    thread,
    time::Instant,
};

use nix::{
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
        let executor = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("an executor");
        let child = executor.block_on(async { command.spawn() }).expect("the program starts");
        // The terminal ends when the program's handles are the last.
        drop(command);
        drop(pty.slave);
        let keys = File::from(pty.master.try_clone().expect("another handle"));
        let mut screen = File::from(pty.master);
        let (tell, pieces) = mpsc::channel();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            // The end of the terminal is an error on some systems.
            while let Ok(length @ 1..) = screen.read(&mut piece) {
                if tell.send(piece[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { executor, child, keys, pieces, shown: Vec::new(), seen: 0 }
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
