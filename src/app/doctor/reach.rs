//! How Parlor is reached: the address, the host names, proxies and TLS.

use std::net::SocketAddr;

use parlor_base::settings::{AuthMode, Settings};

use super::{Examined, Finding};

/// The state of the address that the settings name.
pub enum Listening {
    /// This process listens there.
    Here(SocketAddr),
    /// Nobody listens there, and this user may.
    Free,
    /// Parlor listens there.
    ByParlor,
    /// It can't be used, for this reason.
    Blocked(String),
}

/// The request of the page that shows the result.
pub struct PageRequest {
    pub host: String,
    pub is_loopback: bool,
    pub is_tls: bool,
    pub is_proxied: bool,
    /// True if it has a header that proxies add.
    pub has_proxy_header: bool,
}

pub fn check(examined: &Examined<'_>) -> [Finding; 4] {
    let settings = examined.settings;
    [
        port(settings, &examined.listening),
        hosts(settings, &examined.stored_hosts),
        proxies(settings, examined.request.as_ref()),
        tls(settings, examined.request.as_ref()),
    ]
}

fn port(settings: &Settings, listening: &Listening) -> Finding {
    const SUBJECT: &str = "Port";
    let addr = settings.server.addr;
    match listening {
        Listening::Here(addr) => Finding::works(SUBJECT, format!("Parlor listens on {addr}.")),
        Listening::ByParlor => Finding::works(SUBJECT, format!("Parlor is running at {addr}.")),
        Listening::Free => Finding::works(SUBJECT, format!("{addr} is free.")),
        Listening::Blocked(why) => Finding::fails(
            SUBJECT,
            format!("{addr} can’t be used: {why}."),
            "End the program that listens there, or choose another address (setting server.addr, PARLOR_ADDR, --addr).",
        ),
    }
}

fn hosts(settings: &Settings, stored: &[String]) -> Finding {
    const SUBJECT: &str = "Hosts";
    let configured = &settings.server.allowed_hosts;
    let names: Vec<&str> = configured.iter().chain(stored).map(String::as_str).collect();
    let has_accounts = settings.accounts.auth != AuthMode::None;
    let mut accepted = String::from("loopback names");
    if has_accounts {
        accepted += ", IP addresses";
    }
    for name in &names {
        accepted += ", ";
        accepted += name;
    }
    let text = format!("Accepted: {accepted}.");
    if has_accounts && names.is_empty() && !settings.server.proxies.is_empty() {
        return Finding::warning(
            SUBJECT,
            text,
            "A proxy is named, but no name under which it is reached: add it to server.allowed_hosts.",
        );
    }
    Finding::works(SUBJECT, text)
}

fn proxies(settings: &Settings, request: Option<&PageRequest>) -> Finding {
    const SUBJECT: &str = "Proxy headers";
    let proxies = &settings.server.proxies;
    if let Some(request) = request
        && request.has_proxy_header
        && !request.is_proxied
    {
        return Finding::warning(
            SUBJECT,
            "This page came through a proxy that server.proxies does not name: its headers do not count, so all its users share one \
             address, and cookies are not limited to TLS.",
            "Add the address from which the proxy reaches Parlor to server.proxies, such as 127.0.0.1.",
        );
    }
    if proxies.is_empty() {
        return Finding::off(SUBJECT, "No proxy is named; headers of proxies do not count.");
    }
    let named: Vec<String> = proxies.iter().map(ToString::to_string).collect();
    let text = format!("They count from {}.", named.join(", "));
    match proxies.iter().any(|network| network.prefix_len() == 0) {
        true => Finding::warning(
            SUBJECT,
            text,
            "Name the proxy’s own address: from everywhere, everybody can write these headers.",
        ),
        false => Finding::works(SUBJECT, text),
    }
}

fn tls(settings: &Settings, request: Option<&PageRequest>) -> Finding {
    const SUBJECT: &str = "TLS";
    let mend =
        "Put a proxy with TLS in front, such as Caddy (docs/install.md), and name it in server.proxies.";
    match request {
        Some(request) if request.is_tls => {
            Finding::works(SUBJECT, format!("{} is reached with TLS.", request.host))
        }
        Some(request) if request.is_loopback => Finding::works(SUBJECT, "Not needed on this machine."),
        Some(request) => Finding::warning(
            SUBJECT,
            format!(
                "{} is reached without TLS: what is written crosses the network in the clear.",
                request.host
            ),
            mend,
        ),
        None if settings.server.addr.ip().is_loopback() => Finding::works(
            SUBJECT,
            "Other machines reach Parlor by a proxy only, which has to add it.",
        ),
        None => Finding::warning(
            SUBJECT,
            format!("Other machines reach {} without TLS.", settings.server.addr),
            mend,
        ),
    }
}
