//! Packages from the Debian archive that this machine already uses, of another suite, without touching the machine.
//!
//! apt works on a state of its own in a scratch folder: no index, source list or package of the system changes, and no
//! special rights are needed. The archive's address and keys are read from the machine's own source lists.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::command::Run;

/// The Debian main archive as a source list of this machine names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Archive {
    uri: String,
    /// The field's value with its continuation lines, if the list has one: a path, or a key itself.
    signed_by: Option<String>,
}

impl Archive {
    /// Reads apt's folder of settings: `sources.list` and `sources.list.d/`.
    ///
    /// # Errors
    /// When no list names the Debian main archive.
    pub(super) fn of_this_machine(settings: &Path) -> Result<Self> {
        let mut lists = vec![settings.join("sources.list")];
        if let Ok(entries) = fs::read_dir(settings.join("sources.list.d")) {
            lists.extend(entries.flatten().map(|entry| entry.path()));
        }
        lists.sort();
        let found = lists.iter().find_map(|list| {
            let text = fs::read_to_string(list).ok()?;
            match list.extension()?.to_str()? {
                "list" => Self::in_one_line_style(&text),
                "sources" => Self::in_deb822_style(&text),
                _ => None,
            }
        });
        found.with_context(|| {
            format!("no source list in {} names the Debian main archive; is this a Debian machine?", settings.display())
        })
    }

    /// `deb [signed-by=… arch=…] URI SUITE COMPONENT…`
    fn in_one_line_style(text: &str) -> Option<Self> {
        text.lines().find_map(|line| {
            let mut rest = line.split('#').next()?.trim().strip_prefix("deb")?;
            rest = rest.strip_prefix([' ', '\t'])?.trim_start();
            let mut signed_by = None;
            if let Some((options, after)) = rest.strip_prefix('[').and_then(|options| options.split_once(']')) {
                signed_by = options.split_whitespace().find_map(|o| o.strip_prefix("signed-by=")).map(str::to_owned);
                rest = after;
            }
            let mut words = rest.split_whitespace();
            let (uri, _suite) = (words.next()?, words.next()?);
            let main = words.any(|component| component == "main");
            (main && is_debian(uri)).then(|| Self { uri: uri.to_owned(), signed_by })
        })
    }

    /// Paragraphs of `Field: value` with indented continuation lines.
    fn in_deb822_style(text: &str) -> Option<Self> {
        let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
        lines.split(|line| line.trim().is_empty()).find_map(|paragraph| {
            let fields = fields(paragraph);
            let value = |name: &str| fields.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str());
            let has = |name: &str, word: &str| value(name).is_some_and(|v| v.split_whitespace().any(|w| w == word));
            if !has("Types", "deb") || !has("Components", "main") || has("Enabled", "no") {
                return None;
            }
            let uri = value("URIs")?.split_whitespace().find(|uri| is_debian(uri))?;
            Some(Self { uri: uri.to_owned(), signed_by: value("Signed-By").map(str::to_owned) })
        })
    }

    /// A source list of this archive with another suite.
    fn list(&self, suite: &str) -> String {
        let Self { uri, signed_by } = self;
        let mut list = format!("Types: deb\nURIs: {uri}\nSuites: {suite}\nComponents: main\n");
        if let Some(signed_by) = signed_by {
            list.push_str(&format!("Signed-By: {signed_by}\n"));
        }
        list
    }
}

/// The main archive lies in `…/debian`, its security updates and other vendors' elsewhere. A mirror list counts too.
fn is_debian(uri: &str) -> bool {
    let last = uri.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    matches!(last, "debian" | "debian.list")
}

fn fields(paragraph: &[&str]) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in paragraph {
        if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                value.push('\n');
                value.push_str(line);
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.trim().to_owned(), value.trim().to_owned()));
        }
    }
    fields
}

/// apt with a state of its own.
pub(super) struct Apt {
    folder: PathBuf,
}

impl Apt {
    /// Makes the state and fetches the suite's index.
    ///
    /// # Errors
    /// Without apt, without a network, or when the machine's keys do not know the suite's signature.
    pub(super) fn prepare(folder: &Path, archive: &Archive, suite: &str) -> Result<Self> {
        for part in ["state/lists/partial", "cache/archives/partial", "packages"] {
            fs::create_dir_all(folder.join(part))?;
        }
        fs::write(folder.join("archive.sources"), archive.list(suite))?;
        let within = |part: &str| folder.join(part).display().to_string();
        let settings = [
            ("Dir::State", within("state")),
            ("Dir::Cache", within("cache")),
            ("Dir::Etc::sourcelist", within("archive.sources")),
            ("Dir::Etc::sourceparts", "/dev/null".into()),
            ("Dir::Etc::preferences", "/dev/null".into()),
            ("Dir::Etc::preferencesparts", "/dev/null".into()),
            ("Acquire::Languages", "none".into()),
            // Without it a server that cannot be reached would count as an empty suite.
            ("APT::Update::Error-Mode", "any".into()),
            // The user that apt fetches as when root runs it cannot see the scratch folder.
            ("APT::Sandbox::User", "root".into()),
        ];
        let settings: String = settings.iter().map(|(name, value)| format!("{name} \"{value}\";\n")).collect();
        fs::write(folder.join("apt.conf"), settings)?;
        let apt = Self { folder: folder.to_owned() };
        apt.command("apt-get").args(["-qq", "update"]).capture()?;
        Ok(apt)
    }

    /// The versions of a package that the suite has, newest first.
    ///
    /// # Errors
    /// When apt fails.
    pub(super) fn versions(&self, package: &str) -> Result<Vec<String>> {
        let table = self.command("apt-cache").args(["madison", package]).capture()?;
        Ok(table.lines().filter_map(|row| row.split('|').nth(1)).map(|version| version.trim().to_owned()).collect())
    }

    /// Downloads a package (`NAME` or `NAME=VERSION`) and unpacks its files below `to`; runs none of its scripts.
    ///
    /// # Errors
    /// When there is no such package, its checksum is wrong, or there is no dpkg.
    pub(super) fn unpack(&self, package: &str, to: &Path) -> Result<()> {
        let packages = self.folder.join("packages");
        self.command("apt-get").args(["-qq", "download", package]).current_dir(&packages).capture()?;
        let name = package.split('=').next().unwrap_or(package);
        let file = fs::read_dir(&packages)?
            .flatten()
            .find(|entry| entry.file_name().to_string_lossy().starts_with(&format!("{name}_")))
            .map(|entry| entry.path());
        let Some(file) = file else { bail!("apt-get download {package} left no file in {}", packages.display()) };
        Command::new("dpkg").arg("--extract").arg(&file).arg(to).capture().map(drop)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.arg("--config-file").arg(self.folder.join("apt.conf"));
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: &str = "http://mirror.example/debian";

    #[test]
    fn the_main_archive_is_found_in_a_deb822_list() {
        let text = "# comment\nTypes: deb\nURIs: http://mirror.example/debian-security\nSuites: bookworm-security\n\
                    Components: main\n\nTypes: deb deb-src\n# snapshot\nURIs: http://mirror.example/debian\n\
                    Suites: bookworm bookworm-updates\nComponents: main contrib\nSigned-By: /keys/archive.gpg\n";
        let archive = Archive::in_deb822_style(text).expect("found");
        assert_eq!(archive, Archive { uri: MAIN.into(), signed_by: Some("/keys/archive.gpg".into()) });
        assert_eq!(
            archive.list("other"),
            "Types: deb\nURIs: http://mirror.example/debian\nSuites: other\nComponents: main\nSigned-By: /keys/archive.gpg\n"
        );
    }

    #[test]
    fn a_key_inside_a_list_keeps_its_lines() {
        let text = "Types: deb\nURIs: http://mirror.example/debian/\nSuites: stable\nComponents: main\n\
                    Signed-By:\n -----BEGIN-----\n .\n abc\n";
        let archive = Archive::in_deb822_style(text).expect("found");
        assert!(archive.list("other").ends_with("Signed-By: \n -----BEGIN-----\n .\n abc\n"), "{archive:?}");
    }

    #[test]
    fn the_main_archive_is_found_in_a_one_line_list() {
        let text = "# deb http://mirror.example/debian old main\ndeb-src http://mirror.example/debian bookworm main\n\
                    deb http://vendor.example/tool stable main\n\
                    deb [arch=amd64 signed-by=/keys/a.gpg] http://mirror.example/debian bookworm main # here\n";
        let archive = Archive::in_one_line_style(text).expect("found");
        assert_eq!(archive, Archive { uri: MAIN.into(), signed_by: Some("/keys/a.gpg".into()) });
    }

    #[test]
    fn other_archives_and_disabled_ones_do_not_count() {
        let disabled = "Enabled: no\nTypes: deb\nURIs: http://mirror.example/debian\nSuites: s\nComponents: main\n";
        assert_eq!(Archive::in_deb822_style(disabled), None);
        assert_eq!(Archive::in_one_line_style("deb http://mirror.example/ubuntu noble main\n"), None);
        let dir = tempfile::tempdir().expect("dir");
        let error = Archive::of_this_machine(dir.path()).expect_err("nothing there").to_string();
        assert!(error.contains("is this a Debian machine?"), "{error}");
    }

    #[test]
    fn both_places_of_lists_are_read() {
        let dir = tempfile::tempdir().expect("dir");
        fs::create_dir(dir.path().join("sources.list.d")).expect("dir");
        let list = dir.path().join("sources.list.d/debian.list");
        fs::write(&list, format!("deb {MAIN} bookworm main\n")).expect("write");
        fs::write(dir.path().join("sources.list.d/old.sources.disabled"), "nonsense").expect("write");
        assert_eq!(Archive::of_this_machine(dir.path()).expect("found").uri, MAIN);
        fs::rename(&list, dir.path().join("sources.list")).expect("moved");
        assert_eq!(Archive::of_this_machine(dir.path()).expect("found").uri, MAIN);
    }
}
