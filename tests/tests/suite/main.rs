//! Behaviour through `youyou::Runtime`, one module for each subject. `cargo suite FILTER` runs a part of it.
#![cfg(unix)]

mod agent;
mod batches;
mod components;
mod examples;
mod files;
mod grants;
mod keeping;
mod plugins;
mod precedence;
mod providers;
mod scripts;
mod twins;
