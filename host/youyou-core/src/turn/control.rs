//! The states of a turn, and the user's way to cancel it (Y4.1-1, D-22, D-23, D-27).

use std::sync::atomic::{AtomicU8, Ordering};

use youyou_api::CancellationToken;

const RUNNING: u8 = 0;
const CANCELLING: u8 = 1;
const ENDED: u8 = 2;

/// Shared between the turn and whoever may cancel it.
///
/// The states are Running → Ended, or Running → Cancelling → Ended; the first transition out of Running wins, so a
/// turn either ends by itself or was cancelled, never both (D-22).
#[derive(Debug, Default)]
pub struct TurnControl {
    state: AtomicU8,
    /// Stops the model, and every tool that has not started.
    stop: CancellationToken,
    /// Stops the tools that run.
    kill: CancellationToken,
}

/// How a turn ended, when it came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    ByItself,
    /// It had been cancelled.
    Cancelled,
}

impl TurnControl {
    /// Cancels the turn: the model stops at once, running tools are waited for (Y6.2-4). The second time, running tools
    /// are stopped too (D-27). After the turn's end it does nothing.
    pub fn cancel(&self) {
        if self.cancel_once() == CANCELLING {
            self.kill.cancel();
        }
    }

    /// The same, but however often it is called, running tools are only waited for.
    pub(crate) fn close(&self) {
        self.cancel_once();
    }

    /// The state that it was in.
    fn cancel_once(&self) -> u8 {
        match self.state.compare_exchange(RUNNING, CANCELLING, Ordering::AcqRel, Ordering::Acquire) {
            Ok(before) => {
                self.stop.cancel();
                before
            }
            Err(before) => before,
        }
    }

    /// Whether the user has cancelled the turn and it is not over yet.
    pub(super) fn is_cancelling(&self) -> bool {
        self.state.load(Ordering::Acquire) == CANCELLING
    }

    /// Fires at the first cancel.
    pub(super) fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// Fires at the second cancel.
    pub(super) fn kill(&self) -> &CancellationToken {
        &self.kill
    }

    /// Ends the turn, once; says which way it went.
    pub(super) fn end(&self) -> Ended {
        match self.state.swap(ENDED, Ordering::AcqRel) {
            CANCELLING => Ended::Cancelled,
            _ => Ended::ByItself,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D-22: cancel after the end is a no-op; D-27: the second one stops running tools.
    #[test]
    fn the_first_transition_wins() {
        let control = TurnControl::default();
        assert_eq!(control.end(), Ended::ByItself);
        control.cancel();
        assert!(!control.stop().is_cancelled() && !control.is_cancelling());

        let control = TurnControl::default();
        control.cancel();
        assert!(control.stop().is_cancelled() && !control.kill().is_cancelled() && control.is_cancelling());
        control.close();
        assert!(!control.kill().is_cancelled());
        control.cancel();
        assert!(control.kill().is_cancelled());
        assert_eq!(control.end(), Ended::Cancelled);
    }
}
