//! Results as text, for snapshots.

use std::fmt::Write;

use youyou::ToolResult;

/// Each result as a head line, `call-1 word-count: ok`, and its content indented below it; how long it took is left out.
pub fn transcript(results: &[ToolResult]) -> String {
    let mut text = String::new();
    for result in results {
        let verdict = match &result.error {
            Some(error) => match error.kind() {
                Some(kind) => format!("{} {kind}", error.code),
                None => error.code.to_string(),
            },
            None if result.success() => "ok".to_owned(),
            None => "failed".to_owned(),
        };
        writeln!(text, "{} {}: {verdict}", result.call_id, result.tool_name).expect("a string takes everything");
        for line in excerpt(&result.output.content).lines() {
            writeln!(text, "  {line}").expect("a string takes everything");
        }
        if let Some(metadata) = &result.output.metadata {
            writeln!(text, "  metadata {metadata}").expect("a string takes everything");
        }
    }
    text
}

fn excerpt(content: &str) -> String {
    const SHOWN: usize = 2_000;
    if content.len() <= SHOWN {
        return content.to_owned();
    }
    format!("{}… ({} bytes)", &content[..content.floor_char_boundary(SHOWN)], content.len())
}
