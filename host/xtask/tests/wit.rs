//! The contract in wit/ does not change by accident: each file has its checksum beside it (docs/wit.md).

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

const SUMS: &str = "SHA256SUMS";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit")
}

/// The checksum of each file of the contract, by name. Line ends count as `\n`, whatever a checkout made of them.
fn found() -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder()).expect("wit/ is there").map(|entry| entry.expect("readable").path());
    let files = entries.filter(|path| path.file_name().is_some_and(|name| name != SUMS));
    files
        .map(|path| {
            assert!(path.is_file(), "{}: the contract is files side by side", path.display());
            let text = fs::read_to_string(&path).expect("text").replace("\r\n", "\n");
            let digest = Sha256::digest(text.as_bytes());
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, digest.iter().map(|byte| format!("{byte:02x}")).collect())
        })
        .collect()
}

/// The lines of `sha256sum`.
fn parse(sums: &str) -> BTreeMap<String, String> {
    let entry = |line: &str| line.split_once("  ").map(|(sum, name)| (name.to_owned(), sum.to_owned()));
    sums.lines().map(|line| entry(line).unwrap_or_else(|| panic!("wit/{SUMS}: {line:?} is no checksum"))).collect()
}

fn differences(agreed: &BTreeMap<String, String>, found: &BTreeMap<String, String>) -> Vec<String> {
    let changed = found.iter().filter_map(|(name, sum)| match agreed.get(name) {
        Some(agreed) if agreed == sum => None,
        Some(_) => Some(format!("wit/{name} has changed")),
        None => Some(format!("wit/{name} is new")),
    });
    let gone = agreed.keys().filter(|name| !found.contains_key(*name)).map(|name| format!("wit/{name} is gone"));
    changed.chain(gone).collect()
}

/// docs/wit.md says what may change, and how.
#[test]
fn the_contract_is_what_was_agreed() {
    let found = found();
    if env::var_os("UPDATE_WIT").is_some() {
        let lines: String = found.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
        fs::write(folder().join(SUMS), lines).expect("written");
    }
    let agreed = parse(&fs::read_to_string(folder().join(SUMS)).expect("wit/SHA256SUMS is there"));
    let differences = differences(&agreed, &found);
    assert!(
        differences.is_empty(),
        "The contract of components differs from what wit/{SUMS} holds:\n  {}\nEvery component that was built before \
         may stop working. docs/wit.md says what can change and how. If this is wanted, and the contract is not yet \
         frozen: UPDATE_WIT=1 cargo test -p xtask --test wit",
        differences.join("\n  ")
    );
}

#[test]
fn every_difference_is_told() {
    let sums = |text: &str| parse(text);
    let agreed = sums("00  a.wit\n11  b.wit\n22  c.wit\n");
    assert_eq!(differences(&agreed, &agreed), Vec::<String>::new());
    assert_eq!(
        differences(&agreed, &sums("00  a.wit\n12  b.wit\n33  d.wit\n")),
        ["wit/b.wit has changed", "wit/d.wit is new", "wit/c.wit is gone"]
    );
}
