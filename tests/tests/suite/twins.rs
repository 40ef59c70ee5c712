//! A tool behaves the same whether it is a script or a component: it receives the same document, byte for byte, and what
//! it answers reaches the caller the same way (C-1, C-2).

use std::{fs, path::PathBuf};

use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::{Map, Value, json};
use youyou::{Error, ErrorCode, ToolOutput, ToolResult};
use youyou_tests::{
    Session, World, example,
    session::text_of,
    tool::{component, hostile, script},
};

/// Tools of one name, each in a world of its own, that answer with the document they got.
struct Echoes {
    _worlds: [World; 3],
    script: Session,
    component: Session,
    bare: Session,
}

impl Echoes {
    fn new() -> Self {
        let worlds =
            [script("echo", "cat"), component("echo", "echo", ""), hostile("echo", "")].map(|tool| World::new(&tool));
        let [script, component, bare] = worlds.each_ref().map(World::open);
        Self { _worlds: worlds, script, component, bare }
    }

    /// The answer that the script and the component made with the SDK agree on.
    async fn agreed(&self, arguments: &str) -> Result<ToolOutput, Error> {
        let script = outcome(self.script.call_text("echo", arguments).await);
        let component = outcome(self.component.call_text("echo", arguments).await);
        assert!(script == component, "{arguments:.200}\n{script:.2000?}\n{component:.2000?}");
        script
    }
}

fn outcome(result: ToolResult) -> Result<ToolOutput, Error> {
    match result.error {
        Some(error) => Err(error),
        None => Ok(result.output),
    }
}

/// The golden documents: what the model wrote, and the bytes that a script then finds on its stdin.
fn golden() -> Vec<(String, String, PathBuf)> {
    let dir = youyou_tests::repository().join("tests/golden");
    let mut found: Vec<_> = fs::read_dir(&dir)
        .expect("readable")
        .filter_map(|entry| {
            let file = entry.expect("readable").file_name().into_string().expect("UTF-8");
            let name = file.strip_suffix(".arguments.json")?;
            let arguments = fs::read_to_string(dir.join(&file)).expect("readable");
            Some((name.to_owned(), arguments, dir.join(format!("{name}.input.json"))))
        })
        .collect();
    found.sort();
    assert!(found.len() >= 8, "the golden documents are in {}", dir.display());
    found
}

/// C-2, Y3.3-2, Y5.6-1: the documents, pinned. `UPDATE_GOLDEN=1` writes them anew; a change breaks every script.
#[tokio::test]
async fn both_twins_receive_the_golden_documents() {
    let echoes = Echoes::new();
    for (name, arguments, document) in golden() {
        let received = echoes.agreed(&arguments).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        let line = format!("{}\n", received.content);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&document, &line).expect("writes");
        }
        assert_eq!(line, fs::read_to_string(&document).expect("a golden document"), "{name}");
        assert_eq!((received.is_error, received.metadata), (false, None), "{name}");
    }
}

/// C-2: a megabyte of text of every width.
#[tokio::test]
async fn a_large_document_is_the_same_for_both() {
    let text = "aä€😀\"\\\n".repeat(60_000);
    let received = Echoes::new().agreed(&json!({"text": text}).to_string()).await.expect("an answer");
    let document: Value = serde_json::from_str(&received.content).expect("JSON");
    assert_eq!(document, json!({"call_id": "call-1", "tool_name": "echo", "arguments": {"text": text}}));
}

/// C-2: any document, also as it crosses the border before the SDK sees it.
#[test]
fn no_document_differs_between_the_twins() {
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("an executor");
    let echoes = Echoes::new();
    let arguments = proptest::collection::vec(("\\PC{0,6}", value()), 0..5)
        .prop_map(|pairs| json!({"mode": "echo", "map": Map::from_iter(pairs)}).to_string());
    runner(40)
        .run(&arguments, |arguments| {
            executor.block_on(async {
                let received = echoes.agreed(&arguments).await.expect("an answer");
                prop_assert_eq!(&outcome(echoes.bare.call_text("echo", &arguments).await), &Ok(received));
                Ok(())
            })
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}

fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["\\PC{0,12}", proptest::collection::vec(any::<char>(), 0..6).prop_map(String::from_iter)];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no such number", |number| number.is_finite()).prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec(("\\PC{0,4}", inner), 0..4).prop_map(|pairs| Value::from(Map::from_iter(pairs))),
        ]
    })
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() })
}

/// K-23, D-52: what no tool may receive is refused for both in the same words, and neither is started.
#[tokio::test]
async fn both_twins_are_spared_the_same_documents() {
    let echoes = Echoes::new();
    let deep = format!("{{\"map\":{}1{}}}", "{\"a\":".repeat(200), "}".repeat(200));
    for arguments in [
        "",
        "null",
        "\"x\"",
        "[]",
        "7",
        "{\"text\":\"cut",
        "{\"text\":1}",
        "{\"txt\":\"a\"}",
        "{\"number\":1e400}",
        "{\"text\":\"\\ud800\"}",
        "{} {}",
        "{\"count\":1.5}",
        &deep,
    ] {
        let error = echoes.agreed(arguments).await.expect_err(arguments);
        assert_eq!(error.code, ErrorCode::ToolArgumentsInvalid, "{arguments:.80}: {error}");
    }
}

fn word_counts() -> (World, Session) {
    let world = World::new("");
    for name in ["word-count", "word-count-py"] {
        world.link(example(name), &format!("home/tools/{name}"));
    }
    let session = world.open();
    (world, session)
}

/// C-1, Y3.3-4: the same tool in both forms, called at once through one dispatcher; only metadata tells them apart.
#[tokio::test]
async fn the_example_twins_differ_by_metadata_alone() {
    let (_world, session) = word_counts();
    for (arguments, metadata) in [
        (json!({"text": "one two three"}), Some(json!({"words": 3, "characters": 13, "lines": 1}))),
        (json!({"text": ""}), None),
    ] {
        let calls = [("word-count", arguments.clone()), ("word-count-py", arguments)];
        let results = session.batch(&calls).await;
        assert_eq!(results[0].output.metadata, metadata);
        assert_eq!(results[1].output.metadata, None, "a script has text only");
        let without = |result: &ToolResult| (result.output.content.clone(), result.output.is_error);
        assert_eq!(without(&results[0]), without(&results[1]));
        assert_eq!(
            (&results[0].error, &results[1].error),
            (&None, &None),
            "a failure that a tool reports is an answer"
        );
    }
}

/// C-1: whatever the text.
#[test]
fn the_example_twins_agree_on_every_text() {
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("an executor");
    let (_world, session) = word_counts();
    let text = prop_oneof![
        "[ \\t\\n\\r\u{b}\u{c}\u{1c}\u{85}\u{a0}\u{200b}\u{2028}\u{3000}a-c€😀]{0,60}",
        proptest::collection::vec(any::<char>(), 0..80).prop_map(String::from_iter),
    ];
    runner(60)
        .run(&text, |text| {
            let calls = [("word-count", json!({"text": text})), ("word-count-py", json!({"text": text}))];
            let results = executor.block_on(session.batch(&calls));
            prop_assert_eq!(&results[0].output.content, &results[1].output.content);
            prop_assert_eq!(results[0].output.is_error, results[1].output.is_error);
            prop_assert_eq!((&results[0].error, &results[1].error), (&None, &None));
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}

/// C-1, Y5.6-2: each way to answer that both have is the same for the caller.
#[tokio::test]
async fn both_twins_answer_alike() {
    let world = World::new(
        &[hostile("component", ""), script("script", "printf '%s\\n' 'that did not work'; exit 1")].concat(),
    );
    let session = world.open();
    let said = json!({"mode": "is-error", "message": "that did not work"});
    let [component, script] = [session.call("component", said.clone()).await, session.call("script", said).await];
    assert_eq!(component.output, ToolOutput::error("that did not work"));
    assert_eq!((component.output, component.error), (script.output, script.error));
}

/// Y3.3-4: a component's whole output comes through.
#[tokio::test]
async fn a_component_may_return_metadata() {
    let world = World::new(&hostile("component", ""));
    let result = world.open().call("component", json!({"mode": "metadata", "metadata": r#"{"z":[1],"a":null}"#})).await;
    assert_eq!(text_of(&result), "with metadata");
    assert_eq!(result.output.metadata.map(|metadata| metadata.to_string()).as_deref(), Some(r#"{"z":[1],"a":null}"#));
}
