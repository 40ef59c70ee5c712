//! The example plugins: a script and a component of one purpose give the same answers (C-1, C-2).

use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::{Map, Value, json};
use youyou::{CancellationToken, HookEvent, HookTrial, TriedAnswer};
use youyou_tests::{World, repository};

/// One handler of an example plugin, in an empty world.
struct Example {
    world: World,
    trial: HookTrial,
}

/// What came of asking: whether it failed, and the changes.
type Answer = (bool, Vec<(String, Value)>);

impl Example {
    fn new(name: &str, event: HookEvent) -> Self {
        let world = World::new("");
        let dir = repository().join("examples/plugins").join(name);
        let trial = HookTrial::of_folder(&world.home(), &world.work(), &dir, event).expect("it can be opened");
        Self { world, trial }
    }

    async fn ask(&self, payload: Value) -> Answer {
        let Value::Object(given) = payload else { panic!("a payload is an object") };
        let payload = self.trial.payload(given).expect("it fits");
        let tried = self.trial.run(payload, &self.world.work(), CancellationToken::new()).await;
        let failed = matches!(tried.answer, TriedAnswer::Failed { .. });
        (failed, tried.changes.into_iter().map(|change| (change.field, change.after)).collect())
    }
}

/// Both redactions of one output; they must agree.
struct Twins {
    script: Example,
    component: Example,
}

impl Twins {
    fn new() -> Self {
        let [script, component] = ["redact-py", "redact"].map(|name| Example::new(name, HookEvent::AfterToolUse));
        Self { script, component }
    }

    async fn agreed(&self, output: &str, patterns: Option<Value>) -> Answer {
        let mut payload = Map::from_iter([("output".to_owned(), json!(output))]);
        payload.extend(patterns.map(|patterns| ("plugin_config".to_owned(), json!({ "patterns": patterns }))));
        let script = self.script.ask(payload.clone().into()).await;
        let component = self.component.ask(payload.clone().into()).await;
        assert_eq!(script, component, "{payload:?}");
        script
    }
}

/// C-2: the rules of their pages, in both forms.
#[tokio::test]
async fn both_redactions_mask_the_same() {
    let twins = Twins::new();
    let masked = |text: &str| (false, vec![("output".to_owned(), json!(text))]);
    let nothing = (false, Vec::new());
    assert_eq!(twins.agreed("key: sk-1234567890", None).await, masked("key: sk-[redacted]"));
    assert_eq!(twins.agreed("a task-force, sk-12", None).await, nothing);
    assert_eq!(twins.agreed("", None).await, nothing);
    assert_eq!(
        twins.agreed("aXaXa äk=123456", Some(json!(["aXa", "k=*"]))).await,
        masked("[redacted]Xa äk=[redacted]")
    );
    for mistake in [json!([""]), json!(["*"]), json!([5]), json!(["fine", null])] {
        assert_eq!(twins.agreed("text", Some(mistake)).await, (true, Vec::new()));
    }
}

/// C-2: whatever the output and the patterns.
#[test]
fn no_output_is_masked_differently() {
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("an executor");
    let twins = Twins::new();
    let piece = prop_oneof!["[a-bk=*.-]{1,3}", "[0-9a-b]{5,8}", "\\PC", Just("\n".to_owned())];
    let output = proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat());
    let patterns = proptest::collection::vec("[abk=.]{1,3}[*]?", 0..4);
    let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&(output, patterns), |(output, patterns)| {
            executor.block_on(twins.agreed(&output, Some(json!(patterns))));
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}
