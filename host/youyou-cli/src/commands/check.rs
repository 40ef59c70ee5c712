//! `youyou check`: everything that is wrong with definitions, at once, without running anything.

use serde_json::json;
use youyou::{Error, Severity};

use super::Places;
use crate::{
    args::Check,
    exit::Exit,
    print::{self, count},
};

pub(crate) fn run(args: Check, places: &Places) -> Result<Exit, Error> {
    let checked = if args.dirs.is_empty() {
        youyou::check_all(&places.home, &places.workspace)
    } else {
        youyou::check_folders(&args.dirs, &places.home, &places.workspace)
    }?;
    let errors = checked.problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    if args.json {
        print::document(&json!({ "checked": checked.folders, "errors": errors, "problems": checked.problems }))?;
    } else {
        print::problems(&checked.problems);
        let errors = if errors == 0 { "no errors".to_owned() } else { count(errors, "error") };
        print::line(&format!("{} checked: {errors}", count(checked.folders, "folder")))?;
    }
    Ok(if errors == 0 { Exit::Ok } else { Exit::Reported })
}
