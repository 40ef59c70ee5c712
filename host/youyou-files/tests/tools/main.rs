//! Tools read from real folders: one binary for all of this crate's integration tests.

mod encodings;
mod links;
mod precedence;
mod properties;
mod refusals;
mod tree;
mod words;
