//! The decision on every use of the network: is the host granted, and is what it resolves to an address that may be
//! reached.
//!
//! A name is resolved once for one use and the addresses found are the ones connected to, so that an answer which
//! changes in between (DNS rebinding) changes nothing. It opens no connection itself.

use std::{
    future::Future,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    pin::Pin,
    sync::{Mutex, PoisonError},
};

use super::{
    Grants,
    address::not_public,
    budget::HttpBudget,
    denial::{Denial, DenialKind, DenialLog},
    net::{Host, Scheme, Target},
};

/// Turns a name into addresses. A port of its own so that tests can answer.
pub(super) trait Resolve: Send + Sync + 'static {
    fn resolve<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;
}

/// The resolver of this machine.
pub(super) struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.map(|found| found.ip()).collect()) })
    }
}

/// Why a target is not reached.
#[derive(Debug)]
pub(super) enum Refused {
    /// No grant names it; recorded.
    NotGranted,
    /// It is granted but resolves only to addresses that may not be reached; recorded.
    NotPublic,
    /// The name could not be resolved.
    Unresolvable(io::Error),
}

/// What the guards of one store share.
pub(super) struct Gate {
    pub(super) grants: Grants,
    pub(super) denials: DenialLog,
    pub(super) budget: HttpBudget,
    /// What lookups by the guest found for granted names; its sockets may connect to these and no others.
    pinned: Mutex<Vec<(IpAddr, Host)>>,
}

impl Gate {
    pub(super) fn new(grants: Grants) -> Self {
        let budget = HttpBudget::new(grants.http_limits());
        Self { grants, denials: DenialLog::default(), budget, pinned: Mutex::default() }
    }

    /// A new call: full budgets, no denials. Pins stay, since a store that lives on may hold looked-up addresses.
    pub(super) fn start_call(&self) {
        self.denials.clear();
        self.budget.refill();
    }

    /// The addresses to connect to for one HTTP request.
    pub(super) async fn admit(&self, target: &Target) -> Result<Vec<SocketAddr>, Refused> {
        if !self.grants.net().iter().any(|rule| rule.allows(target)) {
            self.deny_target(&format!("to reach {target}"), "which no grant covers", &target.to_string());
            return Err(Refused::NotGranted);
        }
        let found = self.addresses_of(&target.host).await.map_err(Refused::Unresolvable)?;
        let reachable = self.reachable(&target.host, found, |address| {
            let literal = Target { host: Host::Address(address), ..target.clone() };
            self.grants.net().iter().any(|rule| rule.allows(&literal))
        });
        match reachable {
            Ok(addresses) => Ok(addresses.into_iter().map(|ip| SocketAddr::new(ip, target.port)).collect()),
            Err((ip, what)) => {
                let literal = Target { host: Host::Address(ip), ..target.clone() };
                self.deny_address(&format!("to reach {target}"), ip, what, &literal);
                Err(Refused::NotPublic)
            }
        }
    }

    /// Answers a guest's name lookup, and pins what it answers.
    pub(super) async fn look_up(&self, host: &Host) -> Result<Vec<IpAddr>, Refused> {
        let on = |host: &Host| {
            let rules = self.grants.net().iter();
            rules.flat_map(|rule| [Scheme::Tcp, Scheme::Udp].map(|s| rule.target_on(s, host))).flatten().next()
        };
        if let Host::Address(address) = host {
            return Ok(vec![*address]);
        }
        let tried = format!("to look up the address of {host}");
        let Some(granted) = on(host) else {
            let reason = "which no tcp or udp grant covers (443 below stands for the port you need)";
            self.deny_target(&tried, reason, &format!("tcp://{host}:443"));
            return Err(Refused::NotGranted);
        };
        let found = self.addresses_of(host).await.map_err(Refused::Unresolvable)?;
        match self.reachable(host, found, |address| on(&Host::Address(address)).is_some()) {
            Ok(addresses) => {
                let mut pinned = self.pinned.lock().unwrap_or_else(PoisonError::into_inner);
                for address in &addresses {
                    let pin = (*address, host.clone());
                    if !pinned.contains(&pin) {
                        pinned.push(pin);
                    }
                }
                Ok(addresses)
            }
            Err((ip, what)) => {
                let literal = Target { host: Host::Address(ip), ..granted };
                self.deny_address(&tried, ip, what, &literal);
                Err(Refused::NotPublic)
            }
        }
    }

    /// Whether a guest's socket may exchange data with an address.
    pub(super) fn may_reach(&self, scheme: Scheme, address: SocketAddr) -> bool {
        let granted = |host: Host| {
            let target = Target { scheme, host, port: address.port() };
            self.grants.net().iter().any(|rule| rule.allows(&target))
        };
        granted(Host::Address(address.ip())) || self.pinned_names(address.ip()).into_iter().any(granted)
    }

    /// Records that a guest's socket was kept from an address.
    pub(super) fn deny_socket(&self, scheme: Scheme, address: SocketAddr) {
        let named = self.pinned_names(address.ip()).into_iter().next();
        let host = named.unwrap_or(Host::Address(address.ip()));
        let target = Target { scheme, host, port: address.port() };
        self.deny_target(&format!("to reach {target}"), "which no grant covers", &target.to_string());
    }

    /// Records a use of the network that no line can grant.
    pub(super) fn deny_for_good(&self, tried: &str, reason: &str) {
        self.denials.record(Denial::new(DenialKind::Net, tried, reason));
    }

    fn pinned_names(&self, address: IpAddr) -> Vec<Host> {
        let pinned = self.pinned.lock().unwrap_or_else(PoisonError::into_inner);
        pinned.iter().filter(|(ip, _)| *ip == address).map(|(_, host)| host.clone()).collect()
    }

    async fn addresses_of(&self, host: &Host) -> io::Result<Vec<IpAddr>> {
        match host {
            Host::Address(address) => Ok(vec![*address]),
            // By definition this machine, whatever a resolver says.
            Host::Name(_) if host.is_localhost() => Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]),
            Host::Name(name) => {
                let found = self.grants.resolver().resolve(name).await?;
                if found.is_empty() {
                    return Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
                }
                Ok(found)
            }
        }
    }

    /// The addresses that may be connected to, or one that may not and what it is.
    ///
    /// An address that is not public is reached only if it is granted itself, or if the granted name is `localhost`
    /// and it is a loopback address.
    fn reachable(
        &self,
        host: &Host,
        found: Vec<IpAddr>,
        granted_itself: impl Fn(IpAddr) -> bool,
    ) -> Result<Vec<IpAddr>, (IpAddr, &'static str)> {
        let mut refused = None;
        let mut reachable = Vec::with_capacity(found.len());
        for address in found {
            match not_public(address) {
                Some(_) if host.is_localhost() && address.is_loopback() => reachable.push(address),
                Some(_) if granted_itself(address) => reachable.push(address),
                Some(what) => refused = Some((address, what)),
                None => reachable.push(address),
            }
        }
        match refused {
            Some(refused) if reachable.is_empty() => Err(refused),
            _ => Ok(reachable),
        }
    }

    fn deny_target(&self, tried: &str, reason: &str, entry: &str) {
        let line = self.grants.line_with("net", &[entry]);
        self.denials.record(Denial::new(DenialKind::Net, tried, reason).with_grant(line));
    }

    fn deny_address(&self, tried: &str, address: IpAddr, what: &str, literal: &Target) {
        let reason = format!("which resolves to {address}, {what}, and that address is not granted itself");
        let line = self.grants.line_with("net", &[&literal.to_string()]);
        self.denials.record(Denial::new(DenialKind::Net, tried, &reason).with_grant(line));
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
