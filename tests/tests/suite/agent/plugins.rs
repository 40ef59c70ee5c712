//! The life of plugins, and which of them take part (Y3.5).

use serde_json::{Value, json};
use youyou::{Error, ErrorCode, HookEvent, HookOutcome, SessionOptions};
use youyou_tests::agent::{
    CodePlugin, Setup,
    plugin::{Log, abort},
};

const YES: &str = "replies: [{ repeat: true, say: [{ text: Yes. }] }]";

/// Y3.5-2, Y3.5-3, Y6.3-1, D-5: initialized in the order of registration with the final configuration, applied once, and
/// shut down in reverse, however many sessions there were.
#[tokio::test]
async fn plugins_in_code_live_as_long_as_the_agent() {
    let log = Log::default();
    let setup = Setup::over("-- home/config.yaml\nplugin_configs: { a: { depth: 2 } }\n", YES);
    let setup = setup.plugin(CodePlugin::new("b").config(json!("own")).logged(&log));
    let host = setup.plugin(CodePlugin::new("a").config(json!("own")).logged(&log)).build().await;
    assert_eq!(log.take(), ["init b \"own\"", "init a {\"depth\":2}", "apply b", "apply a"]);
    for _ in 0..2 {
        let chat = host.chat().await;
        chat.run("hi").await;
        chat.session().close().await;
    }
    assert_eq!(log.take(), Vec::<String>::new());
    host.agent.shutdown().await;
    host.agent.shutdown().await;
    assert_eq!(log.take(), ["shutdown a", "shutdown b"]);
}

/// Y6.1-1, Y10-2: the error names the plugin, and those that were ready are shut down.
#[tokio::test]
async fn a_plugin_that_cannot_be_initialized_fails_the_build() {
    let log = Log::default();
    let broken = CodePlugin::new("b").logged(&log).failing(Error::new(ErrorCode::InvalidInput, "no key"));
    let setup = Setup::new(YES).plugin(CodePlugin::new("a").logged(&log)).plugin(broken);
    let error = setup.plugin(CodePlugin::new("c").logged(&log)).refused().await;
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::PluginInitFailed, "the plugin \"b\" could not be initialized: no key")
    );
    assert_eq!(error.details["plugin"], "b");
    assert_eq!(log.take(), ["init a null", "init b null", "shutdown a"]);
}

/// Y6.1-1.
#[tokio::test]
async fn two_plugins_in_code_cannot_have_one_id() {
    let error = Setup::new(YES).plugin(CodePlugin::new("a")).plugin(CodePlugin::new("a")).refused().await;
    assert_eq!(error.code, ErrorCode::NameConflict);
}

/// D-11, D-45: a plugin that refuses the session leaves the agent as it was.
#[tokio::test]
async fn a_plugin_may_refuse_a_session() {
    let moody = CodePlugin::new("moody");
    let first = std::sync::atomic::AtomicBool::new(true);
    let moody = moody.on(HookEvent::SessionStart, move |_| {
        let refuse = first.swap(false, std::sync::atomic::Ordering::Relaxed);
        if refuse { abort("not today") } else { Ok(HookOutcome::Continue) }
    });
    let host = Setup::new(YES).plugin(moody).build().await;
    let error = host.no_chat(SessionOptions::default()).await;
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::HookAborted, "the plugin \"moody\" refused this session: not today")
    );
    assert_eq!(host.chat().await.run("hi").await.text(), "Yes.");
}

/// Y4.3-1: the model is told of the plugins that take part; Y3.5-5: code is always enabled.
#[tokio::test]
async fn plugins_that_take_part_stand_in_the_prompt() {
    let tapping = CodePlugin::new("guard").on(HookEvent::TurnEnd, |_| Ok(HookOutcome::Continue));
    let host = Setup::new(YES).plugin(tapping).plugin(CodePlugin::new("idle")).build().await;
    host.agent.switch_plugin(&"guard".parse().expect("legal"), Some(false));
    let chat = host.chat().await;
    chat.run("hi").await;
    let system = host.model().requests().remove(0).system;
    assert!(system.contains("- guard: Does guard.") && !system.contains("idle"), "{system}");
    let told: Vec<_> = host
        .agent
        .plugins()
        .expect("scanned")
        .into_iter()
        .map(|p| (p.info.id.to_string(), p.enabled, p.taps))
        .collect();
    assert_eq!(
        told,
        [("guard".to_owned(), true, vec![(HookEvent::TurnEnd, "code")]), ("idle".to_owned(), true, Vec::new())]
    );
}

/// Y3.6-1, Y3.6-2, D-16, D-20: what a plugin sees of a session, from its begin to its end.
#[tokio::test]
async fn a_plugin_sees_a_session_from_begin_to_end() {
    let log = Log::default();
    let replies = "
replies:
  - say: [{ call: { tool_name: echo, arguments: { x: 1 } } }]
  - say: [{ text: Done. }]
";
    let setup = Setup::new(replies).tool(youyou_tests::agent::CodeTool::answering("echo", "out"));
    let (host, chat) = setup.plugin(CodePlugin::new("a").config(json!({"k": 1})).noting(&log)).chat().await;
    let id = chat.session().id().to_string();
    chat.run("go").await;
    chat.session().close().await;
    host.agent.shutdown().await;
    let seen: Vec<_> = log
        .take()
        .iter()
        .map(|line| {
            let mut payload: Value = serde_json::from_str(line).expect("JSON");
            assert_eq!(payload["session_id"], id.as_str());
            payload["session_id"] = "S".into();
            if let Some(duration) = payload.get_mut("duration_ms") {
                assert!(duration.is_u64());
                *duration = 0.into();
            }
            payload.to_string()
        })
        .collect();
    insta::assert_snapshot!(seen.join("\n"), @r#"
    {"payload_version":1,"event":"SessionStart","session_id":"S","plugin_config":{"k":1}}
    {"payload_version":1,"event":"TurnStart","session_id":"S","turn_id":"turn-1","user_input":{"text":"go","attachments":[]},"dynamic_sections":[],"plugin_config":{"k":1}}
    {"payload_version":1,"event":"BeforeToolUse","session_id":"S","turn_id":"turn-1","tool_name":"echo","arguments":{"x":1},"plugin_config":{"k":1}}
    {"payload_version":1,"event":"AfterToolUse","session_id":"S","turn_id":"turn-1","tool_name":"echo","output":"out","duration_ms":0,"success":true,"plugin_config":{"k":1}}
    {"payload_version":1,"event":"TurnEnd","session_id":"S","turn_id":"turn-1","assistant_output":"Done.","plugin_config":{"k":1}}
    {"payload_version":1,"event":"SessionEnd","session_id":"S","message_count":3,"plugin_config":{"k":1}}
    "#);
}
