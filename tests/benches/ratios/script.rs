//! A script's call through the whole dispatcher against starting, feeding and reading the same script by hand.

#[cfg(not(unix))]
pub(crate) fn measure(_: &mut crate::report::Report) -> crate::Outcome {
    // The script is one for a POSIX shell.
    Ok(())
}

#[cfg(unix)]
pub(crate) use unix::measure;

#[cfg(unix)]
mod unix {
    use std::{
        path::Path,
        process::Stdio,
        time::{Duration, Instant},
    };

    use tokio::{io::AsyncWriteExt, process::Command};

    use crate::{
        Outcome,
        measure::in_turn,
        report::{Reach, Report},
        setting::{Setting, call, same},
    };

    /// Does next to nothing, so that what is around it shows.
    const SCRIPT: &str = "#!/bin/sh\nread -r document\necho done\n";
    const ARGUMENTS: &str = r#"{"path":"README.md"}"#;
    /// What the script reads.
    const DOCUMENT: &str = "{\"call_id\":\"call-1\",\"tool_name\":\"small\",\"arguments\":{\"path\":\"README.md\"}}\n";

    pub(crate) fn measure(report: &mut Report) -> Outcome {
        let setting = Setting::new()?;
        let script = setting.install_script("small", SCRIPT)?;
        let (runtime, scope) = (setting.open()?, setting.scope());
        let executor = tokio::runtime::Builder::new_current_thread().enable_all().build()?;

        let through_the_dispatcher = || -> Outcome<Duration> {
            let call = call("small", ARGUMENTS);
            let start = Instant::now();
            let result = executor.block_on(runtime.dispatcher().dispatch(call, &scope))?;
            let took = start.elapsed();
            same(&result.output.content, "done")?;
            Ok(took)
        };
        let by_hand = || -> Outcome<Duration> {
            let start = Instant::now();
            let stdout = executor.block_on(spawn_write_read_wait(&script, &scope.cwd))?;
            let took = start.elapsed();
            same(&String::from_utf8_lossy(&stdout), "done\n")?;
            Ok(took)
        };
        let measured = in_turn(report.effort(15, 100), through_the_dispatcher, by_hand)?;
        report.ratio(
            "call of a script through the dispatcher, to a bare spawn, write, read and wait",
            &measured,
            Reach::AtMost(1.15),
            ["call of the smallest shell script through the dispatcher", "the same by hand: spawn, write, read, wait"],
        );
        Ok(())
    }

    async fn spawn_write_read_wait(script: &Path, cwd: &Path) -> std::io::Result<Vec<u8>> {
        let mut command = Command::new(script);
        command.current_dir(cwd).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(DOCUMENT.as_bytes()).await?;
        }
        Ok(child.wait_with_output().await?.stdout)
    }
}
