//! The names on both sides of the border: what a component must export, and what it may import.

use serde::Serialize;
use youyou_api::HookEvent;

/// The package of our own interfaces.
const PACKAGE: &str = "youyou:plugin";
/// The version that this host serves.
const VERSION: &str = "1.0.0";
/// Our own interfaces that a guest may import.
const OFFERED: &[&str] = &["log", "types"];

/// The WASI 0.2 interfaces that are linked, by package.
pub(super) const WASI: &[(&str, &[&str])] = &[
    (
        "wasi:cli",
        &[
            "environment",
            "exit",
            "stdin",
            "stdout",
            "stderr",
            "terminal-input",
            "terminal-output",
            "terminal-stdin",
            "terminal-stdout",
            "terminal-stderr",
        ],
    ),
    ("wasi:clocks", &["wall-clock", "monotonic-clock"]),
    ("wasi:filesystem", &["types", "preopens"]),
    ("wasi:http", &["types", "outgoing-handler"]),
    ("wasi:io", &["error", "poll", "streams"]),
    ("wasi:random", &["random", "insecure", "insecure-seed"]),
    (
        "wasi:sockets",
        &["network", "instance-network", "ip-name-lookup", "tcp", "tcp-create-socket", "udp", "udp-create-socket"],
    ),
];

/// What a component is used as; it says which export it must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A tool: exports `youyou:plugin/tool`.
    Tool,
    /// A handler of one hook event: exports the interface of that event.
    Hook(HookEvent),
}

impl Role {
    /// The interface of our package that a component in this role exports.
    pub(super) fn interface(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Hook(HookEvent::SessionStart) => "session-start",
            Self::Hook(HookEvent::SessionEnd) => "session-end",
            Self::Hook(HookEvent::TurnStart) => "turn-start",
            Self::Hook(HookEvent::TurnEnd) => "turn-end",
            Self::Hook(HookEvent::BeforeToolUse) => "before-tool-use",
            Self::Hook(HookEvent::AfterToolUse) => "after-tool-use",
            Self::Hook(HookEvent::BeforeCompact) => "before-compact",
        }
    }

    /// The export that is expected, with its version.
    pub(super) fn export(self) -> String {
        format!("{PACKAGE}/{}@{VERSION}", self.interface())
    }

    /// The world in wit/ that a component in this role is built for.
    pub(super) fn world(self) -> String {
        match self {
            Self::Tool => "tool-plugin".to_owned(),
            Self::Hook(_) => format!("{}-plugin", self.interface()),
        }
    }

    /// Every role, tools first.
    pub(super) fn all() -> impl Iterator<Item = Role> {
        std::iter::once(Self::Tool).chain(HookEvent::ALL.iter().copied().map(Self::Hook))
    }
}

/// How a name of the binary stands to what is expected or offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It fits.
    Fits,
    /// The right interface in a version that this host does not serve.
    OtherVersion,
    /// Something else.
    Unrelated,
}

/// How an export stands to what `role` must export.
pub(super) fn export_standing(export: &str, role: Role) -> Standing {
    match Name::parse(export) {
        Some(name) if name.package == PACKAGE && name.interface == role.interface() => version_standing(&name, VERSION),
        _ => Standing::Unrelated,
    }
}

/// How an import stands to what the host links.
pub(super) fn import_standing(import: &str) -> Standing {
    let Some(name) = Name::parse(import) else { return Standing::Unrelated };
    if name.package == PACKAGE {
        return if OFFERED.contains(&name.interface) { version_standing(&name, VERSION) } else { Standing::Unrelated };
    }
    match WASI.iter().find(|(package, _)| *package == name.package) {
        Some((_, interfaces)) if interfaces.contains(&name.interface) => version_standing(&name, "0.2.0"),
        _ => Standing::Unrelated,
    }
}

/// Everything that may be imported, for messages.
pub(super) fn offered() -> String {
    let own = OFFERED.iter().map(|interface| format!("{PACKAGE}/{interface}@{VERSION}"));
    let wasi = WASI.iter().map(|(package, interfaces)| format!("{package}/{{{}}}@0.2.x", interfaces.join(",")));
    own.chain(wasi).collect::<Vec<_>>().join(", ")
}

/// The package of a WASI import, such as `wasi:http`.
pub(super) fn package(import: &str) -> Option<&str> {
    Name::parse(import).map(|name| name.package)
}

/// `namespace:package/interface@version`.
struct Name<'a> {
    package: &'a str,
    interface: &'a str,
    version: Option<&'a str>,
}

impl<'a> Name<'a> {
    fn parse(name: &'a str) -> Option<Self> {
        let (path, version) = match name.split_once('@') {
            Some((path, version)) => (path, Some(version)),
            None => (name, None),
        };
        let (package, interface) = path.split_once('/')?;
        package.contains(':').then_some(Self { package, interface, version })
    }
}

/// Versions are compatible as in semantic versioning: the first number that is not zero must be the same.
fn version_standing(name: &Name<'_>, served: &str) -> Standing {
    match name.version.and_then(track) {
        Some(found) if Some(found) == track(served) => Standing::Fits,
        _ => Standing::OtherVersion,
    }
}

/// The part of a version that decides compatibility; a pre-release is compatible with nothing.
fn track(version: &str) -> Option<(u64, u64, u64)> {
    let version = version.split_once('+').map_or(version, |(version, _)| version);
    let mut numbers = version.split('.').map(str::parse::<u64>);
    let (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch)), None) =
        (numbers.next(), numbers.next(), numbers.next(), numbers.next())
    else {
        return None;
    };
    Some(match (major, minor) {
        (0, 0) => (0, 0, patch),
        (0, minor) => (0, minor, 0),
        (major, _) => (major, 0, 0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_of_any_patch_version_of_wasi_02_fits() {
        for version in ["0.2.0", "0.2.6", "0.2.12"] {
            assert_eq!(import_standing(&format!("wasi:cli/environment@{version}")), Standing::Fits, "{version}");
        }
        for version in ["0.3.0", "0.3.0-rc-2025-09-16", "1.0.0", "0.2", "x"] {
            assert_eq!(
                import_standing(&format!("wasi:cli/environment@{version}")),
                Standing::OtherVersion,
                "{version}"
            );
        }
    }

    #[test]
    fn an_import_that_nobody_links_is_unrelated() {
        for import in
            ["wasi:nn/graph@0.2.0", "wasi:cli/run@0.2.0", "acme:store/kv@1.0.0", "env", "youyou:plugin/kv@1.0.0"]
        {
            assert_eq!(import_standing(import), Standing::Unrelated, "{import}");
        }
    }

    #[test]
    fn an_export_fits_by_interface_and_major_version() {
        assert_eq!(export_standing("youyou:plugin/tool@1.0.0", Role::Tool), Standing::Fits);
        assert_eq!(export_standing("youyou:plugin/tool@1.4.2", Role::Tool), Standing::Fits);
        for other in ["youyou:plugin/tool@2.0.0", "youyou:plugin/tool@0.9.0", "youyou:plugin/tool"] {
            assert_eq!(export_standing(other, Role::Tool), Standing::OtherVersion, "{other}");
        }
        assert_eq!(export_standing("youyou:plugin/tool@1.0.0", Role::Hook(HookEvent::TurnEnd)), Standing::Unrelated);
        assert_eq!(export_standing("acme:plugin/tool@1.0.0", Role::Tool), Standing::Unrelated);
    }

    #[test]
    fn every_role_has_its_own_interface() {
        let mut interfaces: Vec<_> = Role::all().map(Role::interface).collect();
        interfaces.sort_unstable();
        interfaces.dedup();
        assert_eq!(interfaces.len(), 1 + HookEvent::ALL.len());
    }
}
