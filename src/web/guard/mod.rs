//! An HTTP client for addresses that nobody vouches for. It never connects to an address inside.
//!
//! - What is checked is what is connected to: [`resolver`] checks every address of a name and hands exactly these to
//!   the connection, so no name can mean something else a moment later. An address written out never meets the
//!   resolver: [`target`] checks it, for the first address and for each redirect, which are followed by hand. Where
//!   the connection went is checked once more before anything is read.
//! - Inside is all that is not plainly public: [`address`] has the ranges.
//! - GET only, no cookies, no `Referer`, no credentials, no other addresses' answers in memory.
//! - No proxy, not even the environment's: a proxy would resolve and connect where nothing here could check it.
//! - Each fetch is limited in time as a whole, in redirects and in bytes ([`body`]).
//!
//! The hosts in [`WebConfig::allowed_hosts`] are exempt from the check of their addresses, and from nothing else.

mod address;
mod body;
mod client;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod hostile_urls;
mod resolver;
mod target;
#[cfg(test)]
pub mod tests;

pub use self::client::{Download, WebClient, WebClientError, WebConfig};
