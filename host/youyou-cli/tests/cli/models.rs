//! `youyou models`, and a conversation with a configured model: over HTTP, recorded and played again.

use youyou::Api;
use youyou_tests::{ApiServer, Say};

use crate::desk::Desk;

const KEY: &str = "sk-very-secret-key";

/// Y3.2-1: what is offered, and what keeps a model from being asked.
#[test]
fn the_configured_models_are_listed_with_what_is_missing() {
    let config = "-- home/config.yaml
default_model: tiny
providers:
  - { id: local, kind: openai-chat, base_url: http://127.0.0.1:1/v1, models: [{ id: tiny, context_window: 4096 }] }
  - { id: anthropic, kind: anthropic, api_key_env: YOUYOU_TEST_KEY_THAT_IS_NOT_SET, models: [claude-haiku-4-5] }
";
    let desk = Desk::new(config);
    insta::assert_snapshot!(desk.run(&["models"]).shown(), @r#"
    out| MODEL             PROVIDER   KIND         WINDOW  ANSWER  CAN                       READY
    out| tiny *            local      openai-chat  4096            tools                     yes
    out| claude-haiku-4-5  anthropic  anthropic    200000  64000   tools, images, reasoning  no key
    err| warning: [world]/home/config.yaml:4:11: the environment variable YOUYOU_TEST_KEY_THAT_IS_NOT_SET is not set; put the key into it
    exit 0
    "#);
    let listed = desk.run(&["models", "--json"]).json();
    assert_eq!((&listed["default_model"], &listed["models"][0]["id"]), (&"tiny".into(), &"tiny".into()));
    assert_eq!(listed["models"][1]["context_window"], 200_000);
    assert!(listed["models"][1]["problem"].as_str().is_some_and(|problem| problem.contains("is not set")));
}

#[test]
fn without_providers_it_is_shown_how_to_add_one() {
    let ran = Desk::new("").run(&["models"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    assert!(
        ran.stderr.contains("[world]/home/config.yaml") && ran.stderr.contains("kind: anthropic"),
        "{}",
        ran.stderr
    );
}

/// D-43: a mistake is told with its place, also where nothing but the list is wanted.
#[test]
fn a_mistake_in_the_providers_is_told_with_its_place() {
    let desk = Desk::new("-- home/config.yaml\nproviders:\n  - { id: a, kind: cohere }\n");
    for args in [&["models"][..], &["chat", "hi"], &["doctor"]] {
        let ran = desk.run(args);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("[world]/home/config.yaml:2:20: \"cohere\" is no kind of provider"), "{args:?}: {said}");
        assert_ne!(ran.code, Some(0), "{args:?}");
    }
}

/// A conversation with a model over HTTP; what it said is recorded without a key, and plays again.
#[test]
fn a_configured_model_answers_and_its_answer_can_be_played_again() {
    let server = ApiServer::speaking(Api::OpenAiChat, vec![vec![Say::Text("Grüße from afar.".into())]]);
    let config = format!(
        "-- home/config.yaml
providers:
  - id: local
    kind: openai-chat
    base_url: {}
    api_key_file: key
    models: [{{ id: m, context_window: 10000 }}]
-- home/key
{KEY}
",
        server.base_url()
    );
    let desk = Desk::new(&config);
    let asked = desk.run(&["chat", "hello", "--record", "said.jsonl", "-vv"]);
    assert_eq!((asked.code, asked.stdout.as_str()), (Some(0), "Grüße from afar.\n"), "{}", asked.stderr);
    assert_eq!(server.broken_rules(), Vec::<String>::new());
    let recorded = desk.world.read("work/said.jsonl");
    assert!(recorded.contains("afar.") && !recorded.contains(KEY) && !asked.stderr.contains(KEY), "{recorded}");

    let played = desk.run(&["chat", "hello", "--replay", "said.jsonl"]);
    assert_eq!((played.code, &played.stdout), (Some(0), &asked.stdout), "{}", played.stderr);
    assert_eq!(server.requests().len(), 1);
    let again = desk.run(&["chat", "hello", "--record", "said.jsonl"]);
    assert!(again.code == Some(2) && again.stderr.contains("said.jsonl is there already"), "{}", again.stderr);
    let other = desk.run(&["chat", "bye", "--replay", "said.jsonl"]);
    insta::assert_snapshot!(other.shown(), @"
    err| error: no reply of said.jsonl fits this request. What reply 1 asks for (-), and the request's last message (+):
    err|   [the user says]
    err| - hello
    err| + bye
    err| Add a reply that fits, or mark one with `repeat: true`
    exit 3
    ");
}
