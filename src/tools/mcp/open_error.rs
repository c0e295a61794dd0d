//! Errors of opening a connection to an MCP server.

use std::error::Error;

use rmcp::{service::ClientInitializeError, transport::streamable_http_client::StreamableHttpError};

use crate::http_client::causes::causes_with;

/// The reason why a connection could not be opened.
#[derive(Debug)]
pub struct OpenError {
    pub message: String,
    /// True if the response to the discovery request was something else: the handshake may work.
    pub is_odd_discovery: bool,
    /// The HTTP status, if it was not a success.
    pub status: Option<u16>,
}

impl OpenError {
    /// Creates the error. `has_discovery` is true if the connection began with discovery.
    pub fn new(error: &ClientInitializeError, has_discovery: bool) -> Self {
        Self {
            message: describe_open_error(error),
            is_odd_discovery: has_discovery && is_odd_discovery(error),
            status: status(error),
        }
    }
}

/// Returns `true` if the response to the discovery request was neither an error nor a list of
/// versions.
fn is_odd_discovery(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::UncorrelatedErrorResponse { .. }
        | ClientInitializeError::ConflictInitResponseId(..) => true,
        // A response that can't be read, as opposed to no response.
        ClientInitializeError::TransportError { error, .. } => {
            !causes(error).any(<dyn Error>::is::<reqwest::Error>)
        }
        _ => false,
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
