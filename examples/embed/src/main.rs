//! A host that embeds an agent: one tool in code, one conversation, its events printed as they come.
//!
//! `cargo run -p embed -- 'count the words in: one two three'`. It runs on the recorded demonstration; a real host
//! registers a provider that talks to a model.

use serde_json::json;
use youyou::{
    AgentEventKind, BoxFuture, CallContext, Error, ReplayProvider, SessionOptions, ToolFailure, ToolHandler, ToolInput,
    ToolName, ToolOutput, ToolSpec,
};

/// A tool in code. A folder of the same name would replace it.
struct WordCount(ToolSpec);

impl WordCount {
    fn new(name: ToolName) -> Self {
        Self(ToolSpec {
            name,
            description: "Counts the words of a text.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {"text": {"type": "string"}},
                "required": ["text"],
                "additionalProperties": false,
            }),
            mutating: false,
        })
    }
}

impl ToolHandler for WordCount {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(&'a self, input: ToolInput, _: CallContext) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move {
            // The arguments have been checked against the parameters above.
            let text = input.arguments.get("text").and_then(|text| text.as_str()).unwrap_or_default();
            Ok(ToolOutput::text(format!("{} words", text.split_whitespace().count())))
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let message = std::env::args().nth(1).unwrap_or("count the words in: one two three".to_owned());
    let name = ToolName::new("word-count").expect("a legal name");

    let agent = youyou::agent().provider(ReplayProvider::demo()).tool(WordCount::new(name)).build().await?;
    let session = agent.new_session(SessionOptions::default()).await?;
    let mut events = session.send(message).await?;
    while let Some(event) = events.next().await {
        match event.kind {
            AgentEventKind::TextDelta { text } => print!("{text}"),
            AgentEventKind::ToolCallStart { tool_name, arguments, .. } => println!("\n[{tool_name} {arguments}]"),
            AgentEventKind::ToolCallEnd { output, .. } => println!("[answered: {output}]"),
            AgentEventKind::TurnComplete { .. } => println!(),
            _ => {}
        }
    }
    session.close().await;
    agent.shutdown().await;
    Ok(())
}
