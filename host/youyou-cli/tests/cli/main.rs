//! The `youyou` program as its user sees it: what it prints where, and its exit status.
#![cfg(unix)]

mod bad_input;
mod cache;
mod desk;
mod ending;
mod inspect;
mod listing;
mod new;
mod pages;
mod run_tool;
