//! What stands in the folders, as the caller of a runtime sees it: odd files load, broken ones are told of, and nobody
//! else is affected (K-40 to K-43).

use serde_json::json;
use youyou::{ErrorCode, ErrorSource};
use youyou_tests::{
    World,
    session::{error_of, text_of},
    tool::{index, script},
};

/// K-40, Y5.2-1: what Windows editors write.
#[tokio::test]
async fn a_byte_order_mark_and_crlf_are_read() {
    let world = World::new(&script("windows", "echo hi"));
    let index = world.read("home/tools/windows/index.md").replace('\n', "\r\n");
    world.write("home/tools/windows/index.md", format!("\u{feff}{index}"));
    let session = world.open();
    assert_eq!(text_of(&session.call("windows", json!({"text": "a"})).await), "hi");
    assert_eq!(session.runtime().tools()[0].spec.description, "Does windows.");
}

/// K-41: what YAML would take for something else is not lost in silence.
#[tokio::test]
async fn a_plain_value_is_neither_split_nor_cut() {
    let world =
        World::new(&[script("colon", "echo hi"), script("hash", "echo hi"), script("fine", "echo fine")].concat());
    for (name, text) in [("colon", "Use when: x"), ("hash", "fix issue #12"), ("fine", "\"Use when: #12\"")] {
        let path = format!("home/tools/{name}/index.md");
        let described = format!("{{ name: text, type: string, description: {text} }}");
        let described = described.trim_start_matches("{ ").trim_end_matches(" }").replace(", ", "\n    ");
        world.write(&path, world.read(&path).replace("{ name: text, type: string }", &described));
    }
    let session = world.open();
    let told = |name: &'static str| {
        let (session, world) = (&session, &world);
        async move { world.shown(&error_of(&session.call(name, json!({})).await).message) }
    };
    insta::assert_snapshot!(told("colon").await, @r#"[world]/home/tools/colon/index.md:9:26: a plain value must not hold `: `, which starts another value (quote it: description: "Use when: x")"#);
    insta::assert_snapshot!(told("hash").await, @r##"[world]/home/tools/hash/index.md:9:28: the value of `description` ends before "#12": ` #` starts a comment (quote it if the `#` belongs to the value, or put the comment on a line of its own)"##);
    assert_eq!(text_of(&session.call("fine", json!({})).await), "fine");
    let fine = session.runtime().tools().iter().find(|tool| tool.spec.name.as_str() == "fine").expect("listed");
    assert_eq!(fine.spec.parameters["properties"]["text"]["description"], "Use when: #12");
}

/// K-42: a link to the folder, to index.md and to the root all lead to the tool, once; circles lead to a message.
#[tokio::test]
async fn links_are_followed_and_circles_end() {
    let world = World::new(&script("plain", "echo plain"));
    world.add(&script("a", "echo a").replace("home/tools/a", "store/tools/a"));
    world.add(&script("b", "echo b").replace("home/tools/b", "store/b"));
    world.add(
        "
-- home/tools/b -> store/b
-- work/.youyou/tools -> store/tools
-- home/tools/circle -> home/tools/circle
-- home/tools/gone -> nowhere
",
    );
    world.write("store/c.md", index("c", "command: ./run"));
    world.add("-- store/tools/c/index.md -> store/c.md\n-- store/tools/c/run (executable)\n#!/bin/sh\necho c\n");
    let session = world.open();
    let results = session.batch(&["plain", "a", "b", "c"].map(|name| (name, json!({})))).await;
    assert_eq!(results.iter().map(text_of).collect::<Vec<_>>(), ["plain", "a", "b", "c"]);
    assert_eq!(session.runtime().tools().len(), 4);
    for name in ["circle", "gone"] {
        let result = session.call(name, json!({})).await;
        assert_eq!(error_of(&result).code, ErrorCode::DefinitionInvalid);
        assert!(error_of(&result).message.contains("check that a link leads somewhere"), "{:?}", result.error);
    }
}

/// Index files of K-43 by what is wrong with them; the tool's name is `t`.
fn broken() -> Vec<(&'static str, Vec<u8>)> {
    let good = "---\nversion: 1\nname: t\nmutating: false\nexecution:\n  command: ./run\n---\nDoes t.\n".to_owned();
    let swap = |from: &str, to: &str| {
        assert!(good.contains(from));
        good.replacen(from, to, 1).into_bytes()
    };
    let mut bomb = String::from("---\nversion: 1\nname: t\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for n in 1..9 {
        bomb.push_str(&format!("a{n}: &a{n} [{}]\n", format!("*a{}, ", n - 1).repeat(10)));
    }
    vec![
        ("version 2", swap("version: 1", "version: 2")),
        ("version as text", swap("version: 1", "version: \"1\"")),
        ("no version", swap("version: 1\n", "")),
        ("no closing", swap("---\nDoes", "Does")),
        ("empty file", Vec::new()),
        ("tab indent", swap("  command", "\tcommand")),
        ("duplicate key", swap("mutating: false", "mutating: false\nname: t")),
        ("10 MB", [good.clone().into_bytes(), vec![b'x'; 10_000_000]].concat()),
        ("alias bomb", format!("{bomb}---\nx\n").into_bytes()),
        ("not UTF-8", [good.clone().into_bytes(), vec![0xff]].concat()),
        ("name is not the folder's", swap("name: t\n", "name: other\n")),
        ("no command", swap("command: ./run", "timeout_ms: 5")),
    ]
}

/// K-43, Y5.2-1, Y5.3-1, Y10-1: the caller of a skipped tool reads the reason; the tools around it work, and the folder
/// is one line in the list of problems.
#[tokio::test]
async fn the_caller_of_a_skipped_tool_reads_why() {
    let mut shown = String::new();
    for (what, index) in broken() {
        let world = World::new(&[script("s", "echo before"), script("u", "echo after")].concat());
        world.write("home/tools/t/index.md", index);
        world.add("-- home/tools/t/run (executable)\n#!/bin/sh\ntouch started\n");
        let session = world.open();
        let results = session.batch(&["s", "t", "u"].map(|name| (name, json!({})))).await;
        assert_eq!((text_of(&results[0]), text_of(&results[2])), ("before", "after"), "{what}");
        let error = error_of(&results[1]);
        assert_eq!((error.code, error.origin), (ErrorCode::DefinitionInvalid, ErrorSource::Tool), "{what}");
        assert_eq!(error.details["problems"].as_array().map(Vec::len), Some(1), "{what}");
        let problems: Vec<_> = session.runtime().problems().iter().filter(|problem| problem.is_error()).collect();
        assert!(matches!(problems[..], [one] if one.folder.as_deref() == Some("t")), "{what}: {problems:?}");
        assert!(!world.path("work/started").exists(), "{what}");
        shown.push_str(&format!("[{what}]\n{}\n", world.shown(&error.message)));
    }
    insta::assert_snapshot!(shown, @r#"
    [version 2]
    [world]/home/tools/t/index.md:2:10: version 2 of the format is not supported, only version 1 is (write `version: 1`, or use a newer YouYou)
    [version as text]
    [world]/home/tools/t/index.md:2:10: `version` must be the number 1, found the text "1" (write `version: 1`, without quotes)
    [no version]
    [world]/home/tools/t/index.md:1:1: `version` is missing (add `version: 1`)
    [no closing]
    [world]/home/tools/t/index.md:1: the front matter is not closed: no line after line 1 is exactly `---` (put a line `---` between the front matter and the description)
    [empty file]
    [world]/home/tools/t/index.md:1: index.md is empty: expected front matter between two `---` lines (begin with the lines `---`, `version: 1`, `name: …`, `---`)
    [tab indent]
    [world]/home/tools/t/index.md:6:1: the line is indented with a tab (use blanks: YAML does not take tabs)
    [duplicate key]
    [world]/home/tools/t/index.md:5:1: `name` is given twice, first in line 3 (keep one of the two)
    [10 MB]
    [world]/home/tools/t/index.md: index.md is 10000079 bytes long, at most 1048576 (1 MiB) are read (move long texts into other files of the folder)
    [alias bomb]
    [world]/home/tools/t/index.md:1:1: anchors and aliases (`&x`, `*x`) make the values expand without bound (write the values out)
    [not UTF-8]
    [world]/home/tools/t/index.md:9: index.md is not UTF-8: byte 80 is invalid (save it as UTF-8)
    [name is not the folder's]
    [world]/home/tools/t/index.md:3:7: `name` is "other" but the folder is named "t" (make the two equal)
    [no command]
    [world]/home/tools/t/index.md:5:1: `execution` has neither `command` nor `component` (add `command: ./script` for a script, or `component: file.wasm` for a WebAssembly component)
    "#);
}

/// K-43, Y10-1: of a folder with several mistakes the caller is told one, how many more there are, and all in the details.
#[tokio::test]
async fn every_mistake_of_a_skipped_tool_is_told() {
    let world = World::new("-- home/tools/t/index.md\n---\nversion: 1\nname: other\nmutating: maybe\n---\nDoes t.\n");
    let result = world.open().call("t", json!({})).await;
    let error = error_of(&result);
    insta::assert_snapshot!(world.shown(&error.message), @"[world]/home/tools/t/index.md:1:1: `execution` is missing (add `execution: { command: ./script }`); and 2 more");
    let problems = error.details["problems"].as_array().expect("a list");
    let keys: Vec<_> = problems.iter().map(|problem| problem["key"].to_string()).collect();
    insta::assert_snapshot!(keys.join(" "), @r#"null "name" "mutating""#);
}

/// Y5.3-1, Y3.3-1: what the model is told of a tool is what its folder says.
#[tokio::test]
async fn a_definition_is_what_its_folder_says() {
    let world = World::new(
        "
-- home/tools/greet/index.md
---
version: 1
name: greet
mutating: true
parameters:
  - { name: who, type: string, description: Who to greet., required: true }
  - { name: times, type: integer, description: How often., default: 1 }
execution:
  command: ./run
  timeout_ms: 5000
---
Greets somebody.

Politely.
-- home/tools/greet/run (executable)
#!/bin/sh
cat
",
    );
    let session = world.open();
    insta::assert_snapshot!(serde_json::to_string_pretty(&session.runtime().tools()[0].spec).expect("JSON"), @r#"
    {
      "name": "greet",
      "description": "Greets somebody.\n\nPolitely.",
      "parameters": {
        "type": "object",
        "properties": {
          "who": {
            "type": "string",
            "description": "Who to greet."
          },
          "times": {
            "type": "integer",
            "description": "How often.",
            "default": 1
          }
        },
        "required": [
          "who"
        ],
        "additionalProperties": false
      },
      "mutating": true
    }
    "#);
    let echoed = session.call("greet", json!({"who": "Ada"})).await;
    assert_eq!(text_of(&echoed), r#"{"call_id":"call-1","tool_name":"greet","arguments":{"who":"Ada"}}"#);
    let refused = session.call("greet", json!({"times": "2"})).await;
    insta::assert_snapshot!(error_of(&refused).message, @r#"tool "greet" was not run: the parameter "times" must be an integer, but is the string "2"; the parameter "who" is required and missing"#);
}
