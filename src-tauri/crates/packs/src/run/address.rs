//! Decides where a request may go. The check applies to the IP address of the connection, not to
//! the name. A name that resolves to this computer or the local network is refused, even if an
//! earlier lookup returned another address.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use contract::address::{can_resolve_to, may_reach};
use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Resolves host names to addresses.
pub trait Lookup: Send + Sync {
    /// Returns all addresses of a name.
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The system's resolver.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
        })
    }
}

/// The error for a name whose addresses are all forbidden for this tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the address lies on this computer or in the local network")]
pub(crate) struct PrivateAddress;

/// The resolver of a client, which returns only permitted addresses.
pub(crate) struct Guarded {
    pub(crate) lookup: Arc<dyn Lookup>,
    pub(crate) private: bool,
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let (looking, private) = (self.lookup.lookup(name.as_str().to_owned()), self.private);
        let named = name.as_str().to_owned();
        Box::pin(async move {
            let found = looking.await?;
            let allowed: Vec<SocketAddr> = found
                .iter()
                .filter(|ip| may_reach(**ip, private) && can_resolve_to(&named, **ip))
                .map(|ip| SocketAddr::new(*ip, 0))
                .collect();
            if allowed.is_empty() && !found.is_empty() {
                return Err(PrivateAddress.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}
