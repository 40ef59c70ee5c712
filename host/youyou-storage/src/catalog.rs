//! The table of sessions that listings and searches are answered from: a part of the SQLite store, and the index beside
//! the JSONL store.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row, named_params, params};
use youyou_api::{Error, Page, PageCursor, SessionId, SessionQuery, SessionSummary};

use crate::error::{ambiguous, bad_cursor, not_found, sql};

/// The step that makes the table. `folded` is the title in lower case.
pub(crate) const TABLE: &str = "
    CREATE TABLE sessions (
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        project TEXT,
        title TEXT,
        folded TEXT,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        message_count INTEGER NOT NULL
    );
    CREATE INDEX sessions_by_time ON sessions (updated_at, id);
    CREATE INDEX sessions_by_project ON sessions (project, updated_at, id);
    CREATE INDEX sessions_by_title ON sessions (folded);
";

const COLUMNS: &str = "id, title, project, created_at, updated_at, message_count";

/// How many candidates an ambiguous search names.
const CANDIDATES: usize = 10;

/// A time or a count as SQLite has them.
pub(crate) fn to_sql(figure: u64) -> i64 {
    i64::try_from(figure).unwrap_or(i64::MAX)
}

/// The reverse of [`to_sql`].
pub(crate) fn from_sql(figure: i64) -> u64 {
    u64::try_from(figure).unwrap_or(0)
}

fn summary(row: &Row<'_>) -> rusqlite::Result<SessionSummary> {
    Ok(SessionSummary {
        session_id: SessionId::new(row.get::<_, String>(0)?),
        title: row.get(1)?,
        project: row.get(2)?,
        created_at: from_sql(row.get(3)?),
        updated_at: from_sql(row.get(4)?),
        message_count: from_sql(row.get(5)?),
    })
}

/// Adds the session, or replaces what is said of it.
pub(crate) fn put(connection: &Connection, session: &SessionSummary) -> rusqlite::Result<()> {
    let statement = "
        INSERT INTO sessions (id, project, title, folded, created_at, updated_at, message_count)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT (id) DO UPDATE SET project = ?2, title = ?3, folded = ?4, created_at = ?5, updated_at = ?6,
            message_count = ?7";
    connection.prepare_cached(statement)?.execute(params![
        session.session_id.as_str(),
        session.project,
        session.title,
        session.title.as_ref().map(|title| title.to_lowercase()),
        to_sql(session.created_at),
        to_sql(session.updated_at),
        to_sql(session.message_count),
    ])?;
    Ok(())
}

/// What is said of one session.
pub(crate) fn get(connection: &Connection, id: &str) -> rusqlite::Result<Option<SessionSummary>> {
    let statement = format!("SELECT {COLUMNS} FROM sessions WHERE id = ?1");
    connection.prepare_cached(&statement)?.query_row([id], summary).optional()
}

/// Takes the session out, and says whether it was there.
pub(crate) fn remove(connection: &Connection, id: &str) -> rusqlite::Result<bool> {
    Ok(connection.prepare_cached("DELETE FROM sessions WHERE id = ?1")?.execute([id])? > 0)
}

/// One page of the listing; `place` is the database, for errors.
pub(crate) fn list(connection: &Connection, place: &Path, query: &SessionQuery) -> Result<Page<SessionSummary>, Error> {
    let limit = query.limit.max(1);
    let after = query.cursor.as_ref().map(|cursor| Position::parse(cursor.as_str())).transpose()?;
    let mut conditions = vec!["TRUE"];
    conditions.extend(query.project.as_ref().map(|_| "project = :project"));
    conditions.extend(query.text.as_ref().map(|_| "instr(folded, :text) > 0"));
    conditions.extend(after.as_ref().map(|_| "(updated_at, id) < (:updated_at, :id)"));
    let statement = format!(
        "SELECT {COLUMNS} FROM sessions WHERE {} ORDER BY updated_at DESC, id DESC LIMIT :limit",
        conditions.join(" AND ")
    );
    let read = || -> rusqlite::Result<Vec<SessionSummary>> {
        let mut statement = connection.prepare_cached(&statement)?;
        let text = query.text.as_ref().map(|text| text.to_lowercase());
        let values = named_params! {
            ":project": query.project,
            ":text": text,
            ":updated_at": after.as_ref().map(|after| after.updated_at),
            ":id": after.as_ref().map(|after| after.id.as_str()),
            // One more tells whether there is a next page.
            ":limit": i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1),
        };
        for (name, value) in values {
            if let Some(index) = statement.parameter_index(name)? {
                statement.raw_bind_parameter(index, value)?;
            }
        }
        statement.raw_query().mapped(summary).collect()
    };
    let mut items = read().map_err(|error| sql("list the sessions", place, error))?;
    let more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| more).map(|last| Position::of(last).cursor());
    Ok(Page { items, next })
}

/// The one session that a text means; `place` is the database, for errors.
pub(crate) fn find(connection: &Connection, place: &Path, text: &str) -> Result<SessionSummary, Error> {
    let text = text.trim();
    let failed = |error| sql("find a session", place, error);
    if text.is_empty() {
        return Err(not_found("\"\""));
    }
    if let Some(found) = get(connection, text).map_err(failed)? {
        return Ok(found);
    }
    let read = || -> rusqlite::Result<Vec<SessionSummary>> {
        // Ids compare by their bytes; nothing that begins so comes after the last character there is.
        let statement = format!(
            "SELECT * FROM (SELECT {COLUMNS} FROM sessions WHERE id >= ?1 AND id < ?1 || char(1114111) LIMIT ?3)
             UNION SELECT * FROM (SELECT {COLUMNS} FROM sessions WHERE folded = ?2 LIMIT ?3)"
        );
        let limit = i64::try_from(CANDIDATES + 1).unwrap_or(i64::MAX);
        connection.prepare_cached(&statement)?.query_map(params![text, text.to_lowercase(), limit], summary)?.collect()
    };
    let mut found = read().map_err(failed)?;
    match found.len() {
        0 => Err(not_found(format!("{text:?}"))),
        1 => Ok(found.swap_remove(0)),
        many => {
            found.truncate(CANDIDATES);
            Err(ambiguous(text, &found, many > CANDIDATES))
        }
    }
}

/// Where a page ends: the time and the id of its last item.
pub(crate) struct Position {
    pub(crate) updated_at: i64,
    pub(crate) id: String,
}

impl Position {
    fn of(session: &SessionSummary) -> Self {
        Self { updated_at: to_sql(session.updated_at), id: session.session_id.as_str().to_owned() }
    }

    pub(crate) fn parse(cursor: &str) -> Result<Self, Error> {
        let (updated_at, id) = cursor.split_once('.').ok_or_else(|| bad_cursor(cursor))?;
        Ok(Self { updated_at: updated_at.parse().map_err(|_| bad_cursor(cursor))?, id: id.to_owned() })
    }

    pub(crate) fn cursor(&self) -> PageCursor {
        PageCursor::new(format!("{}.{}", self.updated_at, self.id))
    }
}
