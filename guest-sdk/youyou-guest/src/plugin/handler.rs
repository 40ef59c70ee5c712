//! From a payload to the author's function and back: the one path that the component and the tests share.

use super::{
    outcome::{Answer, HookError, HookOutcome},
    payload::Event,
};
use crate::error::GuestError;

/// What a handler of event `E` may return: a [`HookOutcome`], nothing, or a `Result` of one of these.
#[diagnostic::on_unimplemented(
    message = "a handler of {E} cannot answer with `{Self}`",
    label = "not an outcome",
    note = "a handler answers with `HookOutcome<{E}>` or with nothing, or with a `Result` of one of these whose error \
            is `HookError`, `String`, `std::io::Error` or `Box<dyn Error>`"
)]
pub trait HookAnswer<E> {
    /// The outcome, or why there is none.
    ///
    /// # Errors
    /// The author's own.
    fn into_outcome(self) -> Result<HookOutcome<E>, HookError>;
}

impl<E> HookAnswer<E> for HookOutcome<E> {
    fn into_outcome(self) -> Result<HookOutcome<E>, HookError> {
        Ok(self)
    }
}

impl<E> HookAnswer<E> for () {
    fn into_outcome(self) -> Result<HookOutcome<E>, HookError> {
        Ok(HookOutcome::proceed())
    }
}

impl<E, T: HookAnswer<E>, F: Into<HookError>> HookAnswer<E> for Result<T, F> {
    fn into_outcome(self) -> Result<HookOutcome<E>, HookError> {
        self.map_err(Into::into).and_then(T::into_outcome)
    }
}

/// A function that can handle the event `E`.
pub trait HookHandler<E> {
    /// Answers one event.
    ///
    /// # Errors
    /// When it has no answer.
    fn handle(&self, payload: E) -> Result<HookOutcome<E>, HookError>;
}

impl<E: Event, R: HookAnswer<E>, H: Fn(E) -> R> HookHandler<E> for H {
    fn handle(&self, payload: E) -> Result<HookOutcome<E>, HookError> {
        self(payload).into_outcome()
    }
}

/// Calls the function. An error without a name is called `HOOK_ERROR`.
pub(crate) fn run<E: Event>(handler: &impl HookHandler<E>, payload: E) -> Result<Answer, GuestError> {
    match handler.handle(payload) {
        Ok(outcome) => Ok(outcome.answer),
        Err(error) => Err(GuestError {
            code: error.code().unwrap_or("HOOK_ERROR").to_owned(),
            message: error.message().to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin::{SessionEnd, TurnStart};

    fn silent(_: SessionEnd) {}

    fn failing(_: SessionEnd) -> Result<(), std::io::Error> {
        Err(std::io::Error::other("disk full"))
    }

    fn named(_: TurnStart) -> Result<HookOutcome<TurnStart>, HookError> {
        Err(HookError::new("LATE", "too late"))
    }

    #[test]
    fn a_handler_may_return_nothing() {
        assert_eq!(run(&silent, SessionEnd::default()), Ok(Answer::Proceed));
    }

    #[test]
    fn a_failure_has_a_name_and_a_message() {
        let error = run(&failing, SessionEnd::default()).expect_err("fails");
        assert_eq!((error.code.as_str(), error.message.as_str()), ("HOOK_ERROR", "disk full"));
        assert_eq!(run(&named, TurnStart::default()).expect_err("fails").code, "LATE");
    }
}
