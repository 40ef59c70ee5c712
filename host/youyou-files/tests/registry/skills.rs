//! Skills from real folders: what a good one becomes, what is refused, and which of two wins.

use youyou_api::{
    Skill,
    SourceLabel::{Global, Project},
};
use youyou_files::{Loaded, SkillDefinition, SkillScan, load_skill, scan_skills};

use crate::tree::{Tree, said, skill};

fn load(index: impl AsRef<[u8]>) -> Loaded<SkillDefinition> {
    let tree = Tree::new();
    tree.write("s/index.md", index);
    load_skill(&tree.path("s"), Global)
}

fn names(scan: &SkillScan) -> Vec<&str> {
    scan.skills.iter().map(|entry| entry.definition.skill.name.as_str()).collect()
}

/// Y5.4-1, Y3.4-3, D-62: every field arrives; the folder is absolute.
#[test]
fn a_full_skill_arrives_whole() {
    let tree = Tree::new();
    let index = "---\nversion: 1\nname: s\ndisplay_name: Make a commit\ndescription: >\n  Writes a commit\n  message.\n\
                 required_tools: [git-diff, git_commit]\nallow_implicit_invocation: true\n---\n\nSee ./style.md.\n\n- one\n";
    tree.write("s/index.md", index);
    let (found, remarks) = load_skill(&tree.path("s"), Project).into_result().expect("loads");
    assert_eq!(remarks, []);
    let dir = tree.path("s");
    assert!(dir.is_absolute());
    assert_eq!(
        found,
        SkillDefinition {
            skill: Skill {
                name: "s".to_owned(),
                display_name: "Make a commit".to_owned(),
                description: "Writes a commit message.".to_owned(),
                prompt: "See ./style.md.\n\n- one".to_owned(),
                required_tools: vec!["git-diff".to_owned(), "git_commit".to_owned()],
                allow_implicit_invocation: true,
                dir: Some(dir.clone()),
            },
            source: Project,
            index: dir.join("index.md"),
            dir,
        }
    );
}

/// Y5.4-1, Y3.4-2: what is not given has its default; the model is not told of a skill unless it says so.
#[test]
fn the_smallest_skill_has_defaults() {
    let (found, remarks) = load(skill("s")).into_result().expect("loads");
    assert_eq!(remarks, []);
    let Skill { display_name, required_tools, allow_implicit_invocation, prompt, .. } = found.skill;
    assert_eq!((display_name.as_str(), required_tools.len(), allow_implicit_invocation), ("s", 0, false));
    assert_eq!(prompt, "Do s.");
}

/// K-40.
#[test]
fn a_byte_order_mark_and_crlf_make_no_difference_to_a_skill() {
    let plain = skill("s") + "\nMore.\n";
    let crlf = format!("\u{feff}{}", plain.replace('\n', "\r\n"));
    let prompt = |index: &str| load(index).into_result().expect("loads").0.skill.prompt;
    assert_eq!(prompt(&crlf), prompt(&plain));
}

/// D-50: letters of any script; the folder's name is the command.
#[test]
fn a_skill_may_be_named_in_any_script() {
    let tree = Tree::new();
    for name in ["提交", "commit", "резюме-2"] {
        tree.write(&format!("home/skills/{name}/index.md"), skill(name));
    }
    tree.write("home/skills/a.b/index.md", skill("a.b"));
    let long = "x".repeat(65);
    tree.write(&format!("home/skills/{long}/index.md"), skill(&long));
    let scan = scan_skills(&tree.roots());
    assert_eq!(names(&scan), ["commit", "резюме-2", "提交"]);
    insta::assert_snapshot!(tree.shown(&scan.problems), @r#"
    error: home/skills/a.b/index.md:3:7: skill name "a.b" is not allowed: expected 1 to 64 letters of any script, digits, `_` and `-` (rename the folder too)
    error: home/skills/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx/index.md:3:7: skill name "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"… is not allowed: expected 1 to 64 letters of any script, digits, `_` and `-` (rename the folder too)
    "#);
}

/// Y5.4-1, Y5.2-1: one clear reason for each, and all of one file at once.
#[test]
fn what_is_wrong_with_a_skill_is_said_with_its_line() {
    let swap = |from: &str, to: &str| said(&load(skill("s").replace(from, to)));
    let shown = [
        swap("description: Does s.\n", ""),
        swap("Does s.", "\"\""),
        swap("Do s.\n", " \n"),
        swap("name: s\n", "name: t\n"),
        swap("---\nDo", "promt: x\ntools: [a]\nexecution: {}\n---\nDo"),
        swap("---\nDo", "required_tools: read\nallow_implicit_invocation: \"yes\"\ndisplay_name: 1\n---\nDo"),
        swap("---\nDo", "required_tools: [read, a b, 1, read]\n---\nDo"),
        swap("Does s.", "Closes issue #12"),
        swap("version: 1", "version: 2"),
    ]
    .concat();
    insta::assert_snapshot!(shown, @r##"
    error: index.md:1:1: `description` is missing (add `description: What it is for, in one line.`)
    error: index.md:4:14: `description` is empty (say it in one line)
    error: index.md:1:1: the skill has no prompt (write it below the second `---`)
    error: index.md:3:7: `name` is "t" but the folder is named "s" (make the two equal)
    error: index.md:5:1: "promt" is not a key of a skill (allowed keys: version, name, display_name, description, required_tools, allow_implicit_invocation)
    error: index.md:6:1: "tools" is not a key of a skill (did you mean `required_tools`?)
    error: index.md:7:1: "execution" is not a key of a skill (only tools have it; a skill is a prompt and runs nothing)
    error: index.md:5:17: `required_tools` must be a list, found the text "read" (write `[one, two]`, or one `- item` on each line)
    error: index.md:6:28: `allow_implicit_invocation` must be `true` or `false`, found the text "yes" (write it without quotes)
    error: index.md:7:15: `display_name` must be a text, found the number 1 (quote it)
    error: index.md:5:24: tool name "a b" is not allowed: expected 1 to 64 of A-Z a-z 0-9 _ -; try "a-b"
    error: index.md:5:29: `required_tools[2]` must be a text, found the number 1 (quote it)
    error: index.md:4:27: the value of `description` ends before "#12": ` #` starts a comment (quote it if the `#` belongs to the value, or put the comment on a line of its own)
    error: index.md:2:10: version 2 of the format is not supported, only version 1 is (write `version: 1`, or use a newer YouYou)
    "##);
}

/// A tool that is named twice is needed once.
#[test]
fn a_tool_that_is_named_twice_is_needed_once() {
    let loaded = load(skill("s").replace("---\nDo", "required_tools: [read, read]\n---\nDo"));
    insta::assert_snapshot!(said(&loaded), @r#"hint: index.md:5:24: `required_tools[1]` names "read" again"#);
    assert_eq!(loaded.value().expect("loads").skill.required_tools, ["read"]);
}

/// Y3.1-1, Y5.1-1: as with tools; the two kinds do not get in each other's way.
#[test]
fn a_project_skill_shadows_the_global_one_of_its_name() {
    let tree = Tree::new();
    tree.good("both").write("home/skills/both/index.md", skill("both"));
    tree.write("home/skills/a/index.md", skill("a")).write("work/.youyou/skills/both/index.md", skill("both"));
    let scan = scan_skills(&tree.roots());
    let found = scan.skills.iter().map(|entry| {
        let SkillDefinition { skill, source, .. } = &entry.definition;
        (skill.name.as_str(), *source, entry.shadowed_by)
    });
    assert_eq!(
        found.collect::<Vec<_>>(),
        [("a", Global, None), ("both", Project, None), ("both", Global, Some(Project))]
    );
    assert_eq!(scan.problems, []);
}

/// K-45: whoever misses a tool that a skill needs finds the reason under the name of its folder.
#[test]
fn the_reason_why_a_needed_tool_is_missing_can_be_told() {
    let tree = Tree::new();
    let needs = |name: &str, tool: &str| skill(name).replace("---\nDo", &format!("required_tools: [{tool}]\n---\nDo"));
    tree.good("here")
        .write("home/tools/broken/index.md", "---\nversion: 1\nname: broken\n---\nx")
        .write("home/skills/fine/index.md", needs("fine", "here"))
        .write("home/skills/lost/index.md", needs("lost", "broken"));
    let (tools, skills) = (tree.scan(), scan_skills(&tree.roots()));
    assert_eq!((names(&skills), skills.problems.len()), (vec!["fine", "lost"], 0));
    let lost = &skills.skills[1].definition;
    assert!(lost.index.ends_with("skills/lost/index.md"));
    let why = lost.skill.required_tools.iter().flat_map(|tool| tools.problems_of(tool)).cloned().collect::<Vec<_>>();
    insta::assert_snapshot!(tree.shown(&why), @"error: home/tools/broken/index.md:1:1: `execution` is missing (add `execution: { command: ./script }`)");
}

/// K-43's kind: a broken skill leaves the others alone and is told under its folder.
#[test]
fn a_broken_skill_leaves_the_others_alone() {
    let tree = Tree::new();
    tree.write("home/skills/a/index.md", skill("a")).write("home/skills/b/index.md", "---\nname: [\n---\nx");
    let scan = scan_skills(&tree.roots());
    assert_eq!((names(&scan), scan.problems_of("b").count(), scan.problems.len()), (vec!["a"], 1, 1));
}
