//! A test in a process to itself: for what can only be read off, or done to, a whole process.

use std::process::Command;

/// Runs one ignored test of this binary in a process of its own; its name is that of `cargo test -- --list`.
///
/// # Panics
/// When it fails, or is not there.
#[track_caller]
pub fn in_own_process(test: &str) {
    let output = Command::new(std::env::current_exe().expect("this program has a path"))
        .args([test, "--exact", "--ignored", "--nocapture"])
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "there is no test {test}: {said}");
}

/// The most memory that this process ever had, in KiB.
///
/// # Panics
/// Where the system does not tell; Linux does.
pub fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the system tells");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
    line.split_whitespace().nth(1).and_then(|figure| figure.parse().ok()).expect("a figure")
}
