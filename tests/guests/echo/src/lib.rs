//! A tool that answers with the document it was called with, as its author's code sees it through the guest SDK.

use youyou_guest::{ToolInput, args, tool};

/// Whatever the arguments are.
#[args]
struct Any {}

/// Answers with its input.
#[tool]
fn echo(_: Any, input: &ToolInput) -> String {
    input.to_json()
}
