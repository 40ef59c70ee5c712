//! `youyou sessions`: the conversations that are kept.

mod transcript;

use serde_json::{Value, json};
use youyou::{
    Error, ErrorCode, SessionId, SessionQuery, SessionStorage, SessionSummary, StoredSession, configured_stores,
};

use super::{Places, usage, wait_for};
use crate::{
    args::{ExportFormat, Sessions, SessionsExport, SessionsList, SessionsRename, SessionsSearch, SessionsShow},
    exit::Exit,
    print::{self, shorten},
};

pub(crate) fn run(args: Sessions, places: &Places) -> Result<Exit, Error> {
    wait_for(async {
        let stores = configured_stores(&places.home)?;
        let storage = stores.sessions().await?.ok_or_else(|| kept_nowhere(places))?;
        match args {
            Sessions::List(args) => list(&*storage, args, None, places).await?,
            Sessions::Search(SessionsSearch { text, list: args }) => list(&*storage, args, Some(text), places).await?,
            Sessions::Show(args) => show(&*storage, args).await?,
            Sessions::Export(args) => export(&*storage, args).await?,
            Sessions::Rename(args) => rename(&*storage, args).await?,
            Sessions::Delete(args) => {
                let found = storage.find(&args.session).await?;
                storage.delete(&found.session_id).await?;
                print::note(&format!("deleted {}", named(&found)));
            }
        }
        Ok(Exit::Ok)
    })
}

/// Sessions are asked for where config.yaml says that there are none.
pub(super) fn kept_nowhere(places: &Places) -> Error {
    let config = places.home.join("config.yaml");
    usage(format!("no sessions are kept: {} says `storage: {{ sessions: none }}`", config.display()))
}

/// Enough of an id to tell it from others: of those that are made here, all that says when it was.
pub(super) fn short(id: &SessionId) -> &str {
    const TIME: usize = 13;
    let id = id.as_str();
    let made_here = id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if made_here { &id[..TIME] } else { id }
}

async fn list(
    storage: &dyn SessionStorage,
    args: SessionsList,
    text: Option<String>,
    places: &Places,
) -> Result<(), Error> {
    let project = (!args.all).then(|| places.project());
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let page = storage.list(SessionQuery { project, text, cursor: None, limit }).await?;
    let more = page.next.is_some();
    if args.json {
        return print::document(&json!({ "sessions": page.items, "more": more }));
    }
    if page.items.is_empty() {
        let place = if args.all { String::new() } else { format!(" of {}", places.workspace.display()) };
        let all = if args.all { "" } else { "; --all lists those of every workspace" };
        print::note(&format!("no sessions{place}{all}"));
        return Ok(());
    }
    print::line(&print::table(&rows(&page.items, args.all)))?;
    if more {
        print::note(&format!("there are more than {}; --limit N shows more", args.limit));
    }
    Ok(())
}

fn rows(sessions: &[SessionSummary], all: bool) -> Vec<Vec<String>> {
    let columns = if all { 5 } else { 4 };
    let heading = ["SESSION", "LAST USED", "MESSAGES", "TITLE", "WORKSPACE"].map(str::to_owned);
    let mut rows = vec![heading[..columns].to_vec()];
    rows.extend(sessions.iter().map(|session| {
        let mut row = vec![
            short(&session.session_id).to_owned(),
            print::time(session.updated_at),
            session.message_count.to_string(),
            title(session),
            session.project.as_deref().map(shorten).unwrap_or_default(),
        ];
        row.truncate(columns);
        row
    }));
    rows
}

fn title(session: &SessionSummary) -> String {
    session.title.as_deref().map_or_else(|| "(no title)".to_owned(), shorten)
}

/// A session in a sentence.
fn named(session: &SessionSummary) -> String {
    format!("{} ({})", short(&session.session_id), title(session))
}

async fn load(storage: &dyn SessionStorage, session: &str) -> Result<StoredSession, Error> {
    let found = storage.find(session).await?;
    storage.load(&found.session_id).await
}

async fn show(storage: &dyn SessionStorage, args: SessionsShow) -> Result<(), Error> {
    let stored = load(storage, &args.session).await?;
    if args.json {
        return print::document(&document(&stored));
    }
    let SessionSummary { session_id, project, created_at, .. } = &stored.summary;
    let project = project.as_deref().map(|project| format!(" · {}", shorten(project))).unwrap_or_default();
    print::line(&format!("{}\n{session_id} · {}{project}", title(&stored.summary), print::time(*created_at)))?;
    print::line(&transcript::text(&stored.records))?;
    note_skipped(&stored);
    Ok(())
}

async fn export(storage: &dyn SessionStorage, args: SessionsExport) -> Result<(), Error> {
    let stored = load(storage, &args.session).await?;
    match args.format {
        ExportFormat::Json => print::document(&document(&stored))?,
        ExportFormat::Markdown => {
            let SessionSummary { session_id, project, created_at, .. } = &stored.summary;
            let project = project.as_deref().map(|project| format!(", in {project}")).unwrap_or_default();
            let head = format!(
                "# {}\n\nSession {session_id} of {}{project}.\n",
                title(&stored.summary),
                print::time(*created_at)
            );
            print::line(&[head, transcript::markdown(&stored.records)].concat())?;
        }
    }
    note_skipped(&stored);
    Ok(())
}

/// K-05: what could not be read is told, and nothing is done about it.
fn note_skipped(stored: &StoredSession) {
    for skipped in &stored.skipped {
        print::note(&format!("warning: {} is skipped: {}", skipped.place, skipped.reason));
    }
}

/// A session for a program: everything that is stored of it, and what is wrong with it.
fn document(stored: &StoredSession) -> Value {
    json!({
        "session": stored.summary,
        "forked_from": stored.forked_from,
        "records": stored.records,
        "skipped": stored.skipped,
        "results_without_a_call": transcript::strays(&stored.records),
    })
}

async fn rename(storage: &dyn SessionStorage, args: SessionsRename) -> Result<(), Error> {
    let new = args.title.trim();
    if new.is_empty() {
        return Err(Error::new(ErrorCode::InvalidInput, "the title is empty; say what the session is called"));
    }
    let found = storage.find(&args.session).await?;
    let now = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default();
    storage.rename(&found.session_id, new, now).await?;
    print::note(&format!("{} is now called {}", named(&found), shorten(new)));
    Ok(())
}
