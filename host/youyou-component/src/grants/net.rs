//! The `net` grants: which scheme, host and port a component may talk to, and whether a given target is one of them.
//!
//! Names are compared in one canonical form: lower case, punycode, no trailing dot, addresses as addresses. What a name
//! resolves to is judged elsewhere ([`super::gate`]).

use std::{fmt, net::IpAddr};

use super::GrantProblem;

/// How a component talks to a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Scheme {
    /// HTTP over TLS, through `wasi:http`.
    Https,
    /// HTTP, through `wasi:http`.
    Http,
    /// A TCP connection, through `wasi:sockets`.
    Tcp,
    /// UDP datagrams, through `wasi:sockets`.
    Udp,
}

impl Scheme {
    const ALL: [Self; 4] = [Self::Https, Self::Http, Self::Tcp, Self::Udp];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        }
    }

    /// The port that an entry without one means.
    pub(super) fn default_port(self) -> Option<u16> {
        match self {
            Self::Https => Some(443),
            Self::Http => Some(80),
            Self::Tcp | Self::Udp => None,
        }
    }
}

/// A host in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Host {
    Name(String),
    Address(IpAddr),
}

impl Host {
    /// The canonical form of what stands in an entry or a request; brackets around an IPv6 address may be missing.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Some(Self::Address(address));
        }
        match url::Host::parse(text.strip_suffix('.').unwrap_or(text)).ok()? {
            url::Host::Ipv4(v4) => Some(Self::Address(v4.into())),
            url::Host::Ipv6(v6) => Some(Self::Address(v6.into())),
            url::Host::Domain(name) if has_empty_label(&name) => None,
            url::Host::Domain(name) => Some(Self::Name(name)),
        }
    }

    /// Whether it is the name that stands for this machine.
    pub(super) fn is_localhost(&self) -> bool {
        match self {
            Self::Name(name) => name == "localhost",
            Self::Address(_) => false,
        }
    }
}

fn has_empty_label(name: &str) -> bool {
    name.split('.').any(str::is_empty)
}

/// As it stands in a URL: IPv6 in brackets.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(v4)) => write!(f, "{v4}"),
            Self::Address(IpAddr::V6(v6)) => write!(f, "[{v6}]"),
        }
    }
}

/// Something a component wants to reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) scheme: Scheme,
    pub(super) host: Host,
    pub(super) port: u16,
}

/// The entry that grants exactly this target.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.host)?;
        if self.scheme.default_port() == Some(self.port) { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

/// One entry of `net`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NetRule {
    /// As written.
    pub(super) entry: String,
    scheme: Scheme,
    hosts: Hosts,
    port: u16,
}

/// The hosts of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Hosts {
    Exactly(Host),
    /// Every name that ends in a dot and this one, at any depth; never the name itself, never an address.
    Below(String),
}

impl Hosts {
    fn match_host(&self, host: &Host) -> bool {
        match (self, host) {
            (Self::Exactly(granted), host) => granted == host,
            (Self::Below(parent), Host::Name(name)) => {
                name.strip_suffix(parent.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            (Self::Below(_), Host::Address(_)) => false,
        }
    }
}

impl NetRule {
    /// Whether the entry grants this target by its name; an address that a name resolves to is another question.
    pub(super) fn allows(&self, target: &Target) -> bool {
        self.scheme == target.scheme && self.port == target.port && self.hosts.match_host(&target.host)
    }

    /// The target that the entry grants on this host under this scheme; none where it grants nothing there.
    pub(super) fn target_on(&self, scheme: Scheme, host: &Host) -> Option<Target> {
        let granted = self.scheme == scheme && self.hosts.match_host(host);
        granted.then(|| Target { scheme, host: host.clone(), port: self.port })
    }

    /// Checks one entry; `key` is where it stands.
    pub(super) fn parse(key: &str, entry: &str) -> Result<Self, GrantProblem> {
        let problem = |message: String, hint: String| GrantProblem { key: key.to_owned(), message, hint };
        let Some((scheme_text, rest)) = entry.split_once("://") else {
            return Err(problem(
                format!("expected scheme://host, found {entry:?}"),
                match entry.trim() {
                    "" => "write one, such as \"https://api.example.com\"".to_owned(),
                    host => format!("write \"https://{host}\", or http, tcp or udp in place of https"),
                },
            ));
        };
        let Some(scheme) = Scheme::ALL.into_iter().find(|s| scheme_text.eq_ignore_ascii_case(s.as_str())) else {
            return Err(problem(
                format!("expected https, http, tcp or udp, found the scheme {scheme_text:?}"),
                format!("write \"https://{rest}\", or \"tcp://HOST:PORT\" for another protocol"),
            ));
        };
        let authority = host_and_port_only(rest)
            .map_err(|found| problem(found.what, format!("write \"{}://{}\"", scheme.as_str(), found.without)))?;
        let (host_text, port_text) = split_port(authority).ok_or_else(|| {
            problem(
                format!("expected one host and at most one port, found {authority:?}"),
                "write an IPv6 address in brackets, such as \"https://[2001:db8::1]:443\"".to_owned(),
            )
        })?;
        let port = parse_port(scheme, port_text).map_err(|found| {
            let example = scheme.default_port().unwrap_or(5432);
            problem(found, format!("write \"{}://{host_text}:{example}\" with the port you need", scheme.as_str()))
        })?;
        let hosts = parse_hosts(host_text).map_err(|(message, hint)| problem(message, hint))?;
        Ok(Self { entry: entry.to_owned(), scheme, hosts, port })
    }
}

/// What stands in an entry beside a host and a port, and the entry without it.
struct Superfluous<'a> {
    what: String,
    without: &'a str,
}

fn host_and_port_only(rest: &str) -> Result<&str, Superfluous<'_>> {
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let bare = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let what = if !tail.is_empty() {
        format!("a grant covers a whole host, so nothing may follow it; found {tail:?}")
    } else if bare.len() != authority.len() {
        "a grant holds no user name or password".to_owned()
    } else {
        return Ok(authority);
    };
    Err(Superfluous { what, without: bare })
}

/// The host without brackets, and the text of the port.
fn split_port(authority: &str) -> Option<(&str, Option<&str>)> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        return match after.strip_prefix(':') {
            Some(port) => Some((host, Some(port))),
            None => after.is_empty().then_some((host, None)),
        };
    }
    match authority.split_once(':') {
        Some((_, port)) if port.contains(':') => None,
        Some((host, port)) => Some((host, Some(port))),
        None => Some((authority, None)),
    }
}

fn parse_port(scheme: Scheme, text: Option<&str>) -> Result<u16, String> {
    let Some(text) = text else {
        return scheme.default_port().ok_or_else(|| format!("expected a port after a {} host", scheme.as_str()));
    };
    let digits_only = text.bytes().all(|b| b.is_ascii_digit());
    match text.parse::<u16>() {
        Ok(port) if port != 0 && digits_only => Ok(port),
        Ok(_) | Err(_) => Err(format!("expected a port from 1 to 65535, found {text:?}")),
    }
}

fn parse_hosts(text: &str) -> Result<Hosts, (String, String)> {
    if text.is_empty() {
        return Err(("expected a host, found none".into(), "write one, such as \"https://api.example.com\"".into()));
    }
    let name = text.strip_prefix("*.").unwrap_or(text);
    if name.contains('*') {
        return Err((
            format!("expected `*` only as the whole first label, found {text:?}"),
            "write \"https://*.example.com\" for every host below example.com, or each host by itself".into(),
        ));
    }
    let host = Host::parse(name).ok_or_else(|| {
        (format!("{text:?} is not a host name or an address"), "write a host such as \"api.example.com\"".into())
    })?;
    if name.len() == text.len() {
        return Ok(Hosts::Exactly(host));
    }
    match host {
        Host::Name(name) if name.contains('.') => Ok(Hosts::Below(name)),
        Host::Name(_) | Host::Address(_) => Err((
            format!("{text:?} would cover far too much or nothing"),
            "write at least two labels after the star, such as \"https://*.example.com\"".into(),
        )),
    }
}

#[cfg(test)]
#[path = "net_tests.rs"]
mod tests;
