//! One conversation over the wire of each API: the host cannot tell them apart.

use serde_json::{Value, json};
use youyou::{Api, ApiKey, AttachmentSource, HttpProvider, HttpSettings, Model as ApiModel, Reasoning, UserMessage};
use youyou_tests::{
    ApiServer, Say, World,
    agent::{CodeTool, Model, Setup},
};

/// A PNG of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

fn replies() -> Vec<Vec<Say>> {
    vec![
        vec![
            Say::Reasoning("The user wants two things."),
            Say::Text("Grüße, I look.".into()),
            Say::Calls(vec![("read", json!({"path": "größe.txt"})), ("count", json!({"n": 2}))]),
        ],
        vec![Say::Text("Both are done.".into())],
        vec![Say::Text("You are welcome.".into())],
    ]
}

fn model_of(server: &ApiServer, api: Api) -> Model {
    let mut model = ApiModel::unknown("m", 100_000);
    model.info.capabilities.vision = true;
    model.reasoning = if api == Api::OpenAiChat { Reasoning::None } else { Reasoning::Effort };
    model.max_output = Some(4000);
    let settings = HttpSettings::new("p", api, ApiKey::new("sk-very-secret-key"));
    let settings = HttpSettings { base_url: server.base_url(), models: vec![model], ..settings };
    Model::new(HttpProvider::new(settings).expect("settings"))
}

/// The transcript of both turns, and what was sent last.
async fn converse(api: Api) -> (String, Value) {
    let server = ApiServer::speaking(api, replies());
    let setup = Setup::of(World::new(""), model_of(&server, api))
        .tool(CodeTool::answering("read", "200 g"))
        .tool(CodeTool::answering("count", "2"));
    let (_host, chat) = setup.chat().await;
    let image = AttachmentSource::ImageData { data: PIXEL.to_owned(), name: Some("pixel".to_owned()) };
    let message = UserMessage { text: "Look at this.".to_owned(), attachments: vec![image] };
    let first = chat.run(message).await;
    let second = chat.run("Thank you.").await;
    assert_eq!(server.broken_rules(), Vec::<String>::new());
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    (format!("{first}--\n{second}"), requests[2].clone())
}

/// Y3.2, K-21: text, two parallel calls, reasoning and an image, by four wires.
#[tokio::test]
async fn one_conversation_has_one_transcript_over_every_api() {
    let (chat, sent) = converse(Api::OpenAiChat).await;
    insta::assert_snapshot!(chat, @r#"
    step 1
    reasoning "The "
    reasoning "user "
    reasoning "wants "
    reasoning "two "
    reasoning "things."
    text "Grüße, "
    text "I "
    text "look."
    step 1 ends: 11 tokens read, 7 written
    call-1 read starts with {"path":"größe.txt"}
    call-2 count starts with {"n":2}
    call-1 read succeeds: 200 g
    call-2 count succeeds: 2
    step 2
    text "Both "
    text "are "
    text "done."
    step 2 ends: 11 tokens read, 7 written
    turn completed
    --
    step 1
    text "You "
    text "are "
    text "welcome."
    step 1 ends: 11 tokens read, 7 written
    turn completed
    "#);
    assert!(sent.to_string().contains(PIXEL));
    for api in [Api::OpenAiResponses, Api::Anthropic, Api::Gemini] {
        let (transcript, sent) = converse(api).await;
        assert_eq!(transcript, chat, "{}", api.as_str());
        let sent = sent.to_string();
        // The reasoning of the first step went back as it came, and the image with it.
        assert!(sent.contains("sealed") && sent.contains(PIXEL), "{}: {sent}", api.as_str());
    }
}
