//! The system prompt: what the model is told before anything is said (Y4.3-1, D-63).

use tracing::Level;
use youyou::{SectionName, SessionOptions, Skill};
use youyou_tests::{
    agent::{CodeTool, Setup},
    recorded,
};

const YES: &str = "replies: [{ repeat: true, say: [{ text: Yes. }] }]";

/// Y4.3-1, Y3.1-4, Y3.4-2: the sections in their order, and exactly what the host was shown beforehand.
#[tokio::test]
async fn the_prompt_is_sent_as_it_is_shown() {
    let tree = "
-- home/AGENT.md
Be kind.
-- home/SOUL.md
You are a gardener.
-- work/.youyou/AGENT.md
Be brief.
";
    let suggestible = Skill {
        name: "commit".into(),
        display_name: "Commit".into(),
        description: "Commits the work.".into(),
        prompt: "Never shown here.".into(),
        required_tools: Vec::new(),
        allow_implicit_invocation: true,
        dir: None,
    };
    let setup = Setup::over(tree, YES).tool(CodeTool::answering("read", "text")).skill(suggestible);
    let host = setup.with(|agent| agent.base_instructions("Help.")).build().await;
    let shown = host.agent.prompt(&SessionOptions::default()).expect("a prompt");
    let names: Vec<_> = shown.sections().iter().map(|section| section.name).collect();
    let expected = [
        SectionName::BaseInstructions,
        SectionName::GlobalInstructions,
        SectionName::ProjectInstructions,
        SectionName::Personality,
        SectionName::Tools,
        SectionName::Skills,
        SectionName::Environment,
    ];
    assert_eq!(names, expected);
    let chat = host.chat().await;
    chat.run("hi").await;
    let requests = host.model().requests();
    let sent = &requests[0].system;
    assert_eq!(*sent, shown.render());
    assert_eq!(*sent, chat.session().prompt().render());
    let place = |text: &str| sent.find(text).unwrap_or_else(|| panic!("{text:?} is in\n{sent}"));
    let places = ["Help.", "Be kind.", "Be brief.", "gardener", "Does read.", "/commit: Commits", "Working directory"]
        .map(place);
    assert!(places.is_sorted(), "{places:?}");
    assert!(!sent.contains("Never shown here."));
    let tools: Vec<_> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(tools, ["read"]);
}

/// K-44, D-63: cut at a line end with a marker and a warning; what is not UTF-8 is replaced, with a warning.
#[test]
fn odd_instructions_are_used_as_far_as_they_go() {
    let ((host, prompt), log) = recorded(async |_| {
        let setup = Setup::new(YES);
        setup.world().write("home/AGENT.md", "A line of instructions.\n".repeat(14_124));
        setup.world().write("work/.youyou/AGENT.md", b"Use \xff\xfe please.\n");
        let host = setup.build().await;
        let chat = host.chat().await;
        chat.run("hi").await;
        let prompt = host.model().requests()[0].system.clone();
        (host, prompt)
    });
    assert!(prompt.len() < 70_000, "{} bytes", prompt.len());
    let marker =
        "A line of instructions.\n\n[AGENT.md is cut here: it is 338976 bytes long, and at most 64 KiB of it are used]";
    assert!(prompt.contains(marker));
    assert!(prompt.contains("Use \u{fffd}\u{fffd} please."));
    let warnings: String = log.lines(Level::WARN).iter().map(|line| host.world.shown(line) + "\n").collect();
    insta::assert_snapshot!(warnings, @r#"
    youyou::agent: [world]/home/AGENT.md:2727: AGENT.md is 338976 bytes long, but at most 64 KiB of it are used (shorten it; what follows this line is not used)
    youyou::agent: [world]/work/.youyou/AGENT.md:1: AGENT.md is not UTF-8: byte 5 is invalid; what cannot be read is replaced by U+FFFD (save it as UTF-8)
    "#);
}
