//! Trying one handler of a plugin without a session (`youyou run-hook`).

use std::{
    path::Path,
    time::{Duration, Instant},
};

use serde::Serialize;
use serde_json::{Map, Value, json};
use youyou_api::{
    CallContext, Error, ErrorCode, HookEvent, HookOutcome, HookPayload, OnFailure, PluginId, SourceLabel, Tap,
    call::{CancellationToken, Deadline},
    hook::{ChangedField, HookEventPayload, PAYLOAD_VERSION},
    hook_rules::AbortMeaning,
    plugin::DEFAULT_HOOK_TIMEOUT,
};
use youyou_component::{ComponentHost, HostConfig};
use youyou_core::{hooks::fold, tools::ToolCatalog};
use youyou_files::{Problem, Roots, definition_invalid};

use crate::{
    assemble::{self, Backends},
    plugins::{Listed, plugin_configs, taps},
};

/// One handler of one plugin, to be asked by hand exactly as an agent would ask it.
pub struct HookTrial {
    plugin: PluginId,
    config: Value,
    tap: Tap,
    tools: ToolCatalog,
    problems: Vec<Problem>,
    /// Why an agent would not ask it as things are.
    asleep: Option<String>,
}

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tried {
    /// Whose handler.
    pub plugin: PluginId,
    /// What it was asked about.
    pub event: HookEvent,
    /// How it is run: `script` or `component`.
    pub backend: &'static str,
    /// What it answered.
    #[serde(flatten)]
    pub answer: TriedAnswer,
    /// Whether the operation would be stopped.
    pub blocks: bool,
    /// What that means for the operation, for people.
    pub meaning: String,
    /// What the answer changes.
    pub changes: Vec<Change>,
    /// What of the answer is ignored, and why.
    pub warnings: Vec<String>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// What a handler answered.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum TriedAnswer {
    /// All goes on as it was.
    Continued,
    /// All goes on, with changes.
    Changed,
    /// It wants the operation stopped.
    Aborted {
        /// Why.
        reason: String,
    },
    /// It gave no usable answer.
    Failed {
        /// Why not.
        error: Error,
    },
}

/// A value that an answer changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The payload field; below an object also the key: `arguments.path`.
    pub field: String,
    /// The value before; null if it was not there.
    pub before: Value,
    /// The value after; null if it is gone.
    pub after: Value,
}

impl HookTrial {
    /// The handler that the plugin `id` of a home and a workspace has for an event.
    ///
    /// # Errors
    /// `PLUGIN_NOT_FOUND` when there is no such plugin, or it does not tap the event; `DEFINITION_INVALID` when its folder
    /// cannot be used; an error of the component host.
    pub fn of_plugin(home: &Path, workspace: &Path, id: &str, event: HookEvent) -> Result<Self, Error> {
        let backends = Backends::new(home, ComponentHost::new(HostConfig::default())?);
        let Listed { listings, plugins, problems } = Listed::new(&backends, home, workspace);
        let about: Vec<_> = problems.into_iter().filter(|problem| problem.folder.as_deref() == Some(id)).collect();
        let Some(listing) = listings.iter().find(|listing| listing.status.info.id.as_str() == id) else {
            if about.iter().any(Problem::is_error) {
                return Err(definition_invalid(&about));
            }
            let known: Vec<_> = listings.iter().map(|listing| listing.status.info.id.as_str()).collect();
            return Err(no_plugin(id, &known, home, workspace));
        };
        let status = &listing.status;
        let of_id =
            plugins.into_iter().find(|plugin| plugin.info.id == status.info.id && plugin.source == status.source);
        let tap = find(&status.info.id, of_id.and_then(|plugin| plugin.taps).unwrap_or_default(), event)?;
        let asleep = (!status.enabled).then(|| format!("the plugin {id:?} is disabled, so an agent would not ask it"));
        let tools = tools(&backends, home, workspace, event)?;
        let (plugin, config) = (status.info.id.clone(), status.config.clone());
        Ok(Self { plugin, config, tap, tools, problems: about, asleep })
    }

    /// The handler that the plugin in the folder `dir` has for an event, with the configuration that it would get where it
    /// is installed.
    ///
    /// # Errors
    /// `PLUGIN_NOT_FOUND` when it does not tap the event; `DEFINITION_INVALID` with everything that is wrong with the
    /// folder; an error of the component host.
    pub fn of_folder(home: &Path, workspace: &Path, dir: &Path, event: HookEvent) -> Result<Self, Error> {
        let backends = Backends::new(home, ComponentHost::new(HostConfig::default())?);
        let loaded = youyou_files::load_plugin(dir, SourceLabel::Project).into_result();
        let (plugin, mut problems) = loaded.map_err(|problems| definition_invalid(&problems))?;
        let handlers = plugin.hooks.as_deref().unwrap_or_default();
        let taps = taps(&backends, &plugin, handlers).map_err(|problems| definition_invalid(&problems))?;
        let tap = find(&plugin.info.id, taps, event)?;
        let (mut configs, found) = plugin_configs(home);
        problems.extend(found);
        let config = configs.remove(plugin.info.id.as_str()).or(plugin.config).unwrap_or_default();
        let asleep = (plugin.enabled == Some(false))
            .then(|| format!("{} says `enabled: false`, so an agent would not ask it", plugin.index.display()));
        let tools = tools(&backends, home, workspace, event)?;
        Ok(Self { plugin: plugin.info.id, config, tap, tools, problems, asleep })
    }

    /// What is to say about the plugin's folder.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Why an agent would not ask the handler as things are, if so.
    pub fn asleep(&self) -> Option<&str> {
        self.asleep.as_deref()
    }

    /// The payload: what is `given`, over a sample of the event and the plugin's own configuration.
    ///
    /// # Errors
    /// `INVALID_INPUT` when a field is none of the event's, or its value does not fit.
    pub fn payload(&self, given: Map<String, Value>) -> Result<HookPayload, Error> {
        let event = self.tap.event;
        let invalid = |message: String| Error::new(ErrorCode::InvalidInput, message);
        let sample =
            HookPayload { payload_version: PAYLOAD_VERSION, event: sample(event)?, plugin_config: self.config.clone() };
        let Value::Object(mut document) = serde_json::to_value(&sample).unwrap_or_default() else {
            return Ok(sample);
        };
        for (key, value) in given {
            match document.get_mut(&key) {
                Some(known) if matches!(&*key, "event" | "payload_version") && *known != value => {
                    return Err(invalid(format!("the payload's `{key}` is {value}, expected {known}")));
                }
                Some(known) => *known = value,
                None => {
                    let fields = document.keys().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
                    return Err(invalid(format!("the payload of {event} has no field `{key}`; it has {fields}")));
                }
            }
        }
        serde_json::from_value(Value::Object(document))
            .map_err(|error| invalid(format!("this is no payload of {event}: {error}")))
    }

    /// Asks the handler. Needs a tokio runtime with I/O and time; `cancel` stops it.
    pub async fn run(&self, mut payload: HookPayload, cwd: &Path, cancel: CancellationToken) -> Tried {
        let Tap { event, handler, .. } = &self.tap;
        let timeout = handler.timeout().unwrap_or(DEFAULT_HOOK_TIMEOUT);
        let mut context = CallContext::new(cwd, timeout);
        context.cancel = cancel;
        context.deadline = Deadline::after(timeout);
        context.session = Some(session_of(&payload.event).clone());
        let started = Instant::now();
        let answer = handler.handle(&payload, context).await;
        let duration = started.elapsed();
        let Judged { answer, blocks, meaning, changes, warnings } = self.judge(answer, &mut payload.event);
        Tried {
            plugin: self.plugin.clone(),
            event: *event,
            backend: handler.backend(),
            answer,
            blocks,
            meaning,
            changes,
            warnings,
            duration_ms: millis(duration),
        }
    }

    /// What an answer would lead to.
    fn judge(&self, answer: Result<HookOutcome, Error>, payload: &mut HookEventPayload) -> Judged {
        let rules = self.tap.event.rules();
        let on =
            |answer, meaning: &str| Judged { answer, blocks: false, meaning: meaning.to_owned(), ..Judged::default() };
        match answer {
            Ok(HookOutcome::ContinueWith(data)) => self.changed(data, payload),
            Ok(HookOutcome::Abort { reason }) => Judged {
                answer: TriedAnswer::Aborted { reason },
                blocks: rules.abort != AbortMeaning::Ignored,
                meaning: rules.abort.as_str().to_owned(),
                ..Judged::default()
            },
            Ok(_) => on(TriedAnswer::Continued, "All goes on, and nothing changes."),
            Err(error) if self.tap.handler.on_failure() == OnFailure::Abort && rules.may_abort_on_failure => Judged {
                answer: TriedAnswer::Failed { error },
                blocks: true,
                meaning: format!("`on_failure: abort` makes the failure an abort. {}", rules.abort.as_str()),
                ..Judged::default()
            },
            Err(error) => on(
                TriedAnswer::Failed { error },
                "A failure stops nothing: all goes on with a warning, as if the handler had not been asked.",
            ),
        }
    }

    fn changed(&self, data: Map<String, Value>, payload: &mut HookEventPayload) -> Judged {
        let before = serde_json::to_value(&*payload).unwrap_or_default();
        let tool = match &*payload {
            HookEventPayload::BeforeToolUse(call) => call.tool_name.as_str().to_owned(),
            _ => String::new(),
        };
        let known = self.tools.get(&tool).is_some();
        let check = |arguments| if known { self.tools.check(&tool, arguments) } else { Ok(arguments) };
        let folded = fold(payload, data, &check);
        let after = serde_json::to_value(&*payload).unwrap_or_default();
        let change = |ChangedField { field, .. }: ChangedField| {
            let (before, after) = (value_at(&before, &field), value_at(&after, &field));
            Change { field, before, after }
        };
        let changes: Vec<_> = folded.changes.into_iter().map(change).collect();
        let mut warnings = folded.warnings;
        if !known && changes.iter().any(|change| change.field.starts_with("arguments")) {
            warnings.push(format!(
                "there is no tool {tool:?} here, so the new arguments were not checked against its parameters"
            ));
        }
        let (answer, meaning) = match changes.is_empty() {
            true => (TriedAnswer::Continued, "All goes on, and nothing changes."),
            false => (TriedAnswer::Changed, "All goes on, with these changes."),
        };
        Judged { answer, meaning: meaning.to_owned(), changes, warnings, blocks: false }
    }
}

/// What an answer would lead to.
struct Judged {
    answer: TriedAnswer,
    blocks: bool,
    meaning: String,
    changes: Vec<Change>,
    warnings: Vec<String>,
}

impl Default for Judged {
    fn default() -> Self {
        let answer = TriedAnswer::Continued;
        Self { answer, blocks: false, meaning: String::new(), changes: Vec::new(), warnings: Vec::new() }
    }
}

/// The tools whose parameters new arguments must fit; of interest for one event only.
fn tools(backends: &Backends, home: &Path, workspace: &Path, event: HookEvent) -> Result<ToolCatalog, Error> {
    if event != HookEvent::BeforeToolUse {
        return Ok(ToolCatalog::new());
    }
    let roots = Roots { home: home.to_owned(), workspace: workspace.to_owned() };
    Ok(assemble::assemble(backends, &[], youyou_files::scan_tools(&roots))?.catalog)
}

/// The handler of an event.
fn find(plugin: &PluginId, taps: Vec<Tap>, event: HookEvent) -> Result<Tap, Error> {
    let tapped: Vec<_> = taps.iter().map(|tap| tap.event.as_str()).collect();
    let taps_what = if tapped.is_empty() { "nothing".to_owned() } else { tapped.join(", ") };
    let message = format!("the plugin {:?} does not handle {event}; it handles {taps_what}", plugin.as_str());
    let tap = taps.into_iter().find(|tap| tap.event == event);
    tap.ok_or_else(|| Error::new(ErrorCode::PluginNotFound, message))
}

fn no_plugin(id: &str, known: &[&str], home: &Path, workspace: &Path) -> Error {
    let places = [home.join("plugins"), workspace.join(".youyou").join("plugins")].map(|dir| dir.display().to_string());
    let known = if known.is_empty() { "there is none".to_owned() } else { format!("there are: {}", known.join(", ")) };
    let message = format!("no plugin {id:?} in {}; {known}", places.join(" or "));
    Error::new(ErrorCode::PluginNotFound, message)
}

/// The value of a field as a change names it: at most two steps deep, and the second may itself hold a dot.
fn value_at(document: &Value, field: &str) -> Value {
    let (top, rest) = match field.split_once('.') {
        Some((top, rest)) => (top, Some(rest)),
        None => (field, None),
    };
    let value = document.get(top);
    let found = match (value, rest) {
        (Some(Value::Array(items)), Some(rest)) => rest.parse::<usize>().ok().and_then(|index| items.get(index)),
        (Some(value), Some(rest)) => value.get(rest),
        (value, None) => value,
        (None, Some(_)) => None,
    };
    found.cloned().unwrap_or_default()
}

fn session_of(event: &HookEventPayload) -> &youyou_api::SessionId {
    match event {
        HookEventPayload::SessionStart(event) => &event.session_id,
        HookEventPayload::SessionEnd(event) => &event.session_id,
        HookEventPayload::TurnStart(event) => &event.session_id,
        HookEventPayload::TurnEnd(event) => &event.session_id,
        HookEventPayload::BeforeToolUse(event) => &event.session_id,
        HookEventPayload::AfterToolUse(event) => &event.session_id,
        HookEventPayload::BeforeCompact(event) => &event.session_id,
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A payload of an event as it may come up.
fn sample(event: HookEvent) -> Result<HookEventPayload, Error> {
    let mut fields = match event {
        HookEvent::SessionStart => json!({}),
        HookEvent::SessionEnd => json!({ "message_count": 2 }),
        HookEvent::TurnStart => json!({
            "user_input": { "text": "What is in notes.txt?", "attachments": [] },
            "dynamic_sections": [],
        }),
        HookEvent::TurnEnd => json!({ "assistant_output": "It is a shopping list." }),
        HookEvent::BeforeToolUse => json!({ "tool_name": "read-file", "arguments": { "path": "notes.txt" } }),
        HookEvent::AfterToolUse => json!({
            "tool_name": "read-file", "output": "milk\nbread\n", "duration_ms": 12, "success": true,
        }),
        HookEvent::BeforeCompact => json!({
            "message_count": 120, "estimated_tokens": 90_000, "compact_prompt": "Summarise the conversation.",
        }),
    };
    fields["event"] = event.as_str().into();
    fields["session_id"] = "run-hook".into();
    let in_turn = !matches!(event, HookEvent::SessionStart | HookEvent::SessionEnd | HookEvent::BeforeCompact);
    if in_turn {
        fields["turn_id"] = "run-hook-1".into();
    }
    serde_json::from_value(fields)
        .map_err(|error| Error::new(ErrorCode::InvalidInput, format!("the sample of {event} cannot be used: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Y3.6-1: there is a sample of every event, and it has all of the event's fields.
    #[test]
    fn every_event_has_a_sample() {
        for event in HookEvent::ALL {
            let sample = sample(*event).expect("a sample");
            assert_eq!(sample.event(), *event);
            assert_eq!(session_of(&sample).as_str(), "run-hook");
        }
    }

    #[test]
    fn a_changed_value_is_found_by_its_field() {
        let document = json!({ "output": "x", "arguments": { "a.b": 1 }, "dynamic_sections": [{ "title": "t" }] });
        assert_eq!(value_at(&document, "output"), "x");
        assert_eq!(value_at(&document, "arguments.a.b"), 1);
        assert_eq!(value_at(&document, "dynamic_sections.0"), json!({ "title": "t" }));
        for missing in ["dynamic_sections.1", "arguments.c", "nothing", "nothing.x"] {
            assert_eq!(value_at(&document, missing), Value::Null, "{missing}");
        }
    }
}
