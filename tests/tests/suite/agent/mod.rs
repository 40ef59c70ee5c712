//! Behaviour of an agent through `youyou::agent()`: what a host sees of it, and what the model is sent.

mod any_turns;
mod attachments;
mod building;
mod calls;
mod cancel;
mod compaction;
mod folders;
mod hooks;
mod memories;
mod plugins;
mod prompts;
mod providers;
mod sessions;
mod skills;
mod stored;
mod turns;
