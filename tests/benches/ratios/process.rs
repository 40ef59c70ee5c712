//! `youyou run-tool`, the whole process, against the least program that can do the same, and against itself with nothing
//! in the cache.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};

use crate::{
    Outcome,
    measure::{in_turn, timed},
    report::{Reach, Report},
    setting::{ANSWER, ARGUMENTS, Setting, WORD_COUNT, same},
};

pub(crate) fn measure(report: &mut Report) -> Outcome {
    let programs = Programs::find(report)?;
    let setting = Setting::new()?;
    setting.install_word_count()?;
    let cached = || run(programs.youyou(&setting));
    cached()?;
    // A copy, because the entry itself is removed later.
    let code = setting.workspace().join("word_count.cwasm");
    fs::copy(compiled_code(&setting.cache())?, &code)?;

    let measured = in_turn(report.effort(15, 20), cached, || run(programs.bare_call(&code)))?;
    report.ratio(
        "`youyou run-tool` on a cached component, to a minimal program",
        &measured,
        Reach::AtMost(2.0),
        [
            "`youyou run-tool` on a cached component, the whole process",
            "a minimal program that maps the same code and calls it",
        ],
    );

    let with_an_empty_cache = || -> Outcome<Duration> {
        fs::remove_dir_all(setting.cache())?;
        run(programs.youyou(&setting))
    };
    let measured = in_turn(report.effort(5, 4), with_an_empty_cache, cached)?;
    report.ratio(
        "`youyou run-tool` with an empty cache, to one that is filled",
        &measured,
        Reach::AtLeast(5.0),
        ["`youyou run-tool` with an empty cache", "`youyou run-tool` right after it"],
    );
    Ok(())
}

/// The two programs, of this build's profile.
struct Programs {
    youyou: PathBuf,
    bare_call: PathBuf,
}

impl Programs {
    /// Builds them, unless this is a test and they are there: as a test it would be slow, and a test of a program of
    /// yesterday is good enough for a bench.
    fn find(report: &Report) -> Outcome<Self> {
        let this = env::current_exe()?;
        let profile = this.ancestors().nth(2).ok_or("the bench does not lie where cargo puts it")?;
        let programs = Self {
            youyou: profile.join(format!("youyou{}", env::consts::EXE_SUFFIX)),
            bare_call: profile.join(format!("examples/bare-call{}", env::consts::EXE_SUFFIX)),
        };
        if report.is_serious() || !programs.youyou.is_file() {
            build(profile, &["--package", "youyou-cli"])?;
        }
        if report.is_serious() || !programs.bare_call.is_file() {
            build(profile, &["--package", "youyou-tests", "--example", "bare-call"])?;
        }
        Ok(programs)
    }

    fn youyou(&self, setting: &Setting) -> Command {
        let mut command = Command::new(&self.youyou);
        command.args(["run-tool", WORD_COUNT, "--args", ARGUMENTS]);
        command.arg("--home").arg(setting.home()).arg("--workspace").arg(setting.workspace());
        // Where the user's cache folder is follows one or the other.
        command.env("XDG_CACHE_HOME", setting.cache()).env("HOME", setting.cache()).env_remove("YOUYOU_LOG");
        command
    }

    fn bare_call(&self, code: &Path) -> Command {
        let mut command = Command::new(&self.bare_call);
        command.arg(code).arg(ARGUMENTS);
        command
    }
}

fn build(profile: &Path, what: &[&str]) -> Outcome {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).args(["build", "--quiet"]).args(what);
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    if !cargo.status()?.success() {
        return Err(format!("`cargo build {}` failed", what.join(" ")).into());
    }
    Ok(())
}

/// From before the program starts until after it has ended.
fn run(mut command: Command) -> Outcome<Duration> {
    let (took, output) = timed(|| command.output())?;
    let Output { status, stdout, stderr } = output;
    if !status.success() {
        return Err(format!("{status}: {}", String::from_utf8_lossy(&stderr).trim()).into());
    }
    same(String::from_utf8_lossy(&stdout).trim_end(), ANSWER)?;
    Ok(took)
}

/// The one entry that there is below a cache folder.
fn compiled_code(dir: &Path) -> Outcome<PathBuf> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            return compiled_code(&path);
        }
        if path.extension().is_some_and(|extension| extension == "cwasm") {
            return Ok(path);
        }
    }
    Err(format!("no compiled code in {}", dir.display()).into())
}
