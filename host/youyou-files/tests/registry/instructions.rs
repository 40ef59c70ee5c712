//! AGENT.md and SOUL.md from real files.

use proptest::prelude::*;
use youyou_files::{Instructions, load_instructions};

use crate::tree::Tree;

/// What is read, and what is said.
fn load(tree: &Tree) -> (Instructions, String) {
    let (instructions, problems) = load_instructions(&tree.roots());
    (instructions, tree.shown(&problems))
}

fn text(tree: &Tree) -> (String, String) {
    let (instructions, said) = load(tree);
    (instructions.global.expect("a text").text, said)
}

/// Y3.1-4, Y3.1-5: both levels of AGENT.md, SOUL.md of the home alone; each says where it comes from.
#[test]
fn each_text_is_read_from_its_own_place() {
    let tree = Tree::new();
    tree.write("home/AGENT.md", "\nGlobal.\n")
        .write("work/.youyou/AGENT.md", "Project.")
        .write("home/SOUL.md", "Kind.\n")
        .write("work/.youyou/SOUL.md", "Rude.")
        .write("work/AGENT.md", "Not read.");
    let (found, said) = load(&tree);
    assert_eq!(said, "");
    let expected = [("home/AGENT.md", "Global."), ("work/.youyou/AGENT.md", "Project."), ("home/SOUL.md", "Kind.")];
    for (file, (path, text)) in [found.global, found.project, found.soul].into_iter().zip(expected) {
        let file = file.expect(path);
        assert_eq!((file.path, file.text.as_str()), (tree.path(path), text));
    }
}

/// D-63: nothing above the workspace is looked at, and what is missing or blank is nothing to speak of.
#[test]
fn what_is_missing_or_blank_is_none_and_nothing_to_say() {
    let tree = Tree::new();
    tree.write("home/AGENT.md", " \r\n\n").write(".youyou/AGENT.md", "Above.").write("work/x", "");
    assert_eq!(load(&tree), (Instructions::default(), String::new()));
    assert_eq!(load(&Tree::new()), (Instructions::default(), String::new()));
}

/// D-63, K-40's kind.
#[test]
fn a_byte_order_mark_and_crlf_are_dropped() {
    let tree = Tree::new();
    tree.write("home/AGENT.md", "\u{feff}One.\r\n\r\nTwo.\r\n");
    assert_eq!(text(&tree), ("One.\n\nTwo.".to_owned(), String::new()));
}

/// K-44, D-63: cut at a line end, with a marker in the text and a warning for the user.
#[test]
fn a_long_text_is_cut_at_a_line_end_with_a_marker_and_a_warning() {
    let tree = Tree::new();
    let line = format!("- {}\n", "ä".repeat(60));
    let long = line.repeat(331_000 / line.len());
    tree.write("home/AGENT.md", &long);
    let (text, said) = text(&tree);
    let (kept, marker) = text.rsplit_once("\n\n").expect("a marker");
    assert!(text.len() <= 64 * 1024 && text.len() > 64 * 1024 - line.len() - 200, "{}", text.len());
    assert!(kept.lines().all(|kept| kept == line.trim_end()), "only whole lines are kept");
    let lines = kept.lines().count();
    let shown = format!("{marker}\n{}", said.replace(&format!(":{lines}:"), ":LAST:"));
    insta::assert_snapshot!(shown, @"
    [AGENT.md is cut here: it is 330993 bytes long, and at most 64 KiB of it are used]
    warning: home/AGENT.md:LAST: AGENT.md is 330993 bytes long, but at most 64 KiB of it are used (shorten it; what follows this line is not used)
    ");
}

/// K-44's kind: where no line ends, a character is not cut either; exactly as much as fits is not cut at all.
#[test]
fn one_long_line_is_cut_between_characters() {
    let tree = Tree::new();
    tree.write("home/AGENT.md", "a".to_owned() + &"€".repeat(100_000));
    let (cut, said) = text(&tree);
    let kept = cut.split_once("\n\n[").expect("a marker").0;
    assert!(kept.trim_start_matches('a').chars().all(|c| c == '€') && cut.len() <= 64 * 1024);
    assert_eq!(said.lines().count(), 1, "{said}");
    tree.write("home/AGENT.md", "x".repeat(64 * 1024));
    assert_eq!(text(&tree), ("x".repeat(64 * 1024), String::new()));
}

/// K-44, D-63: what is not UTF-8 is replaced, with a warning that names the line.
#[test]
fn a_text_that_is_not_utf8_is_used_as_far_as_it_goes() {
    let tree = Tree::new();
    tree.write("home/AGENT.md", b"Gr\xfc\xdfe.\nMore.\n").write("home/SOUL.md", b"\xff\xfeK\0i\0n\0d\0");
    let (found, said) = load(&tree);
    assert_eq!(found.global.expect("used").text, "Gr\u{fffd}\u{fffd}e.\nMore.");
    insta::assert_snapshot!(said, @"
    warning: home/AGENT.md:1: AGENT.md is not UTF-8: byte 3 is invalid; what cannot be read is replaced by U+FFFD (save it as UTF-8)
    warning: home/SOUL.md:1: SOUL.md is not UTF-8: byte 1 is invalid; what cannot be read is replaced by U+FFFD (it looks like UTF-16: save it as UTF-8)
    ");
}

/// K-44's kind: replaced bytes take three times the room, and still no more than the most is used.
#[test]
fn replaced_bytes_do_not_make_a_text_longer_than_allowed() {
    let tree = Tree::new();
    for bytes in [vec![0xff; 64 * 1024], vec![0xff; 70_000], [vec![0xff; 30_000], vec![b'\n'; 40_000]].concat()] {
        tree.write("home/AGENT.md", bytes);
        let (text, said) = text(&tree);
        assert!(text.len() <= 64 * 1024 && text.contains("is cut here"), "{}", text.len());
        assert_eq!(said.lines().count(), 2, "{said}");
    }
}

/// K-43's kind: a pipe is not waited for.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_said_and_nothing_waits() {
    let tree = Tree::new();
    tree.write("home/AGENT.md/x", "").write("work/.youyou/x", "").pipe("work/.youyou/AGENT.md");
    tree.link("nowhere", "home/SOUL.md");
    let (found, said) = load(&tree);
    assert_eq!(found, Instructions::default());
    insta::assert_snapshot!(said.replace(&tree.path("").display().to_string(), ""), @"
    error: home/AGENT.md: AGENT.md must be a file, it is a folder
    error: work/.youyou/AGENT.md: AGENT.md must be a file, it is neither a file nor a folder
    error: home/SOUL.md: SOUL.md is a link to nowhere, where nothing is (mend the link)
    ");
}

/// K-42's kind: where the home is the project's folder, its text is not given twice.
#[cfg(unix)]
#[test]
fn one_folder_that_is_both_levels_gives_its_text_once() {
    let tree = Tree::new();
    tree.write("home/AGENT.md", "Once.").link("home", "work/.youyou");
    let (found, _) = load(&tree);
    assert_eq!((found.global.map(|file| file.text), found.project), (Some("Once.".to_owned()), None));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// K-44's kind: any bytes of any length give a bounded text, and a word where something is missing.
    #[test]
    fn any_bytes_give_a_bounded_text(
        start in prop::collection::vec(any::<u8>(), 0..40), piece in prop::collection::vec(any::<u8>(), 1..40),
        times in 0usize..8000,
    ) {
        let tree = Tree::new();
        let bytes = [start, piece.repeat(times)].concat();
        tree.write("home/AGENT.md", &bytes);
        let (found, said) = load(&tree);
        let text = found.global.map(|file| file.text).unwrap_or_default();
        prop_assert!(text.len() <= 64 * 1024);
        prop_assert_eq!(text.contains("is cut here"), said.contains("of it are used"));
        if said.is_empty() {
            let whole = String::from_utf8(bytes).expect("said otherwise");
            let whole = whole.strip_prefix('\u{feff}').unwrap_or(&whole).trim().replace("\r\n", "\n");
            prop_assert_eq!(text, whole);
        }
    }
}
