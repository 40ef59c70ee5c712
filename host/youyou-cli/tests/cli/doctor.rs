//! `youyou doctor`: what is found around the program, and what is wrong there.

use serde_json::json;
use youyou_tests::tool::script;

use crate::desk::Desk;

/// A desk at which everything is in order.
fn tidy() -> Desk {
    Desk::with_own_cache(&script("look", "echo hi"))
}

#[test]
fn what_is_in_order_is_told_and_nothing_else() {
    insta::assert_snapshot!(tidy().run(&["doctor"]).shown().replace(env!("CARGO_PKG_VERSION"), "[version]"), @"
    out| version              [version]
    out| system               linux
    out| home                 [world]/home
    out| workspace            [world]/work
    out| tools and skills     1
    out| compiled components  [world]/cache/youyou/components, 0.0 MiB
    exit 0
    ");
}

#[test]
fn a_program_is_told_in_one_document() {
    let ran = tidy().run(&["doctor", "--json"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    let document = ran.json();
    assert_eq!(document["problems"], json!([]));
    assert_eq!((&document["folders"], &document["home_exists"]), (&json!(1), &json!(true)));
    assert_eq!((&document["home"], &document["workspace"]), (&json!("[world]/home"), &json!("[world]/work")));
}

/// D-41, D-43, D-63, K-43: definitions, configuration and files in the wrong place, all at once.
#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let desk = tidy();
    desk.world.add(
        "
-- home/tools/broken/index.md
---
version: 2
---
-- home/config.yaml
tool_timeout_ms: soon
-- work/.youyou/config.yaml
default_model: x
-- work/.youyou/SOUL.md
Be rude.
-- work/AGENTS.md
Hello.
",
    );
    let ran = desk.run(&["doctor"]);
    assert_eq!(ran.code, Some(1));
    insta::assert_snapshot!(ran.stderr, @r#"
    error: [world]/home/tools/broken/index.md:2:10: version 2 of the format is not supported, only version 1 is (write `version: 1`, or use a newer YouYou)
    error: [world]/home/config.yaml:1:18: `tool_timeout_ms` must be a whole number of milliseconds from 1 to 86400000, found the text "soon" (write a plain number, without quotes or a unit)
    warning: [world]/work/.youyou/config.yaml: a project's config.yaml is not read: it could redirect the agent (put it into [world]/home/config.yaml)
    warning: [world]/work/.youyou/SOUL.md: a project's SOUL.md is not read: who the agent is, is up to its user (put it into [world]/home/SOUL.md)
    hint: [world]/work/AGENTS.md: AGENTS.md is not read here (copy or link it to [world]/work/.youyou/AGENT.md)
    "#);
    let problems = desk.run(&["doctor", "--json"]).json();
    assert_eq!(problems["problems"].as_array().map(Vec::len), Some(ran.stderr.lines().count()));
}

/// A newcomer has no home yet, which is no fault.
#[test]
fn a_missing_home_is_said_and_is_no_error() {
    let desk = tidy();
    let ran = desk.run(&["doctor", "--home", "nowhere"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    assert!(ran.stdout.contains("[world]/work/nowhere (not there)"), "{}", ran.stdout);
}
