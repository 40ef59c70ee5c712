//! C-2: what a handler that is a component receives is the document that a script reads, for each of the seven events.

mod guest;

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use guest::Fixture;
use tracing::{
    Dispatch, Event, Subscriber, dispatcher,
    field::{Field, Visit},
};
use tracing_subscriber::{
    Layer,
    layer::{Context, SubscriberExt as _},
};
use youyou_api::{HookEvent, HookHandler, HookOutcome, HookPayload, PluginId};
use youyou_component::{ComponentPlugin, ComponentSpec, HookSettings, Instancing, check_taps, log::TARGET};

/// What guests say, by plugin.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<Line>>>);

#[derive(Default, Clone, PartialEq, Debug)]
struct Line {
    plugin: String,
    message: String,
}

impl<S: Subscriber> Layer<S> for Heard {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == TARGET {
            let mut line = Line::default();
            event.record(&mut line);
            self.0.lock().expect("not poisoned").push(line);
        }
    }
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "plugin" {
            value.clone_into(&mut self.plugin);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        }
    }
}

fn witness() -> PathBuf {
    let path = guest::hostile().with_file_name("witness.wasm");
    assert!(path.is_file(), "run `cargo xtask guests` first: there is no {}", path.display());
    path
}

#[test]
fn a_component_receives_the_golden_documents() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let heard = Heard::default();
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("an executor");
    let component = ComponentSpec { path: witness(), ..ComponentSpec::default() };
    let id = PluginId::new("witness").expect("legal");
    let plugin = ComponentPlugin::new(Fixture::shared().host.clone(), id, component, Instancing::PerSession);
    dispatcher::with_default(&Dispatch::new(tracing_subscriber::registry().with(heard.clone())), || {
        executor.block_on(async {
            for event in HookEvent::ALL {
                let document =
                    fs::read_to_string(golden.join(format!("{event}.payload.json"))).expect("a golden document");
                let payload: HookPayload = serde_json::from_str(&document).expect("a payload");
                assert_eq!(serde_json::to_string(&payload).expect("json"), document.trim_end(), "what a script reads");
                let hook = plugin.handler(*event, HookSettings::default());
                let outcome = hook.handle(&payload, Fixture::context(Duration::from_secs(120))).await;
                assert_eq!(outcome, Ok(HookOutcome::Continue), "{event}");
                let said = std::mem::take(&mut *heard.0.lock().expect("not poisoned"));
                let message = document.trim_end().to_owned();
                assert_eq!(said, [Line { plugin: "witness".to_owned(), message }], "what the component's author sees");
            }
        });
    });
}

/// The exports of a component that the SDK made are the taps of its handlers, and no others.
#[test]
fn what_the_sdk_exports_are_the_handlers() {
    let all = check_taps(&witness(), HookEvent::ALL).expect("a component");
    assert_eq!((all.taps.as_slice(), all.problems, all.hints), (HookEvent::ALL, vec![], vec![]));
    let some = [HookEvent::BeforeToolUse, HookEvent::AfterToolUse];
    let hostile = check_taps(&guest::hostile(), &some[..1]).expect("a component");
    assert_eq!(hostile.taps, some);
    assert_eq!((hostile.problems.len(), hostile.hints.len()), (0, 1));
}
