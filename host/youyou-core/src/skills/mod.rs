//! Skills: prompts that the user calls by name (Y3.4, Y4.5).
//!
//! [`catalog`] holds which there are, [`invocation`] finds out whether a message calls one, [`inject`](mod@inject) makes
//! what the model is sent then, [`dependencies`] finds those whose tools are missing.
//!
//! Only what the user has typed triggers a skill. Hand [`parse`] that text and nothing that a hook or the model has
//! written (D-10).

pub mod catalog;
pub mod dependencies;
pub mod inject;
pub mod invocation;

pub use catalog::SkillCatalog;
pub use dependencies::{MissingTool, dependency_error};
pub use inject::inject;
pub use invocation::{Invocation, parse};
