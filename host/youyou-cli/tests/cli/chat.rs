//! `youyou chat` with a single message: where it comes from, what is shown of the turn, and how the program ends.

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStderr},
};
use youyou_tests::{
    FOR_EVER, Lifeline,
    lifeline::{REPORT, pipe},
    tool::script,
};

use crate::{
    desk::{Desk, Ran, on_one_thread},
    ending::send,
};

/// A model that calls one tool and then says what it has seen.
const ONE_CALL: &str = "
-- work/script.yaml
replies:
  - when: { user: {} }
    say: [{ text: 'Let me see.' }, { call: { tool_name: look, arguments: { text: \"a\\nb\" } } }]
  - when: { tool_result: { tool_name: look } }
    template: true
    say: [{ text: 'It says: ' }, { text: '{last_tool_result}' }]
";

/// A model that repeats what it was told.
const ECHO: &str = "
-- work/script.yaml
replies:
  - { when: { user: {} }, repeat: true, template: true, say: [{ text: '<{last_user_text}>' }] }
";

fn chat(desk: &Desk, args: &[&str]) -> Ran {
    desk.run(&[&["chat", "--replay", "script.yaml"], args].concat())
}

/// Y6.2-3: the answer is on stdout, what is done for it on stderr.
#[test]
fn a_single_message_shows_its_turn() {
    let desk = Desk::new(&[script("look", "echo seen"), ONE_CALL.to_owned()].concat());
    insta::assert_snapshot!(chat(&desk, &["go"]).shown(), @r#"
    out| Let me see.
    out| It says: seen
    err| → look {"text":"a\nb"}
    err| ✓ look ([ms]) seen
    exit 0
    "#);
}

/// A failure of a tool is marked as one; the exit status is that of the turn, which went on.
#[test]
fn a_failing_tool_is_marked_and_its_turn_goes_on() {
    let desk = Desk::new(&[script("look", "echo 'no such place'; exit 1"), ONE_CALL.to_owned()].concat());
    insta::assert_snapshot!(chat(&desk, &["go"]).shown(), @r#"
    out| Let me see.
    out| It says: no such place
    err| → look {"text":"a\nb"}
    err| ✗ look ([ms]) no such place
    exit 0
    "#);
}

/// Y7-1, D-21: one document for each event, numbered without gaps, the last one terminal.
#[test]
fn for_a_program_each_event_is_one_line() {
    let desk = Desk::new(&[script("look", "echo seen"), ONE_CALL.to_owned()].concat());
    let ran = chat(&desk, &["go", "--json"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    let events: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let types: Vec<_> = events.iter().map(|event| event["type"].as_str().expect("a type")).collect();
    insta::assert_snapshot!(types.join("\n"), @"
    StepStart
    TextDelta
    StepEnd
    ToolCallStart
    ToolCallEnd
    StepStart
    TextDelta
    TextDelta
    StepEnd
    TurnComplete
    ");
    for (place, event) in events.iter().enumerate() {
        assert_eq!(event["sequence"], json!(place + 1));
        assert_eq!((&event["session_id"], &event["turn_id"]), (&events[0]["session_id"], &json!("turn-1")));
    }
    assert_eq!((&events[4]["output"], &events[4]["success"]), (&json!("seen"), &json!(true)));
}

#[test]
fn the_message_may_come_from_stdin() {
    let desk = Desk::new(ECHO);
    let text = "两行\nof text\n";
    for args in [&["chat", "--replay", "script.yaml"][..], &["chat", "-", "--replay", "script.yaml"]] {
        let ran = desk.run_with_stdin(args, text.as_bytes());
        assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (Some(0), &*format!("<{text}>\n"), ""), "{args:?}");
    }
    // An argument is a message though something is on stdin.
    let ran = desk.run_with_stdin(&["chat", "hi", "--replay", "script.yaml"], b"unread");
    assert_eq!(ran.stdout, "<hi>\n");
}

/// K-23 for messages: empty, not text.
#[test]
fn a_message_that_is_none_is_refused() {
    let desk = Desk::new(ECHO);
    let said = |stdin: &[u8]| desk.run_with_stdin(&["chat", "--replay", "script.yaml"], stdin).shown();
    insta::assert_snapshot!(said(b" \n"), @"
    err| error: the message is empty: write something or attach a file
    exit 2
    ");
    insta::assert_snapshot!(said(b"caf\xe9"), @"
    err| error: the message on stdin is not UTF-8 from byte 3 on
    exit 2
    ");
}

/// D-44, Y6.2-1.
#[test]
fn an_unknown_model_is_refused_and_the_known_ones_are_named() {
    let desk = Desk::new(ECHO);
    insta::assert_snapshot!(chat(&desk, &["hi", "--model", "gpt"]).shown(), @r#"
    err| error: no provider serves the model "gpt"; there are: replay
    exit 3
    "#);
    let ran = chat(&desk, &["hi", "--model", "gpt", "--json"]);
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (Some(3), &json!("MODEL_NOT_SUPPORTED")));
    assert_eq!(chat(&desk, &["hi", "--model", "replay"]).stdout, "<hi>\n");
}

/// D-61: nothing is sent.
#[test]
fn an_unknown_skill_is_refused_with_the_nearest_name() {
    let desk = Desk::new(
        &[ECHO, "-- home/skills/commit/index.md\n---\nversion: 1\nname: commit\ndescription: Commits.\n---\nCommit."]
            .concat(),
    );
    insta::assert_snapshot!(chat(&desk, &["/comit all"]).shown(), @r#"
    err| error: no skill is named "comit"; did you mean "/commit"? Or write "//comit" if it is meant as text
    exit 3
    "#);
    let ran = chat(&desk, &["/commit all"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "<all>\n"), "{ran:?}");
}

/// A script that cannot be played is told of with its place.
#[test]
fn a_replay_script_that_is_none_is_refused() {
    let desk = Desk::new("-- work/wrong.yaml\nreplies:\n  - sey: []\n");
    insta::assert_snapshot!(desk.run(&["chat", "hi", "--replay", "missing.yaml"]).shown(), @"
    err| error: missing.yaml: the replay script cannot be read: No such file or directory (os error 2)
    exit 2
    ");
    insta::assert_snapshot!(desk.run(&["chat", "hi", "--replay", "wrong.yaml"]).shown(), @"
    err| error: wrong.yaml:2:5: replies[0]: unknown field `sey`, expected one of `when`, `tool_listed`, `repeat`, `template`, `say`; did you mean `say`?
    exit 2
    ");
    insta::assert_snapshot!(desk.run(&["chat", "hi", "--replay", "."]).shown(), @"
    err| error: .: expected a replay script that ends in .yaml, .yml or .jsonl
    exit 2
    ");
}

/// D-21: a turn that fails says why, and the exit status says that it did.
#[test]
fn a_failed_turn_says_why() {
    let script = "-- work/script.yaml\nreplies: [{ say: [{ text: I }, { error: { kind: auth, message: no key } }] }]";
    insta::assert_snapshot!(chat(&Desk::new(script), &["hi"]).shown(), @"
    out| I
    err| error: no key
    exit 3
    ");
}

/// A program that is asked to stop, line by line.
struct Stopped {
    child: Child,
    said: Lines<BufReader<ChildStderr>>,
}

impl Stopped {
    fn start(desk: &Desk) -> Self {
        let mut child = desk.youyou(&["chat", "go", "--replay", "script.yaml"]).spawn().expect("starts");
        let said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        Self { child, said }
    }

    /// The next line on stderr.
    async fn says(&mut self) -> String {
        let line = tokio::time::timeout(FOR_EVER, self.said.next_line()).await.expect("it says something");
        line.expect("reads").expect("there is a line")
    }

    /// Waits for the end; its exit status, and what it had not said yet.
    async fn end(mut self) -> (Option<i32>, Vec<String>) {
        let mut rest = Vec::new();
        while let Some(line) =
            tokio::time::timeout(FOR_EVER, self.said.next_line()).await.expect("ends").expect("reads")
        {
            rest.push(line);
        }
        (self.child.wait().await.expect("ends").code(), rest)
    }
}

/// A desk with a tool that holds the lifeline and does `rest`.
fn slow(rest: &str) -> (Desk, Lifeline) {
    let desk = Desk::new(ONE_CALL);
    let lifeline = Lifeline::new(&desk.world);
    desk.world.add(&script("look", &format!("{}\n{rest}", lifeline.hold())));
    (desk, lifeline)
}

/// Y6.2-4: the first Ctrl-C stops the model, waits for the tool and keeps its result.
#[test]
fn an_interrupt_cancels_the_turn_and_waits_for_its_tool() {
    let (desk, mut lifeline) = slow(&format!("{REPORT}\ncat go-on\necho finished"));
    let go_on = pipe(&desk.world, "work/go-on");
    on_one_thread(async {
        let mut stopped = Stopped::start(&desk);
        lifeline.started().await;
        assert_eq!(stopped.says().await, r#"→ look {"text":"a\nb"}"#);
        send(&stopped.child, Signal::SIGINT);
        assert_eq!(stopped.says().await, "waiting for look to end; Ctrl-C again leaves at once");
        std::fs::write(go_on, "").expect("lets it go on");
        let (code, rest) = stopped.end().await;
        assert_eq!(code, Some(1));
        assert!(
            matches!(&rest[..], [end, cancelled] if end.ends_with("finished") && cancelled == "cancelled"),
            "{rest:?}"
        );
        lifeline.ended().await;
    });
}

/// The second Ctrl-C waits for nobody, not even for a tool that does not listen, and leaves nothing behind.
#[test]
fn a_second_interrupt_leaves_at_once() {
    let (desk, mut lifeline) = slow(&format!("trap '' INT TERM HUP\nsleep 1000 &\n{REPORT}\nwait"));
    on_one_thread(async {
        let mut stopped = Stopped::start(&desk);
        lifeline.started().await;
        stopped.says().await;
        send(&stopped.child, Signal::SIGINT);
        stopped.says().await;
        send(&stopped.child, Signal::SIGINT);
        let (code, rest) = stopped.end().await;
        assert_eq!((code, &*rest.join("\n")), (Some(130), "left at once; whatever still ran was killed"));
        lifeline.ended().await;
    });
}

/// K-10: whoever else asks the program to end gets an end in order: the tool is stopped, its result recorded.
#[test]
fn other_signals_stop_the_tool_and_then_the_program() {
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let (desk, mut lifeline) = slow(&format!("sleep 1000 &\n{REPORT}\nwait"));
        on_one_thread(async {
            let mut stopped = Stopped::start(&desk);
            lifeline.started().await;
            stopped.says().await;
            send(&stopped.child, signal);
            let (found, rest) = stopped.end().await;
            assert_eq!(found, Some(code), "{rest:?}");
            assert!(matches!(&rest[..], [end, last] if end.starts_with("✗ look (") && last == "cancelled"), "{rest:?}");
            lifeline.ended().await;
        });
    }
}
