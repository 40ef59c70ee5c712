//! The system prompt (Y4.3): ten kinds of sections in a fixed order, each of which knows where it comes from and what it
//! takes.
//!
//! [`section`] is the vocabulary and the text that is sent, [`build`](mod@build) makes the sections that the core knows
//! of. Whoever has another one, a plugin's or a hook's, adds it with [`SystemPrompt::with`].

pub mod build;
pub mod section;

pub use build::{Environment, PromptParts, SourcedText, build};
pub use section::{Section, SectionName, SystemPrompt};
