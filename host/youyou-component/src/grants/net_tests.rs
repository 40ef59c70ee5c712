//! Tests of the `net` grants: what is accepted, what is matched, what is refused with which words.

use proptest::prelude::*;

use super::*;

fn rule(entry: &str) -> NetRule {
    NetRule::parse("permissions.net[0]", entry).unwrap_or_else(|problem| panic!("{problem}"))
}

fn target(url: &str) -> Target {
    let rule = rule(url);
    let Hosts::Exactly(host) = rule.hosts else { panic!("{url} is a pattern") };
    Target { scheme: rule.scheme, host, port: rule.port }
}

#[test]
fn a_host_matches_exactly_or_below_a_star() {
    for (entry, url, expected) in [
        ("https://api.example.com", "https://api.example.com", true),
        ("https://api.example.com", "https://api.example.com:443", true),
        ("https://api.example.com:443", "https://API.Example.com.", true),
        ("HTTPS://api.example.com", "https://api.example.com", true),
        ("https://api.example.com", "http://api.example.com", false),
        ("https://api.example.com", "http://api.example.com:443", false),
        ("https://api.example.com", "https://api.example.com:8443", false),
        ("https://example.com", "https://api.example.com", false),
        ("https://example.com", "https://example.com.evil.net", false),
        ("https://*.example.com", "https://api.example.com", true),
        ("https://*.example.com", "https://a.b.example.com", true),
        ("https://*.example.com", "https://example.com", false),
        ("https://*.example.com", "https://badexample.com", false),
        ("https://*.example.com", "https://api.example.com.evil.net", false),
        ("https://*.example.com:8443", "https://api.example.com", false),
        ("http://bücher.example", "http://xn--bcher-kva.example", true),
        ("http://127.0.0.1:80", "http://127.1", true),
        ("http://127.0.0.1", "http://2130706433", true),
        ("http://127.0.0.1", "http://0x7f000001", true),
        ("http://127.0.0.1", "http://[::ffff:127.0.0.1]", false),
        ("http://127.0.0.1", "http://localhost", false),
        ("http://[::1]:8080", "http://[0:0:0:0:0:0:0:1]:8080", true),
        ("tcp://db.example.com:5432", "tcp://db.example.com:5432", true),
        ("tcp://db.example.com:5432", "udp://db.example.com:5432", false),
    ] {
        assert_eq!(rule(entry).allows(&target(url)), expected, "{entry} for {url}");
    }
}

#[test]
fn a_target_displays_as_the_entry_that_grants_it() {
    for entry in ["https://a.example", "http://a.example:8080", "tcp://[2001:db8::1]:443", "udp://1.2.3.4:53"] {
        assert_eq!(target(entry).to_string(), entry);
        assert!(rule(&target(entry).to_string()).allows(&target(entry)));
    }
}

#[test]
fn an_entry_that_cannot_be_used_says_why_and_what_to_write() {
    let problems: String = [
        "",
        "api.example.com",
        "api.example.com:443",
        "ftp://example.com",
        "wss://example.com",
        "https://",
        "https://*",
        "https://*.com",
        "https://*.10.0.0.1",
        "https://a.*.example.com",
        "https://exa mple.com",
        "https://a..example.com",
        "https://example.com/v1",
        "https://example.com/",
        "https://example.com?x=1",
        "https://example.com#x",
        "https://user:secret@example.com",
        "https://example.com@evil.net/",
        "https://example.com:",
        "https://example.com:0",
        "https://example.com:+443",
        "https://example.com:65536",
        "https://2001:db8::1",
        "https://[2001:db8::1",
        "https://[2001:db8::1]443",
        "tcp://db.example.com",
        "udp://*.example.com",
    ]
    .into_iter()
    .map(|entry| format!("{entry:?}\n    {}\n", NetRule::parse("net[0]", entry).expect_err(entry)))
    .collect();
    insta::assert_snapshot!(problems, @r##"
    ""
        net[0]: expected scheme://host, found ""; write one, such as "https://api.example.com"
    "api.example.com"
        net[0]: expected scheme://host, found "api.example.com"; write "https://api.example.com", or http, tcp or udp in place of https
    "api.example.com:443"
        net[0]: expected scheme://host, found "api.example.com:443"; write "https://api.example.com:443", or http, tcp or udp in place of https
    "ftp://example.com"
        net[0]: expected https, http, tcp or udp, found the scheme "ftp"; write "https://example.com", or "tcp://HOST:PORT" for another protocol
    "wss://example.com"
        net[0]: expected https, http, tcp or udp, found the scheme "wss"; write "https://example.com", or "tcp://HOST:PORT" for another protocol
    "https://"
        net[0]: expected a host, found none; write one, such as "https://api.example.com"
    "https://*"
        net[0]: expected `*` only as the whole first label, found "*"; write "https://*.example.com" for every host below example.com, or each host by itself
    "https://*.com"
        net[0]: "*.com" would cover far too much or nothing; write at least two labels after the star, such as "https://*.example.com"
    "https://*.10.0.0.1"
        net[0]: "*.10.0.0.1" would cover far too much or nothing; write at least two labels after the star, such as "https://*.example.com"
    "https://a.*.example.com"
        net[0]: expected `*` only as the whole first label, found "a.*.example.com"; write "https://*.example.com" for every host below example.com, or each host by itself
    "https://exa mple.com"
        net[0]: "exa mple.com" is not a host name or an address; write a host such as "api.example.com"
    "https://a..example.com"
        net[0]: "a..example.com" is not a host name or an address; write a host such as "api.example.com"
    "https://example.com/v1"
        net[0]: a grant covers a whole host, so nothing may follow it; found "/v1"; write "https://example.com"
    "https://example.com/"
        net[0]: a grant covers a whole host, so nothing may follow it; found "/"; write "https://example.com"
    "https://example.com?x=1"
        net[0]: a grant covers a whole host, so nothing may follow it; found "?x=1"; write "https://example.com"
    "https://example.com#x"
        net[0]: a grant covers a whole host, so nothing may follow it; found "#x"; write "https://example.com"
    "https://user:secret@example.com"
        net[0]: a grant holds no user name or password; write "https://example.com"
    "https://example.com@evil.net/"
        net[0]: a grant covers a whole host, so nothing may follow it; found "/"; write "https://evil.net"
    "https://example.com:"
        net[0]: expected a port from 1 to 65535, found ""; write "https://example.com:443" with the port you need
    "https://example.com:0"
        net[0]: expected a port from 1 to 65535, found "0"; write "https://example.com:443" with the port you need
    "https://example.com:+443"
        net[0]: expected a port from 1 to 65535, found "+443"; write "https://example.com:443" with the port you need
    "https://example.com:65536"
        net[0]: expected a port from 1 to 65535, found "65536"; write "https://example.com:443" with the port you need
    "https://2001:db8::1"
        net[0]: expected one host and at most one port, found "2001:db8::1"; write an IPv6 address in brackets, such as "https://[2001:db8::1]:443"
    "https://[2001:db8::1"
        net[0]: expected one host and at most one port, found "[2001:db8::1"; write an IPv6 address in brackets, such as "https://[2001:db8::1]:443"
    "https://[2001:db8::1]443"
        net[0]: expected one host and at most one port, found "[2001:db8::1]443"; write an IPv6 address in brackets, such as "https://[2001:db8::1]:443"
    "tcp://db.example.com"
        net[0]: expected a port after a tcp host; write "tcp://db.example.com:5432" with the port you need
    "udp://*.example.com"
        net[0]: expected a port after a udp host; write "udp://*.example.com:5432" with the port you need
    "##);
}

fn label() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9]{0,7}"
}

proptest! {
    /// DESIGN §7: hosts match exactly or by `*.` at a dot border.
    #[test]
    fn a_star_matches_names_below_and_no_other(front in "[a-z0-9.-]{0,12}", a in label(), b in label()) {
        let pattern = rule(&format!("https://*.{a}.{b}"));
        let Some(host) = Host::parse(&format!("{front}{a}.{b}")) else { return Ok(()) };
        let Host::Name(name) = &host else { return Ok(()) };
        let parent_labels = 2;
        let labels: Vec<&str> = name.split('.').collect();
        let below = labels.len() > parent_labels && labels.ends_with(&[&a, &b]);
        prop_assert_eq!(pattern.target_on(Scheme::Https, &host).is_some(), below, "{}", name);
    }

    #[test]
    fn an_exact_entry_matches_its_own_host_in_any_case_and_no_other(a in label(), b in label(), other in label()) {
        let exact = rule(&format!("https://{a}.{b}"));
        let same = Host::parse(&format!("{}.{}.", a.to_uppercase(), b)).expect("a host");
        prop_assert!(exact.target_on(Scheme::Https, &same).is_some());
        for near in [format!("{other}.{a}.{b}"), format!("{other}{a}.{b}"), format!("{a}.{b}.{other}")] {
            if let Some(host) = Host::parse(&near) {
                prop_assert!(exact.target_on(Scheme::Https, &host).is_none(), "{near}");
            }
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic(entry in "\\PC{0,40}", scheme in "(https|http|tcp|udp)") {
        let _ = NetRule::parse("net[0]", &entry);
        let _ = NetRule::parse("net[0]", &format!("{scheme}://{entry}"));
        let _ = Host::parse(&entry);
    }
}
