//! Real folders and files, read: one binary for all of this crate's integration tests.

mod attachments;
mod config;
mod encodings;
mod fingerprint;
mod instructions;
mod kinds;
mod links;
mod plugins;
mod precedence;
mod properties;
mod providers;
mod refusals;
mod skills;
mod strays;
mod tree;
mod trust;
mod words;
