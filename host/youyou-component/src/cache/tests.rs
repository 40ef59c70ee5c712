//! K-64: what the cache does when its files or its directory are not as it left them.

use std::{
    fs::File,
    time::{Duration, SystemTime},
};

use super::*;

const TEXT: &str = "(component (core module (func (export \"f\") (result i32) i32.const 42)))";

struct Fixture {
    dir: tempfile::TempDir,
    engine: Engine,
    code: Vec<u8>,
}

impl Fixture {
    fn new() -> Self {
        let engine = Engine::default();
        let code = engine.precompile_component(&wat::parse_str(TEXT).expect("well-formed")).expect("compiles");
        Self { dir: tempfile::tempdir().expect("a directory"), engine, code }
    }

    fn cache(&self) -> Cache {
        Cache::new(Some(self.dir.path().join("a").join("b")), 1 << 30)
    }

    fn key(&self, content: &str) -> CacheKey {
        CacheKey::new(&self.engine, blake3::hash(content.as_bytes()))
    }

    fn path(&self, key: &CacheKey) -> PathBuf {
        self.dir.path().join("a").join("b").join(key.file_name())
    }

    fn stamp(&self, key: &CacheKey, age: Duration) {
        let file = File::options().append(true).open(self.path(key)).expect("the entry");
        file.set_modified(SystemTime::now() - age).expect("stamped");
    }
}

#[test]
fn what_was_stored_is_loaded_by_another_process() {
    let fixture = Fixture::new();
    let key = fixture.key("x");
    assert!(fixture.cache().load(&fixture.engine, &key).is_none());
    fixture.cache().store(&key, &fixture.code);
    assert!(fixture.cache().load(&fixture.engine, &key).is_some());
    assert!(fixture.cache().load(&fixture.engine, &fixture.key("y")).is_none());
}

/// K-64: cut anywhere, changed anywhere, or given the name of another: never mapped, removed, stored anew.
#[test]
fn an_entry_that_is_not_what_was_written_is_removed() {
    let fixture = Fixture::new();
    let key = fixture.key("x");
    let cache = fixture.cache();
    cache.store(&key, &fixture.code);
    let whole = fs::read(fixture.path(&key)).expect("the entry");
    let mut damaged: Vec<Vec<u8>> = [0, 10, whole.len() / 2, whole.len() - 1].map(|n| whole[..n].to_vec()).into();
    damaged.push([&whole[..], b"\0"].concat());
    for at in [0, whole.len() / 3, whole.len() - 41, whole.len() - 40, whole.len() - 1] {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        damaged.push(flipped);
    }
    for bytes in damaged {
        fs::write(fixture.path(&key), &bytes).expect("damaged");
        assert!(cache.load(&fixture.engine, &key).is_none(), "{} of {} bytes", bytes.len(), whole.len());
        assert!(!fixture.path(&key).exists());
    }
    cache.store(&key, &fixture.code);
    let other = fixture.key("y");
    fs::rename(fixture.path(&key), fixture.path(&other)).expect("renamed");
    assert!(cache.load(&fixture.engine, &other).is_none());
}

#[test]
fn an_entry_is_never_overwritten() {
    let fixture = Fixture::new();
    let key = fixture.key("x");
    fixture.cache().store(&key, &fixture.code);
    let before = fs::metadata(fixture.path(&key)).expect("the entry");
    fixture.cache().store(&key, b"something else");
    let after = fs::metadata(fixture.path(&key)).expect("the entry");
    assert_eq!((before.len(), before.modified().ok()), (after.len(), after.modified().ok()));
    assert_eq!(fixture.cache().info().expect("readable").entries, 1, "nothing unfinished is left");
}

#[test]
fn code_for_another_engine_is_not_found() {
    let fixture = Fixture::new();
    fixture.cache().store(&fixture.key("x"), &fixture.code);
    let other = Engine::new(wasmtime::Config::new().epoch_interruption(true)).expect("an engine");
    assert!(fixture.cache().load(&other, &CacheKey::new(&other, blake3::hash(b"x"))).is_none());
}

#[test]
fn the_least_recently_used_entries_go_first() {
    let fixture = Fixture::new();
    let keys: Vec<_> = ["a", "b", "c", "d"].map(|name| fixture.key(name)).into();
    let entry_bytes = fixture.code.len() as u64 + 40;
    let cache = Cache::new(Some(fixture.dir.path().join("a").join("b")), 3 * entry_bytes);
    for (key, age) in keys.iter().zip([400, 300, 200]) {
        cache.store(key, &fixture.code);
        fixture.stamp(key, Duration::from_secs(age));
    }
    assert!(cache.load(&fixture.engine, &keys[0]).is_some(), "which makes it the most recently used");
    cache.store(&keys[3], &fixture.code);
    let there: Vec<_> = keys.iter().map(|key| fixture.path(key).exists()).collect();
    assert_eq!(there, [true, false, true, true]);
    assert_eq!(cache.info().expect("readable").bytes, 3 * entry_bytes);
}

#[test]
fn clearing_removes_entries_and_what_dead_processes_left() {
    let fixture = Fixture::new();
    let cache = fixture.cache();
    cache.store(&fixture.key("x"), &fixture.code);
    let dir = fixture.dir.path().join("a").join("b");
    fs::write(dir.join(format!("{}abc", space::TEMPORARY)), "half").expect("written");
    fs::write(dir.join("note.txt"), "mine").expect("written");
    let before = cache.clear().expect("clears");
    assert_eq!((before.entries, before.bytes), (1, fixture.code.len() as u64 + 40));
    let left: Vec<_> = fs::read_dir(&dir).expect("lists").map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(left, ["note.txt"]);
}

#[cfg(unix)]
#[test]
fn the_directory_is_for_this_user_alone() {
    use std::os::unix::fs::PermissionsExt;

    let fixture = Fixture::new();
    fixture.cache().store(&fixture.key("x"), &fixture.code);
    for dir in ["a", "a/b"] {
        let mode = fs::metadata(fixture.dir.path().join(dir)).expect("made").permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{dir}");
    }
    let dir = fixture.dir.path().join("a").join("b");
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).expect("opened");
    assert!(fixture.cache().load(&fixture.engine, &fixture.key("x")).is_some());
    assert_eq!(fs::metadata(&dir).expect("there").permissions().mode() & 0o777, 0o700);
}

/// K-64: a directory that cannot be made costs one warning, and nothing else.
#[test]
fn without_a_usable_directory_there_is_one_warning() {
    let fixture = Fixture::new();
    let file = fixture.dir.path().join("file");
    fs::write(&file, "").expect("written");
    let cache = Cache::new(Some(file.join("cache")), 1 << 30);
    let warnings = crate::log::tests::collected_from("youyou_component", || {
        for name in ["x", "y", "x"] {
            cache.store(&fixture.key(name), &fixture.code);
            assert!(cache.load(&fixture.engine, &fixture.key(name)).is_none());
        }
    });
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("every process compiles them anew"), "{warnings:?}");
}
