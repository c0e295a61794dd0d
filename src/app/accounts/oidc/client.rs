//! Requests to the provider: without redirects, with limits on time and size.

use std::time::Duration;

use base64::{Engine, prelude::BASE64_STANDARD};
use reqwest::{Client, RequestBuilder, Response, Url, header};
use serde::{Deserialize, de::DeserializeOwned};

use parlor_protocol::url_text::encode_path;
use parlor_web::http_client::{causes::innermost_cause, client_for};

/// The maximum size of a response.
const MAX_RESPONSE_BYTES: usize = 256 * 1024;

/// The maximum length of an error code, in bytes.
const MAX_CODE_BYTES: usize = 40;

/// A client for one provider.
pub struct ProviderClient(Result<Client, String>);

/// A failed request. The texts contain neither tokens nor the provider's own text.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("no HTTP client: {0}")]
    Setup(String),
    #[error("{0}: {1}")]
    Request(Url, String),
    #[error("{0}: the status is {1}")]
    Status(Url, reqwest::StatusCode),
    /// A rejection with one of OAuth's error codes (RFC 6749, 5.2), such as `invalid_client`.
    #[error("{0}: the status is {1}, the error {2}")]
    Rejected(Url, reqwest::StatusCode, String),
    #[error("{0}: the response has more than {MAX_RESPONSE_BYTES} bytes")]
    TooLarge(Url),
    #[error("{0}: the response can't be read ({1:?} error, line {2})")]
    Unreadable(Url, serde_json::error::Category, usize),
    #[error("the discovery document: {0}")]
    Discovery(String),
}

impl ClientError {
    /// Returns true if the provider does not work just now, as opposed to a request that it rejected.
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Request(..) => true,
            Self::Status(_, status) => status.is_server_error(),
            _ => false,
        }
    }

    /// Returns true if the provider rejected Parlor itself: its id or its secret.
    pub fn is_about_client(&self) -> bool {
        match self {
            Self::Rejected(_, status, code) => {
                let is_unauthorized = *status == reqwest::StatusCode::UNAUTHORIZED;
                is_unauthorized || matches!(code.as_str(), "invalid_client" | "unauthorized_client")
            }
            Self::Status(_, status) => *status == reqwest::StatusCode::UNAUTHORIZED,
            _ => false,
        }
    }
}

impl ProviderClient {
    pub fn new(issuer: &str, timeout: Duration) -> Self {
        let client = Url::parse(issuer).map_err(|error| error.to_string());
        Self(client.and_then(|issuer| {
            let client = client_for(&issuer).timeout(timeout).build();
            client.map_err(|error| innermost_cause(&error))
        }))
    }

    /// Gets a JSON document.
    pub async fn get<T: DeserializeOwned>(&self, url: &Url, bearer: Option<&str>) -> Result<T, ClientError> {
        let request = self.client()?.get(url.clone());
        send(
            url,
            match bearer {
                Some(token) => request.bearer_auth(token),
                None => request,
            },
        )
        .await
    }

    /// Sends a form. `basic` is a name with its secret.
    pub async fn post_form<T: DeserializeOwned>(
        &self,
        url: &Url,
        fields: &[(&str, &str)],
        basic: Option<(&str, &str)>,
    ) -> Result<T, ClientError> {
        let fields = fields
            .iter()
            .map(|(name, value)| format!("{name}={}", encode_path(value)));
        let mut request = self
            .client()?
            .post(url.clone())
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(fields.collect::<Vec<_>>().join("&"));
        if let Some((name, secret)) = basic {
            // RFC 6749, 2.3.1: both are encoded as in a form.
            let credentials =
                BASE64_STANDARD.encode(format!("{}:{}", encode_path(name), encode_path(secret)));
            request = request.header(header::AUTHORIZATION, format!("Basic {credentials}"));
        }
        send(url, request).await
    }

    fn client(&self) -> Result<&Client, ClientError> {
        self.0.as_ref().map_err(|error| ClientError::Setup(error.clone()))
    }
}

async fn send<T: DeserializeOwned>(url: &Url, request: RequestBuilder) -> Result<T, ClientError> {
    let failed = |error: reqwest::Error| ClientError::Request(url.clone(), innermost_cause(&error));
    let request = request.header(header::ACCEPT, "application/json");
    let mut response = request.send().await.map_err(failed)?;
    let status = response.status();
    let body = read_body(url, &mut response).await;
    if !status.is_success() {
        return Err(match body.ok().and_then(|body| error_code(&body)) {
            Some(code) if !status.is_server_error() => ClientError::Rejected(url.clone(), status, code),
            _ => ClientError::Status(url.clone(), status),
        });
    }
    serde_json::from_slice(&body?).map_err(|error| {
        // Its text may quote a token.
        ClientError::Unreadable(url.clone(), error.classify(), error.line())
    })
}

async fn read_body(url: &Url, response: &mut Response) -> Result<Vec<u8>, ClientError> {
    let failed = |error: reqwest::Error| ClientError::Request(url.clone(), innermost_cause(&error));
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if body.len() + chunk.len() > MAX_RESPONSE_BYTES {
            return Err(ClientError::TooLarge(url.clone()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Returns the error code of a rejection, if it is in the form of those that are registered.
fn error_code(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Rejection {
        error: String,
    }
    let Rejection { error } = serde_json::from_slice(body).ok()?;
    let is_code = |code: &str| {
        code.len() <= MAX_CODE_BYTES && code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
    };
    Some(error).filter(|code| is_code(code))
}
