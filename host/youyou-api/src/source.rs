//! Where a tool, skill or plugin comes from, and which of two of one name wins (Y3.1-1).

use std::fmt;

use serde::{Deserialize, Serialize};

/// The level that a definition comes from. Ordered by priority: the greater one replaces the smaller one of the same
/// name (Y3.1-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SourceLabel {
    /// Registered in code.
    Programmatic,
    /// A folder below `~/.youyou/`.
    Global,
    /// A folder below `{project}/.youyou/`.
    Project,
}

impl fmt::Display for SourceLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Programmatic => "programmatic",
            Self::Global => "global",
            Self::Project => "project",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Y3.1-1.
    #[test]
    fn project_outranks_global_outranks_code() {
        assert!(SourceLabel::Project > SourceLabel::Global && SourceLabel::Global > SourceLabel::Programmatic);
    }
}
