//! What the pages tell a reader to type does what they say: the examples' and the repository's own, and the tutorial.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use tokio::process::Command;
use youyou_tests::{
    Server, example,
    readme::{Shown, blocks, commands, files},
    repository,
};

use crate::{
    desk::{Desk, Ran, YOUYOU},
    new::prepare,
};

/// A line of shell as a reader would type it in `dir`, with `youyou` on the path and without any network.
pub(crate) fn with_cargo(desk: &Desk, dir: &Path, line: &str) -> Command {
    let home = PathBuf::from(env::var_os("HOME").expect("a home"));
    let own = |variable: &str, default: &str| env::var_os(variable).map_or_else(|| home.join(default), PathBuf::from);
    let cargo = env::var_os("CARGO").map(PathBuf::from);
    let programs = [Path::new(YOUYOU).parent(), cargo.as_deref().and_then(Path::parent)];
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(programs.into_iter().flatten().map(PathBuf::from).chain(env::split_paths(&path)));
    let mut command = desk.command("sh");
    command
        .args(["-c", line])
        .current_dir(dir)
        .env("PATH", path.expect("a path"))
        .env("CARGO_HOME", own("CARGO_HOME", ".cargo"))
        .env("RUSTUP_HOME", own("RUSTUP_HOME", ".rustup"))
        .env("CARGO_NET_OFFLINE", "true")
        .env_remove("CARGO_TARGET_DIR");
    command
}

/// Types a command of a page and compares what the page shows below it.
fn hold(desk: &Desk, dir: &Path, shown: &Shown) -> Ran {
    let ran = desk.finish(with_cargo(desk, dir, &shown.command), b"");
    assert_eq!(ran.code, Some(shown.exit), "{}: {ran:?}", shown.command);
    if !shown.output.is_empty() {
        assert_eq!(ran.stdout.trim_end(), shown.output.trim_end(), "{}", shown.command);
    }
    ran
}

fn page(path: impl AsRef<Path>) -> String {
    fs::read_to_string(repository().join(path)).expect("the page is there")
}

/// C-3, C-1: every command of an example's page, in the repository's root.
#[test]
fn the_examples_do_what_their_pages_say() {
    let desk = Desk::new("");
    let mut typed = 0;
    for name in ["word-count", "word-count-py", "line-stats", "grep-files"] {
        for shown in commands(&page(example(name).join("README.md"))) {
            if shown.command != "cargo xtask guests" {
                hold(&desk, &repository(), &shown);
                typed += 1;
            }
        }
    }
    assert!(typed >= 7, "{typed} commands were found");
}

/// Y5.5-1: every command of an example plugin's page, in the repository's root.
#[test]
fn the_example_plugins_do_what_their_pages_say() {
    let desk = Desk::new("");
    let mut typed = 0;
    for name in ["context-notes", "redact-py"] {
        for shown in commands(&page(format!("examples/plugins/{name}/README.md"))) {
            if shown.command != "cargo xtask guests" {
                hold(&desk, &repository(), &shown);
                typed += 1;
            }
        }
    }
    assert!(typed >= 3, "{typed} commands were found");
}

/// Y5.5-1: the tutorial of the page on plugins, typed line by line.
#[test]
fn the_page_on_plugins_leads_to_a_plugin() {
    let desk = Desk::new("");
    let shown = commands(&page("docs/plugins.md"));
    assert_eq!(shown.len(), 6);
    shown.iter().for_each(|shown| _ = hold(&desk, &desk.world.work(), shown));
}

/// K-63: the page's web server is played by the test's, at a port that is free.
#[test]
fn the_web_example_does_what_its_page_says() {
    let server = Server::over(example("grep-files").join("data"));
    let desk = Desk::new("");
    let port = format!("127.0.0.1:{}", server.port());
    let here = |text: &str| text.replace("127.0.0.1:8080", &port);
    let dir =
        desk.world.write("work/examples/tools/http-get/index.md", here(&page(example("http-get").join("index.md"))));
    fs::copy(example("http-get").join("http_get.wasm"), dir.with_file_name("http_get.wasm")).expect("copies");
    let shown: Vec<_> = commands(&page(example("http-get").join("README.md")))
        .into_iter()
        .filter(|shown| shown.command.starts_with("youyou "))
        .map(|shown| Shown { command: here(&shown.command), output: here(&shown.output), ..shown })
        .collect();
    assert_eq!(shown.len(), 2);
    shown.iter().for_each(|shown| _ = hold(&desk, &desk.world.work(), shown));
    assert_eq!(server.asked(), ["/recipe.txt"]);
}

/// The first tool of the repository's page, typed line by line.
#[test]
fn the_first_tool_of_the_page_works() {
    let desk = Desk::new("");
    let page = page("README.md");
    let blocks = blocks(&page, "sh");
    let make = blocks.iter().find(|block| block.starts_with("mkdir shout")).expect("it makes a tool");
    let run = blocks.iter().find_map(|block| block.strip_prefix("cargo run -p youyou-cli -- ")).expect("it runs it");
    for (line, expected) in [(*make, ""), (&*format!("youyou {run}"), "HELLO\n")] {
        let ran = desk.finish(with_cargo(&desk, &desk.world.work(), line), b"");
        assert_eq!((ran.code, &*ran.stdout), (Some(0), expected), "{line}: {ran:?}");
    }
    assert_eq!(desk.run(&["check", "shout"]).code, Some(0));
}

/// C-1: the conversation that `cargo xtask demo` shows, as its reader sees it.
#[test]
fn the_conversation_of_the_demonstration_reads_like_this() {
    let desk = Desk::new("");
    let replay = ["chat", "--home", "examples", "--replay", "examples/chat/both-ways.yaml"];
    let ran = desk.run_in(repository(), &[&replay[..], &["Count these words both ways"]].concat());
    insta::assert_snapshot!(ran.shown(), @r#"
    out| I ask the component and the script at once.
    out| Both say the same: three words.
    err| → word-count {"text":"one two three"}
    err| → word-count-py {"text":"one two three"}
    err| ✓ word-count ([ms]) 3 words, 13 characters, 1 line
    err| ✓ word-count-py ([ms]) 3 words, 13 characters, 1 line
    exit 0
    "#);
}

/// Y3.4, Y5.4-1: the page on skills, typed in a new project beside the examples.
#[test]
fn the_page_on_skills_does_what_it_says() {
    let desk = Desk::new("");
    let page = page("docs/skills.md");
    for (path, text) in files(&page) {
        desk.world.write(&format!("work/{path}"), format!("{text}\n"));
    }
    desk.world.link(repository().join("examples"), "work/examples");
    let shown = commands(&page);
    assert_eq!(shown.len(), 6);
    let ran: Vec<_> = shown.iter().map(|shown| hold(&desk, &desk.world.work(), shown)).collect();
    assert!(ran[2].stderr.contains("did you mean \"/commit\""), "{}", ran[2].stderr);
    let needs = ["word-count", "line-stats"].map(|tool| format!("the skill needs the tool {tool:?}"));
    assert!(needs.iter().all(|needs| ran[3].stderr.contains(needs)), "{}", ran[3].stderr);
    assert_eq!(ran[4].stderr, "");
    // What the page shows of the message is the form that the model is sent.
    let sent = blocks(&page, "text").concat();
    assert!(sent.starts_with("<skill name=\"commit\" dir=\"") && sent.ends_with("</skill>\nfix the typo"), "{sent}");
}

/// C-3: the tutorial of the guest SDK, file by file and command by command, and its own tests.
#[test]
fn the_tutorial_of_the_sdk_leads_to_a_tool() {
    let desk = Desk::new("");
    let page = page("guest-sdk/README.md");
    for (path, text) in files(&page) {
        desk.world.write(&format!("work/{path}"), format!("{text}\n"));
    }
    desk.world.link(repository(), "work/youyou");
    let dir = desk.world.path("work/shout");
    let tests =
        blocks(&page, "rust").into_iter().find(|block| block.starts_with("#[cfg(test)]")).expect("it has tests");
    let code = desk.world.read("work/shout/src/lib.rs");
    desk.world.write("work/shout/src/lib.rs", format!("{code}\n{tests}\n"));
    prepare(&dir);
    let shown = commands(&page);
    assert_eq!(shown.len(), 4);
    shown.iter().for_each(|shown| _ = hold(&desk, &dir, shown));
    let tested = desk.finish(with_cargo(&desk, &dir, "cargo test"), b"");
    assert_eq!(tested.code, Some(0), "{}", tested.stderr);
    assert!(tested.stdout.contains("2 passed"), "{}", tested.stdout);
}
