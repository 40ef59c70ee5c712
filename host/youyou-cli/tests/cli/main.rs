//! The `youyou` program as its user sees it: what it prints where, and its exit status.
#![cfg(unix)]

mod bad_input;
mod cache;
mod chat;
mod conversation;
mod desk;
mod doctor;
mod ending;
mod full;
mod inspect;
mod killed;
mod listing;
mod memories;
mod models;
mod new;
mod pages;
mod plugins;
mod prompt;
mod run_hook;
mod run_tool;
mod sessions;
mod strangers;
mod terminal;
mod trust;
