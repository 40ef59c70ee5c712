//! Files that look as if they were read and are not.

use youyou_files::stray_project_files;

use crate::tree::Tree;

fn said(tree: &Tree) -> String {
    let dir = tree.path("").display().to_string();
    tree.shown(&stray_project_files(&tree.roots())).replace(&dir, "")
}

/// D-41, Y3.1-5, D-63.
#[test]
fn files_of_a_project_that_are_not_read_are_told_of() {
    let tree = Tree::new();
    for stray in
        ["work/.youyou/config.yaml", "work/.youyou/SOUL.md", "work/AGENTS.md", "work/AGENT.md", "home/config.yml"]
    {
        tree.write(stray, "x");
    }
    tree.write("home/AGENTS.md", "x");
    insta::assert_snapshot!(said(&tree), @r#"
    warning: home/config.yml: config.yml is not read (rename it to "config.yaml")
    warning: work/.youyou/config.yaml: a project's config.yaml is not read: it could redirect the agent (put it into home/config.yaml)
    warning: work/.youyou/SOUL.md: a project's SOUL.md is not read: who the agent is, is up to its user (put it into home/SOUL.md)
    hint: home/AGENTS.md: AGENTS.md is not read here (copy or link it to home/AGENT.md)
    hint: work/AGENTS.md: AGENTS.md is not read here (copy or link it to work/.youyou/AGENT.md)
    hint: work/AGENT.md: AGENT.md is not read here (copy or link it to work/.youyou/AGENT.md)
    "#);
}

/// D-63: with an AGENT.md of its own, a project's AGENTS.md is there for other programs.
#[test]
fn nothing_is_said_where_everything_is_in_its_place() {
    let tree = Tree::new();
    assert_eq!(said(&tree), "");
    for file in ["home/config.yaml", "home/config.yml", "home/SOUL.md", "work/.youyou/AGENT.md", "work/AGENTS.md"] {
        tree.write(file, "x");
    }
    assert_eq!(said(&tree), "");
}

/// K-42's kind: where the home is the project's folder, its files are read.
#[cfg(unix)]
#[test]
fn the_files_of_the_home_are_no_strays_when_it_is_the_projects_folder_too() {
    let tree = Tree::new();
    tree.write("home/config.yaml", "").write("home/SOUL.md", "x").link("home", "work/.youyou");
    assert_eq!(said(&tree), "");
}
