//! The HTTP transport to an MCP server.

use std::{borrow::Cow, collections::HashMap, io, sync::Arc};

use futures::{StreamExt, TryStreamExt, stream::BoxStream};
use reqwest::{
    Client, Response, StatusCode, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION},
    redirect::Policy,
};
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage},
    transport::{
        StreamableHttpClientTransport,
        common::http_header::{EVENT_STREAM_MIME_TYPE, HEADER_SESSION_ID, JSON_MIME_TYPE},
        streamable_http_client::{
            HttpStatusError, SseError, StreamableHttpClient, StreamableHttpClientTransportConfig,
            StreamableHttpError, StreamableHttpPostResponse,
        },
    },
};
use sse_stream::{Sse, SseStream};

use super::{MAX_MESSAGE_BYTES, lenient, listed::first_line, server::CONNECT_TIMEOUT};
use parlor_base::settings::mcp::SecretVariables;
use parlor_web::http_client::client_for;

/// Creates the transport for a server.
///
/// # Errors
///
/// If the URL or a header is invalid.
pub fn transport(
    url: &str,
    headers: &SecretVariables,
) -> Result<StreamableHttpClientTransport<McpHttpClient>, String> {
    let (client, url, headers) = client(url, headers)?;
    let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(headers)
        .max_sse_event_size(MAX_MESSAGE_BYTES);
    Ok(StreamableHttpClientTransport::with_client(
        McpHttpClient(client),
        config,
    ))
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
    let client = client_for(&url)
        .redirect(redirects_within_origin())
        .connect_timeout(CONNECT_TIMEOUT)
        .build();
    let client = client.map_err(|error| error.to_string())?;
    Ok((client, url, headers))
}

/// Maximum number of redirects of one request.
const MAX_REDIRECTS: usize = 3;

/// Follows the redirects that keep a request as it is, within the origin: from `/mcp` to `/mcp/`. Any other one could take the
/// headers elsewhere, or turn a POST into a GET.
fn redirects_within_origin() -> Policy {
    Policy::custom(|attempt| {
        let keeps_request = matches!(
            attempt.status(),
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
        );
        let previous = attempt.previous();
        let stays = previous
            .last()
            .is_some_and(|from| from.origin() == attempt.url().origin());
        if keeps_request && stays && previous.len() <= MAX_REDIRECTS {
            attempt.follow()
        } else {
            attempt.stop()
        }
    })
}

fn header(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some((name.parse().ok()?, value))
}

/// Maximum number of bytes of a response that is not a stream, as in rmcp.
const MAX_RESPONSE_BYTES: usize = 16 << 20;

/// Maximum length of a response that is quoted in an error, in bytes.
const MAX_QUOTED_BYTES: usize = 200;

type Headers = HashMap<HeaderName, HeaderValue>;
type HttpError = StreamableHttpError<reqwest::Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// rmcp's client, which reads the responses leniently. rmcp parses a response that is not a stream before others can see it,
/// so the requests whose responses are of that kind are sent here.
#[derive(Clone)]
pub struct McpHttpClient(Client);

impl McpHttpClient {
    /// Sends a request, and reads the response leniently.
    async fn send(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        max_event_bytes: usize,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let mut request = self
            .0
            .post(uri)
            .headers(headers.into_iter().collect())
            .header(ACCEPT, format!("{EVENT_STREAM_MIME_TYPE}, {JSON_MIME_TYPE}"))
            .header(CONTENT_TYPE, JSON_MIME_TYPE)
            .body(serde_json::to_vec(message)?);
        if let Some(session) = &session {
            request = request.header(HEADER_SESSION_ID, &**session);
        }
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await?;
        if response.status() == StatusCode::NOT_FOUND && session.is_some() {
            return Err(HttpError::SessionExpired);
        }
        let header = |name| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        let (session, media_type) = (header(HEADER_SESSION_ID), header(CONTENT_TYPE.as_str()));
        let is_type = |expected| media_type.as_deref().is_some_and(|it| it.starts_with(expected));
        if response.status().is_success() && is_type(EVENT_STREAM_MIME_TYPE) {
            let events = readable(limited_events(response, max_event_bytes));
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        if response.status().is_success() && !is_type(JSON_MIME_TYPE) {
            return Err(HttpError::UnexpectedContentType(media_type));
        }
        let message = read_message(response).await?;
        Ok(StreamableHttpPostResponse::Json(message, session))
    }
}

impl StreamableHttpClient for McpHttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        self.post_message_with_max_sse_event_size(uri, message, session, token, headers, MAX_MESSAGE_BYTES)
            .await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        max_event_bytes: usize,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        match &message {
            JsonRpcMessage::Request(request)
                if matches!(
                    request.request,
                    ClientRequest::InitializeRequest(_)
                        | ClientRequest::ListToolsRequest(_)
                        | ClientRequest::CallToolRequest(_)
                        | ClientRequest::ReadResourceRequest(_)
                ) =>
            {
                self.send(&uri, &message, session, token, headers, max_event_bytes)
                    .await
            }
            _ => {
                let client = &self.0;
                client
                    .post_message_with_max_sse_event_size(
                        uri,
                        message,
                        session,
                        token,
                        headers,
                        max_event_bytes,
                    )
                    .await
            }
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        self.0.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, HttpError> {
        self.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, MAX_MESSAGE_BYTES)
            .await
    }

    /// Opens a stream, which may go on with the response to a request.
    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
        max_event_bytes: usize,
    ) -> Result<Events, HttpError> {
        let client = &self.0;
        let events = client
            .get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, max_event_bytes)
            .await?;
        Ok(readable(events))
    }
}

fn readable(events: Events) -> Events {
    let rewrite = |mut event: Sse| {
        if let Some(data) = &mut event.data
            && let Cow::Owned(other) = lenient::make_readable(data)
        {
            *data = other;
        }
        event
    };
    events.map_ok(rewrite).boxed()
}

/// Returns the events of a response, each with a limited size.
fn limited_events(response: Response, max_bytes: usize) -> Events {
    let mut size = EventSize::default();
    let bytes = response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(io::Error::other)?;
        if size.max_after(&chunk) > max_bytes {
            return Err(io::Error::other("its response is too long"));
        }
        Ok::<_, io::Error>(chunk)
    });
    SseStream::from_bytes_stream(bytes).boxed()
}

/// The size of the event that a stream is in.
#[derive(Default)]
struct EventSize {
    bytes: usize,
    /// True if the line has no character yet. An empty line ends an event.
    is_line_empty: bool,
}

impl EventSize {
    /// Returns the largest size of an event up to the end of a chunk.
    fn max_after(&mut self, chunk: &[u8]) -> usize {
        let mut max = self.bytes;
        for byte in chunk {
            self.bytes += 1;
            match byte {
                b'\n' if self.is_line_empty => self.bytes = 0,
                b'\n' => self.is_line_empty = true,
                b'\r' => {}
                _ => self.is_line_empty = false,
            }
            max = max.max(self.bytes);
        }
        max
    }
}

/// Reads a response that is not a stream: the result, or an error of the server.
async fn read_message(mut response: Response) -> Result<ServerJsonRpcMessage, HttpError> {
    let status = response.status();
    if status.is_redirection() {
        let location = response.headers().get(LOCATION);
        let location = location
            .and_then(|value| value.to_str().ok())
            .unwrap_or("nowhere");
        let location = first_line(location, MAX_QUOTED_BYTES);
        return Err(HttpError::UnexpectedServerResponse(
            format!(
                "HTTP {status}: it redirects to {location}; if that is its address, name it in the settings"
            )
            .into(),
        ));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_RESPONSE_BYTES {
            let max_size = MAX_RESPONSE_BYTES;
            return Err(HttpError::ResponseBodyTooLarge { max_size });
        }
        body.extend_from_slice(&chunk);
    }
    let body = String::from_utf8_lossy(&body);
    let message = lenient::parse(&body);
    let is_refused = matches!(
        status,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS
    );
    match message {
        Ok(message) if status.is_success() => Ok(message),
        Ok(message @ JsonRpcMessage::Error(_)) if !is_refused => Ok(message),
        Err(error) if status.is_success() => Err(error.into()),
        _ if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
            Err(HttpStatusError::new(status.as_u16(), None).into())
        }
        _ => {
            let said = first_line(&body, MAX_QUOTED_BYTES);
            Err(HttpError::UnexpectedServerResponse(
                format!("HTTP {status}: {said}").into(),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EventSize;

    #[test]
    fn limits_the_size_of_each_event() {
        for length in [1, 3, 100] {
            let mut size = EventSize::default();
            let stream = b"data: 1\r\n\r\ndata: 12345\ndata: 6\n\nid: 1\n";
            let sizes = stream.chunks(length).map(|chunk| size.max_after(chunk));
            assert_eq!(sizes.max(), Some(20), "in chunks of {length}");
        }
    }
}
