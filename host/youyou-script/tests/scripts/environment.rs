//! What a script finds around it: variables, arguments, its working directory.

use std::collections::BTreeMap;

use youyou_api::{SessionId, ToolHandler, ToolOutput};
use youyou_script::{ENV_DEPTH, ENV_SESSION_ID, ScriptCommand};

use crate::kit::{Folder, in_own_process, input};

/// K-34, Y5.6-5, D-55.
#[tokio::test]
async fn only_arguments_with_a_leading_dot_are_paths_of_the_folder() {
    let folder = Folder::with("printf '%s\\n' \"$@\"");
    let output = folder.call_command(folder.command("run", &["-c", "a/b", "./x", "../y"])).await.expect("it ran");
    let dir = folder.dir().display().to_string();
    assert_eq!(output.content, format!("-c\na/b\n{dir}/x\n{dir}/../y"));
}

/// Y5.6-5, D-56: the session's working directory, not this process's.
#[tokio::test]
async fn a_script_runs_in_the_sessions_directory_unless_told_otherwise() {
    let folder = Folder::with("pwd");
    std::fs::create_dir(folder.cwd().join("sub")).expect("mkdir");
    let at = |written: Option<&str>| {
        let working_directory = written.map(str::to_owned);
        folder.call_command(ScriptCommand { working_directory, ..folder.command("run", &[]) })
    };
    let cwd = folder.cwd().canonicalize().expect("exists").display().to_string();
    assert_eq!(at(None).await, Ok(ToolOutput::text(&cwd)));
    assert_eq!(at(Some("./sub")).await, Ok(ToolOutput::text(format!("{cwd}/sub"))));
    assert_eq!(at(Some("/")).await, Ok(ToolOutput::text("/")));
}

/// Y5.6-1: no shell looks at the arguments.
#[tokio::test]
async fn no_shell_touches_the_arguments() {
    let folder = Folder::with("printf '%s\\n' \"$@\"");
    let output = folder.call_command(folder.command("run", &["$HOME", "a b", "*", "`id`", ""])).await.expect("it ran");
    assert_eq!(output.content, "$HOME\na b\n*\n`id`\n");
}

/// Y5.6-4. The parent's own values must be seen to be replaced or removed, so this runs in a process that has some.
#[test]
fn the_environment_is_inherited_and_the_own_variables_are_set() {
    let variables = [(ENV_SESSION_ID, "outer"), (ENV_DEPTH, "3"), ("INHERITED", "yes")];
    in_own_process("environment::in_a_nested_process", &variables);
}

#[tokio::test]
#[ignore = "started by the test above in a process of its own"]
async fn in_a_nested_process() {
    let folder = Folder::with("env");
    let variables = async |session: Option<SessionId>| {
        let mut context = folder.context();
        context.session = session;
        let output = folder.tool(folder.command("run", &[])).call(input(Default::default()), context).await;
        let content = output.expect("it ran").content;
        let pairs = content.lines().filter_map(|line| line.split_once('='));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(folder.host().depth(), 3);

    let without = variables(None).await;
    assert_eq!(without["INHERITED"], "yes");
    assert_eq!(without["YOUYOU_HOME"], folder.host().home().display().to_string());
    assert_eq!(without["YOUYOU_COMPONENT_DIR"], folder.dir().display().to_string());
    assert_eq!(without["YOUYOU_DEPTH"], "4");
    assert_eq!(without["PYTHONDONTWRITEBYTECODE"], "1");
    assert_eq!(without.get("YOUYOU_SESSION_ID"), None);

    let with = variables(Some(SessionId::new("inner"))).await;
    assert_eq!(with["YOUYOU_SESSION_ID"], "inner");
}
