//! Whatever a model says, tools do and the user cancels: what is sent, stored and told stays sound.

use std::{
    cell::RefCell,
    collections::{HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use proptest::{collection::vec, option, prelude::*, sample::select, test_runner::TestRunner};
use serde_json::json;
use youyou::{
    AssistantPart, CallId, Capabilities, Entry, Error, ErrorCode, ModelId, ModelInfo, ProviderErrorKind, ProviderId,
    Reply, Script, Session, Step, StopReason, ToolFailure, ToolOutput, Usage,
};
use youyou_tests::agent::{CodeTool, PATIENCE, Setup};

/// A conversation: what the model holds and says, how the tools fare, and what the user does.
#[derive(Debug, Clone)]
struct Case {
    window: u64,
    answers: Vec<Vec<Step>>,
    outcomes: Vec<Outcome>,
    turns: Vec<Message>,
}

/// How one call of a tool fares.
#[derive(Debug, Clone, Copy)]
enum Outcome {
    Answers(usize),
    ReportsFailure,
    Breaks,
    Panics,
    EndsTheTurn,
    Dawdles,
    Hangs,
    CancelsTheTurn,
}

#[derive(Debug, Clone)]
struct Message {
    text: String,
    /// After which of the turn's events the user cancels.
    cancels: Vec<usize>,
    listens: bool,
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just("word".to_owned()), (1_usize..300).prop_map(|count| "word ".repeat(count)), Just("字".repeat(150))]
}

fn step() -> impl Strategy<Value = Step> {
    let names = || select(vec!["look", "look", "change", "change", "Look", ""]).prop_map(str::to_owned);
    let ids = || select(vec!["same", "a", "call-1", ""]).prop_map(str::to_owned);
    let arguments = select(vec!["{}", "{}", "{}", "{\"n\":1}", "null", "{\"n\":", "", "{\"n\":1} {}"]);
    let pieces = select(vec!["{", "}", "{}", "{}", "\"n\":1", ""]).prop_map(str::to_owned);
    let call = (option::of(ids().prop_map(CallId::new)), names(), arguments)
        .prop_map(|(call_id, tool_name, text)| Step::Call { call_id, tool_name, arguments: text.into() });
    let indexes = select(vec![0, 1, 2, u32::MAX]);
    let fragment = (indexes, option::of(ids()), option::of(names()), pieces)
        .prop_map(|(index, call_id, tool_name, arguments)| Step::Fragment { index, call_id, tool_name, arguments });
    prop_oneof![
        2 => prop_oneof![text(), Just(String::new()), Just(" ".to_owned())].prop_map(Step::Text),
        1 => text().prop_map(Step::Reasoning),
        1 => Just(Step::Signature(json!("signed"))),
        4 => call,
        3 => fragment,
        2 => (0_u64..50).prop_map(Step::DelayMs),
    ]
}

fn error() -> impl Strategy<Value = Step> {
    let kinds = select(vec![
        ProviderErrorKind::ContextLength,
        ProviderErrorKind::ContextLength,
        ProviderErrorKind::ContextLength,
        ProviderErrorKind::RateLimit,
        ProviderErrorKind::Overloaded,
        ProviderErrorKind::Network,
        ProviderErrorKind::Auth,
        ProviderErrorKind::InvalidRequest,
        ProviderErrorKind::UnsupportedContent,
        ProviderErrorKind::Other,
    ]);
    (kinds, select(vec![None, Some(0), Some(1_000), Some(3_600_000)])).prop_map(|(kind, retry_after_ms)| Step::Error {
        kind,
        message: "no".into(),
        retry_after_ms,
    })
}

/// An answer of any pieces and any end, or an error at once.
fn answer() -> impl Strategy<Value = Vec<Step>> {
    let usage = (0_u64..3_000, 0_u64..500);
    let stop = select(vec![StopReason::End, StopReason::End, StopReason::MaxTokens, StopReason::Refused]);
    let done = (stop, usage).prop_map(|(stop, (input_tokens, output_tokens))| Step::Done {
        stop,
        usage: Usage { input_tokens, output_tokens },
    });
    let end = prop_oneof![9 => done, 1 => error(), 1 => Just(Step::Cut)];
    let said = (vec(step(), 0..6), end).prop_map(|(steps, end)| [steps, vec![end]].concat());
    prop_oneof![4 => said, 1 => error().prop_map(|error| vec![error])]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        3 => (0_usize..4_000).prop_map(Outcome::Answers),
        1 => Just(Outcome::ReportsFailure),
        1 => Just(Outcome::Breaks),
        1 => Just(Outcome::Panics),
        1 => Just(Outcome::EndsTheTurn),
        1 => Just(Outcome::Dawdles),
        1 => Just(Outcome::Hangs),
        1 => Just(Outcome::CancelsTheTurn),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let message = (text(), vec(0_usize..12, 0..3), prop::bool::weighted(0.9))
        .prop_map(|(text, cancels, listens)| Message { text, cancels, listens });
    (200_u64..4_000, vec(answer(), 0..16), vec(outcome(), 0..24), vec(message, 1..6))
        .prop_map(|(window, answers, outcomes, turns)| Case { window, answers, outcomes, turns })
}

/// What the tools share: how the next call fares, and the session that it may cancel.
#[derive(Clone, Default)]
struct Fate(Arc<Mutex<(VecDeque<Outcome>, Option<Session>)>>);

impl Fate {
    fn next(&self) -> Outcome {
        let (outcomes, session) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = outcomes.pop_front().unwrap_or(Outcome::Answers(4));
        if let (Outcome::CancelsTheTurn, Some(session)) = (outcome, session) {
            session.cancel();
        }
        outcome
    }

    fn tool(&self, name: &str) -> CodeTool {
        let fate = self.clone();
        let tool = CodeTool::new(name, move |_, _| {
            let outcome = fate.next();
            async move {
                let error = || Error::new(ErrorCode::ToolExecutionError, "it broke");
                match outcome {
                    Outcome::Answers(length) => Ok(ToolOutput::text("x".repeat(length))),
                    Outcome::ReportsFailure => Ok(ToolOutput::error("did not work")),
                    Outcome::Breaks => Err(error().into()),
                    // As a panic, but nothing is printed.
                    Outcome::Panics => std::panic::resume_unwind(Box::new("out of bounds")),
                    Outcome::EndsTheTurn => Err(ToolFailure::Fatal(error())),
                    Outcome::Dawdles => {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        Ok(ToolOutput::text("late"))
                    }
                    Outcome::Hangs => std::future::pending().await,
                    Outcome::CancelsTheTurn => {
                        tokio::task::yield_now().await;
                        Ok(ToolOutput::text("cancelled it"))
                    }
                }
            }
        });
        tool.within(Duration::from_secs(5))
    }
}

fn script(window: u64, answers: Vec<Vec<Step>>) -> Script {
    let last = Reply::new([Step::text("That is all.")]).repeated();
    let model = ModelInfo {
        id: ModelId::new("any"),
        display_name: "Any".into(),
        context_window: window,
        capabilities: Capabilities::ALL,
    };
    Script {
        name: "the case".into(),
        provider: ProviderId::new("any"),
        models: vec![model],
        replies: answers.into_iter().map(Reply::new).chain([last]).collect(),
    }
}

/// What the cases must come to, so that the test is known to look where it should.
const REACHED: [&str; 11] = [
    "turn completed",
    "turn cancelled",
    "turn failed: PROVIDER_ERROR",
    "turn failed: COMPACT_ERROR",
    "turn failed: TOOL_EXECUTION_ERROR",
    "turn failed: MAX_TOOL_CALLS_EXCEEDED",
    "compacted by summary",
    "compacted by truncation",
    "retry",
    "is skipped",
    "time limit",
];

/// Plays a case. The kit checks every request and every event meanwhile.
async fn play(case: Case, reached: &RefCell<HashSet<&str>>) -> Result<(), TestCaseError> {
    let Case { window, answers, outcomes, turns } = case;
    let fate = Fate::default();
    let setup = Setup::playing(script(window, answers)).with(|agent| agent.base_instructions("Be."));
    setup.world().write("home/config.yaml", "max_tool_calls_per_turn: 4\n");
    let (host, chat) = setup.tool(fate.tool("look")).tool(fate.tool("change").mutating()).chat().await;
    *fate.0.lock().unwrap_or_else(PoisonError::into_inner) = (outcomes.into(), Some(chat.session().clone()));
    for Message { text, cancels, listens } in turns {
        let mut running = chat.send(text).await;
        for seen in 0.. {
            if cancels.contains(&seen) {
                chat.cancel();
            }
            if !listens || running.next().await.is_none() {
                break;
            }
        }
        if listens {
            let told = running.end().await.to_string();
            reached.borrow_mut().extend(REACHED.iter().filter(|place| told.contains(**place)));
        } else {
            running.look_away();
            tokio::time::timeout(PATIENCE, chat.session().idle()).await.expect("the turn ends");
        }
    }
    fate.0.lock().unwrap_or_else(PoisonError::into_inner).1 = None;
    prop_assert_eq!(host.model().broken_rules(), Vec::<String>::new());
    check_pairs(&chat.session().entries().await)
}

/// Every call in the log has exactly one result, before anything else is said.
fn check_pairs(entries: &[Entry]) -> Result<(), TestCaseError> {
    let mut open: HashMap<&CallId, &str> = HashMap::new();
    let mut ids = HashSet::new();
    for entry in entries {
        match entry {
            Entry::ToolResult { call_id, tool_name, .. } => {
                prop_assert_eq!(open.remove(call_id), Some(tool_name.as_str()), "{:?}", entry);
            }
            Entry::Assistant { parts, .. } => {
                prop_assert!(open.is_empty(), "{:?} before {:?}", open, entry);
                for part in parts.iter() {
                    let AssistantPart::ToolCall(call) = part else { continue };
                    prop_assert!(ids.insert(&call.call_id), "{} is there twice", call.call_id);
                    open.insert(&call.call_id, &call.tool_name);
                }
            }
            Entry::User { .. }
            | Entry::System { .. }
            | Entry::DynamicSection(_)
            | Entry::Withheld { .. }
            | Entry::Compaction { .. } => {
                prop_assert!(open.is_empty(), "{:?} before {:?}", open, entry);
            }
        }
    }
    prop_assert!(open.is_empty(), "{:?} at the end", open);
    Ok(())
}

/// Y4.1-6, Y7-1, Y7-3, D-22, K-07, K-21, K-23: for any answers of a model, any outcomes of tools, any cancels, over
/// several turns in a window so small that it is compacted again and again: every request keeps the rules of model
/// APIs, every call has one result, every turn tells one end, and none hangs.
#[test]
fn any_conversation_stays_sound() {
    let config = ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() };
    let reached = RefCell::default();
    let played = TestRunner::new(config).run(&case(), |case| {
        let executor = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        executor.expect("an executor").block_on(play(case, &reached))
    });
    played.unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(reached.into_inner(), HashSet::from(REACHED));
}
