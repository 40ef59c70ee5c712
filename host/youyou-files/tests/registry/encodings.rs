//! What a good tool file becomes, however it is encoded.

use std::time::Duration;

use serde_json::json;
use youyou_api::SourceLabel;
use youyou_files::{Backend, ComponentBackend, Permissions, ScriptBackend, load_tool};

use crate::tree::{Tree, fine, is_below, load, load_lines};

const FULL: &str = "---
version: 1
name: t            # = folder name
mutating: true
parameters:
  - { name: text, type: string, description: Text to measure., required: true }
  - name: mode
    type: string
    description: |
      What to count.
      Twice.
    enum: [words, lines]
    default: words
  - { name: limits, type: array, items: { type: integer }, default: [1, 2] }
execution:
  command: ./run.py         # script
  args: [\"--fast\", './data', \"\"]
  timeout_ms: 5000
  working_directory: .
---

Counts words.

Use it *often*.
";

/// Y5.3-1, D-52, §8: every field arrives as it is written; parameters become a schema in the order of the file.
#[test]
fn a_full_script_tool_arrives_whole() {
    let tool = fine(load(FULL));
    assert_eq!(tool.spec.name.as_str(), "t");
    assert_eq!(tool.spec.description, "Counts words.\n\nUse it *often*.");
    assert!(tool.spec.mutating);
    let schema = json!({
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "Text to measure."},
            "mode": {
                "type": "string", "description": "What to count.\nTwice.\n",
                "enum": ["words", "lines"], "default": "words"
            },
            "limits": {"type": "array", "items": {"type": "integer"}, "default": [1, 2]},
        },
        "required": ["text"],
        "additionalProperties": false,
    });
    assert_eq!(tool.spec.parameters.to_string(), schema.to_string());
    assert_eq!(tool.execution.timeout, Some(Duration::from_secs(5)));
    assert_eq!(tool.execution.working_directory.as_deref(), Some("."));
    let args = ["--fast", "./data", ""].map(str::to_owned).to_vec();
    assert_eq!(tool.execution.backend, Backend::Script(ScriptBackend { command: "./run.py".to_owned(), args }));
}

/// §8: a component's path is joined with the folder, its grants stay as written.
#[test]
fn a_full_component_tool_arrives_whole() {
    let tree = Tree::new();
    let lines = "---\nversion: 1\nname: t\nmutating: false\nexecution:\n  component: count.wasm\n  memory_mb: 64\n  \
                 permissions:\n    read: [\"./data\"]\n    write: []\n    env: [LANG]\n    \
                 net: [\"https://api.example.com:443\"]\n---\nCounts.\n";
    tree.write("t/index.md", lines);
    let tool = fine(load_tool(&tree.path("t"), SourceLabel::Project));
    assert_eq!(tool.source, SourceLabel::Project);
    assert!(is_below(&tool.index, &tool.dir) && tool.dir == tree.path("t"));
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let permissions = Permissions {
        read: owned(&["./data"]),
        write: Vec::new(),
        env: owned(&["LANG"]),
        net: owned(&["https://api.example.com:443"]),
    };
    assert_eq!(
        tool.execution.backend,
        Backend::Component(ComponentBackend {
            path: tree.path("t/count.wasm"),
            memory_bytes: Some(64 * 1024 * 1024),
            permissions,
        })
    );
    assert_eq!(tool.execution.backend.as_str(), "component");
}

/// Y5.3-1: what is not given has its default; a key with nothing behind it is not given.
#[test]
fn the_smallest_tool_has_defaults() {
    let tool = fine(load_lines("parameters:\nexecution:\n  command: run\n  args:\n  timeout_ms:\n"));
    assert_eq!(
        tool.spec.parameters,
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false})
    );
    assert_eq!(tool.execution.backend, Backend::Script(ScriptBackend { command: "run".to_owned(), args: Vec::new() }));
    assert_eq!((tool.execution.timeout, tool.execution.working_directory), (None, None));
}

/// K-40: a byte order mark, CRLF, and both.
#[test]
fn a_byte_order_mark_and_crlf_load() {
    let crlf = FULL.replace('\n', "\r\n");
    let expected = fine(load(FULL));
    for text in [format!("\u{feff}{FULL}"), crlf.clone(), format!("\u{feff}{crlf}")] {
        let found = fine(load(text));
        assert_eq!((found.spec, found.execution), (expected.spec.clone(), expected.execution.clone()));
    }
}

/// D-53: read-only by default, with a hint that says so.
#[test]
fn mutating_is_false_by_default_and_its_absence_is_remarked_on() {
    let loaded = load("---\nversion: 1\nname: t\nexecution: { command: x }\n---\nA tool.\n");
    insta::assert_snapshot!(crate::tree::said(&loaded), @"hint: index.md:1:1: `mutating` is not given, so the tool counts as read-only (write `mutating: true` if a call can change anything, else `mutating: false`)");
    assert!(!loaded.value().expect("loads").spec.mutating);
}

/// Y5.6-5: `.` and a trailing slash name the same folder as its full path does.
#[test]
fn a_folder_may_be_named_in_any_way_that_keeps_its_name() {
    let tree = Tree::new();
    tree.good("t");
    let direct = fine(load_tool(&tree.path("home/tools/t"), SourceLabel::Global));
    for other in ["home/tools/t/", "home/./tools/t", "home/tools/t/x/.."] {
        std::fs::create_dir_all(tree.path("home/tools/t/x")).expect("creates");
        let found = fine(load_tool(&tree.path(other), SourceLabel::Global));
        assert_eq!(found.spec, direct.spec, "{other}");
        assert!(found.dir.is_absolute());
    }
}
