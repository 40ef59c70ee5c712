//! What each hook event allows: one table, from which the host works and docs/hooks.md is made.

use crate::hook::HookEvent;

/// What one event allows a handler (D-6, D-11, D-14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventRules {
    /// When the event is fired.
    pub when: &'static str,
    /// The payload fields that an answer's `data` may change; every other key is ignored with a warning.
    pub mutable: &'static [MutableField],
    /// What an abort does.
    pub abort: AbortMeaning,
    /// Whether a handler may ask with `on_failure: abort` that its failure counts as an abort (D-14).
    pub may_abort_on_failure: bool,
}

/// A payload field that handlers may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MutableField {
    /// The field's name, in the payload and in `data`.
    pub name: &'static str,
    /// How `data` acts on it.
    pub change: FieldChange,
}

/// How a key of `data` acts on the field of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldChange {
    /// It takes the field's place as a whole (D-6).
    Replaces,
    /// Its `text` takes the place of the field's; attachments stay (D-9).
    ReplacesText,
    /// Its elements are added at the end (D-8).
    Appends,
}

impl FieldChange {
    /// For people, after the field's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replaces => "replaced as a whole",
            Self::ReplacesText => "its `text` is replaced",
            Self::Appends => "elements are appended",
        }
    }
}

/// What an abort of an event means (D-11).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbortMeaning {
    /// The session is not created.
    SessionNotCreated,
    /// The turn fails before the model is asked.
    TurnFails,
    /// The tool does not run; the model reads the reason as an error result.
    CallRefused,
    /// The result is replaced by an error with the reason; what the tool did stays done.
    ResultReplaced,
    /// The context is not compacted. If the model's window had overflowed, the turn fails.
    CompactionSkipped,
    /// Nothing, beyond a warning: an end cannot be vetoed.
    Ignored,
}

impl AbortMeaning {
    /// For people, as a sentence.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionNotCreated => "The session is not created (`HOOK_ABORTED`).",
            Self::TurnFails => "The turn fails before the model is asked (`HOOK_ABORTED`); the message is never sent.",
            Self::CallRefused => "The tool does not run; the model reads the reason as an error result.",
            Self::ResultReplaced => {
                "The model reads the reason as an error in place of the result; what the tool did stays done."
            }
            Self::CompactionSkipped => {
                "The context stays as it is; if the model's window had overflowed, the turn fails (`COMPACT_ERROR`)."
            }
            Self::Ignored => "Ignored with a warning: an end cannot be vetoed.",
        }
    }
}

const fn replaces(name: &'static str) -> MutableField {
    MutableField { name, change: FieldChange::Replaces }
}

impl HookEvent {
    /// What the event allows.
    pub const fn rules(self) -> &'static EventRules {
        match self {
            Self::SessionStart => &EventRules {
                when: "A new session was created, before its first message; not when one is resumed (D-20).",
                mutable: &[],
                abort: AbortMeaning::SessionNotCreated,
                may_abort_on_failure: false,
            },
            Self::SessionEnd => &EventRules {
                when: "A session is being closed; its last turn has ended.",
                mutable: &[],
                abort: AbortMeaning::Ignored,
                may_abort_on_failure: false,
            },
            Self::TurnStart => &EventRules {
                when: "The user has sent a message; before the system prompt is assembled and the model is asked.",
                mutable: &[
                    MutableField { name: "user_input", change: FieldChange::ReplacesText },
                    MutableField { name: "dynamic_sections", change: FieldChange::Appends },
                ],
                abort: AbortMeaning::TurnFails,
                may_abort_on_failure: false,
            },
            Self::TurnEnd => &EventRules {
                when: "A turn has ended: completed, failed or cancelled.",
                mutable: &[],
                abort: AbortMeaning::Ignored,
                may_abort_on_failure: false,
            },
            Self::BeforeToolUse => &EventRules {
                when: "A tool is about to run with arguments that fit its parameters; not for calls that do not run \
                       (D-17).",
                mutable: const { &[replaces("arguments")] },
                abort: AbortMeaning::CallRefused,
                may_abort_on_failure: true,
            },
            Self::AfterToolUse => &EventRules {
                when: "A tool has run, also when it failed or timed out; not when it was refused (D-17).",
                mutable: const { &[replaces("output"), replaces("success")] },
                abort: AbortMeaning::ResultReplaced,
                may_abort_on_failure: false,
            },
            Self::BeforeCompact => &EventRules {
                when: "The context is about to be made shorter.",
                mutable: const { &[replaces("compact_prompt")] },
                abort: AbortMeaning::CompactionSkipped,
                may_abort_on_failure: false,
            },
        }
    }
}
