//! `youyou models`: which models the configuration offers, and what keeps one from being asked.

use serde_json::json;
use youyou::{ConfiguredModel, Error, configured_providers};

use super::Places;
use crate::{args::Models, exit::Exit, print};

pub(crate) fn run(args: Models, places: &Places) -> Result<Exit, Error> {
    let configured = configured_providers(&places.home)?;
    if args.json {
        print::document(&json!({
            "default_model": configured.default_model,
            "models": configured.models,
            "problems": configured.problems,
        }))?;
        return Ok(Exit::Ok);
    }
    if configured.is_empty() {
        print::note(&format!(
            "no providers are configured; add them to {}, for example:\n\nproviders:\n  - {{ id: anthropic, kind: \
             anthropic, api_key_env: ANTHROPIC_API_KEY }}\n\ndocs/providers.md has one for each API",
            places.home.join("config.yaml").display()
        ));
        return Ok(Exit::Ok);
    }
    print::line(&print::table(&rows(&configured.models, configured.default_model.as_deref())))?;
    print::problems(&configured.problems);
    Ok(Exit::Ok)
}

fn rows(models: &[ConfiguredModel], default: Option<&str>) -> Vec<Vec<String>> {
    let heading = ["MODEL", "PROVIDER", "KIND", "WINDOW", "ANSWER", "CAN", "READY"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(models.iter().map(|model| {
        let abilities = [
            (model.tool_use, "tools"),
            (model.vision, "images"),
            (model.reasoning != youyou::Reasoning::None, "reasoning"),
        ];
        let can: Vec<_> = abilities.iter().filter(|(can, _)| *can).map(|(_, what)| *what).collect();
        let mark = if default == Some(model.id.as_str()) { " *" } else { "" };
        vec![
            format!("{}{mark}", model.id),
            model.provider.clone(),
            model.kind.to_owned(),
            model.context_window.to_string(),
            model.max_output.map(|most| most.to_string()).unwrap_or_default(),
            can.join(", "),
            if model.problem.is_none() { "yes" } else { "no key" }.to_owned(),
        ]
    }));
    rows
}
