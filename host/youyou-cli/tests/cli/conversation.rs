//! `youyou chat` on a terminal: keys, lines and colours.

use nix::sys::signal::Signal;
use youyou_tests::tool::script;

use crate::{desk::Desk, terminal::OnTerminal};

const CONTROL_C: &str = "\u{3}";
const CONTROL_D: &str = "\u{4}";

/// A model that answers, and calls a tool when it is asked to.
const TALK: &str = "
-- work/script.yaml
replies:
  - when: { user: { contains: look } }
    repeat: true
    say: [{ call: { tool_name: look } }]
  - { when: { tool_result: {} }, repeat: true, say: [{ text: 'Seen.' }] }
  - { when: { user: {} }, repeat: true, template: true, say: [{ text: '<{last_user_text}>' }] }
";

fn start(desk: &Desk) -> OnTerminal {
    let mut terminal = OnTerminal::start(desk.youyou(&["chat", "--replay", "script.yaml"]));
    terminal.until("Ctrl-D leaves").until("> ");
    terminal
}

/// Several turns of one session; a refused message ends nothing; Ctrl-D leaves.
#[test]
fn a_conversation_goes_on_until_its_user_leaves() {
    let desk = Desk::new(&[script("look", "echo here"), TALK.to_owned()].concat());
    let mut terminal = start(&desk);
    terminal.press("hello\r").until("<hello>").until("> ");
    terminal.press("/nobody\r").until("error: no skill is named \"nobody\"").until("> ");
    terminal.press("look\r").until("→ look").until("✓ look").until("Seen.").until("> ");
    terminal.press("\r").until("> ");
    terminal.press(CONTROL_D);
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("\u{1b}[2m→ look"), "what is beside the answer is dim: {shown:?}");
}

/// Ctrl-C clears what was typed; where nothing was typed it says how to leave.
#[test]
fn an_interrupt_at_the_prompt_clears_the_line() {
    let desk = Desk::new(TALK);
    let mut terminal = start(&desk);
    terminal.press("not this").until("not this");
    terminal.press(CONTROL_C).press("but that\r").until("<but that>").until("> ");
    terminal.press(CONTROL_C).until("Ctrl-D leaves").until("> ");
    terminal.press(CONTROL_D);
    assert_eq!(terminal.end().0, Some(0));
}

/// A tool that runs is shown with the time that it takes; the line goes away with it.
#[test]
fn a_running_tool_is_shown_while_it_runs() {
    let desk = Desk::new(&[script("look", "cat go-on"), TALK.to_owned()].concat());
    let go_on = youyou_tests::lifeline::pipe(&desk.world, "work/go-on");
    let mut terminal = start(&desk);
    terminal.press("look\r").until("→ look").until("look 0s");
    std::fs::write(go_on, "done").expect("lets it go on");
    terminal.until("✓ look").until("Seen.").until("> ").press(CONTROL_D);
    assert_eq!(terminal.end().0, Some(0));
}

/// Asked to end while it waits for a line, the program gives the terminal back as it was.
#[test]
fn a_signal_at_the_prompt_ends_the_program() {
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let desk = Desk::new(TALK);
        let mut terminal = start(&desk);
        let screen = terminal.screen();
        terminal.press("half a li").until("half a li");
        assert!(!screen.echoes(), "the line editor shows what is typed");
        terminal.signal(signal);
        assert_eq!(terminal.end().0, Some(code));
        assert!(screen.echoes(), "the shell that comes after it shows what is typed");
    }
}

/// A terminal that is closed takes whatever moves on it with it; the program ends as one that was hung up.
#[test]
fn a_terminal_that_goes_away_while_a_tool_runs_is_no_reason_to_panic() {
    let desk = Desk::new(&[script("look", "cat go-on"), TALK.to_owned()].concat());
    youyou_tests::lifeline::pipe(&desk.world, "work/go-on");
    let mut terminal = start(&desk);
    terminal.press("look\r").until("→ look").until("look 0s");
    assert_eq!(terminal.hang_up(Some(Signal::SIGHUP)), Some(129));
}

/// The same at the prompt, whether the end of the input is seen first or the signal.
#[test]
fn a_terminal_that_goes_away_at_the_prompt_hangs_up() {
    for signal in [None, Some(Signal::SIGHUP)] {
        let desk = Desk::new(TALK);
        let mut terminal = start(&desk);
        terminal.press("half a li").until("half a li");
        assert_eq!(terminal.hang_up(signal), Some(129), "{signal:?}");
    }
}

/// NO_COLOR: what is shown holds no colour.
#[test]
fn colours_are_left_out_when_nobody_wants_them() {
    let desk = Desk::new(&[script("look", "echo here"), TALK.to_owned()].concat());
    let mut command = desk.youyou(&["chat", "look", "--replay", "script.yaml"]);
    command.env("NO_COLOR", "1");
    let (code, shown) = OnTerminal::start(command).end();
    assert_eq!(code, Some(0));
    assert!(shown.contains("→ look") && !shown.contains("\u{1b}[2m"), "{shown:?}");
}

/// What a model or a tool says moves no cursor and sets no title.
#[test]
fn control_characters_are_shown_and_not_obeyed() {
    let talk = TALK.replace("'Seen.'", r#""\x1b]0;title\x07""#);
    let desk = Desk::new(&[script("look", r"printf '\033[2Jtool'"), talk].concat());
    let command = desk.youyou(&["chat", "look", "--replay", "script.yaml"]);
    let (code, shown) = OnTerminal::start(command).end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("␛[2Jtool") && shown.contains("␛]0;title␇"), "{shown:?}");
}
