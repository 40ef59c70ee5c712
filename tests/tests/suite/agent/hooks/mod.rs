//! What handlers may do at each event, and what they may break: nothing (Y3.6, Y4.6).

mod calls;
mod compaction;
mod turns;

use std::future::ready;

use serde_json::{Value, json};
use youyou::{HookEvent, ToolOutput};
use youyou_tests::agent::{Chat, CodePlugin, CodeTool, Host, Setup, plugin::with};

const CALL: &str = "
replies:
  - say: [{ call: { tool_name: echo, arguments: { x: 1 } } }]
  - say: [{ text: Done. }]
";

const YES: &str = "replies: [{ repeat: true, say: [{ text: Yes. }] }]";

/// Says what it was called with. Takes a number `x`, and no more.
fn echo() -> CodeTool {
    let tool = CodeTool::new("echo", |input, _| {
        ready(Ok(ToolOutput::text(format!("got {}", Value::Object(input.arguments)))))
    });
    let number = json!({"type": "object", "properties": {"x": {"type": "number"}}, "additionalProperties": false});
    tool.taking(number)
}

/// A turn that calls `echo` with `{"x":1}`, with these plugins.
async fn echoed(plugins: impl IntoIterator<Item = CodePlugin>) -> (Host, Chat, String) {
    let setup = plugins.into_iter().fold(Setup::new(CALL).tool(echo()), Setup::plugin);
    let (host, chat) = setup.chat().await;
    let turn = chat.run("go").await.to_string();
    (host, chat, turn)
}

fn arguments(id: &str, arguments: Value) -> CodePlugin {
    CodePlugin::new(id).on(HookEvent::BeforeToolUse, move |_| with(json!({"arguments": arguments})))
}
