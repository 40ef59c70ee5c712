//! The question whether what a project brings may be run (D-40).
//!
//! A project folder that was cloned from somewhere may bring tools and plugins, and they run as the user. So they are shown
//! the first time, and again whenever anything in them has changed.

use std::{
    fs,
    io::{self, BufRead, IsTerminal, Write},
};

use youyou::{Error, ErrorCode, ListedPlugin, ProjectContents, Roots, TrustStore, project_fingerprint};

use super::Places;
use crate::print;

/// What the user said beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beforehand {
    /// Nothing: ask.
    Nothing,
    /// `--trust-project`.
    Trust,
}

impl Beforehand {
    pub(super) fn new(trust_project: bool) -> Self {
        if trust_project { Self::Trust } else { Self::Nothing }
    }
}

/// Makes sure of the same before something is run that is called by its name, where the project has a say in what that is.
/// `kind` is the folder that holds its kind: `tools` or `plugins`. Whoever names a folder has made up their mind.
///
/// # Errors
/// As [`settle()`].
pub(super) fn settle_named(places: &Places, kind: &str, name: &str, beforehand: Beforehand) -> Result<(), Error> {
    let folder = places.workspace.join(".youyou").join(kind).join(name);
    // A folder that is there and cannot be looked at is no reason to run what is in it.
    if name.is_empty() || fs::symlink_metadata(folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(());
    }
    settle(places, beforehand)
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
                "{} brings {} of its own, and nobody can be asked here whether to trust them; look at them, then say \
                 --trust-project",
                places.workspace.display(),
                kinds(&contents)
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
    let workspace = one_line(&places.workspace.display().to_string());
    let runs = !contents.tools.is_empty() || contents.plugins.iter().any(handles);
    let mut text = match runs {
        true => format!("{workspace} brings what can be run as you:"),
        false => format!("{workspace} runs nothing of its own, and says how plugins are to be:"),
    };
    for tool in &contents.tools {
        text.push_str(&format!("\n  tool {}: {}", tool.name, one_line(&tool.runs())));
        if let Some(own) = &tool.replaces {
            let own = one_line(&own.display().to_string());
            text.push_str(&format!("\n  tool {}: takes the place of your own in {own}", tool.name));
        }
    }
    for plugin in &contents.plugins {
        for line in plugin.lines() {
            text.push_str(&format!("\n  plugin {}: {}", plugin.name, one_line(&line)));
        }
    }
    text
}

/// What there is, in a word or two.
fn kinds(contents: &ProjectContents) -> String {
    let kinds = [
        ("tools", !contents.tools.is_empty()),
        ("plugins", contents.plugins.iter().any(handles)),
        ("settings of plugins", contents.plugins.iter().any(|plugin| !handles(plugin))),
    ];
    let mut kinds: Vec<_> = kinds.into_iter().filter(|(_, there)| *there).map(|(kind, _)| kind).collect();
    let last = kinds.pop().unwrap_or_default();
    if kinds.is_empty() { last.to_owned() } else { format!("{} and {last}", kinds.join(", ")) }
}

fn handles(plugin: &ListedPlugin) -> bool {
    !plugin.handlers.is_empty()
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
