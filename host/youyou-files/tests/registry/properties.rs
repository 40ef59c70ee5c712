//! What holds for every file there could be.

use proptest::prelude::*;
use youyou_api::SourceLabel;
use youyou_files::{Loaded, ToolDefinition, load_skill, load_tool};

use crate::tree::{Tree, tool};

/// A definition or a reason, never both, never neither; and every problem can be shown.
fn check<T>(loaded: &Loaded<T>) -> Result<(), TestCaseError> {
    let errors = loaded.problems().iter().filter(|problem| problem.is_error()).count();
    prop_assert_eq!(loaded.value().is_none(), errors > 0, "{:?}", loaded.problems());
    for problem in loaded.problems() {
        prop_assert!(!problem.to_string().is_empty() && serde_json::to_string(problem).is_ok());
        prop_assert!(problem.line != Some(0) && problem.column != Some(0));
    }
    Ok(())
}

/// Pieces that YAML and this crate have rules for.
fn piece() -> impl Strategy<Value = String> {
    let fixed = [
        "---\n",
        "--- \n",
        "\n",
        "\r\n",
        "\r",
        "\t",
        "  ",
        " ",
        "- ",
        ": ",
        ":",
        " #",
        "#12",
        "\"",
        "'",
        "[",
        "]",
        "{",
        "}",
        ",",
        "|\n",
        ">\n",
        "&a ",
        "*a",
        "!t ",
        "!!str ",
        "? ",
        "%YAML 1.2\n",
        "...\n",
        "@",
        "`",
        "\\",
        "\u{feff}",
        "\u{2028}",
        "\u{85}",
        "\0",
        "ä",
        "😀",
        "~",
        "true",
        "1",
        "-1",
        ".nan",
        "1e999",
        "0x1f",
        "<<: ",
        "version: 1\n",
        "name: t\n",
        "mutating: ",
        "parameters:\n",
        "  - name: a\n",
        "    type: string\n",
        "    description: x y\n",
        "    enum: [",
        "    default: ",
        "execution:\n",
        "  command: ./x\n",
        "  component: x.wasm\n",
        "  timeout_ms: ",
        "  memory_mb: ",
        "  permissions:\n",
        "    read: [",
        "  args: [",
        "display_name: ",
        "description: ",
        "required_tools: [",
        "allow_implicit_invocation: ",
    ];
    prop_oneof![4 => prop::sample::select(fixed.to_vec()).prop_map(str::to_owned), 1 => "[a-z]{1,5}"]
}

thread_local! {
    /// One for all cases of a test: making folders would take most of the time.
    static TREE: Tree = Tree::new();
}

fn load(index: impl AsRef<[u8]>) -> Loaded<ToolDefinition> {
    TREE.with(|tree| {
        tree.write("t/index.md", index);
        load_tool(&tree.path("t"), SourceLabel::Global)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// K-43's kind: any bytes at all.
    #[test]
    fn any_bytes_give_a_definition_or_a_reason(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        check(&load(&bytes))?;
        check(&load([b"---\n".as_slice(), &bytes, b"\n---\n"].concat()))?;
    }

    /// K-43's kind: texts that look like front matter.
    #[test]
    fn any_front_matter_gives_a_definition_or_a_reason(pieces in prop::collection::vec(piece(), 0..40)) {
        check(&load(format!("---\n{}\n---\nx", pieces.concat())))?;
    }

    /// K-43's kind: a skill's front matter, good but for what is added to it.
    #[test]
    fn any_skill_gives_a_definition_or_a_reason(pieces in prop::collection::vec(piece(), 0..8)) {
        let loaded = TREE.with(|tree| {
            let start = "---\nversion: 1\nname: t\ndescription: x\n";
            tree.write("t/index.md", format!("{start}{}\n---\n{}", pieces.concat(), pieces.concat()));
            load_skill(&tree.path("t"), SourceLabel::Global)
        });
        check(&loaded)?;
        if let Some(skill) = loaded.value() {
            prop_assert!(!skill.skill.prompt.is_empty() && !skill.skill.display_name.is_empty());
        }
    }

    /// K-43's kind: a good file with a part of it replaced.
    #[test]
    fn a_damaged_file_gives_a_definition_or_a_reason(
        start in 0usize..90, length in 0usize..20, pieces in prop::collection::vec(piece(), 0..4),
    ) {
        let mut text = tool("t");
        let range = start.min(text.len())..(start + length).min(text.len());
        text.replace_range(range, &pieces.concat());
        check(&load(text))?;
    }

    /// K-40: line ends and a byte order mark change nothing.
    #[test]
    fn line_ends_and_a_byte_order_mark_change_nothing(pieces in prop::collection::vec(piece(), 0..30)) {
        let text = format!("---\nversion: 1\nname: t\n{}\n---\nbody\n{}", pieces.concat(), pieces.concat());
        let lf = text.replace("\r\n", "\n").replace('\r', "");
        let crlf = lf.replace('\n', "\r\n");
        let expected = load(&lf);
        for other in [format!("\u{feff}{lf}"), crlf.clone(), format!("\u{feff}{crlf}")] {
            prop_assert_eq!(&load(other), &expected);
        }
    }
}
