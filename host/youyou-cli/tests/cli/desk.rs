//! A user's desk: files, an environment of its own, and the program to type into.

use std::{path::Path, process::Stdio};

use tokio::{io::AsyncWriteExt, process::Command};
use youyou_tests::{FOR_EVER, World, compiled};

/// The program.
pub(crate) const YOUYOU: &str = env!("CARGO_BIN_EXE_youyou");

/// A world, and an environment in which nothing of the real user is seen or touched.
pub(crate) struct Desk {
    pub(crate) world: World,
    cache: Cache,
}

/// Where the program keeps compiled components.
enum Cache {
    /// Where all tests do.
    Shared,
    /// In the desk's own `cache`, empty at first.
    Own,
}

impl Desk {
    #[track_caller]
    pub(crate) fn new(tree: &str) -> Self {
        Self { world: World::new(tree), cache: Cache::Shared }
    }

    #[track_caller]
    pub(crate) fn with_own_cache(tree: &str) -> Self {
        Self { world: World::new(tree), cache: Cache::Own }
    }

    /// A command in the desk's environment, to be run in its workspace.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let cache = match self.cache {
            Cache::Shared => compiled::cache_home(),
            Cache::Own => self.world.path("cache"),
        };
        command
            .current_dir(self.world.work())
            .env_remove("YOUYOU_LOG")
            .env("HOME", self.world.path("user"))
            .env("XDG_CACHE_HOME", cache)
            .env("YOUYOU_HOME", self.world.home())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// The program with these arguments.
    pub(crate) fn youyou(&self, args: &[&str]) -> Command {
        let mut command = self.command(YOUYOU);
        command.args(args);
        command
    }

    /// Types a command and waits for its end.
    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.finish(self.youyou(args), b"")
    }

    /// The same in another directory.
    #[track_caller]
    pub(crate) fn run_in(&self, dir: impl AsRef<Path>, args: &[&str]) -> Ran {
        let mut command = self.youyou(args);
        command.current_dir(dir);
        self.finish(command, b"")
    }

    /// The same with something on stdin.
    #[track_caller]
    pub(crate) fn run_with_stdin(&self, args: &[&str], stdin: &[u8]) -> Ran {
        let mut command = self.youyou(args);
        command.stdin(Stdio::piped());
        self.finish(command, stdin)
    }

    /// Runs a command of any program to its end.
    #[track_caller]
    pub(crate) fn finish(&self, command: Command, stdin: &[u8]) -> Ran {
        on_one_thread(self.finish_later(command, stdin))
    }

    pub(crate) async fn finish_later(&self, mut command: Command, stdin: &[u8]) -> Ran {
        let mut child = command.spawn().expect("the program starts");
        let pipe = child.stdin.take();
        let feed = async {
            if let Some(mut pipe) = pipe {
                // Whoever does not read it has reasons of its own.
                let _ = pipe.write_all(stdin).await;
            }
        };
        let end = async { tokio::join!(child.wait_with_output(), feed).0 };
        let output = tokio::time::timeout(FOR_EVER, end).await.expect("the program ends").expect("its output is read");
        let text = |bytes| self.world.shown(&String::from_utf8(bytes).expect("it prints UTF-8"));
        Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// Waits for a future.
#[track_caller]
pub(crate) fn on_one_thread<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("an executor").block_on(future)
}

/// What came of a command; paths as [`World::shown`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    /// The exit status; none when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Every line with where it was printed, then the exit status; figures of time are left out.
    pub(crate) fn shown(&self) -> String {
        let marked = |mark: &str, text: &str| text.lines().map(|line| format!("{mark}| {line}\n")).collect::<String>();
        let status = self.code.map_or("killed".to_owned(), |code| format!("exit {code}"));
        format!(
            "{}{}{status}",
            marked("out", &without_duration(&self.stdout)),
            marked("err", &without_duration(&self.stderr))
        )
    }

    /// The one JSON document on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        let line = self.stdout.strip_suffix('\n').expect("stdout ends its last line");
        assert!(!line.contains('\n'), "one line: {line}");
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }
}

/// Figures of time, in JSON and in words, as `[ms]`.
fn without_duration(text: &str) -> String {
    let json = replace_figures(text, "\"duration_ms\":", "", "[ms]");
    replace_figures(&json, "(", " ms)", "[ms])")
}

/// Every figure between `before` and `after`, with what follows, becomes `shown`.
fn replace_figures(text: &str, before: &str, after: &str, shown: &str) -> String {
    let mut pieces = text.split(before);
    let mut replaced = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        replaced.push_str(before);
        let rest = piece.trim_start_matches(|c: char| c.is_ascii_digit());
        match rest.strip_prefix(after).filter(|_| rest.len() < piece.len()) {
            Some(rest) => replaced.extend([shown, rest]),
            None => replaced.push_str(piece),
        }
    }
    replaced
}
