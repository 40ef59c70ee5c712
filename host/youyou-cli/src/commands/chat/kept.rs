//! Which session a conversation is, and where it is kept.

use std::{io::IsTerminal, sync::Arc};

use youyou::{
    Agent, AgentBuilder, Error, ErrorCode, Session, SessionId, SessionOptions, SessionQuery, SessionStorage,
    configured_stores,
};

use super::super::{Places, sessions};
use crate::{args::Chat, print};

/// Registers the stores of config.yaml.
///
/// What a script plays is a rehearsal: it is kept only as part of a session that is kept already. Memories are only for
/// conversations with a model, and a recording of one holds nothing but the conversation.
///
/// # Errors
/// `CONFIG_PARSE_ERROR`; `STORAGE_ERROR`; `INVALID_INPUT` where a session is to go on and none are kept.
pub(super) async fn register(builder: AgentBuilder, args: &Chat, places: &Places) -> Result<AgentBuilder, Error> {
    let goes_on = args.resume || args.session.is_some();
    if args.replay.is_some() && !goes_on {
        return Ok(builder);
    }
    let stores = configured_stores(&places.home)?;
    let builder = match stores.sessions().await? {
        Some(sessions) => builder.session_storage(sessions)?,
        None if goes_on => return Err(sessions::kept_nowhere(places)),
        None => builder,
    };
    let rehearsed = args.replay.is_some() || args.record.is_some();
    if rehearsed || youyou::configured_providers(&places.home)?.is_empty() {
        return Ok(builder);
    }
    match stores.memories().await? {
        Some(memories) => builder.memory_storage(memories),
        None => Ok(builder),
    }
}

/// Begins a session, or goes on with the one that is asked for.
///
/// # Errors
/// Those of [`Agent::new_session`], or of [`Agent::resume_session`] and [`SessionStorage::find`].
pub(super) async fn begin(agent: &Agent, args: &Chat, places: &Places) -> Result<Session, Error> {
    let options = SessionOptions { model: args.model.clone().map(youyou::ModelId::new), ..SessionOptions::default() };
    let Some(storage) = agent.session_storage() else { return agent.new_session(options).await };
    match (&args.session, args.resume) {
        (Some(text), _) => {
            let found = storage.find(text).await?;
            agent.resume_session(&found.session_id, options).await
        }
        (None, true) => agent.resume_session(&last(storage, places).await?, options).await,
        (None, false) => agent.new_session(options).await,
    }
}

/// The session of the workspace that was last used.
async fn last(storage: &Arc<dyn SessionStorage>, places: &Places) -> Result<SessionId, Error> {
    let query = SessionQuery { project: Some(places.project()), ..SessionQuery::first(1) };
    match storage.list(query).await?.items.pop() {
        Some(last) => Ok(last.session_id),
        None => Err(Error::new(
            ErrorCode::SessionNotFound,
            format!(
                "no session of {} is kept; `youyou chat` begins one, `youyou sessions list --all` lists those of other \
                 workspaces",
                places.workspace.display()
            ),
        )),
    }
}

/// Says how to go on another time, where somebody is there to read it.
pub(super) fn say_how_to_go_on(session: &SessionId) {
    if std::io::stderr().is_terminal() {
        print::dim(&format!("to go on: youyou chat --session {}", sessions::short(session)));
    }
}
