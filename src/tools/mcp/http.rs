//! A server that is asked over HTTP.

use std::collections::HashMap;

use reqwest::{
    Client, Url,
    header::{HeaderName, HeaderValue},
    redirect,
};
use rmcp::transport::{
    StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig,
};

use super::{MESSAGE_BYTES, server::CONNECTING};
use crate::{
    providers::{install_tls, openai::is_loopback},
    settings::mcp::Variables,
};

/// Makes ready to ask a server.
///
/// # Errors
///
/// If the address or a header can't be one.
pub fn transport(url: &str, headers: &Variables) -> Result<StreamableHttpClientTransport<Client>, String> {
    let url: Url = url.parse().map_err(|error| format!("its url is none: {error}"))?;
    let headers: HashMap<_, _> = headers
        .values
        .iter()
        .map(|(name, value)| {
            header(name, &value.0).ok_or_else(|| format!("it can't be sent a header “{name}”"))
        })
        .collect::<Result<_, _>>()?;
    install_tls();
    let client = client(&url).map_err(|error| error.to_string())?;
    let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(headers)
        .max_sse_event_size(MESSAGE_BYTES);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

fn client(url: &Url) -> reqwest::Result<Client> {
    let mut client = Client::builder()
        .connect_timeout(CONNECTING)
        // A redirect would take the headers along, which may be secret.
        .redirect(redirect::Policy::none())
        .user_agent(concat!("parlor/", env!("CARGO_PKG_VERSION")));
    if is_loopback(url) {
        // HTTP_PROXY is not meant for this machine, even where NO_PROXY forgets it.
        client = client.no_proxy();
    }
    if url.scheme() == "http" {
        // Nothing to check: don't load, and don't depend on, the system's certificates.
        client = client.tls_certs_only([]);
    }
    client.build()
}

fn header(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some((name.parse().ok()?, value))
}
