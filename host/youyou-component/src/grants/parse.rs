//! From the four lists of a `permissions` block to [`Grants`], and back to the lines a person reads.

use std::{fmt, sync::Arc};

use serde::{Serialize, Serializer, ser::SerializeStruct};

use super::{
    budget::HttpLimits,
    directory::{Access, DirGrant},
    gate::{Resolve, SystemResolver},
    net::NetRule,
    path::GuestPath,
};

/// The permissions of one component, parsed and checked. The default grants nothing. Cheap to clone.
///
/// Serialised it is the block as written: `{"read":[…],"write":[…],"env":[…],"net":[…]}`.
///
/// ```
/// use youyou_component::grants::Grants;
/// let list = |entries: &[&str]| entries.iter().map(|e| e.to_string()).collect::<Vec<_>>();
/// let grants = Grants::parse(&list(&["./data"]), &[], &list(&["LANG"]), &list(&["https://*.example.com"])).unwrap();
/// assert_eq!(
///     grants.describe(),
///     [
///         "may read everything in ./data",
///         "sees the environment variable LANG",
///         "may send requests to https://*.example.com",
///     ]
/// );
/// ```
#[derive(Clone, Default)]
pub struct Grants(Arc<Lists>);

#[derive(Clone)]
struct Lists {
    directories: Vec<DirGrant>,
    env: Vec<String>,
    net: Vec<NetRule>,
    http_limits: HttpLimits,
    resolver: Arc<dyn Resolve>,
}

impl Default for Lists {
    fn default() -> Self {
        Self {
            directories: Vec::new(),
            env: Vec::new(),
            net: Vec::new(),
            http_limits: HttpLimits::default(),
            resolver: Arc::new(SystemResolver),
        }
    }
}

/// One entry of a `permissions` block that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GrantProblem {
    /// Where it stands, such as `permissions.net[0]`.
    pub key: String,
    /// What was expected and what was found.
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

impl fmt::Display for GrantProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.key, self.message, self.hint)
    }
}

impl std::error::Error for GrantProblem {}

impl Grants {
    /// Checks the four lists of a `permissions` block (DESIGN §8). Nothing on disk and no host is looked at.
    ///
    /// Writing includes reading, and everything below: a directory that `read` lists within one that `write` lists may
    /// be written. The same entry twice counts once.
    ///
    /// # Errors
    /// Every entry that cannot be used, in order, each with its key and what to write instead.
    pub fn parse(read: &[String], write: &[String], env: &[String], net: &[String]) -> Result<Self, Vec<GrantProblem>> {
        let mut problems = Vec::new();
        let mut directories: Vec<DirGrant> = Vec::new();
        // Writing first, so that reading the same directory adds nothing.
        for (access, entries) in [(Access::Write, write), (Access::Read, read)] {
            for (index, entry) in entries.iter().enumerate() {
                let key = format!("permissions.{}[{index}]", access.key());
                match DirGrant::parse(key, entry, access) {
                    Ok(grant) if directories.iter().any(|known| known.path == grant.path) => {}
                    Ok(grant) => directories.push(grant),
                    Err(problem) => problems.push(problem),
                }
            }
        }
        let writable: Vec<GuestPath> =
            directories.iter().filter(|grant| grant.access == Access::Write).map(|grant| grant.path.clone()).collect();
        for grant in &mut directories {
            if writable.iter().any(|above| grant.path.is_within(above)) {
                grant.access = Access::Write;
            }
        }
        let env = collect(env, "env", &mut problems, check_env_name);
        let net = collect(net, "net", &mut problems, NetRule::parse);
        if !problems.is_empty() {
            let rank = |key: &str| ["read", "write", "env", "net"].iter().position(|k| key.contains(k));
            problems.sort_by_key(|problem| rank(&problem.key));
            return Err(problems);
        }
        Ok(Self(Arc::new(Lists { directories, env, net, ..Lists::default() })))
    }

    /// Whether nothing is granted.
    pub fn is_empty(&self) -> bool {
        self.0.directories.is_empty() && self.0.env.is_empty() && self.0.net.is_empty()
    }

    /// One line for each grant, for a person (`youyou inspect`); none when nothing is granted.
    pub fn describe(&self) -> Vec<String> {
        let directory = |grant: &DirGrant| match grant.access {
            Access::Read => format!("may read everything in {}", grant.entry),
            Access::Write => format!("may read and change everything in {}", grant.entry),
        };
        let net = |rule: &NetRule| match rule.entry.get(..4).map(str::to_ascii_lowercase).as_deref() {
            Some("http") => format!("may send requests to {}", rule.entry),
            _ => format!("may connect to {}", rule.entry),
        };
        (self.0.directories.iter().map(directory))
            .chain(self.0.env.iter().map(|name| format!("sees the environment variable {name}")))
            .chain(self.0.net.iter().map(net))
            .collect()
    }

    /// Reads the granted variables from the environment of this process.
    ///
    /// For the outer rim, once when a call begins; nothing further down reads the environment. A value that is not
    /// UTF-8 counts as not set, since WASI has no way to hand it over.
    pub fn env_snapshot(&self) -> EnvSnapshot {
        self.env_snapshot_from(|name| std::env::var(name).ok())
    }

    /// The granted variables as `lookup` knows them.
    pub fn env_snapshot_from(&self, lookup: impl Fn(&str) -> Option<String>) -> EnvSnapshot {
        EnvSnapshot(self.0.env.iter().filter_map(|name| Some((name.clone(), lookup(name)?))).collect())
    }

    /// The whole `permissions` line with these entries added to one of its lists.
    pub(super) fn line_with(&self, key: &str, added: &[&str]) -> String {
        let lists = self.entries().into_iter().filter_map(|(name, mut entries)| {
            if name == key {
                let new: Vec<&str> = added.iter().copied().filter(|entry| !entries.contains(entry)).collect();
                entries.extend(new);
            }
            // A JSON string is a YAML string.
            let entries: Vec<String> =
                entries.iter().map(|entry| serde_json::Value::from(*entry).to_string()).collect();
            (!entries.is_empty()).then(|| format!("{name}: [{}]", entries.join(", ")))
        });
        format!("permissions: {{ {} }}", lists.collect::<Vec<_>>().join(", "))
    }

    /// The lists as written, in the order of the documentation.
    fn entries(&self) -> [(&'static str, Vec<&str>); 4] {
        let directories = |access: Access| {
            self.0.directories.iter().filter(|grant| grant.listed == access).map(|grant| grant.entry.as_str()).collect()
        };
        [
            ("read", directories(Access::Read)),
            ("write", directories(Access::Write)),
            ("env", self.0.env.iter().map(String::as_str).collect()),
            ("net", self.0.net.iter().map(|rule| rule.entry.as_str()).collect()),
        ]
    }

    pub(super) fn directories(&self) -> &[DirGrant] {
        &self.0.directories
    }

    pub(super) fn net(&self) -> &[NetRule] {
        &self.0.net
    }

    pub(super) fn http_limits(&self) -> HttpLimits {
        self.0.http_limits
    }

    pub(super) fn resolver(&self) -> &dyn Resolve {
        &*self.0.resolver
    }

    #[cfg(test)]
    pub(super) fn with_resolver(self, resolver: impl Resolve) -> Self {
        Self(Arc::new(Lists { resolver: Arc::new(resolver), ..Lists::clone(&self.0) }))
    }

    #[cfg(test)]
    pub(super) fn with_http_limits(self, http_limits: HttpLimits) -> Self {
        Self(Arc::new(Lists { http_limits, ..Lists::clone(&self.0) }))
    }
}

fn collect<T: PartialEq>(
    entries: &[String],
    list: &str,
    problems: &mut Vec<GrantProblem>,
    parse: impl Fn(&str, &str) -> Result<T, GrantProblem>,
) -> Vec<T> {
    let mut parsed = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        match parse(&format!("permissions.{list}[{index}]"), entry) {
            Ok(grant) if parsed.contains(&grant) => {}
            Ok(grant) => parsed.push(grant),
            Err(problem) => problems.push(problem),
        }
    }
    parsed
}

fn check_env_name(key: &str, name: &str) -> Result<String, GrantProblem> {
    let problem = |message: String, hint: String| Err(GrantProblem { key: key.to_owned(), message, hint });
    if name.is_empty() {
        return problem(
            "expected the name of an environment variable, found nothing".into(),
            "write one, such as LANG".into(),
        );
    }
    if let Some((bare, _)) = name.split_once('=') {
        return problem(
            format!("expected a name without a value, found {name:?}"),
            format!("write {bare:?}; the value is taken from the host's environment"),
        );
    }
    if name.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '*' | '?' | '$' | '%')) {
        return problem(
            format!("expected the exact name of one environment variable, found {name:?}"),
            "write each name in full, without `$`, patterns or spaces".into(),
        );
    }
    Ok(name.to_owned())
}

impl fmt::Debug for Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.entries()).finish()
    }
}

/// Two are equal when they were written with the same entries.
impl PartialEq for Grants {
    fn eq(&self, other: &Self) -> bool {
        self.entries() == other.entries()
    }
}

impl Serialize for Grants {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut block = serializer.serialize_struct("Grants", 4)?;
        for (key, entries) in self.entries() {
            block.serialize_field(key, &entries)?;
        }
        block.end()
    }
}

/// The environment variables that a component is granted, with their values at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvSnapshot(Vec<(String, String)>);

impl EnvSnapshot {
    pub(super) fn pairs(&self) -> &[(String, String)] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[&str]) -> Vec<String> {
        entries.iter().map(|entry| (*entry).to_owned()).collect()
    }

    #[test]
    fn every_problem_is_reported_at_once_in_the_order_of_the_block() {
        let problems = Grants::parse(
            &list(&["./ok", "~/x"]),
            &list(&["/"]),
            &list(&["", "A=1", "A B", "$HOME", "MY_*", "LANG"]),
            &list(&["example.com"]),
        )
        .expect_err("problems");
        let text: String = problems.iter().map(|problem| format!("{problem}\n")).collect();
        insta::assert_snapshot!(text, @r#"
        permissions.read[1]: `~` is not expanded, found "~/x"; write the path from the working directory, or from `/`
        permissions.write[0]: the whole file system cannot be granted; write the directories that the component needs
        permissions.env[0]: expected the name of an environment variable, found nothing; write one, such as LANG
        permissions.env[1]: expected a name without a value, found "A=1"; write "A"; the value is taken from the host's environment
        permissions.env[2]: expected the exact name of one environment variable, found "A B"; write each name in full, without `$`, patterns or spaces
        permissions.env[3]: expected the exact name of one environment variable, found "$HOME"; write each name in full, without `$`, patterns or spaces
        permissions.env[4]: expected the exact name of one environment variable, found "MY_*"; write each name in full, without `$`, patterns or spaces
        permissions.net[0]: expected scheme://host, found "example.com"; write "https://example.com", or http, tcp or udp in place of https
        "#);
    }

    #[test]
    fn grants_read_back_as_they_were_written() {
        let grants = Grants::parse(
            &list(&["./data", "data/", "out"]),
            &list(&["./out"]),
            &list(&["LANG", "LANG"]),
            &list(&["https://a.example:443", "tcp://b.example:1"]),
        )
        .expect("grants");
        assert_eq!(
            serde_json::to_string(&grants).expect("json"),
            r#"{"read":["./data"],"write":["./out"],"env":["LANG"],"net":["https://a.example:443","tcp://b.example:1"]}"#
        );
        assert_eq!(
            grants.describe(),
            [
                "may read and change everything in ./out",
                "may read everything in ./data",
                "sees the environment variable LANG",
                "may send requests to https://a.example:443",
                "may connect to tcp://b.example:1",
            ]
        );
        assert!(!grants.is_empty() && Grants::default().is_empty() && Grants::default().describe().is_empty());
    }

    /// K-63: the line is a YAML mapping that keeps what is granted already.
    #[test]
    fn a_suggested_line_keeps_what_is_granted_already() {
        assert_eq!(Grants::default().line_with("read", &["./a \"b\""]), r#"permissions: { read: ["./a \"b\""] }"#);
        let grants =
            Grants::parse(&list(&["./a"]), &[], &list(&["LANG"]), &list(&["http://x.example"])).expect("grants");
        assert_eq!(
            grants.line_with("write", &["./b"]),
            r#"permissions: { read: ["./a"], write: ["./b"], env: ["LANG"], net: ["http://x.example"] }"#
        );
        assert_eq!(
            grants.line_with("read", &["./a", "./c"]),
            r#"permissions: { read: ["./a", "./c"], env: ["LANG"], net: ["http://x.example"] }"#
        );
    }

    /// K-63: names only; one that is not set is absent.
    #[test]
    fn the_environment_holds_the_granted_variables_that_are_set() {
        let grants = Grants::parse(&[], &[], &list(&["A", "B"]), &[]).expect("grants");
        let snapshot = grants.env_snapshot_from(|name| (name != "B").then(|| format!("value of {name}")));
        assert_eq!(snapshot.pairs(), [("A".to_owned(), "value of A".to_owned())]);
        assert_eq!(Grants::default().env_snapshot(), EnvSnapshot::default());
    }
}
