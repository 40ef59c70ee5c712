//! The compiled components that all tests share, ready before the first of them begins.
//!
//! How long compiling takes is a matter of the machine and of how the compiler was built; the time limits of tools are
//! not made for it. Tests about the cache have one of their own.

use std::{path::PathBuf, sync::OnceLock, thread};

use serde_json::{Value, json};

use crate::{Session, World, guests, tool::component, world::components};

/// Where compiled components are kept for all tests, also from one run to the next: below `youyou/components`, as in a
/// user's cache directory. Those of the examples and of the tests' guests are there.
///
/// # Panics
/// When a guest was not built.
pub fn compile_cache() -> PathBuf {
    cache_home().join("youyou/components")
}

/// The cache directory, in the sense of `XDG_CACHE_HOME`, that [`compile_cache`] lies in.
///
/// # Panics
/// As [`compile_cache`].
pub fn cache_home() -> PathBuf {
    static FILLED: OnceLock<PathBuf> = OnceLock::new();
    FILLED.get_or_init(fill).clone()
}

fn fill() -> PathBuf {
    let home = guests::target().join("tmp/youyou-tests/cache");
    let dir = home.join("youyou/components");
    // A thread of its own, since a test may be running on this one's executor.
    let filled = thread::spawn(move || {
        let world = World::new(&["hostile", "echo", "meet"].map(|guest| component(guest, guest, "")).concat());
        for example in ["word-count", "grep-files", "http-get"] {
            world.link(guests::example(example), &format!("home/tools/{example}"));
        }
        let session = world.open_with(components(&dir), |builder| builder);
        let executor = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("an executor");
        executor.block_on(async {
            for (tool, arguments) in calls() {
                load(&session, tool, arguments).await;
            }
        });
    });
    if let Err(panic) = filled.join() {
        std::panic::resume_unwind(panic);
    }
    home
}

/// Calls that need the component and do as good as nothing.
fn calls() -> [(&'static str, Value); 6] {
    [
        ("hostile", json!({"mode": "count"})),
        ("echo", json!({})),
        ("meet", json!({})),
        ("word-count", json!({"text": "a"})),
        ("grep-files", json!({"pattern": "a"})),
        ("http-get", json!({"url": "a"})),
    ]
}

/// Calls a tool until its time was enough; compiling goes on between the calls.
async fn load(session: &Session, tool: &str, arguments: Value) {
    loop {
        let result = session.call(tool, arguments.clone()).await;
        if result.error.is_none_or(|error| error.kind() != Some("LIMIT_TIME")) {
            return;
        }
    }
}
