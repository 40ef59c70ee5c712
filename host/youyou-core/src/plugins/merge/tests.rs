//! The rules of precedence, case by case.

use proptest::prelude::*;
use serde_json::json;
use youyou_api::{HookOutcome, plugin::hook_fn};

use super::*;

fn tap() -> Tap {
    Tap { event: HookEvent::TurnStart, stage: 0, handler: hook_fn(|_, _| async { Ok(HookOutcome::Continue) }) }
}

fn info(id: &str, display_name: &str) -> PluginInfo {
    PluginInfo { id: id.parse().expect("legal"), display_name: display_name.into(), description: String::new() }
}

fn code(id: &str) -> CodePlugin {
    CodePlugin { info: info(id, "code"), default_config: json!("code"), taps: vec![tap()] }
}

/// A folder with hooks and a configuration.
fn folder(id: &str, source: SourceLabel) -> FilePlugin {
    let name = source.to_string();
    FilePlugin { info: info(id, &name), source, enabled: None, config: Some(json!(name)), taps: Some(vec![tap()]) }
}

fn overlay(id: &str, source: SourceLabel) -> FilePlugin {
    FilePlugin { taps: None, ..folder(id, source) }
}

fn enabled(enabled: bool, plugin: FilePlugin) -> FilePlugin {
    FilePlugin { enabled: Some(enabled), ..plugin }
}

/// Every plugin as `id source config`, with `off` where it takes no part; and who is asked at the start of a turn.
fn told(code: &[CodePlugin], files: &[FilePlugin], configs: Value, switches: &[(&str, bool)]) -> (String, String) {
    let Value::Object(configs) = configs else { panic!("an object") };
    let switches = switches.iter().map(|(id, on)| (id.parse().expect("legal"), *on)).collect();
    let merged = merge(code, files, &configs, &switches);
    let lines = merged.plugins.iter().map(|plugin| {
        let off = if plugin.enabled { "" } else { " off" };
        format!("{} {} {}{off}", plugin.info.id, plugin.source, plugin.config.as_str().unwrap_or("none"))
    });
    let asked = merged.registry.plugins(HookEvent::TurnStart).map(|id| id.as_str());
    (lines.collect::<Vec<_>>().join(", "), asked.collect::<Vec<_>>().join(" "))
}

const GLOBAL: SourceLabel = SourceLabel::Global;
const PROJECT: SourceLabel = SourceLabel::Project;

fn pair(plugins: &str, asked: &str) -> (String, String) {
    (plugins.to_owned(), asked.to_owned())
}

/// Y3.6-4, D-1: code in the order of registration, then the user's folders, then the project's, each by id.
#[test]
fn levels_stand_in_their_order() {
    let found = told(
        &[code("z"), code("a")],
        &[folder("q", PROJECT), folder("m", GLOBAL), folder("b", GLOBAL)],
        json!({}),
        &[],
    );
    let plugins = "z programmatic code, a programmatic code, b global global, m global global, q project project";
    assert_eq!(found, pair(plugins, "z a b m q"));
}

/// D-2, D-3: a folder with hooks takes the place of the code of its id, in its own tier.
#[test]
fn a_folder_with_hooks_replaces_the_code_in_its_own_tier() {
    let found = told(&[code("a"), code("b")], &[folder("a", PROJECT)], json!({}), &[]);
    assert_eq!(found, pair("b programmatic code, a project project", "b a"));
    let merged = merge(&[code("a")], &[folder("a", GLOBAL), folder("a", PROJECT)], &Map::new(), &Switches::new());
    assert_eq!(merged.plugins[0].shadows, [GLOBAL, SourceLabel::Programmatic]);
}

/// D-3, Y3.5-5: if that folder is disabled it is ignored, and the code stays: code is always enabled.
#[test]
fn a_disabled_folder_leaves_the_code_in_force() {
    let files = [enabled(false, folder("a", PROJECT))];
    let stays = pair("a programmatic code", "a");
    assert_eq!(told(&[code("a")], &files, json!({}), &[]), stays);
    assert_eq!(told(&[code("a")], &[folder("a", GLOBAL)], json!({}), &[("a", false)]), stays);
    assert_eq!(told(&[code("a")], &[], json!({}), &[("a", false)]), stays);
}

/// D-3: a folder without hooks only says how the plugin is to be.
#[test]
fn a_folder_without_hooks_is_an_overlay() {
    let found = told(&[code("a")], &[overlay("a", GLOBAL)], json!({}), &[]);
    assert_eq!(found, pair("a programmatic global", "a"));
    let found = told(&[], &[folder("a", GLOBAL), overlay("a", PROJECT)], json!({}), &[]);
    assert_eq!(found, pair("a global project", "a"));
    let found = told(&[], &[folder("a", GLOBAL), enabled(false, overlay("a", PROJECT))], json!({}), &[]);
    assert_eq!(found, pair("a global project off", ""));
    let found = told(&[], &[overlay("a", PROJECT)], json!({}), &[]);
    assert_eq!(found, pair("a project project", ""));
    let found = told(&[code("a")], &[enabled(false, overlay("a", PROJECT))], json!({}), &[]);
    assert_eq!(found, pair("a programmatic project", "a"));
}

/// Y3.5-5, D-19: the switch, else the project's word, else the user's, else on.
#[test]
fn the_highest_level_that_says_decides_whether_a_folder_takes_part() {
    let global = |on| enabled(on, folder("a", GLOBAL));
    let off = "a project project off";
    let on = "a project project";
    let project = folder("a", PROJECT);
    assert_eq!(told(&[], &[global(false), project.clone()], json!({}), &[]), pair(off, ""));
    assert_eq!(told(&[], &[global(false), enabled(true, project.clone())], json!({}), &[]), pair(on, "a"));
    assert_eq!(told(&[], &[global(true), enabled(false, project.clone())], json!({}), &[]), pair(off, ""));
    assert_eq!(told(&[], &[enabled(false, project.clone())], json!({}), &[("a", true)]), pair(on, "a"));
    assert_eq!(told(&[], &[project], json!({}), &[("a", false)]), pair(off, ""));
}

/// Y3.5-2, D-42: config.yaml, else the project's folder, else the user's, else the code's; the first replaces the rest
/// whole.
#[test]
fn the_first_configuration_there_is_replaces_the_rest() {
    let configured = json!({"a": "yaml"});
    let (global, project) = (overlay("a", GLOBAL), overlay("a", PROJECT));
    let silent = FilePlugin { config: None, ..project.clone() };
    let config = |files: &[FilePlugin], configs| told(&[code("a")], files, configs, &[]).0;
    assert_eq!(config(&[global.clone(), project.clone()], configured), "a programmatic yaml");
    assert_eq!(config(&[global.clone(), project], json!({})), "a programmatic project");
    assert_eq!(config(&[global, silent], json!({})), "a programmatic global");
    assert_eq!(config(&[], json!({})), "a programmatic code");
}

fn any_file() -> impl Strategy<Value = FilePlugin> {
    let level = prop_oneof![Just(GLOBAL), Just(PROJECT)];
    ("[a-d]", level, any::<Option<bool>>(), any::<bool>(), any::<bool>()).prop_map(|(id, level, on, hooks, config)| {
        let mut file = folder(&id, level);
        file.enabled = on;
        file.taps = file.taps.filter(|_| hooks);
        file.config = file.config.filter(|_| config);
        file
    })
}

proptest! {
    /// For any set of plugins the order does not depend on how folders were found, each id stands once, and whoever is
    /// asked is enabled and has hooks.
    #[test]
    fn merging_is_deterministic(files in prop::collection::vec(any_file(), 0..8), registered in prop::sample::subsequence(vec!["a", "b", "c", "d"], 0..4)) {
        let mut files = files;
        files.sort_by_key(|file| (file.info.id.clone(), file.source));
        files.dedup_by_key(|file| (file.info.id.clone(), file.source));
        let code: Vec<_> = registered.iter().map(|id| code(id)).collect();
        let one = told(&code, &files, json!({}), &[]);
        files.reverse();
        prop_assert_eq!(&one, &told(&code, &files, json!({}), &[]));
        let merged = merge(&code, &files, &Map::new(), &Switches::new());
        let ids: BTreeSet<_> = merged.plugins.iter().map(|plugin| plugin.info.id.clone()).collect();
        prop_assert_eq!(ids.len(), merged.plugins.len());
        let taking_part = merged.plugins.iter().filter(|plugin| plugin.enabled && !plugin.taps.is_empty()).count();
        prop_assert_eq!(taking_part, merged.registry.plugins(HookEvent::TurnStart).count());
        for id in registered {
            prop_assert!(merged.plugins.iter().any(|plugin| plugin.info.id.as_str() == id && plugin.enabled));
        }
    }
}
