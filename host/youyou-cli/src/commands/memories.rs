//! `youyou memories`: what is remembered from session to session.

use serde_json::json;
use youyou::{Error, Memory, MemoryId, MemoryStorage, Namespace, configured_stores};

use super::{Places, usage, wait_for};
use crate::{
    args::{Memories, MemoriesDelete, MemoriesList, MemoriesSearch},
    exit::Exit,
    print::{self, shorten},
};

pub(crate) fn run(args: Memories, places: &Places) -> Result<Exit, Error> {
    wait_for(async {
        let storage = configured_stores(&places.home)?.memories().await?.ok_or_else(|| {
            let config = places.home.join("config.yaml");
            usage(format!("nothing is remembered: {} says `storage: {{ memories: none }}`", config.display()))
        })?;
        match args {
            Memories::List(args) => {
                let page = storage.list(&namespace(args.global, places), None, limit(&args)).await?;
                show(&args, &page.items, page.next.is_some())
            }
            Memories::Search(MemoriesSearch { text, list: args }) => {
                let found = storage.search(&namespace(args.global, places), &text, limit(&args)).await?;
                show(&args, &found, false)
            }
            Memories::Delete(args) => delete(&*storage, args, places).await,
        }
    })
}

/// Those of the workspace, as the agent there has them.
fn namespace(global: bool, places: &Places) -> Namespace {
    if global { Namespace::global() } else { Namespace::workspace(&places.workspace) }
}

fn limit(args: &MemoriesList) -> usize {
    usize::try_from(args.limit).unwrap_or(usize::MAX)
}

fn show(args: &MemoriesList, memories: &[Memory], more: bool) -> Result<Exit, Error> {
    if args.json {
        print::document(&json!({ "memories": memories, "more": more }))?;
        return Ok(Exit::Ok);
    }
    if memories.is_empty() {
        print::note("no memories");
        return Ok(Exit::Ok);
    }
    let mut rows = vec![["MEMORY", "LAST STORED", "CONTENT"].map(str::to_owned).to_vec()];
    let row =
        |memory: &Memory| vec![shorten(memory.id.as_str()), print::time(memory.updated_at), shorten(&memory.content)];
    rows.extend(memories.iter().map(row));
    print::line(&print::table(&rows))?;
    if more {
        print::note(&format!("there are more than {}; --limit N shows more", args.limit));
    }
    Ok(Exit::Ok)
}

async fn delete(storage: &dyn MemoryStorage, args: MemoriesDelete, places: &Places) -> Result<Exit, Error> {
    let namespace = namespace(args.global, places);
    if storage.delete(&namespace, &MemoryId::new(args.id.as_str())).await? {
        print::note(&format!("forgot {}", args.id));
        return Ok(Exit::Ok);
    }
    Err(usage(format!("there is no memory {:?} in {namespace}; `youyou memories list` shows their ids", args.id)))
}
