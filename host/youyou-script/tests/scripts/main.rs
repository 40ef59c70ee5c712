//! The script protocol against real processes: one binary, one module per subject.
#![cfg(unix)]

mod ending;
mod environment;
mod hooks;
mod kit;
mod pipes;
mod starting;
