//! The example runs as it stands and says what its page says.

use std::process::Command;

#[test]
fn the_example_holds_its_conversation() {
    let home = tempfile::tempdir().expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_embed"))
        .current_dir(home.path())
        .env("HOME", home.path())
        .output()
        .expect("the example starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("[word-count {\"text\":\"one two three\"}]\n[answered: 3 words]"), "{text}");
    assert!(text.ends_with("The tool answered: 3 words\n"), "{text}");
}
