//! The seam at which others take part in a tool call: before it runs, and after.
//!
//! The dispatcher keeps the order in which chains run (Y4.1-3, Y4.1-4); what a chain does is its maker's matter. It is
//! not told of calls that do not run: unknown tools, arguments that do not fit, calls skipped (D-17).

use std::time::Duration;

use serde_json::{Map, Value};
use youyou_api::{BoxFuture, Error, ToolInput, ToolOutput};

use super::scope::CallScope;

/// What is to happen to a call that is about to run.
#[derive(Debug, Clone, PartialEq)]
pub enum Before {
    /// It runs, with these arguments. If they no longer fit the tool's parameters, the call is refused.
    Run(Map<String, Value>),
    /// It does not run; the model reads the error (Y4.4-3).
    Refuse(Error),
}

/// Takes part in every call that runs.
pub trait CallChain: Send + Sync {
    /// Asked before a tool runs.
    fn before<'a>(&'a self, input: &'a ToolInput, scope: &'a CallScope) -> BoxFuture<'a, Before>;

    /// Asked after a tool ran, also when it failed or timed out (D-17), with the text that the model would read.
    /// `duration` is the tool's alone (D-18).
    fn after<'a>(
        &'a self,
        input: &'a ToolInput,
        output: ToolOutput,
        duration: Duration,
        scope: &'a CallScope,
    ) -> BoxFuture<'a, ToolOutput>;
}
