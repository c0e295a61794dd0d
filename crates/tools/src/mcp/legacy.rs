//! Detects servers of the older transport, HTTP+SSE of 2024-11-05, which Parlor does not support,
//! for a clear error message.

use std::time::Duration;

use reqwest::header;

use super::http;
use parlor_base::settings::mcp::SecretVariables;

/// The error message for such a server.
pub const LEGACY_TRANSPORT_ERROR: &str = "it speaks the older HTTP+SSE transport of MCP (2024-11-05), which Parlor does not know: name its address for \
     streamable HTTP, if it has one (it often ends with /mcp), or update the server";

/// Maximum time until the server begins its stream.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

/// Maximum number of bytes read of the stream.
const MAX_PROBE_BYTES: usize = 4 << 10;

/// Returns `true` if a server begins a stream with the event that only such servers send.
pub async fn is_legacy(url: &str, headers: &SecretVariables) -> bool {
    tokio::time::timeout(PROBE_TIMEOUT, begins_with_endpoint(url, headers))
        .await
        .ok()
        .flatten()
        .unwrap_or_default()
}

/// Returns true if the stream begins with the event `endpoint`; `None` if there is no response or it breaks off.
async fn begins_with_endpoint(url: &str, headers: &SecretVariables) -> Option<bool> {
    let (client, url, headers) = http::client(url, headers).ok()?;
    let request = client.get(url).headers(headers.into_iter().collect());
    let mut response = request
        .header(header::ACCEPT, "text/event-stream")
        .send()
        .await
        .ok()?;
    let media_type = response.headers().get(header::CONTENT_TYPE)?.to_str().ok()?;
    if !response.status().is_success() || !media_type.starts_with("text/event-stream") {
        return Some(false);
    }
    let mut beginning = Vec::new();
    while beginning.len() < MAX_PROBE_BYTES {
        beginning.extend_from_slice(&response.chunk().await.ok()??);
        if is_endpoint_event(&String::from_utf8_lossy(&beginning)) {
            return Some(true);
        }
    }
    Some(false)
}

fn is_endpoint_event(stream: &str) -> bool {
    let mut lines = stream.lines();
    lines.any(|line| {
        line.strip_prefix("event:")
            .is_some_and(|event| event.trim() == "endpoint")
    })
}

#[cfg(test)]
mod tests {
    use super::is_endpoint_event;

    #[test]
    fn detects_the_legacy_endpoint_event() {
        assert!(is_endpoint_event(
            ": hello\n\nevent: endpoint\ndata: /messages?id=1\n\n"
        ));
        assert!(!is_endpoint_event("event: message\ndata: endpoint\n\n"));
    }
}
