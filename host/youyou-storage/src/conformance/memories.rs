//! The checks of a memory store (Y3.8).

use youyou_api::{ErrorCode, Memory, MemoryDraft, MemoryId, MemoryStorage, Namespace, PageCursor, Upserted};

use super::{MemoryPlace, code};

/// Runs every check, each on a place of its own.
///
/// # Panics
/// When the store does not do what the port says.
pub async fn memories<P: MemoryPlace>(place: impl Fn() -> P) {
    a_memory_is_stored_by_its_id(place()).await;
    a_namespace_sees_nothing_of_another(place()).await;
    memories_are_listed_page_by_page(place()).await;
    the_most_relevant_comes_first(place()).await;
    what_is_gone_is_not_found(place()).await;
    every_script_is_searched(place()).await;
    a_query_is_what_a_person_writes(place()).await;
}

fn here() -> Namespace {
    Namespace::stored("/work")
}

fn draft(id: &str, content: &str) -> MemoryDraft {
    MemoryDraft { id: MemoryId::new(id), namespace: here(), content: content.into(), source: None, tags: Vec::new() }
}

async fn remember(store: &dyn MemoryStorage, at: u64, memories: &[(&str, &str)]) {
    let drafts = memories.iter().map(|(id, content)| draft(id, content)).collect();
    store.upsert(drafts, at).await.expect("stores");
}

async fn found(store: &dyn MemoryStorage, query: &str) -> Vec<String> {
    let found = store.search(&here(), query, 10).await.unwrap_or_else(|error| panic!("{query:?}: {error}"));
    found.into_iter().map(|memory| memory.id.as_str().to_owned()).collect()
}

/// Y3.8-1: the same content only moves the time.
async fn a_memory_is_stored_by_its_id(place: impl MemoryPlace) {
    let store = place.open().await;
    let first = MemoryDraft {
        source: Some("session s-1".into()),
        tags: vec!["tools".into(), "東京 \"x\"".into()],
        ..draft("m", "Uses\n tabs\u{0}")
    };
    let stored = store.upsert(vec![first.clone(), draft("n", "")], 10).await.expect("stores");
    assert_eq!(stored, [Upserted::Inserted, Upserted::Inserted]);
    let id = MemoryId::new("m");
    let expected = Memory {
        id: id.clone(),
        namespace: here(),
        content: first.content.clone(),
        source: first.source.clone(),
        tags: first.tags.clone(),
        created_at: 10,
        updated_at: 10,
    };
    let other = place.open().await;
    assert_eq!(other.load(&here(), &id).await.expect("loads"), Some(expected.clone()));

    let same = MemoryDraft { source: None, tags: Vec::new(), ..first };
    assert_eq!(other.upsert(vec![same], 20).await.expect("stores"), [Upserted::Touched]);
    let touched = Memory { updated_at: 20, ..expected };
    assert_eq!(store.load(&here(), &id).await.expect("loads"), Some(touched));

    let new = MemoryDraft { source: Some("user".into()), ..draft("m", "Uses blanks") };
    assert_eq!(store.upsert(vec![new.clone(), new], 30).await.expect("stores"), [Upserted::Updated, Upserted::Touched]);
    let updated = store.load(&here(), &id).await.expect("loads").expect("it is there");
    assert_eq!((updated.content.as_str(), updated.source.as_deref()), ("Uses blanks", Some("user")));
    assert_eq!((updated.tags.len(), updated.created_at, updated.updated_at), (0, 10, 30));
    assert_eq!(store.load(&here(), &MemoryId::new("none")).await.expect("loads"), None);
}

/// Y4.7-3.
async fn a_namespace_sees_nothing_of_another(place: impl MemoryPlace) {
    let store = place.open().await;
    let elsewhere = MemoryDraft { namespace: Namespace::global(), ..draft("m", "likes green tea") };
    store.upsert(vec![draft("m", "likes black tea"), elsewhere], 1).await.expect("stores");
    for (namespace, color) in [(here(), "black"), (Namespace::global(), "green")] {
        let found = store.search(&namespace, "tea green black", 10).await.expect("searches");
        assert_eq!(found.len(), 1, "{namespace}");
        assert!(found[0].content.contains(color), "{namespace}: {found:?}");
        assert_eq!(store.list(&namespace, None, 10).await.expect("lists").items, found);
    }
    assert!(store.delete(&here(), &MemoryId::new("m")).await.expect("deletes"));
    let left = store.load(&Namespace::global(), &MemoryId::new("m")).await.expect("loads");
    assert_eq!(left.map(|memory| memory.content).as_deref(), Some("likes green tea"));
}

async fn memories_are_listed_page_by_page(place: impl MemoryPlace) {
    let store = place.open().await;
    let mut expected = Vec::new();
    for n in 0..7_u64 {
        let id = format!("m-{}", n * 3 % 7);
        remember(&*store, n / 2, &[(&id, "x")]).await;
        expected.push((n / 2, id));
    }
    expected.sort();
    expected.reverse();
    let (mut cursor, mut found) = (None, Vec::new());
    loop {
        let page = store.list(&here(), cursor, 3).await.expect("lists");
        found.extend(page.items.into_iter().map(|memory| (memory.updated_at, memory.id.as_str().to_owned())));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(found, expected);
    let lost = store.list(&here(), Some(PageCursor::new("nowhere")), 3).await;
    assert_eq!(code(lost, "a foreign cursor"), ErrorCode::InvalidInput);
}

/// Y3.8-1: in order of relevance; of equal ones the last updated first.
async fn the_most_relevant_comes_first(place: impl MemoryPlace) {
    let store = place.open().await;
    let memories = [
        ("both", "Deploys go to the staging server"),
        ("one", "The staging area is blue, like all of the other areas of the house"),
        ("none", "Prefers tabs over blanks"),
        ("other", "Tests run on every push"),
    ];
    remember(&*store, 1, &memories).await;
    assert_eq!(found(&*store, "how do I deploy to the Staging Server?").await[0], "both");
    assert_eq!(found(&*store, "staging server").await, ["both", "one"]);
    assert_eq!(found(&*store, "TABS").await, ["none"]);
    assert_eq!(found(&*store, "zebra").await, Vec::<String>::new());

    for (at, id) in [(5, "old"), (7, "new"), (6, "middle")] {
        remember(&*store, at, &[(id, "The office is in Oslo")]).await;
    }
    assert_eq!(found(&*store, "oslo office").await, ["new", "middle", "old"]);
    remember(&*store, 8, &[("old", "The office is in Oslo")]).await;
    assert_eq!(found(&*store, "oslo office").await, ["old", "new", "middle"]);
    assert_eq!(store.search(&here(), "oslo", 2).await.expect("searches").len(), 2);
    let tagged = MemoryDraft { tags: vec!["billing".into()], ..draft("tagged", "Invoices go out on Mondays") };
    store.upsert(vec![tagged], 9).await.expect("stores");
    assert_eq!(found(&*store, "billing").await, ["tagged"], "a tag is a word to find it by");
}

async fn what_is_gone_is_not_found(place: impl MemoryPlace) {
    let store = place.open().await;
    remember(&*store, 1, &[("m", "lives in Bergen"), ("n", "works in Bergen")]).await;
    remember(&*store, 2, &[("m", "lives in Tromsø")]).await;
    assert_eq!(found(&*store, "bergen").await, ["n"]);
    assert_eq!(found(&*store, "tromsø").await, ["m"]);
    assert!(store.delete(&here(), &MemoryId::new("m")).await.expect("deletes"));
    assert!(!store.delete(&here(), &MemoryId::new("m")).await.expect("nothing to delete"));
    let other = place.open().await;
    assert_eq!(found(&*other, "tromsø").await, Vec::<String>::new());
    assert_eq!(found(&*other, "lives works").await, ["n"]);
}

/// Where words are written without blanks between them, two characters are enough, wherever they stand; and one.
async fn every_script_is_searched(place: impl MemoryPlace) {
    let store = place.open().await;
    let memories = [
        ("zh", "用户喜欢简洁的回答，项目部署在上海。"),
        ("zh-2", "每周一开会"),
        ("ja", "ユーザーは東京都に住んでいて、コーヒーが好きです"),
        ("ko", "사용자는 서울에서 일합니다"),
        ("de", "Die Prüfung läuft über Nacht"),
        ("mixed", "使用Rust编写后端"),
    ];
    remember(&*store, 1, &memories).await;
    for (query, expected) in [
        ("部署", "zh"),
        ("上海", "zh"),
        ("用户", "zh"),
        ("简洁", "zh"),
        ("项目部署在哪里", "zh"),
        ("开会", "zh-2"),
        ("东京 上海", "zh"),
        ("東京", "ja"),
        ("京都", "ja"), // the characters stand there, if not the word
        ("コーヒー", "ja"),
        ("好き", "ja"),
        ("海", "zh"),
        ("会", "zh-2"),
        ("都", "ja"),
        ("서울", "ko"),
        ("prüfung", "de"),
        ("ＲＵＳＴ", "mixed"),
        ("后端", "mixed"),
        ("rust", "mixed"),
    ] {
        assert_eq!(found(&*store, query).await.first().map(String::as_str), Some(expected), "{query}");
    }
    for query in ["大阪", "猫", "署部"] {
        assert_eq!(found(&*store, query).await, Vec::<String>::new(), "{query}");
    }
}

/// A query has no syntax; nothing that a person may write fails.
async fn a_query_is_what_a_person_writes(place: impl MemoryPlace) {
    let store = place.open().await;
    remember(&*store, 1, &[("m", "the NEAR OR NOT AND of it")]).await;
    let long = "word ".repeat(20_000);
    for query in ["\"", "*", "a* b", "content:x", "-", "^x", "{a b}: c", "'; DROP TABLE", "\0", "(", "🦀", &long] {
        assert_eq!(found(&*store, query).await, Vec::<String>::new(), "{:.20}", query);
    }
    for query in ["NOT \"near\" (or)", "NEAR(", "a* OR", "-it", "content:of"] {
        assert_eq!(found(&*store, query).await, ["m"], "{query}");
    }
    assert_eq!(store.search(&here(), "near", 0).await.expect("searches"), [], "none were asked for");
}
