//! What the first bytes of an executable file say about how the system will run it.
//!
//! Pure: it reads a slice and never the disk. The preflight asks the disk about what is named here.

/// How much of a file the kernel looks at.
pub(crate) const HEAD_BYTES: usize = 256;

/// What the head of a file turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// Compiled, or of a kind that only the system can judge.
    Binary,
    /// Text whose first line does not name an interpreter; the first line as it may be shown.
    NoShebang(String),
    /// A shebang that ends in a carriage return; the line without it.
    Crlf(String),
    /// A shebang.
    Shebang(Shebang),
}

/// An interpreter line, split as the kernel splits it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shebang {
    /// The whole line, without `#!` and surrounding blanks.
    pub(crate) line: String,
    /// The first word.
    pub(crate) interpreter: String,
    /// All the rest, as one argument.
    pub(crate) argument: Option<String>,
}

/// What `env` in a shebang is going to start.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EnvTarget<'a> {
    /// A program of this name.
    Program(&'a str),
    /// Several words without `-S`: `env` would look for one program with a blank in its name.
    NeedsSplit(&'a str),
    /// It uses options that are not judged here, or names nothing.
    Unknown,
}

/// Reads the head of a file that is not empty; at most [`HEAD_BYTES`] of it count.
pub(crate) fn read(head: &[u8]) -> Head {
    let head = head.get(..HEAD_BYTES).unwrap_or(head);
    let Some(rest) = head.strip_prefix(b"#!") else {
        return if looks_binary(head) { Head::Binary } else { Head::NoShebang(first_line(head)) };
    };
    let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r' | 0));
    let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest);
    // A path in another encoding, or one that is longer than what is looked at, is left to the system.
    let Ok(line) = std::str::from_utf8(line) else { return Head::Binary };
    let line = line.trim_matches([' ', '\t']);
    if end.and_then(|end| rest.get(end)) == Some(&b'\r') {
        return Head::Crlf(format!("#!{line}"));
    }
    let (interpreter, argument) = match line.split_once([' ', '\t']) {
        Some((interpreter, argument)) => (interpreter, Some(argument.trim_start_matches([' ', '\t']))),
        None if end.is_none() && head.len() == HEAD_BYTES => return Head::Binary,
        None => (line, None),
    };
    if interpreter.is_empty() {
        return Head::NoShebang(first_line(head));
    }
    Head::Shebang(Shebang {
        line: line.to_owned(),
        interpreter: interpreter.to_owned(),
        argument: argument.map(str::to_owned),
    })
}

impl Shebang {
    /// What is started, where the interpreter is `env`.
    pub(crate) fn env_target(&self) -> Option<EnvTarget<'_>> {
        if self.interpreter.rsplit('/').next() != Some("env") {
            return None;
        }
        let argument = self.argument.as_deref().unwrap_or_default();
        let split = argument.strip_prefix("-S").or_else(|| argument.strip_prefix("--split-string="));
        let target = match split {
            Some(words) => words.split_whitespace().find(|word| !word.contains('=')),
            None if argument.starts_with('-') || argument.contains('=') => None,
            // Other systems split the line themselves, so there only the first word is sure.
            None if cfg!(target_os = "linux") && argument.contains([' ', '\t']) => {
                return Some(EnvTarget::NeedsSplit(argument));
            }
            None => argument.split_whitespace().next(),
        };
        Some(match target {
            // Quotes, variables and further options are env's own language.
            Some(word) if !word.starts_with('-') && !word.contains(['"', '\'', '$', '\\']) => EnvTarget::Program(word),
            Some(_) | None => EnvTarget::Unknown,
        })
    }
}

/// Text never holds a NUL; machine code, archives and WebAssembly do in their first bytes. UTF-16 text holds them as
/// well, but starts with a mark of its own.
fn looks_binary(head: &[u8]) -> bool {
    let utf16 = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
    head.contains(&0) && !utf16
}

/// The first line for a message: short, and without characters that could upset a terminal.
fn first_line(head: &[u8]) -> String {
    let text = String::from_utf8_lossy(head);
    let line = text.split(['\n', '\r']).next().unwrap_or_default();
    let shown: String = line.chars().take(60).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if shown.len() < line.len() { format!("{shown}…") } else { shown }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shebang(text: &str) -> Shebang {
        match read(text.as_bytes()) {
            Head::Shebang(shebang) => shebang,
            other => panic!("{text:?} is no shebang: {other:?}"),
        }
    }

    #[test]
    fn the_line_is_split_as_the_kernel_splits_it() {
        let plain = shebang("#!/bin/sh\necho");
        assert_eq!((plain.interpreter.as_str(), plain.argument.as_deref()), ("/bin/sh", None));
        let spaced = shebang("#! \t/usr/bin/awk   -f  x \n");
        assert_eq!((spaced.interpreter.as_str(), spaced.argument.as_deref()), ("/usr/bin/awk", Some("-f  x")));
        assert_eq!(shebang("#!/bin/sh").interpreter, "/bin/sh");
    }

    /// K-30.
    #[test]
    fn a_carriage_return_is_found_wherever_it_ends_the_line() {
        for text in ["#!/bin/sh\r\necho", "#!/bin/sh -e\r\necho", "#!/bin/sh\recho\r"] {
            assert!(matches!(read(text.as_bytes()), Head::Crlf(line) if line.starts_with("#!/bin/sh")), "{text:?}");
        }
        assert!(matches!(read(b"#!/bin/sh\necho\r\n"), Head::Shebang(_)));
    }

    #[test]
    fn text_without_a_shebang_is_told_from_machine_code() {
        for text in ["echo hi\n", "\n#!/bin/sh\n", "\u{feff}#!/bin/sh\n", "#!\n", "#", "# !/bin/sh\n"] {
            assert!(matches!(read(text.as_bytes()), Head::NoShebang(_)), "{text:?}");
        }
        assert!(matches!(read(b"\xff\xfe#\0!\0"), Head::NoShebang(_)));
        for binary in [&b"\x7fELF\x02\x01\x01\0\0"[..], b"\0asm\x0d\0\x01\0", b"PK\x03\x04\x14\0"] {
            assert_eq!(read(binary), Head::Binary);
        }
    }

    #[test]
    fn a_line_longer_than_the_kernel_reads_is_left_to_the_system() {
        assert_eq!(read(format!("#!/{}\n", "x".repeat(300)).as_bytes()), Head::Binary);
    }

    #[test]
    fn the_program_behind_env_is_found() {
        let target = |argument: &str| {
            let line = shebang(&format!("#!/usr/bin/env {argument}\n"));
            format!("{:?}", line.env_target().expect("env"))
        };
        assert_eq!(target("python3"), "Program(\"python3\")");
        assert_eq!(target("-S python3 -u"), "Program(\"python3\")");
        assert_eq!(target("-S A=1 deno run"), "Program(\"deno\")");
        assert_eq!(target("-S -i sh"), "Unknown");
        assert_eq!(target("-i"), "Unknown");
        assert_eq!(target(""), "Unknown");
        if cfg!(target_os = "linux") {
            assert_eq!(target("python3 -u"), "NeedsSplit(\"python3 -u\")");
        }
        assert_eq!(shebang("#!/bin/sh\n").env_target(), None);
    }

    proptest! {
        #[test]
        fn no_file_upsets_the_reader(head in proptest::collection::vec(any::<u8>(), 0..400), marked: bool) {
            let head = if marked { [b"#!", &head[..]].concat() } else { head };
            if let Head::Shebang(shebang) = read(&head) {
                prop_assert!(!shebang.interpreter.is_empty() && !shebang.interpreter.contains([' ', '\n', '\r']));
                shebang.env_target();
            }
        }
    }
}
