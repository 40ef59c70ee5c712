//! What the user attaches: sent once it is read, or refused before any of it is kept (Y8-1, D-72, D-73).

use std::fs::File;

use youyou::{AttachmentSource, Error, ErrorCode, Message, Part, UserMessage};
use youyou_tests::{
    agent::{Chat, Host, Setup, show},
    pipe,
};

const YES: &str = "replies: [{ repeat: true, say: [{ text: Yes. }] }]";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const MIB: u64 = 1024 * 1024;

fn image(path: &str) -> AttachmentSource {
    AttachmentSource::ImagePath { path: path.into() }
}

fn file(path: &str) -> AttachmentSource {
    AttachmentSource::FilePath { path: path.into() }
}

fn with(text: &str, attachments: impl Into<Vec<AttachmentSource>>) -> UserMessage {
    UserMessage { text: text.into(), attachments: attachments.into() }
}

/// Writes a PNG of that size, in bytes.
fn write_png(host: &Host, path: &str, size: u64) {
    let path = host.world.write(path, PNG);
    File::options().write(true).open(path).and_then(|file| file.set_len(size)).expect("grows");
}

/// Refused, with nothing in the log and nothing asked; then a plain message works.
async fn refuse(host: &Host, chat: &Chat, message: UserMessage) -> Error {
    let (entries, asked) = (chat.session().entries().await, host.model().requests().len());
    let error = chat.refused(message).await;
    assert_eq!(chat.session().entries().await, entries, "no trace is left");
    assert_eq!(host.model().requests().len(), asked);
    assert_eq!(chat.run("hi").await.text(), "Yes.");
    error
}

/// Y8-1: several attachments in one message, images by path and by data, after what the user wrote.
#[tokio::test]
async fn attachments_follow_the_text() {
    let tree = "-- work/notes.txt\nBuy milk.\n-- home/global.txt\nFor all.\n";
    let (host, chat) = Setup::over(tree, YES).chat().await;
    write_png(&host, "work/cat.png", 100);
    let data = AttachmentSource::ImageData { data: "R0lGODlhAQABAAAAACw=".into(), name: None };
    let global = AttachmentSource::FilePath { path: host.world.path("home/global.txt") };
    chat.run(with("look", [image("cat.png"), data, file("notes.txt"), global])).await;
    insta::assert_snapshot!(host.model().heard(1), @r#"
    user: look
    user attaches "cat.png", image/png of 100 bytes
    user attaches "image.gif", image/gif of 14 bytes
    user attaches "notes.txt": Buy milk.
    user attaches "global.txt": For all.
    "#);
}

/// D-72: read once; the conversation keeps what it was.
#[tokio::test]
async fn an_attachment_is_read_once() {
    let (host, chat) = Setup::over("-- work/notes.txt\nBuy milk.\n", YES).chat().await;
    chat.run(with("look", [file("notes.txt")])).await;
    host.world.write("work/notes.txt", "Buy bread.\n");
    chat.run("and now?").await;
    std::fs::remove_file(host.world.path("work/notes.txt")).expect("removes");
    chat.run("still?").await;
    let heard = host.model().heard(3);
    assert!(heard.contains("Buy milk.") && !heard.contains("bread"), "{heard}");
}

/// K-17: an image too large is refused, by path and by data; no trace of it is left, and the next message works.
#[tokio::test]
async fn an_image_too_large_leaves_no_trace() {
    let (host, chat) = Setup::new(YES).chat().await;
    write_png(&host, "work/huge.png", 21 * MIB);
    let error = refuse(&host, &chat, with("look", [image("huge.png")])).await;
    assert_eq!(error.code, ErrorCode::FileTooLarge);
    insta::assert_snapshot!(error.message, @r#""huge.png" is 22020096 bytes (21.0 MiB) long, but an image may be at most 20 MiB (20971520 bytes) long; make it smaller, or attach a part of it"#);
    let data = format!("iVBORw0KGgo{}", "A".repeat(28 * 1024 * 1024 + 1));
    let data = AttachmentSource::ImageData { data, name: Some("huge.png".into()) };
    assert_eq!(refuse(&host, &chat, with("look", [data])).await.code, ErrorCode::FileTooLarge);
    // One refused attachment refuses the message, whatever stands beside it.
    write_png(&host, "work/cat.png", 100);
    let both = with("look", [image("cat.png"), image("huge.png")]);
    assert_eq!(refuse(&host, &chat, both).await.code, ErrorCode::FileTooLarge);
    assert!(!chat.log().await.contains("attaches"), "{}", chat.log().await);
}

/// D-73: 20 MiB are allowed.
#[tokio::test]
async fn an_image_of_exactly_the_limit_is_sent() {
    let (host, chat) = Setup::new(YES).chat().await;
    write_png(&host, "work/large.png", 20 * MIB);
    chat.run(with("look", [image("large.png")])).await;
    let requests = host.model().requests();
    let Message::User { parts } = &requests[0].messages[0] else { panic!("the user is first") };
    assert!(matches!(&parts[1], Part::Image(image) if image.size == 20 * MIB));
}

/// D-73: a file over its limit, and one that alone is more than the model holds.
#[tokio::test]
async fn a_file_too_large_leaves_no_trace() {
    let replies = format!("models: [{{ id: small, context_window: 1000 }}]\n{YES}");
    let (host, chat) = Setup::new(&replies).chat().await;
    host.world.write("work/large.txt", "word ".repeat(1_000));
    let error = refuse(&host, &chat, with("look", [file("large.txt")])).await;
    assert_eq!(error.code, ErrorCode::FileTooLarge);
    insta::assert_snapshot!(error.message, @r#""large.txt" takes about 1253 tokens, and the model "small" holds 1000 in all; attach less of it"#);
    let path = host.world.write("work/huge.txt", "");
    File::options().write(true).open(path).and_then(|file| file.set_len(10 * MIB + 1)).expect("grows");
    assert_eq!(refuse(&host, &chat, with("look", [file("huge.txt")])).await.code, ErrorCode::FileTooLarge);
}

/// Y8-1, D-73: a model that cannot look at images is not sent one, now or later.
#[tokio::test]
async fn an_image_for_a_model_without_eyes_is_refused() {
    let replies = format!("models: [{{ id: blind, capabilities: {{ vision: false }} }}]\n{YES}");
    let (host, chat) = Setup::new(&replies).chat().await;
    write_png(&host, "work/cat.png", 100);
    let error = refuse(&host, &chat, with("look", [image("cat.png")])).await;
    assert_eq!(
        (error.code, error.kind(), error.retryable),
        (ErrorCode::ProviderError, Some("unsupported_content"), false)
    );
    insta::assert_snapshot!(error.message, @r#"the model "blind" cannot look at images; leave out "cat.png" or choose another model"#);
}

/// K-46, D-73: what is outside, no file, or not what it says is refused with a word on what to do; nothing hangs.
#[tokio::test]
async fn what_may_not_be_attached_is_refused() {
    let tree = "
-- outside.txt
secret
-- work/link.txt -> outside.txt
-- work/passwd -> /etc/passwd
-- work/folder/
-- work/photo.png
not an image
";
    let (host, chat) = Setup::over(tree, YES).chat().await;
    pipe(&host.world, "work/pipe");
    host.world.write("work/binary.bin", b"\x00\x01\x02");
    let outside = AttachmentSource::FilePath { path: host.world.path("outside.txt") };
    let mut shown = String::new();
    for attachment in [
        file("../outside.txt"),
        outside,
        file("link.txt"),
        file("passwd"),
        image("../outside.txt"),
        file("pipe"),
        image("pipe"),
        file("folder"),
        file("missing.txt"),
        file("binary.bin"),
        image("photo.png"),
        AttachmentSource::ImageData { data: "!".into(), name: None },
    ] {
        let error = refuse(&host, &chat, with("look", [attachment])).await;
        assert!(!error.message.contains("secret"), "{error}");
        shown += &(host.world.shown(&show::error(&error)) + "\n");
    }
    insta::assert_snapshot!(shown, @r#"
    PATH_NOT_ALLOWED: "../outside.txt" may not be attached: it is neither below the workspace "[world]/work" nor below "[world]/home"; copy it into the workspace
    PATH_NOT_ALLOWED: "[world]/outside.txt" may not be attached: it is neither below the workspace "[world]/work" nor below "[world]/home"; copy it into the workspace
    PATH_NOT_ALLOWED: "link.txt" may not be attached: it is neither below the workspace "[world]/work" nor below "[world]/home"; copy it into the workspace
    PATH_NOT_ALLOWED: "passwd" may not be attached: it is neither below the workspace "[world]/work" nor below "[world]/home"; copy it into the workspace
    PATH_NOT_ALLOWED: "../outside.txt" may not be attached: it is neither below the workspace "[world]/work" nor below "[world]/home"; copy it into the workspace
    INVALID_INPUT: "pipe" is neither a file nor a folder; only files can be attached
    INVALID_INPUT: "pipe" is neither a file nor a folder; only files can be attached
    INVALID_INPUT: "folder" is a folder; attach the files in it
    INVALID_INPUT: there is no file "missing.txt" in "[world]/work"; a relative path starts there
    INVALID_INPUT: "binary.bin" is not a text file: byte 1 is NUL; UTF-8 text can be attached as a file, PNG, JPEG, GIF and WebP as an image; convert it, or let a tool read it
    INVALID_INPUT: "photo.png" is no image that can be sent: PNG, JPEG, GIF and WebP are, but its first bytes are of none of them; convert it
    INVALID_INPUT: the image is not Base64: character 1 is '!'; encode its bytes with the standard alphabet, A-Z a-z 0-9 + /
    "#);
}

/// A message of nothing is refused; one of an attachment alone is not.
#[tokio::test]
async fn a_message_needs_some_content() {
    let (host, chat) = Setup::over("-- work/notes.txt\nBuy milk.\n", YES).chat().await;
    for empty in ["", " \n"] {
        assert_eq!(refuse(&host, &chat, empty.into()).await.code, ErrorCode::InvalidInput);
    }
    chat.run(with("", [file("notes.txt")])).await;
    assert!(host.model().heard(3).ends_with("user attaches \"notes.txt\": Buy milk.\n"), "{}", host.model().heard(3));
}
