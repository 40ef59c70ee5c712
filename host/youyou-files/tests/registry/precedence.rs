//! Which of two tools of one name wins, and in which order all come.

use youyou_api::SourceLabel::{Global, Project};

use crate::tree::{Tree, names, tool};

/// Y3.1-1, Y5.1-1: the project's comes first, the global one stays in the list as shadowed.
#[test]
fn a_project_tool_shadows_the_global_one_of_its_name() {
    let tree = Tree::new();
    for name in ["both", "a-global"] {
        tree.good(name);
    }
    for name in ["both", "z-project"] {
        tree.write(&format!("work/.youyou/tools/{name}/index.md"), tool(name));
    }
    let scan = tree.scan();
    let found =
        scan.tools.iter().map(|tool| (tool.definition.spec.name.as_str(), tool.definition.source, tool.shadowed_by));
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            ("a-global", Global, None),
            ("both", Project, None),
            ("both", Global, Some(Project)),
            ("z-project", Project, None)
        ]
    );
    assert_eq!(scan.problems, []);
}

/// Y5.1-1, D-1: byte order, on every machine.
#[test]
fn tools_come_in_byte_order() {
    let tree = Tree::new();
    let expected = ["B", "_x", "a", "a-b", "a1", "aB", "aa"];
    for name in ["aa", "a1", "B", "a", "aB", "_x", "a-b"] {
        tree.good(name);
    }
    assert_eq!(names(&tree.scan()), expected);
}

/// So many that several threads read them: nothing is lost, moved or told in another order.
#[test]
fn a_thousand_folders_come_in_order_with_what_is_wrong_with_them() {
    let tree = Tree::new();
    let all: Vec<_> = (0..1_000).map(|number| format!("tool-{number:03}")).collect();
    let is_broken = |number: &usize| number % 7 == 3;
    for (number, name) in all.iter().enumerate() {
        let text = if is_broken(&number) { String::new() } else { tool(name) };
        tree.write(&format!("home/tools/{name}/index.md"), text);
    }
    let scan = tree.scan();
    let numbered = |wanted: bool| all.iter().enumerate().filter(move |(at, _)| is_broken(at) == wanted);
    assert!(names(&scan).into_iter().eq(numbered(false).map(|(_, name)| name)));
    let told = scan.problems.iter().map(|problem| problem.folder.as_deref().expect("a folder's problem"));
    assert!(told.eq(numbered(true).map(|(_, name)| name)));
}

/// Y5.2-1: a broken project tool does not take the global one with it, and says which one runs instead.
#[test]
fn a_broken_project_tool_leaves_its_name_to_the_global_one() {
    let tree = Tree::new();
    tree.good("t").write("work/.youyou/tools/t/index.md", tool("t").replace("version: 1", "version: 3"));
    let scan = tree.scan();
    assert_eq!((names(&scan), scan.tools[0].shadowed_by), (vec!["t"], None));
    insta::assert_snapshot!(tree.shown(&scan.problems), @"error: work/.youyou/tools/t/index.md:2:10: version 3 of the format is not supported, only version 1 is (write `version: 1`, or use a newer YouYou; until then the global folder of this name is used)");
    // The other way round there is nothing to add.
    let tree = Tree::new();
    tree.write("home/tools/t/index.md", "").write("work/.youyou/tools/t/index.md", tool("t"));
    let scan = tree.scan();
    assert_eq!((names(&scan), scan.tools[0].definition.source), (vec!["t"], Project));
    insta::assert_snapshot!(tree.shown(&scan.problems), @"error: home/tools/t/index.md:1: index.md is empty: expected front matter between two `---` lines (begin with the lines `---`, `version: 1`, `name: …`, `---`)");
}

#[test]
fn without_any_folder_there_is_nothing_and_nothing_to_say() {
    let scan = Tree::new().scan();
    assert_eq!((scan.tools.len(), scan.problems.len()), (0, 0));
}

/// D-49: where case counts both load, with a warning for the places where it does not.
#[cfg(target_os = "linux")]
#[test]
fn names_that_differ_only_in_case_are_warned_of() {
    let tree = Tree::new();
    tree.good("tool").good("Tool").write("work/.youyou/tools/TOOL/index.md", tool("TOOL"));
    let scan = tree.scan();
    assert_eq!(names(&scan), ["TOOL", "Tool", "tool"]);
    insta::assert_snapshot!(tree.shown(&scan.problems), @r#"warning: home/tools/tool: the names "Tool" and "tool" differ only in case (rename one: where file names ignore case, only one of the two folders can exist)"#);
}

/// §12: a large registry.
#[test]
fn a_thousand_tools_come_in_order() {
    let tree = Tree::new();
    let expected = (0..1000).map(|i| format!("t{i:04}")).collect::<Vec<_>>();
    for name in expected.iter().rev() {
        tree.good(name);
    }
    let scan = tree.scan();
    assert_eq!(names(&scan), expected);
    assert_eq!(scan.problems, []);
}
