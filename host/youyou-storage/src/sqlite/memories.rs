//! Memories in the database, and the full-text index that they are found by.

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use youyou_api::{
    BoxFuture, Durability, Error, Memory, MemoryDraft, MemoryId, MemoryStorage, Namespace, Page, PageCursor, Upserted,
};

use super::{SqliteStore, terms};
use crate::catalog::{Position, from_sql, to_sql};

/// The step that makes the tables. The index holds [terms](super::terms) and no text; `porter` makes one term of an
/// English word's forms and leaves the others alone.
pub(super) const TABLES: &str = "
    CREATE TABLE memories (
        key INTEGER PRIMARY KEY,
        namespace TEXT NOT NULL,
        id TEXT NOT NULL,
        content TEXT NOT NULL,
        source TEXT,
        tags TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        UNIQUE (namespace, id)
    );
    CREATE INDEX memories_by_time ON memories (namespace, updated_at, id);
    CREATE VIRTUAL TABLE memory_terms USING fts5 (
        content, tags,
        content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
    );
";

const COLUMNS: &str = "id, namespace, content, source, tags, created_at, updated_at";

impl MemoryStorage for SqliteStore {
    fn load<'a>(&'a self, namespace: &'a Namespace, id: &'a MemoryId) -> BoxFuture<'a, Result<Option<Memory>, Error>> {
        let (namespace, id) = (namespace.clone(), id.clone());
        self.with(move |database| {
            database.read("read a memory", |connection| {
                let statement = format!("SELECT {COLUMNS} FROM memories WHERE namespace = ?1 AND id = ?2");
                connection.prepare_cached(&statement)?.query_row([namespace.as_str(), id.as_str()], memory).optional()
            })
        })
    }

    fn list<'a>(
        &'a self,
        namespace: &'a Namespace,
        cursor: Option<PageCursor>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Page<Memory>, Error>> {
        let namespace = namespace.clone();
        self.with(move |database| {
            let after = cursor.map(|cursor| Position::parse(cursor.as_str())).transpose()?;
            database.read("list the memories", |connection| list(connection, &namespace, after, limit.max(1)))
        })
    }

    fn upsert(&self, drafts: Vec<MemoryDraft>, at: u64) -> BoxFuture<'_, Result<Vec<Upserted>, Error>> {
        self.with(move |database| {
            database.write("store memories", Durability::Synced, |transaction| {
                drafts.iter().map(|draft| upsert(transaction, draft, at)).collect()
            })
        })
    }

    fn delete<'a>(&'a self, namespace: &'a Namespace, id: &'a MemoryId) -> BoxFuture<'a, Result<bool, Error>> {
        let (namespace, id) = (namespace.clone(), id.clone());
        self.with(move |database| {
            database.write("delete a memory", Durability::Synced, |transaction| {
                let key: Option<i64> = transaction
                    .prepare_cached("DELETE FROM memories WHERE namespace = ?1 AND id = ?2 RETURNING key")?
                    .query_row([namespace.as_str(), id.as_str()], |row| row.get(0))
                    .optional()?;
                let Some(key) = key else { return Ok(false) };
                transaction.prepare_cached("DELETE FROM memory_terms WHERE rowid = ?1")?.execute([key])?;
                Ok(true)
            })
        })
    }

    fn search<'a>(
        &'a self,
        namespace: &'a Namespace,
        query: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Memory>, Error>> {
        let (namespace, query) = (namespace.clone(), query.to_owned());
        self.with(move |database| {
            let Some(query) = terms::of_query(&query) else { return Ok(Vec::new()) };
            database.read("search the memories", |connection| search(connection, &namespace, &query, limit))
        })
    }
}

fn memory(row: &Row<'_>) -> rusqlite::Result<Memory> {
    let tags: String = row.get(4)?;
    Ok(Memory {
        id: MemoryId::new(row.get::<_, String>(0)?),
        namespace: Namespace::stored(row.get::<_, String>(1)?),
        content: row.get(2)?,
        source: row.get(3)?,
        // Written below; whoever edits the database by hand loses the tags, not the memory.
        tags: serde_json::from_str(&tags).unwrap_or_default(),
        created_at: from_sql(row.get(5)?),
        updated_at: from_sql(row.get(6)?),
    })
}

fn list(
    connection: &Connection,
    namespace: &Namespace,
    after: Option<Position>,
    limit: usize,
) -> rusqlite::Result<Page<Memory>> {
    let after = after.unwrap_or(Position { updated_at: i64::MAX, id: "\u{10ffff}".to_owned() });
    let statement = format!(
        "SELECT {COLUMNS} FROM memories WHERE namespace = ?1 AND (updated_at, id) < (?2, ?3)
         ORDER BY updated_at DESC, id DESC LIMIT ?4"
    );
    let more = to_limit(limit).saturating_add(1);
    let mut items: Vec<Memory> = connection
        .prepare_cached(&statement)?
        .query_map(params![namespace.as_str(), after.updated_at, after.id, more], memory)?
        .collect::<Result<_, _>>()?;
    let is_more = items.len() > limit;
    items.truncate(limit);
    let position =
        |last: &Memory| Position { updated_at: to_sql(last.updated_at), id: last.id.as_str().to_owned() }.cursor();
    let next = items.last().filter(|_| is_more).map(position);
    Ok(Page { items, next })
}

fn to_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn upsert(transaction: &Transaction<'_>, draft: &MemoryDraft, at: u64) -> rusqlite::Result<Upserted> {
    let found: Option<(i64, String)> = transaction
        .prepare_cached("SELECT key, content FROM memories WHERE namespace = ?1 AND id = ?2")?
        .query_row([draft.namespace.as_str(), draft.id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let tags =
        serde_json::to_string(&draft.tags).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    let (key, upserted) = match found {
        Some((key, content)) if content == draft.content => {
            let statement = "UPDATE memories SET updated_at = ?2 WHERE key = ?1";
            transaction.prepare_cached(statement)?.execute(params![key, to_sql(at)])?;
            return Ok(Upserted::Touched);
        }
        Some((key, _)) => {
            let statement = "UPDATE memories SET content = ?2, source = ?3, tags = ?4, updated_at = ?5 WHERE key = ?1";
            let values = params![key, draft.content, draft.source, tags, to_sql(at)];
            transaction.prepare_cached(statement)?.execute(values)?;
            transaction.prepare_cached("DELETE FROM memory_terms WHERE rowid = ?1")?.execute([key])?;
            (key, Upserted::Updated)
        }
        None => {
            let statement = "
                INSERT INTO memories (namespace, id, content, source, tags, created_at, updated_at)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)";
            let (namespace, id) = (draft.namespace.as_str(), draft.id.as_str());
            let values = params![namespace, id, draft.content, draft.source, tags, to_sql(at)];
            (transaction.prepare_cached(statement)?.insert(values)?, Upserted::Inserted)
        }
    };
    transaction
        .prepare_cached("INSERT INTO memory_terms (rowid, content, tags) VALUES (?1, ?2, ?3)")?
        .execute(params![key, terms::of_text(&draft.content), terms::of_text(&draft.tags.join("\n"))])?;
    Ok(upserted)
}

fn search(connection: &Connection, namespace: &Namespace, query: &str, limit: usize) -> rusqlite::Result<Vec<Memory>> {
    let statement = "
        SELECT m.id, m.namespace, m.content, m.source, m.tags, m.created_at, m.updated_at
        FROM memory_terms JOIN memories m ON m.key = memory_terms.rowid
        WHERE memory_terms MATCH ?1 AND m.namespace = ?2
        ORDER BY bm25(memory_terms), m.updated_at DESC, m.id LIMIT ?3";
    connection
        .prepare_cached(statement)?
        .query_map(params![query, namespace.as_str(), to_limit(limit)], memory)?
        .collect()
}
