//! Links, and whatever else than files and folders stands in a registry.

#![cfg(unix)]

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use youyou_api::SourceLabel;
use youyou_files::load_tool;

use crate::tree::{Tree, names, tool};

/// K-42: the folder, its index.md and the root, each as a link, load once each.
#[test]
fn what_is_reached_by_a_link_loads_once() {
    let tree = Tree::new();
    tree.write("store/tools/a/index.md", tool("a"))
        .write("store/b/index.md", tool("b"))
        .write("store/c.md", tool("c"))
        .link("store/tools", "home/tools")
        .link("store/b", "store/tools/b")
        .link("store/c.md", "store/tools/c/index.md");
    let scan = tree.scan();
    assert_eq!((names(&scan), tree.shown(&scan.problems)), (vec!["a", "b", "c"], String::new()));
    assert_eq!(scan.tools[1].definition.dir, tree.path("home/tools/b"), "the path as it is called, not the target");
}

/// K-42: a second name for one folder is not a second tool.
#[test]
fn a_link_beside_its_target_is_not_a_second_tool() {
    let tree = Tree::new();
    tree.good("a").link("home/tools/a", "home/tools/b");
    let scan = tree.scan();
    assert_eq!(names(&scan), ["a"]);
    insta::assert_snapshot!(tree.shown(&scan.problems), @r#"error: home/tools/b/index.md:3:7: `name` is "a" but the folder is named "b" (make the two equal)"#);
}

/// K-42: when the workspace is the home directory, its tools are there once, as global ones.
#[test]
fn one_folder_that_is_both_roots_is_read_once() {
    let tree = Tree::new();
    tree.good("a").link("home", "work/.youyou");
    let scan = tree.scan();
    assert_eq!((names(&scan), scan.problems.len()), (vec!["a"], 0));
    assert_eq!(scan.tools[0].definition.source.to_string(), "global");
}

/// K-42: circles end, each with a reason.
#[test]
fn circles_of_links_do_not_hang() {
    let tree = Tree::new();
    tree.good("a")
        .link("home/tools/loop", "home/tools/loop")
        .link("home/tools", "home/tools/up")
        .link("home/tools/c/index.md", "home/tools/c/index.md")
        .link("nowhere", "home/tools/gone")
        .link("nowhere", "home/tools/d/index.md");
    let scan = tree.scan();
    assert_eq!(names(&scan), ["a"]);
    insta::assert_snapshot!(tree.shown(&scan.problems).replace(&tree.path("").display().to_string(), ""), @"
    error: home/tools/c/index.md: index.md cannot be read: Too many levels of symbolic links (check the permissions, and that a link does not lead in a circle)
    error: home/tools/d/index.md: index.md is a link to nowhere, where nothing is (mend the link)
    error: home/tools/gone: this cannot be read: No such file or directory (check that a link leads somewhere, and not in a circle)
    error: home/tools/loop: this cannot be read: Too many levels of symbolic links (check that a link leads somewhere, and not in a circle)
    error: home/tools/up: the folder holds no index.md (every folder here needs one; move other folders elsewhere)
    ");

    let tree = Tree::new();
    tree.link("home/tools", "home/tools").link("nowhere", "work/.youyou/tools");
    insta::assert_snapshot!(tree.shown(&tree.scan().problems), @"
    error: home/tools: the folder cannot be read: Too many levels of symbolic links
    error: work/.youyou/tools: the folder cannot be read: No such file or directory
    ");
}

/// K-43's kind: what is not a regular file is not read, so nothing waits.
#[test]
fn what_is_no_file_is_refused_and_nothing_waits() {
    let tree = Tree::new();
    fs::create_dir_all(tree.path("home/tools/dir/index.md")).expect("creates");
    fs::create_dir_all(tree.path("home/tools/zero")).expect("creates");
    std::os::unix::fs::symlink("/dev/zero", tree.path("home/tools/zero/index.md")).expect("links");
    fs::create_dir_all(tree.path("home/tools/pipe")).expect("creates");
    tree.pipe("home/tools/pipe/index.md");
    let scan = tree.scan();
    assert_eq!(names(&scan), [""; 0]);
    insta::assert_snapshot!(tree.shown(&scan.problems), @"
    error: home/tools/dir/index.md: index.md must be a file, it is a folder
    error: home/tools/pipe/index.md: index.md must be a file, it is neither a file nor a folder
    error: home/tools/zero/index.md: index.md must be a file, it is neither a file nor a folder
    ");
}

/// Files, hidden folders and missing folders are nothing to speak of; a folder without index.md is.
#[test]
fn only_visible_folders_are_definitions() {
    let tree = Tree::new();
    tree.good("a")
        .write("home/tools/README.md", "x")
        .write("home/tools/.git/config", "x")
        .write("home/tools/.DS_Store", "x")
        .write("home/tools/lib/x.py", "x")
        .write("home/tools/near/INDEX.md", tool("near"));
    let scan = tree.scan();
    assert_eq!(names(&scan), ["a"]);
    insta::assert_snapshot!(tree.shown(&scan.problems), @r#"
    error: home/tools/lib: the folder holds no index.md (every folder here needs one; move other folders elsewhere)
    error: home/tools/near: the folder holds no index.md (rename "INDEX.md" to "index.md")
    "#);
}

#[test]
fn what_may_not_be_read_is_said() {
    let tree = Tree::new();
    tree.good("a").good("b").write("work/.youyou/tools", "a file where a folder should be");
    let index = tree.path("home/tools/b/index.md");
    fs::set_permissions(&index, fs::Permissions::from_mode(0o000)).expect("sets");
    if fs::read(&index).is_ok() {
        // Root reads everything; the other half of the test still holds.
        fs::remove_dir_all(Path::new(&tree.path("home/tools/b"))).expect("removes");
    }
    let scan = tree.scan();
    assert_eq!(names(&scan), ["a"]);
    assert!(tree.shown(&scan.problems).contains("work/.youyou/tools: the folder cannot be read"));
}

#[test]
fn what_is_no_folder_is_said_to_be_none() {
    let tree = Tree::new();
    tree.good("a");
    let load = |path: &str| load_tool(&tree.path(path), SourceLabel::Global);
    let shown = ["home/tools/a/index.md", "home/tools/b", "home/tools"].map(|path| tree.shown(load(path).problems()));
    insta::assert_snapshot!(shown.concat(), @"
    error: home/tools/a/index.md: this is not a folder (name the folder itself)
    error: home/tools/b: there is no such folder
    error: home/tools: the folder holds no index.md (every folder here needs one; move other folders elsewhere)
    ");
}

/// A name that is not Unicode is told of as well as it can be.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_name_that_is_not_utf8_is_refused() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let tree = Tree::new();
    tree.good("a");
    fs::create_dir(tree.path("home/tools").join(OsStr::from_bytes(b"b\xff"))).expect("creates");
    let scan = tree.scan();
    assert_eq!((names(&scan), scan.problems.len()), (vec!["a"], 1));
    assert_eq!(scan.problems[0].message, "the folder's name is not UTF-8");
    assert!(serde_json::to_string(&scan.problems).is_ok());
}
