//! The classification of IP addresses as public or internal. Addresses that no web page can have
//! count as internal.
//!
//! It follows IANA's registries of special-purpose addresses (RFC 6890). A range that nobody needs
//! is refused even where it may be harmless.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Returns `true` for an address of the public internet that is not this machine's own.
pub fn is_public(ip: IpAddr) -> bool {
    let public = match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    };
    public && !is_own_address(ip)
}

/// Returns `true` for an address of this machine. It may be public, and its servers may offer more
/// to local clients than to others. The kernel knows its addresses: an own address is reached from
/// itself. "Connecting" a datagram socket sends nothing.
fn is_own_address(ip: IpAddr) -> bool {
    let any: IpAddr = match ip {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let from = UdpSocket::bind(SocketAddr::new(any, 0)).and_then(|socket| {
        socket.connect(SocketAddr::new(ip, 80))?;
        socket.local_addr()
    });
    // Without a route, no connection will find one either.
    from.is_ok_and(|from| from.ip() == ip)
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, d] = ip.octets();
    !matches!(
        (a, b, c, d),
        (0 | 10 | 127, ..)                // this network (0.0.0.0 is this machine), private, loopback
            | (100, 64..=127, ..)         // carrier-grade NAT; metadata of some clouds
            | (169, 254, ..)              // link-local; metadata of most clouds
            | (172, 16..=31, ..)          // private
            | (192, 0, 0, _)              // protocol assignments
            | (192, 0, 2, _)              // documentation
            | (192, 88, 99, _)            // relays of 6to4
            | (192, 168, ..)              // private
            | (198, 18..=19, ..)          // benchmarks
            | (198, 51, 100, _)           // documentation
            | (203, 0, 113, _)            // documentation
            | (168, 63, 129, 16)          // a public address that is every Azure machine's host
            | (224..=255, ..) // multicast, reserved, broadcast
    )
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    match ip.segments() {
        // NAT64: how a network without IPv4 reaches all of it. The embedded address decides.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            let [a, b] = high.to_be_bytes();
            let [c, d] = low.to_be_bytes();
            is_public_v4(Ipv4Addr::new(a, b, c, d))
        }
        // Teredo, benchmarks, ORCHID and other protocols' assignments.
        [0x2001, 0..=0x1ff, ..] => false,
        [0x2001, 0xdb8, ..] => false,           // documentation
        [0x2002, ..] => false,                  // 6to4, which wraps an IPv4 address
        [0x3fff, 0..=0xfff, ..] => false,       // documentation
        [.., 0 | 0x200, 0x5efe, _, _] => false, // ISATAP, which wraps an IPv4 address in any prefix
        // Global unicast. All else is loopback, IPv4-mapped and -compatible, NAT64 with a local
        // prefix, unique local, link-local, site-local, multicast, or not assigned yet.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(ip: &str) -> bool {
        is_public_v4(ip.parse().unwrap())
    }

    fn v6(ip: &str) -> bool {
        is_public_v6(ip.parse().unwrap())
    }

    #[test]
    fn internal_ranges_have_exact_bounds() {
        for (first, last) in [
            ("0.0.0.0", "0.255.255.255"),
            ("10.0.0.0", "10.255.255.255"),
            ("100.64.0.0", "100.127.255.255"),
            ("127.0.0.0", "127.255.255.255"),
            ("168.63.129.16", "168.63.129.16"),
            ("169.254.0.0", "169.254.255.255"),
            ("172.16.0.0", "172.31.255.255"),
            ("192.0.0.0", "192.0.0.255"),
            ("192.0.2.0", "192.0.2.255"),
            ("192.88.99.0", "192.88.99.255"),
            ("192.168.0.0", "192.168.255.255"),
            ("198.18.0.0", "198.19.255.255"),
            ("198.51.100.0", "198.51.100.255"),
            ("203.0.113.0", "203.0.113.255"),
            ("224.0.0.0", "255.255.255.255"),
        ] {
            assert!(!v4(first), "{first}");
            assert!(!v4(last), "{last}");
            let (first, last): (Ipv4Addr, Ipv4Addr) = (first.parse().unwrap(), last.parse().unwrap());
            if let Some(before) = u32::from(first).checked_sub(1) {
                assert!(is_public_v4(before.into()), "before {first}");
            }
            if let Some(after) = u32::from(last).checked_add(1) {
                assert!(is_public_v4(after.into()), "after {last}");
            }
        }
    }

    #[test]
    fn public_servers_are_public() {
        assert!(v4("1.1.1.1") && v4("93.184.216.34") && v4("223.255.255.255"));
        assert!(v6("2606:4700::1111") && v6("2a00:1450:4001::200e") && v6("2001:4860:4860::8888"));
        assert!(v6("64:ff9b::1.1.1.1"), "through NAT64");
    }

    #[test]
    fn treats_non_global_ipv6_as_internal() {
        for ip in [
            "::",
            "::1",
            "::127.0.0.1",
            "::1.1.1.1",
            "::ffff:127.0.0.1",
            "::ffff:1.1.1.1",
            "::ffff:0:127.0.0.1",
            "64:ff9b::127.0.0.1",
            "64:ff9b::10.1.2.3",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::1.1.1.1",
            "64:ff9b::1:1.1.1.1",
            "100::1",
            "2001::1",
            "2001:0:4136:e378:8000:63bf:80ff:fffe",
            "2001:2::1",
            "2001:1ff:ffff::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2002:101:101::1",
            "2606:4700::5efe:10.0.0.1",
            "2606:4700::200:5efe:10.0.0.1",
            "3fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fdff:ffff::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        ] {
            assert!(!v6(ip), "{ip}");
        }
    }

    #[test]
    fn detects_own_addresses() {
        assert!(is_own_address(Ipv4Addr::LOCALHOST.into()));
        assert!(!is_own_address(Ipv4Addr::new(1, 1, 1, 1).into()));
        // The machine's address towards the internet, if it has one.
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        if socket.connect("1.1.1.1:80").is_ok() {
            assert!(is_own_address(socket.local_addr().unwrap().ip()));
        }
    }
}
