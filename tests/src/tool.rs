//! Folders of tools that many tests need, as sections for [`World`](crate::World).

/// A script tool of the home whose `run` is a shell script with this body; it takes an optional `text`.
pub fn script(name: &str, body: &str) -> String {
    script_with(name, "command: ./run", body)
}

/// The same with lines of its own below `execution:`.
pub fn script_with(name: &str, execution: &str, body: &str) -> String {
    let index = index(name, execution);
    format!("-- home/tools/{name}/index.md\n{index}-- home/tools/{name}/run (executable)\n#!/bin/sh\n{body}\n")
}

/// A component tool of the home that misbehaves on request (`tests/guests/hostile`); `limits` are lines below
/// `execution:`.
pub fn hostile(name: &str, limits: &str) -> String {
    component(name, "hostile", limits)
}

/// A component tool of the home that runs a built guest.
pub fn component(name: &str, guest: &str, limits: &str) -> String {
    let index = index(name, &format!("component: tool.wasm\n{limits}"));
    format!("-- home/tools/{name}/index.md\n{index}-- home/tools/{name}/tool.wasm (guest {guest})\n")
}

/// An index.md of a read-only tool that takes whatever any of the kit's guests and scripts understands.
pub fn index(name: &str, execution: &str) -> String {
    let execution: String = execution.trim().lines().map(|line| format!("  {line}\n")).collect();
    let parameters: String =
        PARAMETERS.iter().map(|(name, kind)| format!("  - {{ name: {name}, type: {kind} }}\n")).collect();
    format!(
        "---\nversion: 1\nname: {name}\nmutating: false\nparameters:\n{parameters}execution:\n{execution}---\nDoes {name}.\n"
    )
}

/// The same for a tool that can change something.
pub fn mutating(tool: &str) -> String {
    let changed = tool.replacen("mutating: false", "mutating: true", 1);
    assert_ne!(changed, tool, "it was read-only");
    changed
}

const PARAMETERS: [(&str, &str); 15] = [
    ("mode", "string"),
    ("text", "string"),
    ("message", "string"),
    ("metadata", "string"),
    ("path", "string"),
    ("to", "string"),
    ("name", "string"),
    ("url", "string"),
    ("ms", "integer"),
    ("count", "integer"),
    ("bytes", "integer"),
    ("flag", "boolean"),
    ("number", "number"),
    ("list", "array"),
    ("map", "object"),
];
