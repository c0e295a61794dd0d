//! The HTTP transport to an MCP server.

use std::{borrow::Cow, collections::HashMap, io, sync::Arc};

use futures::{StreamExt, TryStreamExt, stream::BoxStream};
use reqwest::{
    Client, Response, StatusCode, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue},
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

use super::{MAX_MESSAGE_BYTES, server::CONNECT_TIMEOUT, task_only::remove_task_only_tools};
use crate::{http_client::client_for, settings::mcp::SecretVariables};

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
    let client = client_for(&url).connect_timeout(CONNECT_TIMEOUT).build();
    let client = client.map_err(|error| error.to_string())?;
    Ok((client, url, headers))
}

fn header(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some((name.parse().ok()?, value))
}

/// Maximum number of bytes of a response that is not a stream, as in rmcp.
const MAX_RESPONSE_BYTES: usize = 16 << 20;

type Headers = HashMap<HeaderName, HeaderValue>;
type HttpError = StreamableHttpError<reqwest::Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// rmcp's client, without the tools that can only be called as tasks. rmcp parses a response that is not a stream before
/// others can see it, so lists of tools are requested here.
#[derive(Clone)]
pub struct McpHttpClient(Client);

impl McpHttpClient {
    /// Sends a request for a list of tools.
    async fn list_tools(
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
            let events = without_task_only_tools(limited_events(response, max_event_bytes));
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
                if matches!(request.request, ClientRequest::ListToolsRequest(_)) =>
            {
                self.list_tools(&uri, &message, session, token, headers, max_event_bytes)
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

    /// Opens a stream, which may go on with a list of tools.
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
        Ok(without_task_only_tools(events))
    }
}

fn without_task_only_tools(events: Events) -> Events {
    let filter = |mut event: Sse| {
        if let Some(data) = &mut event.data
            && let Cow::Owned(other) = remove_task_only_tools(data)
        {
            *data = other;
        }
        event
    };
    events.map_ok(filter).boxed()
}

/// Returns the events of a response to a request for tools. The limit is that of all its bytes.
fn limited_events(response: Response, max_bytes: usize) -> Events {
    let mut left = max_bytes;
    let bytes = response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(io::Error::other)?;
        left = left
            .checked_sub(chunk.len())
            .ok_or_else(|| io::Error::other("its list of tools is too long"))?;
        Ok::<_, io::Error>(chunk)
    });
    SseStream::from_bytes_stream(bytes).boxed()
}

/// Reads a response that is not a stream: the result, or an error of the server.
async fn read_message(mut response: Response) -> Result<ServerJsonRpcMessage, HttpError> {
    let status = response.status();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_RESPONSE_BYTES {
            let max_size = MAX_RESPONSE_BYTES;
            return Err(HttpError::ResponseBodyTooLarge { max_size });
        }
        body.extend_from_slice(&chunk);
    }
    let message = serde_json::from_str(&remove_task_only_tools(&String::from_utf8_lossy(&body)));
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
        _ => Err(HttpError::UnexpectedServerResponse(
            format!("HTTP {status}").into(),
        )),
    }
}
