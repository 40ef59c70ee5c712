//! The key `providers` of config.yaml: which model APIs there are, and which models of them (Y3.2).
//!
//! Which kinds of API and which models are known is not known here, so what is named carries its place, for whoever
//! finds that it means nothing.

use std::time::Duration;

use serde_json::Value;

use crate::{
    fields::{Field, Keys, Section},
    findings::Findings,
    yaml::{Node, quoted},
};

/// A value with its place in config.yaml.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Its line, counted from 1; 0 where it is not known.
    pub line: u32,
    /// Its column in characters, counted from 1.
    pub column: u32,
    /// The way to it: `providers[0].kind`.
    pub key: String,
}

/// One API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderConfig {
    /// Its unique id.
    pub id: Placed<String>,
    /// Which API it speaks.
    pub kind: Placed<String>,
    /// Where it is; without it, where its maker serves it.
    pub base_url: Option<Placed<String>>,
    /// Where its key is found.
    pub key: KeySource,
    /// What every request carries beside that.
    pub headers: Option<Placed<Vec<(String, String)>>>,
    /// What the body of every request holds beside what is written for each, each key with its place.
    pub extra_body: Vec<Placed<(String, Value)>>,
    /// Its models; without them, those that are known of the API.
    pub models: Option<Vec<ModelConfig>>,
    /// How long connecting may take.
    pub connect_timeout: Option<Duration>,
    /// How long it may send no byte.
    pub stall_timeout: Option<Duration>,
    /// Whether the tools are described in the system prompt too (D-64).
    pub tools_in_prompt: Option<bool>,
}

/// Where a key is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// There is none.
    None,
    /// In an environment variable of this name.
    Variable(String),
    /// In a file; a path that is not absolute begins at the home.
    File(String),
}

/// One model of an API. What is not said is taken from what is known of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelConfig {
    /// What the runtime calls it.
    pub id: Placed<String>,
    /// What the API calls it, where that is something else.
    pub name: Option<String>,
    /// For people.
    pub display_name: Option<String>,
    /// How much a request and its answer may hold, in tokens.
    pub context_window: Option<u64>,
    /// The most tokens that an answer may have.
    pub max_output: Option<u32>,
    /// Whether it can ask for tools.
    pub tool_use: Option<bool>,
    /// Whether it sees images.
    pub vision: Option<bool>,
    /// How it is asked to think.
    pub reasoning: Option<Placed<String>>,
    /// Whether its server wants the reasoning of earlier steps back.
    pub return_reasoning: Option<bool>,
    /// Whether its server takes only ids of calls that have nine letters and digits.
    pub short_call_ids: Option<bool>,
    /// What the body of a request for it holds beside that of its provider, each key with its place.
    pub extra_body: Vec<Placed<(String, Value)>>,
}

const PROVIDER: Keys = Keys {
    of: "a provider",
    allowed: &[
        "id",
        "kind",
        "base_url",
        "api_key_env",
        "api_key_file",
        "headers",
        "extra_body",
        "models",
        "connect_timeout_ms",
        "stall_timeout_ms",
        "tools_in_prompt",
    ],
    astray: &[
        (
            "api_key",
            "keys do not stand in config.yaml: name a variable with `api_key_env`, or a file with `api_key_file`",
        ),
        ("key", "keys do not stand in config.yaml: name a variable with `api_key_env`, or a file with `api_key_file`"),
        ("name", "did you mean `id`?"),
        ("type", "did you mean `kind`?"),
        ("url", "did you mean `base_url`?"),
        ("timeout_ms", "did you mean `stall_timeout_ms`, how long the server may send nothing?"),
        ("model", "did you mean `models`?"),
    ],
};

const MODEL: Keys = Keys {
    of: "a model",
    allowed: &[
        "id",
        "name",
        "display_name",
        "context_window",
        "max_output",
        "tool_use",
        "vision",
        "reasoning",
        "return_reasoning",
        "short_call_ids",
        "extra_body",
    ],
    astray: &[
        ("max_tokens", "did you mean `max_output`, the most tokens of an answer?"),
        ("window", "did you mean `context_window`?"),
        ("tools", "did you mean `tool_use`?"),
        ("images", "did you mean `vision`?"),
    ],
};

/// No window and no answer has more tokens.
const MOST_TOKENS: u64 = 1_000_000_000;

/// An hour. Whoever waits longer for a byte waits for ever.
const MOST_TIMEOUT_MS: u64 = 60 * 60 * 1000;

/// Reads the list.
pub(crate) fn read_providers(field: &Field<'_>, findings: &mut Findings<'_>) -> Vec<ProviderConfig> {
    let Some(items) = field.items(findings) else { return Vec::new() };
    let mut providers: Vec<ProviderConfig> = Vec::new();
    for item in items {
        let Some(section) = item.section(&PROVIDER, findings) else { continue };
        let Some(provider) = read_provider(&section, findings) else { continue };
        if let Some(earlier) = providers.iter().find(|earlier| earlier.id.value == provider.id.value) {
            let (line, id) = (earlier.id.line, quoted(&provider.id.value));
            findings
                .error(item.at(), format!("two providers have the id {id}, the first in line {line}"))
                .hint("give each an id of its own");
        }
        providers.push(provider);
    }
    providers
}

fn read_provider(section: &Section<'_>, findings: &mut Findings<'_>) -> Option<ProviderConfig> {
    let id = section.required("id", "id: openai", findings).and_then(|field| name(&field, findings));
    let kind = section.required("kind", "kind: openai", findings).and_then(|field| name(&field, findings));
    let base_url = section.get("base_url").and_then(|field| name(&field, findings));
    let key = read_key(section, findings);
    let headers = section.get("headers").and_then(|field| read_headers(&field, findings));
    let extra_body = section.get("extra_body").map(|field| read_extra_body(&field, findings)).unwrap_or_default();
    let models = section.get("models").and_then(|field| read_models(&field, findings));
    let mut timeout = |key| {
        let milliseconds = section.get(key)?.whole(1..=MOST_TIMEOUT_MS, "milliseconds", findings)?;
        Some(Duration::from_millis(milliseconds))
    };
    let (connect_timeout, stall_timeout) = (timeout("connect_timeout_ms"), timeout("stall_timeout_ms"));
    let tools_in_prompt = section.get("tools_in_prompt").and_then(|field| field.boolean(findings));
    let (id, kind) = (id?, kind?);
    Some(ProviderConfig {
        id,
        kind,
        base_url,
        key,
        headers,
        extra_body,
        models,
        connect_timeout,
        stall_timeout,
        tools_in_prompt,
    })
}

fn read_key(section: &Section<'_>, findings: &mut Findings<'_>) -> KeySource {
    let variable = section.get("api_key_env");
    let file = section.get("api_key_file");
    if let (Some(_), Some(file)) = (&variable, &file) {
        findings
            .error(file.at_key(), "a provider has `api_key_env` or `api_key_file`, not both")
            .hint("remove one of the two");
    }
    if let Some(field) = variable {
        let Some(text) = field.os_text(findings) else { return KeySource::None };
        // Somebody who writes the key itself here must not find it in a log.
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !text.chars().all(is_name) || text.starts_with(|c: char| c.is_ascii_digit()) {
            findings
                .error(field.at(), format!("{} must be the name of an environment variable", field.name()))
                .hint("write for example OPENAI_API_KEY, and put the key into that variable");
        }
        return KeySource::Variable(text.to_owned());
    }
    match file.and_then(|field| field.os_text(findings)) {
        Some(path) => KeySource::File(path.to_owned()),
        None => KeySource::None,
    }
}

fn read_headers(field: &Field<'_>, findings: &mut Findings<'_>) -> Option<Placed<Vec<(String, String)>>> {
    let Some(section) = field.unchecked_section() else {
        let found = field.node.described();
        findings
            .error(field.at(), format!("{} must be a mapping, found {found}", field.name()))
            .hint("write a header's name and a colon, and its value behind it");
        return None;
    };
    let texts = section.fields().filter_map(|(name, value)| Some((name.to_owned(), value.text(findings)?.to_owned())));
    let headers = texts.collect();
    Some(placed(field, headers, findings))
}

fn read_extra_body(field: &Field<'_>, findings: &mut Findings<'_>) -> Vec<Placed<(String, Value)>> {
    let Some(section) = field.unchecked_section() else {
        let found = field.node.described();
        findings
            .error(field.at(), format!("{} must be a mapping, found {found}", field.name()))
            .hint("write a key of the request's body and a colon, and its value behind it");
        return Vec::new();
    };
    let mut keys = Vec::new();
    for (key, value) in section.fields() {
        let Some(json) = value.node.to_json() else {
            findings.error(value.at(), format!("{} holds a number that JSON cannot hold", value.name()));
            continue;
        };
        let (line, column) = findings.position(value.at_key()).unwrap_or_default();
        let path = value.name().trim_matches('`').to_owned();
        keys.push(Placed { value: (key.to_owned(), json), line, column, key: path });
    }
    keys
}

fn read_models(field: &Field<'_>, findings: &mut Findings<'_>) -> Option<Vec<ModelConfig>> {
    let items = field.items(findings)?;
    let models: Vec<_> = items.filter_map(|item| read_model(&item, findings)).collect();
    Some(models)
}

/// A name alone, or a mapping.
fn read_model(item: &Field<'_>, findings: &mut Findings<'_>) -> Option<ModelConfig> {
    if let Node::Text(_) = item.node {
        let id = name(item, findings)?;
        return Some(ModelConfig {
            id,
            name: None,
            display_name: None,
            context_window: None,
            max_output: None,
            tool_use: None,
            vision: None,
            reasoning: None,
            return_reasoning: None,
            short_call_ids: None,
            extra_body: Vec::new(),
        });
    }
    let section = item.section(&MODEL, findings)?;
    let id = section.required("id", "id: gpt-5.5", findings).and_then(|field| name(&field, findings));
    let mut text = |key| section.get(key).and_then(|field| field.os_text(findings)).map(|text| text.trim().to_owned());
    let (wire_name, display_name) = (text("name"), text("display_name"));
    let mut tokens = |key, most| section.get(key).and_then(|field| field.whole(1..=most, "tokens", findings));
    let context_window = tokens("context_window", MOST_TOKENS);
    let max_output = tokens("max_output", MOST_TOKENS).and_then(|tokens| u32::try_from(tokens).ok());
    let mut flag = |key| section.get(key).and_then(|field| field.boolean(findings));
    let (tool_use, vision, return_reasoning) = (flag("tool_use"), flag("vision"), flag("return_reasoning"));
    let short_call_ids = flag("short_call_ids");
    let reasoning = section.get("reasoning").and_then(|field| name(&field, findings));
    let extra_body = section.get("extra_body").map(|field| read_extra_body(&field, findings)).unwrap_or_default();
    Some(ModelConfig {
        id: id?,
        name: wire_name,
        display_name,
        context_window,
        max_output,
        tool_use,
        vision,
        reasoning,
        return_reasoning,
        short_call_ids,
        extra_body,
    })
}

/// A text that names something, with its place.
fn name(field: &Field<'_>, findings: &mut Findings<'_>) -> Option<Placed<String>> {
    let text = field.os_text(findings)?.trim().to_owned();
    Some(placed(field, text, findings))
}

fn placed<T>(field: &Field<'_>, value: T, findings: &Findings<'_>) -> Placed<T> {
    let (line, column) = findings.position(field.at()).unwrap_or_default();
    Placed { value, line, column, key: field.name().trim_matches('`').to_owned() }
}
