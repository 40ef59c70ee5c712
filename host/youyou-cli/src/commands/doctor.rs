//! `youyou doctor`: what this program finds around it, and what is wrong there.

use std::path::Path;

use serde::Serialize;
use youyou::{ComponentHost, Error, HostConfig, Problem, Severity};

use super::Places;
use crate::{args::Doctor, exit::Exit, print};

pub(crate) fn run(args: Doctor, places: &Places) -> Result<Exit, Error> {
    let report = Report::new(places)?;
    let errors = report.problems.iter().any(|problem| problem.severity == Severity::Error);
    if args.json {
        print::document(&report)?;
    } else {
        print::line(&print::table(&report.rows()))?;
        print::problems(&report.problems);
    }
    Ok(if errors { Exit::Reported } else { Exit::Ok })
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    version: &'static str,
    os: &'static str,
    home: String,
    home_exists: bool,
    workspace: String,
    /// Tools and skills, usable or not.
    folders: usize,
    cache_dir: Option<String>,
    cache_bytes: u64,
    problems: Vec<Problem>,
}

impl Report {
    fn new(places: &Places) -> Result<Self, Error> {
        let checked = youyou::check_all(&places.home, &places.workspace)?;
        let cache = ComponentHost::new(HostConfig::default())?.cache().info().ok();
        let mut problems = checked.problems;
        problems.extend(youyou::check_settings(&places.home, &places.workspace));
        Ok(Self {
            version: env!("CARGO_PKG_VERSION"),
            os: std::env::consts::OS,
            home: shown(&places.home),
            home_exists: places.home.is_dir(),
            workspace: shown(&places.workspace),
            folders: checked.folders,
            cache_dir: cache.as_ref().and_then(|cache| cache.dir.as_deref()).map(shown),
            cache_bytes: cache.map_or(0, |cache| cache.bytes),
            problems,
        })
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let home = if self.home_exists { self.home.clone() } else { format!("{} (not there)", self.home) };
        let cache = match &self.cache_dir {
            Some(dir) => format!("{dir}, {:.1} MiB", self.cache_bytes as f64 / f64::from(1 << 20)),
            None => "none".to_owned(),
        };
        [
            ("version", self.version.to_owned()),
            ("system", self.os.to_owned()),
            ("home", home),
            ("workspace", self.workspace.clone()),
            ("tools and skills", self.folders.to_string()),
            ("compiled components", cache),
        ]
        .map(|(name, value)| vec![name.to_owned(), value])
        .to_vec()
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
