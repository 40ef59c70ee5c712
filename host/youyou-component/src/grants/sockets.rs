//! `wasi:sockets`: connecting to granted hosts and looking up their names; nothing else of it is ever allowed.
//!
//! A guest may create a socket, so that the host hears where it was to lead. Whether it leads there, the check on every
//! address decides. Listening, and binding to a port of its own choice, no line can grant.

use std::{net::SocketAddr, sync::Arc};

use wasmtime::component::{HasData, Resource};
use wasmtime_wasi::{
    async_trait,
    p2::{
        DynPollable, Network, Pollable, SocketError, SocketResult,
        bindings::sockets::{
            ip_name_lookup::{self, HostResolveAddressStream, ResolveAddressStream},
            network::{self, ErrorCode, IpAddress},
        },
        subscribe,
    },
    runtime::{AbortOnDropJoinHandle, spawn},
    sockets::{SocketAddrUse, WasiSocketsCtxView},
};

use super::{
    gate::{Gate, Refused},
    net::{Host, Scheme},
};

/// The check that runs before a socket uses an address.
pub(super) fn may_use(gate: &Gate, address: SocketAddr, purpose: SocketAddrUse) -> bool {
    let any_port = address.ip().is_unspecified() && address.port() == 0;
    match purpose {
        // What the system does by itself before it connects or sends.
        SocketAddrUse::TcpBind | SocketAddrUse::UdpBind if any_port => true,
        SocketAddrUse::TcpBind | SocketAddrUse::UdpBind => {
            gate.deny_for_good(&format!("to bind to {address}"), "but a component only connects to others");
            false
        }
        SocketAddrUse::TcpListen | SocketAddrUse::TcpAccept => {
            gate.deny_for_good(&format!("to listen on {address}"), "but a component only connects to others");
            false
        }
        SocketAddrUse::TcpConnect => may_reach(gate, Scheme::Tcp, address),
        SocketAddrUse::UdpSend => may_reach(gate, Scheme::Udp, address),
        // A stranger's datagram is dropped without a word: the guest did nothing.
        SocketAddrUse::UdpReceive => gate.may_reach(Scheme::Udp, address),
    }
}

fn may_reach(gate: &Gate, scheme: Scheme, address: SocketAddr) -> bool {
    let allowed = gate.may_reach(scheme, address);
    if !allowed {
        gate.deny_socket(scheme, address);
    }
    allowed
}

/// Names [`LookupView`] to the linker.
pub(super) struct GuardedLookup;

impl HasData for GuardedLookup {
    type Data<'a> = LookupView<'a>;
}

/// What the functions below work on.
pub(super) struct LookupView<'a> {
    pub(super) inner: WasiSocketsCtxView<'a>,
    pub(super) gate: &'a Arc<Gate>,
}

/// A running lookup. It stands in the table where `wasmtime-wasi`'s own, which cannot be made here, would stand.
enum Lookup {
    Running(AbortOnDropJoinHandle<Result<Found, ErrorCode>>),
    Done(Result<Found, ErrorCode>),
}

type Found = std::vec::IntoIter<std::net::IpAddr>;

#[async_trait]
impl Pollable for Lookup {
    async fn ready(&mut self) {
        if let Self::Running(task) = self {
            *self = Self::Done(task.await);
        }
    }
}

fn ours(stream: &Resource<ResolveAddressStream>) -> Resource<Lookup> {
    Resource::new_borrow(stream.rep())
}

impl ip_name_lookup::Host for LookupView<'_> {
    fn resolve_addresses(
        &mut self,
        network: Resource<Network>,
        name: String,
    ) -> SocketResult<Resource<ResolveAddressStream>> {
        // Having a network is what entitles to ask at all.
        self.inner.table.get(&network)?;
        let host = Host::parse(&name).ok_or(ErrorCode::InvalidArgument)?;
        let gate = Arc::clone(self.gate);
        let lookup = spawn(async move {
            gate.look_up(&host).await.map(Vec::into_iter).map_err(|refused| match refused {
                Refused::NotGranted | Refused::NotPublic => ErrorCode::AccessDenied,
                Refused::Unresolvable(error) => {
                    tracing::debug!("looking up {host} failed: {error}");
                    ErrorCode::NameUnresolvable
                }
            })
        });
        let number = self.inner.table.push(Lookup::Running(lookup))?.rep();
        Ok(Resource::new_own(number))
    }
}

impl HostResolveAddressStream for LookupView<'_> {
    fn resolve_next_address(&mut self, stream: Resource<ResolveAddressStream>) -> SocketResult<Option<IpAddress>> {
        let lookup = self.inner.table.get_mut(&ours(&stream))?;
        if let Lookup::Running(task) = lookup
            && let Some(done) = wasmtime_wasi::runtime::poll_noop(std::pin::Pin::new(task))
        {
            *lookup = Lookup::Done(done);
        }
        match lookup {
            Lookup::Running(_) => Err(ErrorCode::WouldBlock.into()),
            Lookup::Done(Ok(found)) => Ok(found.next().map(IpAddress::from)),
            Lookup::Done(Err(error)) => Err(SocketError::from(*error)),
        }
    }

    fn subscribe(&mut self, stream: Resource<ResolveAddressStream>) -> wasmtime::Result<Resource<DynPollable>> {
        subscribe(self.inner.table, ours(&stream))
    }

    fn drop(&mut self, stream: Resource<ResolveAddressStream>) -> wasmtime::Result<()> {
        self.inner.table.delete(Resource::<Lookup>::new_own(stream.rep()))?;
        Ok(())
    }
}

/// The linker asks for this, to turn errors of the functions above into codes.
impl network::Host for LookupView<'_> {
    fn convert_error_code(&mut self, error: SocketError) -> wasmtime::Result<ErrorCode> {
        self.inner.convert_error_code(error)
    }

    fn network_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        self.inner.network_error_code(error)
    }
}

impl network::HostNetwork for LookupView<'_> {
    fn drop(&mut self, network: Resource<Network>) -> wasmtime::Result<()> {
        network::HostNetwork::drop(&mut self.inner, network)
    }
}
