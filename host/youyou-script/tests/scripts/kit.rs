//! What the tests of this binary share: a tool's folder, a call, a lifeline that tells who is still alive, a log.

use std::{
    fs,
    io::{self, BufRead, BufReader, Read},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;
use youyou_api::{CallContext, CallId, ToolFailure, ToolHandler, ToolInput, ToolName, ToolOutput, ToolSpec};
use youyou_script::{ScriptCommand, ScriptHost, ScriptTool};

/// Long enough for every machine; a test that gets here has failed.
pub(crate) const FOR_EVER: Duration = Duration::from_secs(60);

/// A tool's folder and a session's working directory, side by side.
pub(crate) struct Folder {
    root: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(root.path().join("tool")).expect("mkdir");
        fs::create_dir(root.path().join("work")).expect("mkdir");
        Self { root }
    }

    /// A folder whose `run` is a shell script with this body.
    pub(crate) fn with(body: &str) -> Self {
        let folder = Self::new();
        folder.file("run", &format!("#!/bin/sh\n{body}\n"), 0o755);
        folder
    }

    pub(crate) fn file(&self, name: &str, content: &str, mode: u32) -> PathBuf {
        let path = self.dir().join(name);
        fs::write(&path, content).expect("writes");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("chmod");
        path
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.root.path().join("tool")
    }

    pub(crate) fn cwd(&self) -> PathBuf {
        self.root.path().join("work")
    }

    pub(crate) fn host(&self) -> ScriptHost {
        ScriptHost::new(self.root.path())
    }

    pub(crate) fn command(&self, command: &str, args: &[&str]) -> ScriptCommand {
        ScriptCommand {
            command: command.into(),
            args: args.iter().map(|&arg| arg.into()).collect(),
            dir: self.dir(),
            working_directory: None,
            timeout: None,
        }
    }

    pub(crate) fn context(&self) -> CallContext {
        CallContext::new(self.cwd(), FOR_EVER)
    }

    pub(crate) fn tool(&self, command: ScriptCommand) -> ScriptTool {
        let spec = ToolSpec {
            name: name(),
            description: String::new(),
            parameters: json!({"type": "object"}),
            mutating: false,
        };
        ScriptTool::new(self.host(), spec, command)
    }

    /// Calls `run` without arguments.
    pub(crate) async fn call(&self) -> Result<ToolOutput, ToolFailure> {
        self.call_command(self.command("run", &[])).await
    }

    pub(crate) async fn call_command(&self, command: ScriptCommand) -> Result<ToolOutput, ToolFailure> {
        self.tool(command).call(input(Map::new()), self.context()).await
    }
}

pub(crate) fn name() -> ToolName {
    "probe".parse().expect("legal")
}

pub(crate) fn input(arguments: Map<String, Value>) -> ToolInput {
    ToolInput { call_id: CallId::new("c-1"), tool_name: name(), arguments }
}

/// The line by which a script says that it runs.
pub(crate) const REPORT: &str = "echo $$ >&9";

/// A pipe that a script and everything it starts hold open: its end is the end of them all.
///
/// The script begins with the line [`open`](Self::open), and reports its process id by [`REPORT`] once all is set up.
pub(crate) struct Lifeline {
    path: PathBuf,
    started: oneshot::Receiver<i32>,
    ended: oneshot::Receiver<()>,
}

impl Lifeline {
    pub(crate) fn new(folder: &Folder) -> Self {
        let path = folder.cwd().join("lifeline");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).expect("mkfifo");
        let (tell_start, started) = oneshot::channel();
        let (tell_end, ended) = oneshot::channel();
        let reading = path.clone();
        std::thread::spawn(move || watch(&reading, tell_start, tell_end));
        Self { path, started, ended }
    }

    /// The line that holds the pipe open, in a shell and in all that it starts from then on.
    pub(crate) fn open(&self) -> String {
        format!("exec 9>{}", self.path.display())
    }

    /// The script runs; its process id.
    pub(crate) async fn started(&mut self) -> i32 {
        tokio::time::timeout(FOR_EVER, &mut self.started).await.expect("the script starts").expect("the watcher lives")
    }

    /// Nobody is alive any more.
    pub(crate) async fn ended(self) {
        tokio::time::timeout(FOR_EVER, self.ended).await.expect("everybody ends").expect("the watcher lives");
    }
}

fn watch(path: &Path, started: oneshot::Sender<i32>, ended: oneshot::Sender<()>) {
    let mut reader = BufReader::new(fs::File::open(path).expect("opens"));
    let mut pid = String::new();
    reader.read_line(&mut pid).expect("reads");
    let _ = started.send(pid.trim().parse().expect("a process id"));
    reader.read_to_end(&mut Vec::new()).expect("reads to the end");
    let _ = ended.send(());
}

/// What is logged on this thread while the guard lives.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(crate) fn start() -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .without_time()
            .with_writer(move || writer.clone())
            .finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()).expect("UTF-8")
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs one ignored test of this binary in a process of its own, with these variables.
pub(crate) fn in_own_process(test: &str, variables: &[(&str, &str)]) {
    let output = std::process::Command::new(std::env::current_exe().expect("this test"))
        .args([test, "--exact", "--ignored", "--nocapture"])
        .envs(variables.iter().copied())
        .output()
        .expect("starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "{test} was not found: {text}");
}
