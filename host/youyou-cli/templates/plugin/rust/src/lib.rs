//! A plugin: one function for each event. The type of its payload names the event, its answer is what it returns.

use youyou_guest::{
    hook, log,
    plugin::{BeforeToolUse, HookError, HookOutcome},
    serde::Deserialize,
    serde_json::Value,
};

/// What stands below `config` in index.md.
#[derive(Default, Deserialize)]
#[serde(crate = "youyou_guest::serde", default)]
struct Config {
    refuse: Vec<String>,
}

/// Refuses calls that name a file that holds secrets.
#[hook]
fn before(payload: BeforeToolUse) -> Result<HookOutcome<BeforeToolUse>, HookError> {
    let config: Config = payload.config()?;
    let arguments = Value::from(payload.arguments).to_string();
    match config.refuse.iter().find(|word| arguments.contains(word.as_str())) {
        Some(word) => {
            log::info!("refusing {}", payload.tool_name);
            Ok(HookOutcome::abort(format!("{{name}}: {word} files hold secrets")))
        }
        None => Ok(HookOutcome::proceed()),
    }
}

#[cfg(test)]
mod tests {
    use youyou_guest::{json, testing};

    use super::*;

    fn payload(path: &str) -> BeforeToolUse {
        let arguments = [("path".to_owned(), json!(path))].into_iter().collect();
        BeforeToolUse { arguments, plugin_config: json!({"refuse": [".env"]}), ..BeforeToolUse::default() }
    }

    #[test]
    fn it_refuses_what_holds_secrets_and_nothing_else() {
        assert!(testing::ask(before, payload("notes.txt")).proceeds_unchanged());
        assert_eq!(testing::ask(before, payload(".env")).abort_reason(), Some("{{name}}: .env files hold secrets"));
    }
}
