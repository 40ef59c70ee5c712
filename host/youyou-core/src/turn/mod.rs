//! One turn: from the user's message until the model has nothing more to ask for (Y4.1).
//!
//! Read in this order: `input` (what the user sent), [`control`] (the states of a turn and how it is cancelled), `run`
//! (the loop), `hooks` (where plugins take part), `step` (one request to the model), `gather` (from a stream of pieces
//! to one message), `retry`, `calls` (the tools of one step), `repeat` (a model that goes round in circles),
//! `compaction`.

mod calls;
mod compaction;
pub mod control;
mod gather;
mod hooks;
mod input;
mod repeat;
mod retry;
mod run;
mod step;

pub use control::TurnControl;
pub(crate) use hooks::{fire, reporter};
pub(crate) use input::{CalledSkill, TurnInput};
pub(crate) use run::{Begin, Compaction, TurnEnv, run};
