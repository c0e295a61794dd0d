//! HTTP with model servers, which all adapters share: URLs, requests, streams of events, error texts,
//! lists. The request bodies and the events are those of each adapter.
//!
//! An exchange is without retries, redirects or time limits except the connect timeout. The run that waits
//! for the answer decides its time limit.

mod answer_stream;
mod api;
pub mod decoder;
mod endpoint_info;
pub mod event_decoder;
mod half_joiner;
mod http_errors;
mod list_backoff;
pub mod other_protocol;
#[cfg(test)]
pub mod testing;
mod urls;

use std::{io, time::Duration};

use reqwest::{Client, RequestBuilder, Response, Url, header};
use serde_json::Value;

use self::other_protocol::{kind_of_protocol, protocol_name};
pub use self::{
    api::{Api, PageError},
    endpoint_info::EndpointInfo,
};
use crate::EndpointConfig;
use parlor_model::{
    ModelError,
    ModelErrorKind::{Refused, StreamBroken, Unavailable},
    lenient_json,
};
use parlor_web::http_client::{
    causes::{causes, innermost_cause},
    client_for, public_client_for,
};

/// The time limit and the maximum size for reading an error body.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_ERROR_BODY_BYTES: usize = 64 << 10;

/// The maximum size of one page of a list.
const MAX_LIST_BYTES: usize = 16 << 20;

/// The hint for an error without a server message.
const RETRY_HINT: &str = "Try again. If the error persists, check that server's log.";

/// Sends requests and converts all failures to [`ModelError`]s that name the endpoint.
#[derive(Clone, Debug)]
pub struct Transport {
    http: Client,
    pub endpoint: EndpointInfo,
}

impl Transport {
    pub fn new(url: &Url, facts: EndpointInfo, config: &EndpointConfig) -> Result<Self, ModelError> {
        let client = match config.is_guarded {
            true => public_client_for(url),
            false => client_for(url),
        };
        let client = client.connect_timeout(config.connect_timeout);
        let http = client.build().map_err(|error| {
            let what = format!("cannot be used: {}", facts.quote(&innermost_cause(&error)));
            facts.error(
                Refused,
                "endpoint_unreachable",
                what,
                "Install your system's CA certificates.",
            )
        })?;
        Ok(Self {
            http,
            endpoint: facts,
        })
    }

    pub fn http(&self) -> &Client {
        &self.http
    }

    /// Sends a request and returns a response with a 2xx status. `model` is the requested model, if any.
    pub async fn send(&self, request: RequestBuilder, model: Option<&str>) -> Result<Response, ModelError> {
        let request = request
            .build()
            .map_err(|error| self.invalid_request(format!("can't be called: {}", error.without_url())))?;
        let response = self
            .http
            .execute(request)
            .await
            .map_err(|error| self.unreachable(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(self.status_error(response, model).await)
    }

    /// Returns the error of a response with a status other than 2xx. `model` is the requested model, if any.
    pub async fn status_error(&self, response: Response, model: Option<&str>) -> ModelError {
        let (status, headers) = (response.status(), response.headers().clone());
        let body = read_error_body(response).await;
        http_errors::error_for_status(&self.endpoint, model, status, &headers, &body)
    }

    /// Reads a list, which may have invalid JSON.
    pub async fn read_list(&self, mut response: Response) -> Result<Value, ModelError> {
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => break,
                Err(error) => return Err(self.connection_lost(Some(&error), false)),
            }
            if body.len() > MAX_LIST_BYTES {
                let what = format!("sent a list of more than {MAX_LIST_BYTES} bytes.");
                return Err(self.invalid_response(what));
            }
        }
        lenient_json::parse_bytes(&body)
            .map_err(|_| self.invalid_response("gave an answer that is not JSON."))
    }

    /// Returns the error of a response that is no answer of a model.
    pub fn invalid_response(&self, predicate: impl Into<String>) -> ModelError {
        self.endpoint
            .error(Refused, "bad_answer", predicate.into(), self.base_url_hint())
    }

    /// Returns the error of a request that can't be built.
    pub fn invalid_request(&self, predicate: impl Into<String>) -> ModelError {
        self.endpoint
            .error(Refused, "request_refused", predicate.into(), self.base_url_hint())
    }

    /// Returns the hint for a possibly wrong base URL; empty if no setting has it.
    fn base_url_hint(&self) -> String {
        match self.endpoint.base_url_source.as_str() {
            "" => String::new(),
            source => format!(
                "{} It {}.",
                self.endpoint.url_question(source),
                self.endpoint.url_form()
            ),
        }
    }

    /// Returns the error of an invalid part in a valid answer. `has_content` is true if there was content
    /// before it.
    pub fn invalid_part(&self, predicate: impl Into<String>, has_content: bool) -> ModelError {
        let hint = match has_content {
            true => "The answer so far is kept. That server's log may have details.",
            false => "That server's log may have details.",
        };
        self.endpoint
            .error(StreamBroken, "bad_answer", predicate.into(), hint)
    }

    /// Returns the error of an answer in another protocol.
    pub fn unsupported_protocol(&self, name: &str) -> ModelError {
        let set = match self.endpoint.base_url_source.as_str() {
            "" => "its base URL",
            source => source,
        };
        let hint = match kind_of_protocol(name) {
            Some(kind) => format!("Give this endpoint kind = \"{}\" in the settings.", kind.as_str()),
            None if name.starts_with("Cohere") => {
                format!("Set {set} to Cohere's compatible API: https://api.cohere.ai/compatibility/v1.")
            }
            None => format!("Set {set} to the address of its OpenAI-compatible API, if it has one."),
        };
        let own = protocol_name(self.endpoint.kind);
        let what = format!("speaks another protocol ({name}) than {own}.");
        self.endpoint.error(Refused, "other_protocol", what, hint)
    }

    /// Returns the error of a response with status 200 and no content.
    pub fn empty_answer(&self) -> ModelError {
        let what = "accepted the request and then ended its answer before it had begun.";
        self.endpoint
            .error(Unavailable { after: None }, "endpoint_failed", what, RETRY_HINT)
    }

    /// Returns the error of a lost or closed connection. Before the first content it counts as no answer.
    pub fn connection_lost(&self, error: Option<&reqwest::Error>, has_content: bool) -> ModelError {
        let why = match error.map(|error| innermost_cause(error)) {
            Some(cause) => format!(" ({})", self.endpoint.quote(&cause)),
            None => String::new(),
        };
        let what = format!("broke off its answer before the end{why}.");
        let (kind, hint) = match has_content {
            true => (StreamBroken, "The answer so far is kept."),
            false => (Unavailable { after: None }, RETRY_HINT),
        };
        self.endpoint.error(kind, "broke_off", what, hint)
    }

    pub fn timed_out(&self, waited: Duration) -> ModelError {
        let what = format!(
            "cannot be reached: it does not answer ({} s waited).",
            waited.as_secs()
        );
        let kind = Unavailable { after: None };
        self.endpoint
            .error(kind, "endpoint_unreachable", what, self.endpoint.url_hint())
    }

    fn unreachable(&self, error: &reqwest::Error) -> ModelError {
        let unavailable = Unavailable { after: None };
        if error.is_builder() {
            let what = format!(
                "can't be called: {}.",
                self.endpoint.quote(&innermost_cause(error))
            );
            return self.endpoint.error(Refused, "request_refused", what, "");
        }
        if !error.is_connect() && !error.is_timeout() {
            let what = format!(
                "closed the connection without an answer ({}).",
                innermost_cause(error)
            );
            return self
                .endpoint
                .error(unavailable, "endpoint_failed", what, self.endpoint.url_hint());
        }
        let cause = describe_cause(error);
        let what = format!("cannot be reached: {}.", self.endpoint.quote(&cause));
        self.endpoint.error(
            unavailable,
            "endpoint_unreachable",
            what,
            self.endpoint.url_hint(),
        )
    }
}

/// Reads as much of an error body as arrives in time.
pub async fn read_error_body(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    let read = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_ERROR_BODY_BYTES {
                break;
            }
        }
    };
    // A partial body is better than none.
    let _ = tokio::time::timeout(ERROR_BODY_TIMEOUT, read).await;
    body.truncate(MAX_ERROR_BODY_BYTES);
    body
}

/// Returns the media type of a response, without its parameters.
pub fn media_type(response: &Response) -> String {
    let value = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    value
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

/// The reason why a connection failed.
pub enum ConnectionFailure<'a> {
    Tls(&'a rustls::Error),
    Refused,
    TimedOut,
    Reset,
    /// The name of the host is not known, with the words of the system.
    UnknownHost(String),
    Other,
}

impl<'a> ConnectionFailure<'a> {
    pub fn new(error: &'a reqwest::Error) -> Self {
        for cause in causes(error).skip(1) {
            if let Some(error) = cause.downcast_ref() {
                return Self::Tls(error);
            }
            match cause.downcast_ref::<io::Error>().map(io::Error::kind) {
                Some(io::ErrorKind::ConnectionRefused) => return Self::Refused,
                Some(io::ErrorKind::TimedOut) => return Self::TimedOut,
                Some(io::ErrorKind::ConnectionReset) => return Self::Reset,
                _ => {}
            }
            if cause.to_string().contains("dns error") {
                return Self::UnknownHost(innermost_cause(cause));
            }
        }
        match error.is_timeout() {
            true => Self::TimedOut,
            false => Self::Other,
        }
    }
}

fn describe_cause(error: &reqwest::Error) -> String {
    match ConnectionFailure::new(error) {
        ConnectionFailure::Tls(error) => describe_tls_error(error),
        ConnectionFailure::Refused => "nothing answers there (connection refused)".into(),
        ConnectionFailure::TimedOut => "it does not answer (timed out)".into(),
        ConnectionFailure::Reset => "it closed the connection".into(),
        ConnectionFailure::UnknownHost(cause) => format!("its host name is not known ({cause})"),
        ConnectionFailure::Other => innermost_cause(error),
    }
}

fn describe_tls_error(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(cause) => format!("its TLS certificate is not trusted ({cause:?})"),
        rustls::Error::InvalidMessage(_) => {
            "it does not speak TLS (should the address begin with http:// instead of https://?)".into()
        }
        other => format!("TLS failed ({other})"),
    }
}
