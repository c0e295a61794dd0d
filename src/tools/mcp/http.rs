//! The HTTP transport to an MCP server.

use std::collections::HashMap;

use reqwest::{
    Client, Url,
    header::{HeaderName, HeaderValue},
};
use rmcp::transport::{
    StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig,
};

use super::{MAX_MESSAGE_BYTES, server::CONNECT_TIMEOUT};
use crate::{http_client::client_for, settings::mcp::SecretVariables};

/// Creates the transport for a server.
///
/// # Errors
///
/// If the URL or a header is invalid.
pub fn transport(
    url: &str,
    headers: &SecretVariables,
) -> Result<StreamableHttpClientTransport<Client>, String> {
    let (client, url, headers) = client(url, headers)?;
    let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(headers)
        .max_sse_event_size(MAX_MESSAGE_BYTES);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// Returns a client for a server, its URL, and the headers of each request.
///
/// # Errors
///
/// If the URL or a header is invalid.
pub fn client(
    url: &str,
    headers: &SecretVariables,
) -> Result<(Client, Url, HashMap<HeaderName, HeaderValue>), String> {
    let url: Url = url.parse().map_err(|error| format!("its url is none: {error}"))?;
    let headers: HashMap<_, _> = headers
        .values
        .iter()
        .map(|(name, value)| {
            header(name, &value.0).ok_or_else(|| format!("it can't be sent a header “{name}”"))
        })
        .collect::<Result<_, _>>()?;
    let client = client_for(&url).connect_timeout(CONNECT_TIMEOUT).build();
    let client = client.map_err(|error| error.to_string())?;
    Ok((client, url, headers))
}

fn header(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some((name.parse().ok()?, value))
}
