//! Opening a runtime over many tools against reading the same files.

use std::{fs, path::Path, time::Duration};

use youyou::Runtime;

use crate::{
    Outcome,
    measure::{in_turn, timed},
    report::{Reach, Report},
    setting::Setting,
};

pub(crate) fn measure(report: &mut Report) -> Outcome {
    let setting = Setting::new()?;
    let (scripts, components) = (report.count(500, 20), report.count(500, 20));
    setting.install_many(scripts, components)?;
    let opening = || -> Outcome<Duration> {
        let (took, runtime) = timed(|| Runtime::open(setting.home(), setting.workspace()))?;
        match (runtime.tools().len(), runtime.problems().first()) {
            (found, None) if found == scripts + components => Ok(took),
            (found, problem) => Err(format!("{found} tools were found, {problem:?}").into()),
        }
    };
    let tools = setting.home().join("tools");
    let reading = || -> Outcome<Duration> {
        let (took, files) = timed(|| read_all(&tools))?;
        if files.len() != scripts + components {
            return Err(format!("{} files were read", files.len()).into());
        }
        Ok(took)
    };
    let measured = in_turn(report.effort(15, 10), opening, reading)?;
    report.ratio(
        "opening a runtime over 1,000 tool folders, to reading their files",
        &measured,
        Reach::AtMost(2.0),
        ["opening a runtime over 1,000 tool folders", "reading every index.md of them on one thread"],
    );
    Ok(())
}

fn read_all(tools: &Path) -> std::io::Result<Vec<Vec<u8>>> {
    fs::read_dir(tools)?.map(|entry| fs::read(entry?.path().join("index.md"))).collect()
}
