//! `youyou list` and `youyou check`: what is there, and what is wrong with it.

use youyou_tests::tool::{component, hostile, mutating, script};

use crate::desk::Desk;

/// Tools of both levels; nothing is wrong with them.
fn tidy() -> Desk {
    let project = |tool: &str| tool.replace("home/tools/", "work/.youyou/tools/");
    let tree = [
        script("both", "echo global"),
        project(&mutating(&script("both", "echo project"))),
        component("component", "echo", ""),
        project(&script("script", "echo hi")),
    ];
    Desk::new(&tree.concat())
}

/// Y3.1-1, Y3.3-1: name, level, backend, and what shadows what.
#[test]
fn a_list_shows_every_level() {
    insta::assert_snapshot!(tidy().run(&["list"]).shown(), @"
    out| NAME       SOURCE                        RUN AS     MAY CHANGE THINGS  DESCRIPTION
    out| both       project                       script     yes                Does both.
    out| both       global (shadowed by project)  script     no                 Does both.
    out| component  global                        component  no                 Does component.
    out| script     project                       script     no                 Does script.
    exit 0
    ");
    assert_eq!(tidy().run(&["list", "tools"]).shown(), tidy().run(&["list"]).shown());
}

#[test]
fn a_list_is_one_json_document_for_a_program() {
    let ran = tidy().run(&["list", "--json"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    let document = ran.json();
    assert_eq!(document["problems"], serde_json::json!([]));
    let tools = document["tools"].as_array().expect("a list");
    let rows: Vec<_> = tools
        .iter()
        .map(|tool| ["name", "source", "backend", "mutating", "shadowed_by"].map(|key| tool[key].to_string()).join(" "))
        .collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    "both" "project" "script" true null
    "both" "global" "script" false "project"
    "component" "global" "component" false null
    "script" "project" "script" false null
    "#);
    assert_eq!(tools[0]["dir"], "[world]/work/.youyou/tools/both");
    assert_eq!(tools[0]["parameters"]["properties"]["text"]["type"], "string");
}

#[test]
fn an_empty_list_says_where_it_looked() {
    insta::assert_snapshot!(Desk::new("").run(&["list"]).shown(), @"
    err| no tools in [world]/home/tools or [world]/work/.youyou/tools; `youyou new tool NAME` makes one
    exit 0
    ");
}

/// K-43: what was skipped is said beside the list.
#[test]
fn a_list_tells_of_what_was_skipped() {
    let desk = Desk::new(&script("good", "echo hi"));
    desk.world.write("home/tools/broken/index.md", "---\nversion: 2\n---\n");
    insta::assert_snapshot!(desk.run(&["list"]).shown(), @"
    out| NAME  SOURCE  RUN AS  MAY CHANGE THINGS  DESCRIPTION
    out| good  global  script  no                 Does good.
    err| error: [world]/home/tools/broken/index.md:2:10: version 2 of the format is not supported, only version 1 is (write `version: 1`, or use a newer YouYou)
    exit 0
    ");
}

#[test]
fn a_check_of_what_is_in_order_says_so() {
    assert_eq!(tidy().run(&["check"]).shown(), "out| 4 folders checked: no errors\nexit 0");
    assert_eq!(tidy().run(&["check", "../home/tools/both"]).shown(), "out| 1 folder checked: no errors\nexit 0");
    assert_eq!(Desk::new("").run(&["check"]).shown(), "out| 0 folders checked: no errors\nexit 0");
}

/// K-30, K-41, K-43, K-60, Y5.2-1: everything at once, each with its place and its fix, and nothing is run or compiled.
#[test]
fn a_check_finds_everything_at_once_and_runs_nothing() {
    let desk = Desk::with_own_cache(&[hostile("text", ""), script("good", "touch started")].concat());
    desk.world.add(
        "
-- home/tools/text/tool.wasm
hello
-- home/tools/version/index.md
---
version: 2
name: version
---
-- home/tools/mistakes/index.md
---
version: 1
name: mistakes
mutating: maybe
parameters:
  - { name: text, typ: string }
execution:
  command: ./run
  timeout: 5
---
Does nothing.
-- home/tools/gone/index.md
---
version: 1
name: gone
mutating: false
execution:
  command: ./run
  working_directory: nowhere
---
Does nothing.
-- home/tools/grants/index.md
---
version: 1
name: grants
mutating: false
execution:
  component: tool.wasm
  permissions:
    net: [\"ftp://example.com\"]
---
Does nothing.
-- home/tools/grants/tool.wasm (guest echo)
-- work/.youyou/tools/lost/readme.txt
not a tool
",
    );
    let ran = desk.run(&["check"]);
    insta::assert_snapshot!(ran.shown(), @r#"
    out| 7 folders checked: 10 errors
    err| error: [world]/home/tools/mistakes/index.md:4:11: `mutating` must be `true` or `false`, found the text "maybe" (write it without quotes)
    err| error: [world]/home/tools/mistakes/index.md:6:5: `type` is missing in `parameters[0]` (add `type: string`)
    err| error: [world]/home/tools/mistakes/index.md:6:19: "typ" is not a key of a parameter (did you mean `type`?)
    err| error: [world]/home/tools/mistakes/index.md:9:3: "timeout" is not a key of `execution` (did you mean `timeout_ms`?)
    err| error: [world]/home/tools/version/index.md:2:10: version 2 of the format is not supported, only version 1 is (write `version: 1`, or use a newer YouYou)
    err| error: [world]/work/.youyou/tools/lost: the folder holds no index.md (every folder here needs one; move other folders elsewhere)
    err| error: [world]/home/tools/gone/index.md: command "./run" was not found: [world]/home/tools/gone/run does not exist. Create the file, or correct `command` in index.md
    err| error: [world]/home/tools/gone/index.md: the working directory [world]/work/nowhere does not exist. Create it, or correct `working_directory`, which is relative to the session's directory and not to the tool's folder
    err| error: [world]/home/tools/grants/index.md: expected https, http, tcp or udp, found the scheme "ftp" (write "https://example.com", or "tcp://HOST:PORT" for another protocol)
    err| error: [world]/home/tools/text/index.md: expected a component that exports `youyou:plugin/tool@1.0.0` in `[world]/home/tools/text/tool.wasm`, found a text file; name the .wasm file that the build made; a script belongs under `command:`, not `component:`
    exit 1
    "#);

    let document = desk.run(&["check", "--json"]).json();
    let problems = document["problems"].as_array().expect("a list");
    let errors = problems.iter().filter(|problem| problem["severity"] == "error").count();
    assert_eq!(document["errors"], errors);
    for problem in problems {
        assert!(problem["path"].is_string() && problem["message"].is_string(), "{problem}");
    }
    assert!(!desk.world.path("work/started").exists() && !desk.world.path("cache").exists());
}

const SKILLS: &str = "
-- home/skills/commit/index.md
---
version: 1
name: commit
description: Writes a commit message.
required_tools: [git-diff]
---
Look at the changes first.
-- work/.youyou/skills/commit/index.md
---
version: 1
name: commit
description: As this project wants it.
---
Commit.
-- work/skills/tidy/index.md
---
version: 1
name: tidy
description: Tidies up.
execution: { command: ./x }
---
Tidy.
-- work/mine/review/index.md
---
version: 1
name: review
description: Reviews.
required_tools: [git-log]
---
";

/// Y3.4-3, Y3.1-1.
#[test]
fn a_list_of_skills_shows_every_level() {
    let desk = Desk::new(SKILLS);
    insta::assert_snapshot!(desk.run(&["list", "skills"]).shown(), @"
    out| NAME     SOURCE                        DESCRIPTION
    out| /commit  project                       As this project wants it.
    out| /commit  global (shadowed by project)  Writes a commit message.
    exit 0
    ");
    let document = desk.run(&["list", "skills", "--json"]).json();
    let rows: Vec<_> = document["skills"].as_array().expect("a list").iter().collect();
    assert_eq!((&rows[0]["source"], &rows[0]["shadowed_by"]), (&"project".into(), &serde_json::Value::Null));
    assert_eq!((&rows[1]["source"], &rows[1]["shadowed_by"]), (&"global".into(), &"project".into()));
    assert_eq!(rows[1]["required_tools"], serde_json::json!(["git-diff"]));
    insta::assert_snapshot!(Desk::new("").run(&["list", "skills"]).shown(), @"
    err| no skills in [world]/home/skills or [world]/work/.youyou/skills
    exit 0
    ");
}

/// Y4.5-1, K-45: a skill given as a folder is checked as one, wherever it stands; the tools that it needs are looked for.
#[test]
fn a_check_knows_a_skill_when_it_is_given_one() {
    let desk = Desk::new(SKILLS);
    insta::assert_snapshot!(desk.run(&["check", "../home/skills/commit"]).shown(), @r#"
    out| 1 folder checked: no errors
    err| warning: [world]/work/../home/skills/commit/index.md: the skill needs the tool "git-diff", and no folder provides it (fine if your host registers that tool in code)
    exit 0
    "#);
    insta::assert_snapshot!(desk.run(&["check", "skills/tidy", "mine/review"]).shown(), @r#"
    out| 2 folders checked: 2 errors
    err| error: [world]/work/skills/tidy/index.md:5:1: "execution" is not a key of a skill (only tools have it; a skill is a prompt and runs nothing)
    err| error: [world]/work/mine/review/index.md:1:1: the skill has no prompt (write it below the second `---`)
    exit 1
    "#);
    desk.world.add(&script("git-diff", "").replace("home/tools/", "work/mine/"));
    insta::assert_snapshot!(desk.run(&["check", "../home/skills/commit", "mine/git-diff"]).shown(), @"
    out| 2 folders checked: no errors
    exit 0
    ");
    let ran = desk.run_in(desk.world.path("work/mine/review"), &["check", "."]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
}
