//! A conversation whose process is killed, whatever it is doing, goes on (K-02, P-6).
//!
//! The program holds a conversation with a tool that leaves a mark for each call, and is killed: after so many events,
//! after so many bytes of them, or some microseconds later. What it had told until then is acknowledged. `cargo xtask
//! soak` does it often; `YOUYOU_KILLS` says how often for each store, and `YOUYOU_KILL_SEED` draws the same moments again.

mod memories;

use std::{
    collections::{HashMap, HashSet},
    env, fs,
    os::unix::process::ExitStatusExt,
    process::Stdio,
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    process::Command,
};
use youyou_tests::{
    FOR_EVER,
    tool::{mutating, script},
};

use crate::{
    desk::{Desk, on_one_thread},
    sessions::{begin, keeping},
};

/// Kills for each store, unless the environment says otherwise.
const KILLS: u64 = 15;

/// After so many comes a session of its own.
const KILLS_PER_SESSION: u64 = 15;

const SIGKILL: i32 = 9;

/// A model with a small window, so that the context is made shorter now and then; it asks for three changes, one after the
/// other, and then for two at once.
const CHANGES: &str = "
-- work/changes.yaml
models: [{ id: demo, context_window: 8000 }]
replies:
  - when: { user: { contains: 'now write the summary' } }
    repeat: true
    say: [{ text: 'Changes were ' }, { text: 'made.' }]
  - when: { user: {} }
    repeat: true
    say: [{ reasoning: Hm. }, { text: 'I ' }, { text: 'will. ' }, { call: { tool_name: change, arguments: { text: one } } }]
  - when: { tool_result: { contains: one } }
    repeat: true
    say: [{ call: { tool_name: change, arguments: { text: two } } }]
  - when: { tool_result: { contains: two } }
    repeat: true
    say: [{ call: { tool_name: change, arguments: { text: half } } }, { call: { tool_name: change, arguments: { text: three } } }]
  - { when: { tool_result: {} }, repeat: true, say: [{ text: 'Done.' }] }
";

/// Notes session and id of each call that it is run for, in one write, then answers with its text and a lot of dots. It may
/// outlive the program, and gets no input if that was killed before it could write it.
const CHANGE: &str = r#"input=$(cat)
[ -n "$input" ] || exit 1
printf '%s\n' "$input" | sed "s/.*\"call_id\":\"\([^\"]*\)\".*/$YOUYOU_SESSION_ID \1/" >> NOTES
printf '%s' "$input" | sed 's/.*"text":"\([a-z]*\)".*/\1/' | tr -d '\n'
printf '%02000d' 0 | tr 0 ."#;

/// Numbers that look random and are the same for the same seed (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// A number of the environment.
fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is a whole number, not {text:?}")))
}

/// When the program is killed.
#[derive(Debug)]
enum Moment {
    /// Once it has told so many events and so many microseconds have passed; nothing is waited for by that, every moment
    /// is as good as another.
    Events(u64, u64),
    /// Once it has told so many bytes of events.
    Bytes(u64),
}

impl Moment {
    /// A moment of a conversation that tells so many events.
    fn draw(dice: &mut Dice, events: u64) -> Self {
        match dice.below(3) {
            0 => Self::Events(dice.below(events), 0),
            1 => Self::Events(dice.below(events), dice.below(20_000)),
            _ => Self::Bytes(dice.below(events * 700)),
        }
    }
}

/// Starts the program, and kills it at this moment. What it told until its end, unless it ended by itself.
fn killed_at(mut command: Command, moment: &Moment) -> Option<Vec<Value>> {
    command.stderr(Stdio::null());
    let killed = async { tokio::time::timeout(FOR_EVER, kill(command, moment)).await };
    on_one_thread(killed).expect("it is killed or ends")
}

async fn kill(mut command: Command, moment: &Moment) -> Option<Vec<Value>> {
    let mut child = command.spawn().expect("starts");
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut told = Vec::new();
    match *moment {
        Moment::Events(events, later) => {
            for _ in 0..events {
                stdout.read_until(b'\n', &mut told).await.expect("reads");
            }
            tokio::time::sleep(Duration::from_micros(later)).await;
        }
        Moment::Bytes(bytes) => {
            (&mut stdout).take(bytes).read_to_end(&mut told).await.expect("reads");
        }
    }
    child.kill().await.expect("is killed");
    // What it told before it died counts too.
    stdout.read_to_end(&mut told).await.expect("reads");
    let status = child.wait().await.expect("it has ended");
    let killed = status.signal() == Some(SIGKILL);
    assert!(killed || status.success(), "it ended by itself: {status}");
    let told = String::from_utf8_lossy(&told);
    // The last line may be half; what was not told whole is not acknowledged.
    let lines = told.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    killed.then(|| lines.map(|line| serde_json::from_str(line).expect("an event")).collect())
}

/// A session as it is stored.
struct Stored {
    records: Vec<Value>,
    /// How often each call was asked for, and answered.
    calls: HashMap<String, (u64, u64)>,
    /// What could not be read.
    skipped: Vec<Value>,
}

impl Stored {
    fn load(desk: &Desk, session: &str) -> Self {
        let mut document = desk.run(&["sessions", "show", session, "--json"]).json();
        assert_eq!(document["results_without_a_call"], serde_json::json!([]));
        let mut list = |name: &str| match document[name].take() {
            Value::Array(items) => items,
            other => panic!("{name} is a list, not {other}"),
        };
        let (records, skipped) = (list("records"), list("skipped"));
        let mut stored = Self { records: Vec::new(), calls: HashMap::new(), skipped };
        for record in &records {
            for part in record["payload"]["parts"].as_array().into_iter().flatten() {
                if part["type"] == "tool_call" {
                    stored.calls.entry(call_id(part)).or_default().0 += 1;
                }
            }
            if record["type"] == "tool_result" {
                stored.calls.entry(call_id(&record["payload"])).or_default().1 += 1;
            }
        }
        Self { records, ..stored }
    }

    /// Everything that was told to have happened is there.
    fn holds(&self, told: &[Value]) {
        for event in told {
            match event["type"].as_str().expect("a type") {
                "ToolCallStart" => {
                    assert!(self.calls.contains_key(&call_id(event)), "the call is missing: {event}");
                }
                "ToolCallEnd" => {
                    let result = |record: &&Value| {
                        record["type"] == "tool_result" && record["payload"]["call_id"] == event["call_id"]
                    };
                    let found = self.records.iter().find(result);
                    let found = found.unwrap_or_else(|| panic!("the result is missing: {event}"));
                    assert_eq!(found["payload"]["content"], event["output"]);
                }
                "StepStart" => {
                    let user = self.records.iter().rfind(|record| record["type"] == "user_message");
                    let text = &user.expect("a message")["payload"]["parts"][0]["text"];
                    assert_eq!(text, "go", "the turn's message is missing");
                }
                "TurnComplete" => {
                    let last = self.records.iter().rfind(|record| record["type"] == "assistant_message");
                    let text = &last.expect("an answer")["payload"]["parts"][0]["text"];
                    assert_eq!(text, "Done.", "the turn's answer is missing");
                }
                _ => {}
            }
        }
    }

    fn compactions(&self) -> usize {
        self.records.iter().filter(|record| record["payload"]["kind"] == "compaction").count()
    }
}

fn call_id(value: &Value) -> String {
    value["call_id"].as_str().expect("an id").to_owned()
}

/// How often each store is put to the test, and what the moments are drawn from.
fn plan(what: &str) -> (u64, Dice) {
    let kills = number("YOUYOU_KILLS").unwrap_or(KILLS);
    let seed = number("YOUYOU_KILL_SEED").unwrap_or(0x5eed);
    println!("{what}: {kills} kills, YOUYOU_KILL_SEED={seed}");
    // A seed of 0 would draw nothing but zeros.
    (kills, Dice(seed.max(1)))
}

/// Kills a conversation again and again, and looks at the session after each time, and after it has gone on.
fn survives(store: &str) {
    let (kills, mut dice) = plan(store);
    let (mut marks, mut compactions) = (0, 0);
    for first in (0..kills).step_by(usize::try_from(KILLS_PER_SESSION).expect("it fits")) {
        let mut killing = Killing::new(store);
        for kill in first..kills.min(first + KILLS_PER_SESSION) {
            let at = killing.kill(&mut dice);
            eprintln!("{store}: kill {kill} {at:?}");
            // Now and then the program that goes on is killed too, before it has come to anything.
            if dice.below(4) > 0 {
                killing.go_on();
            }
        }
        killing.go_on();
        marks += killing.marks().len() as u64;
        compactions += Stored::load(&killing.desk, &killing.session).compactions();
    }
    println!("{store}: {kills} kills, {marks} calls that left their mark, {compactions} compactions");
    assert!(marks >= kills && compactions > 0, "too little happened to show anything");
}

/// A session whose program is killed.
struct Killing {
    desk: Desk,
    session: String,
    /// What was stored when it was last looked at.
    known: Vec<Value>,
}

impl Killing {
    fn new(store: &str) -> Self {
        let desk = keeping(store, CHANGES);
        let change = CHANGE.replace("NOTES", &desk.world.path("notes").display().to_string());
        desk.world.add(&mutating(&script("change", &change)));
        let session = begin(&desk, "hello");
        Self { desk, session, known: Vec::new() }
    }

    /// Kills it once, and checks what it leaves; when that was.
    fn kill(&mut self, dice: &mut Dice) -> Moment {
        loop {
            let moment = Moment::draw(dice, 20);
            let command = self.desk.youyou(&["chat", "go", "--replay", "changes.yaml", "--resume", "--json"]);
            if let Some(told) = killed_at(command, &moment) {
                let stored = self.look();
                // At most the torn end is told.
                assert!(stored.skipped.len() <= 1, "{:?}", stored.skipped);
                stored.holds(&told);
                return moment;
            }
            // It was faster; what it left is looked at all the same.
            self.look();
        }
    }

    /// Goes on with it, and checks that all is well then.
    fn go_on(&mut self) {
        let ran = self.desk.run(&["chat", "well?", "--replay", "script.yaml", "--resume"]);
        assert_eq!((ran.code, &*ran.stdout), (Some(0), "<well?>\n"), "{ran:?}");
        let stored = self.look();
        assert!(stored.skipped.is_empty(), "{:?}", stored.skipped);
        for (call, counts) in &stored.calls {
            assert_eq!(*counts, (1, 1), "{call} was asked for and answered so often");
        }
        let ahead = stored.records.iter().filter(|record| record["type"] == "tool_call");
        let ahead: HashSet<_> = ahead.map(|record| call_id(&record["payload"])).collect();
        let marks = self.marks();
        for mark in &marks {
            assert!(ahead.contains(mark), "{mark} ran and was not written down before");
        }
        let ran: HashSet<_> = marks.iter().collect();
        assert_eq!(ran.len(), marks.len(), "a call ran twice: {marks:?}");
        self.assert_no_half_line();
    }

    /// Reads what is stored: all that was there before, as it was, and perhaps more.
    fn look(&mut self) -> Stored {
        let stored = Stored::load(&self.desk, &self.session);
        assert!(stored.records.starts_with(&self.known), "what was stored has changed");
        self.known.clone_from(&stored.records);
        stored
    }

    /// The calls that the tool was run for, in order; the last may be missing if it still runs.
    fn marks(&self) -> Vec<String> {
        let notes = fs::read_to_string(self.desk.world.path("notes")).unwrap_or_default();
        let mark = |line: &str| {
            let (session, call) = line.split_once(' ').expect("a session and a call");
            assert_eq!(session, self.session);
            call.to_owned()
        };
        notes.lines().map(mark).collect()
    }

    /// Every line of every segment in files is a whole JSON document.
    fn assert_no_half_line(&self) {
        let mut folders = vec![self.desk.world.home().join("sessions")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                    let text = fs::read_to_string(&path).expect("UTF-8");
                    assert!(text.ends_with('\n'), "{} ends in the middle of a line", path.display());
                    for line in text.lines() {
                        let whole = serde_json::from_str::<Value>(line);
                        assert!(whole.is_ok(), "a half line in {}: {line}", path.display());
                    }
                }
            }
        }
    }
}

/// K-02, P-6, D-71.
#[test]
fn a_killed_conversation_kept_in_files_goes_on() {
    survives("jsonl");
}

/// K-02, P-6, D-71.
#[test]
fn a_killed_conversation_kept_in_a_database_goes_on() {
    survives("sqlite");
}
