//! Resolves names. The connection uses exactly the addresses that are checked here, and does not
//! resolve again.

use std::{net::SocketAddr, sync::Arc};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address;

/// The name resolves to an internal address.
#[derive(Debug, thiserror::Error)]
#[error("the name resolves to an internal address")]
pub struct InternalNameError;

/// The name does not resolve.
#[derive(Debug, thiserror::Error)]
#[error("the name is not known")]
pub struct UnknownNameError;

/// Refuses names with an internal address, even with one among others: a public site has no reason
/// for that.
pub struct GuardedResolver(pub Arc<dyn Resolve>);

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let addresses = self.0.resolve(name);
        Box::pin(async move {
            // A port given by the resolver would override the scheme's.
            let addresses: Vec<_> = addresses
                .await
                .map_err(|_| UnknownNameError)?
                .map(|address| SocketAddr::new(address.ip(), 0))
                .collect();
            if addresses.is_empty() {
                return Err(UnknownNameError.into());
            }
            if addresses.iter().any(|address| !address::is_public(address.ip())) {
                return Err(InternalNameError.into());
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// Returns the system's resolver with the check of the addresses.
pub fn guarded_resolver() -> Arc<GuardedResolver> {
    Arc::new(GuardedResolver(Arc::new(SystemResolver)))
}

/// The system's resolver, which does not check the addresses.
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((name.as_str(), 0))
                .await
                .map_err(|_| UnknownNameError)?;
            Ok(Box::new(addresses.collect::<Vec<_>>().into_iter()) as Addrs)
        })
    }
}
