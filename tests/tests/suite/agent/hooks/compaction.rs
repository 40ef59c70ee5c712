//! Before the context is made shorter.

use serde_json::json;
use youyou::{Error, HookEvent, HookOutcome, HookPayload, hook::HookEventPayload};
use youyou_tests::{
    World,
    agent::{
        CodePlugin, Model, Setup,
        plugin::{abort, with},
    },
};

fn long(start: &str) -> String {
    format!("{start} {}", "word ".repeat(240).trim_end())
}

/// A conversation that outgrows its window, with a plugin that answers this before it is compacted.
async fn outgrown(
    window: u32,
    second: &str,
    answer: impl Fn(HookPayload) -> Result<HookOutcome, Error> + Send + Sync + 'static,
) -> (Model, String) {
    let replies = format!(
        "models: [{{ id: small, context_window: {window} }}]
replies:
  - when: {{ user: {{ contains: write the summary }} }}
    say: [{{ text: They spoke. }}]
  - say: [{{ text: '{}' }}]
  - {second}
  - say: [{{ text: Yes. }}]
",
        long("answer")
    );
    let setup = Setup::of(World::new(""), Model::replay(&replies)).with(|agent| agent.base_instructions("Be brief."));
    let (host, chat) = setup.plugin(CodePlugin::new("keeper").on(HookEvent::BeforeCompact, answer)).chat().await;
    chat.run(long("first")).await;
    let turn = chat.run(long("second")).await.to_string();
    (host.model().clone(), turn)
}

/// Y4.2-3, D-6: asked before the context is made shorter, a plugin may say what the summary is to hold.
#[tokio::test]
async fn the_prompt_of_a_summary_may_be_changed() {
    let answer = |payload: HookPayload| {
        let HookEventPayload::BeforeCompact(compact) = payload.event else { panic!("the event") };
        assert!(compact.estimated_tokens > 800 && compact.message_count == 3, "{compact:?}");
        with(json!({"compact_prompt": format!("{}\nKeep every path.", compact.compact_prompt)}))
    };
    let (model, turn) = outgrown(1_000, "say: [{ text: Fine. }]", answer).await;
    assert!(turn.contains("keeper at BeforeCompact changes compact_prompt\ncompacted by summary"), "{turn}");
    let asked = &model.requests()[1].system;
    assert!(asked.starts_with("You write the summary") && asked.ends_with("\nKeep every path."), "{asked}");
}

/// D-11: an abort leaves the context as it is; where it had to be made shorter, the turn fails.
#[tokio::test]
async fn a_compaction_may_be_refused() {
    let (_, turn) = outgrown(1_000, "say: [{ text: Fine. }]", |_| abort("I need all of it")).await;
    assert!(
        turn.contains("aborts: I need all of it") && turn.contains("Fine.") && !turn.contains("compacted"),
        "{turn}"
    );
    let overflow = "say: [{ error: { kind: context_length, message: too long } }]";
    let (_, turn) = outgrown(100_000, overflow, |_| abort("I need all of it")).await;
    insta::assert_snapshot!(turn, @r#"
    step 1
    keeper at BeforeCompact aborts: I need all of it
    step 1 ends
    error COMPACT_ERROR: the request is too long for the model, and the plugin "keeper" keeps the context from being made shorter: I need all of it
    turn failed: COMPACT_ERROR
    "#);
}
