//! The origin of a request: the host name that the client uses for Parlor, and the page that sent the
//! request.
//!
//! Each value of a repeated header is checked: one that is not allowed rejects the request.

use std::net::IpAddr;

use axum::http::{HeaderMap, Method, Uri, header, uri::Authority};

use super::security::is_rpc;
use crate::app::Hosts;
use parlor_protocol::{ApiError, ErrorCode};

/// Prefixes of paths that are not pages. Links of other sites cannot open them.
const NON_PAGE_PREFIXES: [&str; 6] = ["/api", "/v1", "/rpc", "/send", "/frame", "/pkg"];

/// The head of a request.
#[derive(Clone, Copy)]
pub struct RequestHead<'a> {
    pub method: &'a Method,
    pub uri: &'a Uri,
    pub headers: &'a HeaderMap,
}

fn forbidden(reason: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::Forbidden, reason)
}

impl RequestHead<'_> {
    /// Returns the host that the request names.
    ///
    /// # Errors
    ///
    /// If it is neither a loopback name nor among `allowed` (setting `server.allowed_hosts`) nor, with accounts, an IP address: a
    /// page of another site can make its own name resolve to loopback.
    pub fn check_host(self, allowed: &Hosts) -> Result<Authority, ApiError> {
        let host = self.named_host()?;
        // An absolute URL in the request line takes precedence over the header Host.
        for name in [Some(&host), self.uri.authority()].into_iter().flatten() {
            let is_accepted = is_loopback(name)
                || allowed.contains(name.as_str())
                || allowed.accepts_addresses() && ip_address(name).is_some();
            if !is_accepted {
                return Err(forbidden(format!(
                    "Parlor was asked as “{name}”, and answers only under a loopback name, such as http://127.0.0.1 or \
                     http://localhost{}. If you reach it through a proxy under that name, add \"{name}\" to the setting \
                     server.allowed_hosts and start Parlor again.",
                    if allowed.accepts_addresses() {
                        ", and under IP addresses"
                    } else {
                        ""
                    }
                )));
            }
        }
        Ok(host)
    }

    /// Returns the host that the request names, whatever it is.
    ///
    /// # Errors
    ///
    /// If it names none, or several.
    pub fn named_host(self) -> Result<Authority, ApiError> {
        let mut values = self.headers.get_all(header::HOST).iter();
        let (first, second) = (values.next(), values.next());
        if second.is_some() {
            return Err(forbidden("The request has more than one Host."));
        }
        let named = match first {
            Some(value) => value.to_str().ok().and_then(|host| host.parse().ok()),
            None => self.uri.authority().cloned(),
        };
        named.ok_or_else(|| forbidden("The request has no valid Host."))
    }

    /// Checks that a request comes from a page of Parlor, or from no page at all. Pages of other sites may
    /// only link to Parlor's pages: merely loading one can send requests to other hosts, such as PubMed, and use up the rate limit.
    pub fn check_site(self, host: &Authority, allowed: &Hosts) -> Result<(), ApiError> {
        // Chromium sends an Origin for modules. Behind a proxy that sets Host, they must load all the same,
        // so that the page can show what is wrong. They contain no user data.
        let is_own_code =
            self.uri.path().starts_with("/pkg/") && self.has_only("sec-fetch-site", &["same-origin"]);
        if is_own_code {
            return Ok(());
        }
        // Over plain HTTP and under a name other than loopback, browsers identify the page of a GET request
        // by Referer at most.
        let says_site =
            self.headers.contains_key(header::ORIGIN) || self.headers.contains_key("sec-fetch-site");
        let named_by = if says_site || !is_rpc(self.uri.path()) {
            header::ORIGIN
        } else {
            header::REFERER
        };
        for page in self.headers.get_all(&named_by) {
            let page = page.to_str().unwrap_or_default();
            let (scheme, rest) = page.split_once("://").unwrap_or_default();
            // An Origin ends with its host.
            let end = rest.find('/').filter(|_| named_by == header::REFERER);
            let authority = &rest[..end.unwrap_or(rest.len())];
            let is_here = authority.eq_ignore_ascii_case(host.as_str()) || allowed.contains(authority);
            if !is_here || !matches!(scheme, "http" | "https") {
                return Err(cross_origin_error(authority, host));
            }
        }
        if self.is_cross_site() && !self.is_page_navigation() {
            return Err(forbidden("The request came from another site. Nothing was done."));
        }
        Ok(())
    }

    /// Returns true if the client wants to switch the protocol of this connection, as for WebSockets. `h2c`
    /// is ignored, as the standard allows: programs offer it unasked, and browsers never do.
    pub fn is_upgrade(self) -> bool {
        let is_h2c = |protocol: &str| protocol.trim().eq_ignore_ascii_case("h2c");
        let mut values = self.headers.get_all(header::UPGRADE).iter();
        self.headers.contains_key(header::SEC_WEBSOCKET_KEY)
            || values.any(|value| !value.to_str().is_ok_and(|value| value.split(',').all(is_h2c)))
    }

    /// Returns true if a page of another site opens this URL without a click.
    pub fn is_unclicked_cross_site(self) -> bool {
        self.is_cross_site() && !self.has_only("sec-fetch-user", &["?1"])
    }

    fn is_cross_site(self) -> bool {
        self.headers.contains_key("sec-fetch-site")
            && !self.has_only("sec-fetch-site", &["same-origin", "none"])
    }

    /// Returns true for a navigation to one of our pages. A page that is framed or preloaded is not: the user
    /// cannot see whose it is.
    fn is_page_navigation(self) -> bool {
        let path = self.uri.path();
        matches!(*self.method, Method::GET | Method::HEAD)
            && !NON_PAGE_PREFIXES
                .iter()
                .any(|beginning| path.starts_with(beginning))
            && self.has_only("sec-fetch-mode", &["navigate"])
            && self.has_only("sec-fetch-dest", &["document"])
            && !self.headers.contains_key("sec-purpose")
            && !self.headers.contains_key("purpose")
    }

    /// Returns true if a header is present and has only these values.
    fn has_only(self, name: &str, allowed: &[&str]) -> bool {
        let mut values = self.headers.get_all(name).iter().peekable();
        values.peek().is_some()
            && values.all(|value| {
                allowed
                    .iter()
                    .any(|allowed| value.as_bytes() == allowed.as_bytes())
            })
    }
}

fn cross_origin_error(authority: &str, host: &Authority) -> ApiError {
    let is_name = authority.parse::<Authority>().is_ok();
    forbidden(if is_name {
        format!(
            "The request came from a page at “{authority}”, and Parlor was asked as “{host}”. Nothing was done. If you reach Parlor \
             through a proxy under that name, add \"{authority}\" to the setting server.allowed_hosts and start Parlor again."
        )
    } else {
        "The request came from a page of another origin. Nothing was done.".into()
    })
}

/// Returns true if a host is a name that has to be listed to be accepted.
pub fn needs_listing(host: &Authority) -> bool {
    !is_loopback(host) && ip_address(host).is_none()
}

/// Returns true if a host is a loopback name or address.
pub fn is_loopback(authority: &Authority) -> bool {
    let is_name = authority.host().eq_ignore_ascii_case("localhost") && !authority.as_str().contains('@');
    is_name || ip_address(authority).is_some_and(|ip| ip.is_loopback())
}

/// Returns the IP address that a host is, if it is one.
pub fn ip_address(authority: &Authority) -> Option<IpAddr> {
    let ip = authority.host().trim_start_matches('[').trim_end_matches(']');
    ip.parse().ok().filter(|_| !authority.as_str().contains('@'))
}

#[cfg(test)]
mod tests;
