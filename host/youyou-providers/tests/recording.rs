//! Recording and replaying belong together: what was recorded plays back the same, and no script, however it came
//! about, makes the provider panic or hang.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::StreamExt as _;
use proptest::prelude::*;
use serde_json::{Value, json};
use youyou_api::{
    CallId, CancellationToken, ChatEvent, ChatRequest, ModelProvider, ProviderError, ProviderErrorKind, StopReason,
    Usage,
};
use youyou_providers::{Recorder, ReplayProvider, Reply, Script, Step, When};

type Item = Result<ChatEvent, ProviderError>;

/// A file in memory that stays in reach of the test.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Paper {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("no panic").clone()).expect("UTF-8")
    }
}

impl io::Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn request(messages: Value) -> ChatRequest {
    let request = json!({"model": "replay", "system": "system-secret", "messages": messages, "tools": []});
    serde_json::from_value(request).expect("a request")
}

fn user(text: &str) -> Value {
    json!({"role": "user", "parts": [{"type": "text", "text": text}]})
}

/// Runs on a clock that jumps over every pause.
fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(work)
}

async fn ask(provider: &dyn ModelProvider, request: ChatRequest) -> Vec<Item> {
    provider.chat(request, CancellationToken::new()).collect().await
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = || prop_oneof![Just(String::new()), ".{0,8}"];
    let text = || prop_oneof![Just("{rest}\n\u{2028}\u{0}".to_owned()), ".{0,8}"];
    let value = prop_oneof![text().prop_map(Value::from), Just(json!({"b": [1, null], "a": "é"}))];
    let id = || proptest::option::of(name());
    let step = prop_oneof![
        text().prop_map(Step::Text),
        text().prop_map(Step::Reasoning),
        value.clone().prop_map(Step::Signature),
        (id(), name(), value).prop_map(|(call_id, tool_name, arguments)| Step::Call {
            call_id: call_id.map(CallId::new),
            tool_name,
            arguments
        }),
        (any::<u32>(), id(), id(), text()).prop_map(|(index, call_id, tool_name, arguments)| Step::Fragment {
            index,
            call_id,
            tool_name,
            arguments
        }),
        (0..100_000_u64).prop_map(Step::DelayMs),
    ];
    let end = prop_oneof![
        Just(None),
        Just(Some(Step::Cut)),
        any::<(u64, u64)>().prop_map(|(input_tokens, output_tokens)| Some(Step::Done {
            stop: StopReason::Refused,
            usage: Usage { input_tokens, output_tokens }
        })),
        (text(), any::<Option<u64>>()).prop_map(|(message, retry_after_ms)| Some(Step::Error {
            kind: ProviderErrorKind::Overloaded,
            message,
            retry_after_ms
        })),
    ];
    (prop::collection::vec(step, 0..8), end).prop_map(|(mut steps, end)| {
        steps.extend(end);
        steps
    })
}

/// Every request of a session, in order, through a recorder; what was heard, how long each answer took, and the paper.
async fn record(provider: Arc<ReplayProvider>, requests: &[ChatRequest]) -> (Vec<Vec<Item>>, Vec<Duration>, String) {
    let paper = Paper::default();
    let recorder = Recorder::new(provider, paper.clone()).expect("memory takes the head").with_delays();
    let (mut heard, mut took) = (Vec::new(), Vec::new());
    for request in requests {
        let start = tokio::time::Instant::now();
        heard.push(ask(&recorder, request.clone()).await);
        took.push(start.elapsed());
    }
    (heard, took, paper.text())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Y3.2-2: script → replay → recorder → script' → replay: the same events, at the same times.
    #[test]
    fn a_recording_plays_back_what_was_heard(replies in prop::collection::vec(steps(), 1..4)) {
        let requests: Vec<_> = (0..replies.len()).map(|n| request(json!([user(&format!("{n}?"))]))).collect();
        let script = Script::new(replies.into_iter().map(Reply::new));
        run(async {
            let (heard, took, paper) = record(Arc::new(ReplayProvider::new(script)), &requests).await;
            let script = Script::from_jsonl("recorded", &paper).expect("a recording is a script");
            let (again, took_again, paper_again) = record(Arc::new(ReplayProvider::new(script)), &requests).await;
            assert_eq!((heard, took), (again, took_again));
            assert_eq!(paper, paper_again);
        });
    }

    #[test]
    fn any_bytes_are_a_script_that_plays_or_an_error_that_names_the_file(bytes in scripts()) {
        for read in [Script::from_yaml("some.file", &bytes), Script::from_jsonl("some.file", &bytes)] {
            match read {
                Err(error) => assert!(error.to_string().starts_with("some.file"), "{error}"),
                Ok(script) => run(play(script)),
            }
        }
    }
}

/// Anything, and real scripts with a piece replaced, which come further.
fn scripts() -> impl Strategy<Value = Vec<u8>> {
    let page = include_str!("../../../docs/replay.md");
    let whole: Vec<_> = blocks(page, "yaml").chain(blocks(page, "jsonl")).collect();
    let words = prop_oneof![
        Just("say"),
        Just("when"),
        Just("call"),
        Just("- "),
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just("\n"),
        Just("&a "),
        Just("*a"),
        Just("!t "),
        Just("99999999999999999999"),
        Just("null"),
        Just("\""),
        Just("---\n"),
        Just("<<: "),
        Just(".nan"),
        Just("-1"),
        Just("cut"),
    ];
    let piece = prop_oneof![words.prop_map(|word| word.as_bytes().to_vec()), prop::collection::vec(any::<u8>(), 0..4)];
    let bent = (prop::sample::select(whole), any::<prop::sample::Index>(), 0..6_usize, piece).prop_map(
        |(text, at, length, piece)| {
            let mut bytes = text.as_bytes().to_vec();
            let start = at.index(bytes.len());
            let end = (start + length).min(bytes.len());
            bytes.splice(start..end, piece);
            bytes
        },
    );
    prop_oneof![prop::collection::vec(any::<u8>(), 0..64), bent.clone(), bent]
}

async fn play(script: Script) {
    let model = script.models.first().expect("at least one").id.clone();
    let provider = ReplayProvider::new(script);
    let result =
        json!({"role": "tool_result", "call_id": "c", "tool_name": "word-count", "content": "", "is_error": false});
    for messages in [json!([]), json!([user("count: how many words")]), json!([user("hello"), result])] {
        let mut request = request(messages);
        request.model = model.clone();
        for _ in 0..3 {
            ask(&provider, request.clone()).await;
        }
    }
}

/// The code blocks of a page that are in this language.
fn blocks<'a>(page: &'a str, language: &'a str) -> impl Iterator<Item = &'a str> {
    page.split("```").skip(1).step_by(2).filter_map(move |block| block.strip_prefix(language)?.strip_prefix('\n'))
}

#[test]
fn every_example_of_the_page_is_a_script() {
    let page = include_str!("../../../docs/replay.md");
    assert!(blocks(page, "yaml").count() >= 4 && blocks(page, "jsonl").count() >= 1);
    for example in blocks(page, "yaml") {
        Script::from_yaml("docs/replay.md", example).expect(example);
    }
    for example in blocks(page, "jsonl") {
        assert_eq!(Script::from_jsonl("docs/replay.md", example).expect(example).replies.len(), 1);
    }
}

/// Of a conversation full of secrets only the last message's own condition is written.
#[tokio::test]
async fn a_recording_keeps_no_prompt_no_earlier_message_and_no_tool_output() {
    let call = json!({"type": "tool_call", "call_id": "c", "tool_name": "read", "arguments": "argument-secret"});
    let result = json!({"role": "tool_result", "call_id": "c", "tool_name": "read", "content": "output-secret", "is_error": false});
    let asked = request(json!([user("earlier-secret"), {"role": "assistant", "parts": [call]}, result]));
    let provider = || Arc::new(ReplayProvider::new(Script::new([Reply::new([Step::text("ok")])])));
    let paper = Paper::default();
    let recorder = Recorder::new(provider(), paper.clone()).expect("memory takes the head");
    ask(&recorder, asked.clone()).await;
    insta::assert_snapshot!(paper.text(), @r#"
{"version":1,"provider":"replay","models":[{"id":"replay","display_name":"replay","context_window":200000,"capabilities":{"tool_use":true,"vision":true,"streaming":true}}]}
{"when":{"tool_result":{"tool_name":"read","is_error":false}},"say":[{"text":"ok"},{"done":{"stop":"end","usage":{"input_tokens":0,"output_tokens":0}}}]}
"#);

    let paper = Paper::default();
    let recorder = Recorder::new(provider(), paper.clone()).expect("memory takes the head").with_tool_results();
    ask(&recorder, asked).await;
    let text = paper.text();
    assert!(text.contains("output-secret") && !text.contains("earlier-secret"), "{text}");
}

/// A crash loses the answer in flight and nothing else: each answer is on paper when its stream has ended.
#[tokio::test]
async fn each_answer_is_written_when_it_ends_or_is_dropped() {
    let replies = ["one", "two", "three"].map(|text| Reply::new([Step::text(text), Step::text("more")]));
    let provider: Arc<dyn ModelProvider> = Arc::new(ReplayProvider::new(Script::new(replies)));
    let paper = Paper::default();
    let recorder = Recorder::new(provider, paper.clone()).expect("memory takes the head");
    let lines = || paper.text().lines().count();
    assert_eq!(lines(), 1);

    let mut whole = recorder.chat(request(json!([user("a")])), CancellationToken::new());
    whole.next().await;
    assert_eq!(lines(), 1);
    while whole.next().await.is_some() {}
    assert_eq!(lines(), 2);
    drop(whole);

    let mut dropped = recorder.chat(request(json!([user("b")])), CancellationToken::new());
    dropped.next().await;
    drop(dropped);
    drop(recorder.chat(request(json!([user("never polled")])), CancellationToken::new()));
    let script = Script::from_jsonl("recorded", paper.text()).expect("a script");
    let expected = [
        Reply::new([
            Step::text("one"),
            Step::text("more"),
            Step::Done { stop: StopReason::End, usage: Usage::default() },
        ])
        .when(When::user_is("a")),
        Reply::new([Step::text("two"), Step::Cut]).when(When::user_is("b")),
    ];
    assert_eq!(script.replies, expected);
}

/// A full disk ends the recording and not the conversation.
#[tokio::test]
async fn a_recorder_that_cannot_write_passes_everything_on() {
    struct Full(u8);
    impl io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let provider = Arc::new(ReplayProvider::new(Script::new([Reply::new([Step::text("ok")]).repeated()])));
    assert!(Recorder::new(Arc::clone(&provider), Full(0)).is_err());
    let recorder = Recorder::new(Arc::clone(&provider), Full(1)).expect("the head fits");
    for _ in 0..2 {
        assert_eq!(
            ask(&recorder, request(json!([user("a")]))).await,
            ask(&*provider, request(json!([user("a")]))).await
        );
    }
}
