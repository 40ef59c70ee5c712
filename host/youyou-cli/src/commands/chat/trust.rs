//! The question whether a project's own tools may be run (D-40).
//!
//! A project folder that was cloned from somewhere may bring tools, and tools run as the user. So they are shown the
//! first time, and again whenever anything in them has changed.

use std::io::{self, BufRead, IsTerminal, Write};

use youyou::{Error, ErrorCode, ProjectContents, Roots, TrustStore, project_fingerprint};

use crate::{commands::Places, print};

/// What the user said beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beforehand {
    /// Nothing: ask.
    Nothing,
    /// `--trust-project`.
    Trust,
}

/// Makes sure that the user trusts what the project holds.
///
/// # Errors
/// `INVALID_INPUT` when they do not, or cannot be asked.
pub(super) fn settle(places: &Places, beforehand: Beforehand) -> Result<(), Error> {
    let roots = Roots { home: places.home.clone(), workspace: places.workspace.clone() };
    let Some(contents) = project_fingerprint(&roots) else { return Ok(()) };
    let (mut store, problem) = TrustStore::open(&places.home);
    print::problems(&problem);
    if store.is_trusted(&places.workspace, &contents.hash) {
        return Ok(());
    }
    match beforehand {
        Beforehand::Trust => {}
        Beforehand::Nothing if io::stdin().is_terminal() => {
            print::note(&describe(places, &contents));
            if !agreed()? {
                return Err(refused(&format!("{} is not trusted; nothing was run", places.workspace.display())));
            }
            // What was shown is what was agreed to.
            if project_fingerprint(&roots).is_none_or(|now| now.hash != contents.hash) {
                let message = "what the project brings has changed while it was looked at; nothing was run";
                return Err(refused(message));
            }
        }
        Beforehand::Nothing => {
            print::note(&describe(places, &contents));
            let message = format!(
                "{} brings tools of its own, and nobody can be asked here whether to trust them; look at them, then say \
                 --trust-project",
                places.workspace.display()
            );
            return Err(refused(&message));
        }
    }
    if let Err(error) = store.trust(&places.workspace, &contents.hash) {
        // Only the next run is the poorer for it: it asks again.
        print::note(&format!("warning: {error}"));
    }
    Ok(())
}

fn refused(message: &str) -> Error {
    Error::new(ErrorCode::InvalidInput, message)
}

fn describe(places: &Places, contents: &ProjectContents) -> String {
    let mut text = format!("{} brings what can be run as you:", one_line(&places.workspace.display().to_string()));
    for tool in &contents.tools {
        text.push_str(&format!("\n  tool {}: {}", tool.name, one_line(&tool.runs())));
    }
    for plugin in &contents.plugins {
        for line in plugin.lines() {
            text.push_str(&format!("\n  plugin {}: {}", plugin.name, one_line(&line)));
        }
    }
    text
}

/// What a stranger has written must not look like a line of ours, nor hide one.
fn one_line(text: &str) -> String {
    print::visible(&text.replace(['\n', '\u{2028}', '\u{2029}'], " ")).into_owned()
}

fn agreed() -> Result<bool, Error> {
    let unasked = |error: io::Error| refused(&format!("cannot ask on the terminal: {error}"));
    let mut err = io::stderr().lock();
    write!(err, "Trust it? You are asked again when any of it changes. [y/N] ").map_err(unasked)?;
    err.flush().map_err(unasked)?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(unasked)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D-40: the question shows what would run, whatever a project does to hide it.
    #[test]
    fn a_command_cannot_hide_itself_from_the_question() {
        assert_eq!(one_line("./a\n  tool b: ./b \u{1b}[1A\u{1b}[2K"), "./a   tool b: ./b ␛[1A␛[2K");
    }
}
