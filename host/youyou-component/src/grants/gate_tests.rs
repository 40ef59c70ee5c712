//! Tests of the decision on the network, with a resolver that answers what the test says.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Answers each question with the next list, the last one for ever.
struct Script {
    answers: Vec<Vec<&'static str>>,
    asked: AtomicUsize,
}

impl Resolve for Script {
    fn resolve<'a>(&'a self, _: &'a str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>> {
        let turn = self.asked.fetch_add(1, Ordering::Relaxed).min(self.answers.len() - 1);
        Box::pin(async move { Ok(self.answers[turn].iter().map(|a| a.parse().expect("an address")).collect()) })
    }
}

fn gate(net: &[&str], answers: &[&[&'static str]]) -> Gate {
    let net: Vec<String> = net.iter().map(|entry| (*entry).to_owned()).collect();
    let answers = answers.iter().map(|answer| answer.to_vec()).collect();
    let grants = Grants::parse(&[], &[], &[], &net).expect("grants");
    Gate::new(grants.with_resolver(Script { answers, asked: AtomicUsize::new(0) }))
}

fn http(host: &str, port: u16) -> Target {
    Target { scheme: Scheme::Http, host: Host::parse(host).expect("a host"), port }
}

fn denials(gate: &Gate) -> String {
    gate.denials.snapshot().iter().map(|denial| format!("{denial}\n")).collect()
}

#[tokio::test]
async fn a_host_that_is_not_granted_is_never_resolved() {
    let gate = gate(&["http://a.example"], &[]);
    assert!(matches!(gate.admit(&http("b.example", 80)).await, Err(Refused::NotGranted)));
    insta::assert_snapshot!(denials(&gate), @r#"the component tried to reach http://b.example, which no grant covers; to grant it, write under `execution` in index.md: permissions: { net: ["http://a.example", "http://b.example"] }"#);
}

/// DESIGN §7: addresses are resolved once and pinned; private ones are refused.
#[tokio::test]
async fn a_name_that_turns_private_is_refused_at_its_next_use() {
    let gate = gate(&["http://a.example"], &[&["93.184.215.14"], &["127.0.0.1"]]);
    let first = gate.admit(&http("a.example", 80)).await.expect("public");
    assert_eq!(first, ["93.184.215.14:80".parse().expect("an address")]);
    assert!(matches!(gate.admit(&http("a.example", 80)).await, Err(Refused::NotPublic)));
    insta::assert_snapshot!(denials(&gate), @r#"the component tried to reach http://a.example, which resolves to 127.0.0.1, a loopback address, and that address is not granted itself; to grant it, write under `execution` in index.md: permissions: { net: ["http://a.example", "http://127.0.0.1"] }"#);
}

#[tokio::test]
async fn only_the_public_addresses_of_a_name_are_used() {
    let gate = gate(&["http://a.example"], &[&["10.0.0.1", "93.184.215.14", "::ffff:10.0.0.1"]]);
    assert_eq!(gate.admit(&http("a.example", 80)).await.expect("public"), ["93.184.215.14:80".parse().expect("ok")]);
}

#[tokio::test]
async fn a_private_address_is_reached_when_it_is_listed_itself() {
    let gate = gate(&["http://a.example:81", "http://10.0.0.1:81"], &[&["10.0.0.1", "10.0.0.2"]]);
    let expected: Vec<SocketAddr> = vec!["10.0.0.1:81".parse().expect("ok")];
    assert_eq!(gate.admit(&http("a.example", 81)).await.expect("listed"), expected);
    assert_eq!(gate.admit(&http("10.0.0.1", 81)).await.expect("listed"), expected);
    assert!(matches!(gate.admit(&http("10.0.0.2", 81)).await, Err(Refused::NotGranted)));
}

#[tokio::test]
async fn localhost_means_this_machine_without_asking_anyone() {
    let gate = gate(&["http://localhost:8080"], &[&["93.184.215.14"]]);
    let found = gate.admit(&http("LOCALHOST.", 8080)).await.expect("listed");
    assert_eq!(found, ["127.0.0.1:8080".parse().expect("ok"), "[::1]:8080".parse().expect("ok")]);
    assert!(matches!(gate.admit(&http("127.0.0.1", 8080)).await, Err(Refused::NotGranted)));
}

#[tokio::test]
async fn a_socket_reaches_only_what_a_granted_lookup_found() {
    let gate = gate(&["tcp://db.example:5432"], &[&["93.184.215.14"], &["93.184.215.15"]]);
    let first: SocketAddr = "93.184.215.14:5432".parse().expect("ok");
    assert!(!gate.may_reach(Scheme::Tcp, first), "nothing was looked up yet");
    let db = Host::parse("db.example").expect("a host");
    assert_eq!(gate.look_up(&db).await.expect("granted"), [first.ip()]);
    assert!(gate.may_reach(Scheme::Tcp, first));
    assert!(!gate.may_reach(Scheme::Udp, first));
    assert!(!gate.may_reach(Scheme::Tcp, "93.184.215.14:22".parse().expect("ok")));
    assert!(!gate.may_reach(Scheme::Tcp, "93.184.215.15:5432".parse().expect("ok")));
    gate.deny_socket(Scheme::Tcp, "93.184.215.14:22".parse().expect("ok"));
    gate.deny_socket(Scheme::Udp, "[2001:db8::1]:53".parse().expect("ok"));
    assert!(matches!(gate.look_up(&Host::parse("other.example").expect("ok")).await, Err(Refused::NotGranted)));
    insta::assert_snapshot!(denials(&gate), @r#"
    the component tried to reach tcp://db.example:22, which no grant covers; to grant it, write under `execution` in index.md: permissions: { net: ["tcp://db.example:5432", "tcp://db.example:22"] }
    the component tried to reach udp://[2001:db8::1]:53, which no grant covers; to grant it, write under `execution` in index.md: permissions: { net: ["tcp://db.example:5432", "udp://[2001:db8::1]:53"] }
    the component tried to look up the address of other.example, which no tcp or udp grant covers (443 below stands for the port you need); to grant it, write under `execution` in index.md: permissions: { net: ["tcp://db.example:5432", "tcp://other.example:443"] }
    "#);
}

#[tokio::test]
async fn a_lookup_does_not_answer_with_a_private_address() {
    let gate = gate(&["tcp://*.example.com:5432"], &[&["192.168.0.9"]]);
    let db = Host::parse("db.example.com").expect("a host");
    assert!(matches!(gate.look_up(&db).await, Err(Refused::NotPublic)));
    insta::assert_snapshot!(denials(&gate), @r#"the component tried to look up the address of db.example.com, which resolves to 192.168.0.9, a private address, and that address is not granted itself; to grant it, write under `execution` in index.md: permissions: { net: ["tcp://*.example.com:5432", "tcp://192.168.0.9:5432"] }"#);
}
