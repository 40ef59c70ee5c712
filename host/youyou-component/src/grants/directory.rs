//! The `read` and `write` grants: which entries are accepted, and how a granted directory appears to the guest.

use super::{GrantProblem, path::GuestPath};

/// What a guest may do below a directory. Writing includes reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Access {
    Read,
    Write,
}

impl Access {
    /// The key in `permissions`.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// One entry of `read` or `write`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DirGrant {
    /// Where it stands, such as `permissions.read[0]`.
    pub(super) key: String,
    /// As written.
    pub(super) entry: String,
    pub(super) path: GuestPath,
    /// The list it stands in.
    pub(super) listed: Access,
    /// What may be done there; more than `listed` where a directory above it may be written.
    pub(super) access: Access,
}

impl DirGrant {
    /// The name under which the guest finds the directory: as written, without doubled or trailing slashes.
    pub(super) fn guest_name(&self) -> String {
        let shown = self.path.to_string();
        match shown.strip_prefix("./") {
            Some(bare) if !self.entry.starts_with("./") => bare.to_owned(),
            _ => shown,
        }
    }

    /// Checks one entry.
    pub(super) fn parse(key: String, entry: &str, access: Access) -> Result<Self, GrantProblem> {
        match why_not_a_directory(entry) {
            Some((message, hint)) => Err(GrantProblem { key, message, hint }),
            None => Ok(Self { key, entry: entry.to_owned(), path: GuestPath::new(entry), listed: access, access }),
        }
    }
}

fn why_not_a_directory(entry: &str) -> Option<(String, String)> {
    let parts = || entry.split('/').filter(|part| !matches!(*part, "" | "."));
    if entry.trim().is_empty() {
        return Some(("expected a directory, found nothing".into(), "write \".\" for the working directory".into()));
    }
    if entry.starts_with('~') {
        return Some((
            format!("`~` is not expanded, found {entry:?}"),
            "write the path from the working directory, or from `/`".into(),
        ));
    }
    if entry.contains('\\') || has_drive_letter(entry) {
        return Some((
            format!("expected a path with `/` between its parts and no drive letter, found {entry:?}"),
            "write the path from the working directory, such as \"./data\" or \"../shared\"".into(),
        ));
    }
    if entry.contains(char::is_control) {
        return Some((format!("{entry:?} contains a control character"), "write the path without it".into()));
    }
    if GuestPath::new(entry).is_root() {
        return Some((
            "the whole file system cannot be granted".into(),
            "write the directories that the component needs".into(),
        ));
    }
    if parts().any(|part| matches!(part, "*" | "**")) {
        let before = entry.split('*').next().unwrap_or_default().trim_end_matches('/');
        let before = if before.is_empty() { "." } else { before };
        return Some((
            format!("a grant names one directory, not a pattern, found {entry:?}"),
            format!("write {before:?}, which covers everything below it"),
        ));
    }
    if parts().skip_while(|part| *part == "..").any(|part| part == "..") {
        return Some((
            format!("`..` may stand only at the beginning, found {entry:?}"),
            format!("write {:?}", GuestPath::new(entry).to_string()),
        ));
    }
    None
}

fn has_drive_letter(entry: &str) -> bool {
    matches!(entry.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(entry: &str) -> Result<DirGrant, GrantProblem> {
        DirGrant::parse("permissions.read[0]".into(), entry, Access::Read)
    }

    #[test]
    fn the_guest_sees_a_directory_under_the_path_as_written() {
        for (entry, name) in [
            ("./data", "./data"),
            ("data", "data"),
            ("./data/", "./data"),
            ("data//x/./y/", "data/x/y"),
            (".", "."),
            ("./", "."),
            ("..", ".."),
            ("../shared", "../shared"),
            ("/srv/data/", "/srv/data"),
        ] {
            assert_eq!(parse(entry).expect(entry).guest_name(), name, "{entry}");
        }
    }

    #[test]
    fn an_entry_that_names_no_directory_says_why_and_what_to_write() {
        let problems: String = [
            "",
            " ",
            "~",
            "~/data",
            "data/*",
            "**/x",
            "a/../b",
            "./../a/..",
            "/..",
            "/",
            "//",
            "a\0b",
            "data\\x",
            "C:/data",
        ]
        .into_iter()
        .map(|entry| format!("{entry:?}\n    {}\n", parse(entry).expect_err(entry)))
        .collect();
        insta::assert_snapshot!(problems, @r#"
        ""
            permissions.read[0]: expected a directory, found nothing; write "." for the working directory
        " "
            permissions.read[0]: expected a directory, found nothing; write "." for the working directory
        "~"
            permissions.read[0]: `~` is not expanded, found "~"; write the path from the working directory, or from `/`
        "~/data"
            permissions.read[0]: `~` is not expanded, found "~/data"; write the path from the working directory, or from `/`
        "data/*"
            permissions.read[0]: a grant names one directory, not a pattern, found "data/*"; write "data", which covers everything below it
        "**/x"
            permissions.read[0]: a grant names one directory, not a pattern, found "**/x"; write ".", which covers everything below it
        "a/../b"
            permissions.read[0]: `..` may stand only at the beginning, found "a/../b"; write "./b"
        "./../a/.."
            permissions.read[0]: `..` may stand only at the beginning, found "./../a/.."; write ".."
        "/.."
            permissions.read[0]: the whole file system cannot be granted; write the directories that the component needs
        "/"
            permissions.read[0]: the whole file system cannot be granted; write the directories that the component needs
        "//"
            permissions.read[0]: the whole file system cannot be granted; write the directories that the component needs
        "a\0b"
            permissions.read[0]: "a\0b" contains a control character; write the path without it
        "data\\x"
            permissions.read[0]: expected a path with `/` between its parts and no drive letter, found "data\\x"; write the path from the working directory, such as "./data" or "../shared"
        "C:/data"
            permissions.read[0]: expected a path with `/` between its parts and no drive letter, found "C:/data"; write the path from the working directory, such as "./data" or "../shared"
        "#);
    }
}
