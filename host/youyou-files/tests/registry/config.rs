//! config.yaml from real files: what it becomes, what is warned of, and what stops the build.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use youyou_api::{Error, ErrorCode};
use youyou_files::{Config, MemoriesIn, Problem, SessionsIn, StorageConfig, load_config};

use crate::tree::Tree;

fn load(config: impl AsRef<[u8]>) -> Result<(Config, Vec<Problem>), Error> {
    load_config(&Tree::new().write("home/config.yaml", config).path("home"))
}

/// The configuration, about which nothing is to say.
fn fine(config: impl AsRef<[u8]>) -> Config {
    let (config, remarks) = load(config).expect("loads");
    assert_eq!(remarks, []);
    config
}

/// What is said, errors and warnings, without the path.
fn said(config: impl AsRef<[u8]>) -> String {
    let tree = Tree::new();
    tree.write("home/config.yaml", config);
    let home = format!("{}{}", tree.path("home").display(), std::path::MAIN_SEPARATOR);
    match load_config(&tree.path("home")) {
        Ok((_, problems)) => tree.shown(&problems).replace("home/", ""),
        Err(error) => format!("{error}\n").replace(&home, ""),
    }
}

/// Y5.7-1: every key.
#[test]
fn a_full_config_arrives_whole() {
    let full = "\
# Mine.
default_model: big-1
tool_timeout_ms: 5000
compact_threshold: 0.5
compact_model: small-1
compact_prompt: |
  Sum it up.
  Briefly.
max_tool_calls_per_turn: 7
memory_model: small-2
memory_checkpoint_interval: 3
memory_max_items: 4
plugin_configs:
  acme.guard: { deny: [\"rm *\"], depth: 2 }
  plain: text
storage: { sessions: sqlite, memories: none }
";
    let plugin_configs = json!({"acme.guard": {"deny": ["rm *"], "depth": 2}, "plain": "text"});
    let owned = |text: &str| Some(text.to_owned());
    let expected = Config {
        default_model: owned("big-1"),
        tool_timeout: Duration::from_secs(5),
        compact_threshold: 0.5,
        compact_model: owned("small-1"),
        compact_prompt: owned("Sum it up.\nBriefly.\n"),
        max_tool_calls_per_turn: 7,
        memory_model: owned("small-2"),
        memory_checkpoint_interval: 3,
        memory_max_items: 4,
        plugin_configs: plugin_configs.as_object().expect("a mapping").clone(),
        providers: Vec::new(),
        storage: StorageConfig { sessions: SessionsIn::Sqlite, memories: MemoriesIn::Nowhere },
    };
    assert_eq!(fine(full), expected);
    // K-40's kind.
    assert_eq!(fine(format!("\u{feff}{}", full.replace('\n', "\r\n"))), expected);
    assert_eq!(fine(format!("---\n{full}")), expected);
}

/// Y5.7-1, D-43: the documented defaults, without a file, with an empty one, and with empty keys.
#[test]
fn what_is_not_given_has_its_default() {
    let defaults = Config::default();
    assert_eq!(defaults.tool_timeout, Duration::from_millis(120_000));
    assert!((defaults.compact_threshold - 0.8).abs() < f64::EPSILON);
    assert_eq!(
        (defaults.max_tool_calls_per_turn, defaults.memory_checkpoint_interval, defaults.memory_max_items),
        (50, 10, 20)
    );
    let tree = Tree::new();
    for home in ["home", "nowhere"] {
        assert_eq!(load_config(&tree.write("home/x", "").path(home)), Ok((defaults.clone(), Vec::new())));
    }
    for empty in ["", "\n", "# default_model: x\n", "\u{feff}", "default_model:\nplugin_configs:\n", "{}\n"] {
        assert_eq!(fine(empty), defaults, "{empty:?}");
    }
}

/// Y3.7, Y3.8: where things are kept is one of a few words; what is no such word is told with its place.
#[test]
fn a_store_is_one_that_there_is() {
    for (text, sessions, memories) in [
        ("storage: { sessions: jsonl }", SessionsIn::Jsonl, MemoriesIn::Sqlite),
        ("storage: { sessions: none, memories: sqlite }", SessionsIn::Nowhere, MemoriesIn::Sqlite),
        ("storage:\n", SessionsIn::Jsonl, MemoriesIn::Sqlite),
    ] {
        assert_eq!(fine(text).storage, StorageConfig { sessions, memories }, "{text}");
    }
    insta::assert_snapshot!(said("storage:\n  sessions: sqlight\n  memories: jsonl\n"), @r#"CONFIG_PARSE_ERROR: config.yaml:2:13: `storage.sessions` must be one of jsonl, sqlite, none, found "sqlight"; and 1 more"#);
    insta::assert_snapshot!(said("storage:\n  memory: none\n"), @r#"CONFIG_PARSE_ERROR: config.yaml:2:3: "memory" is not a key of `storage` (did you mean `memories`?)"#);
    insta::assert_snapshot!(said("storage: sqlite\n"), @r#"CONFIG_PARSE_ERROR: config.yaml:1:10: `storage` must be a mapping, found the text "sqlite" (allowed keys: sessions, memories)"#);
    insta::assert_snapshot!(said("storage: { sessions: [jsonl] }\n"), @"CONFIG_PARSE_ERROR: config.yaml:1:22: `storage.sessions` must be a text, found a list (write one text; quote it if it begins with `[`, `{` or `- `)");
}

/// D-43: the nearest key is named, with the place; the rest of the file counts.
#[test]
fn an_unknown_key_is_warned_of() {
    let text = "default_modle: a\nmax_tool_calls: 3\nmodel: b\ncolour: red\nmemory_max_items: 5\n";
    let (config, problems) = load(text).expect("loads");
    assert_eq!((config.memory_max_items, config.default_model), (5, None));
    assert!(problems.iter().all(|problem| !problem.is_error() && problem.folder.is_none()));
    insta::assert_snapshot!(said(text), @r#"
    warning: config.yaml:1:1: "default_modle" is not a key of config.yaml (did you mean `default_model`?)
    warning: config.yaml:2:1: "max_tool_calls" is not a key of config.yaml (did you mean `max_tool_calls_per_turn`?)
    warning: config.yaml:3:1: "model" is not a key of config.yaml (did you mean `default_model`?)
    warning: config.yaml:4:1: "colour" is not a key of config.yaml (allowed keys: default_model, tool_timeout_ms, compact_threshold, compact_model, compact_prompt, max_tool_calls_per_turn, memory_model, memory_checkpoint_interval, memory_max_items, plugin_configs, providers, storage)
    "#);
}

/// D-43, Y10: values out of range stop the build, with file, line and column; all of them are listed.
#[test]
fn a_value_out_of_range_is_a_parse_error() {
    for share in ["0", "0.0", "-0.5", "1.01", "80", ".nan", ".inf", "\"0.8\"", "80%", "[0.8]"] {
        let error = load(format!("# x\ncompact_threshold: {share}\n")).expect_err(share);
        assert_eq!(error.code, ErrorCode::ConfigParseError, "{share}");
        assert!(error.message.contains("config.yaml:2:20: `compact_threshold` must be"), "{error}");
    }
    for share in ["1", "1.0", "0.001"] {
        fine(format!("compact_threshold: {share}\n"));
    }
    for key in ["tool_timeout_ms", "max_tool_calls_per_turn", "memory_checkpoint_interval", "memory_max_items"] {
        for wrong in ["0", "-1", "1.5", "many", "1e30", "99999999999999999999"] {
            let error = load(format!("{key}: {wrong}\n")).expect_err(wrong);
            assert_eq!(error.code, ErrorCode::ConfigParseError);
            assert!(error.message.contains(&format!("config.yaml:1:{}: ", key.len() + 3)), "{error}");
        }
    }
    let error = load("tool_timeout_ms: 0\nmemory_max_items: 0\ncolour: red\n").expect_err("refused");
    assert_eq!(error.details["problems"].as_array().map(Vec::len), Some(3));
    assert!(error.message.ends_with("; and 1 more"), "{error}");
}

/// Y5.7-1, D-43: what is no YAML, or no mapping, or no text.
#[test]
fn what_does_not_parse_is_said_with_its_line() {
    let shown = [
        "default_model: [a\n".to_owned(),
        "compact_prompt: Sum up: briefly\n".to_owned(),
        "compact_prompt: Sum up issue #12\n".to_owned(),
        "default_model: a\ndefault_model: b\n".to_owned(),
        "default_model: 4\n".to_owned(),
        "default_model: \" \"\n".to_owned(),
        "- default_model: a\n".to_owned(),
        "just text\n".to_owned(),
        "default_model: a\n---\n".to_owned(),
        "plugin_configs: [a]\n".to_owned(),
        "plugin_configs:\n  a: { x: 1, x: 2 }\n".to_owned(),
        "plugin_configs:\n  a: { x: .inf }\n".to_owned(),
        format!("compact_prompt: {}\n", "x".repeat(70_000)),
    ]
    .map(said)
    .concat();
    insta::assert_snapshot!(shown, @r##"
    CONFIG_PARSE_ERROR: config.yaml:1:16: the `[` that is opened here is not closed, or a comma is missing in it (close it with `]`, part its items by commas, and quote an item that holds a comma, a quote or `: `)
    CONFIG_PARSE_ERROR: config.yaml:1:23: a plain value must not hold `: `, which starts another value (quote it: compact_prompt: "Sum up: briefly")
    CONFIG_PARSE_ERROR: config.yaml:1:30: the value of `compact_prompt` ends before "#12": ` #` starts a comment (quote it if the `#` belongs to the value, or put the comment on a line of its own)
    CONFIG_PARSE_ERROR: config.yaml:2:1: `default_model` is given twice, first in line 1 (keep one of the two)
    CONFIG_PARSE_ERROR: config.yaml:1:16: `default_model` must be a text, found the number 4 (quote it)
    CONFIG_PARSE_ERROR: config.yaml:1:16: `default_model` is empty
    CONFIG_PARSE_ERROR: config.yaml:1:1: config.yaml must be `key: value` lines, found a list (write for example `default_model: …`)
    CONFIG_PARSE_ERROR: config.yaml:1:1: config.yaml must be `key: value` lines, found the text "just text" (write for example `default_model: …`)
    CONFIG_PARSE_ERROR: config.yaml:2:1: this line begins a second YAML document (only the line that closes a front matter is `---`; no other line may start with `---` or `...`)
    CONFIG_PARSE_ERROR: config.yaml:1:17: `plugin_configs` must be a mapping, found a list (write a plugin's id and a colon, and its configuration indented below)
    CONFIG_PARSE_ERROR: config.yaml:2:14: `x` is given twice, first in line 2 (keep one of the two)
    CONFIG_PARSE_ERROR: config.yaml:2:3: `plugin_configs.a` holds a number that JSON cannot hold
    CONFIG_PARSE_ERROR: config.yaml:1:1: config.yaml is 70017 bytes long, at most 65536 (64 KiB) are read (keep long texts out of it; a plugin can read files of its own)
    "##);
    assert!(
        said([b"# \xe4\n".as_slice(), b"default_model: a\n"].concat())
            .contains("config.yaml:1: config.yaml is not UTF-8")
    );
}

/// Y3.5-2: a plugin's configuration is any value; what has no effect is warned of.
#[test]
fn a_plugin_config_without_effect_is_warned_of() {
    let text = "plugin_configs:\n  empty:\n  a b: 1\n  none: {}\n";
    let (config, _) = load(text).expect("loads");
    assert_eq!(serde_json::to_string(&config.plugin_configs).expect("json"), r#"{"a b":1,"none":{}}"#);
    insta::assert_snapshot!(said(text), @r#"
    warning: config.yaml:2:3: `plugin_configs.empty` is empty, so the plugin's own configuration holds (write `{}` for a configuration without keys, or remove the line)
    warning: config.yaml:3:3: no plugin can have the id "a b" (use 1 to 64 of A-Z a-z 0-9 _ - .)
    "#);
}

/// K-43's kind: what is not a regular file is refused, and nothing waits for it.
#[cfg(unix)]
#[test]
fn a_config_that_is_no_file_is_refused() {
    let said = |make: &dyn Fn(&Tree)| {
        let tree = Tree::new();
        make(tree.write("home/x", ""));
        let error = load_config(&tree.path("home")).expect_err("refused");
        let home = format!("{}/", tree.path("home").display());
        format!("{error}\n").replace(&home, "")
    };
    let shown = [
        said(&|tree| std::fs::create_dir(tree.path("home/config.yaml")).expect("creates")),
        said(&|tree| tree.pipe("home/config.yaml")),
        said(&|tree| _ = tree.link("home/nowhere", "home/config.yaml")),
    ];
    insta::assert_snapshot!(shown.concat(), @"
    CONFIG_PARSE_ERROR: config.yaml: config.yaml must be a file, it is a folder
    CONFIG_PARSE_ERROR: config.yaml: config.yaml must be a file, it is neither a file nor a folder
    CONFIG_PARSE_ERROR: config.yaml: config.yaml is a link to nowhere, where nothing is (mend the link)
    ");
    let tree = Tree::new();
    tree.write("dotfiles/c.yaml", "memory_max_items: 2\n").link("dotfiles/c.yaml", "home/config.yaml");
    assert_eq!(load_config(&tree.path("home")).expect("loads").0.memory_max_items, 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Y10: any bytes give a configuration or `CONFIG_PARSE_ERROR`, and never a panic.
    #[test]
    fn any_bytes_give_a_config_or_a_reason(bytes in prop::collection::vec(any::<u8>(), 0..200), key in 0usize..4) {
        let start = ["", "compact_threshold: ", "plugin_configs:\n  a: ", "tool_timeout_ms: "][key];
        match load([start.as_bytes(), &bytes].concat()) {
            Ok((config, problems)) => {
                prop_assert!(config.compact_threshold > 0.0 && config.compact_threshold <= 1.0);
                prop_assert!(!config.tool_timeout.is_zero() && problems.iter().all(|problem| !problem.is_error()));
            }
            Err(error) => prop_assert_eq!(error.code, ErrorCode::ConfigParseError),
        }
    }
}
