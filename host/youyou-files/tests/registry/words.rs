//! How problems leave this crate: as JSON, and as one error.

use youyou_files::definition_invalid;

use crate::tree::load_lines;

/// Y5.2-1: the error of a single load lists everything.
#[test]
fn a_refused_tool_becomes_one_error_that_lists_every_problem() {
    let loaded = load_lines("execution: { command: x, timeout_ms: 0, tmeout_ms: 1 }\n");
    let error = definition_invalid(&loaded.into_result().expect_err("refused"));
    assert_eq!(error.code.as_str(), "DEFINITION_INVALID");
    assert!(error.message.contains("index.md:5:38") && error.message.ends_with("; and 1 more"), "{}", error.message);
    let mut problems = error.details["problems"].clone();
    for problem in problems.as_array_mut().expect("a list") {
        problem["path"] = "index.md".into();
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&problems).expect("json"), @r#"
    [
      {
        "severity": "error",
        "path": "index.md",
        "line": 5,
        "column": 38,
        "folder": "t",
        "key": "execution.timeout_ms",
        "message": "`execution.timeout_ms` must be a whole number of milliseconds from 1 to 86400000, found the number 0"
      },
      {
        "severity": "error",
        "path": "index.md",
        "line": 5,
        "column": 41,
        "folder": "t",
        "key": "execution.tmeout_ms",
        "message": "\"tmeout_ms\" is not a key of `execution`",
        "hint": "did you mean `timeout_ms`?"
      }
    ]
    "#);
}
