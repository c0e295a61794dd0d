//! Model servers that run on this machine at their usual ports, offered when no endpoint is set.
//!
//! A candidate is an endpoint like any other; it is asked anew each time the list is made, and it is no
//! problem if nothing answers. So a server that is started later appears by itself.

use std::{net::SocketAddr, time::Duration};

use reqwest::Url;

use super::EndpointConfig;
use crate::http_client::is_loopback;

/// How long a candidate may take to list its models. It is on this machine.
pub const DISCOVERY_TIMEOUT: Duration = Duration::from_millis(300);

/// The candidates without Parlor itself, which may have been told to listen where a model server usually does: asking oneself for
/// models while one makes the list of models would never end.
pub fn exclude_self(candidates: Vec<EndpointConfig>, own: Option<SocketAddr>) -> Vec<EndpointConfig> {
    let is_self = |candidate: &EndpointConfig| {
        let url = Url::parse(&candidate.base_url).ok().filter(is_loopback);
        let port = url.and_then(|url| url.port_or_known_default());
        own.is_some_and(|own| {
            (own.ip().is_loopback() || own.ip().is_unspecified()) && port == Some(own.port())
        })
    };
    candidates
        .into_iter()
        .filter(|candidate| !is_self(candidate))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excludes_own_address() {
        let names = |own: Option<&str>| -> Vec<String> {
            let own = own.map(|own| own.parse().unwrap());
            let candidates = [("ollama", 11434), ("llama.cpp", 8080), ("lmstudio", 1234)]
                .map(|(name, port)| EndpointConfig::new(name, format!("http://127.0.0.1:{port}/v1")));
            exclude_self(candidates.into(), own)
                .into_iter()
                .map(|candidate| candidate.name)
                .collect()
        };
        assert_eq!(names(None), ["ollama", "llama.cpp", "lmstudio"]);
        assert_eq!(names(Some("127.0.0.1:3000")), ["ollama", "llama.cpp", "lmstudio"]);
        assert_eq!(names(Some("127.0.0.1:8080")), ["ollama", "lmstudio"]);
        assert_eq!(names(Some("[::1]:8080")), ["ollama", "lmstudio"]);
        assert_eq!(names(Some("0.0.0.0:1234")), ["ollama", "llama.cpp"]);
    }
}
