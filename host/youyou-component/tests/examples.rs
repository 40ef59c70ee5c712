//! The example plugins, as the components that they are: what is declared is exported, and each does what its README says.

mod guest;
#[path = "guest/plugin.rs"]
mod plugin;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use guest::Fixture;
use plugin::{about_to_run, has_run, turn_ended};
use serde_json::{Value, json};
use youyou_api::{
    Error, HookEvent, HookHandler, HookOutcome, HookPayload, PluginId, SessionId,
    hook::{HookEventPayload, SessionEnd},
};
use youyou_component::{ComponentPlugin, ComponentSpec, Grants, HookSettings, Instancing, check_taps};

fn example(id: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plugins").join(id);
    let path = folder.join(format!("{}.wasm", id.replace('-', "_")));
    assert!(path.is_file(), "run `cargo xtask guests` first: there is no {}", path.display());
    path
}

fn plugin_of(id: &str, instancing: Instancing, grants: Grants) -> ComponentPlugin {
    let component = ComponentSpec { path: example(id), grants, ..ComponentSpec::default() };
    ComponentPlugin::new(Fixture::shared().host.clone(), PluginId::new(id).expect("legal"), component, instancing)
}

async fn ask_in(cwd: &Path, plugin: &ComponentPlugin, payload: &HookPayload) -> Result<HookOutcome, Error> {
    let hook = plugin.handler(payload.event.event(), HookSettings::default());
    hook.warm_up().await.expect("loads");
    let mut context = Fixture::context(Duration::from_secs(60));
    context.cwd = Arc::from(cwd);
    hook.handle(payload, context).await
}

/// A component's exports are its taps: those that the example's index.md declares.
#[test]
fn the_examples_export_what_they_declare() {
    let audited = HookEvent::ALL.to_vec();
    for (id, declared) in
        [("guard", vec![HookEvent::BeforeToolUse]), ("redact", vec![HookEvent::AfterToolUse]), ("audit-log", audited)]
    {
        let found = check_taps(&example(id), &declared).expect("a component");
        assert_eq!((found.problems, found.hints), (vec![], vec![]), "{id}");
        let index = fs::read_to_string(example(id).with_file_name("index.md")).expect("an index.md");
        for event in HookEvent::ALL {
            assert_eq!(index.contains(&format!("\n  {event}: ")), declared.contains(event), "{id}: {event}");
        }
    }
}

#[tokio::test]
async fn guard_refuses_a_call_that_leaves_the_workspace() {
    let guard = plugin_of("guard", Instancing::PerCall, Grants::default());
    let mut payload = about_to_run(Value::Null);
    assert_eq!(ask_in(Path::new("."), &guard, &payload).await, Ok(HookOutcome::Continue));
    if let HookEventPayload::BeforeToolUse(event) = &mut payload.event {
        event.arguments.insert("path".to_owned(), json!("../outside"));
    }
    let Ok(HookOutcome::Abort { reason }) = ask_in(Path::new("."), &guard, &payload).await else { panic!("an abort") };
    assert!(reason.contains("leads out of the workspace: \"../outside\""), "{reason}");
    payload.plugin_config = json!({"kyes": []});
    let error = ask_in(Path::new("."), &guard, &payload).await.expect_err("a key that is not known");
    assert_eq!((error.kind(), error.details["guest_code"].as_str()), (Some("GUEST_ERROR"), Some("INVALID_CONFIG")));
    assert!(error.message.contains("kyes"), "{error}");
}

#[tokio::test]
async fn redact_masks_the_output() {
    let redact = plugin_of("redact", Instancing::PerCall, Grants::default());
    assert_eq!(ask_in(Path::new("."), &redact, &has_run(Value::Null)).await, Ok(HookOutcome::Continue));
    let outcome = ask_in(Path::new("."), &redact, &has_run(json!({"patterns": ["words"]}))).await;
    let Ok(HookOutcome::ContinueWith(changes)) = outcome else { panic!("{outcome:?}") };
    assert_eq!(Value::from(changes), json!({"output": "2 [redacted]"}));
}

/// Y3.5-4: what it counted is there at the end, and it writes where it may and nowhere else.
#[tokio::test]
async fn audit_log_writes_a_line_for_each_event_and_a_summary() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("audit")).expect("made");
    let grants = Grants::parse(&[], &["./audit".to_owned()], &[], &[]).expect("legal");
    let audit = plugin_of("audit-log", Instancing::PerSession, grants);
    let ended = HookPayload {
        event: HookEventPayload::SessionEnd(SessionEnd { session_id: SessionId::new("s"), message_count: 2 }),
        ..turn_ended()
    };
    for payload in [about_to_run(Value::Null), has_run(Value::Null), turn_ended(), ended] {
        assert_eq!(ask_in(dir.path(), &audit, &payload).await, Ok(HookOutcome::Continue));
    }
    let text = fs::read_to_string(dir.path().join("audit/audit.jsonl")).expect("written");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let events: Vec<_> = lines.iter().map(|line| line["event"].as_str().unwrap_or("summary")).collect();
    assert_eq!(events, ["BeforeToolUse", "AfterToolUse", "TurnEnd", "SessionEnd", "summary"]);
    assert_eq!(lines[4]["summary"]["tools"], json!({"word-count": {"ran": 1, "failed": 0}}));

    let error = ask_in(dir.path(), &audit, &has_run(json!({"path": "other.jsonl"}))).await.expect_err("not granted");
    assert_eq!(error.kind(), Some("DENIED_WRITE"), "{error}");
    assert!(!dir.path().join("other.jsonl").exists());
}
