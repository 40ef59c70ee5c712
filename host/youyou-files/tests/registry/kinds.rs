//! What a folder that stands anywhere is meant to be.

use youyou_files::{FolderKind, folder_kind};

use crate::tree::{Tree, skill, tool};

/// The folder around it says it; where that is some folder, the keys do. What says nothing counts as a tool.
#[test]
fn a_folder_is_what_its_place_or_its_keys_say() {
    let tree = Tree::new();
    let folders = [
        ("skills/broken", "no front matter".to_owned(), FolderKind::Skill),
        ("skills/tool", tool("tool"), FolderKind::Skill),
        ("tools/skill", skill("skill"), FolderKind::Tool),
        ("mine/commit", skill("commit"), FolderKind::Skill),
        ("mine/read", tool("read"), FolderKind::Tool),
        (
            "mine/described",
            "---\ndescription: A tool.\nexecution: { command: ./x }\n---\n".to_owned(),
            FolderKind::Tool,
        ),
        ("mine/implicit", "---\nallow_implicit_invocation: true\n---\n".to_owned(), FolderKind::Skill),
        ("mine/guard", "---\nid: guard\nexecution: { command: ./x }\nhooks: {}\n---\n".to_owned(), FolderKind::Plugin),
        ("plugins/broken", String::new(), FolderKind::Plugin),
        ("mine/nothing", "---\nversion: 1\n---\n".to_owned(), FolderKind::Tool),
        ("mine/broken", "---\nname: [\n---\n".to_owned(), FolderKind::Tool),
        ("mine/long", format!("---\nname: {}\ndescription: x\n---\n", "[".repeat(100_000)), FolderKind::Tool),
    ];
    for (path, index, expected) in folders {
        tree.write(&format!("{path}/index.md"), index);
        assert_eq!(folder_kind(&tree.path(path)), expected, "{path}");
    }
    assert_eq!(folder_kind(&tree.path("skills/missing")), FolderKind::Skill);
    assert_eq!(folder_kind(&tree.path("mine/missing")), FolderKind::Tool);
}
