//! What holds for the events of every turn of every test (Y7-1, Y7-3, D-21, D-22, D-30).

use std::collections::HashSet;

use youyou::{AgentEvent, AgentEventKind, CallId, ErrorCode, SessionId, TurnId, TurnStatus};

/// The events of one session.
pub(super) struct SessionCheck {
    session: SessionId,
    last: u64,
    /// Whether events went unseen since the last one.
    unseen: bool,
    calls: HashSet<CallId>,
}

/// The events of one turn.
#[derive(Default)]
pub(super) struct TurnCheck {
    turn: Option<TurnId>,
    step: u32,
    in_step: bool,
    running: Vec<(CallId, String)>,
    fatal: Option<ErrorCode>,
    over: bool,
}

impl SessionCheck {
    pub(super) fn new(session: SessionId) -> Self {
        Self { session, last: 0, unseen: false, calls: HashSet::new() }
    }

    /// Events from here to the next one are not seen.
    pub(super) fn look_away(&mut self) {
        self.unseen = true;
    }

    /// Checks the next event.
    pub(super) fn take(&mut self, turn: &mut TurnCheck, event: &AgentEvent) -> Result<(), String> {
        self.take_envelope(event)?;
        let AgentEvent { turn_id, kind, .. } = event;
        let turn_id = turn_id.as_ref().ok_or("it is of no turn")?;
        ensure(turn.turn.get_or_insert_with(|| turn_id.clone()) == turn_id, || format!("it is of turn {turn_id}"))?;
        ensure(!turn.over, || "it comes after the last event".to_owned())?;
        ensure(turn.fatal.is_none() || kind.is_terminal(), || "it comes after a fatal error".to_owned())?;
        self.take_kind(turn, kind)
    }

    /// Checks the next event outside of turns.
    pub(super) fn take_outside(&mut self, event: &AgentEvent) -> Result<(), String> {
        self.take_envelope(event)?;
        ensure(event.turn_id.is_none(), || "it is of a turn".to_owned())?;
        ensure(!event.kind.is_terminal(), || "it ends a turn".to_owned())
    }

    fn take_envelope(&mut self, event: &AgentEvent) -> Result<(), String> {
        let AgentEvent { session_id, timestamp, sequence, .. } = event;
        let in_order = if self.unseen { *sequence > self.last } else { *sequence == self.last + 1 };
        ensure(in_order, || format!("number {sequence} follows number {}", self.last))?;
        (self.last, self.unseen) = (*sequence, false);
        ensure(*session_id == self.session, || format!("it is of session {session_id}"))?;
        ensure(*timestamp > 0, || "it has no time".to_owned())
    }

    fn take_kind(&mut self, turn: &mut TurnCheck, kind: &AgentEventKind) -> Result<(), String> {
        match kind {
            AgentEventKind::StepStart { step } => {
                ensure(!turn.in_step && *step == turn.step + 1, || format!("it follows step {}", turn.step))?;
                turn.nothing_runs()?;
                (turn.step, turn.in_step) = (*step, true);
            }
            AgentEventKind::StepEnd { step, .. } => {
                ensure(turn.in_step && *step == turn.step, || format!("step {} has begun", turn.step))?;
                turn.in_step = false;
            }
            AgentEventKind::ToolCallStart { call_id, tool_name, .. } => {
                ensure(self.calls.insert(call_id.clone()), || "a call before had its id".to_owned())?;
                turn.running.push((call_id.clone(), tool_name.clone()));
            }
            AgentEventKind::ToolCallEnd { call_id, tool_name, success, skipped, .. } => {
                ensure(!(*success && *skipped), || "it was skipped and succeeded".to_owned())?;
                let begun = turn.running.iter().position(|(id, name)| (id, name) == (call_id, tool_name));
                turn.running.remove(begun.ok_or("no such call runs")?);
            }
            AgentEventKind::Error { error, fatal: true } => turn.fatal = Some(error.code),
            AgentEventKind::TurnComplete { status, error_code } => {
                ensure(*error_code == turn.fatal, || format!("the fatal error is {:?}", turn.fatal))?;
                ensure((*status == TurnStatus::Failed) == error_code.is_some(), || {
                    "code and status differ".to_owned()
                })?;
                turn.finish()?;
            }
            AgentEventKind::TurnCancelled => {
                ensure(turn.fatal.is_none(), || "a fatal error ended the turn already".to_owned())?;
                turn.finish()?;
            }
            _ => {}
        }
        Ok(())
    }
}

impl TurnCheck {
    fn nothing_runs(&self) -> Result<(), String> {
        ensure(self.running.is_empty(), || format!("these calls have not ended: {:?}", self.running))
    }

    fn finish(&mut self) -> Result<(), String> {
        self.nothing_runs()?;
        ensure(!self.in_step, || format!("step {} has not ended", self.step))?;
        self.over = true;
        Ok(())
    }

    /// Checks the end of the stream.
    pub(super) fn end(&self) -> Result<(), String> {
        ensure(self.over, || "the events end without a last one".to_owned())
    }
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(kinds: &[AgentEventKind]) -> Result<(), String> {
        let (mut session, mut turn) = (SessionCheck::new(SessionId::new("s")), TurnCheck::default());
        for (number, kind) in (1..).zip(kinds) {
            let turn_id = Some(TurnId::new("t"));
            let kind = kind.clone();
            let event = AgentEvent { session_id: SessionId::new("s"), turn_id, timestamp: 1, sequence: number, kind };
            session.take(&mut turn, &event)?;
        }
        turn.end()
    }

    fn start(id: &str) -> AgentEventKind {
        AgentEventKind::ToolCallStart { call_id: CallId::new(id), tool_name: "t".into(), arguments: String::new() }
    }

    fn end(id: &str) -> AgentEventKind {
        let (call_id, tool_name, output) = (CallId::new(id), "t".into(), String::new());
        AgentEventKind::ToolCallEnd { call_id, tool_name, output, duration_ms: 0, success: true, skipped: false }
    }

    fn complete(error_code: Option<ErrorCode>) -> AgentEventKind {
        let status = if error_code.is_some() { TurnStatus::Failed } else { TurnStatus::Completed };
        AgentEventKind::TurnComplete { status, error_code }
    }

    /// The check itself can fail.
    #[test]
    fn turns_that_break_a_rule_are_noticed() {
        let fatal = AgentEventKind::Error { error: youyou::Error::new(ErrorCode::CompactError, "no"), fatal: true };
        let step = AgentEventKind::StepStart { step: 1 };
        assert_eq!(checked(&[start("a"), start("b"), end("b"), end("a"), complete(None)]), Ok(()));
        assert_eq!(checked(&[fatal.clone(), complete(Some(ErrorCode::CompactError))]), Ok(()));
        let broken: [&[AgentEventKind]; 10] = [
            &[],
            &[start("a"), complete(None)],
            &[end("a"), complete(None)],
            &[start("a"), end("a"), start("a"), end("a"), complete(None)],
            &[complete(None), AgentEventKind::TurnCancelled],
            &[complete(None), start("a")],
            &[fatal.clone(), AgentEventKind::TurnCancelled],
            &[fatal, complete(None)],
            &[complete(Some(ErrorCode::CompactError))],
            &[step, complete(None)],
        ];
        for kinds in broken {
            checked(kinds).expect_err(&format!("{kinds:?}"));
        }
    }
}
