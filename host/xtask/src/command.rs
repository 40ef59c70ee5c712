//! Running other programs: the command line is echoed first, and a failure names it.
//!
//! No shell is involved; the echoed line is quoted so that it can be pasted into one.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

/// What every subcommand does with a [`Command`].
pub(crate) trait Run {
    /// The command as a line for a shell, with the program by its bare name unless it lies in this repository.
    fn line(&self) -> String;

    /// Echoes the line, then runs the command with this process's own output.
    ///
    /// # Errors
    /// When the program cannot be started or does not succeed.
    fn run(&mut self) -> Result<()>;

    /// Runs the command without an echo and returns what it wrote to stdout.
    ///
    /// # Errors
    /// When the program cannot be started or does not succeed; the error carries what it wrote to stderr.
    fn capture(&mut self) -> Result<String>;
}

impl Run for Command {
    fn line(&self) -> String {
        let program = Path::new(self.get_program());
        let program = match program.file_name() {
            Some(name) if program.is_absolute() => name,
            _ => self.get_program(),
        };
        std::iter::once(program)
            .chain(self.get_args())
            .map(|word| quoted(&word.to_string_lossy()))
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn run(&mut self) -> Result<()> {
        println!("$ {}", self.line());
        let status = self.status().with_context(|| format!("cannot start `{}`", self.line()))?;
        if !status.success() {
            bail!("`{}` failed: {status}", self.line());
        }
        Ok(())
    }

    fn capture(&mut self) -> Result<String> {
        let output = self.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{}`", self.line()))?;
        if !output.status.success() {
            bail!("`{}` failed: {}\n{}", self.line(), output.status, String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echoed_line_can_be_pasted_into_a_shell() {
        let mut command = Command::new("youyou");
        command.args(["run-tool", "--args", r#"{"text":"it's"}"#, ""]);
        assert_eq!(command.line(), r#"youyou run-tool --args '{"text":"it'\''s"}' ''"#);
    }

    #[test]
    fn a_failure_names_the_command_and_what_it_said() {
        let error = Command::new("cargo").arg("no-such-subcommand").capture().expect_err("fails").to_string();
        assert!(error.starts_with("`cargo no-such-subcommand` failed:"), "{error}");
        let error = Command::new("no-such-program-at-all").run().expect_err("fails").to_string();
        assert_eq!(error, "cannot start `no-such-program-at-all`");
    }
}
