//! `youyou prompt show`: what a session would tell the model, and where it comes from.

use serde_json::json;
use youyou_tests::tool::script;

use crate::desk::Desk;

fn desk() -> Desk {
    let tree = "
-- home/AGENT.md
Answer briefly.
-- work/.youyou/AGENT.md
This project is about boats.
-- home/SOUL.md
Be kind.
-- home/skills/commit/index.md
---
version: 1
name: commit
description: Writes a commit.
allow_implicit_invocation: true
---
Commit.
";
    Desk::new(&[script("look", ""), tree.to_owned()].concat())
}

/// Y4.3-1: the sections in their order, each with its source.
#[test]
fn a_prompt_is_shown_with_where_its_parts_come_from() {
    let ran = desk().run(&["prompt", "show"]);
    assert_eq!(ran.code, Some(0));
    let columns =
        |line: &str| line.split_whitespace().filter(|word| word.parse::<u64>().is_err()).collect::<Vec<_>>().join(" ");
    insta::assert_snapshot!(ran.stderr.lines().map(columns).collect::<Vec<_>>().join("\n"), @"
    SECTION TOKENS, ABOUT FROM
    base_instructions configured
    global_instructions [world]/home/AGENT.md
    project_instructions [world]/work/.youyou/AGENT.md
    personality [world]/home/SOUL.md
    tools built in
    skills built in
    environment built in
    ");
    let places = [
        "Answer briefly.",
        "This project is about boats.",
        "Be kind.",
        "Does look.",
        "/commit",
        "Working directory: [world]/work",
    ]
    .map(|text| ran.stdout.find(text).unwrap_or_else(|| panic!("{text} is not in {}", ran.stdout)));
    assert!(places.is_sorted(), "{places:?} in {}", ran.stdout);
}

#[test]
fn a_prompt_is_one_json_document_for_a_program() {
    let ran = desk().run(&["prompt", "show", "--json"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    let document = ran.json();
    let sections = document["sections"].as_array().expect("a list");
    let found: Vec<_> = sections.iter().map(|section| section["name"].as_str().expect("a name")).collect();
    insta::assert_snapshot!(found.join(" "), @"base_instructions global_instructions project_instructions personality tools skills environment");
    let global = sections.iter().find(|section| section["text"].as_str().is_some_and(|text| text.contains("briefly")));
    assert_eq!(global.expect("it is there")["source"], json!("[world]/home/AGENT.md"));
}
