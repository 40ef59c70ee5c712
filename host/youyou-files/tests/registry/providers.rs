//! The key `providers` of config.yaml: what it becomes, and what is said of mistakes.

use std::time::Duration;

use youyou_files::{Config, KeySource, load_config};

use crate::tree::Tree;

fn fine(config: &str) -> Config {
    let (config, remarks) =
        load_config(&Tree::new().write("home/config.yaml", config).path("home")).expect("a configuration");
    assert_eq!(remarks, []);
    config
}

/// The problems, without the path.
fn said(config: &str) -> String {
    let tree = Tree::new();
    tree.write("home/config.yaml", config);
    let shown = tree.shown(&youyou_files::check_config(&tree.path("home")));
    shown.replace("home/", "")
}

/// Y3.2: every key.
#[test]
fn a_provider_arrives_whole() {
    let config = fine(
        "providers:
  - id: local
    kind: openai-chat
    base_url: http://127.0.0.1:8080/v1
    api_key_file: keys/local
    headers: { X-Team: a, X-Other: \"1\" }
    extra_body: { keep_alive: 1h }
    models:
      - small
      - id: big
        name: big-2026
        display_name: Big
        context_window: 32768
        max_output: 4096
        tool_use: true
        vision: false
        reasoning: effort
        return_reasoning: true
        short_call_ids: true
        extra_body: { chat_template_kwargs: { enable_thinking: false } }
    connect_timeout_ms: 1000
    stall_timeout_ms: 600000
    tools_in_prompt: false
  - { id: openai, kind: openai, api_key_env: OPENAI_API_KEY }
",
    );
    let [local, openai] = &config.providers[..] else { panic!("{:?}", config.providers) };
    assert_eq!((local.id.value.as_str(), local.kind.value.as_str()), ("local", "openai-chat"));
    let base_url = local.base_url.as_ref().expect("an address");
    assert_eq!((base_url.value.as_str(), base_url.line, base_url.column), ("http://127.0.0.1:8080/v1", 4, 15));
    assert_eq!(base_url.key, "providers[0].base_url");
    assert_eq!(local.key, KeySource::File("keys/local".into()));
    let headers = &local.headers.as_ref().expect("headers").value;
    assert_eq!(headers[..], [("X-Team".into(), "a".into()), ("X-Other".into(), "1".into())]);
    let [small, big] = &local.models.as_ref().expect("models")[..] else { panic!() };
    assert_eq!((small.id.value.as_str(), small.id.line, small.context_window), ("small", 9, None));
    assert_eq!((big.name.as_deref(), big.display_name.as_deref()), (Some("big-2026"), Some("Big")));
    assert_eq!((big.context_window, big.max_output), (Some(32_768), Some(4096)));
    assert_eq!((big.tool_use, big.vision, big.return_reasoning), (Some(true), Some(false), Some(true)));
    let keep = &local.extra_body[0];
    assert_eq!((&*keep.value.0, &keep.value.1), ("keep_alive", &serde_json::json!("1h")));
    assert_eq!((keep.line, keep.column, &*keep.key), (7, 19, "providers[0].extra_body.keep_alive"));
    let (key, value) = &big.extra_body[0].value;
    assert_eq!((&**key, value), ("chat_template_kwargs", &serde_json::json!({"enable_thinking": false})));
    assert_eq!(big.short_call_ids, Some(true));
    assert_eq!(big.reasoning.as_ref().map(|reasoning| reasoning.value.as_str()), Some("effort"));
    assert_eq!(local.connect_timeout, Some(Duration::from_secs(1)));
    assert_eq!((local.stall_timeout, local.tools_in_prompt), (Some(Duration::from_secs(600)), Some(false)));
    assert_eq!((&openai.key, &openai.models), (&KeySource::Variable("OPENAI_API_KEY".into()), &None));
}

/// D-43: each mistake with its line and column, all at once; and a key that somebody wrote down is not repeated.
#[test]
fn each_mistake_is_told_with_its_place() {
    let shown = said(
        "providers:
  - id: a
    kind: openai
    api_key: sk-very-secret
    models: gpt
  - kind: anthropic
    api_key_env: sk-very-secret
  - id: a
    kind: gemini
    api_key_env: X
    api_key_file: x
    headers: [a]
    extra_body: { n: .inf }
    stall_timeout_ms: 0
    models: [{ context_window: none }, 7]
  - text
",
    );
    assert!(!shown.contains("very-secret"), "{shown}");
    insta::assert_snapshot!(shown, @r#"
    error: config.yaml:4:5: "api_key" is not a key of a provider (keys do not stand in config.yaml: name a variable with `api_key_env`, or a file with `api_key_file`)
    error: config.yaml:5:13: `providers[0].models` must be a list, found the text "gpt" (write `[one, two]`, or one `- item` on each line)
    error: config.yaml:6:5: `id` is missing in `providers[1]` (add `id: openai`)
    error: config.yaml:7:18: `providers[1].api_key_env` must be the name of an environment variable (write for example OPENAI_API_KEY, and put the key into that variable)
    error: config.yaml:8:5: two providers have the id "a", the first in line 2 (give each an id of its own)
    error: config.yaml:11:5: a provider has `api_key_env` or `api_key_file`, not both (remove one of the two)
    error: config.yaml:12:14: `providers[2].headers` must be a mapping, found a list (write a header's name and a colon, and its value behind it)
    error: config.yaml:13:22: `providers[2].extra_body.n` holds a number that JSON cannot hold
    error: config.yaml:14:23: `providers[2].stall_timeout_ms` must be a whole number of milliseconds from 1 to 3600000, found the number 0
    error: config.yaml:15:14: `id` is missing in `providers[2].models[0]` (add `id: gpt-5.5`)
    error: config.yaml:15:32: `providers[2].models[0].context_window` must be a whole number of tokens from 1 to 1000000000, found the text "none" (write a plain number, without quotes or a unit)
    error: config.yaml:15:40: `providers[2].models[1]` must be a mapping, found the number 7 (allowed keys: id, name, display_name, context_window, max_output, tool_use, vision, reasoning, return_reasoning, short_call_ids, extra_body)
    error: config.yaml:16:5: `providers[3]` must be a mapping, found the text "text" (allowed keys: id, kind, base_url, api_key_env, api_key_file, headers, extra_body, models, connect_timeout_ms, stall_timeout_ms, tools_in_prompt)
    "#);
    insta::assert_snapshot!(said("providers: { openai: {} }\n"), @r#"error: config.yaml:1:12: `providers` must be a list, found a mapping (write `[one, two]`, or one `- item` on each line)"#);
}
