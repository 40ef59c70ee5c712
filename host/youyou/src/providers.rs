//! The model providers that config.yaml names, made ready (Y3.2).
//!
//! Joins what the file says with what is known of models, and finds the keys. A key that cannot be found is no reason to
//! refuse the others: its provider is there, and says what is missing when it is asked.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Serialize;
use serde_json::{Map, Value};
use youyou_api::{Error, ModelId, ModelProvider};
use youyou_files::{Config, KeySource, ModelConfig, Placed, Problem, ProviderConfig, Severity};
use youyou_providers::{Api, ApiKey, HttpProvider, HttpSettings, Model, Reasoning};

/// The providers of config.yaml.
#[derive(Debug)]
pub struct ConfiguredProviders {
    /// Ready to be registered.
    pub providers: Vec<HttpProvider>,
    /// All their models, in the order of the file.
    pub models: Vec<ConfiguredModel>,
    /// The model of a session that names none (D-44).
    pub default_model: Option<String>,
    /// What is to say beside that.
    pub problems: Vec<Problem>,
}

/// A model of a configured provider, for listings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfiguredModel {
    /// What the runtime calls it.
    pub id: String,
    /// The provider's id.
    pub provider: String,
    /// Which API it is asked through.
    pub kind: &'static str,
    /// For people.
    pub display_name: String,
    /// How much a request and its answer may hold, in tokens.
    pub context_window: u64,
    /// The most tokens that an answer may have, if that is known.
    pub max_output: Option<u32>,
    /// Whether it can ask for tools.
    pub tool_use: bool,
    /// Whether it sees images.
    pub vision: bool,
    /// How it is asked to think.
    pub reasoning: Reasoning,
    /// Why it cannot be asked just now: its key is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The providers that `config.yaml` of a home names.
///
/// # Errors
/// `CONFIG_PARSE_ERROR`, with every place that is wrong.
pub fn configured_providers(home: &Path) -> Result<ConfiguredProviders, Error> {
    let (config, _) = youyou_files::load_config(home)?;
    make(&config, home)
}

/// The same of a configuration that was read already.
pub(crate) fn make(config: &Config, home: &Path) -> Result<ConfiguredProviders, Error> {
    let configured = Reading { home, environment: &|name| std::env::var(name).ok() }.read(&config.providers);
    if configured.problems.iter().any(Problem::is_error) {
        return Err(youyou_files::config_invalid(&configured.problems));
    }
    Ok(ConfiguredProviders { default_model: config.default_model.clone(), ..configured })
}

/// What is to say about the providers of a configuration.
pub(crate) fn check(config: &Config, home: &Path) -> Vec<Problem> {
    Reading { home, environment: &|name| std::env::var(name).ok() }.read(&config.providers).problems
}

struct Reading<'a> {
    home: &'a Path,
    environment: &'a dyn Fn(&str) -> Option<String>,
}

impl Reading<'_> {
    fn read(&self, providers: &[ProviderConfig]) -> ConfiguredProviders {
        let mut configured = ConfiguredProviders {
            providers: Vec::new(),
            models: Vec::new(),
            default_model: None,
            problems: Vec::new(),
        };
        for provider in providers {
            match self.settings(provider, &mut configured.problems) {
                Some(settings) => self.add(provider, settings, &mut configured),
                None => debug_assert!(configured.problems.iter().any(Problem::is_error)),
            }
        }
        configured
    }

    fn add(&self, config: &ProviderConfig, settings: HttpSettings, configured: &mut ConfiguredProviders) {
        let missing = settings.key.problem().map(str::to_owned);
        if let Some(missing) = &missing {
            configured.problems.push(self.problem(Severity::Warning, &config.id, missing.clone()));
        }
        let models = settings.models.iter().map(|model| listed(model, &settings, missing.clone())).collect::<Vec<_>>();
        match HttpProvider::new(settings) {
            Ok(provider) => {
                configured.models.extend(models);
                configured.providers.push(provider);
            }
            Err(error) => {
                let headers = config.headers.as_ref().map(|headers| at(headers, ()));
                let place = match &error {
                    youyou_providers::SettingsError::BaseUrl { .. } => config.base_url.as_ref().map(|url| at(url, ())),
                    youyou_providers::SettingsError::Header { .. } => headers,
                };
                let place = place.unwrap_or_else(|| at(&config.id, ()));
                configured.problems.push(self.problem(Severity::Error, &place, error.to_string()));
            }
        }
    }

    /// The settings of one provider; none where an error was noted.
    fn settings(&self, config: &ProviderConfig, problems: &mut Vec<Problem>) -> Option<HttpSettings> {
        let Some(api) = Api::named(&config.kind.value) else {
            let known = Api::ALL.map(Api::as_str).join(", ");
            let message = format!("{:?} is no kind of provider", config.kind.value);
            problems.push(
                self.problem(Severity::Error, &config.kind, message).with_hint(format!(
                    "one of: {known}; openai-chat is for servers that speak like OpenAI's older API"
                )),
            );
            return None;
        };
        let before = problems.len();
        let extra_body = self.extra_body(api, &config.extra_body, problems);
        let models = self.models(api, config, problems);
        let key = self.key(api, config, problems);
        if problems[before..].iter().any(Problem::is_error) {
            return None;
        }
        let mut settings = HttpSettings::new(config.id.value.clone(), api, key);
        if let Some(base_url) = &config.base_url {
            settings.base_url.clone_from(&base_url.value);
        }
        settings.headers = config.headers.as_ref().map(|headers| headers.value.clone()).unwrap_or_default();
        settings.extra_body = extra_body;
        settings.models = models;
        settings.connect_timeout = config.connect_timeout.unwrap_or(settings.connect_timeout);
        settings.stall_timeout = config.stall_timeout.unwrap_or(settings.stall_timeout);
        settings.tools_in_prompt = config.tools_in_prompt.unwrap_or(settings.tools_in_prompt);
        Some(settings)
    }

    fn models(&self, api: Api, config: &ProviderConfig, problems: &mut Vec<Problem>) -> Vec<Model> {
        match &config.models {
            Some(models) => {
                let short_call_ids = config.base_url.as_ref().is_some_and(|url| is_mistral(&url.value));
                let read = |model: &ModelConfig| {
                    let read = self.model(api, model, problems)?;
                    let short_call_ids = model.short_call_ids.unwrap_or(short_call_ids);
                    Some(Model { short_call_ids, ..read })
                };
                models.iter().filter_map(read).collect()
            }
            None if api == Api::OpenAiChat => {
                let message = format!("the provider {:?} has no `models`", config.id.value);
                let hint = "list what the server serves: `models: [{ id: …, context_window: … }]`";
                problems.push(self.problem(Severity::Error, &config.id, message).with_hint(hint));
                Vec::new()
            }
            None => youyou_providers::known_models(api),
        }
    }

    /// A model as it is known, with what the file says of it instead.
    fn model(&self, api: Api, config: &ModelConfig, problems: &mut Vec<Problem>) -> Option<Model> {
        let name = config.name.as_deref().unwrap_or(&config.id.value);
        let known = youyou_providers::known_model(api, name);
        let Some(mut model) = known.or_else(|| Some(Model::unknown(name, config.context_window?))) else {
            let message = format!("the model {name:?} is not among those that are known of {:?}", api.as_str());
            let hint = format!("say how many tokens it holds: {{ id: {}, context_window: … }}", config.id.value);
            problems.push(self.problem(Severity::Error, &config.id, message).with_hint(hint));
            return None;
        };
        model.info.id = ModelId::new(config.id.value.clone());
        if let Some(display_name) = &config.display_name {
            model.info.display_name.clone_from(display_name);
        }
        let capabilities = &mut model.info.capabilities;
        capabilities.tool_use = config.tool_use.unwrap_or(capabilities.tool_use);
        capabilities.vision = config.vision.unwrap_or(capabilities.vision);
        model.info.context_window = config.context_window.unwrap_or(model.info.context_window);
        model.max_output = config.max_output.or(model.max_output);
        model.return_reasoning = config.return_reasoning.unwrap_or(model.return_reasoning);
        model.extra_body = self.extra_body(api, &config.extra_body, problems);
        if let Some(reasoning) = &config.reasoning {
            match Reasoning::named(&reasoning.value) {
                Some(reasoning) => model.reasoning = reasoning,
                None => {
                    let message = format!("{:?} is no way to ask for reasoning", reasoning.value);
                    let hint = "one of: none, effort, budget";
                    problems.push(self.problem(Severity::Error, reasoning, message).with_hint(hint));
                }
            }
        }
        Some(model)
    }

    /// What the body of requests holds beside what is written for each.
    fn extra_body(
        &self,
        api: Api,
        keys: &[Placed<(String, Value)>],
        problems: &mut Vec<Problem>,
    ) -> Map<String, Value> {
        let mut body = Map::new();
        for place in keys {
            let (key, value) = &place.value;
            let (message, hint) = match api.keys() {
                Some(own) if own.contains(&key.as_str()) => (
                    format!("`{}` is written for each request and cannot be set", place.key),
                    format!("leave it out; those that are written are {}", own.join(", ")),
                ),
                None => (
                    format!("`{}` has no meaning for the kind {:?}", place.key, api.as_str()),
                    format!("`extra_body` is for the kind {:?}; leave it out", Api::OpenAiChat.as_str()),
                ),
                Some(_) => {
                    body.insert(key.clone(), value.clone());
                    continue;
                }
            };
            problems.push(self.problem(Severity::Error, place, message).with_hint(hint));
        }
        body
    }

    fn key(&self, api: Api, config: &ProviderConfig, problems: &mut Vec<Problem>) -> ApiKey {
        match &config.key {
            // A server of one's own mostly wants none.
            KeySource::None if api == Api::OpenAiChat || config.base_url.is_some() => ApiKey::none(),
            KeySource::None => ApiKey::missing(format!(
                "there is no key for {:?}: name the variable that holds it with `api_key_env`, or a file with \
                 `api_key_file`",
                config.id.value
            )),
            KeySource::Variable(name) => {
                // Who mistook the key for its name must not find it in a log.
                let shouted = name.chars().all(|c| !c.is_ascii_lowercase());
                let shown = if shouted { name.as_str() } else { "that `api_key_env` names" };
                match (self.environment)(name).filter(|key| !key.trim().is_empty()) {
                    Some(key) => ApiKey::new(&key),
                    None => {
                        ApiKey::missing(format!("the environment variable {shown} is not set; put the key into it"))
                    }
                }
            }
            KeySource::File(path) => self.key_in(path, problems),
        }
    }

    fn key_in(&self, path: &str, problems: &mut Vec<Problem>) -> ApiKey {
        /// More than any key has, in bytes.
        const MOST: u64 = 64 * 1024;
        let path = match path.strip_prefix("~/").zip(dirs::home_dir()) {
            Some((rest, home)) => home.join(rest),
            None => self.home.join(path),
        };
        let missing = |why: &str| ApiKey::missing(format!("the key file {} {why}", path.display()));
        match fs::metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return missing("does not exist"),
            Err(error) => return missing(&format!("cannot be read: {error}")),
            Ok(found) if !found.is_file() => return missing("is no file"),
            Ok(found) if found.len() > MOST => return missing("is too long to hold a key"),
            Ok(found) => problems.extend(readable_by_others(&path, &found)),
        }
        match fs::read_to_string(&path) {
            Ok(key) if key.trim().is_empty() => missing("is empty"),
            Ok(key) => ApiKey::new(&key),
            Err(error) => missing(&format!("cannot be read: {error}")),
        }
    }

    fn problem<T>(&self, severity: Severity, place: &Placed<T>, message: String) -> Problem {
        let mut problem = Problem::new(severity, self.home.join("config.yaml"), message);
        problem.line = Some(place.line);
        problem.column = Some(place.column);
        problem.key = Some(place.key.clone());
        problem
    }
}

/// Whether Mistral itself is asked, which refuses ids of calls that are not like its own.
fn is_mistral(base_url: &str) -> bool {
    let host = base_url.split("://").nth(1).and_then(|rest| rest.split(['/', ':', '?']).next()).unwrap_or_default();
    host == "mistral.ai" || host.ends_with(".mistral.ai")
}

fn at<T, U>(place: &Placed<T>, value: U) -> Placed<U> {
    Placed { value, line: place.line, column: place.column, key: place.key.clone() }
}

#[cfg(unix)]
fn readable_by_others(path: &Path, found: &fs::Metadata) -> Option<Problem> {
    use std::os::unix::fs::PermissionsExt as _;
    let open = found.permissions().mode() & 0o077 != 0;
    open.then(|| {
        Problem::new(Severity::Warning, PathBuf::from(path), "other users of this machine may read this key file")
            .with_hint(format!("run `chmod 600 {}`", path.display()))
    })
}

#[cfg(not(unix))]
fn readable_by_others(_path: &Path, _found: &fs::Metadata) -> Option<Problem> {
    None
}

fn listed(model: &Model, settings: &HttpSettings, problem: Option<String>) -> ConfiguredModel {
    let Model { info, max_output, reasoning, .. } = model;
    ConfiguredModel {
        id: info.id.to_string(),
        provider: settings.id.to_string(),
        kind: settings.api.as_str(),
        display_name: info.display_name.clone(),
        context_window: info.context_window,
        max_output: *max_output,
        tool_use: info.capabilities.tool_use,
        vision: info.capabilities.vision,
        reasoning: *reasoning,
        problem,
    }
}

impl ConfiguredProviders {
    /// Whether config.yaml names any.
    pub fn is_empty(&self) -> bool {
        self.providers.is_empty()
    }

    /// The providers as an agent takes them.
    pub(crate) fn into_shared(self) -> impl Iterator<Item = std::sync::Arc<dyn ModelProvider>> {
        self.providers.into_iter().map(|provider| std::sync::Arc::new(provider) as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a config.yaml in a home of its own, where the variable KEY is set.
    fn read(config: &str) -> (ConfiguredProviders, String) {
        let home = tempfile::tempdir().expect("a folder");
        fs::write(home.path().join("config.yaml"), config).expect("writes");
        fs::write(home.path().join("key"), "sk-in-a-file\n").expect("writes");
        let (config, _) = youyou_files::load_config(home.path()).expect("a configuration");
        let environment = |name: &str| (name == "KEY").then(|| "sk-in-a-variable".to_owned());
        let configured = Reading { home: home.path(), environment: &environment }.read(&config.providers);
        let start = format!("{}{}", home.path().display(), std::path::MAIN_SEPARATOR);
        let said = configured.problems.iter().map(|problem| format!("{}: {problem}\n", problem.severity));
        let said = said.collect::<String>().replace(&start, "");
        (configured, said)
    }

    /// Y3.2-1: what is known of a model, what the file says instead, and models that nobody knows.
    #[test]
    fn models_are_what_is_known_of_them_and_what_the_file_says() {
        let (configured, said) = read("providers:
  - { id: a, kind: anthropic, api_key_env: KEY, models: [claude-haiku-4-5, { id: mine, name: claude-opus-5-5, context_window: 50000, vision: false }] }
  - { id: g, kind: gemini, api_key_env: KEY }
  - id: local
    kind: openai-chat
    base_url: http://127.0.0.1:8080/v1
    models: [{ id: tiny, context_window: 4096, reasoning: effort }]
");
        assert_eq!(said, "");
        assert_eq!(configured.providers.len(), 3);
        let model = |id: &str| configured.models.iter().find(|model| model.id == id).expect(id).clone();
        let haiku = model("claude-haiku-4-5");
        assert_eq!((haiku.context_window, haiku.max_output, haiku.vision), (200_000, Some(64_000), true));
        let mine = model("mine");
        assert_eq!((mine.context_window, mine.max_output, mine.vision), (50_000, Some(128_000), false));
        let tiny = model("tiny");
        assert_eq!(
            (tiny.kind, tiny.tool_use, tiny.vision, tiny.reasoning),
            ("openai-chat", true, false, Reasoning::Effort)
        );
        assert!(configured.models.iter().filter(|model| model.provider == "g").count() >= 3);
    }

    /// Every configuration of the page can be used as it stands.
    #[test]
    fn each_configuration_of_the_page_can_be_used() {
        let page = include_str!("../../../docs/providers.md");
        let blocks: Vec<_> =
            page.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("yaml\n")).collect();
        assert!(blocks.len() >= 8, "{}", blocks.len());
        for block in blocks {
            let (configured, said) = read(block);
            assert!(!configured.models.is_empty() && !said.contains("error"), "{block}: {said}");
        }
    }

    /// D-43: each with its line and column.
    #[test]
    fn what_cannot_be_used_is_told_with_its_place() {
        let (configured, said) = read(
            "providers:
  - { id: a, kind: cohere }
  - { id: b, kind: openai, api_key_env: KEY, models: [new-model, { id: x, context_window: 5, reasoning: deeply }] }
  - { id: c, kind: openai-chat }
  - { id: d, kind: gemini, base_url: \"localhost:80\", api_key_env: KEY }
  - { id: e, kind: gemini, headers: { \"a b\": c }, api_key_env: KEY }
  - { id: f, kind: openai-chat, extra_body: { stream: false }, models: [{ id: y, context_window: 5, extra_body: { top_k: 1, messages: [] } }] }
  - { id: g, kind: anthropic, api_key_env: KEY, extra_body: { top_k: 1 } }
",
        );
        assert!(configured.providers.is_empty());
        insta::assert_snapshot!(said, @r#"
        error: config.yaml:2:20: "cohere" is no kind of provider (one of: openai, openai-chat, anthropic, gemini; openai-chat is for servers that speak like OpenAI's older API)
        error: config.yaml:3:55: the model "new-model" is not among those that are known of "openai" (say how many tokens it holds: { id: new-model, context_window: … })
        error: config.yaml:3:105: "deeply" is no way to ask for reasoning (one of: none, effort, budget)
        error: config.yaml:4:11: the provider "c" has no `models` (list what the server serves: `models: [{ id: …, context_window: … }]`)
        error: config.yaml:5:38: the base URL "localhost:80" cannot be used: its scheme is "localhost", expected http or https; write for example http://127.0.0.1:8080/v1
        error: config.yaml:6:37: the header "a b" cannot be sent: its name must be a word, its value visible characters
        error: config.yaml:7:47: `providers[5].extra_body.stream` is written for each request and cannot be set (leave it out; those that are written are model, messages, stream, stream_options, tools, max_tokens, max_completion_tokens, temperature, reasoning_effort)
        error: config.yaml:7:125: `providers[5].models[0].extra_body.messages` is written for each request and cannot be set (leave it out; those that are written are model, messages, stream, stream_options, tools, max_tokens, max_completion_tokens, temperature, reasoning_effort)
        error: config.yaml:8:63: `providers[6].extra_body.top_k` has no meaning for the kind "anthropic" (`extra_body` is for the kind "openai-chat"; leave it out)
        "#);
    }

    /// What a server wants beside what the others do; and ids that Mistral takes, there or where it is asked for.
    #[test]
    fn a_server_gets_what_it_wants() {
        let config = "providers:
  - { id: o, kind: openai-chat, extra_body: { keep_alive: 1h }, models: [{ id: a, context_window: 5, extra_body: { think: false } }] }
  - { id: m, kind: openai-chat, base_url: 'https://api.mistral.ai/v1', models: [{ id: b, context_window: 5 }, { id: c, context_window: 5, short_call_ids: false }] }
";
        let home = tempfile::tempdir().expect("a folder");
        fs::write(home.path().join("config.yaml"), config).expect("writes");
        let (config, _) = youyou_files::load_config(home.path()).expect("a configuration");
        let reading = Reading { home: home.path(), environment: &|_| None };
        let settings = |place: usize| reading.settings(&config.providers[place], &mut Vec::new()).expect("settings");
        let (own, mistral) = (settings(0), settings(1));
        assert_eq!(Value::Object(own.extra_body.clone()), serde_json::json!({"keep_alive": "1h"}));
        assert_eq!(Value::Object(own.models[0].extra_body.clone()), serde_json::json!({"think": false}));
        let short = |settings: &HttpSettings| settings.models.iter().map(|m| m.short_call_ids).collect::<Vec<_>>();
        assert_eq!((short(&own), short(&mistral)), (vec![false], vec![true, false]));
        assert!(is_mistral("https://api.mistral.ai:443/v1") && !is_mistral("http://localhost/mistral.ai"));
    }

    /// A provider without its key is there all the same, and no key is in what is said.
    #[test]
    fn a_missing_key_is_told_of_and_stops_nobody_else() {
        let (configured, said) = read(
            "providers:
  - { id: a, kind: openai, api_key_env: MISSING, models: [gpt-4.1] }
  - { id: b, kind: anthropic }
  - { id: c, kind: gemini, api_key_file: nowhere }
  - { id: d, kind: openai-chat, api_key_env: skverysecret, models: [{ id: x, context_window: 5 }] }
  - { id: e, kind: openai-chat, api_key_file: key, models: [{ id: y, context_window: 5 }] }
",
        );
        assert_eq!(configured.providers.len(), 5);
        assert!(configured.models.iter().filter(|model| model.problem.is_none()).all(|model| model.provider == "e"));
        assert!(!said.contains("secret") && !format!("{configured:?}").contains("sk-in"), "{said}");
        let said = said.lines().filter(|line| !line.contains("chmod")).collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!(said, @r#"
        warning: config.yaml:2:11: the environment variable MISSING is not set; put the key into it
        warning: config.yaml:3:11: there is no key for "b": name the variable that holds it with `api_key_env`, or a file with `api_key_file`
        warning: config.yaml:4:11: the key file nowhere does not exist
        warning: config.yaml:5:11: the environment variable that `api_key_env` names is not set; put the key into it
        "#);
    }
}
