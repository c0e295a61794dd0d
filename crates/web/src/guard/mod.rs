//! An HTTP client for untrusted URLs. It never connects to an internal IP address.
//!
//! - The checked addresses are the ones that are connected to: [`resolver`] checks every address of
//!   a name and passes exactly these to the connection, so a name can't change in between. A
//!   literal IP address bypasses the resolver: [`target`] checks it, for the first URL and for
//!   each redirect; redirects are followed by hand. The connection's peer is checked once more
//!   before anything is read.
//! - Every address that is not plainly public counts as internal: [`address`] has the ranges.
//! - GET only, no cookies, no `Referer`, no credentials, no cache.
//! - No proxy, not even the environment's: a proxy would resolve and connect without these checks.
//! - Each fetch has limits for its whole time, its redirects and its bytes ([`body`]).
//!
//! The hosts in [`WebConfig::allowed_hosts`] are exempt from the check of their addresses, and from
//! nothing else.

mod address;
mod body;
mod client;
mod resolver;
mod target;
#[cfg(test)]
pub mod tests;

pub use self::{
    client::{Download, WebClient, WebClientError, WebConfig},
    resolver::guarded_resolver,
};
