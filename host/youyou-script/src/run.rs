//! The runner: one script from its start to its end, within its bounds (Y5.6).
//!
//! Bytes go in, an exit status and what was printed come out. What the bytes mean is the caller's matter: a tool's
//! answer and a hook's are read from the same [`ScriptOutput`].
//!
//! - **End.** A run is over when the child has exited and both of its pipes are at their end. A process that the child
//!   left behind may hold them open (`sleep 60 &`); then it is over once they have been idle for 100 ms, and at most 2 s
//!   after the exit. What was left behind is not killed: a tool may well start a server. It keeps nothing of the host's
//!   but its ends of the pipes, and writing to those fails from then on.
//! - **Stop.** At the deadline and on cancel, the group gets SIGTERM, one second of grace, which ends early when
//!   nobody is left, and SIGKILL. What was printed until then is kept. A process that has left the group by `setsid` is
//!   out of reach.
//! - **Drop.** Dropping the future kills the group at once.

use std::{
    fmt, io,
    pin::Pin,
    process::{ExitStatus, Stdio},
    time::{Duration, Instant},
};

use tokio::{
    process::Command,
    time::{sleep, sleep_until, timeout},
};
use youyou_api::{CallContext, call::Deadline};

use crate::{
    command::{
        ENV_COMPONENT_DIR, ENV_DEPTH, ENV_HOME, ENV_NO_PYTHON_CACHE, ENV_SESSION_ID, Guest, ScriptCommand, ScriptHost,
    },
    error::{ScriptError, is_foreign_format},
    guest_log::GuestLog,
    preflight::{Resolved, changed_just_now, preflight},
    process::{Launcher, Process},
    pump::Pump,
};

/// What is kept of a script's stdout: 1 MiB (D-57), and one character more, so that whoever cuts at 1 MiB sees whether
/// there is something to cut.
pub const STDOUT_KEPT_BYTES: usize = 1024 * 1024 + 4;

/// How long pipes that somebody else holds must be idle before a run counts as over.
const IDLE: Duration = Duration::from_millis(100);
/// How long pipes that somebody else holds are read after the exit.
const AFTER_EXIT: Duration = Duration::from_secs(2);
/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(1);
/// How long the system may take to end what was killed. Only a process inside a hung system call takes longer.
const REAP: Duration = Duration::from_secs(1);
/// Between two looks at whether a group still has members.
const TICK: Duration = Duration::from_millis(10);
/// How long a program that is being written may refuse to start.
const PATIENCE: Duration = Duration::from_secs(3);
/// What is shown of the end of stderr.
const STDERR_SHOWN: (usize, usize) = (20, 4 * 1024);

/// One run to be done.
#[derive(Debug)]
pub struct ScriptRun<'a> {
    /// The surroundings.
    pub host: &'a ScriptHost,
    /// What is run.
    pub command: &'a ScriptCommand,
    /// On whose behalf.
    pub guest: Guest<'a>,
    /// What it reads on stdin, which is closed behind it.
    pub input: Vec<u8>,
    /// Session, working directory, cancellation and deadline. The command's own timeout holds too; the earlier one counts.
    pub context: &'a CallContext,
}

/// How a script ended, and what it printed.
#[derive(Debug)]
pub struct ScriptOutput {
    /// How it ended.
    pub exit: ScriptExit,
    /// What it printed.
    pub captured: Captured,
    /// From the first look at the command until the process ran.
    pub spawn_time: Duration,
    /// From then until the run was over.
    pub run_time: Duration,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptExit {
    /// It exited by itself; 0 means success.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
}

impl ScriptExit {
    /// Whether this counts as success (Y5.6-2).
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for ScriptExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exited with code {code}"),
            Self::Signal(signal) => write!(f, "killed by signal {signal}"),
        }
    }
}

/// What a script printed, as far as it was kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The beginning of stdout, at most [`STDOUT_KEPT_BYTES`].
    pub stdout: Vec<u8>,
    /// How much it wrote to stdout in all.
    pub stdout_bytes: u64,
    /// The last lines of stderr, at most 20 and 4 KiB.
    pub stderr_tail: String,
    /// How much it wrote to stderr in all.
    pub stderr_bytes: u64,
}

impl Captured {
    /// Whether more was written to stdout than was kept.
    pub fn is_truncated(&self) -> bool {
        self.stdout_bytes > self.stdout.len() as u64
    }
}

/// Runs a script to its end. Needs a tokio runtime with I/O and time, of which it never blocks a thread for longer
/// than the system takes to start a process.
///
/// The environment is the host's own, plus `YOUYOU_HOME`, `YOUYOU_COMPONENT_DIR`, `YOUYOU_SESSION_ID` (removed when
/// there is no session) and `YOUYOU_DEPTH` (Y5.6-4), and [`ENV_NO_PYTHON_CACHE`]. A program that is being written while it
/// is started ("text file busy"), or that changed within the last half second and looks unfinished, is tried again, for three seconds at most
/// (K-35).
///
/// Cancellation safety: dropping the future kills the script and its group; what it has done by then is done.
///
/// # Errors
/// [`ScriptError::Preflight`] and [`ScriptError::Start`] when it did not run at all; [`ScriptError::TimedOut`] and
/// [`ScriptError::Cancelled`] when it was stopped; [`ScriptError::Lost`] when the system would not say how it ended.
/// An exit code other than 0 is not an error here.
pub async fn run(run: ScriptRun<'_>) -> Result<ScriptOutput, ScriptError> {
    let begun = Instant::now();
    let deadline = earlier(run.context.deadline, run.command.timeout);
    let interruption = std::pin::pin!(interruption(run.context, deadline));
    let mut interruption: Pin<&mut dyn Interrupt> = interruption;

    let mut process = tokio::select! {
        biased;
        why = &mut interruption => return Err(why.error(deadline, Captured::default())),
        started = start(&run) => started?,
    };
    let spawn_time = begun.elapsed();
    let running = Instant::now();
    let mut pump = Pump::new(process.take_pipes(), run.input, STDOUT_KEPT_BYTES, GuestLog::new(run.guest));

    let ended = supervise(&mut process, &mut pump, interruption.as_mut()).await;
    match ended {
        // Where the exit is not certain, the group is killed when `process` is dropped.
        Ended::Exited(ref status) => {
            if status.is_ok() {
                process.release();
            }
            drain(&mut pump, interruption).await;
        }
        Ended::Interrupted(_) => stop(&mut process, &mut pump, run.guest).await,
    }
    let captured = collect(pump);
    match ended {
        Ended::Exited(Ok(status)) => {
            Ok(ScriptOutput { exit: exit_of(status), captured, spawn_time, run_time: running.elapsed() })
        }
        Ended::Exited(Err(source)) => Err(ScriptError::Lost { source, captured }),
        Ended::Interrupted(why) => Err(why.error(deadline, captured)),
    }
}

/// Why a run is stopped from outside.
#[derive(Debug, Clone, Copy)]
enum Interruption {
    Deadline,
    Cancel,
}

impl Interruption {
    fn error(self, deadline: Deadline, captured: Captured) -> ScriptError {
        match self {
            Self::Deadline => ScriptError::TimedOut { budget: deadline.budget(), captured },
            Self::Cancel => ScriptError::Cancelled { captured },
        }
    }
}

trait Interrupt: Future<Output = Interruption> + Send {}
impl<F: Future<Output = Interruption> + Send> Interrupt for F {}

/// The deadline goes first: whoever watches a deadline from outside may cancel at that very moment.
async fn interruption(context: &CallContext, deadline: Deadline) -> Interruption {
    tokio::select! {
        biased;
        () = sleep_until(deadline.at().into()) => Interruption::Deadline,
        () = context.cancel.cancelled() => Interruption::Cancel,
    }
}

fn earlier(deadline: Deadline, timeout: Option<Duration>) -> Deadline {
    match timeout.map(Deadline::after) {
        Some(own) if own.at() < deadline.at() => own,
        Some(_) | None => deadline,
    }
}

/// Starts the script, and tries again where somebody is just writing it (K-35).
async fn start(run: &ScriptRun<'_>) -> Result<Process, ScriptError> {
    let begun = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        let refusal = match try_start(run) {
            Ok(process) => return Ok(process),
            Err(refusal) => refusal,
        };
        if begun.elapsed() >= PATIENCE || !may_pass(&refusal) {
            return Err(refusal);
        }
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Whether trying again in a moment can help, because somebody is writing the file right now.
fn may_pass(refusal: &ScriptError) -> bool {
    match refusal {
        ScriptError::Preflight(problem) => problem.may_settle(),
        ScriptError::Start { program, source } => {
            source.kind() == io::ErrorKind::ExecutableFileBusy
                // It was emptied between the look and the start.
                || is_foreign_format(source) && changed_just_now(program)
        }
        ScriptError::TimedOut { .. } | ScriptError::Cancelled { .. } | ScriptError::Lost { .. } => false,
    }
}

fn try_start(run: &ScriptRun<'_>) -> Result<Process, ScriptError> {
    let resolved = preflight(run.command, run.host, &run.context.cwd)?;
    Launcher::new(command_for(&resolved, run))
        .start()
        .map_err(|source| ScriptError::Start { program: resolved.program, source })
}

fn command_for(resolved: &Resolved, run: &ScriptRun<'_>) -> Command {
    let mut command = Command::new(&resolved.program);
    command
        .args(&resolved.args)
        .current_dir(&resolved.working_directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env(ENV_HOME, run.host.home())
        .env(ENV_COMPONENT_DIR, &run.command.dir)
        .env(ENV_DEPTH, run.host.depth().saturating_add(1).to_string())
        .env(ENV_NO_PYTHON_CACHE, "1");
    match &run.context.session {
        Some(session) => command.env(ENV_SESSION_ID, session.as_str()),
        None => command.env_remove(ENV_SESSION_ID),
    };
    if let Some(path) = run.host.own_path() {
        command.env("PATH", path);
    }
    command
}

enum Ended {
    Exited(io::Result<ExitStatus>),
    Interrupted(Interruption),
}

/// Serves the pipes until the child has exited or must be stopped.
async fn supervise(process: &mut Process, pump: &mut Pump<'_>, mut interruption: Pin<&mut dyn Interrupt>) -> Ended {
    loop {
        // The pump comes last: a script that prints without end would keep everything behind it waiting.
        tokio::select! {
            biased;
            status = process.wait() => return Ended::Exited(status),
            why = &mut interruption => return Ended::Interrupted(why),
            () = pump.step(), if pump.is_open() => {}
        }
    }
}

/// Reads what is left in the pipes after the exit. An interruption that comes now only ends the reading: the script was
/// in time.
async fn drain(pump: &mut Pump<'_>, mut interruption: Pin<&mut dyn Interrupt>) {
    pump.close_stdin();
    let mut limit = std::pin::pin!(sleep(AFTER_EXIT));
    while pump.is_open() {
        tokio::select! {
            biased;
            () = &mut limit => return,
            _ = &mut interruption => return,
            () = pump.step() => {}
            () = sleep(IDLE) => return,
        }
    }
}

/// Ends the group, politely first, and reads what it still prints. Takes at most about two seconds.
async fn stop(process: &mut Process, pump: &mut Pump<'_>, guest: Guest<'_>) {
    pump.close_stdin();
    process.terminate();
    if timeout(GRACE, gone(process, pump)).await.is_err() {
        process.kill();
        if timeout(REAP, exited(process, pump)).await.is_err() {
            tracing::warn!("{guest}: the script did not end even after SIGKILL; it hangs inside the system");
        }
        // The others of the group were killed with it and need no more than a moment.
        let _ = timeout(IDLE, gone(process, pump)).await;
    }
    process.release();
    // Nobody of the group prints any more; what is in the pipes is read at once.
    let _ = timeout(IDLE, async {
        while pump.is_open() {
            pump.step().await;
        }
    })
    .await;
}

/// Serves the pipes until the child has exited.
async fn exited(process: &mut Process, pump: &mut Pump<'_>) {
    loop {
        tokio::select! {
            biased;
            _ = process.wait() => return,
            () = pump.step(), if pump.is_open() => {}
        }
    }
}

/// Serves the pipes until nobody of the group is left.
async fn gone(process: &mut Process, pump: &mut Pump<'_>) {
    exited(process, pump).await;
    while !process.group_is_gone() {
        let _ = timeout(TICK, async {
            while pump.is_open() {
                pump.step().await;
            }
            std::future::pending::<()>().await;
        })
        .await;
    }
}

fn collect(mut pump: Pump<'_>) -> Captured {
    pump.log.finish();
    let (lines, bytes) = STDERR_SHOWN;
    Captured {
        stdout_bytes: pump.head.total(),
        stderr_bytes: pump.tail.total(),
        stderr_tail: pump.tail.last_lines(lines, bytes),
        stdout: pump.head.into_kept(),
    }
}

#[cfg(unix)]
fn exit_of(status: ExitStatus) -> ScriptExit {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => ScriptExit::Code(code),
        (None, signal) => ScriptExit::Signal(signal.unwrap_or_default()),
    }
}

#[cfg(windows)]
fn exit_of(status: ExitStatus) -> ScriptExit {
    ScriptExit::Code(status.code().unwrap_or_default())
}
