//! Errors of opening a connection to an MCP server.

use std::error::Error;

use rmcp::{service::ClientInitializeError, transport::streamable_http_client::StreamableHttpError};

use parlor_web::http_client::causes::causes_with;

/// The reason why a connection could not be opened.
#[derive(Debug)]
pub struct OpenError {
    pub message: String,
    /// True if the discovery request may be the reason: the handshake, on a new connection, may work.
    pub may_lack_discovery: bool,
    /// True if the server itself has refused the connection in words.
    pub is_refusal: bool,
    /// The HTTP status, if it was not a success.
    pub status: Option<u16>,
}

impl OpenError {
    /// Creates the error. `has_discovery` is true if the connection began with discovery.
    pub fn new(error: &ClientInitializeError, has_discovery: bool) -> Self {
        Self {
            message: describe_open_error(error),
            may_lack_discovery: has_discovery && may_lack_discovery(error),
            is_refusal: matches!(
                error,
                ClientInitializeError::JsonRpcError(_)
                    | ClientInitializeError::NoCompatibleProtocolVersion { .. }
            ),
            status: status(error),
        }
    }
}

/// Returns `true` unless the server can't have received the discovery request. Servers without discovery reject it in every
/// way: with an error, with a response of another kind, by closing the connection, or by exiting (the Rust SDK before
/// version 3). After a rejection, some take no handshake on the same connection.
fn may_lack_discovery(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::TransportError { error, .. } => !is_connecting(error),
        ClientInitializeError::Cancelled | ClientInitializeError::NoPreferredProtocolVersion => false,
        _ => true,
    }
}

/// Returns the HTTP status with which the last request was refused.
fn status(error: &ClientInitializeError) -> Option<u16> {
    let error = match error {
        ClientInitializeError::TransportError { error, .. } => error,
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => return status(fallback),
        _ => return None,
    };
    causes(error).find_map(|cause| match cause.downcast_ref()? {
        StreamableHttpError::<reqwest::Error>::HttpStatus(error) => Some(error.status),
        // rmcp has it nowhere else.
        StreamableHttpError::UnexpectedServerResponse(text) => {
            text.strip_prefix("HTTP ")?.get(..3)?.parse().ok()
        }
        _ => None,
    })
}

fn describe_open_error(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => innermost_cause(error),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => describe_open_error(fallback),
        ClientInitializeError::ConnectionClosed(_) => "it went away before it had introduced itself".into(),
        error => format!("it does not introduce itself: {}", innermost_cause(error)),
    }
}

/// Returns `true` if the error occurred while connecting, so that no request can have been sent.
pub fn is_connecting(error: &(dyn Error + 'static)) -> bool {
    causes(error)
        .filter_map(<dyn Error>::downcast_ref::<reqwest::Error>)
        .any(reqwest::Error::is_connect)
}

/// Returns the innermost cause of an error.
pub fn innermost_cause(error: &(dyn Error + 'static)) -> String {
    causes(error).last().unwrap_or(error).to_string()
}

/// Iterates over an error and its causes, outermost first.
pub fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    causes_with(error, |error| match error.downcast_ref()? {
        StreamableHttpError::<reqwest::Error>::Client(inner) => Some(inner),
        _ => None,
    })
}
