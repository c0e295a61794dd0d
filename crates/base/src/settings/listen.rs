//! The address to listen on: an IP address or a name, and a port.

use std::net::{SocketAddr, ToSocketAddrs};

use serde::{Deserialize, Deserializer, de::Error as _};

/// The accepted format, for error messages.
pub const ADDRESS_EXAMPLE: &str = "an address and port such as 127.0.0.1:7387 or localhost:7387";

/// Resolves an address. Of several, one that other machines can reach comes first, so that `Settings::check` sees it
/// and rejects it without accounts; then an IPv4 address.
///
/// # Errors
///
/// If the address is invalid or the name is unknown. The error is a text for people.
pub fn resolve(address: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = address.parse() {
        return Ok(address);
    }
    let is_address = address
        .rsplit_once(':')
        .is_some_and(|(name, port)| !name.is_empty() && port.parse::<u16>().is_ok());
    if !is_address {
        return Err(format!("“{address}” is not {ADDRESS_EXAMPLE}"));
    }
    let found = address.to_socket_addrs();
    let found = found.map_err(|error| format!("the name in “{address}” is not known ({error})"))?;
    choose_address(&found.collect::<Vec<_>>())
        .ok_or_else(|| format!("the name in “{address}” has no address"))
}

/// Returns an address that other machines can reach, if there is one; else an IPv4 address; else the first.
fn choose_address(found: &[SocketAddr]) -> Option<SocketAddr> {
    let elsewhere = found.iter().find(|address| !address.ip().is_loopback());
    let ipv4 = || found.iter().find(|address| address.is_ipv4());
    elsewhere.or_else(ipv4).or_else(|| found.first()).copied()
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let address = String::deserialize(deserializer)?;
    resolve(&address).map_err(D::Error::custom)
}

/// Reads an address that may be unset.
pub fn deserialize_optional<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<SocketAddr>, D::Error> {
    deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_localhost_to_loopback() {
        let address = resolve("localhost:7").unwrap();
        assert!(address.ip().is_loopback() && address.port() == 7, "{address}");
        assert_eq!(resolve("[::1]:7").unwrap(), "[::1]:7".parse().unwrap());
    }

    #[test]
    fn names_an_invalid_address() {
        for address in ["localhost", "7387", ":7387", "localhost:", "localhost:x", ""] {
            let error = resolve(address).unwrap_err();
            assert!(error.contains("127.0.0.1:7387"), "{error}");
        }
        let error = resolve("no-such-host.invalid:1").unwrap_err();
        assert!(error.contains("no-such-host.invalid:1"), "{error}");
    }

    #[test]
    fn prefers_a_non_loopback_address() {
        let of = |addresses: &[&str]| {
            let addresses: Vec<_> = addresses.iter().map(|address| address.parse().unwrap()).collect();
            choose_address(&addresses).map(|address| address.to_string())
        };
        assert_eq!(of(&["[::1]:1", "127.0.0.1:1"]).as_deref(), Some("127.0.0.1:1"));
        assert_eq!(of(&["[::1]:1"]).as_deref(), Some("[::1]:1"));
        assert_eq!(of(&["127.0.1.1:1", "10.0.0.7:1"]).as_deref(), Some("10.0.0.7:1"));
        assert_eq!(of(&[]), None);
    }
}
