//! Where plugins take part in a turn: its begin, its end, and before its context is made shorter. What they do around a
//! tool call is part of the call's own path.

use std::sync::Arc;

use serde_json::{Map, Value};
use youyou_api::{
    AgentEventKind, AssistantPart, Error, HookEvent,
    hook::{BeforeCompact, HookEventPayload, TurnEnd, TurnStart},
};

use super::{input::TurnInput, run::Turn};
use crate::{
    context::{Entry, compact},
    events::Publisher,
    hooks::{Asking, Fired, Hooks, Reporter},
    prompt::{Section, SectionName},
};

/// Tells the host of each handler that was asked.
pub(crate) fn reporter(events: &Arc<Publisher>) -> Reporter {
    let events = events.clone();
    Arc::new(move |run| events.publish(AgentEventKind::HookRan(run)))
}

/// Asks about an event that is not about a tool call.
pub(crate) async fn fire(
    hooks: &Hooks,
    payload: HookEventPayload,
    cancel: &youyou_api::CancellationToken,
    report: &Reporter,
) -> Fired {
    let check = |arguments: Map<String, Value>| Ok(arguments);
    hooks.fire(payload, Asking { cancel: cancel.clone(), call_id: None, check: &check, report }).await
}

/// What is to be done about a context that is to be made shorter.
pub(super) enum CompactWord {
    /// Do it, and tell the model that writes the summary this.
    Go { prompt: Option<String> },
    /// Leave it as it is (D-11).
    Skip(Error),
}

impl Turn<'_> {
    /// Lets plugins look at what the user sent, and puts it into the log (D-8: before the system prompt is assembled,
    /// and what influences the model is in the log first).
    ///
    /// # Errors
    /// `HOOK_ABORTED`: the message is in the log, and in no request.
    pub(super) async fn start(&mut self, mut input: TurnInput) -> Result<(), Error> {
        self.recall(&input.text).await;
        if !self.env.hooks.is_tapped(HookEvent::TurnStart) {
            self.history.push(Entry::User { parts: input.into_parts().into() });
            return Ok(());
        }
        let payload = HookEventPayload::TurnStart(TurnStart {
            session_id: self.env.session_id.clone(),
            turn_id: self.id.clone(),
            user_input: input.for_hooks(),
            dynamic_sections: Vec::new(),
        });
        let Fired { payload, aborted } = self.fire(payload).await;
        if let HookEventPayload::TurnStart(TurnStart { user_input, dynamic_sections, .. }) = payload {
            input.rewrite(user_input.text);
            self.history.push(Entry::User { parts: input.into_parts().into() });
            if let Some(aborted) = aborted {
                let error = aborted.into_error("refused this message");
                self.history.push(Entry::Withheld { reason: error.message.clone() });
                return Err(error);
            }
            for section in dynamic_sections {
                self.add_to_prompt(&section.title, &section.content);
                self.history.push(Entry::DynamicSection(section));
            }
        }
        Ok(())
    }

    /// What is remembered stands in the prompt from the first turn on, and stays the same for the session (D-66).
    async fn recall(&mut self, text: &str) {
        let Some(memory) = &self.env.memory else { return };
        let recalled = tokio::select! {
            biased;
            () = self.control.stop().cancelled() => return,
            recalled = memory.recall(text) => recalled,
        };
        if let Some(section) = recalled {
            self.system = self.env.prompt.clone().with(section).render();
        }
    }

    /// The last section of the prompt is the one that changes, so that providers can reuse what they read before (D-8).
    fn add_to_prompt(&mut self, title: &str, text: &str) {
        let section =
            Section { name: SectionName::Dynamic, title: Some(title.to_owned()), source: None, text: text.to_owned() };
        if !self.system.is_empty() {
            self.system.push_str("\n\n");
        }
        self.system.push_str(&section.render());
    }

    /// Tells plugins that the turn has ended, however it did.
    pub(super) async fn tell_of_end(&mut self) {
        if self.env.hooks.is_tapped(HookEvent::TurnEnd) {
            let payload = HookEventPayload::TurnEnd(TurnEnd {
                session_id: self.env.session_id.clone(),
                turn_id: self.id.clone(),
                assistant_output: self.last_words(),
            });
            self.fire(payload).await;
        }
    }

    /// Asks plugins before the context is made shorter.
    pub(super) async fn before_compact(&mut self, estimated_tokens: u64) -> CompactWord {
        let configured = &self.env.compaction.prompt;
        if !self.env.hooks.is_tapped(HookEvent::BeforeCompact) {
            return CompactWord::Go { prompt: configured.clone() };
        }
        let payload = HookEventPayload::BeforeCompact(BeforeCompact {
            session_id: self.env.session_id.clone(),
            message_count: self.history.message_count(),
            estimated_tokens,
            compact_prompt: configured.as_deref().unwrap_or(compact::DEFAULT_PROMPT).to_owned(),
        });
        match self.fire(payload).await {
            Fired { aborted: Some(aborted), .. } => {
                CompactWord::Skip(aborted.into_error("keeps the context from being made shorter"))
            }
            Fired { payload: HookEventPayload::BeforeCompact(BeforeCompact { compact_prompt, .. }), .. } => {
                CompactWord::Go { prompt: Some(compact_prompt) }
            }
            // Firing never makes another event of one.
            Fired { .. } => CompactWord::Go { prompt: configured.clone() },
        }
    }

    async fn fire(&self, payload: HookEventPayload) -> Fired {
        fire(&self.env.hooks, payload, self.control.kill(), &self.report).await
    }

    /// What entered the log since the turn began.
    pub(super) fn entries_of_turn(&self) -> &[Entry] {
        self.history.entries().get(self.begin..).unwrap_or_default()
    }

    /// The text of what the model said last in this turn.
    fn last_words(&self) -> String {
        let last = self.entries_of_turn().iter().rev().find_map(|entry| match entry {
            Entry::Assistant { parts, .. } => Some(parts.iter()),
            _ => None,
        });
        let texts = last.into_iter().flatten().filter_map(|part| match part {
            AssistantPart::Text { text } => Some(&**text),
            AssistantPart::Reasoning { .. } | AssistantPart::ToolCall(_) => None,
        });
        texts.collect()
    }
}
