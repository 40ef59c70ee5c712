//! Which of two tools of one name is called, over all three levels (Y3.1-1, Y5.1-1).

use serde_json::json;
use youyou::{BoxFuture, CallContext, SourceLabel, ToolFailure, ToolHandler, ToolInput, ToolOutput, ToolSpec};
use youyou_tests::{
    Session, World, compile_cache,
    session::error_of,
    session::text_of,
    tool::{component, hostile, mutating, script},
    world::components,
};

/// A tool in code that says so.
struct InCode(ToolSpec);

impl InCode {
    fn named(name: &str) -> Self {
        Self(ToolSpec {
            name: name.parse().expect("legal"),
            description: String::new(),
            parameters: json!({"type": "object"}),
            mutating: false,
        })
    }
}

impl ToolHandler for InCode {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }
    fn call<'a>(&'a self, _: ToolInput, _: CallContext) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
        Box::pin(async { Ok(ToolOutput::text("code")) })
    }
}

fn project(tool: &str) -> String {
    tool.replace("home/tools/", "work/.youyou/tools/")
}

fn open(world: &World) -> Session {
    world.open_with(components(&compile_cache()), |builder| builder.tool(InCode::named("a")).tool(InCode::named("c")))
}

/// Y3.1-1, Y4.4-1: the project's folder, then the user's, then code; and the label says which it was.
#[tokio::test]
async fn the_higher_level_is_called_and_keeps_its_label() {
    let world = World::new(
        &[
            script("a", "echo global"),
            script("b", "echo global"),
            project(&script("a", "echo project")),
            project(&script("d", "echo project")),
        ]
        .concat(),
    );
    let session = open(&world);
    let called = session.batch(&["a", "b", "c", "d"].map(|name| (name, json!({})))).await;
    assert_eq!(called.iter().map(text_of).collect::<Vec<_>>(), ["project", "global", "code", "project"]);

    use SourceLabel::{Global, Programmatic, Project};
    let listed: Vec<_> = session
        .runtime()
        .tools()
        .iter()
        .map(|tool| (tool.spec.name.as_str(), tool.source, tool.backend, tool.shadowed_by))
        .collect();
    assert_eq!(
        listed,
        [
            ("a", Project, "script", None),
            ("a", Global, "script", Some(Project)),
            ("a", Programmatic, "code", Some(Project)),
            ("b", Global, "script", None),
            ("c", Programmatic, "code", None),
            ("d", Project, "script", None),
        ]
    );
    assert_eq!(session.runtime().problems().iter().filter(|problem| problem.is_error()).count(), 0);
}

/// Y3.3-3: whatever is registered may be called, whoever made it, however it is run and whether it changes things.
#[tokio::test]
async fn every_registered_tool_may_be_called() {
    let world = World::new(
        &[
            mutating(&script("a-script", "echo done")),
            project(&script("b-script", "echo done")),
            component("component", "meet", ""),
            mutating(&hostile("hostile", "")),
        ]
        .concat(),
    );
    let session = open(&world);
    let names: Vec<_> = session.runtime().tools().iter().map(|tool| tool.spec.name.to_string()).collect();
    assert_eq!(names, ["a", "a-script", "b-script", "c", "component", "hostile"]);
    for name in names {
        let result = session.call(&name, json!({"mode": "count"})).await;
        assert!(result.success(), "{result:?}");
    }
}

/// Y3.1-1, Y5.2-1: a folder that cannot be used replaces nothing; that it was meant to is said.
#[tokio::test]
async fn a_broken_folder_leaves_its_name_to_the_level_below() {
    let world = World::new(&script("a", "echo global"));
    world.write("work/.youyou/tools/a/index.md", "---\nname: a\n---\n");
    world.write("work/.youyou/tools/c/index.md", "");
    world.write("work/.youyou/tools/e/index.md", "");
    let session = open(&world);
    assert_eq!(text_of(&session.call("a", json!({})).await), "global");
    assert_eq!(text_of(&session.call("c", json!({})).await), "code");
    assert!(error_of(&session.call("e", json!({})).await).message.contains("index.md is empty"));
    let problems: Vec<_> = session.runtime().problems().iter().filter(|problem| problem.is_error()).collect();
    let folders: Vec<_> = problems.iter().filter_map(|problem| problem.folder.as_deref()).collect();
    assert_eq!(folders, ["a", "a", "c", "e"], "{problems:?}");
}
