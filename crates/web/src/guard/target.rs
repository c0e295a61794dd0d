//! Checks that a URL may be fetched, by its text alone.

use std::net::IpAddr;

use reqwest::Url;

use super::address;
use crate::{FetchError, error::quote_line};
use parlor_base::settings::AllowedHosts;

/// The ports that browsers block (the Fetch standard's "bad ports"): servers of other protocols use
/// them and might misinterpret a request.
const BLOCKED_PORTS: [u16; 83] = [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
    515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723,
    2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/// A URL that passed the check of its text.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedUrl {
    pub url: Url,
    /// True if the host may be internal.
    pub is_exempt: bool,
}

impl CheckedUrl {
    /// Parses an untrusted URL. The parser is the browsers' one: `0x7f.1`, `2130706433` and
    /// `１２７。０。０。１` are 127.0.0.1 from here on.
    pub fn parse(text: &str, allowed: &AllowedHosts) -> Result<Self, FetchError> {
        let text = text.trim();
        let url = Url::parse(text).map_err(|_| FetchError::InvalidUrl(quote_line(text)))?;
        Self::check(url, allowed)
    }

    /// Returns the target of a redirect from this URL.
    pub fn redirect(&self, location: &[u8], allowed: &AllowedHosts) -> Result<Self, FetchError> {
        let location = str::from_utf8(location).map_err(|_| FetchError::InvalidRedirect)?;
        let url = self.url.join(location).map_err(|_| FetchError::InvalidRedirect)?;
        Self::check(url, allowed)
    }

    fn check(mut url: Url, allowed: &AllowedHosts) -> Result<Self, FetchError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(FetchError::UnsupportedScheme(quote_line(url.scheme())));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(FetchError::HasCredentials);
        }
        if let Some(port) = url.port()
            && BLOCKED_PORTS.contains(&port)
        {
            return Err(FetchError::BlockedPort(port));
        }
        url.set_fragment(None);
        let exempt = allowed.contains(&url);
        if !exempt && literal_ip(&url).is_some_and(|ip| !address::is_public(ip)) {
            return Err(FetchError::InternalAddress(quoted_host(&url)));
        }
        Ok(Self {
            url,
            is_exempt: exempt,
        })
    }

    /// Returns the host for an error text, shortened to one line.
    pub fn quoted_host(&self) -> String {
        quoted_host(&self.url)
    }
}

fn quoted_host(url: &Url) -> String {
    quote_line(url.host_str().unwrap_or_default())
}

/// Returns the IP address of a host that is not a name.
fn literal_ip(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_matches(['[', ']']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, FetchError> {
        CheckedUrl::parse(text, &AllowedHosts::default()).map(|target| target.url.into())
    }

    #[test]
    fn accepts_web_urls_without_fragment() {
        assert_eq!(
            parse("  https://example.org:8443/a?b=c#d "),
            Ok("https://example.org:8443/a?b=c".into())
        );
    }

    #[test]
    fn rejects_other_urls() {
        assert_eq!(
            parse("example.org"),
            Err(FetchError::InvalidUrl("example.org".into()))
        );
        assert_eq!(
            parse("file:///etc/passwd"),
            Err(FetchError::UnsupportedScheme("file".into()))
        );
        assert_eq!(
            parse("http://me:secret@example.org/"),
            Err(FetchError::HasCredentials)
        );
        assert_eq!(parse("http://example.org:25/"), Err(FetchError::BlockedPort(25)));
        assert_eq!(parse("https://example.org:22/"), Err(FetchError::BlockedPort(22)));
    }

    #[test]
    fn checks_redirect_targets() {
        let none = AllowedHosts::default();
        let from = CheckedUrl::parse("https://example.org/a/b", &none).unwrap();
        let to = |location: &str| {
            from.redirect(location.as_bytes(), &none)
                .map(|target| target.url.into())
        };
        assert_eq!(to("../c"), Ok("https://example.org/c".into()));
        assert_eq!(
            to("//example.net"),
            Ok::<String, _>("https://example.net/".into())
        );
        assert_eq!(
            to("//127.1/"),
            Err(FetchError::InternalAddress("127.0.0.1".into()))
        );
        assert_eq!(
            to("ftp://example.org/"),
            Err(FetchError::UnsupportedScheme("ftp".into()))
        );
        assert_eq!(to("http://"), Err(FetchError::InvalidRedirect));
        assert_eq!(from.redirect(b"\xff", &none), Err(FetchError::InvalidRedirect));
    }

    #[test]
    fn blocked_ports_are_sorted() {
        assert!(BLOCKED_PORTS.is_sorted());
    }
}
