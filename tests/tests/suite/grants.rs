//! What a component may reach, as its index.md says, through the whole dispatcher (K-63).

use serde_json::json;
use youyou_tests::{World, session::text_of, tool::hostile};

/// A folder with a file inside, a file outside, and a link from one to the other; the tools work in `work/project`.
const PLACES: &str = "
-- work/project/docs/inside.txt
inside
-- work/outside.txt
outside
-- work/project/docs/way-out -> work/outside.txt
-- work/project/docs/up -> work
";

fn world(permissions: &str) -> World {
    let execution = format!("working_directory: project\npermissions:\n{permissions}");
    World::new(&format!("{}{PLACES}", hostile("reader", &execution)))
}

/// K-63: each way out is refused, and the caller reads the line of YAML that would open it.
#[tokio::test]
async fn a_way_out_of_a_granted_folder_is_refused_with_the_line_that_would_grant_it() {
    let world = world("  read: [\"./docs\"]\n  write: [\"./out\"]\n");
    std::fs::create_dir(world.path("work/project/out")).expect("makes a folder");
    let session = world.open();
    assert_eq!(text_of(&session.call("reader", json!({"mode": "read", "path": "docs/inside.txt"})).await), "inside\n");
    let absolute = world.path("work/outside.txt").display().to_string();
    let mut shown = String::new();
    for arguments in [
        json!({"mode": "read", "path": "../outside.txt"}),
        json!({"mode": "read", "path": absolute}),
        json!({"mode": "read", "path": "docs/way-out"}),
        json!({"mode": "read", "path": "docs/up/outside.txt"}),
        json!({"mode": "read", "path": "docs/../../outside.txt"}),
        json!({"mode": "write", "path": "docs/new.txt", "text": "x"}),
        json!({"mode": "remove", "path": "docs/inside.txt"}),
        json!({"mode": "rename", "path": "docs/inside.txt", "to": "out/moved.txt"}),
        json!({"mode": "link", "path": "docs/inside.txt", "to": "out/linked.txt"}),
        json!({"mode": "list", "path": "."}),
    ] {
        let result = session.call("reader", arguments.clone()).await;
        assert!(!result.output.content.contains("outside\n"), "{arguments}: {:?}", result.output);
        shown.push_str(&format!(
            "{}\n{}\n\n",
            world.shown(&arguments.to_string()),
            world.shown(&result.output.content)
        ));
    }
    insta::assert_snapshot!(shown, @r#"
    {"mode":"read","path":"../outside.txt"}
    Permission denied (os error 2)

    the component tried to read "../outside.txt", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["./docs", ".."], write: ["./out"] }

    {"mode":"read","path":"[world]/work/outside.txt"}
    Permission denied (os error 2)

    the component tried to read "[world]/work/outside.txt", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["./docs", "[world]/work"], write: ["./out"] }

    {"mode":"read","path":"docs/way-out"}
    Permission denied (os error 2)

    the component tried to read "./docs/way-out", but a symlink leads out of "./docs" to "[world]/work/outside.txt"; granted, that can be opened by its own path, not by the link; to grant it, write under `execution` in index.md: permissions: { read: ["./docs", "[world]/work"], write: ["./out"] }

    {"mode":"read","path":"docs/up/outside.txt"}
    Permission denied (os error 2)

    the component tried to read "./docs/up/outside.txt", but a symlink leads out of "./docs" to "[world]/work/outside.txt"; granted, that can be opened by its own path, not by the link; to grant it, write under `execution` in index.md: permissions: { read: ["./docs", "[world]/work"], write: ["./out"] }

    {"mode":"read","path":"docs/../../outside.txt"}
    Permission denied (os error 2)

    the component tried to read "../outside.txt", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["./docs", ".."], write: ["./out"] }

    {"mode":"write","path":"docs/new.txt","text":"x"}
    Permission denied (os error 2)

    the component tried to write "./docs/new.txt", but "./docs" is granted for reading only; to grant it, write under `execution` in index.md: permissions: { read: ["./docs"], write: ["./out", "./docs"] }

    {"mode":"remove","path":"docs/inside.txt"}
    Permission denied (os error 2)

    the component tried to write "./docs/inside.txt", but "./docs" is granted for reading only; to grant it, write under `execution` in index.md: permissions: { read: ["./docs"], write: ["./out", "./docs"] }

    {"mode":"rename","path":"docs/inside.txt","to":"out/moved.txt"}
    Permission denied (os error 2)

    the component tried to write "./docs/inside.txt", but "./docs" is granted for reading only; to grant it, write under `execution` in index.md: permissions: { read: ["./docs"], write: ["./out", "./docs"] }

    {"mode":"link","path":"docs/inside.txt","to":"out/linked.txt"}
    Permission denied (os error 2)

    the component tried to write "./docs/inside.txt", but "./docs" is granted for reading only; to grant it, write under `execution` in index.md: permissions: { read: ["./docs"], write: ["./out", "./docs"] }

    {"mode":"list","path":"."}
    Permission denied (os error 2)

    the component tried to read ".", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["./docs", "."], write: ["./out"] }
    "#);
    assert_eq!(world.read("work/project/docs/inside.txt"), "inside\n");
    assert!(!world.path("work/project/docs/new.txt").exists());
}

/// K-63: the line that is suggested does what it promises: written down, it lets the same call through.
#[tokio::test]
async fn the_line_that_is_suggested_grants_what_was_refused() {
    let world = world("  read: [\"./docs\"]\n");
    let absolute = world.path("work/outside.txt").display().to_string();
    let index = world.read("home/tools/reader/index.md");
    for arguments in [
        json!({"mode": "read", "path": "../outside.txt"}),
        json!({"mode": "read", "path": absolute}),
        json!({"mode": "list", "path": "."}),
        json!({"mode": "write", "path": "docs/new.txt", "text": "x"}),
    ] {
        world.write("home/tools/reader/index.md", &index);
        let refused = world.open().call("reader", arguments.clone()).await;
        let line =
            refused.output.content.split("in index.md: ").nth(1).expect("a line").lines().next().expect("a line");
        let (before, rest) = index.split_once("  permissions:\n").expect("permissions");
        let after = rest.split_once("---\n").expect("the end of the front matter").1;
        world.write("home/tools/reader/index.md", format!("{before}  {line}\n---\n{after}"));
        let granted = world.open().call("reader", arguments.clone()).await;
        assert!(granted.success(), "{line} does not grant {arguments}: {granted:?}");
    }
}
