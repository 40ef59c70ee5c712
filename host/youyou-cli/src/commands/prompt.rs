//! `youyou prompt show`: the system prompt that a session would have, and where each part comes from.

use youyou::{Error, ErrorCode, ReplayProvider, SessionOptions, SystemPrompt};

use super::Places;
use crate::{args::PromptShow, exit::Exit, print};

pub(crate) fn show(args: PromptShow, places: &Places) -> Result<Exit, Error> {
    let executor = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::new(ErrorCode::InvalidInput, format!("cannot start the async runtime: {error}")))?;
    let prompt = executor.block_on(async {
        let agent = youyou::agent().home(&places.home).workspace(&places.workspace);
        let agent = match youyou::configured_providers(&places.home)?.is_empty() {
            true => agent.provider(ReplayProvider::demo()),
            false => agent.configured_providers(),
        };
        agent.lenient().build().await?.prompt(&SessionOptions::default())
    })?;
    if args.json {
        print::document(&prompt)?;
    } else {
        print::note(&print::table(&sizes(&prompt)));
        print::line(&prompt.render())?;
    }
    Ok(Exit::Ok)
}

/// One row for each section.
fn sizes(prompt: &SystemPrompt) -> Vec<Vec<String>> {
    let mut rows = vec![["SECTION", "TOKENS, ABOUT", "FROM"].map(str::to_owned).to_vec()];
    for section in prompt.sections() {
        let from = section.source.clone().unwrap_or_default();
        rows.push(vec![section.name.as_str().to_owned(), section.estimated_tokens().to_string(), from]);
    }
    rows
}
