//! Model APIs over HTTP, from the agent's side.

mod chaos;
mod conversation;
mod real_model;
