//! The example tools, installed in a project and called as an agent would. What their pages say is held by the tests of
//! the command line.

use std::{fs, future::ready};

use serde_json::json;
use youyou::ToolOutput;
use youyou_tests::{
    Server, World,
    agent::{CodeTool, Model, Setup},
    example, repository,
    session::{error_of, text_of},
};

const NAMES: [&str; 5] = ["grep-files", "http-get", "line-stats", "word-count", "word-count-py"];

/// Every example is in the list above.
#[test]
fn every_example_is_known_here() {
    let dir = fs::read_dir(repository().join("examples/tools")).expect("readable");
    let mut found: Vec<_> = dir.map(|entry| entry.expect("readable").file_name()).collect();
    found.sort();
    assert_eq!(found, NAMES);
}

/// A project with every example installed; `http-get` may speak to this port.
fn project(port: u16) -> World {
    let world = World::new("-- work/notes.md\none TODO\n-- work/.hidden\nTODO\n-- outside.txt\nTODO\n");
    for name in NAMES {
        world.link(example(name), &format!("work/.youyou/tools/{name}"));
    }
    // Its own copy, with the port of the test in place of the page's.
    fs::remove_file(world.path("work/.youyou/tools/http-get")).expect("the link");
    let index = fs::read_to_string(example("http-get").join("index.md")).expect("readable");
    assert!(index.contains("127.0.0.1:8080"));
    world.write("work/.youyou/tools/http-get/index.md", index.replace("127.0.0.1:8080", &format!("127.0.0.1:{port}")));
    world.link(example("http-get").join("http_get.wasm"), "work/.youyou/tools/http-get/http_get.wasm");
    world
}

/// C-1, Y3.3-1: scripts and components side by side, each answering for itself.
#[tokio::test]
async fn every_example_works_in_a_project() {
    let server = Server::over(repository().join("examples/tools/grep-files/data"));
    let world = project(server.port());
    let session = world.open();
    assert_eq!(session.runtime().problems(), [], "nothing is to say about them");
    let url = |path: &str| format!("http://127.0.0.1:{}/{path}", server.port());
    let text = json!({"text": "one two three"});
    let results = session
        .batch(&[
            ("word-count", text.clone()),
            ("word-count-py", text),
            ("line-stats", json!({"text": "one\n\nthree words here\n"})),
            ("grep-files", json!({"pattern": "TODO"})),
            ("http-get", json!({"url": url("recipe.txt")})),
        ])
        .await;
    let texts: Vec<_> = results.iter().map(text_of).collect();
    assert_eq!(
        texts[..4],
        [
            "3 words, 13 characters, 1 line",
            "3 words, 13 characters, 1 line",
            "lines: 3\nblank: 1\nlongest: 16 characters, line 3\naverage: 6.3 characters",
            "notes.md:1: one TODO",
        ]
    );
    let recipe = fs::read_to_string(repository().join("examples/tools/grep-files/data/recipe.txt")).expect("readable");
    assert_eq!(texts[4].trim_end(), format!("HTTP 200\n\n{recipe}").trim_end());
    assert_eq!(server.asked(), ["/recipe.txt"]);
}

/// Y3.4-1, Y4.5-1, D-62: the example skill finds its tools, goes into the user's message with its folder, and is offered
/// to the model by name only. Every tool that it has the model call is one that it says it needs.
#[tokio::test]
async fn the_example_skill_is_handed_to_the_model() {
    let replies = "replies: [{ when: { user: { is: 'one two three' } }, say: [{ text: Measured. }] }]";
    let world = World::new("");
    world.link(repository().join("examples/skills/measure"), "home/skills/measure");
    let tool = |name| CodeTool::new(name, |_, _| ready(Ok(ToolOutput::text("measured"))));
    let setup = Setup::of(world, Model::replay(replies)).tool(tool("word-count")).tool(tool("line-stats"));
    let (host, chat) = setup.chat().await;
    assert_eq!(chat.run("/measure one two three").await.text(), "Measured.");
    let request = &host.model().requests()[0];
    let heard = host.world.shown(&host.model().heard(1));
    assert!(heard.starts_with("user: <skill name=\"measure\" dir=\"[world]/home/skills/measure\">"), "{heard}");
    assert!(heard.contains("`./form.md`") && heard.ends_with("user: one two three\n"), "{heard}");
    assert!(host.world.path("home/skills/measure/form.md").is_file());
    assert!(request.system.contains("/measure") && !request.system.contains("form.md"), "{}", request.system);
    let skills = chat.session().skills();
    let (skill, _) = skills.iter().next().expect("the skill is there");
    assert!(skill.required_tools.iter().all(|tool| skill.prompt.contains(&format!("`{tool}`"))), "{skill:?}");
}

/// K-63: what the examples were not granted they do not get.
#[tokio::test]
async fn no_example_reaches_further_than_its_grant() {
    let (granted, other) = (Server::over(repository()), Server::over(repository()));
    let session_world = project(granted.port());
    let session = session_world.open();
    let url = format!("http://127.0.0.1:{}/README.md", other.port());
    let result = session.call("http-get", json!({"url": url})).await;
    assert!(result.output.is_error, "{result:?}");
    assert!(result.output.content.contains("permissions"), "{}", result.output.content);
    assert_eq!(other.asked(), [""; 0], "nobody was asked");
    let missing = session.call("http-get", json!({"url": format!("http://127.0.0.1:{}/no", granted.port())})).await;
    assert!(missing.output.is_error && missing.output.content.starts_with("HTTP 404"), "{missing:?}");
}

/// D-52: a wrong call of each is answered before anything is started.
#[tokio::test]
async fn every_example_refuses_what_it_does_not_take() {
    let world = project(1);
    let session = world.open();
    for name in NAMES {
        let result = session.call(name, json!({"no-such": 1})).await;
        assert!(error_of(&result).message.starts_with(&format!("tool {name:?} was not run: ")), "{:?}", result.error);
    }
}
