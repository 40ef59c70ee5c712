//! Skills: prompts that the user calls by name (Y3.4).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A prompt template, registered in code or read from a folder (Y3.4-3).
///
/// Only the user triggers it, by writing `/name` at the start of a message (Y3.4-1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Skill {
    /// What the user writes after the slash; letters of any script, digits, `_` and `-`, at most 64 (D-50).
    pub name: String,
    /// For people.
    pub display_name: String,
    /// What it is for, in a line.
    pub description: String,
    /// What is put into the turn's context.
    pub prompt: String,
    /// The tools it needs; without one of them the build fails (Y6.1-1).
    #[serde(default)]
    pub required_tools: Vec<String>,
    /// Whether the system prompt lists it, so that the model can suggest it to the user (Y3.4-2).
    #[serde(default)]
    pub allow_implicit_invocation: bool,
    /// The folder that relative paths in the prompt start from; none for a skill in code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<PathBuf>,
}

impl Skill {
    /// Whether a text may name a skill (D-50).
    pub fn is_legal_name(name: &str) -> bool {
        (1..=64).contains(&name.chars().count()) && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
    }
}

#[cfg(test)]
mod tests {
    use super::Skill;

    /// D-50.
    #[test]
    fn a_skill_may_be_named_in_any_script() {
        for good in ["commit", "提交", "naïve_1-2", &"ж".repeat(64)] {
            assert!(Skill::is_legal_name(good), "{good}");
        }
        for bad in ["", "a b", "usr/bin", "a.b", &"x".repeat(65)] {
            assert!(!Skill::is_legal_name(bad), "{bad}");
        }
    }
}
