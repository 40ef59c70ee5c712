//! `youyou new tool`: what it makes works at once, in every language.

use std::{os::unix::fs::symlink, path::Path};

use crate::{desk::Desk, full::on_a_full_disk, pages::with_cargo};

/// Y5.3-1, C-3: made, checked and run, without an edit in between.
#[test]
fn a_new_script_tool_works_at_once() {
    for (language, program) in [("sh", "run.sh"), ("python", "run.py")] {
        let desk = Desk::new("");
        let made = desk.run(&["new", "tool", "my-tool", "--lang", language]);
        insta::allow_duplicates! {
            insta::assert_snapshot!(made.shown(), @r#"
            out| made [world]/work/my-tool
            out| 
            out| next:
            out|   youyou run-tool [world]/work/my-tool --args '{"who":"Ada"}'
            out| 
            out| to install it for every project: move the folder to [world]/home/tools/my-tool
            exit 0
            "#);
        }
        assert!(desk.world.path("work/my-tool").join(program).is_file());
        assert_eq!(desk.run(&["check", "my-tool"]).shown(), "out| 1 folder checked: no errors\nexit 0", "{language}");
        let greeted = desk.run(&["run-tool", "my-tool", "--args", r#"{"who":"Ada"}"#]);
        assert_eq!((greeted.code, &*greeted.stdout), (Some(0), "Hello, Ada!\n"), "{language}: {greeted:?}");
        let nobody = desk.run(&["run-tool", "my-tool"]);
        assert_eq!((nobody.code, &*nobody.stdout), (Some(0), "Hello, world!\n"), "{language}: {nobody:?}");
        // Installed as the last line says.
        std::fs::rename(desk.world.path("work/my-tool"), desk.world.path("home/tools/my-tool")).expect("moves");
        assert_eq!(desk.run(&["run-tool", "my-tool", "--args", r#"{"who":"Bo"}"#]).stdout, "Hello, Bo!\n");
    }
}

/// C-3: the component, too, once it is built; and its own tests pass.
#[test]
fn a_new_component_tool_builds_and_works() {
    let desk = Desk::new("");
    let made = desk.run(&["new", "tool", "my-tool"]);
    insta::assert_snapshot!(made.shown(), @r#"
    out| made [world]/work/my-tool
    out| 
    out| next:
    out|   cd [world]/work/my-tool
    out|   cargo test
    out|   rustup target add wasm32-wasip2      # once
    out|   cargo build --release --target wasm32-wasip2
    out|   youyou run-tool [world]/work/my-tool --args '{"who":"Ada"}'
    out| 
    out| to install it for every project: move the folder to [world]/home/tools/my-tool
    exit 0
    "#);
    let unbuilt = desk.run(&["run-tool", "my-tool"]);
    assert_eq!(unbuilt.code, Some(3));
    assert!(unbuilt.stderr.contains("there is no component at"), "{}", unbuilt.stderr);

    let dir = desk.world.path("work/my-tool");
    prepare(&dir);
    for command in ["cargo build --release --target wasm32-wasip2", "cargo test"] {
        let ran = desk.finish(with_cargo(&desk, &dir, command), b"");
        assert_eq!(ran.code, Some(0), "{command}: {}", ran.stderr);
    }
    assert_eq!(desk.run(&["check", "my-tool"]).shown(), "out| 1 folder checked: no errors\nexit 0");
    let greeted = desk.run(&["run-tool", "my-tool", "--args", r#"{"who":"Ada"}"#]);
    assert_eq!(greeted.shown(), "out| Hello, Ada!\nerr| my-tool: greeting Ada\nexit 0");
    let nobody = desk.run(&["run-tool", "my-tool", "--args", r#"{"who":""}"#]);
    assert_eq!((nobody.code, &*nobody.stdout), (Some(1), "the parameter who is empty; name somebody\n"));
}

/// Lets a new crate use what is there already: the versions of this repository, and what an earlier run has built.
pub(crate) fn prepare(dir: &Path) {
    let built = youyou_tests::guests::target().join("tmp/youyou-cli/new");
    std::fs::create_dir_all(&built).expect("makes the folder");
    symlink(built, dir.join("target")).expect("links");
    std::fs::copy(youyou_tests::repository().join("Cargo.lock"), dir.join("Cargo.lock")).expect("copies");
}

/// D-50: nothing is made under a name that could not be called, and nothing that exists is touched.
#[test]
fn a_bad_name_or_an_existing_folder_is_refused() {
    let desk = Desk::new("-- work/taken/mine.txt\nmine\n");
    desk.world.write("work/file", "mine");
    let mut shown = String::new();
    for name in ["taken", "file", "two words", "../outside", "a/b", "", ".", "größe", "-x", &"x".repeat(65)] {
        let ran = desk.run(&["new", "tool", "--lang", "sh", "--", name]);
        if name == "-x" {
            assert_eq!(ran.code, Some(0), "D-50 allows it: {ran:?}");
            continue;
        }
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{name:?}: {ran:?}");
        shown.push_str(&ran.stderr);
    }
    insta::assert_snapshot!(shown, @r#"
    error: [world]/work/taken exists already; nothing was changed
    error: [world]/work/file exists already; nothing was changed
    error: tool name "two words" is not allowed: expected 1 to 64 of A-Z a-z 0-9 _ -; try "two-words"
    error: tool name "../outside" is not allowed: expected 1 to 64 of A-Z a-z 0-9 _ -; try "---outside"
    error: tool name "a/b" is not allowed: expected 1 to 64 of A-Z a-z 0-9 _ -; try "a-b"
    error: tool name "" is not allowed: expected 1 to 64 of A-Z a-z 0-9 _ -
    error: tool name "." is not allowed: expected 1 to 64 of A-Z a-z 0-9 _ -
    error: tool name "größe" is not allowed: expected 1 to 64 of A-Z a-z 0-9 _ -; try "gr--e"
    error: tool name "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" is not allowed: expected 1 to 64 of A-Z a-z 0-9 _ -; try "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    "#);
    assert_eq!(desk.world.read("work/taken/mine.txt"), "mine\n");
    let mut left: Vec<_> =
        std::fs::read_dir(desk.world.work()).expect("readable").map(|e| e.expect("readable").file_name()).collect();
    left.sort();
    assert_eq!(left, ["-x", "file", "taken"]);
}

/// `--into` says where, and makes what is missing on the way.
#[test]
fn a_tool_can_be_made_elsewhere() {
    let desk = Desk::new("");
    let made = desk.run(&["new", "tool", "my-tool", "--lang", "sh", "--into", ".youyou/tools"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    assert_eq!(desk.run(&["run-tool", "my-tool", "--trust-project"]).stdout, "Hello, world!\n");
    let other = desk.world.path("other").display().to_string();
    assert_eq!(desk.run(&["new", "tool", "my-tool", "--lang", "sh", "--workspace", &other]).code, Some(2));
}

/// The commands that are shown next can be pasted, whatever the folder is called.
#[test]
fn what_is_shown_next_can_be_pasted() {
    let desk = Desk::new("");
    let made = desk.run(&["new", "tool", "my-tool", "--lang", "sh", "--into", "Ada's tools (new)"]);
    let line = made.stdout.lines().find_map(|line| line.strip_prefix("  youyou run-tool ")).expect("it is shown");
    let line = format!("youyou run-tool {}", line.replace("[world]", &desk.world.path("").display().to_string()));
    let ran = desk.finish(with_cargo(&desk, &desk.world.work(), &line), b"");
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "Hello, Ada!\n"), "{line}: {ran:?}");
}

/// On a full disk nothing is left that looks like a tool and is half of one.
#[test]
fn what_cannot_be_written_whole_is_not_left_behind() {
    for line in ["new tool half --lang sh", "new plugin half --lang python"] {
        let desk = Desk::new("");
        let ran = on_a_full_disk(&desk, line);
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{ran:?}");
        assert!(ran.stderr.starts_with("error: cannot create [world]/work/half/index.md: "), "{}", ran.stderr);
        assert!(!desk.world.path("work/half").exists(), "{line}");
    }
}
