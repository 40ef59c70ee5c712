//! Files: what is granted works, everything else is refused with the line that would grant it.

use super::*;

async fn table(world: &World, granted: &Grants, rows: &[Value]) -> String {
    let mut shown = String::new();
    for row in rows {
        let words: Vec<&str> = ["mode", "path", "to"].iter().filter_map(|key| row[*key].as_str()).collect();
        let answer = world.attempt(granted, row.clone()).await;
        shown.push_str(&format!("{}\n    {}\n", words.join(" "), answer.replace("\n\n", "\n").replace('\n', "\n    ")));
    }
    shown
}

/// DESIGN §7: the guest sees a directory under the path as written; its current directory is the working directory.
#[tokio::test]
async fn a_granted_directory_is_read_under_every_way_of_writing_its_path() {
    let world = World::new();
    let granted = grants(&["./data"], &[], &[], &[]);
    let shown = table(
        &world,
        &granted,
        &[
            json!({"mode": "read", "path": "data/a.txt"}),
            json!({"mode": "read", "path": "./data/a.txt"}),
            json!({"mode": "read", "path": "data/sub/../a.txt"}),
            json!({"mode": "read", "path": "data/in"}),
            json!({"mode": "list", "path": "./data/sub"}),
            json!({"mode": "stat", "path": "data/sub/b.txt"}),
            json!({"mode": "read-link", "path": "data/in"}),
            json!({"mode": "change-dir", "path": "data/sub", "to": "b.txt"}),
            json!({"mode": "read", "path": "data/none.txt"}),
            json!({"mode": "preopens"}),
        ],
    )
    .await;
    insta::assert_snapshot!(shown, @r#"
    read data/a.txt
        text of work/data/a.txt
    read ./data/a.txt
        text of work/data/a.txt
    read data/sub/../a.txt
        text of work/data/a.txt
    read data/in
        text of work/data/sub/b.txt
    list ./data/sub
        b.txt
    stat data/sub/b.txt
        27 bytes
    read-link data/in
        sub/b.txt
    change-dir data/sub b.txt
        text of work/data/sub/b.txt
    read data/none.txt
        error: No such file or directory (os error 44)
    preopens
        /
        .
        ./data
    "#);
    for (entry, path) in
        [("data/", "data/a.txt"), (".", "data/a.txt"), (".", "notes.txt"), ("../outside", "../outside/secret.txt")]
    {
        let answer = world.attempt(&grants(&[entry], &[], &[], &[]), json!({"mode": "read", "path": path})).await;
        assert!(answer.starts_with("text of"), "{entry}: {answer}");
    }
    let outside = world.root.join("outside").display().to_string();
    let path = format!("{outside}/secret.txt");
    let answer = world.attempt(&grants(&[&outside], &[], &[], &[]), json!({"mode": "read", "path": path})).await;
    assert_eq!(answer, "text of outside/secret.txt");
}

/// K-63: nothing is granted unless it is listed, and the refusal names the line.
#[cfg(unix)]
#[tokio::test]
async fn with_no_grant_every_path_is_refused_with_its_line() {
    let world = World::new();
    let shown = table(
        &world,
        &none(),
        &[
            json!({"mode": "read", "path": "notes.txt"}),
            json!({"mode": "read", "path": "./data/a.txt"}),
            json!({"mode": "read", "path": "../outside/secret.txt"}),
            json!({"mode": "read", "path": "/etc/passwd"}),
            json!({"mode": "list", "path": "data"}),
            json!({"mode": "list", "path": "."}),
            json!({"mode": "stat", "path": "data"}),
            json!({"mode": "write", "path": "out/x.txt", "text": "x"}),
            json!({"mode": "make-dir", "path": "out/new"}),
            json!({"mode": "remove", "path": "notes.txt"}),
            json!({"mode": "rename", "path": "notes.txt", "to": "out/notes.txt"}),
            json!({"mode": "current-dir"}),
        ],
    )
    .await;
    insta::assert_snapshot!(shown, @r#"
    read notes.txt
        error: Permission denied (os error 2)
        the component tried to read "./notes.txt", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["."] }
    read ./data/a.txt
        error: Permission denied (os error 2)
        the component tried to read "./data/a.txt", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["./data"] }
    read ../outside/secret.txt
        error: Permission denied (os error 2)
        the component tried to read "../outside/secret.txt", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["../outside"] }
    read /etc/passwd
        error: Permission denied (os error 2)
        the component tried to read "/etc/passwd", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["/etc"] }
    list data
        error: Permission denied (os error 2)
        the component tried to read "./data", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["./data"] }
    list .
        error: Permission denied (os error 2)
        the component tried to read ".", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["."] }
    stat data
        error: Permission denied (os error 2)
        the component tried to read "./data", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["./data"] }
    write out/x.txt
        error: Permission denied (os error 2)
        the component tried to write "./out/x.txt", which no grant covers; to grant it, write under `execution` in index.md: permissions: { write: ["./out"] }
    make-dir out/new
        error: Permission denied (os error 2)
        the component tried to write "./out/new", which no grant covers; to grant it, write under `execution` in index.md: permissions: { write: ["./out"] }
    remove notes.txt
        error: Permission denied (os error 2)
        the component tried to write "./notes.txt", which no grant covers; to grant it, write under `execution` in index.md: permissions: { write: ["."] }
    rename notes.txt out/notes.txt
        error: Permission denied (os error 2)
        the component tried to write "./notes.txt", which no grant covers; to grant it, write under `execution` in index.md: permissions: { write: ["."] }
    current-dir
        /
    "#);
    assert_eq!(world.read("work/notes.txt"), "text of work/notes.txt");
}

/// K-63: `../x`, an absolute path and a symlink that leaves the granted directory.
#[cfg(unix)]
#[tokio::test]
async fn nothing_leads_out_of_a_granted_directory() {
    let world = World::new();
    let granted = grants(&["./data"], &[], &[], &[]);
    let absolute = world.root.join("outside/secret.txt").display().to_string();
    let shown = table(
        &world,
        &granted,
        &[
            json!({"mode": "read", "path": "../outside/secret.txt"}),
            json!({"mode": "read", "path": absolute}),
            json!({"mode": "read", "path": "data/../notes.txt"}),
            json!({"mode": "read", "path": "data/../../outside/secret.txt"}),
            json!({"mode": "read", "path": "data/out/secret.txt"}),
            json!({"mode": "list", "path": "data/out"}),
            json!({"mode": "stat", "path": "data/out/secret.txt"}),
            json!({"mode": "read", "path": "data/notes"}),
            json!({"mode": "read", "path": "data/abs"}),
            json!({"mode": "read-link", "path": "data/abs"}),
            json!({"mode": "read", "path": "data/out/none.txt"}),
            json!({"mode": "read", "path": "out/../data/a.txt"}),
            json!({"mode": "read", "path": "data2/a.txt"}),
        ],
    )
    .await;
    insta::assert_snapshot!(shown.replace(&world.root.join("").to_string_lossy()[1..], "ROOT/"), @r#"
    read ../outside/secret.txt
        error: Permission denied (os error 2)
        the component tried to read "../outside/secret.txt", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["./data", "../outside"] }
    read /ROOT/outside/secret.txt
        error: Permission denied (os error 2)
        the component tried to read "ROOT/outside/secret.txt", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["./data", "ROOT/outside"] }
    read data/../notes.txt
        error: Permission denied (os error 2)
        the component tried to read "./notes.txt", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["./data", "."] }
    read data/../../outside/secret.txt
        error: Permission denied (os error 2)
        the component tried to read "../outside/secret.txt", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["./data", "../outside"] }
    read data/out/secret.txt
        error: Permission denied (os error 2)
        the component tried to read "./data/out/secret.txt", but a symlink leads out of "./data" to "ROOT/outside/secret.txt"; granted, that can be opened by its own path, not by the link; to grant it, write under `execution` in index.md: permissions: { read: ["./data", "ROOT/outside"] }
    list data/out
        error: Permission denied (os error 2)
        the component tried to read "./data/out", but a symlink leads out of "./data" to "ROOT/outside"; granted, that can be opened by its own path, not by the link; to grant it, write under `execution` in index.md: permissions: { read: ["./data", "ROOT/outside"] }
    stat data/out/secret.txt
        error: Permission denied (os error 2)
        the component tried to read "./data/out/secret.txt", but a symlink leads out of "./data" to "ROOT/outside/secret.txt"; granted, that can be opened by its own path, not by the link; to grant it, write under `execution` in index.md: permissions: { read: ["./data", "ROOT/outside"] }
    read data/notes
        error: Permission denied (os error 2)
        the component tried to read "./data/notes", but a symlink leads out of "./data" to "ROOT/work/notes.txt"; granted, that can be opened by its own path, not by the link; to grant it, write under `execution` in index.md: permissions: { read: ["./data", "."] }
    read data/abs
        error: Permission denied (os error 2)
        the component tried to read "./data/abs", but a symlink with an absolute target is not followed; make it relative, or use the path it leads to
    read-link data/abs
        error: Permission denied (os error 2)
        the component tried to read "./data/abs", but a symlink with an absolute target is not followed; make it relative, or use the path it leads to
    read data/out/none.txt
        error: Permission denied (os error 2)
        the component tried to read "./data/out/none.txt", but a symlink leads out of "./data" to "ROOT/outside/none.txt"; granted, that can be opened by its own path, not by the link; to grant it, write under `execution` in index.md: permissions: { read: ["./data", "ROOT/outside"] }
    read out/../data/a.txt
        error: Permission denied (os error 2)
        the component tried to read "./data/a.txt", which "./data" covers by its own path, but not by `..` from another directory
    read data2/a.txt
        error: Permission denied (os error 2)
        the component tried to read "./data2/a.txt", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["./data", "./data2"] }
    "#);
}

/// K-63: a read grant lets nothing be changed, by whatever function.
#[tokio::test]
async fn a_read_grant_allows_no_change() {
    let world = World::new();
    let granted = grants(&["./data"], &[], &[], &[]);
    let shown = table(
        &world,
        &granted,
        &[
            json!({"mode": "write", "path": "data/new.txt", "text": "x"}),
            json!({"mode": "append", "path": "data/a.txt", "text": "x"}),
            json!({"mode": "truncate", "path": "data/a.txt"}),
            json!({"mode": "set-times", "path": "data/a.txt"}),
            json!({"mode": "remove", "path": "data/a.txt"}),
            json!({"mode": "make-dir", "path": "data/new"}),
            json!({"mode": "remove-dir", "path": "data/sub"}),
            json!({"mode": "rename", "path": "data/a.txt", "to": "data/b.txt"}),
            json!({"mode": "link", "path": "data/a.txt", "to": "data/b.txt"}),
        ],
    )
    .await;
    insta::assert_snapshot!(shown, @r#"
    write data/new.txt
        error: Permission denied (os error 2)
        the component tried to write "./data/new.txt", but "./data" is granted for reading only; to grant it, write under `execution` in index.md: permissions: { read: ["./data"], write: ["./data"] }
    append data/a.txt
        error: Permission denied (os error 2)
        the component tried to write "./data/a.txt", but "./data" is granted for reading only; to grant it, write under `execution` in index.md: permissions: { read: ["./data"], write: ["./data"] }
    truncate data/a.txt
        error: Permission denied (os error 2)
        the component tried to write "./data/a.txt", but "./data" is granted for reading only; to grant it, write under `execution` in index.md: permissions: { read: ["./data"], write: ["./data"] }
    set-times data/a.txt
        error: Permission denied (os error 2)
        the component tried to write "./data/a.txt", but "./data" is granted for reading only; to grant it, write under `execution` in index.md: permissions: { read: ["./data"], write: ["./data"] }
    remove data/a.txt
        error: Permission denied (os error 2)
        the component tried to write "./data/a.txt", but "./data" is granted for reading only; to grant it, write under `execution` in index.md: permissions: { read: ["./data"], write: ["./data"] }
    make-dir data/new
        error: Permission denied (os error 2)
        the component tried to write "./data/new", but "./data" is granted for reading only; to grant it, write under `execution` in index.md: permissions: { read: ["./data"], write: ["./data"] }
    remove-dir data/sub
        error: Permission denied (os error 2)
        the component tried to write "./data/sub", but "./data" is granted for reading only; to grant it, write under `execution` in index.md: permissions: { read: ["./data"], write: ["./data"] }
    rename data/a.txt data/b.txt
        error: Permission denied (os error 2)
        the component tried to write "./data/a.txt", but "./data" is granted for reading only; to grant it, write under `execution` in index.md: permissions: { read: ["./data"], write: ["./data"] }
    link data/a.txt data/b.txt
        error: Permission denied (os error 2)
        the component tried to write "./data/a.txt", but "./data" is granted for reading only; to grant it, write under `execution` in index.md: permissions: { read: ["./data"], write: ["./data"] }
    "#);
    let raw = json!({"mode": "raw-every-change", "at": "./data", "path": "a.txt"});
    insta::assert_snapshot!(world.attempt(&granted, raw).await, @r#"
    open-at create: access
    open-at truncate: access
    open-at write: access
    create-directory-at: access
    set-times-at: access
    link-at: access
    rename-at: access
    symlink-at: access
    unlink-file-at: access
    remove-directory-at: access
    set-times of the directory: access
    set-size: access
    set-times: access
    write: access
    write-via-stream: access
    append-via-stream: access
    "#);
    assert_eq!(world.read("work/data/a.txt"), "text of work/data/a.txt");
    assert_eq!(fs::read_dir(world.work().join("data")).expect("lists").count(), if cfg!(unix) { 6 } else { 2 });
}

/// DESIGN §7: a write grant includes reading.
#[tokio::test]
async fn a_write_grant_allows_every_change_below_it() {
    let world = World::new();
    let granted = grants(&["./data"], &["./out"], &[], &[]);
    let shown = table(
        &world,
        &granted,
        &[
            json!({"mode": "write", "path": "out/x.txt", "text": "one"}),
            json!({"mode": "append", "path": "out/x.txt", "text": " two"}),
            json!({"mode": "read", "path": "./out/x.txt"}),
            json!({"mode": "make-dir", "path": "out/sub"}),
            json!({"mode": "rename", "path": "out/x.txt", "to": "out/sub/y.txt"}),
            json!({"mode": "link", "path": "out/sub/y.txt", "to": "out/z.txt"}),
            json!({"mode": "list", "path": "out"}),
            json!({"mode": "remove", "path": "out/z.txt"}),
            json!({"mode": "rename", "path": "out/sub/y.txt", "to": "data/y.txt"}),
            json!({"mode": "link", "path": "data/a.txt", "to": "out/a.txt"}),
            json!({"mode": "raw-symlink", "at": "./out", "path": "link", "to": "/etc"}),
            json!({"mode": "raw-symlink", "at": "./out", "path": "link", "to": "sub"}),
            json!({"mode": "list", "path": "out/link"}),
        ],
    )
    .await;
    insta::assert_snapshot!(shown, @r#"
    write out/x.txt
        written
    append out/x.txt
        appended
    read ./out/x.txt
        one two
    make-dir out/sub
        made
    rename out/x.txt out/sub/y.txt
        renamed
    link out/sub/y.txt out/z.txt
        linked
    list out
        sub
        z.txt
    remove out/z.txt
        removed
    rename out/sub/y.txt data/y.txt
        error: Permission denied (os error 2)
        the component tried to write "./data/y.txt", but "./data" is granted for reading only; to grant it, write under `execution` in index.md: permissions: { read: ["./data"], write: ["./out", "./data"] }
    link data/a.txt out/a.txt
        error: Permission denied (os error 2)
        the component tried to write "./data/a.txt", but "./data" is granted for reading only; to grant it, write under `execution` in index.md: permissions: { read: ["./data"], write: ["./out", "./data"] }
    raw-symlink link /etc
        error: access
        the component tried to make "./out/link" a symlink to "/etc", but a component makes relative symlinks only
    raw-symlink link sub
        done
    list out/link
        y.txt
    "#);
    assert_eq!(world.read("work/out/sub/y.txt"), "one two");
    // What lies in a directory that may be written may be written, even where it is listed for reading too.
    let nested = grants(&["./data"], &["."], &[], &[]);
    let write = json!({"mode": "write", "path": "data/a.txt", "text": "new"});
    assert_eq!(world.attempt(&nested, write).await, "written");
    assert_eq!(world.read("work/data/a.txt"), "new");
}

/// K-63: without a libc in between, a path may be anything; what refuses everything has nothing behind it.
#[cfg(unix)]
#[tokio::test]
async fn a_guest_that_speaks_wasi_by_itself_gets_no_further() {
    let world = World::new();
    let granted = grants(&["./data"], &[], &[], &[]);
    let absolute = world.root.join("outside/secret.txt").display().to_string();
    let shown = table(
        &world,
        &granted,
        &[
            json!({"mode": "raw-read", "at": "./data", "path": "a.txt"}),
            json!({"mode": "raw-read", "at": "./data", "path": "../notes.txt"}),
            json!({"mode": "raw-read", "at": "./data", "path": absolute}),
            json!({"mode": "raw-read", "at": "/", "path": "etc/passwd"}),
            json!({"mode": "raw-read", "at": ".", "path": "notes.txt"}),
            json!({"mode": "raw-write", "at": ".", "path": "notes.txt"}),
            json!({"mode": "raw-rename", "at": "./data", "path": "a.txt", "to-at": ".", "to": "a.txt"}),
            json!({"mode": "raw-every-look", "at": ".", "path": "notes.txt"}),
            json!({"mode": "raw-every-change", "at": ".", "path": "notes.txt"}),
        ],
    )
    .await;
    insta::assert_snapshot!(shown.replace(&world.root.join("").to_string_lossy()[1..], "ROOT/"), @r#"
    raw-read a.txt
        text of work/data/a.txt
    raw-read ../notes.txt
        error: access
        the component tried to read "./notes.txt", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["./data", "."] }
    raw-read /ROOT/outside/secret.txt
        error: access
        the component tried to read "ROOT/outside/secret.txt", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["./data", "ROOT/outside"] }
    raw-read etc/passwd
        error: access
        the component tried to read "/etc/passwd", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["./data", "/etc"] }
    raw-read notes.txt
        error: access
        the component tried to read "./notes.txt", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["./data", "."] }
    raw-write notes.txt
        error: access
        the component tried to write "./notes.txt", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["./data"], write: ["."] }
    raw-rename a.txt a.txt
        error: access
        the component tried to write "./data/a.txt", but "./data" is granted for reading only; to grant it, write under `execution` in index.md: permissions: { read: ["./data"], write: ["./data"] }
    raw-every-look notes.txt
        open-at: access
        open-at directory: access
        stat-at: access
        readlink-at: access
        metadata-hash-at: access
        read-directory: access
        stat: access
        metadata-hash: access
        read: access
        read-via-stream: access
        sync: access
    raw-every-change notes.txt
        open-at create: access
        open-at truncate: access
        open-at write: access
        create-directory-at: access
        set-times-at: access
        link-at: access
        rename-at: access
        symlink-at: access
        unlink-file-at: access
        remove-directory-at: access
        set-times of the directory: access
    "#);
    assert_eq!(world.read("work/notes.txt"), "text of work/notes.txt");
}

/// The working directory as a grant: an absolute path cannot be told from a relative one and is looked for below it.
#[cfg(unix)]
#[tokio::test]
async fn an_absolute_path_is_not_followed_where_the_working_directory_is_granted() {
    let world = World::new();
    let granted = grants(&[], &["."], &[], &[]);
    let shown = table(
        &world,
        &granted,
        &[
            json!({"mode": "read", "path": "/notes.txt"}),
            json!({"mode": "read", "path": "/etc/passwd"}),
            json!({"mode": "write", "path": "/etc/new", "text": "x"}),
            json!({"mode": "read", "path": "nowhere.txt"}),
            json!({"mode": "preopens"}),
        ],
    )
    .await;
    insta::assert_snapshot!(shown, @r#"
    read /notes.txt
        text of work/notes.txt
    read /etc/passwd
        error: No such file or directory (os error 44)
        the component tried to read "/etc/passwd", which no grant covers; to grant it, write under `execution` in index.md: permissions: { read: ["/etc"], write: ["."] }
    write /etc/new
        error: No such file or directory (os error 44)
        the component tried to write "/etc/new", which no grant covers; to grant it, write under `execution` in index.md: permissions: { write: [".", "/etc"] }
    read nowhere.txt
        error: No such file or directory (os error 44)
    preopens
        /
        .
    "#);
}

/// DESIGN §7: what cannot be opened is told with its key and path when the tool is called.
#[tokio::test]
async fn a_grant_of_no_directory_fails_the_call_with_its_key() {
    let world = World::new();
    let missing =
        error_of(world.call(&grants(&["./data", "./missing"], &[], &[], &[]), json!({"mode": "count"})).await);
    insta::assert_snapshot!(world.shown(&missing.message), @r#"tool "reacher" cannot be run: permissions.read[1]: expected a directory at "./missing", found nothing at "ROOT/work/missing"; create it or correct the path"#);
    assert_eq!(
        (missing.kind(), &missing.details["key"]),
        (Some("GRANT_DIRECTORY_MISSING"), &json!("permissions.read[1]"))
    );
    let file = error_of(world.call(&grants(&[], &["data/a.txt"], &[], &[]), json!({"mode": "count"})).await);
    insta::assert_snapshot!(world.shown(&file.message), @r#"tool "reacher" cannot be run: permissions.write[0]: expected a directory, but "data/a.txt" leads to a file ("ROOT/work/data/a.txt"); grant the directory that holds it: ./data"#);
    assert_eq!((file.kind(), &file.details["key"]), (Some("GRANT_NOT_A_DIRECTORY"), &json!("permissions.write[0]")));
}
