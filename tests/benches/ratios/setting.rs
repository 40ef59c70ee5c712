//! Homes full of tools, in folders that go away again, and runtimes over them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use youyou::{CallId, CallScope, CallStats, ComponentHost, HostConfig, Runtime, ToolCall};

use crate::Outcome;

/// The name of the example tool that the rows on components call.
pub(crate) const WORD_COUNT: &str = "word-count";
/// A call of it as it may come from a model.
pub(crate) const ARGUMENTS: &str = r#"{"text":"How many words are there in this short text?"}"#;
/// What it answers.
pub(crate) const ANSWER: &str = "9 words, 44 characters, 1 line";

/// A home, a workspace and a cache of compiled code, all empty at first.
pub(crate) struct Setting(TempDir);

impl Setting {
    pub(crate) fn new() -> Outcome<Self> {
        let setting = Self(tempfile::tempdir()?);
        for dir in [setting.home().join("tools"), setting.workspace(), setting.cache()] {
            fs::create_dir_all(dir)?;
        }
        Ok(setting)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.0.path().join("workspace")
    }

    /// What the user's cache folder is on other days.
    pub(crate) fn cache(&self) -> PathBuf {
        self.0.path().join("cache")
    }

    /// The folder of one tool in the home.
    pub(crate) fn tool(&self, name: &str) -> PathBuf {
        self.home().join("tools").join(name)
    }

    /// Installs the example tool.
    pub(crate) fn install_word_count(&self) -> Outcome {
        let (from, to) = (examples().join(WORD_COUNT), self.tool(WORD_COUNT));
        fs::create_dir_all(&to)?;
        fs::copy(from.join("index.md"), to.join("index.md"))?;
        fs::copy(word_count_wasm()?, to.join("word_count.wasm"))?;
        Ok(())
    }

    /// Installs a tool that is one script.
    pub(crate) fn install_script(&self, name: &str, text: &str) -> Outcome<PathBuf> {
        let dir = self.tool(name);
        fs::create_dir_all(&dir)?;
        fs::write(dir.join("index.md"), index_md(name, "command: ./run"))?;
        let script = dir.join("run");
        fs::write(&script, text)?;
        #[cfg(unix)]
        fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        Ok(script)
    }

    /// Installs many tools: as many scripts and components as asked for. No two share a name, all components a content.
    pub(crate) fn install_many(&self, scripts: usize, components: usize) -> Outcome {
        for number in 0..scripts {
            self.install_script(&format!("script-{number:04}"), "#!/bin/sh\nexit 1\n")?;
        }
        let wasm = self.0.path().join("word_count.wasm");
        fs::copy(word_count_wasm()?, &wasm)?;
        for number in 0..components {
            let name = format!("component-{number:04}");
            let dir = self.tool(&name);
            fs::create_dir_all(&dir)?;
            fs::write(dir.join("index.md"), index_md(&name, "component: word_count.wasm\n  memory_mb: 64"))?;
            fs::hard_link(&wasm, dir.join("word_count.wasm"))?;
        }
        Ok(())
    }

    /// A runtime over it, which keeps compiled code in its cache.
    pub(crate) fn open(&self) -> Outcome<Runtime> {
        let runtime = open(&self.home(), &self.workspace(), self.cache())?;
        if let Some(problem) = runtime.problems().first() {
            return Err(problem.to_string().into());
        }
        Ok(runtime)
    }

    pub(crate) fn scope(&self) -> CallScope {
        CallScope::new(self.workspace())
    }
}

/// As [`Setting::open`], for a process that was told where the folders are.
pub(crate) fn open(home: &Path, workspace: &Path, cache: PathBuf) -> Outcome<Runtime> {
    let mut config = HostConfig::default();
    config.cache_dir = Some(cache);
    Ok(Runtime::builder(home, workspace).components(ComponentHost::new(config)?).open()?)
}

/// A call as the model asks for it.
pub(crate) fn call(tool_name: &str, arguments: &str) -> ToolCall {
    ToolCall { call_id: CallId::new("call-1"), tool_name: tool_name.into(), arguments: arguments.into() }
}

/// Calls a tool and compares its answer.
pub(crate) async fn call_and_compare(runtime: &Runtime, scope: &CallScope, call: ToolCall, answer: &str) -> Outcome {
    let result = runtime.dispatcher().dispatch(call, scope).await?;
    same(&result.output.content, answer)
}

/// Whether a measured thing did what it was measured for.
pub(crate) fn same(found: &str, expected: &str) -> Outcome {
    if found != expected {
        return Err(format!("expected the answer {expected:?}, found {found:?}").into());
    }
    Ok(())
}

/// A scope that also records how a call was done.
pub(crate) fn with_stats(mut scope: CallScope) -> CallScope {
    scope.stats = CallStats::on();
    scope
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/tools")
}

/// The built example.
pub(crate) fn word_count_wasm() -> Outcome<PathBuf> {
    let path = examples().join(WORD_COUNT).join("word_count.wasm");
    if !path.is_file() {
        return Err(format!("run `cargo xtask guests` first: there is no {}", path.display()).into());
    }
    Ok(path)
}

/// A built example plugin.
pub(crate) fn plugin_wasm(id: &str) -> Outcome<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/plugins").join(id).join(format!("{id}.wasm"));
    if !path.is_file() {
        return Err(format!("run `cargo xtask guests` first: there is no {}", path.display()).into());
    }
    Ok(path)
}

/// A definition of ordinary length.
fn index_md(name: &str, execution: &str) -> String {
    format!(
        "---
version: 1
name: {name}
mutating: false
parameters:
  - name: path
    type: string
    description: The file or folder to look at, relative to the working directory.
    required: true
  - name: depth
    type: integer
    description: How many levels of folders to go down; 1 when it is not given.
    required: false
  - {{ name: format, type: string, description: How to write the answer., required: false, enum: [text, json] }}
execution:
  {execution}
  timeout_ms: 5000
---
Looks at a file or folder and tells what is in it: for a file how long it is and what kind of text it holds, for a folder
the names in it, one per line, folders first.

Use it before reading a file whose size is not known. It changes nothing.
"
    )
}
