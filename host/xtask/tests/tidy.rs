//! The house rules that a reader relies on, as tests over the files that git tracks.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Source files of more lines than this are hard to hold in mind.
const MAX_LINES: usize = 600;

struct File {
    path: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository's root")
}

/// Every tracked text file that is there.
fn tracked() -> Vec<File> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output().expect("git runs");
    assert!(
        listed.status.success(),
        "the tidy tests need a git work tree: {}",
        String::from_utf8_lossy(&listed.stderr)
    );
    let listed = String::from_utf8(listed.stdout).expect("paths are UTF-8");
    let files: Vec<_> = listed
        .split_terminator('\0')
        .filter_map(|path| Some(File { path: path.to_owned(), text: fs::read_to_string(root().join(path)).ok()? }))
        .collect();
    assert!(files.iter().any(|file| file.path == "Cargo.toml"), "nothing was listed");
    files
}

fn extension(file: &File) -> &str {
    Path::new(&file.path).extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

#[track_caller]
fn assert_none(broken: &[String], rule: &str) {
    assert!(broken.is_empty(), "{rule}\n  {}", broken.join("\n  "));
}

#[test]
fn every_source_file_begins_with_what_it_is_for() {
    let broken: Vec<_> = tracked()
        .iter()
        .filter(|file| extension(file) == "rs" && !has_header(&file.text))
        .map(|file| file.path.clone())
        .collect();
    assert_none(
        &broken,
        "The first line of these files is no `//! …`. Say what the file is for and what it does not do: it is where a \
         reader who opens the file decides whether to read on.",
    );
}

fn has_header(text: &str) -> bool {
    text.lines().next().is_some_and(|first| first.strip_prefix("//! ").is_some_and(|words| !words.trim().is_empty()))
}

#[test]
fn no_source_file_is_too_long_to_hold_in_mind() {
    let source = |file: &&File| matches!(extension(file), "rs" | "py" | "sh" | "ts" | "mjs" | "wit");
    let broken: Vec<_> = tracked()
        .iter()
        .filter(source)
        .map(|file| (file.text.lines().count(), &file.path))
        .filter(|(lines, _)| *lines > MAX_LINES)
        .map(|(lines, path)| format!("{path}: {lines} lines"))
        .collect();
    assert_none(
        &broken,
        &format!(
            "These files have more than {MAX_LINES} lines. What is the second noun in each? Give it its own file."
        ),
    );
}

#[test]
fn no_file_names_a_place_of_one_machine() {
    let mut places: Vec<String> = [root()].iter().map(|path| path.display().to_string()).collect();
    places.extend(env::home_dir().map(|home| format!("{}/", home.display())));
    let broken: Vec<_> = tracked()
        .iter()
        .flat_map(|file| {
            let lines = file.text.lines().enumerate();
            lines.filter(|(_, line)| names_a_place(line, &places)).map(|(n, _)| format!("{}:{}", file.path, n + 1))
        })
        .collect();
    assert_none(
        &broken,
        "These lines hold a path that exists on one machine only. Use a path relative to the repository, a temporary \
         folder that is asked for at run time, or an invented one such as /home/me/project.",
    );
}

/// `places` are this machine's own; besides them, anyone's home below the usual roots, except the invented `me`.
fn names_a_place(line: &str, places: &[String]) -> bool {
    let homes = [["/ho", "me/"].concat(), ["/Us", "ers/"].concat(), ["\\Us", "ers\\"].concat()];
    let someones_home = |root: &String| {
        line.match_indices(root.as_str()).any(|(at, _)| {
            // `[world]/home/tools` and `../home/tools` begin elsewhere.
            if line[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || "]._-".contains(c)) {
                return false;
            }
            let rest = &line[at + root.len()..];
            let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).collect();
            !name.is_empty() && name != "me" && rest[name.len()..].starts_with(['/', '\\'])
        })
    };
    line.contains(&["/ro", "ot/"].concat())
        || places.iter().any(|place| line.contains(place))
        || homes.iter().any(someones_home)
}

#[test]
fn every_link_of_a_page_leads_somewhere() {
    let broken: Vec<_> = tracked()
        .iter()
        .filter(|file| extension(file) == "md")
        .flat_map(|file| {
            let page = root().join(&file.path);
            let lost = move |link: &&str| !page.parent().is_some_and(|folder| folder.join(link).exists());
            local_links(&file.text).filter(lost).map(|link| format!("{}: {link}", file.path))
        })
        .collect();
    assert_none(&broken, "These links of Markdown pages lead to no file. Links are relative to the page.");
}

/// Where the links of a Markdown text lead, if it is to a file beside it; without the part that follows a `#`.
fn local_links(markdown: &str) -> impl Iterator<Item = &str> {
    let prose = markdown.split("```").step_by(2);
    let links = prose.flat_map(|text| text.split("](").skip(1)).filter_map(|rest| rest.split(')').next());
    links.filter_map(|link| link.split('#').next()).filter(|link| !link.is_empty() && !link.contains(':'))
}

#[test]
fn these_rules_can_be_broken() {
    let links: Vec<_> = local_links("[a](a.md#x) [b](https://b.example) [c](#c) [d](d/)\n```\n[e](e)\n```\n").collect();
    assert_eq!(links, ["a.md", "d/"]);

    assert!(has_header("//! What it is for.\n") && !has_header("//!\n") && !has_header("#![no_std]\n//! late\n"));

    let places = ["/srv/checkout".to_owned()];
    let homes = |name: &str| format!("{}{name}/project", ["/ho", "me/"].concat());
    assert!(names_a_place("cd /srv/checkout/host", &places));
    assert!(names_a_place(&homes("alice"), &places));
    assert!(names_a_place(&format!("in {}", homes("alice")), &places));
    assert!(!names_a_place(&format!("[world]{}", homes("alice")), &places));
    assert!(!names_a_place(&homes("me"), &places));
    assert!(!names_a_place("a relative path: host/youyou", &places));
}
