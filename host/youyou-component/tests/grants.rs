//! K-63 and DESIGN §7 "Grants" with a real guest that reaches for what it was not given: what it sees, what it gets,
//! and which line the author is told to write.

mod guest;

use std::{fs, path::PathBuf, time::Duration};

use guest::{Fixture, error_of, input};
use serde_json::{Value, json};
use youyou_api::{CallContext, ToolFailure, ToolHandler, ToolOutput};
use youyou_component::Grants;

/// A working directory with files, and files beside it.
///
/// ```text
/// outside/secret.txt
/// work/data/a.txt, work/data/sub/b.txt
/// work/data/in -> sub/b.txt, notes -> ../notes.txt, out -> ../../outside, abs -> work/data/a.txt by its absolute path
/// work/out/
/// work/notes.txt
/// ```
struct World {
    _dir: tempfile::TempDir,
    root: PathBuf,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path().canonicalize().expect("a path");
        for folder in ["outside", "work/data/sub", "work/out"] {
            fs::create_dir_all(root.join(folder)).expect("folders");
        }
        for file in ["outside/secret.txt", "work/data/a.txt", "work/data/sub/b.txt", "work/notes.txt"] {
            fs::write(root.join(file), format!("text of {file}")).expect("files");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            symlink("../../outside", root.join("work/data/out")).expect("a link");
            symlink(root.join("work/data/a.txt"), root.join("work/data/abs")).expect("a link");
            symlink("sub/b.txt", root.join("work/data/in")).expect("a link");
            symlink("../notes.txt", root.join("work/data/notes")).expect("a link");
        }
        Self { _dir: dir, root }
    }

    fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// Runs the guest; what it got or the error it met, and below it what the host adds for the author.
    ///
    /// The random part of the path is replaced by `ROOT`.
    async fn attempt(&self, grants: &Grants, arguments: Value) -> String {
        match self.call(grants, arguments).await {
            Ok(output) if output.is_error => self.shown(&format!("error: {}", output.content)),
            Ok(output) => self.shown(&output.content),
            Err(failure) => panic!("the call failed: {failure}"),
        }
    }

    async fn call(&self, grants: &Grants, arguments: Value) -> Result<ToolOutput, ToolFailure> {
        let tool = Fixture::shared().tool_with("reacher", |component| component.grants = grants.clone());
        tool.warm_up().await.expect("loads");
        tool.call(input(arguments), CallContext::new(self.work(), Duration::from_secs(60))).await
    }

    fn shown(&self, text: &str) -> String {
        text.replace(&*self.root.to_string_lossy(), "ROOT")
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap_or_else(|error| error.kind().to_string())
    }
}

fn grants(read: &[&str], write: &[&str], env: &[&str], net: &[&str]) -> Grants {
    let list = |entries: &[&str]| entries.iter().map(|entry| (*entry).to_owned()).collect::<Vec<_>>();
    Grants::parse(&list(read), &list(write), &list(env), &list(net)).expect("grants")
}

fn none() -> Grants {
    Grants::default()
}

#[path = "grants/files.rs"]
mod files;
#[path = "grants/network.rs"]
mod network;

/// K-63: only the named variables, with the host's values; one that is not set is absent.
#[tokio::test]
async fn the_environment_holds_what_is_granted_and_set() {
    let world = World::new();
    let granted = grants(&[], &[], &["CARGO_PKG_NAME", "YOUYOU_NO_SUCH_VARIABLE"], &[]);
    assert_eq!(world.attempt(&granted, json!({"mode": "env"})).await, "CARGO_PKG_NAME=youyou-component");
    assert_eq!(world.attempt(&none(), json!({"mode": "env"})).await, "");
    assert_eq!(world.attempt(&none(), json!({"mode": "args"})).await, "[]");
}

/// DESIGN §7: budgets on handles.
#[tokio::test]
async fn the_handles_of_a_call_are_limited() {
    let world = World::new();
    let granted = grants(&["./data"], &[], &[], &[]);
    let few = json!({"mode": "open-many", "path": "data/a.txt", "count": 1000});
    assert_eq!(world.attempt(&granted, few).await, "1000");
    let many = json!({"mode": "open-many", "path": "data/a.txt", "count": 5000});
    let error = error_of(world.call(&granted, many).await);
    assert_eq!(error.kind(), Some("LIMIT_HANDLES"));
    assert!(error.message.contains("4096 open handles"), "{error}");
}
