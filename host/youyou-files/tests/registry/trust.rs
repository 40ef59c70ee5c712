//! Which projects are trusted, over real files.

use std::fs;

use youyou_files::{
    TrustStore,
    trust::{NotKept, TRUST_FILE},
};

use crate::tree::Tree;

const FILE: &str = "home/trusted-projects.json";

/// The store, and what is said about its file.
fn open(tree: &Tree) -> (TrustStore, String) {
    let (store, problem) = TrustStore::open(&tree.path("home"));
    (store, tree.shown(problem.as_slice()))
}

fn trust(store: &mut TrustStore, tree: &Tree, workspace: &str, hash: &str) {
    store.trust(&tree.path(workspace), hash).expect("is kept");
}

/// The files in the home, but for the one that only serves as a lock.
fn files(tree: &Tree) -> Vec<String> {
    let entries = fs::read_dir(tree.path("home")).expect("lists");
    let mut names =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect::<Vec<_>>();
    names.retain(|name| name != ".trusted-projects.lock");
    names.sort();
    names
}

/// D-40: a project is trusted with what it held, and asked about again when that changes.
#[test]
fn trust_is_kept_for_one_project_and_one_hash() {
    let tree = Tree::new();
    tree.write("work/x", "").write("other/x", "");
    let (mut store, said) = open(&tree);
    assert_eq!((said.as_str(), store.is_trusted(&tree.path("work"), "h1")), ("", false));
    trust(&mut store, &tree, "work", "h1");
    for store in [store, open(&tree).0] {
        let trusted = [("work", "h1"), ("work", "h2"), ("work", ""), ("other", "h1")]
            .map(|(workspace, hash)| store.is_trusted(&tree.path(workspace), hash));
        assert_eq!(trusted, [true, false, false, false]);
    }
    let (mut store, _) = open(&tree);
    trust(&mut store, &tree, "work", "h2");
    trust(&mut store, &tree, "other", "h3");
    let (store, said) = open(&tree);
    let trusted = [("work", "h1"), ("work", "h2"), ("other", "h3")]
        .map(|(workspace, hash)| store.is_trusted(&tree.path(workspace), hash));
    assert_eq!((said.as_str(), trusted), ("", [false, true, true]));
    assert_eq!(files(&tree), [TRUST_FILE], "nothing else is left behind");
}

/// D-40: one workspace by whatever name.
#[cfg(unix)]
#[test]
fn a_workspace_is_the_same_by_another_name() {
    let tree = Tree::new();
    tree.write("work/sub/x", "").link("work", "link");
    let (mut store, _) = open(&tree);
    trust(&mut store, &tree, "link", "h");
    assert!(store.is_trusted(&tree.path("work"), "h") && store.is_trusted(&tree.path("work/sub/.."), "h"));
    assert!(!store.is_trusted(&tree.path("work/sub"), "h"), "a folder below is a project of its own");
}

/// D-40: what another process has written since is kept.
#[test]
fn two_stores_do_not_undo_each_other() {
    let tree = Tree::new();
    tree.write("work/x", "").write("other/x", "");
    let ((mut one, _), (mut two, _)) = (open(&tree), open(&tree));
    trust(&mut one, &tree, "work", "h1");
    trust(&mut two, &tree, "other", "h2");
    for store in [two, open(&tree).0] {
        assert!(store.is_trusted(&tree.path("work"), "h1") && store.is_trusted(&tree.path("other"), "h2"));
    }
}

/// D-40: a file that is not understood trusts nothing, is told of, and is never lost.
#[test]
fn a_file_that_is_not_understood_trusts_nothing_and_is_kept() {
    let good = |tree: &Tree| {
        tree.write("work/x", "");
        trust(&mut open(tree).0, tree, "work", "h");
        fs::read_to_string(tree.path(FILE)).expect("reads")
    };
    let text = good(&Tree::new());
    let cut = &text[..text.len() / 2];
    let broken = [
        "".to_owned(),
        cut.to_owned(),
        text.replace("\"version\": 1", "\"version\": 2"),
        text.replace("\"version\": 1", "\"version\": 1, \"more\": {}"),
        "[]".to_owned(),
    ];
    let mut all_said = String::new();
    for broken in broken {
        let tree = Tree::new();
        good(&tree);
        tree.write(FILE, &broken);
        let (mut store, said) = open(&tree);
        assert!(!store.is_trusted(&tree.path("work"), "h"), "{broken}");
        assert_eq!(fs::read_to_string(tree.path(FILE)).expect("reads"), broken, "opening changes nothing");
        trust(&mut store, &tree, "work", "h2");
        let backup = fs::read_to_string(tree.path("home/trusted-projects.json.bak")).expect("a backup");
        assert_eq!((backup, open(&tree).1.as_str()), (broken, ""));
        assert!(store.is_trusted(&tree.path("work"), "h2") && !store.is_trusted(&tree.path("work"), "h"));
        // The rest is the JSON crate's.
        all_said += said.split(" written: ").next().expect("a start").trim_end();
        all_said += "\n";
    }
    insta::assert_snapshot!(all_said, @"
    warning: home/trusted-projects.json:1: trusted-projects.json is not what was
    warning: home/trusted-projects.json:4: trusted-projects.json is not what was
    warning: home/trusted-projects.json: version 2 of trusted-projects.json is not known, only version 1 is (no project is trusted until one is trusted anew; this file is then kept as trusted-projects.json.bak)
    warning: home/trusted-projects.json:2: trusted-projects.json is not what was
    warning: home/trusted-projects.json:1: trusted-projects.json is not what was
    ");
}

/// D-40: a second backup does not replace the first.
#[test]
fn every_backup_is_kept() {
    let tree = Tree::new();
    tree.write("work/x", "");
    for content in ["first", "second", "third"] {
        let (mut store, said) = open(tree.write(FILE, content));
        assert!(!said.is_empty());
        trust(&mut store, &tree, "work", "h");
    }
    let names = ["", ".bak", ".bak2", ".bak3"].map(|end| format!("{TRUST_FILE}{end}"));
    assert_eq!(files(&tree), names);
    let read = |number: &str| fs::read_to_string(tree.path(&format!("{FILE}.bak{number}"))).expect("reads");
    assert_eq!(["", "2", "3"].map(read), ["first", "second", "third"]);
}

/// K-43's kind: a pipe is not waited for, a folder is no file; both are set aside when there is something to write.
#[cfg(unix)]
#[test]
fn what_is_no_file_trusts_nothing_and_nothing_waits() {
    let tree = Tree::new();
    tree.write("work/x", "").write("home/x", "");
    tree.pipe(FILE);
    let (mut store, said) = open(&tree);
    insta::assert_snapshot!(said, @"warning: home/trusted-projects.json: trusted-projects.json must be a file, it is neither a file nor a folder (no project is trusted until one is trusted anew; this file is then kept as trusted-projects.json.bak)");
    assert!(!store.is_trusted(&tree.path("work"), "h"));
    trust(&mut store, &tree, "work", "h");
    assert!(open(&tree).0.is_trusted(&tree.path("work"), "h"));
}

/// The file is the user's alone, and a link to it stays one.
#[cfg(unix)]
#[test]
fn the_file_is_for_its_user_and_may_be_a_link() {
    use std::os::unix::fs::PermissionsExt;
    let tree = Tree::new();
    tree.write("work/x", "").write("home/x", "").write("dotfiles/t.json", r#"{"version":1,"projects":{}}"#);
    tree.link("dotfiles/t.json", FILE);
    trust(&mut open(&tree).0, &tree, "work", "h");
    assert!(fs::symlink_metadata(tree.path(FILE)).expect("there").is_symlink());
    assert!(open(&tree).0.is_trusted(&tree.path("work"), "h"));
    let mode = fs::metadata(tree.path("dotfiles/t.json")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// What cannot be written is said, and counts for nothing.
#[test]
fn what_cannot_be_written_is_said() {
    let tree = Tree::new();
    tree.write("work/x", "").write("home", "a file where the home should be");
    let (mut store, _) = open(&tree);
    let error: NotKept = store.trust(&tree.path("work"), "h").expect_err("cannot be written");
    assert!(!store.is_trusted(&tree.path("work"), "h"));
    assert!(tree.neutral(&error.to_string()).ends_with("cannot be written to home/trusted-projects.json"), "{error}");
    let error = youyou_api::Error::from(error);
    assert!(error.message.contains("check that its folder can be written to"), "{error}");
}

/// D-40: many at once leave a file that is whole, and no answer is lost.
#[test]
fn many_writers_lose_nothing() {
    const WRITERS: usize = 4;
    const ROUNDS: usize = 20;
    let tree = Tree::new();
    tree.write("home/x", "");
    let workspace = |writer: usize, round: usize| format!("work{writer}-{round}");
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let tree = &tree;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let (mut store, said) = open(tree);
                    assert_eq!(said, "");
                    trust(&mut store, tree, &workspace(writer, round), "h");
                }
            });
        }
    });
    let (store, said) = open(&tree);
    assert_eq!((said.as_str(), files(&tree)), ("", vec![TRUST_FILE.to_owned(), "x".to_owned()]));
    let all = (0..WRITERS).flat_map(|writer| (0..ROUNDS).map(move |round| workspace(writer, round)));
    let lost = all.filter(|workspace| !store.is_trusted(&tree.path(workspace), "h")).collect::<Vec<_>>();
    assert_eq!(lost, Vec::<String>::new());
}
