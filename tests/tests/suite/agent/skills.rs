//! Skills: the user calls one by name, and the model gets its prompt (Y3.4, D-61, D-62).

use youyou::{ErrorCode, Skill};
use youyou_tests::agent::{Chat, Host, Setup};

const YES: &str = "replies: [{ repeat: true, say: [{ text: Yes. }] }]";

const COMMIT: &str = "
-- home/skills/commit/index.md
---
version: 1
name: commit
description: Commits the work.
---
Read ./style.md first, then commit.
-- work/.youyou/skills/提交/index.md
---
version: 1
name: 提交
description: 提交工作。
---
请提交。
";

async fn chat() -> (Host, Chat) {
    Setup::over(COMMIT, YES).chat().await
}

/// What the model was sent last.
fn heard(host: &Host) -> String {
    host.world.shown(&host.model().heard(host.model().requests().len()))
}

/// Y3.4-1, D-62: the prompt stands before the user's own words, with the folder that its paths start from.
#[tokio::test]
async fn a_called_skill_is_put_before_what_the_user_wrote() {
    let (host, chat) = chat().await;
    chat.run("/commit fix the bug").await;
    insta::assert_snapshot!(heard(&host), @r#"
    user: <skill name="commit" dir="[world]/home/skills/commit">
      Read ./style.md first, then commit.
      </skill>
    user: fix the bug
    "#);
}

/// Y3.4-1, D-62: it stays in the conversation, for that message alone.
#[tokio::test]
async fn a_called_skill_stays_with_its_message() {
    let (host, chat) = chat().await;
    chat.run("/提交").await;
    chat.run("and now?").await;
    insta::assert_snapshot!(heard(&host), @r#"
    user: <skill name="提交" dir="[world]/work/.youyou/skills/提交">
      请提交。
      </skill>
    assistant: Yes.
    user: and now?
    "#);
}

/// D-61, Y4.5-1: a name that nobody knows is refused with the nearest one; nothing of it is kept, and nothing was asked.
#[tokio::test]
async fn an_unknown_skill_leaves_no_trace() {
    let (host, chat) = chat().await;
    let error = chat.refused("/comit fix the bug").await;
    assert_eq!(error.code, ErrorCode::SkillNotFound);
    insta::assert_snapshot!(error.message, @r#"no skill is named "comit"; did you mean "/commit"? Or write "//comit" if it is meant as text"#);
    assert_eq!(chat.session().entries().await, []);
    assert_eq!(host.model().requests().len(), 0);
    assert_eq!(chat.run("/commit").await.events[0].sequence, 1, "nothing was told either");
}

/// D-61: two slashes make it text; a path is text anyway; a skill named later in the text is not called.
#[tokio::test]
async fn what_is_meant_as_text_is_text() {
    let (host, chat) = chat().await;
    for (typed, sent) in [
        ("//commit now", "/commit now"),
        ("/usr/bin", "/usr/bin"),
        ("please /commit", "please /commit"),
        ("// a comment", "// a comment"),
    ] {
        chat.run(typed).await;
        assert!(heard(&host).ends_with(&format!("user: {sent}\n")), "{}", heard(&host));
    }
    assert!(!heard(&host).contains("<skill"));
}

/// Y3.4-3, Y3.4-2: a skill in code has no folder; the model's own words never call one.
#[tokio::test]
async fn only_the_user_calls_a_skill() {
    let greet = Skill {
        name: "greet".into(),
        display_name: "Greet".into(),
        description: "Greets.".into(),
        prompt: "Greet everybody.".into(),
        required_tools: Vec::new(),
        allow_implicit_invocation: true,
        dir: None,
    };
    let replies = "replies: [{ say: [{ text: /greet }] }, { repeat: true, say: [{ text: Yes. }] }]";
    let (host, chat) = Setup::new(replies).skill(greet).chat().await;
    chat.run("What can I do?").await;
    chat.run("go on").await;
    insta::assert_snapshot!(heard(&host), @r#"
    user: What can I do?
    assistant: /greet
    user: go on
    "#);
    chat.run("/greet").await;
    insta::assert_snapshot!(heard(&host).lines().last().unwrap_or_default(), @r#"  </skill>"#);
    assert!(heard(&host).contains("<skill name=\"greet\">"));
}
