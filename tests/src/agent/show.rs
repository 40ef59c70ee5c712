//! Events, messages and logs as lines, for snapshots. Times and random ids are left out.

use youyou::{
    AgentEvent, AgentEventKind, AssistantPart, AssistantStatus, CompactionMethod, Entry, Error, HookRun, Message, Part,
    TurnStatus, Usage, hook::HookRunOutcome,
};

/// A turn's events, one a line.
pub fn events(events: &[AgentEvent]) -> String {
    lines(events.iter().map(|event| self::event(&event.kind)))
}

/// The messages of a request.
pub fn messages(messages: &[Message]) -> String {
    lines(messages.iter().flat_map(|message| match message {
        Message::User { parts } => parts.iter().map(user_part).collect(),
        Message::Assistant { parts } => parts.iter().map(assistant_part).collect(),
        Message::ToolResult(answer) => {
            vec![result(answer.call_id.as_str(), &answer.tool_name, &answer.content, answer.is_error)]
        }
        Message::System { text } => vec![format!("notice: {}", excerpt(text))],
    }))
}

/// A session's log.
pub fn entries(entries: &[Entry]) -> String {
    lines(entries.iter().flat_map(|entry| match entry {
        Entry::User { parts } => parts.iter().map(user_part).collect(),
        Entry::Assistant { parts, status, .. } => {
            let mut shown: Vec<_> = parts.iter().map(assistant_part).collect();
            if *status == AssistantStatus::Incomplete {
                shown.push("  (incomplete)".to_owned());
            }
            shown
        }
        Entry::ToolResult { call_id, tool_name, content, is_error, .. } => {
            vec![result(call_id.as_str(), tool_name, content, *is_error)]
        }
        Entry::System { text } => vec![format!("notice: {}", excerpt(text))],
        Entry::DynamicSection(section) => vec![format!("section {:?}: {}", section.title, excerpt(&section.content))],
        Entry::Withheld { reason } => vec![format!("withheld: {}", excerpt(reason))],
        Entry::Compaction { summary, first_kept, method, .. } => {
            let summary = summary.as_deref().map(|summary| format!(": {}", excerpt(summary))).unwrap_or_default();
            vec![format!("compaction by {}, kept from entry {first_kept}{summary}", self::method(*method))]
        }
    }))
}

/// An error, with its kind where it has one.
pub fn error(error: &Error) -> String {
    let kind = error.kind().map(|kind| format!(" {kind}")).unwrap_or_default();
    format!("{}{kind}: {}", error.code, excerpt(&error.message))
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| line.trim_end().replace('\n', "\n  ") + "\n").collect()
}

fn event(kind: &AgentEventKind) -> String {
    match kind {
        AgentEventKind::TextDelta { text } => format!("text {:?}", excerpt(text)),
        AgentEventKind::ReasoningDelta { text } => format!("reasoning {:?}", excerpt(text)),
        AgentEventKind::ToolCallStart { call_id, tool_name, arguments } => {
            format!("{call_id} {tool_name} starts with {}", excerpt(arguments))
        }
        AgentEventKind::ToolCallEnd { call_id, tool_name, output, success, skipped, .. } => {
            let how = match (success, skipped) {
                (true, _) => "succeeds",
                (false, true) => "is skipped",
                (false, false) => "fails",
            };
            format!("{call_id} {tool_name} {how}: {}", excerpt(output))
        }
        AgentEventKind::ContextCompacted { method, .. } => format!("compacted by {}", self::method(*method)),
        AgentEventKind::StepStart { step } => format!("step {step}"),
        AgentEventKind::StepEnd { step, usage } if *usage == Usage::default() => format!("step {step} ends"),
        AgentEventKind::StepEnd { step, usage } => {
            format!("step {step} ends: {} tokens read, {} written", usage.input_tokens, usage.output_tokens)
        }
        AgentEventKind::Retry { attempt, delay_ms, error } => {
            format!("retry {attempt} after {delay_ms} ms: {}", self::error(error))
        }
        AgentEventKind::TurnComplete { status: TurnStatus::Completed, .. } => "turn completed".to_owned(),
        AgentEventKind::TurnComplete { status: TurnStatus::Failed, error_code } => {
            format!("turn failed: {}", error_code.map_or("without a code", |code| code.as_str()))
        }
        AgentEventKind::HookRan(run) => hook_run(run),
        AgentEventKind::TurnCancelled => "turn cancelled".to_owned(),
        AgentEventKind::Error { error, fatal: true } => format!("error {}", self::error(error)),
        AgentEventKind::Error { error, fatal: false } => format!("remark {}", self::error(error)),
        other => format!("{other:?}"),
    }
}

/// What one handler did.
pub fn hook_run(run: &HookRun) -> String {
    let HookRun { plugin_id, event, outcome, changes, warnings, .. } = run;
    let call = run.call_id.as_ref().map(|call| format!(" of {call}")).unwrap_or_default();
    let outcome = match outcome {
        HookRunOutcome::Continued => "continues".to_owned(),
        HookRunOutcome::Changed => {
            let fields: Vec<_> = changes.iter().map(|change| change.field.as_str()).collect();
            format!("changes {}", fields.join(", "))
        }
        HookRunOutcome::Aborted(reason) => format!("aborts: {}", excerpt(reason)),
        HookRunOutcome::Failed => "fails".to_owned(),
    };
    let warnings: String = warnings.iter().map(|warning| format!("\n  warning: {}", excerpt(warning))).collect();
    format!("{plugin_id} at {event}{call} {outcome}{warnings}")
}

fn method(method: CompactionMethod) -> &'static str {
    match method {
        CompactionMethod::Summary => "summary",
        CompactionMethod::Truncation => "truncation",
    }
}

fn user_part(part: &Part) -> String {
    match part {
        Part::Text { text } => format!("user: {}", excerpt(text)),
        Part::Image(image) => {
            format!("user attaches {:?}, {} of {} bytes", image.name, image.format.media_type(), image.size)
        }
        Part::File(file) => format!("user attaches {:?}: {}", file.name, excerpt(file.text.trim_end())),
    }
}

fn assistant_part(part: &AssistantPart) -> String {
    match part {
        AssistantPart::Text { text } => format!("assistant: {}", excerpt(text)),
        AssistantPart::Reasoning { text, signature } => {
            let signed = if signature.is_some() { " (signed)" } else { "" };
            format!("assistant thinks{signed}: {}", excerpt(text))
        }
        AssistantPart::ToolCall(call) => {
            format!("assistant calls {} {}: {}", call.call_id, call.tool_name, excerpt(&call.arguments))
        }
    }
}

fn result(call_id: &str, tool_name: &str, content: &str, is_error: bool) -> String {
    let what = if is_error { "failure" } else { "result" };
    format!("{what} of {call_id} {tool_name}: {}", excerpt(content))
}

fn excerpt(text: &str) -> String {
    const SHOWN: usize = 400;
    if text.len() <= SHOWN {
        return text.to_owned();
    }
    format!("{}… ({} bytes)", &text[..text.floor_char_boundary(80)], text.len())
}
