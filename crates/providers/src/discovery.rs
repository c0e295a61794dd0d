//! Discovery of model servers on this machine at their usual ports, for an installation without configured
//! endpoints.
//!
//! A candidate is an ordinary endpoint. It is asked each time the model list is made, and no response is not an
//! error. So a server that starts later appears by itself.

use std::{net::SocketAddr, time::Duration};

use reqwest::Url;

use super::EndpointConfig;
use parlor_web::http_client::is_loopback;

/// The time limit for a candidate's model list. Candidates are on this machine.
pub const DISCOVERY_TIMEOUT: Duration = Duration::from_millis(300);

/// Returns the candidates without Parlor itself, which may listen on the usual port of a model server.
/// Otherwise the model list would request itself without end.
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
