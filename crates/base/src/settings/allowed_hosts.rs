//! The hosts that the operator exempts from the check of IP addresses.

use std::str::FromStr;

use reqwest::Url;

/// An entry that does not name a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is neither a host nor host:port, such as wiki.intranet or 10.0.0.7:8080")]
pub struct InvalidHostError(pub String);

/// A list of hosts, compared exactly: a name matches neither its subdomains nor its addresses, and an address
/// matches no name.
#[derive(Clone, Debug, Default)]
pub struct AllowedHosts(Vec<AllowedHost>);

/// A host as spelled in URLs, on one port or on any.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AllowedHost {
    host: String,
    port: Option<u16>,
}

impl AllowedHosts {
    pub fn parse(hosts: &[String]) -> Result<Self, InvalidHostError> {
        hosts
            .iter()
            .map(|host| host.parse())
            .collect::<Result<_, _>>()
            .map(Self)
    }

    pub fn contains(&self, url: &Url) -> bool {
        self.0.iter().any(|allowed| {
            url.host_str() == Some(&allowed.host)
                && (allowed.port.is_none() || allowed.port == url.port_or_known_default())
        })
    }
}

impl FromStr for AllowedHost {
    type Err = InvalidHostError;

    fn from_str(text: &str) -> Result<Self, InvalidHostError> {
        let bad = || InvalidHostError(text.to_owned());
        // An IPv6 address is in brackets, with or without a port.
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port.parse().map_err(|_| bad())?)),
            _ => (text, None),
        };
        // Characters that end or precede the host in a URL.
        if host.contains(['/', '\\', '?', '#', '@']) {
            return Err(bad());
        }
        let url = Url::parse(&format!("http://{host}/")).map_err(|_| bad())?;
        match url.host_str() {
            Some(host) if url.port().is_none() => Ok(Self {
                host: host.to_owned(),
                port,
            }),
            _ => Err(bad()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(allowed: &str, url: &str) -> bool {
        AllowedHosts::parse(&[allowed.into()])
            .unwrap()
            .contains(&url.parse().unwrap())
    }

    #[test]
    fn allows_any_port_for_a_bare_host() {
        assert!(allows("wiki.intranet", "http://wiki.intranet/page"));
        assert!(allows("Wiki.Intranet", "https://wiki.intranet:8443/"));
        assert!(allows("[::1]", "http://[0:0::1]:8080/"));
    }

    #[test]
    fn allows_only_the_named_port() {
        assert!(allows("wiki.intranet:80", "http://wiki.intranet/"));
        assert!(allows("wiki.intranet:443", "https://wiki.intranet/"));
        assert!(!allows("wiki.intranet:80", "https://wiki.intranet/"));
        assert!(!allows("[::1]:8080", "http://[::1]:8081/"));
    }

    #[test]
    fn rejects_similar_hosts() {
        for url in [
            "http://a.wiki.intranet/",
            "http://intranet/",
            "http://wiki.intranet./",
            "http://wiki.intranet.example.org/",
            "http://xwiki.intranet/",
        ] {
            assert!(!allows("wiki.intranet", url), "{url}");
        }
    }

    #[test]
    fn rejects_invalid_hosts() {
        for text in [
            "",
            "http://wiki.intranet",
            "wiki/page",
            "me@wiki",
            "wiki:port",
            "wiki:",
            "::1",
            "a:1:2",
        ] {
            assert_eq!(
                AllowedHosts::parse(&[text.into()]).unwrap_err(),
                InvalidHostError(text.into())
            );
        }
    }
}
