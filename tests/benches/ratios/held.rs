//! What a process holds, and a process of its own in which to look.
#![cfg(target_os = "linux")]

use std::{env, ffi::OsStr, fs, process::Command};

use serde_json::Value;

use crate::Outcome;

/// What this process holds now.
pub(crate) struct Held {
    /// Pieces of memory that may be executed, whoever put them there.
    pub(crate) code: usize,
    pub(crate) resident_kib: u64,
}

impl Held {
    pub(crate) fn now() -> Outcome<Self> {
        let maps = fs::read_to_string("/proc/self/maps")?;
        let executable = |line: &&str| line.split(' ').nth(1).is_some_and(|rights| rights.contains('x'));
        let status = fs::read_to_string("/proc/self/status")?;
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        let resident_kib = resident.trim().trim_end_matches("kB").trim_end().parse()?;
        Ok(Self { code: maps.lines().filter(executable).count(), resident_kib })
    }
}

/// Runs this program once more with these words, and reads the document that it prints.
pub(crate) fn in_a_process(child: &str, words: &[impl AsRef<OsStr>]) -> Outcome<Value> {
    let output = Command::new(env::current_exe()?).arg(child).args(words).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
