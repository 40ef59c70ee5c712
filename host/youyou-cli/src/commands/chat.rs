//! `youyou chat`: a conversation in the terminal.

mod input;
mod kept;
mod model;
mod running;
mod show;

use std::{
    io::{IsTerminal, Read},
    pin::pin,
};

use youyou::{Agent, Error, ErrorCode, Session, SessionEvents};

use self::{
    input::{Input, Typed},
    show::Show,
};
use super::{
    LEAVING, Places,
    trust::{self, Beforehand},
    usage,
};
use crate::{
    args::Chat,
    exit::Exit,
    print,
    signals::{StopRequest, StopRequests},
    terminal::Terminal,
};

/// How a conversation, or a part of it, came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// By itself.
    ByItself(Exit),
    /// Somebody wants the program to end; nothing runs any more.
    Stopped(Exit),
    /// They want it at once, and something may still run.
    AtOnce(Exit),
}

pub(crate) fn run(args: Chat, places: &Places, terminal: Terminal) -> Result<Exit, Error> {
    let executor = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::new(ErrorCode::InvalidInput, format!("cannot start the async runtime: {error}")))?;
    trust::settle(places, Beforehand::new(args.trust.trust_project))?;
    let prompt = one_shot(&args)?;
    let ended = executor.block_on(async {
        // Before anything can run that a signal would have to end: plugins are asked as the session begins.
        let mut stop = StopRequests::listen().map_err(|error| usage(format!("cannot listen for signals: {error}")))?;
        let (agent, session) = tokio::select! {
            biased;
            request = stop.next() => return Ok(Ended::AtOnce(request.into())),
            started = start(&args, places) => started?,
        };
        let outside = session.take_events();
        let kept = agent.session_storage().is_some();
        let mut chat = ChatSession { session, outside, kept, said: false, stop, json: args.json, terminal };
        chat.show_outside().await?;
        let ended = match prompt {
            Some(prompt) => chat.turn(&prompt).await?,
            None => chat.converse().await?,
        };
        chat.close(&agent, ended).await
    });
    // Drops what runs, and with it the processes that belong to it. A guest may have opened something that never answers:
    // that is not waited for.
    executor.shutdown_timeout(LEAVING);
    match ended? {
        Ended::ByItself(exit) | Ended::Stopped(exit) | Ended::AtOnce(exit) => Ok(exit),
    }
}

async fn start(args: &Chat, places: &Places) -> Result<(Agent, Session), Error> {
    let agent = build(args, places).await?;
    let session = kept::begin(&agent, args, places).await?;
    Ok((agent, session))
}

/// The one message of a run that is no conversation: the argument, or all of stdin where that is no terminal
/// or is asked for.
fn one_shot(args: &Chat) -> Result<Option<String>, Error> {
    match args.prompt.as_deref() {
        Some("-") => {}
        Some(prompt) => return Ok(Some(prompt.to_owned())),
        None if std::io::stdin().is_terminal() => return Ok(None),
        None => {}
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
    let builder = youyou::agent().home(&places.home).workspace(&places.workspace).lenient();
    let builder = model::register(builder, args, places)?;
    kept::register(builder, args, places).await?.build().await
}

/// A session, and what its terminal has to do with it.
struct ChatSession {
    session: Session,
    /// What happens outside of turns.
    outside: Option<SessionEvents>,
    /// Whether it can go on another time.
    kept: bool,
    /// Whether anything has been said in it.
    said: bool,
    stop: StopRequests,
    json: bool,
    terminal: Terminal,
}

impl ChatSession {
    /// Reads messages until the user has had enough.
    async fn converse(&mut self) -> Result<Ended, Error> {
        let skills = self.session.skills().iter().map(|(skill, _)| skill.name.clone()).collect();
        let mut input = Input::new(skills)?;
        let model = &self.session.model().display_name;
        print::note(&format!("{model}; /name calls a skill, Ctrl-C cancels, Ctrl-D leaves"));
        loop {
            let typed = {
                let mut reading = pin!(input.read());
                loop {
                    tokio::select! {
                        typed = &mut reading => break typed?,
                        request = self.stop.next() => match request {
                            // Sent by somebody else: the key itself comes as a character here. Nothing runs.
                            StopRequest::Interrupt => {}
                            StopRequest::Terminate | StopRequest::HangUp => return Ok(Ended::Stopped(request.into())),
                        }
                    }
                }
            };
            match typed {
                Typed::Message(text) if text.trim().is_empty() => {}
                Typed::Message(text) => match self.turn(&text).await {
                    Ok(Ended::ByItself(_)) => {}
                    Ok(ended @ (Ended::Stopped(_) | Ended::AtOnce(_))) => return Ok(ended),
                    // A message that is refused leaves no trace; the user can write another.
                    Err(error) => print::failure(&error, self.json),
                },
                Typed::Interrupt => print::note("Ctrl-D leaves"),
                Typed::End => return Ok(Ended::ByItself(Exit::Ok)),
                Typed::HungUp => return Ok(Ended::Stopped(StopRequest::HangUp.into())),
            }
        }
    }

    /// Sends one message and shows what comes of it.
    async fn turn(&mut self, text: &str) -> Result<Ended, Error> {
        let mut events = self.session.send(text).await?;
        self.said = true;
        let mut show = Show::new(self.json, self.terminal.clone());
        let mut asked: Option<StopRequest> = None;
        loop {
            let request = tokio::select! {
                event = events.next() => match event {
                    Some(event) => {
                        show.event(&event);
                        continue;
                    }
                    None => return Ok(match asked {
                        None | Some(StopRequest::Interrupt) => Ended::ByItself(show.exit()),
                        Some(request) => Ended::Stopped(request.into()),
                    }),
                },
                request = self.stop.next() => request,
            };
            match (asked, request) {
                (None, StopRequest::Interrupt) => {
                    // The model stops, and what runs is waited for.
                    self.session.cancel();
                    show.cancelling();
                }
                (None | Some(StopRequest::Interrupt), StopRequest::Terminate | StopRequest::HangUp) => {
                    // What runs is asked to end too, and given the time that it has for that.
                    self.session.cancel();
                    self.session.cancel();
                }
                (Some(_), _) => {
                    show.left();
                    return Ok(Ended::AtOnce(request.into()));
                }
            }
            asked = Some(request);
        }
    }

    /// Shows what has happened outside of turns. A person reads it in the log, as it happens.
    async fn show_outside(&mut self) -> Result<(), Error> {
        let Some(outside) = self.outside.as_mut().filter(|_| self.json) else { return Ok(()) };
        loop {
            let event = tokio::select! {
                biased;
                event = outside.next() => event,
                () = std::future::ready(()) => None,
            };
            match event {
                Some(event) => print::document(&event)?,
                None => return Ok(()),
            }
        }
    }

    /// Closes the session, unless nobody waits for that.
    async fn close(mut self, agent: &Agent, ended: Ended) -> Result<Ended, Error> {
        let ended = match ended {
            Ended::AtOnce(_) => ended,
            Ended::ByItself(_) | Ended::Stopped(_) => tokio::select! {
                () = agent.shutdown() => ended,
                request = self.stop.next() => Ended::AtOnce(request.into()),
            },
        };
        self.show_outside().await?;
        if self.kept && self.said && !self.json {
            kept::say_how_to_go_on(self.session.id());
        }
        Ok(ended)
    }
}
