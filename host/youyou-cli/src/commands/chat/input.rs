//! Reading what the user types: with a history for the time of the conversation, and skills completed after `/`.

use rustyline::{
    Context, Editor, Helper, completion::Completer, error::ReadlineError, highlight::Highlighter, hint::Hinter,
    history::DefaultHistory, validate::Validator,
};
use youyou::{Error, ErrorCode};

/// What came of asking for a line.
pub(super) enum Typed {
    /// A message.
    Message(String),
    /// The line was given up.
    Nothing,
    /// The user wants to leave.
    End,
}

/// The line editor.
pub(super) struct Input(Editor<Skills, DefaultHistory>);

impl Input {
    pub(super) fn new(skills: Vec<String>) -> Result<Self, Error> {
        let mut editor = Editor::new().map_err(|error| broken(&error))?;
        editor.set_helper(Some(Skills(skills)));
        Ok(Self(editor))
    }

    pub(super) fn read(&mut self) -> Result<Typed, Error> {
        match self.0.readline("> ") {
            Ok(line) => {
                // Only the convenience of the arrow keys depends on it.
                let _kept = self.0.add_history_entry(&line);
                Ok(Typed::Message(line))
            }
            Err(ReadlineError::Interrupted) => Ok(Typed::Nothing),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(error) => Err(broken(&error)),
        }
    }
}

fn broken(error: &ReadlineError) -> Error {
    Error::new(ErrorCode::InvalidInput, format!("cannot read from the terminal: {error}"))
}

/// Completes the names of skills.
struct Skills(Vec<String>);

impl Skills {
    /// The names that the line may become, where it is the begin of a skill's name.
    fn matching(&self, line: &str) -> Vec<String> {
        let Some(begun) = line.strip_prefix('/') else { return Vec::new() };
        self.0.iter().filter(|name| name.starts_with(begun)).map(|name| format!("/{name} ")).collect()
    }
}

impl Completer for Skills {
    type Candidate = String;

    fn complete(&self, line: &str, cursor: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok((0, self.matching(line.get(..cursor).unwrap_or_default())))
    }
}

impl Hinter for Skills {
    type Hint = String;
}

impl Highlighter for Skills {}
impl Validator for Skills {}
impl Helper for Skills {}

#[cfg(test)]
mod tests {
    use super::Skills;

    #[test]
    fn a_slash_and_the_begin_of_a_name_are_completed() {
        let skills = Skills(vec!["commit".into(), "compare".into(), "review".into()]);
        assert_eq!(skills.matching("/com"), ["/commit ", "/compare "]);
        assert_eq!(skills.matching("/"), ["/commit ", "/compare ", "/review "]);
        assert!(skills.matching("com").is_empty() && skills.matching("say /com").is_empty());
    }
}
