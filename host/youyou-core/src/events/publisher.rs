//! The envelope of events: who, when, and in which order.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::{SystemTime, UNIX_EPOCH},
};

use futures_util::Stream;
use tokio::sync::mpsc;
use youyou_api::{AgentEvent, AgentEventKind, SessionId, TurnId};

/// Numbers the events of one session's run, from 1 and without gaps (Y7-1, D-30).
#[derive(Debug, Clone, Default)]
pub(crate) struct EventClock(Arc<AtomicU64>);

/// Sends the events of one turn, or those outside of any. Nobody listening is fine: the turn goes on (D-32).
#[derive(Debug)]
pub(crate) struct Publisher {
    session_id: SessionId,
    turn_id: Option<TurnId>,
    clock: EventClock,
    sender: mpsc::UnboundedSender<AgentEvent>,
}

impl Publisher {
    /// The publisher of a turn, and the stream that its events come out of.
    pub(crate) fn of_turn(session_id: SessionId, turn_id: TurnId, clock: EventClock) -> (Self, TurnEvents) {
        let (publisher, receiver) = Self::new(session_id, Some(turn_id), clock);
        (publisher, TurnEvents { receiver })
    }

    /// The publisher of what happens outside of turns (D-30), and the stream that its events come out of.
    pub(crate) fn of_session(session_id: SessionId, clock: EventClock) -> (Self, SessionEvents) {
        let (publisher, receiver) = Self::new(session_id, None, clock);
        (publisher, SessionEvents { receiver })
    }

    fn new(
        session_id: SessionId,
        turn_id: Option<TurnId>,
        clock: EventClock,
    ) -> (Self, mpsc::UnboundedReceiver<AgentEvent>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self { session_id, turn_id, clock, sender }, receiver)
    }

    pub(crate) fn publish(&self, kind: AgentEventKind) {
        // A number is taken and sent by one turn at a time: the order of numbers is the order of sending.
        let sequence = self.clock.0.fetch_add(1, Ordering::Relaxed) + 1;
        let event = AgentEvent {
            session_id: self.session_id.clone(),
            turn_id: self.turn_id.clone(),
            timestamp: now_ms(),
            sequence,
            kind,
        };
        // Nobody listens any more: the turn goes on all the same.
        let _unheard = self.sender.send(event);
    }
}

/// Milliseconds since 1970-01-01 UTC.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// What happens in one turn, as it happens. The last event is [`TurnComplete`](AgentEventKind::TurnComplete) or
/// [`TurnCancelled`](AgentEventKind::TurnCancelled), after which the stream ends (Y7-3).
///
/// Events wait here until they are taken. Dropping the stream does not stop the turn (D-32).
#[derive(Debug)]
pub struct TurnEvents {
    receiver: mpsc::UnboundedReceiver<AgentEvent>,
}

impl TurnEvents {
    /// The next event; none after the last. Cancel-safe.
    pub async fn next(&mut self) -> Option<AgentEvent> {
        self.receiver.recv().await
    }
}

impl Stream for TurnEvents {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        self.receiver.poll_recv(cx)
    }
}

/// What happens in a session outside of its turns: plugins that are asked as it begins and ends. It ends with the
/// session.
///
/// Events wait here until they are taken; their sequence numbers are of one count with those of the turns (D-30).
#[derive(Debug)]
pub struct SessionEvents {
    receiver: mpsc::UnboundedReceiver<AgentEvent>,
}

impl SessionEvents {
    /// The next event; none once the session is gone. Cancel-safe.
    pub async fn next(&mut self) -> Option<AgentEvent> {
        self.receiver.recv().await
    }
}

impl Stream for SessionEvents {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        self.receiver.poll_recv(cx)
    }
}
