//! Refuses tool calls whose arguments name a path outside of the workspace.

mod path;

use youyou_guest::{
    hook,
    plugin::{BeforeToolUse, HookError, HookOutcome},
    serde::Deserialize,
    serde_json::{Map, Value},
};

/// The configuration.
#[derive(Deserialize)]
#[serde(crate = "youyou_guest::serde", default, deny_unknown_fields)]
struct Config {
    /// Arguments that hold a path, or a list of paths; capitals do not count.
    keys: Vec<String>,
    /// Absolute folders that count as inside.
    roots: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        const KEYS: [&str; 12] = [
            "path",
            "paths",
            "file",
            "files",
            "file_path",
            "filename",
            "dir",
            "directory",
            "cwd",
            "source",
            "target",
            "destination",
        ];
        Self { keys: KEYS.map(str::to_owned).to_vec(), roots: Vec::new() }
    }
}

/// Refuses a call that would leave the workspace.
#[hook]
fn guard(payload: BeforeToolUse) -> Result<HookOutcome<BeforeToolUse>, HookError> {
    let config: Config = payload.config()?;
    Ok(match first_outside(&payload.arguments, &config) {
        Some((key, path)) => HookOutcome::abort(format!(
            "{}: the argument {key:?} leads out of the workspace: {path:?}; use a path inside of it",
            payload.tool_name
        )),
        None => HookOutcome::proceed(),
    })
}

/// The first path that leads out, with its key; objects inside the arguments are searched too.
fn first_outside(arguments: &Map<String, Value>, config: &Config) -> Option<(String, String)> {
    arguments.iter().find_map(|(key, value)| {
        let is_path = config.keys.iter().any(|known| known.eq_ignore_ascii_case(key));
        outside_in(value, is_path, config).map(|found| match found {
            Found::Here(path) => (key.clone(), path),
            Found::Below(key, path) => (key, path),
        })
    })
}

enum Found {
    Here(String),
    Below(String, String),
}

fn outside_in(value: &Value, is_path: bool, config: &Config) -> Option<Found> {
    match value {
        Value::String(text) if is_path && path::leads_out(text, &config.roots) => Some(Found::Here(text.clone())),
        Value::Array(values) => values.iter().find_map(|value| outside_in(value, is_path, config)),
        Value::Object(object) => first_outside(object, config).map(|(key, path)| Found::Below(key, path)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use youyou_guest::{json, testing};

    use super::*;

    fn asked(arguments: Value, plugin_config: Value) -> testing::HookRun {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        testing::ask(
            guard,
            BeforeToolUse { tool_name: "write-file".to_owned(), arguments, plugin_config, ..BeforeToolUse::default() },
        )
    }

    #[track_caller]
    fn refused(arguments: Value) -> String {
        asked(arguments, Value::Null).abort_reason().expect("refused").to_owned()
    }

    #[test]
    fn a_path_that_leaves_the_workspace_is_refused_by_name() {
        assert_eq!(
            refused(json!({"text": "a", "path": "src/../../b"})),
            "write-file: the argument \"path\" leads out of the workspace: \"src/../../b\"; use a path inside of it"
        );
    }

    #[test]
    fn paths_in_lists_and_in_objects_are_found() {
        assert!(refused(json!({"files": ["a", "/etc/passwd"]})).contains("\"files\""));
        assert!(refused(json!({"edit": [{"File_Path": "~/x"}]})).contains("\"File_Path\""));
    }

    #[test]
    fn everything_else_goes_on() {
        for arguments in [
            json!({}),
            json!({"path": "src/lib.rs", "files": ["a/../b", "."], "text": "/etc/passwd"}),
            json!({"path": 5, "dir": null}),
        ] {
            assert!(asked(arguments.clone(), Value::Null).proceeds_unchanged(), "{arguments}");
        }
    }

    #[test]
    fn the_configuration_names_keys_and_roots() {
        let config = json!({"keys": ["where"], "roots": ["/srv/data"]});
        assert!(asked(json!({"path": "/etc"}), config.clone()).proceeds_unchanged());
        assert!(asked(json!({"where": "/etc"}), config.clone()).abort_reason().is_some());
        assert!(asked(json!({"where": "/srv/data/a"}), config).proceeds_unchanged());
        let unknown = asked(json!({}), json!({"key": []}));
        assert_eq!(unknown.guest_error().map(|error| error.code.as_str()), Some("INVALID_CONFIG"));
    }
}
