//! The tool calls of one step: which of them run, and how their results reach the log and the host.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use youyou_api::{AgentEventKind, CallId, Error, ErrorCode, ToolCall};

use super::run::Turn;
use crate::{
    context::Entry,
    events::Publisher,
    tools::{CallJournal, CallObserver, CallScope, ToolResult},
};

impl Turn<'_> {
    /// Runs the calls of a step, as far as the turn's limit allows, and records one result for each (Y4.1-6).
    ///
    /// # Errors
    /// `MAX_TOOL_CALLS_EXCEEDED` when some were over the limit (D-28); a fatal failure of a tool.
    pub(super) async fn run_calls(&mut self, mut calls: Vec<ToolCall>) -> Result<(), Error> {
        let notice = self.repeats.take(&calls);
        let limit = self.env.max_tool_calls;
        let left = limit.saturating_sub(self.calls_asked);
        self.calls_asked = self.calls_asked.saturating_add(u32::try_from(calls.len()).unwrap_or(u32::MAX));
        let over = calls.split_off(calls.len().min(left as usize));
        let batch = self.dispatcher.dispatch_batch(calls, &self.scope()).await;
        for result in batch.results {
            self.record_result(result);
        }
        if let Some(fatal) = batch.fatal {
            return Err(fatal);
        }
        if let Some(refused) = self.ahead.as_ref().and_then(|ahead| ahead.refused()) {
            return Err(refused.clone());
        }
        let exceeded = || {
            let message = format!("the limit of {limit} tool calls in one turn is reached; this call was not started");
            Error::new(ErrorCode::MaxToolCallsExceeded, message)
        };
        for call in &over {
            self.skip(call, exceeded());
        }
        if !over.is_empty() {
            let message = format!("the model asked for more than {limit} tool calls in one turn");
            return Err(Error::new(ErrorCode::MaxToolCallsExceeded, message).with_detail("limit", limit));
        }
        if let Some(text) = notice {
            self.history.push(Entry::System { text: text.into() });
        }
        Ok(())
    }

    /// Answers a call that will not be started.
    pub(super) fn skip(&mut self, call: &ToolCall, error: Error) {
        self.observer.started(call);
        self.end(ToolResult::not_started(call, error));
    }

    /// Answers whatever a failure left open, so that the log is sound again (Y4.1-6) and every call that has begun has
    /// ended (Y7-3).
    pub(super) fn answer_open_calls(&mut self, error: &Error) {
        for call in self.history.unanswered() {
            if self.observer.is_running(&call.call_id) {
                self.end(ToolResult::broken_off(call.call_id, call.tool_name, Duration::ZERO, error));
            } else {
                self.skip(&call, Error::new(error.code, "[not started: the turn had ended by a failure before]"));
            }
        }
    }

    fn end(&mut self, result: ToolResult) {
        self.observer.ended(&result);
        self.record_result(result);
    }

    fn record_result(&mut self, result: ToolResult) {
        self.history.push(Entry::ToolResult {
            call_id: result.call_id,
            tool_name: result.tool_name,
            content: result.output.content.into(),
            is_error: result.output.is_error,
            metadata: result.output.metadata.map(Box::new),
        });
    }

    fn scope(&self) -> CallScope {
        CallScope {
            session: Some(self.env.session_id.clone()),
            stop: self.control.stop().clone(),
            cancel: self.control.kill().clone(),
            observer: Some(self.observer.clone()),
            journal: self.ahead.clone().map(|ahead| ahead as Arc<dyn CallJournal>),
            ..CallScope::new(&*self.env.cwd)
        }
    }
}

/// Turns the begin and end of calls into events.
#[derive(Debug)]
pub(super) struct EventObserver {
    events: Arc<Publisher>,
    /// What has begun and not ended.
    running: Mutex<HashSet<CallId>>,
}

impl EventObserver {
    pub(super) fn new(events: Arc<Publisher>) -> Self {
        Self { events, running: Mutex::default() }
    }

    fn running(&self) -> MutexGuard<'_, HashSet<CallId>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_running(&self, call_id: &CallId) -> bool {
        self.running().contains(call_id)
    }
}

impl CallObserver for EventObserver {
    fn started(&self, call: &ToolCall) {
        let ToolCall { call_id, tool_name, arguments } = call.clone();
        self.running().insert(call_id.clone());
        self.events.publish(AgentEventKind::ToolCallStart { call_id, tool_name, arguments });
    }

    fn ended(&self, result: &ToolResult) {
        self.running().remove(&result.call_id);
        self.events.publish(AgentEventKind::ToolCallEnd {
            call_id: result.call_id.clone(),
            tool_name: result.tool_name.clone(),
            output: result.output.content.clone(),
            duration_ms: u64::try_from(result.duration.as_millis()).unwrap_or(u64::MAX),
            success: result.success(),
            skipped: result.skipped(),
        });
    }
}
