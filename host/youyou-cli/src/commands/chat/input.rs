//! Reading what the user types: with a history for the time of the conversation, and skills completed after `/`.

use std::{
    io::{self, IsTerminal},
    thread,
};

use rustyline::{
    Behavior, Cmd, ConditionalEventHandler, Config, Context, Editor, Event, EventContext, EventHandler, Helper,
    KeyEvent, Movement, RepeatCount, completion::Completer, error::ReadlineError, highlight::Highlighter, hint::Hinter,
    history::DefaultHistory, validate::Validator,
};
use tokio::sync::oneshot;
use youyou::{Error, ErrorCode};

/// What came of asking for a line.
pub(super) enum Typed {
    /// A message.
    Message(String),
    /// Ctrl-C where there was nothing to clear.
    Interrupt,
    /// The user wants to leave.
    End,
    /// The terminal has gone away; the signal that says so may come later, or not at all.
    HungUp,
}

/// The line editor.
pub(super) struct Input {
    /// With the thread that reads, while one does.
    editor: Option<Editor<Skills, DefaultHistory>>,
    mode: TerminalMode,
}

impl Input {
    pub(super) fn new(skills: Vec<String>) -> Result<Self, Error> {
        let mode = TerminalMode::now();
        // What is asked is for the terminal, whatever becomes of the answers.
        let behavior = if io::stdout().is_terminal() { Behavior::Stdio } else { Behavior::PreferTerm };
        let config = Config::builder().behavior(behavior).build();
        let mut editor = Editor::with_config(config).map_err(|error| broken(&error))?;
        editor.set_helper(Some(Skills(skills)));
        editor.bind_sequence(KeyEvent::ctrl('C'), EventHandler::Conditional(Box::new(ClearFirst)));
        Ok(Self { editor: Some(editor), mode })
    }

    /// Waits for a line. Dropped before it answers, nothing more can be read: the program is about to leave.
    pub(super) async fn read(&mut self) -> Result<Typed, Error> {
        let Some(mut editor) = self.editor.take() else { return Ok(Typed::End) };
        let (tell, told) = oneshot::channel();
        // A thread of its own, because nothing can end it but a key, and the program must be able to leave without.
        let reader = thread::Builder::new().name("line editor".to_owned()).spawn(move || {
            let line = editor.readline("> ");
            // Nobody is left to hear of it when the program leaves.
            let _unheard = tell.send((editor, line));
        });
        reader.map_err(|error| broken(&ReadlineError::Io(error)))?;
        let (mut editor, line) = told.await.map_err(|error| broken(&ReadlineError::Io(io::Error::other(error))))?;
        if let Ok(line) = &line {
            // Only the convenience of the arrow keys depends on it.
            let _kept = editor.add_history_entry(line);
        }
        self.editor = Some(editor);
        match line {
            Ok(line) => Ok(Typed::Message(line)),
            Err(ReadlineError::Interrupted) => Ok(Typed::Interrupt),
            // It was a terminal when the editor was made.
            Err(_) if !io::stdin().is_terminal() => Ok(Typed::HungUp),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(error) => Err(broken(&error)),
        }
    }
}

/// A line that is still being read leaves the terminal in the editor's mode.
impl Drop for Input {
    fn drop(&mut self) {
        if self.editor.is_none() {
            self.mode.restore();
        }
    }
}

fn broken(error: &ReadlineError) -> Error {
    Error::new(ErrorCode::InvalidInput, format!("cannot read from the terminal: {error}"))
}

/// How the terminal treated what is typed before the line editor came.
struct TerminalMode {
    #[cfg(unix)]
    before: Option<nix::sys::termios::Termios>,
}

impl TerminalMode {
    fn now() -> Self {
        Self {
            #[cfg(unix)]
            before: nix::sys::termios::tcgetattr(io::stdin()).ok(),
        }
    }

    fn restore(&self) {
        #[cfg(unix)]
        if let Some(before) = &self.before {
            use nix::sys::termios::{SetArg, tcsetattr};
            /// What is pasted needs no marks any more.
            const NO_PASTE_MARKS: &str = "\x1b[?2004l";
            // If the terminal has gone away, there is nothing to restore.
            let _gone = tcsetattr(io::stdin(), SetArg::TCSADRAIN, before);
            let _unheard = crate::print::obeyed(&format!("{NO_PASTE_MARKS}\n"));
        }
    }
}

/// Ctrl-C clears the line; only where there is none does it mean more.
struct ClearFirst;

impl ConditionalEventHandler for ClearFirst {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        Some(if context.line().is_empty() { Cmd::Interrupt } else { Cmd::Kill(Movement::WholeBuffer) })
    }
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
