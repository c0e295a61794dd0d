//! The client of a request: its address, and if it uses TLS. Named proxies report both; from any other address these headers
//! mean nothing.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::http::HeaderMap;
use ipnet::IpNet;

/// The other end of a connection. An extension of each request.
#[derive(Clone, Copy, Debug)]
pub struct PeerAddress(pub SocketAddr);

/// The client of a request. An extension of each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    pub address: IpAddr,
    /// True if a named proxy received the request over TLS.
    pub is_tls: bool,
    /// True if a named proxy sent the request.
    pub is_proxied: bool,
}

impl Client {
    pub fn new(peer: Option<PeerAddress>, headers: &HeaderMap, proxies: &[IpNet]) -> Self {
        let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| {
            peer.0.ip().to_canonical()
        });
        let is_proxy = |address: IpAddr| proxies.iter().any(|network| network.contains(&address));
        if !is_proxy(peer) {
            return Self {
                address: peer,
                is_tls: false,
                is_proxied: false,
            };
        }
        Self {
            address: forwarded_address(headers, is_proxy).unwrap_or(peer),
            is_tls: last_value(headers, "x-forwarded-proto")
                .is_some_and(|scheme| scheme.eq_ignore_ascii_case("https")),
            is_proxied: true,
        }
    }
}

/// Returns the last address that is not a proxy's. Those before it were sent by the client, who can write anything.
fn forwarded_address(headers: &HeaderMap, is_proxy: impl Fn(IpAddr) -> bool) -> Option<IpAddr> {
    let mut found = None;
    for value in headers.get_all("x-forwarded-for").iter().rev() {
        // Only the part that the proxy appended need be text.
        for address in value.as_bytes().rsplit(|&byte| byte == b',') {
            let Some(address) = parse_address(address) else {
                return found;
            };
            let address = address.to_canonical();
            found = Some(address);
            if !is_proxy(address) {
                return found;
            }
        }
    }
    found
}

fn parse_address(bytes: &[u8]) -> Option<IpAddr> {
    str::from_utf8(bytes).ok()?.trim().parse().ok()
}

/// Returns the last value of a list, which the proxy itself has written.
fn last_value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let list = headers.get_all(name).iter().next_back()?.as_bytes();
    let value = list.rsplit(|&byte| byte == b',').next()?;
    Some(str::from_utf8(value).ok()?.trim())
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn client(peer: &str, headers: &[(&'static str, &str)]) -> Client {
        let headers = headers.iter().map(|(name, value)| {
            (
                name.parse::<HeaderName>().unwrap(),
                HeaderValue::from_bytes(value.as_bytes()).unwrap(),
            )
        });
        let headers: HeaderMap = headers.collect();
        let peer = PeerAddress(SocketAddr::new(peer.parse().unwrap(), 1));
        Client::new(Some(peer), &headers, &["10.0.0.0/8".parse().unwrap()])
    }

    #[test]
    fn only_named_proxies_are_believed() {
        let forwarded = [("x-forwarded-for", "192.0.2.7"), ("x-forwarded-proto", "https")];
        let proxied = client("10.1.1.1", &forwarded);
        assert_eq!(
            proxied,
            Client {
                address: "192.0.2.7".parse().unwrap(),
                is_tls: true,
                is_proxied: true
            }
        );
        let direct = client("192.0.2.1", &forwarded);
        assert_eq!(
            direct,
            Client {
                address: "192.0.2.1".parse().unwrap(),
                is_tls: false,
                is_proxied: false
            }
        );
        assert!(client("::ffff:10.1.1.1", &forwarded).is_proxied);
    }

    #[test]
    fn takes_the_last_address_that_is_no_proxy() {
        let cases = [
            ("6.6.6.6, 192.0.2.7, 10.2.2.2", "192.0.2.7"),
            ("10.3.3.3, 10.2.2.2", "10.3.3.3"),
            ("6.6.6.6, nonsense, 10.2.2.2", "10.2.2.2"),
            ("nonsense", "10.1.1.1"),
            ("", "10.1.1.1"),
        ];
        for (forwarded, expected) in cases {
            let found = client("10.1.1.1", &[("x-forwarded-for", forwarded)]).address;
            assert_eq!(found.to_string(), expected, "{forwarded}");
        }
        assert!(!client("10.1.1.1", &[("x-forwarded-proto", "https, http")]).is_tls);
        // The proxy appends its part to what a client sent, which need not be text.
        let appended = [
            ("x-forwarded-for", "\u{ff}, 192.0.2.7"),
            ("x-forwarded-proto", "\u{ff}, https"),
        ];
        let found = client("10.1.1.1", &appended);
        assert_eq!(
            (found.address.to_string().as_str(), found.is_tls),
            ("192.0.2.7", true)
        );
    }
}
