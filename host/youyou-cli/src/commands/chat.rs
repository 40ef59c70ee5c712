//! `youyou chat`: a conversation in the terminal.

mod input;
mod show;
mod trust;

use std::io::{IsTerminal, Read};

use youyou::{Agent, Error, ErrorCode, ModelId, ReplayProvider, Script, Session, SessionOptions};

use self::{
    input::{Input, Typed},
    show::Show,
    trust::Beforehand,
};
use super::{Places, usage};
use crate::{args::Chat, exit::Exit, print};

pub(crate) fn run(args: Chat, places: &Places) -> Result<Exit, Error> {
    let executor = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::new(ErrorCode::InvalidInput, format!("cannot start the async runtime: {error}")))?;
    let beforehand = if args.trust_project { Beforehand::Trust } else { Beforehand::Nothing };
    trust::settle(places, beforehand)?;
    let prompt = one_shot(&args)?;
    executor.block_on(async {
        let agent = build(&args, places).await?;
        let options = SessionOptions { model: args.model.clone().map(ModelId::new), ..SessionOptions::default() };
        let session = agent.new_session(options).await?;
        let exit = match prompt {
            Some(prompt) => turn(&session, &prompt, &args).await?,
            None => converse(&session, &args).await?,
        };
        agent.shutdown().await;
        Ok(exit)
    })
}

/// The one message of a run that is no conversation: the argument, or all of stdin where that is no terminal.
fn one_shot(args: &Chat) -> Result<Option<String>, Error> {
    if let Some(prompt) = &args.prompt {
        return Ok(Some(prompt.clone()));
    }
    if std::io::stdin().is_terminal() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| usage(format!("cannot read the message from stdin: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        usage(format!("the message on stdin is not UTF-8 from byte {} on", error.utf8_error().valid_up_to()))
    })?;
    Ok(Some(text))
}

async fn build(args: &Chat, places: &Places) -> Result<Agent, Error> {
    let provider = match &args.replay {
        Some(path) => ReplayProvider::new(Script::load(path)?),
        None => ReplayProvider::demo(),
    };
    youyou::agent().home(&places.home).workspace(&places.workspace).provider(provider).lenient().build().await
}

/// Reads messages until the user has had enough.
async fn converse(session: &Session, args: &Chat) -> Result<Exit, Error> {
    let skills = session.skills().iter().map(|(skill, _)| skill.name.clone()).collect();
    let mut input = Input::new(skills)?;
    print::note(&format!("{}; /name calls a skill, Ctrl-C cancels, Ctrl-D leaves", session.model().display_name));
    loop {
        match input.read()? {
            Typed::Message(text) if text.trim().is_empty() => {}
            Typed::Message(text) => match turn(session, &text, args).await {
                Ok(_) => {}
                // A message that is refused leaves no trace; the user can write another.
                Err(error) => print::failure(&error, args.json),
            },
            Typed::Nothing => {}
            Typed::End => return Ok(Exit::Ok),
        }
    }
}

/// Sends one message and shows what comes of it.
async fn turn(session: &Session, text: &str, args: &Chat) -> Result<Exit, Error> {
    let mut events = session.send(text).await?;
    let mut show = Show::new(args.json);
    loop {
        tokio::select! {
            event = events.next() => match event {
                Some(event) => show.event(&event)?,
                None => return Ok(show.exit()),
            },
            // The first one stops the model and waits for running tools, the second one stops those too.
            interrupted = tokio::signal::ctrl_c() => {
                if interrupted.is_ok() {
                    session.cancel();
                }
            }
        }
    }
}
