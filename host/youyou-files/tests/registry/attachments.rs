//! Attachments from real files: what a part holds, the limits, and what may not be read.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use youyou_api::{AttachmentSource, Error, ErrorCode, FilePart, ImageFormat, ImagePart, Part};
use youyou_files::{
    AttachmentReader,
    attachments::{MOST_FILE_BYTES, MOST_IMAGE_BYTES},
};

use crate::tree::Tree;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nand so on";
const JPEG: &[u8] = b"\xff\xd8\xff\xe0and so on";
const GIF: &[u8] = b"GIF89aand so on";
const WEBP: &[u8] = b"RIFF\x10\x00\x00\x00WEBPand so on";

fn reader(tree: &Tree) -> AttachmentReader {
    AttachmentReader::new(tree.path("home"), tree.path("work"))
}

fn image(tree: &Tree, path: impl Into<PathBuf>) -> Result<ImagePart, Error> {
    match reader(tree).read(&AttachmentSource::ImagePath { path: path.into() })? {
        Part::Image(image) => Ok(image),
        other => panic!("no image: {other:?}"),
    }
}

fn file(tree: &Tree, path: impl Into<PathBuf>) -> Result<FilePart, Error> {
    match reader(tree).read(&AttachmentSource::FilePath { path: path.into() })? {
        Part::File(file) => Ok(file),
        other => panic!("no file: {other:?}"),
    }
}

fn encoded(data: impl Into<String>, name: Option<&str>) -> Result<ImagePart, Error> {
    let source = AttachmentSource::ImageData { data: data.into(), name: name.map(str::to_owned) };
    match reader(&Tree::new()).read(&source)? {
        Part::Image(image) => Ok(image),
        other => panic!("no image: {other:?}"),
    }
}

/// The error in words, without the directory's own path.
fn words<T: std::fmt::Debug>(tree: &Tree, result: Result<T, Error>) -> String {
    tree.neutral(&format!("{}\n", result.expect_err("refused")))
}

/// A file that begins with these bytes and is as long as said; the rest takes no room on the disk.
fn sparse(tree: &Tree, path: &str, start: &[u8], length: u64) {
    tree.write(path, start);
    File::options().write(true).open(tree.path(path)).expect("opens").set_len(length).expect("sets the length");
}

/// Y8-1, D-73: each of the four formats, by path and by Base64, told by its bytes.
#[test]
fn an_image_of_each_format_arrives_by_path_and_by_base64() {
    let tree = Tree::new();
    let formats = [
        ("a.png", PNG, ImageFormat::Png),
        ("sub/b.JPG", JPEG, ImageFormat::Jpeg),
        ("c.gif", GIF, ImageFormat::Gif),
        ("d.webp", WEBP, ImageFormat::Webp),
        ("without-extension", PNG, ImageFormat::Png),
        ("other.dat", GIF, ImageFormat::Gif),
    ];
    for (name, bytes, format) in formats {
        tree.write(&format!("work/{name}"), bytes);
        let data = BASE64_STANDARD.encode(bytes);
        let expected = ImagePart { name: name.into(), format, data: data.as_str().into(), size: bytes.len() as u64 };
        assert_eq!(image(&tree, name), Ok(expected.clone()));
        assert_eq!(encoded(data, Some(name)), Ok(expected));
    }
}

/// Y8-1: Base64 as it comes from browsers, mails and command lines; the part holds its plain form.
#[test]
fn base64_is_taken_in_every_usual_form() {
    let plain = BASE64_STANDARD.encode(JPEG);
    assert!(plain.ends_with('='), "the case is about padding");
    let lines = plain.as_bytes().chunks(5).map(|chunk| String::from_utf8_lossy(chunk)).collect::<Vec<_>>().join("\r\n");
    let bare = plain.trim_end_matches('=').to_owned();
    for data in [plain.clone(), bare.clone(), lines, format!("data:image/jpeg;base64,{bare}\n")] {
        let found = encoded(data.clone(), None).expect("reads");
        assert_eq!((&*found.data, &*found.name, found.size), (&*plain, "image.jpg", JPEG.len() as u64), "{data}");
    }
}

/// D-73: what is said of an image and what it is must agree, and it must be one of the four.
#[test]
fn an_image_that_is_not_what_it_says_is_refused() {
    let tree = Tree::new();
    tree.write("work/a.png", JPEG).write("work/b.heic", b"\0\0\0\x18ftypheic").write("work/c.jpg", b"");
    tree.write("work/d.png", b"<?xml version=\"1.0\"?><svg/>").write("work/e.webp", b"RIFF....WAVE");
    let jpeg = BASE64_STANDARD.encode(JPEG);
    let shown = [
        words(&tree, image(&tree, "a.png")),
        words(&tree, image(&tree, "b.heic")),
        words(&tree, image(&tree, "c.jpg")),
        words(&tree, image(&tree, "d.png")),
        words(&tree, image(&tree, "e.webp")),
        words(&tree, encoded(format!("data:image/png;base64,{jpeg}"), None)),
        words(&tree, encoded(jpeg, Some("x.gif"))),
        words(&tree, encoded("data:image/png,%89PNG", None)),
        words(&tree, encoded("iVBORw0K*", Some("x.png"))),
        words(&tree, encoded("", None)),
    ];
    insta::assert_snapshot!(shown.concat(), @r#"
    INVALID_INPUT: "a.png" is said to be image/png, but its first bytes are those of image/jpeg; name it `.jpg`
    INVALID_INPUT: "b.heic" is no image that can be sent: PNG, JPEG, GIF and WebP are, but it looks like HEIC, AVIF or a video; convert it
    INVALID_INPUT: "c.jpg" is no image that can be sent: PNG, JPEG, GIF and WebP are, but it is empty
    INVALID_INPUT: "d.png" is no image that can be sent: PNG, JPEG, GIF and WebP are, but it looks like SVG; convert it
    INVALID_INPUT: "e.webp" is no image that can be sent: PNG, JPEG, GIF and WebP are, but its first bytes are of none of them; convert it
    INVALID_INPUT: the image is said to be image/png, but its first bytes are those of image/jpeg; name it `.jpg`
    INVALID_INPUT: "x.gif" is said to be image/gif, but its first bytes are those of image/jpeg; name it `.jpg`
    INVALID_INPUT: the image is a `data:` URL without `;base64,`; encode the image's bytes in Base64
    INVALID_INPUT: "x.png" is not Base64: character 9 is '*'; encode its bytes with the standard alphabet, A-Z a-z 0-9 + /
    INVALID_INPUT: the image is no image that can be sent: PNG, JPEG, GIF and WebP are, but it is empty
    "#);
}

/// K-17, Y8-1: 21 MiB are refused, by path and by Base64; what comes after it is read as ever.
#[test]
fn a_large_image_is_refused_and_the_next_attachment_is_read() {
    let tree = Tree::new();
    sparse(&tree, "work/big.png", PNG, 21 * 1024 * 1024);
    tree.write("work/hi.txt", "hi");
    let error = image(&tree, "big.png").expect_err("refused");
    assert_eq!((error.code, &error.details["size"]), (ErrorCode::FileTooLarge, &(21u64 * 1024 * 1024).into()));
    insta::assert_snapshot!(error.to_string(), @r#"FILE_TOO_LARGE: "big.png" is 22020096 bytes (21.0 MiB) long, but an image may be at most 20 MiB (20971520 bytes) long; make it smaller, or attach a part of it"#);
    let data = BASE64_STANDARD.encode(fs::read(tree.path("work/big.png")).expect("reads"));
    assert_eq!(encoded(data, None).expect_err("refused").code, ErrorCode::FileTooLarge);
    assert_eq!(&*file(&tree, "hi.txt").expect("reads").text, "hi");
}

/// D-73: the limits are of decoded bytes and inclusive.
#[test]
fn a_limit_is_the_largest_size_that_is_allowed() {
    let tree = Tree::new();
    sparse(&tree, "work/a.png", PNG, MOST_IMAGE_BYTES);
    let found = image(&tree, "a.png").expect("just fits");
    assert_eq!(found.size, MOST_IMAGE_BYTES);
    assert_eq!(encoded(&*found.data, Some("a.png")), Ok(found));
    sparse(&tree, "work/a.png", PNG, MOST_IMAGE_BYTES + 1);
    assert_eq!(image(&tree, "a.png").expect_err("refused").code, ErrorCode::FileTooLarge);
    let data = BASE64_STANDARD.encode(fs::read(tree.path("work/a.png")).expect("reads"));
    assert_eq!(encoded(data, None).expect_err("refused").code, ErrorCode::FileTooLarge);

    let most = usize::try_from(MOST_FILE_BYTES).expect("small");
    tree.write("work/b.txt", "x".repeat(most));
    assert_eq!(file(&tree, "b.txt").expect("just fits").size, MOST_FILE_BYTES);
    tree.write("work/b.txt", "x".repeat(most + 1));
    let error = file(&tree, "b.txt").expect_err("refused");
    assert_eq!((error.code, &error.details["limit"]), (ErrorCode::FileTooLarge, &MOST_FILE_BYTES.into()));
}

/// Y8-1: a file of any size is refused before it is read; this one would fill all memory.
#[test]
fn a_file_that_is_too_large_is_not_read() {
    let tree = Tree::new();
    sparse(&tree, "work/huge.png", PNG, 1 << 38);
    assert_eq!(image(&tree, "huge.png").expect_err("refused").code, ErrorCode::FileTooLarge);
    assert_eq!(file(&tree, "huge.png").expect_err("refused").code, ErrorCode::FileTooLarge);
}

/// Y8-1, D-72: a file's text as it is now; a byte order mark is no part of it.
#[test]
fn a_text_file_arrives_whole() {
    let tree = Tree::new();
    tree.write("work/src/ä.txt", "\u{feff}Zeile\r\n\tzwei\n").write("work/empty", "");
    let found = file(&tree, "src/ä.txt").expect("reads");
    fs::remove_file(tree.path("work/src/ä.txt")).expect("removes");
    assert_eq!(found, FilePart { name: "src/ä.txt".into(), text: "Zeile\r\n\tzwei\n".into(), size: 16 });
    assert_eq!(&*file(&tree, "empty").expect("reads").text, "");
}

/// Y8-1: what is no text says what can be attached instead.
#[test]
fn a_file_that_is_no_text_is_refused_with_what_is_possible() {
    let tree = Tree::new();
    tree.write("work/a.png", PNG)
        .write("work/b.zip", b"PK\x03\x04\x00\x00")
        .write("work/c.txt", b"\xff\xfeh\0i\0")
        .write("work/d.pdf", b"%PDF-1.7\n\xe2\xe3")
        .write("work/e.txt", b"Gr\xfc\xdfe");
    let shown = ["a.png", "b.zip", "c.txt", "d.pdf", "e.txt"].map(|path| words(&tree, file(&tree, path))).concat();
    insta::assert_snapshot!(shown, @r#"
    INVALID_INPUT: "a.png" is not a text file: byte 1 is not UTF-8; it is an image: attach it as one
    INVALID_INPUT: "b.zip" is not a text file: byte 5 is NUL; UTF-8 text can be attached as a file, PNG, JPEG, GIF and WebP as an image; convert it, or let a tool read it
    INVALID_INPUT: "c.txt" is not a text file: byte 4 is NUL; it looks like UTF-16: save it as UTF-8
    INVALID_INPUT: "d.pdf" is not a text file: byte 10 is not UTF-8; it is a PDF: attach its text
    INVALID_INPUT: "e.txt" is not a text file: byte 3 is not UTF-8; UTF-8 text can be attached as a file, PNG, JPEG, GIF and WebP as an image; convert it, or let a tool read it
    "#);
}

/// Y8-1, D-73: below the workspace and the home by whatever way: absolute, `..`, and links between the two.
#[cfg(unix)]
#[test]
fn every_way_that_ends_below_a_root_is_allowed() {
    let tree = Tree::new();
    tree.write("work/sub/a.txt", "a")
        .write("home/b.txt", "b")
        .link("work/sub/a.txt", "work/absolute-link")
        .link("home/b.txt", "work/to-home")
        .link("work/sub", "home/to-work")
        .link("work", "other-name-of-work");
    std::os::unix::fs::symlink("sub/../sub/a.txt", tree.path("work/relative-link")).expect("links");
    let named = |path: PathBuf| file(&tree, path).map(|file| format!("{} {}", file.name, file.text));
    let relative = ["sub/a.txt", "./sub/../sub/a.txt", "absolute-link", "relative-link", "to-home", "../home/b.txt"];
    let absolute = ["work/sub/a.txt", "home/b.txt", "home/to-work/a.txt", "other-name-of-work/sub/a.txt"];
    let found = relative.map(PathBuf::from).into_iter().chain(absolute.map(|path| tree.path(path))).map(named);
    assert_eq!(
        found.collect::<Result<Vec<_>, _>>().expect("all are allowed"),
        [
            "sub/a.txt a",
            "sub/a.txt a",
            "absolute-link a",
            "relative-link a",
            "to-home b",
            "b.txt b",
            "sub/a.txt a",
            "b.txt b",
            "sub/a.txt a",
            "sub/a.txt a"
        ]
    );
    let through_link = AttachmentReader::new(tree.path("home"), tree.path("other-name-of-work"));
    assert!(through_link.read(&AttachmentSource::FilePath { path: "sub/a.txt".into() }).is_ok());
}

/// K-46, Y8-1: each way out of the roots is refused, and nothing is told of what is there.
#[cfg(unix)]
#[test]
fn every_way_out_is_refused() {
    let tree = Tree::new();
    tree.write("outside.txt", "secret")
        .write("outside/in.txt", "secret")
        .write("worker/in.txt", "secret")
        .write("work/x", "")
        .write("home/x", "")
        .link("outside.txt", "work/link")
        .link("outside", "work/dir")
        .link("work/link", "work/twice");
    std::os::unix::fs::symlink("/etc/passwd", tree.path("work/passwd")).expect("links");
    std::os::unix::fs::symlink("/dev/zero", tree.path("work/zero.png")).expect("links");
    let relative =
        ["../outside.txt", "link", "twice", "dir/in.txt", "dir", "passwd", "zero.png", "..", "../worker/in.txt", "/"];
    let missing = ["../nowhere.txt", "/nowhere/at/all", "dir/nowhere", "../worker"];
    let paths = relative.into_iter().chain(missing).map(PathBuf::from).chain([tree.path("outside.txt")]);
    for path in paths {
        for source in
            [AttachmentSource::FilePath { path: path.clone() }, AttachmentSource::ImagePath { path: path.clone() }]
        {
            let error = reader(&tree).read(&source).expect_err("refused");
            assert_eq!(error.code, ErrorCode::PathNotAllowed, "{}: {error}", path.display());
        }
    }
    insta::assert_snapshot!(words(&tree, file(&tree, "../outside.txt")), @r#"PATH_NOT_ALLOWED: "../outside.txt" may not be attached: it is neither below the workspace "work" nor below "home"; copy it into the workspace"#);
    // Without a home, nothing but the workspace is left.
    let alone = AttachmentReader::new(tree.path("no-home"), tree.path("work"));
    let error = alone.read(&AttachmentSource::FilePath { path: tree.path("home/x") }).expect_err("refused");
    assert_eq!(error.code, ErrorCode::PathNotAllowed);
}

/// K-46: a pipe, a folder, a socket, a link to nowhere and nothing at all; each in its own words, none waited for.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_refused_and_nothing_waits() {
    let tree = Tree::new();
    tree.write("work/dir/x", "").write("home/x", "").pipe("work/pipe");
    let _socket = std::os::unix::net::UnixListener::bind(tree.path("work/socket"));
    tree.link("work/gone", "work/link").link("work/loop", "work/loop");
    let paths = ["pipe", "dir", ".", "socket", "link", "loop", "nowhere.txt", "dir/x/y", "a\0b"];
    let (sender, receiver) = mpsc::channel();
    let found = thread::scope(|scope| {
        scope.spawn(|| {
            for path in paths {
                let both = [file(&tree, path).map(|_| ()), image(&tree, path).map(|_| ())];
                _ = sender.send(both.map(|result| words(&tree, result)));
            }
        });
        paths.map(|path| match receiver.recv_timeout(Duration::from_secs(20)) {
            Ok(found) => found,
            // The thread would be waited for at the end of the scope.
            Err(_) => {
                eprintln!("{path:?} is waited for");
                std::process::abort();
            }
        })
    });
    assert!(found.iter().all(|[file, image]| file == image));
    let shown = found.map(|[file, _]| file).concat();
    insta::assert_snapshot!(shown, @r#"
    INVALID_INPUT: "pipe" is neither a file nor a folder; only files can be attached
    INVALID_INPUT: "dir" is a folder; attach the files in it
    INVALID_INPUT: "." is a folder; attach the files in it
    INVALID_INPUT: "socket" is neither a file nor a folder; only files can be attached
    INVALID_INPUT: "link" is a link to "work/gone", where nothing is; mend the link
    INVALID_INPUT: "loop" cannot be opened: Too many levels of symbolic links; check its permissions, and that links do not lead in a circle
    INVALID_INPUT: there is no file "nowhere.txt" in "work"; a relative path starts there
    INVALID_INPUT: there is no file "dir/x/y" in "work"; a relative path starts there
    INVALID_INPUT: "a\0b" cannot be opened: file name contained an unexpected NUL byte; check its permissions, and that links do not lead in a circle
    "#);
}

/// D-73: the file that is open is what is checked, so exchanging names at the right moment gains nothing.
#[cfg(unix)]
#[test]
fn a_file_that_becomes_a_link_meanwhile_leads_nowhere() {
    let tree = Tree::new();
    tree.write("secret/f.txt", "secret").write("home/x", "").write("work/real/f.txt", "fine").write("work/x", "");
    tree.link("secret", "work/link");
    let stop = AtomicBool::new(false);
    let (dir, real, link) = (tree.path("work/dir"), tree.path("work/real"), tree.path("work/link"));
    let exchange = |from: &Path| {
        fs::rename(from, &dir).expect("renames");
        fs::rename(&dir, from).expect("renames");
    };
    let found = thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                exchange(&real);
                exchange(&link);
            }
        });
        let found = (0..20_000).filter_map(|_| file(&tree, "dir/f.txt").ok()).collect::<Vec<_>>();
        stop.store(true, Ordering::Relaxed);
        found
    });
    assert!(!found.is_empty(), "the folder was never there");
    assert!(found.iter().all(|file| &*file.text == "fine"), "a link led out");
}
